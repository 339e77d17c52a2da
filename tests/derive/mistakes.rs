//! The errors that the macros report.
//!
//! Each module of a file in the folder `mistakes` contains one mistake, and a file has those of one topic that the
//! compiler reports at the same time: the macros report them (`macros`), or the compiler finds them in what the macros
//! wrote, when it checks its types (`types`) or computes its constants (`constants`). Mistakes that would hide others
//! have files of their own (`alone`). The `.stderr` file next to a file contains the compiler's messages. After a change to a message, run `TRYBUILD=overwrite cargo test -p repl-derive-tests
//! --test mistakes` and read the difference as a new user would.

use repl_core::__private::{SMALLEST_THREE_BITS, UNIT_VECTOR_BITS};

#[test]
fn mistakes_are_reported_at_their_place_with_what_to_write() {
    trybuild::TestCases::new().compile_fail("mistakes/*/*.rs");
}

/// Mistakes in `late` are found only by a build, and cases that pass make trybuild build the others.
#[test]
fn mistakes_that_only_a_build_finds_are_reported() {
    let cases = trybuild::TestCases::new();
    cases.pass("pass/*.rs");
    cases.compile_fail("late/*.rs");
}

/// A crate of macros exports nothing else, so its source is read.
#[test]
fn widths_of_directions_and_rotations_are_those_of_the_codecs() {
    let check = include_str!("../../repl-derive/src/check.rs");
    for (name, widths) in
        [("SMALLEST_THREE_BITS", SMALLEST_THREE_BITS), ("UNIT_VECTOR_BITS", UNIT_VECTOR_BITS)]
    {
        let line = format!("const {name}: RangeInclusive<u8> = {widths:?};");
        assert!(check.contains(&line), "the derive has no `{line}`");
    }
}
