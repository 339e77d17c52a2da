//! Checks the code against the documents: which crate may use what, where `unsafe` may be, that each
//! guarantee has a test, and that the functions that pages name are there.
//!
//! *Invariant:* these tests read the documents, the manifests and the sources, and copy as little of their
//! content as possible.

mod graph;
mod imports;
mod methods;
mod packages;
mod paths;
mod references;
mod sources;
mod tokens;
mod unreal_page;
mod wire_page;

use std::fs;
use std::path::{Path, PathBuf};

use sources::{root, sources};

/// Returns the crates of this workspace on which a crate depends. Dependencies of the crate's tests do not
/// count.
fn ours(krate: &str) -> Vec<String> {
    let manifest =
        fs::read_to_string(root().join(krate).join("Cargo.toml")).expect("each crate has a manifest");
    let dependencies =
        manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or_default();
    let names = dependencies.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| name.starts_with("repl")).map(str::to_owned).collect()
}

#[test]
fn dependencies_point_down() {
    assert_eq!(ours("repl-core"), Vec::<String>::new());
    assert_eq!(ours("repl-derive"), Vec::<String>::new());
    assert_eq!(ours("repl-fastarray"), ["repl-core"]);
    assert_eq!(ours("repl-link"), ["repl-core"]);
    assert_eq!(ours("repl-sim"), ["repl-link"]);
    assert_eq!(ours("repl-net"), ["repl-core", "repl-fastarray", "repl-link"]);
    assert_eq!(ours("repl-quic"), ["repl-link"]);
    assert_eq!(ours("repl-bevy"), ["repl"]);
}

#[test]
fn no_crate_names_a_socket_a_clock_or_a_thread() {
    let code = code();
    assert!(code.len() > 50, "{} files", code.len());
    for (path, code, _) in code {
        let code = code.lines().map(without_texts).collect::<Vec<_>>().join("\n");
        for word in ["UdpSocket", "TcpStream", "thread::spawn", "Instant", "SystemTime", "async fn"] {
            assert!(!code.contains(word), "{path} names {word}");
        }
    }
}

/// Removes the strings from a line. A string that continues on the next line is not removed there.
fn without_texts(line: &str) -> String {
    line.split('"').step_by(2).collect()
}

/// The lints that forbid panics everywhere in a crate that handles a peer's bytes.
const CRATE_LINTS: &str = "deny(clippy::unwrap_used, clippy::expect_used)";

/// The lints that forbid panics in each file that reads a peer's bytes. They are in the file itself, for the
/// whole file or for the functions that read, or in the `mod.rs` of a folder around the file.
const FILE_LINTS: &str = "deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)";

/// Files that contain the name `BitReader`, but do not read with it.
const NAME_ONLY: [(&str, &str); 3] = [
    ("repl-core/src/lib.rs", "re-exports, and two functions that pass it on"),
    ("repl-core/src/bits/mod.rs", "re-exports"),
    ("repl-core/src/schema/shape.rs", "types of functions"),
];

/// Files that do not contain the name `BitReader`, but handle values from a peer's bytes.
const OBEY: [&str; 10] = [
    "repl-core/src/wire/checked.rs",
    "repl-core/src/ids/key.rs",
    "repl-core/src/ids/reference.rs",
    "repl-core/src/object/elements.rs",
    "repl-core/src/object/joined.rs",
    "repl-fastarray/src/array/replica.rs",
    "repl-fastarray/src/replica/mod.rs",
    "repl-fastarray/src/replica/receipt.rs",
    "repl-net/src/client/mentions.rs",
    "repl-net/src/client/outcome.rs",
];

/// Returns the sources of the crates that store and send objects, without comments and tests: path, code, and
/// the complete text.
fn code() -> Vec<(String, String, String)> {
    let mut files = Vec::new();
    for krate in ["repl-core", "repl-fastarray", "repl-link", "repl-net"] {
        sources(root().join(krate).join("src"), &mut files);
    }
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("a source is text");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let code = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>();
        let path = file.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/");
        (path, code.join("\n"), text)
    };
    let is_tests = |file: &PathBuf| {
        file.ends_with("tests.rs") || file.components().any(|part| part.as_os_str() == "sim")
    };
    files.into_iter().filter(|file| !is_tests(file)).map(read).collect()
}

#[test]
fn every_file_that_reads_a_peers_bytes_forbids_panics() {
    let code = code();
    for (path, _) in NAME_ONLY {
        assert!(code.iter().any(|(known, ..)| known == path), "{path} is no more");
    }
    let has = |path: &str, lints: &str| {
        code.iter().any(|(known, code, _)| {
            known == path && code.contains(&format!("#![cfg_attr(not(test), {lints})]"))
        })
    };
    for krate in ["repl-core", "repl-fastarray", "repl-link", "repl-net"] {
        assert!(has(&format!("{krate}/src/lib.rs"), CRATE_LINTS), "{krate} is without the lints");
    }
    let inherits = |path: &str| {
        let folders = Path::new(path).ancestors().skip(1).map(|folder| folder.join("mod.rs"));
        folders.into_iter().any(|file| has(&file.to_string_lossy().replace('\\', "/"), FILE_LINTS))
    };
    let mut lacking = Vec::new();
    for (path, code, _) in &code {
        let reads = code.contains("BitReader") && NAME_ONLY.iter().all(|(known, _)| known != path);
        if (reads || OBEY.contains(&path.as_str())) && !(code.contains(FILE_LINTS) || inherits(path)) {
            lacking.push(path);
        }
    }
    assert!(lacking.is_empty(), "without the lints: {lacking:#?}");
    assert!(OBEY.iter().all(|path| code.iter().any(|(known, ..)| known == path)));
}

#[test]
fn unsafe_code_is_only_where_the_architecture_allows_it() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page is there");
    let (_, rest) = architecture.split_once("*Invariant:* `unsafe` stands in").expect("it says where");
    let said = rest.split("\n\n").next().unwrap_or_default();
    for (krate, level) in [
        ("repl-core", "deny"),
        ("repl-fastarray", "deny"),
        ("repl-link", "forbid"),
        ("repl-net", "forbid"),
        ("repl-derive", "forbid"),
        (".", "forbid"),
    ] {
        let text = fs::read_to_string(root().join(krate).join("src/lib.rs")).expect("a crate has a root");
        assert!(text.contains(&format!("#![{level}(unsafe_code)]")), "{krate} does not {level} unsafe code");
    }
    for (path, _, text) in code() {
        if text.contains("expect(unsafe_code") || text.contains("allow(unsafe_code") {
            let module = path.split_once("/src/").expect("a source").1;
            let module = module.trim_end_matches("/mod.rs").trim_end_matches(".rs");
            let folder = module.split('/').next().unwrap_or_default();
            let is_named = [module, folder].iter().any(|name| said.contains(&format!("`{name}`")));
            assert!(is_named, "ARCHITECTURE.md does not name {path}");
        }
    }
}

#[test]
fn each_guarantee_names_tests_that_are_there() {
    let page = fs::read_to_string(root().join("docs/guide/src/guarantees.md")).expect("the page is there");
    let (_, rest) = page.split_once("## Guarantees").expect("it has guarantees");
    let (guarantees, _) = rest.split_once("\n## ").expect("something follows them");
    let mut files = Vec::new();
    sources(root().join("tests"), &mut files);
    let texts: Vec<String> = files.iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
    let is_there = |name: &str| {
        let is_file = |folder: &str| {
            let place = root().join(folder).join(name);
            place.is_dir() || place.with_extension("rs").is_file()
        };
        let function = format!("fn {name}(");
        is_file("tests") || is_file("tests/simulations") || texts.iter().any(|text| text.contains(&function))
    };
    for guarantee in guarantees.split("\n- **").skip(1) {
        let names: Vec<&str> = guarantee.split('`').skip(1).step_by(2).collect();
        let tests: Vec<&str> = names.iter().copied().filter(|name| name.chars().all(is_of_a_test)).collect();
        assert!(tests.iter().any(|name| is_there(name)), "without a test: {guarantee}");
        // A name with a slash is a file in a folder. A name that begins with `r` and a digit is a test of a
        // rule.
        let bears_number = |name: &str| {
            name.strip_prefix('r')
                .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()))
        };
        for name in tests.iter().filter(|name| name.contains('/') || bears_number(name)) {
            assert!(is_there(name), "`{name}` is no more");
        }
    }
}

fn is_of_a_test(letter: char) -> bool {
    letter.is_ascii_lowercase() || letter.is_ascii_digit() || matches!(letter, '_' | '/')
}

/// Users of the library do not know the numbers of `docs/semantics.md`.
#[test]
fn no_description_of_a_public_item_has_a_number_of_a_statement() {
    let is_number = |word: &str| {
        let digits = word.strip_prefix(['S', 'R', 'W']).unwrap_or_default();
        (1..=3).contains(&digits.len()) && digits.chars().all(|digit| digit.is_ascii_digit())
    };
    let mut count = 0;
    for (path, _, text) in code() {
        let mut described = Vec::new();
        for line in text.lines().map(str::trim) {
            if let Some(description) = line.strip_prefix("///") {
                described.push(description);
            } else if !line.starts_with("#[") {
                if line.starts_with("pub ") {
                    let words = described.join(" ");
                    let mut words = words.split(|letter: char| !letter.is_alphanumeric());
                    assert_eq!(words.find(|word| is_number(word)), None, "{path}: {line}");
                    count += 1;
                }
                described.clear();
            }
        }
    }
    assert!(count > 800, "{count} public items");
}
