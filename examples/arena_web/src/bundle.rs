//! Makes the page: compiles its client to WebAssembly, and the code around it.
//!
//! *Invariant:* a clone of the repository and the target `wasm32-unknown-unknown` are enough. If `wasm-opt`
//! is installed, it makes the WebAssembly smaller.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use wasm_bindgen_cli_support::Bindgen;

use crate::http::File;

const TARGET: &str = "wasm32-unknown-unknown";

/// The compiled client of the page.
pub(crate) struct Bundle {
    pub(crate) wasm: Vec<u8>,
    /// The JavaScript that loads it.
    glue: String,
}

/// Compiles the client of the page.
pub(crate) fn make() -> Result<Bundle, Box<dyn Error>> {
    let target = target_folder()?;
    compile(&target)?;
    let out = target.join("page");
    Bindgen::new()
        .input_path(target.join(TARGET).join("page/arena_page.wasm"))
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(&out)
        .map_err(|error| format!("{error:#}"))?;
    let wasm = out.join("arena_page_bg.wasm");
    shrink(&wasm)?;
    Ok(Bundle { wasm: std::fs::read(wasm)?, glue: std::fs::read_to_string(out.join("arena_page.js"))? })
}

impl Bundle {
    /// Returns the files of the page. `server` says, as JSON, how its client reaches the server.
    pub(crate) fn files(self, server: String) -> Vec<File> {
        let text = |path, kind, text: String| File { path, kind, body: text.into_bytes() };
        vec![
            text("/", "text/html; charset=utf-8", include_str!("../page/index.html").to_owned()),
            text("/page.js", "text/javascript; charset=utf-8", include_str!("../page/page.js").to_owned()),
            text("/draw.js", "text/javascript; charset=utf-8", include_str!("../page/draw.js").to_owned()),
            text("/arena_page.js", "text/javascript; charset=utf-8", self.glue),
            text("/server.json", "application/json", server),
            File { path: "/arena_page_bg.wasm", kind: "application/wasm", body: self.wasm },
        ]
    }
}

/// Returns the folder in which Cargo has built this program.
fn target_folder() -> Result<PathBuf, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let folder = program.ancestors().nth(2).ok_or("this program is in no folder of Cargo")?;
    Ok(folder.to_owned())
}

fn compile(target: &Path) -> Result<(), Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--locked", "--package", "arena_page", "--profile", "page"])
        .args(["--target", TARGET, "--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
        .arg("--target-dir")
        .arg(target)
        .status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the page was not built; its target is added by: rustup target add {TARGET}").into())
    }
}

/// Lets `wasm-opt` make a file smaller, if it is installed.
fn shrink(wasm: &Path) -> Result<(), Box<dyn Error>> {
    match Command::new("wasm-opt").args(["-Oz", "--all-features", "-o"]).arg(wasm).arg(wasm).status() {
        Ok(status) if !status.success() => Err("`wasm-opt` has failed".into()),
        _ => Ok(()),
    }
}
