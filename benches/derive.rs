//! The compile time of `derive(Replicated)`, compared with serde's two derives: `cargo check` of a crate with
//! 200 structs of 20 fields each.
//!
//! *Invariant:* both crates have the same fields and names, and their dependencies are built before the
//! measurement.

#[path = "support/ratios.rs"]
mod ratios;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use std::{env, fs};

use ratios::Side;

const STRUCTS: usize = 200;
/// The number is small, because each round takes many seconds.
const ROUNDS: usize = 5;
/// The types of the fields of each struct.
const FIELDS: [&str; 20] = [
    "u8",
    "u16",
    "u32",
    "u64",
    "i8",
    "i16",
    "i32",
    "i64",
    "f32",
    "f64",
    "bool",
    "char",
    "String",
    "[f32; 3]",
    "[u8; 4]",
    "Vec<u16>",
    "Option<u32>",
    "(u8, i16)",
    "bool",
    "u32",
];

/// A crate on which `cargo check` runs.
struct Checked {
    folder: PathBuf,
}

impl Checked {
    /// Writes the crate `name`. It has this dependency, and these attributes above each struct.
    fn new(name: &str, dependency: &str, attributes: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("derive-bench").join(name);
        fs::create_dir_all(folder.join("src")).expect("the folder for temporary files can be written");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[dependencies]\n{dependency}\n\n[workspace]\n"
        );
        let mut source = String::new();
        for number in 0..STRUCTS {
            let _ = writeln!(source, "{attributes}\npub struct Struct{number} {{");
            for (at, field) in FIELDS.iter().enumerate() {
                let _ = writeln!(source, "    pub field_{at}: {field},");
            }
            let _ = writeln!(source, "}}\n");
        }
        fs::write(folder.join("Cargo.toml"), manifest).expect("the manifest can be written");
        // The crate uses the same versions of all crates as the workspace.
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
        fs::copy(lock, folder.join("Cargo.lock")).expect("the workspace has a lock file");
        fs::write(folder.join("src/lib.rs"), source).expect("the source can be written");
        Self { folder }
    }

    /// Runs `cargo check`. Returns how long it takes. Dependencies that were checked before are not checked
    /// again.
    fn check(&self) -> Duration {
        let source = self.folder.join("src/lib.rs");
        let text = fs::read(&source).expect("the source was written");
        fs::write(&source, text).expect("the source can be written again, so that it is newer");
        let start = Instant::now();
        let status = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
            .args(["check", "--quiet", "--target-dir"])
            .arg(self.folder.join("target"))
            .current_dir(&self.folder)
            .env("CARGO_INCREMENTAL", "0")
            .status();
        assert!(status.is_ok_and(|status| status.success()), "{} compiles", self.folder.display());
        start.elapsed()
    }

    fn checks(&self, count: u64) -> Duration {
        (0..count).map(|_| self.check()).sum()
    }
}

fn main() {
    // Without the argument, the program was started only to check that it runs.
    if !ratios::are_wanted() {
        return;
    }
    let ours = format!("repl = {{ path = {:?} }}", concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let ours = Checked::new("with-repl", &ours, "#[derive(Default, repl::Replicated)]\n#[replicated(all)]");
    let serde = "serde = { version = \"1\", features = [\"derive\"] }";
    let serde = Checked::new("with-serde", serde, "#[derive(Default, serde::Serialize, serde::Deserialize)]");
    let plain = Checked::new("without", "", "#[derive(Default)]");
    [&ours, &serde, &plain].into_iter().for_each(|side| _ = side.check());
    ratios::report_rounds(
        ROUNDS,
        &format!("check {STRUCTS} structs of {}", FIELDS.len()),
        &mut [
            Side::new("Replicated", None, &mut |count| ours.checks(count)),
            Side::new("Serialize and Deserialize", None, &mut |count| serde.checks(count)),
            Side::new("neither", None, &mut |count| plain.checks(count)),
        ],
    );
}
