//! Checks the page `from-unreal.md` of the guide: each name of this library on it is public.
//!
//! *Invariant:* the public names are read from the snapshots that `tests/api` compares with the sources, and
//! the names of attributes from the derive.

use std::collections::BTreeMap;
use std::fs;

use crate::sources::root;

/// The texts that a row may have in place of names.
const WITHOUT_NAMES: [&str; 2] = ["*not built*", "*not needed*"];

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names that users of `repl` can write.
struct PublicNames {
    /// For each path of `repl`, the paths in other crates that it re-exports, such as `repl_net::Server`.
    /// There can be two, because a trait and its derive macro have the same name.
    exports: BTreeMap<String, Vec<String>>,
    /// For each definition, its lines in the snapshots.
    definitions: BTreeMap<String, String>,
    /// The source that lists the attributes.
    attributes: String,
}

impl PublicNames {
    fn read() -> Self {
        let attributes = read("repl-derive/src/attr/place.rs");
        let mut names = Self { exports: BTreeMap::new(), definitions: BTreeMap::new(), attributes };
        for entry in fs::read_dir(root().join("tests/api/snapshots")).expect("the snapshots are there") {
            let text = fs::read_to_string(entry.expect("an entry").path()).expect("a snapshot");
            let mut heading = "";
            for line in text.lines() {
                if let Some((path, definition)) = line.split_once(" is ") {
                    names.exports.entry(path.to_owned()).or_default().push(definition.to_owned());
                } else if line.starts_with("repl_") {
                    heading = line;
                }
                for path in heading.split(", ") {
                    *names.definitions.entry(path.to_owned()).or_default() += &format!("{line}\n");
                }
            }
        }
        names
    }

    /// Returns the definitions to which a path of any crate leads. Empty if there are none.
    fn definitions_of(&self, path: &str) -> Vec<String> {
        if let Some(paths) = self.exports.get(path) {
            let further = |path: &String| {
                let found = self.definitions_of(path);
                if found.is_empty() { vec![path.clone()] } else { found }
            };
            return paths.iter().flat_map(further).collect();
        }
        if self.definitions.contains_key(path) {
            return vec![path.to_owned()];
        }
        // A module of another crate can be re-exported as a whole.
        let Some((module, name)) = path.rsplit_once("::") else { return Vec::new() };
        let modules = self.exports.get(module).into_iter().flatten();
        modules.flat_map(|module| self.definitions_of(&format!("{module}::{name}"))).collect()
    }

    /// Returns whether a name of the page exists: the path of an item or of a member of an item, or an
    /// attribute such as `#[replicated(push)]`.
    fn contains(&self, name: &str) -> bool {
        if let Some(attribute) = name.strip_prefix("#[").and_then(|name| name.strip_suffix("]")) {
            let mut words = attribute.split(['(', ')', ',', ' ']).filter(|word| !word.is_empty());
            let is_known = words.next().is_some_and(|first| ["replicated", "rpc"].contains(&first));
            return is_known && words.all(|word| self.attributes.contains(&format!("(\"{word}\", ")));
        }
        if !self.definitions_of(&format!("repl::{name}")).is_empty() {
            return true;
        }
        let Some((path, member)) = name.rsplit_once("::") else { return false };
        let definitions = self.definitions_of(&format!("repl::{path}"));
        let mut lines =
            definitions.iter().filter_map(|path| self.definitions.get(path)).flat_map(|text| text.lines());
        let is_member = |line: &str| {
            let item = path.rsplit("::").next().unwrap_or_default();
            let begins = [
                format!("fn {member}("),
                format!("fn {member}<"),
                format!("const {member}:"),
                format!("{item}::{member}:"),
                format!("enum {item} {{ {member}"),
            ];
            begins.iter().any(|begin| {
                let rest = line.split_once(begin.as_str()).map(|(_, rest)| rest);
                rest.is_some_and(|rest| !begin.ends_with(member) || !rest.starts_with(char::is_alphanumeric))
            })
        };
        lines.any(is_member)
    }
}

/// Returns the texts between backticks.
fn code(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns the cells of the rows of all tables.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let lines = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| in Unreal |"));
    lines.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

#[test]
fn what_stands_for_unreals_names_is_public() {
    let (page, names) = (read("docs/guide/src/from-unreal.md"), PublicNames::read());
    let rows = rows(&page);
    assert!(rows.len() > 200, "{} rows", rows.len());
    for row in &rows {
        let [_, here, remark] = row[..] else { panic!("{row:?} has not three cells") };
        let found = code(here);
        assert!(!found.is_empty() || WITHOUT_NAMES.contains(&here), "{row:?} names nothing of this library");
        let remarks = code(remark).into_iter().filter(|name| name.contains("::"));
        for name in found.into_iter().chain(remarks) {
            assert!(names.contains(name), "{row:?} names `{name}`, which is not public");
        }
    }
}

#[test]
fn each_of_unreals_names_has_one_row_in_its_order() {
    let page = read("docs/guide/src/from-unreal.md");
    let mut all = Vec::new();
    for section in page.split("\n## ") {
        let firsts: Vec<String> =
            rows(section).iter().map(|row| row[0].replace('`', "").to_lowercase()).collect();
        assert!(firsts.is_sorted(), "not in alphabetical order: {firsts:?}");
        all.extend(rows(section).iter().flat_map(|row| code(row[0])).map(str::to_owned));
    }
    let count = all.len();
    all.sort_unstable();
    let twice = all.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "of {count} names");
    // The section before the tables is an example, and has no table.
    let topics = page.split("\n## ").filter(|section| !rows(section).is_empty());
    let topics: Vec<&str> = topics.filter_map(|section| section.lines().next()).collect();
    assert!(topics.is_sorted(), "{topics:?}");
}

#[test]
fn names_that_are_not_public_are_found() {
    let names = PublicNames::read();
    for there in [
        "Server",
        "Server::tick",
        "ServerConfig::share",
        "Dormancy::All",
        "tools::Class",
        "Replicated::LAYOUT",
        "sim::LinkConditions::loss",
        "#[replicated]",
        "#[replicated(quantize(unit_vector))]",
        "#[rpc(server)]",
    ] {
        assert!(names.contains(there), "{there}");
    }
    for missing in [
        "World",
        "Server::ticking",
        "Server::World",
        "ServerConfig::sharing",
        "Dormancy::Al",
        "Class",
        "sim::Server",
        "#[replicated(pushed)]",
        "#[serde(skip)]",
    ] {
        assert!(!names.contains(missing), "{missing}");
    }
}
