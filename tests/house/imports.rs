//! Checks the imports and calls of each crate: the folders are ordered as in the table of ARCHITECTURE.md and
//! import only from folders below their own, and no files import or call each other in a circle.
//!
//! *Invariant:* only ARCHITECTURE.md contains the order of the folders.

use std::fs;

use crate::graph::{Call, Edge, Graph};
use crate::sources::{root, sources};

/// The crates whose tables in ARCHITECTURE.md list folders, top down.
const CRATES: [&str; 7] =
    ["repl-bevy", "repl-core", "repl-derive", "repl-fastarray", "repl-link", "repl-net", "repl-quic"];

#[test]
fn folders_import_downward_and_no_files_in_a_circle() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page is there");
    for krate in CRATES {
        let graph = Graph::of(&texts(krate));
        assert!(graph.len() > 10, "{krate} has {} files", graph.len());
        let order = order(&architecture, krate)
            .unwrap_or_else(|| panic!("ARCHITECTURE.md has no folders of {krate}"));
        let wrong = mistakes(&graph, &order);
        assert!(wrong.is_empty(), "in {krate}/src\n{}", wrong.join("\n"));
    }
}

#[test]
fn modules_of_the_server_import_from_the_rows_above_them() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page is there");
    let (_, table) = architecture.split_once("each row imports only from rows above it").expect("it says so");
    let lines = table.lines().skip_while(|line| !line.starts_with('|')).skip(2);
    let rows: Vec<Vec<&str>> = lines
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2).collect())
        .collect();
    assert!(rows.len() > 8, "{rows:?}");
    let graph = Graph::of(&texts("repl-net"));
    // The table has no row for files with methods of the server itself. They may import the files of all
    // rows.
    let row_of = |file| {
        let module = graph.path(file).strip_prefix("server/")?;
        let is_in = |name: &&str| {
            module.strip_prefix(*name).is_some_and(|rest| rest.starts_with('/') || rest == ".rs")
        };
        rows.iter().rposition(|row| row.iter().any(is_in)).or_else(|| {
            assert!(!module.contains('/'), "`{module}` is in no row of ARCHITECTURE.md");
            None
        })
    };
    let is_wrong = |edge: &&Edge| row_of(edge.to) > row_of(edge.from) && row_of(edge.from).is_some();
    let wrong: Vec<_> = graph.edges.iter().filter(is_wrong).map(|edge| text_of(&graph, edge)).collect();
    assert!(wrong.is_empty(), "in repl-net/src\n{}", wrong.join("\n"));
}

/// Returns the sources of a crate, each as its path relative to the folder `src`, and its text.
fn texts(krate: &str) -> Vec<(String, String)> {
    let (folder, mut files) = (root().join(krate).join("src"), Vec::new());
    sources(folder.clone(), &mut files);
    files.sort();
    let read = |file: &std::path::PathBuf| {
        let path = file.strip_prefix(&folder).expect("below the folder").to_string_lossy().replace('\\', "/");
        (path, fs::read_to_string(file).expect("a source is text"))
    };
    files.iter().map(read).collect()
}

/// Returns the folders of a crate, top down, as its table lists them.
fn order<'a>(architecture: &'a str, krate: &str) -> Option<Vec<&'a str>> {
    let (_, section) = architecture.split_once(&format!("### `{krate}`"))?;
    let section = section.split("\n#").next()?;
    let (_, table) = section.split_once("| folders, top down |")?;
    let rows = table.lines().skip(2).take_while(|row| row.starts_with('|'));
    Some(
        rows.flat_map(|row| row.split('|').nth(1).unwrap_or_default().split('`').skip(1).step_by(2))
            .collect(),
    )
}

fn text_of(graph: &Graph, edge: &Edge) -> String {
    let (from, to) = (graph.path(edge.from), graph.path(edge.to));
    match &edge.call {
        None => format!("{from}:{} imports {to}", edge.line),
        Some(Call { of, name }) => format!("{from}:{} calls {of}::{name} of {to}", edge.line),
    }
}

/// Returns the mistakes of a crate with this order of folders, each with the files and the line.
fn mistakes(graph: &Graph, order: &[&str]) -> Vec<String> {
    let folders = graph.folders();
    let missing = folders.iter().filter(|folder| !order.contains(folder));
    let mut mistakes: Vec<String> =
        missing.map(|folder| format!("`{folder}` is missing in ARCHITECTURE.md")).collect();
    let gone = order.iter().filter(|folder| !folders.contains(*folder));
    mistakes.extend(gone.map(|folder| format!("`{folder}` of ARCHITECTURE.md is no more")));
    // The root of the crate is above all folders.
    let height =
        |file| order.iter().rev().position(|folder| *folder == graph.folder(file)).unwrap_or(order.len());
    let upward = graph.edges.iter().filter(|edge| height(edge.to) > height(edge.from));
    mistakes.extend(upward.map(|edge| format!("{}, which stands above it", text_of(graph, edge))));
    let circles = graph.circles();
    mistakes.extend(circles.iter().map(|circle| {
        let edges: Vec<String> = circle.iter().map(|edge| text_of(graph, edge)).collect();
        format!("a circle: {}", edges.join(", "))
    }));
    mistakes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes_in(order: &[&str], files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect();
        mistakes(&Graph::of(&files), order)
    }

    const ROOT: (&str, &str) = ("lib.rs", "mod high; mod low; pub use high::High; pub use low::Low;");

    #[test]
    fn an_import_downward_is_right_however_it_is_written() {
        for high in [
            "use crate::low::Low;",
            "use crate::Low;",
            "use super::low::{Low};",
            "fn f() { crate::low::make() }",
            "use crate::{low, low::Low}; fn f() { low::make() }",
        ] {
            let files = [ROOT, ("high.rs", high), ("low.rs", "pub struct Low; pub fn make() {}")];
            assert_eq!(mistakes_in(&["high", "low"], &files), [""; 0], "{high}");
            assert_eq!(
                mistakes_in(&["low", "high"], &files),
                ["high.rs:1 imports low.rs, which stands above it"]
            );
        }
    }

    #[test]
    fn a_planted_import_upward_is_found_with_its_line() {
        for low in [
            "\n\nuse crate::high::High;",
            "\n\nuse crate::High;",
            "\n\nuse super::high::{\nself};",
            "use std::{fmt,\n};\npub(crate) use super::{high::{self, High}};",
            "\n\nfn f() -> crate::high::High {}",
            "\n\nfn f<'a>(letter: &'a char) { *letter == '\"'; super::high::f() }",
            "\n\nmacro_rules! low { () => { $crate::high::f() } }",
            "\n\nmod within { use super::super::high::High; }",
            "\n/* crate::low */ const TEXT: &str = r#\"\"crate\"\n\"#; use crate::high::*;",
            "use crate::{\n\nhigh as other};",
        ] {
            let files = [ROOT, ("high.rs", "pub struct High;"), ("low.rs", low)];
            let line = if low.contains("self}") { 4 } else { 3 };
            let wrong = mistakes_in(&["high", "low"], &files);
            assert_eq!(wrong, [format!("low.rs:{line} imports high.rs, which stands above it")], "{low}");
        }
    }

    #[test]
    fn nothing_is_imported_by_comments_texts_and_tests() {
        for low in [
            "//! See [High](crate::High).\n/// `crate::high::High`\nstruct Low;",
            "/* a /* use crate::high::High; */ b */",
            "const TEXT: &str = \"\\\"use crate::high::High;\";",
            "const TEXT: &str = r#\"\"use crate::high::High;\"#;",
            "#[cfg(test)]\nmod tests { use crate::high::High; fn f() { [1]; } }",
            "#[cfg(test)] #[expect(unused)]\nuse crate::high::High;",
            "#[cfg(test)]\nmod tests;",
            "use high::High;",
        ] {
            let files = [ROOT, ("high.rs", ""), ("low.rs", low), ("low/tests.rs", "use crate::high::High;")];
            let files = if low.ends_with("mod tests;") { &files[..] } else { &files[..3] };
            assert_eq!(mistakes_in(&["high", "low"], files), [""; 0], "{low}");
        }
    }

    #[test]
    fn planted_circles_are_found_in_a_folder_and_across() {
        let files = [
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b; mod c; mod d; pub use b::B;"),
            ("a/b.rs", "use super::c::C;\npub struct B;"),
            ("a/c.rs", "pub struct C;\nfn f() { super::d::f() }"),
            ("a/d.rs", "pub fn f() -> super::B {}"),
        ];
        let circle = "a circle: a/b.rs:1 imports a/c.rs, a/c.rs:2 imports a/d.rs, a/d.rs:1 imports a/b.rs";
        assert_eq!(mistakes_in(&["a"], &files), [circle]);
        assert_eq!(mistakes_in(&["a"], &[&files[..4], &[("a/d.rs", "pub fn f() {}")]].concat()), [""; 0]);
    }

    #[test]
    fn a_door_imports_nothing_unless_it_uses_what_it_passes_on() {
        let child = ("a/b.rs", "use super::A;\npub struct B;");
        let door = ("a/mod.rs", "mod b;\npub use b::B;\npub struct A;");
        assert_eq!(mistakes_in(&["a"], &[("lib.rs", "mod a;"), door, child]), [""; 0]);
        for user in
            ["mod b;\npub use b::B;\npub struct A(B);", "mod b;\nuse b::B;", "mod b;\nfn f() { b::f() }"]
        {
            let wrong = mistakes_in(&["a"], &[("lib.rs", "mod a;"), ("a/mod.rs", user), child]);
            assert_eq!(wrong.len(), 1, "{user}");
            assert!(wrong[0].ends_with("imports a/mod.rs"), "{wrong:?}");
        }
    }

    #[test]
    fn planted_circles_of_calls_are_found_whatever_shows_the_type() {
        let mistakes_with = |caller: &str| {
            let files = [
                ("lib.rs", "mod a;"),
                ("a/mod.rs", "mod b; mod c; pub struct A<T>(T);"),
                ("a/b.rs", "use super::A;\nimpl<T: Into<u8>> A<T> { fn f(&self) -> [u8; 1] { self.g() } }"),
                ("a/c.rs", caller),
            ];
            mistakes_in(&["a"], &files)
        };
        for caller in [
            "use super::A;\nimpl<T> A<T> { fn g(&self) { self.f() } }",
            "use super::A;\nimpl<T> A<T> { fn g(&self) { drop(|| debug_assert!(self.f::<u8>())) } }",
            "use super::A;\nimpl<T> Iterator for A<T> { fn g(&self) { Self::f(self) } }",
            "use super::A as B;\nunsafe impl<T> super::A<T> { fn g(&self) { B::f(self) } }",
            "use super::A;\nimpl<T> A<T> { fn g(&self) { fn h(it: impl Fn() -> u8, a: &mut super::A<u8>) { a.f() } } }",
            "impl<T> super::A<T> { fn g(&self) {} }\npub fn h<T>(a: &super::A<T>) { a.f() }",
            "impl<T> super::A<T> { fn g(&self) {} }\nstruct B; impl B { fn h<T>(&self, a: &super::A<T>) { a.f() } }",
        ] {
            let circle = "a circle: a/b.rs:2 calls A::g of a/c.rs, a/c.rs:2 calls A::f of a/b.rs";
            assert_eq!(mistakes_with(caller), [circle], "{caller}");
        }
        for caller in [
            "use super::A;\nimpl<T> A<T> { fn g(&self) { self.0.f() } }",
            "use super::A;\nimpl<T> A<T> { fn g(&self) { f() } }",
            "struct A; impl A { fn g(&self) { self.f() } }",
            "use super::A;\nimpl<T> A<T> { fn g(&self) { self.f() } fn f(&self) {} }",
        ] {
            assert_eq!(mistakes_with(caller), [""; 0], "{caller}");
        }
    }

    #[test]
    fn definitions_of_the_root_are_above_all_folders() {
        let files = [("lib.rs", "mod a; pub fn f() {}"), ("a.rs", "use crate::f;")];
        assert_eq!(mistakes_in(&["a"], &files), ["a.rs:1 imports lib.rs, which stands above it"]);
    }

    #[test]
    fn macros_of_the_root_are_where_they_are_written() {
        let low = ("low.rs", "#[macro_export]\n#[doc(hidden)]\nmacro_rules! made { () => {} }");
        let files = [ROOT, ("high.rs", "crate::made!();"), low];
        assert_eq!(mistakes_in(&["high", "low"], &files), [""; 0]);
        assert_eq!(
            mistakes_in(&["low", "high"], &files),
            ["high.rs:1 imports low.rs, which stands above it"]
        );
    }

    #[test]
    fn the_table_has_all_folders_and_no_others() {
        let page = "### `x`: a crate\n\n| folders, top down | what |\n|---|---|\n| `high` | `deep` |\n| `mid`, `low` | |\n\n| `no` |";
        assert_eq!(order(page, "x").as_deref(), Some(["high", "mid", "low"].as_slice()));
        assert_eq!(order(page, "y"), None);
        let files = [ROOT, ("high.rs", ""), ("low.rs", "")];
        let wrong = ["`low` is missing in ARCHITECTURE.md", "`mid` of ARCHITECTURE.md is no more"];
        assert_eq!(mistakes_in(&["high", "mid"], &files), wrong);
    }
}
