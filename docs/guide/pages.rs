//! Checks the guide: its contents, its links, whether the code of each chapter is compiled, and whether the
//! page of limits has all of them.
//!
//! *Invariant:* the chapters are the files of the folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::fs;
use std::path::Path;

use repl::prelude::*;
use repl::quic::{QuicConfig, WebOrigins};

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the pages of the guide by their file names, without the table of contents.
fn pages() -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder().join("src")).expect("the guide is there");
    let pages = entries.map(|entry| {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        (name, fs::read_to_string(path).expect("a page"))
    });
    pages.filter(|(name, _)| name != "SUMMARY.md").collect()
}

/// Returns the text of a page without its code.
fn prose(page: &str) -> String {
    page.split("```").step_by(2).collect()
}

/// Returns the targets of links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// Returns the names by which links lead to the titles of a page.
fn anchors(page: &str) -> Vec<String> {
    let titles = prose(page);
    let titles = titles.lines().filter(|line| line.starts_with('#'));
    let kept = |title: &str| {
        let letters = title.trim_start_matches('#').trim().to_lowercase();
        letters.replace(|letter: char| !letter.is_alphanumeric() && letter != ' ' && letter != '_', "")
    };
    titles.map(|title| kept(title).replace(' ', "-")).collect()
}

#[test]
fn the_table_of_contents_has_each_chapter_once_by_its_title() {
    let contents = fs::read_to_string(folder().join("src/SUMMARY.md")).expect("it is there");
    let pages = pages();
    let listed: Vec<&str> = links(&contents).collect();
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>().len(), listed.len(), "{listed:?}");
    assert_eq!(
        listed.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>(),
        pages.keys().cloned().collect()
    );
    for line in contents.lines().filter(|line| line.contains("](")) {
        let (title, rest) =
            line.trim_start_matches("- ").trim_start_matches('[').split_once("](").expect("a link");
        let page = &pages[rest.trim_end_matches(')')];
        assert_eq!(page.lines().next(), Some(format!("# {title}").as_str()), "{rest}");
    }
}

#[test]
fn links_of_the_guide_lead_somewhere() {
    let pages = pages();
    let mut count = 0;
    for (name, page) in &pages {
        for target in links(&prose(page)).filter(|target| !target.starts_with("https://")) {
            let (file, at) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() { name.as_str() } else { file };
            let Some(to) = pages.get(file) else { panic!("{name}: {target} leads to no chapter") };
            let anchors = anchors(to);
            assert!(
                at.is_empty() || anchors.iter().any(|anchor| anchor == at),
                "{name}: {target}, of {anchors:?}"
            );
            count += 1;
        }
    }
    assert!(count > 50, "{count} links");
}

#[test]
fn the_code_of_each_chapter_is_compiled() {
    let samples = fs::read_to_string(folder().join("samples.rs")).expect("it is there");
    for (name, page) in pages() {
        let is_compiled = samples.contains(&format!("include_str!(\"src/{name}\")"));
        assert_eq!(is_compiled, page.contains("```rust"), "{name}");
        assert!(!page.contains("ignore\n"), "{name} has code that nobody compiles");
    }
}

/// Returns the fields of a configuration with their values, in the form of the page.
fn fields(config: &impl Debug) -> Vec<(String, String)> {
    let text = format!("{config:?}");
    let (_, fields) = text.split_once(" { ").expect("it has fields");
    let fields = fields.trim_end_matches(" }").split(", ").filter_map(|field| field.split_once(": "));
    let none = [usize::MAX.to_string(), format!("{:?}", WebOrigins::none())];
    let is_none = |value: &str| none.iter().any(|none| none == value);
    let value = |value: &str| if is_none(value) { "none".to_owned() } else { value.replace(' ', "") };
    fields.map(|(name, shown)| (name.to_owned(), value(shown))).collect()
}

#[test]
fn the_page_of_limits_has_each_field_of_each_configuration_with_its_default() {
    let page = &pages()["limits.md"];
    for (title, fields) in [
        ("Server", fields(&ServerConfig::default())),
        ("Client", fields(&ClientConfig::default())),
        ("Endpoint", fields(&EndpointConfig::default())),
        ("QUIC", fields(&QuicConfig::default())),
        ("Messages", fields(&MessageOptions::default())),
    ] {
        let (_, section) = page.split_once(&format!("\n## {title}\n")).expect("a section");
        let section = section.split("\n## ").next().unwrap_or_default();
        let rows = section.lines().filter(|line| line.starts_with("| `"));
        let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
        let listed: Vec<_> =
            cells.map(|cells| (cells[1].replace('`', ""), cells[2].replace([',', ' '], ""))).collect();
        // A secret is not printed, and a login only as its length.
        let fields = fields.into_iter().map(|(name, value)| (name, value.trim_matches('_').to_owned()));
        assert_eq!(fields.collect::<Vec<_>>(), listed, "{title}");
    }
}
