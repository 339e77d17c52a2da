//! The table of the faults: what each fault changes, and which tests must catch it.
//!
//! *Invariant:* a fault is planted as a whole or not at all.

use std::path::Path;
use std::{fs, io};

use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub(crate) struct Table {
    #[serde(rename = "fault")]
    pub(crate) faults: Vec<Fault>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    pub(crate) name: String,
    /// The arguments of `cargo test` that run the tests which must fail.
    pub(crate) test: String,
    file: String,
    old: String,
    new: String,
    /// Further changes that belong to the fault.
    #[serde(default)]
    also: Vec<Change>,
}

/// A replacement in a file: the text `old` becomes the text `new`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Change {
    file: String,
    old: String,
    new: String,
}

impl Table {
    pub(crate) fn read(file: &Path) -> io::Result<Self> {
        toml::from_str(&fs::read_to_string(file)?).map_err(io::Error::other)
    }
}

impl Fault {
    fn changes(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        let first = (self.file.as_str(), self.old.as_str(), self.new.as_str());
        let others =
            self.also.iter().map(|Change { file, old, new }| (file.as_str(), old.as_str(), new.as_str()));
        std::iter::once(first).chain(others)
    }

    /// Returns the files that the fault changes, with their texts afterwards.
    ///
    /// # Errors
    /// Returns what is wrong if a file is missing, or if an old text does not occur in it exactly once.
    pub(crate) fn planted(&self, root: &Path) -> Result<Vec<(&str, String)>, String> {
        let mut files: Vec<(&str, String)> = Vec::new();
        for (file, old, new) in self.changes() {
            let at = match files.iter().position(|(known, _)| *known == file) {
                Some(at) => at,
                None => {
                    let text = fs::read_to_string(root.join(file));
                    files.push((file, text.map_err(|error| format!("{file}: {error}"))?));
                    files.len() - 1
                }
            };
            let text = &mut files[at].1;
            match text.matches(old).count() {
                1 => *text = text.replacen(old, new, 1),
                0 => return Err(format!("{file} has no such text:\n{old}")),
                count => return Err(format!("{file} has this text {count} times:\n{old}")),
            }
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::named_tests::named_tests;
    use crate::{root, table};

    #[test]
    fn every_fault_can_be_planted_and_names_its_tests() {
        let table = table();
        assert!(table.faults.len() > 500, "{} faults", table.faults.len());
        let mut names = BTreeSet::new();
        for fault in &table.faults {
            assert!(names.insert(&fault.name), "two faults are named {}", fault.name);
            assert!(fault.test.contains("-p "), "{} does not say in which package its tests are", fault.name);
            fault.planted(root()).unwrap_or_else(|error| panic!("{}: {error}", fault.name));
        }
    }

    #[test]
    fn every_fault_names_tests_that_exist() {
        let table = table();
        let calls: BTreeSet<&String> = table.faults.iter().map(|fault| &fault.test).collect();
        for arguments in calls {
            assert!(!named_tests(root(), arguments).is_empty(), "`cargo test {arguments}` runs no test");
        }
    }

    #[test]
    fn a_fault_changes_all_its_files_or_none() {
        let text = |also: &str| {
            format!(
                "name = ''\ntest = ''\nfile = 'Cargo.toml'\nold = '[workspace.package]'\nnew = ''\n{also}"
            )
        };
        let planted = |also: &str| {
            let fault: Fault = toml::from_str(&text(also)).expect("a fault");
            fault.planted(root()).map(|files| files.len())
        };
        assert_eq!(planted(""), Ok(1));
        assert_eq!(planted("[[also]]\nfile = 'Cargo.toml'\nold = '[workspace.lints.rust]'\nnew = ''"), Ok(1));
        assert_eq!(planted("[[also]]\nfile = 'README.md'\nold = '## Guarantees'\nnew = ''"), Ok(2));
        let error =
            planted("[[also]]\nfile = 'Cargo.toml'\nold = '[workspace.package]'\nnew = ''").unwrap_err();
        assert!(error.starts_with("Cargo.toml has no such text"), "{error}");
        let error = planted("[[also]]\nfile = 'Cargo.toml'\nold = 'workspace'\nnew = ''").unwrap_err();
        assert!(error.starts_with("Cargo.toml has this text"), "{error}");
        assert!(
            planted("[[also]]\nfile = 'none.rs'\nold = ''\nnew = ''").unwrap_err().starts_with("none.rs: ")
        );
    }
}
