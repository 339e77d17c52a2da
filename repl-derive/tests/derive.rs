//! The input that the macros accept, and the errors that they report.
//!
//! Each file in `derive/fail` contains one mistake. The `.stderr` file next to it contains the compiler's
//! messages. After a change to a message, run `TRYBUILD=overwrite cargo test -p repl-derive --test derive`
//! and read the difference as a new user would.

#[test]
fn mistakes_are_reported_at_their_place_with_what_to_write() {
    trybuild::TestCases::new().compile_fail("tests/derive/fail/*/*.rs");
}

/// Mistakes in `derive/late` are found only by a build, and cases that pass make trybuild build the others.
#[test]
fn mistakes_that_only_a_build_finds_are_reported() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/derive/pass/*.rs");
    cases.compile_fail("tests/derive/late/*.rs");
}
