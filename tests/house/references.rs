//! Checks the references of pages to functions and other items: the file is there, and defines an item with
//! this name.
//!
//! *Invariant:* a reference is a file, a colon and a name in backticks. Names that follow after commas are in
//! the same file.

use std::fs;
use std::path::PathBuf;

use crate::sources::root;

/// The abbreviations of folders at the start of a path. A path without an abbreviation is in the last folder.
const FOLDERS: [(&str, &str); 5] = [
    ("core/", "repl-core/src"),
    ("net/", "repl-net/src"),
    ("link/", "repl-link/src"),
    ("fast/", "repl-fastarray/src"),
    ("", "repl-net/src/server"),
];

/// Returns the file to which an abbreviated path of the page refers.
fn file_of(path: &str) -> PathBuf {
    let found = FOLDERS.iter().find_map(|(prefix, folder)| Some((folder, path.strip_prefix(prefix)?)));
    let (folder, rest) = found.expect("every path begins with nothing");
    root().join(folder).join(format!("{rest}.rs"))
}

/// Returns the references of a page, each as a path without `.rs`, and a name.
fn references(page: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = page.split('`').collect();
    let (mut found, mut file) = (Vec::new(), None);
    for pair in parts.chunks_exact(2) {
        let (before, code) = (pair[0], pair[1]);
        let is_name =
            |text: &str| text.chars().all(|letter| letter.is_alphanumeric() || "_:".contains(letter));
        let reference = match (code.split_once(".rs:"), file) {
            (Some(reference), _) => Some(reference),
            (None, Some(file)) if before == ", " && is_name(code) => Some((file, code)),
            _ => None,
        };
        file = reference.map(|(file, _)| file);
        found.extend(reference);
    }
    found
}

/// Returns whether `text` defines an item with this name. The name may begin with its type, as `Type::name`.
fn defines(text: &str, name: &str) -> bool {
    let name = name.rsplit("::").next().unwrap_or_default();
    let is_end = |rest: &str| !rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_');
    let follows = |keyword: &str| {
        let start = format!("{keyword} {name}");
        text.match_indices(&start).any(|(at, _)| is_end(&text[at + start.len()..]))
    };
    ["fn", "struct", "enum", "trait", "const"].into_iter().any(follows)
        || text.contains(&format!(" {name}: "))
}

#[test]
fn pages_refer_to_items_that_are_there() {
    let pages = ["ARCHITECTURE.md", "docs/life-of-a-change.md", "docs/decisions.md"]
        .map(|page| fs::read_to_string(root().join(page)).expect("the page is there"));
    let references: Vec<_> = pages.iter().flat_map(|page| references(page)).collect();
    assert!(references.len() > 150, "{} references", references.len());
    let is_wrong = |(path, name): &&(&str, &str)| {
        fs::read_to_string(file_of(path)).map_or(true, |text| !defines(&text, name))
    };
    let wrong: Vec<_> = references.iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "references to what is not there: {wrong:#?}");
}

#[test]
fn names_after_commas_are_in_the_file_before_them() {
    let page = "see `core/a/b.rs:one`, `two` → `c.rs:three`; `four`, `five` and `d.rs`, `six`";
    assert_eq!(references(page), [("core/a/b", "one"), ("core/a/b", "two"), ("c", "three")]);
    assert!(file_of("core/a/b").ends_with("repl-core/src/a/b.rs"));
    assert!(file_of("c").ends_with("repl-net/src/server/c.rs"));
    assert!(defines("fn three(", "Type::three") && defines("    pub two: u8", "two"));
    assert!(!defines("fn threefold(", "three"));
}
