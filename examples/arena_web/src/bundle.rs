//! Makes a page: compiles its client to WebAssembly, and the code around it.
//!
//! *Invariant:* a clone of the repository and the target `wasm32-unknown-unknown` are enough. If `wasm-opt`
//! is installed, it makes the WebAssembly smaller.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

use wasm_bindgen_cli_support::Bindgen;

use crate::http::File;

const TARGET: &str = "wasm32-unknown-unknown";

/// A page, without its client.
pub(crate) struct Page {
    /// The package of its client.
    package: &'static str,
    html: &'static str,
    /// Its scripts, with their paths.
    scripts: &'static [(&'static str, &'static str)],
}

/// The page of the arena.
pub(crate) const ARENA: Page = Page {
    package: "arena_page",
    html: include_str!("../page/index.html"),
    scripts: &[("/page.js", include_str!("../page/page.js")), ("/draw.js", include_str!("../page/draw.js"))],
};

/// The page of the game with Bevy.
#[cfg(feature = "bevy")]
pub(crate) const BEVY: Page =
    Page { package: "bevy_page", html: include_str!("../bevy_page/index.html"), scripts: &[] };

/// A page with its compiled client.
pub(crate) struct Bundle {
    page: Page,
    pub(crate) wasm: Vec<u8>,
    /// The JavaScript that loads it.
    glue: String,
}

/// Compiles the client of a page.
pub(crate) fn make(page: Page) -> Result<Bundle, Box<dyn Error>> {
    let target = target_folder()?;
    let package = page.package;
    compile(package, &target)?;
    let out = target.join("page");
    Bindgen::new()
        .input_path(target.join(TARGET).join(format!("page/{package}.wasm")))
        .web(true)?
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(&out)
        .map_err(|error| format!("{error:#}"))?;
    let wasm = out.join(format!("{package}_bg.wasm"));
    shrink(&wasm)?;
    let glue = std::fs::read_to_string(out.join(format!("{package}.js")))?;
    Ok(Bundle { page, wasm: std::fs::read(wasm)?, glue })
}

impl Bundle {
    /// Returns the files of the page. `server` says, as JSON, how its client reaches the server.
    pub(crate) fn files(self, server: String) -> Vec<File> {
        let file = |path: &str, kind, body| File { path: path.to_owned(), kind, body };
        let script = |path: &str, text: &str| file(path, "text/javascript; charset=utf-8", text.into());
        let package = self.page.package;
        let mut files = vec![
            file("/", "text/html; charset=utf-8", self.page.html.into()),
            script(&format!("/{package}.js"), &self.glue),
            file("/server.json", "application/json", server.into_bytes()),
            file(&format!("/{package}_bg.wasm"), "application/wasm", self.wasm),
        ];
        files.extend(self.page.scripts.iter().map(|(path, text)| script(path, text)));
        files
    }
}

/// Returns the folder in which Cargo has built this program.
fn target_folder() -> Result<PathBuf, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let folder = program.ancestors().nth(2).ok_or("this program is in no folder of Cargo")?;
    Ok(folder.to_owned())
}

fn compile(package: &str, target: &Path) -> Result<(), Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--locked", "--package", package, "--profile", "page"])
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
