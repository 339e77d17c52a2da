//! The errors that the macros report.
//!
//! Each module of a file in the folder `mistakes` contains one mistake. A file has the mistakes of one topic
//! that are reported together. The folder of a file says who reports its mistakes:
//!
//! - `macros`: the macros themselves.
//! - `types`: the compiler, when it checks the types in the code that the macros made.
//! - `constants`: the compiler, when it computes constants in this code.
//! - `alone`: mistakes that would hide others. Each has a file of its own.
//!
//! The `.stderr` file next to a file contains the compiler's messages. After a change to a message, run
//! `TRYBUILD=overwrite cargo test -p repl-derive-tests --test mistakes` and read the difference as a new user
//! would.

use repl_core::__private::{SMALLEST_THREE_BITS, UNIT_VECTOR_BITS};

#[test]
fn mistakes_are_reported_at_their_place_with_what_to_write() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("mistakes/*/*.rs");
    // The compiler finds mistakes in `late` only when it builds. Because some cases must pass, trybuild
    // builds all cases.
    cases.compile_fail("late/*.rs");
    cases.pass("pass/*.rs");
}

/// A crate of macros exports only macros, so the test reads its source.
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
