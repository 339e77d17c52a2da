//! Which crate may name what: arrows point down (see ARCHITECTURE.md).
//!
//! *Invariant:* the direction is read from the manifests and the sources themselves.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The crates of ours that a crate's manifest names as dependencies, those of development apart.
fn ours(krate: &str) -> Vec<String> {
    let manifest =
        fs::read_to_string(root().join(krate).join("Cargo.toml")).expect("each crate has a manifest");
    let dependencies =
        manifest.split("\n[").find(|section| section.starts_with("dependencies]")).unwrap_or_default();
    let names = dependencies.lines().filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| name.starts_with("repl")).map(str::to_owned).collect()
}

fn sources(folder: PathBuf, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn dependencies_point_down() {
    assert_eq!(ours("repl-core"), Vec::<String>::new());
    assert_eq!(ours("repl-derive"), Vec::<String>::new());
    assert_eq!(ours("repl-fastarray"), ["repl-core"]);
    assert_eq!(ours("repl-net"), ["repl-core", "repl-fastarray"]);
}

#[test]
fn no_crate_names_a_socket_a_clock_or_a_thread() {
    let mut files = Vec::new();
    for krate in ["repl-core", "repl-fastarray", "repl-net"] {
        sources(root().join(krate).join("src"), &mut files);
    }
    assert!(files.len() > 50, "{} files", files.len());
    for file in files {
        let text = fs::read_to_string(&file).expect("a source is text");
        for word in ["std::net", "thread::spawn", "Instant", "SystemTime", "async fn"] {
            assert!(!text.contains(word), "{} names {word}", file.display());
        }
    }
}
