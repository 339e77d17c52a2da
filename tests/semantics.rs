//! Checks `docs/semantics.md`: each number such as S45, R13 or W4 in the repository has a line there, and
//! each line lists tests that exist.
//!
//! *Invariant:* the tests are found in the sources, not in a list. With `UPDATE_PAGE=1` the test writes all
//! tests with numbers in their names into the page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A letter and a number, such as `('S', 45)`.
type Number = (char, u32);

/// The greatest number of each letter. The page has a line for each number from 1 to this one.
const LINES: [Number; 3] = [('S', 247), ('R', 28), ('W', 21)];
const MAX_COLUMNS: usize = 200;
/// The words with which a line of the page may begin. The page explains them.
const MARKS: [&str; 6] =
    ["  *Differs:*", "  *Better:*", "  *Same", "  *Instead:*", "  *Not built", "  *Here:*"];

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn page() -> PathBuf {
    root().join("docs/semantics.md")
}

/// Returns all text files of the repository, by their paths from its root.
fn texts() -> Vec<(String, String)> {
    let (mut folders, mut texts) = (vec![root().to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                // Git, what was built, and what npm has installed.
                if name != ".git" && !name.starts_with("target") && name != "node_modules" {
                    folders.push(path);
                }
            } else if name != "Cargo.lock"
                && let Ok(text) = fs::read_to_string(&path)
            {
                let path = path.strip_prefix(root()).expect("below the root").to_string_lossy();
                texts.push((path.replace('\\', "/"), text));
            }
        }
    }
    texts
}

/// Returns the number in a word such as `S45`, if the word has this form.
fn number(word: &str) -> Option<Number> {
    let (letter, digits) = word.split_at_checked(1)?;
    let letter = letter.chars().next().filter(|letter| "SRW".contains(*letter))?;
    let is_number = (1..=3).contains(&digits.len()) && digits.bytes().all(|digit| digit.is_ascii_digit());
    Some((letter, digits.parse().ok().filter(|_| is_number)?))
}

/// Returns the numbers at the start of a name, for example S34 and R4 for `s34_r04_what_it_says`.
fn numbers_of(name: &str) -> Vec<Number> {
    let stem = name.rsplit(['/', ':']).next().unwrap_or_default();
    let lower = |part: &str| part.starts_with(|letter: char| letter.is_ascii_lowercase());
    stem.split('_').map_while(|part| number(&part.to_uppercase()).filter(|_| lower(part))).collect()
}

/// Returns the tests, each as its file and its name. Each mistake for the derive is a module; it counts as a
/// test whose name begins with its file.
fn tests(texts: &[(String, String)]) -> BTreeSet<(String, String)> {
    let mut tests = BTreeSet::new();
    for (path, text) in texts.iter().filter(|(path, _)| path.ends_with(".rs")) {
        if path.starts_with("tests/derive/mistakes/") {
            let modules = text.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(" {"));
            tests.extend(modules.map(|name| (path.clone(), format!("{path}::{name}"))));
        }
        let mut lines = text.lines();
        while lines.any(|line| line.trim() == "#[test]") {
            let name = lines.clone().find_map(|line| line.trim().strip_prefix("fn "));
            let name = name.and_then(|name| name.split('(').next());
            tests.extend(name.map(|name| (path.clone(), name.to_owned())));
        }
    }
    tests
}

/// A line of the page, such as that of S45, and the lines below that belong to it.
#[derive(Default)]
struct Item {
    number: Option<Number>,
    text: Vec<String>,
    tests: Vec<String>,
}

impl Item {
    fn has(&self, mark: &str) -> bool {
        self.text.iter().any(|line| line.starts_with(mark))
    }

    /// Returns what is wrong with the marks of the item or with its tests, and what to write instead.
    fn mistake(&self) -> Option<String> {
        let (is_missing, is_replaced) = (self.has("  *Not built"), self.has("  *Instead:*"));
        let unknown = self.text.iter().find(|line| {
            let is_mark = line.starts_with("  *");
            is_mark && !MARKS.iter().any(|mark| line.starts_with(mark))
        });
        let text = self.text.join(" ").to_lowercase();
        let help = match (is_missing, is_replaced, self.tests.is_empty()) {
            _ if unknown.is_some() => format!("has the unknown mark {unknown:?}: write one of {MARKS:?}"),
            (true, true, _) => "says both *Not built* and *Instead:*: keep *Instead:* if something has its \
                                place, else *Not built*"
                .to_owned(),
            (true, false, false) => {
                "says *Not built* and names tests: write *Instead:* and what the tests check, \
                                     or remove the mark if it is built"
                    .to_owned()
            }
            (false, true, true) => {
                "says *Instead:* and names no test: name the tests of what has its place, or \
                                    write *Not built*"
                    .to_owned()
            }
            (false, false, true) => "names no test: name one, or write *Not built*".to_owned(),
            (false, ..) if text.contains("not built") => {
                "says \"not built\" without the mark: begin a line with *Not built* or *Instead:*".to_owned()
            }
            _ => return None,
        };
        let (letter, number) = self.number?;
        Some(format!("{letter}{number} {help}"))
    }
}

/// Splits the page into items: one for each line with a number. Other text becomes items without a number.
fn items(page: &str) -> Vec<Item> {
    let mut items = vec![Item::default()];
    for line in page.lines() {
        let begins = line.strip_prefix("- **").and_then(|line| number(line.split("**").next()?));
        let last = items.last().expect("there is one");
        if begins.is_some() || last.number.is_some() && !line.starts_with("  ") {
            items.push(Item { number: begins, ..Item::default() });
        }
        let last = items.last_mut().expect("there is one");
        match line.strip_prefix("  - `").and_then(|test| test.strip_suffix('`')) {
            Some(test) if last.number.is_some() => last.tests.push(test.to_owned()),
            _ => last.text.push(line.to_owned()),
        }
    }
    items
}

/// Returns the page with new lists of tests: each item lists all tests that have its number in their names,
/// and then the tests that were added by hand.
fn updated(page: &str, tests: &BTreeSet<(String, String)>) -> String {
    let mut lines = Vec::new();
    for item in items(page) {
        lines.extend(item.text);
        let Some(number) = item.number else { continue };
        let bears = |name: &&String| numbers_of(name).contains(&number);
        let named: BTreeSet<_> = tests.iter().map(|(_, name)| name).filter(bears).collect();
        let by_hand = item.tests.iter().filter(|name| !bears(name));
        lines.extend(named.into_iter().chain(by_hand).map(|name| format!("  - `{name}`")));
    }
    lines.join("\n") + "\n"
}

#[test]
fn tests_with_numbers_stand_in_their_lines() {
    let old = fs::read_to_string(page()).expect("the page is there");
    let new = updated(&old, &tests(&texts()));
    if new != old && std::env::var_os("UPDATE_PAGE").is_some() {
        fs::write(page(), &new).expect("the page can be written");
        return;
    }
    let differs = new.lines().zip(old.lines()).find(|(new, old)| new != old);
    let help = "run `UPDATE_PAGE=1 cargo test -p repl-tests --test semantics` and look at what it changes";
    assert!(new == old, "docs/semantics.md does not list the tests that there are: {differs:?}\n{help}");
}

#[test]
fn every_number_leads_to_a_line() {
    let (texts, mut lost) = (texts(), Vec::new());
    let is_there = |&(letter, number): &Number| {
        LINES.iter().any(|line| line.0 == letter && (1..=line.1).contains(&number))
    };
    for (path, text) in &texts {
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let numbers = words.filter_map(number).chain(numbers_of(path));
        lost.extend(numbers.filter(|number| !is_there(number)).map(|number| (path.as_str(), number)));
    }
    let all = tests(&texts);
    for (path, name) in &all {
        let numbers = numbers_of(name).into_iter().filter(|number| !is_there(number));
        lost.extend(numbers.map(|number| (path.as_str(), number)));
    }
    assert!(lost.is_empty(), "without a line in docs/semantics.md: {lost:?}");
    assert!(all.len() > 500, "{} tests", all.len());
}

#[test]
fn lines_ascend_and_none_is_missing() {
    let page = fs::read_to_string(page()).expect("the page is there");
    let found: Vec<_> = items(&page).into_iter().filter_map(|item| item.number).collect();
    let expected = LINES.iter().flat_map(|&(letter, last)| (1..=last).map(move |number| (letter, number)));
    assert_eq!(found, expected.collect::<Vec<_>>());
    for line in page.lines() {
        assert!(line.chars().count() <= MAX_COLUMNS, "more than {MAX_COLUMNS} columns: {line}");
    }
}

#[test]
fn each_line_names_tests_that_exist() {
    let tests = tests(&texts());
    let page = updated(&fs::read_to_string(page()).expect("the page is there"), &tests);
    let is_there = |name: &String| match name.split_once("::") {
        Some((file, _)) if file.ends_with(".rs") => tests.contains(&(file.to_owned(), name.clone())),
        Some((file, name)) => ["tests", "tests/simulations"]
            .into_iter()
            .any(|folder| tests.contains(&(format!("{folder}/{file}.rs"), name.to_owned()))),
        // Test names with numbers are unique, so the file is not needed.
        None => !numbers_of(name).is_empty() && tests.iter().any(|(_, known)| known == name),
    };
    for item in items(&page).iter().filter(|item| item.number.is_some()) {
        for name in &item.tests {
            assert!(is_there(name), "{:?} names `{name}`, which is no test", item.number);
        }
        assert_eq!(item.mistake(), None);
    }
}

/// Returns the faults of `faults.toml` whose names begin with numbers such as `s45`, each with its arguments
/// of `cargo test`.
fn faults_of_statements() -> Vec<(String, String)> {
    let table = fs::read_to_string(root().join("tests/mutants/faults.toml")).expect("the faults are there");
    let text = |line: Option<&str>, key: &str| Some(line?.strip_prefix(key)?.trim_matches('"').to_owned());
    let fault = |fault: &str| {
        let mut lines = fault.lines();
        Some((text(lines.next(), "name = ")?, text(lines.next(), "test = ")?))
    };
    let all = table.split("[[fault]]\n").filter_map(fault);
    all.filter(|(name, _)| !numbers_of(name).is_empty()).collect()
}

#[test]
fn each_statement_has_a_fault_that_one_of_its_tests_is_to_catch() {
    let page = fs::read_to_string(page()).expect("the page is there");
    let (items, faults) = (items(&page), faults_of_statements());
    for item in items.iter().filter(|item| item.number.is_some() && !item.tests.is_empty()) {
        let is_broken =
            faults.iter().any(|(name, _)| numbers_of(name).iter().any(|number| item.number == Some(*number)));
        assert!(is_broken, "{:?} has tests and no planted fault that they catch", item.number);
    }
    for (name, test) in faults {
        let filter = test.split_whitespace().last().unwrap_or_default();
        for number in numbers_of(&name) {
            let item = items.iter().find(|item| item.number == Some(number)).expect("it has a line");
            let is_run = item.tests.iter().any(|test| test.contains(filter));
            assert!(is_run, "the fault `{name}` runs `{filter}`, which is no test of {number:?}");
        }
    }
}

#[test]
fn marks_and_tests_that_do_not_fit_are_refused() {
    let mistake =
        |lines: &str| items(&format!("- **S1** It flies.\n{lines}"))[1].mistake().unwrap_or_default();
    let test = "  - `s01_it_flies`";
    for right in ["  *Not built:* no.", "  *Not built.*", test, &format!("  *Instead:* it walks.\n{test}")] {
        assert_eq!(mistake(right), "");
    }
    let wrong = [
        ("  *Not built.*\n  - `s01_it_flies`", "S1 says *Not built* and names tests: write *Instead:*"),
        ("  *Instead:* it walks.", "S1 says *Instead:* and names no test"),
        (
            "  *Instead:* it walks.\n  *Not built.*\n  - `s01_it_flies`",
            "S1 says both *Not built* and *Instead:*",
        ),
        ("  *Instead:* it walks.\n  *Not built.*", "S1 says both *Not built* and *Instead:*"),
        ("", "S1 names no test"),
        ("  *Differs:* it walks.", "S1 names no test"),
        ("  *Differs:* wings are not built.\n  - `s01_it_flies`", "S1 says \"not built\" without the mark"),
        ("  *Unlike:* it walks.\n  - `s01_it_flies`", "S1 has the unknown mark"),
    ];
    for (lines, expected) in wrong {
        let found = mistake(lines);
        assert!(found.starts_with(expected), "{found:?} is not {expected:?}");
    }
}
