//! Checks the manifests of the published crates: the parts that crates.io and docs.rs show.
//!
//! *Invariant:* a crate is published unless its manifest says otherwise, and its licences are in its folder.

use std::fs;

use crate::sources::root;

/// Returns the crates that are published, each with its manifest.
fn published() -> Vec<(String, String)> {
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("there is a workspace");
    let members = workspace.lines().skip_while(|line| *line != "members = [").skip(1);
    let members = members.map_while(|line| line.trim().strip_prefix('"')?.strip_suffix("\","));
    let read = |member: &str| {
        let manifest = fs::read_to_string(root().join(member).join("Cargo.toml"));
        (member.to_owned(), manifest.expect("each member has a manifest"))
    };
    let all = members.chain(["."]).map(read);
    all.filter(|(_, manifest)| !manifest.contains("publish = false")).collect()
}

#[test]
fn what_is_published_says_what_it_is() {
    let published = published();
    assert_eq!(published.len(), 9, "{:?}", published.iter().map(|(name, _)| name).collect::<Vec<_>>());
    for (name, manifest) in published {
        let (_, package) = manifest.split_once("[package]\n").expect("it is a package");
        for key in ["description = ", "keywords", "categories", "license.workspace", "documentation = "] {
            assert!(package.lines().any(|line| line.starts_with(key)), "{name} has no {key}");
        }
        assert!(package.contains("[package.metadata.docs.rs]\nall-features = true\n"), "{name}");
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            assert!(root().join(&name).join(file).exists(), "{name} has no {file}");
        }
    }
}

/// Readers of a list of features must see what each feature is for.
#[test]
fn each_feature_is_explained() {
    for (name, manifest) in published() {
        let features = manifest.split("\n[features]\n").nth(1).unwrap_or_default();
        let features = features.split("\n[").next().unwrap_or_default();
        let mut before = "";
        for line in features.lines().filter(|line| !line.starts_with([' ', ']'])) {
            let is_explained = before.starts_with("##") || line.starts_with("default");
            assert!(line.is_empty() || line.starts_with('#') || is_explained, "{name}: {line}");
            before = line;
        }
    }
}
