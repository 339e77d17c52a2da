//! Finds the tests that `cargo test` would run with given arguments. They are read from the sources, so
//! nothing is compiled.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the names of the tests that these arguments of `cargo test` select by package, binary and filter.
/// Each name begins with its modules.
///
/// # Panics
/// Panics if an argument has no value, or if there are no such sources.
pub(crate) fn named_tests(root: &Path, arguments: &str) -> Vec<String> {
    let (mut package, mut folders, mut filter) = (PathBuf::new(), Vec::new(), "");
    let mut words = arguments.split_whitespace();
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_else(|| panic!("{word} has no value in `{arguments}`"));
        match word {
            "-p" => package = root.join(folder_of(value())),
            "--lib" => folders.push(package.join("src")),
            "--test" if package.join("src").is_dir() => folders.push(package.join("tests").join(value())),
            "--test" => folders.push(package.join(value())),
            "--features" => _ = value(),
            "--all-features" => {}
            name => filter = name,
        }
    }
    if folders.is_empty() {
        folders.push(package);
    }
    let mut names = Vec::new();
    // A test binary is a folder, or a single file of this name.
    for folder in folders {
        match fs::read_to_string(folder.with_extension("rs")) {
            Ok(text) => add_tests_of_text(&text, String::new(), &mut names),
            Err(_) => add_tests(&folder, "", &mut names),
        }
    }
    names.retain(|name| name.contains(filter));
    names
}

/// Returns the folder of a package.
fn folder_of(package: &str) -> &str {
    match package {
        "repl-tests" => "tests",
        "repl-derive-tests" => "tests/derive",
        "repl-simulations" => "tests/simulations",
        _ => package,
    }
}

/// Adds the names of the tests in a folder, each after `modules` and the modules in the folder.
fn add_tests(folder: &Path, modules: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry of the folder").path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let module = match stem {
            "lib" | "main" | "mod" => modules.to_owned(),
            _ => format!("{modules}{stem}::"),
        };
        if path.is_dir() {
            add_tests(&path, &module, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            add_tests_of_text(&fs::read_to_string(&path).expect("a source"), module, names);
        }
    }
}

/// Adds the names of the tests in the text of a file. An inline module must be the last item of its file,
/// because this function does not notice where a module ends.
fn add_tests_of_text(text: &str, mut module: String, names: &mut Vec<String>) {
    let mut is_test = false;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("mod ").and_then(|line| line.strip_suffix(" {")) {
            module.push_str(name);
            module.push_str("::");
        }
        let line = line.trim_start();
        is_test |= line.starts_with("#[test]");
        if let Some((name, _)) = line.strip_prefix("fn ").and_then(|line| line.split_once('('))
            && std::mem::take(&mut is_test)
        {
            names.push(format!("{module}{name}"));
        }
    }
}

#[test]
fn tests_are_found_with_their_modules() {
    let mut names = Vec::new();
    let text =
        "fn one() {}\nmod tests {\n    #[test]\n    #[cfg(unix)]\n    fn two() {}\n    fn three() {}\n}\n";
    add_tests_of_text(text, "rate::".to_owned(), &mut names);
    assert_eq!(names, ["rate::tests::two"]);
    let own = "-p repl-tests --test mutants --features none are_found_with";
    assert_eq!(
        named_tests(crate::root(), own),
        ["named_tests::tests_are_found_with_their_modules".to_owned()]
    );
    assert_eq!(named_tests(crate::root(), "-p repl-tests --test mutants no_such_test"), [""; 0]);
}
