//! The copy of the sources in which faults are planted.
//!
//! *Invariant:* a file is written only if its text differs, so that Cargo compiles only what a fault changes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

/// The number of seconds after which a test counts as failed.
const TEST_TIMEOUT_S: &str = "600";

/// The result of the tests of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Caught,
    Survived,
    /// The sources with the fault do not compile.
    NoBuild,
}

/// A copy of the sources below a root, with a target folder of its own beside it.
pub(crate) struct WorkingCopy<'a> {
    root: &'a Path,
    folder: PathBuf,
    target: PathBuf,
}

impl<'a> WorkingCopy<'a> {
    pub(crate) fn new(root: &'a Path, folder: &Path) -> Self {
        Self { root, folder: folder.join("sources"), target: folder.join("target") }
    }

    /// Makes the copy equal to the sources.
    pub(crate) fn refresh(&self) -> io::Result<()> {
        let listed = Command::new("git").arg("ls-files").current_dir(self.root).output()?;
        if !listed.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&listed.stderr)));
        }
        for file in String::from_utf8_lossy(&listed.stdout).lines() {
            match fs::read(self.root.join(file)) {
                Ok(bytes) => self.write(file, &bytes)?,
                // The file was removed, but is still in the index of Git.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes a file of the copy if its content differs.
    pub(crate) fn write(&self, file: &str, bytes: &[u8]) -> io::Result<()> {
        let path = self.folder.join(file);
        if fs::read(&path).is_ok_and(|present| present == bytes) {
            return Ok(());
        }
        fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
        fs::write(path, bytes)
    }

    /// Runs `cargo test` with these arguments in the copy.
    pub(crate) fn test(&self, arguments: &str) -> io::Result<Outcome> {
        if !self.run(&["cargo", "test", "--no-run"], arguments)? {
            return Ok(Outcome::NoBuild);
        }
        let survived = self.run(&["timeout", TEST_TIMEOUT_S, "cargo", "test"], arguments)?;
        Ok(if survived { Outcome::Survived } else { Outcome::Caught })
    }

    /// Runs a command in the copy, followed by `arguments`. Returns whether it succeeded.
    fn run(&self, command: &[&str], arguments: &str) -> io::Result<bool> {
        let mut run = Command::new(command[0]);
        run.args(&command[1..]).args(arguments.split_whitespace());
        run.current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target);
        run.stdout(Stdio::null()).stderr(Stdio::null());
        run.status().map(|status| status.success())
    }
}
