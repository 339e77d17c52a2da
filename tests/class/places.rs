//! A comparison assigns each changed byte to the right property: each change is listed under its own handle,
//! and under no other handle.

use crate::pair::{Pair, handles};
use repl::prelude::*;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Mixed {
    byte: u8,
    long: u64,
    signed: i16,
    #[replicated(skip)]
    local: u32,
    vector: [f32; 3],
    flag: bool,
    wide: u128,
    name: String,
    letter: char,
    list: Vec<u16>,
    #[replicated(atomic)]
    pair: (u8, u32),
    #[replicated(range = 0..=9)]
    digit: u8,
    last: i8,
}

#[test]
fn each_change_is_listed_under_its_own_handle() {
    type Edit = fn(&mut Mixed);
    let edits: [(u32, Edit); 15] = [
        (1, |mixed| mixed.byte = 0x80),
        (2, |mixed| mixed.long = 1 << 63),
        (2, |mixed| mixed.long = 1),
        (3, |mixed| mixed.signed = -1),
        (4, |mixed| mixed.vector[0] = 1.0),
        (5, |mixed| mixed.vector[1] = -0.0),
        (6, |mixed| mixed.vector[2] = f32::NAN),
        (7, |mixed| mixed.flag = true),
        (8, |mixed| mixed.wide = 1 << 127),
        (9, |mixed| mixed.name.push('a')),
        (10, |mixed| mixed.letter = 'é'),
        (11, |mixed| mixed.list.push(0)),
        (12, |mixed| mixed.pair.1 = 7),
        (13, |mixed| mixed.digit = 9),
        (14, |mixed| mixed.last = -128),
    ];
    let mut all = Pair::<Mixed>::new();
    for (handle, edit) in edits {
        let mut pair = Pair::<Mixed>::new();
        assert_eq!(pair.edit(edit).handles(), &handles([handle]));
        assert!(pair.compare().is_empty(), "what was listed is in the shadow");
        edit(&mut all.live);
    }
    assert_eq!(all.compare().handles(), &handles(1..=14));
    assert!(all.edit(|mixed| mixed.local = 2).is_empty(), "what does not travel is not listed");
}

#[test]
fn only_properties_in_scope_are_listed_and_copied() {
    let edit = |mixed: &mut Mixed| {
        *mixed = Mixed {
            byte: 1,
            long: 2,
            signed: 3,
            local: 0,
            vector: [4.0, 5.0, 6.0],
            flag: true,
            wide: u128::MAX,
            name: "seven".to_owned(),
            letter: 'h',
            list: vec![9],
            pair: (10, 11),
            digit: 5,
            last: 13,
        }
    };
    let mut rest = Pair::<Mixed>::new();
    edit(&mut rest.live);
    for handle in 1..=14 {
        let mut one = Pair::<Mixed>::new();
        edit(&mut one.live);
        assert_eq!(one.compare_some(&handles([handle])).handles(), &handles([handle]));
        // The other values still differ from the shadow.
        let others = handles((1..=14).filter(|other| *other != handle));
        assert_eq!(one.compare().handles(), &others);
        assert_eq!(rest.compare_some(&handles([handle])).handles(), &handles([handle]));
    }
    assert!(rest.compare().is_empty());
}

#[test]
fn properties_of_any_condition_are_compared_where_they_are_in_scope() {
    #[derive(Clone, Debug, Default, PartialEq, Replicated)]
    struct Kinds {
        #[replicated]
        first: u16,
        #[replicated(push)]
        marked: u32,
        #[replicated(push)]
        row: [u8; 3],
        #[replicated(condition = InitialOnly)]
        origin: u64,
        #[replicated]
        flag: bool,
        #[replicated(push, range = 0..=9)]
        digit: u8,
        #[replicated(push)]
        real: f32,
        #[replicated(push)]
        name: String,
        #[replicated(condition = InitialOnly)]
        seed: i16,
        #[replicated]
        last: u8,
    }
    let live = Kinds {
        first: 1,
        marked: 2,
        row: [3, 4, 5],
        origin: 6,
        flag: true,
        digit: 7,
        real: f32::MIN_POSITIVE,
        name: "nine".to_owned(),
        seed: -10,
        last: 11,
    };
    const COUNT: u32 = 12;
    let mut rest = Pair::<Kinds>::new();
    rest.live = live.clone();
    for handle in 1..=COUNT {
        let mut one = Pair::<Kinds>::new();
        one.live = live.clone();
        assert_eq!(one.compare_some(&handles([handle])).handles(), &handles([handle]));
        let others = handles((1..=COUNT).filter(|other| *other != handle));
        assert_eq!(one.compare_some(&others).handles(), &others, "what was out of scope stays as it was");
        assert_eq!(one.shadow, live);
        assert_eq!(rest.compare_some(&handles([handle])).handles(), &handles([handle]));
    }
    assert_eq!(rest.shadow, live);
    assert!(rest.compare_some(&handles(1..=COUNT)).is_empty());
}

#[test]
fn a_property_behind_the_first_16_kib_is_listed_too() {
    #[derive(Replicated)]
    #[replicated(all)]
    struct Large {
        rows: [u64; 5_000],
    }
    impl Default for Large {
        fn default() -> Self {
            Self { rows: [0; 5_000] }
        }
    }
    let mut pair = Pair::<Large>::new();
    for row in [0, 2_047, 2_048, 4_999] {
        assert_eq!(pair.edit(|large| large.rows[row] = 1).handles(), &handles([row as u32 + 1]));
    }
}

#[test]
fn what_is_out_of_scope_stays_as_it_was_beside_what_is_copied() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Plain {
        first: u32,
        second: u32,
    }
    let mut pair = Pair::<Plain>::new();
    (pair.live.first, pair.live.second) = (1, 2);
    assert_eq!(pair.compare_some(&handles([2])).handles(), &handles([2]));
    assert_eq!((pair.shadow.first, pair.shadow.second), (0, 2));
    assert_eq!(pair.compare().handles(), &handles([1]));
}

#[test]
fn each_of_more_than_64_properties_is_listed_under_its_own_handle() {
    #[derive(Clone, Debug, PartialEq, Replicated)]
    #[replicated(all)]
    struct Many {
        first: u16,
        bytes: [u8; 100],
        #[replicated(range = 0..=9)]
        digit: u8,
    }
    impl Default for Many {
        fn default() -> Self {
            Self { first: 0, bytes: [0; 100], digit: 0 }
        }
    }
    let (mut pair, mut both) = (Pair::<Many>::new(), Pair::<Many>::new());
    for at in 0..100 {
        for _ in 0..2 {
            assert_eq!(pair.edit(|many| many.bytes[at] += 1).handles(), &handles([at as u32 + 2]));
        }
        let other = (at + 50) % 100;
        let listed = both.edit(|many| (many.bytes[at], many.bytes[other]) = (at as u8 + 1, 200 - at as u8));
        assert_eq!(listed.handles(), &handles([at as u32 + 2, other as u32 + 2]));
        assert_eq!(both.shadow, both.live);
    }
    assert_eq!(pair.edit(|many| (many.first, many.digit) = (1, 9)).handles(), &handles([1, 102]));
    assert_eq!(pair.edit(|many| many.digit = 10).handles(), &handles([]), "the value is refused");
    assert_eq!((pair.shadow.digit, pair.refusals.len()), (9, 1));
}

#[test]
fn a_value_on_both_sides_of_a_border_of_64_bytes_is_copied_whole() {
    #[derive(Clone, Debug, Default, PartialEq, Replicated)]
    #[repr(C)]
    struct Wide {
        local: u64,
        #[replicated]
        long: u64,
        #[replicated]
        wide: [u128; 4],
        #[replicated]
        last: u8,
    }
    let mut pair = Pair::<Wide>::new();
    for bit in [0, 63, 64, 127] {
        for _ in 0..2 {
            assert_eq!(pair.edit(|wide| wide.wide[3] ^= 1 << bit).handles(), &handles([5]));
            assert_eq!(pair.shadow, pair.live);
        }
    }
    for _ in 0..2 {
        let listed = pair.edit(|wide| (wide.long, wide.wide[3], wide.last) = (!wide.long, !wide.wide[3], 3));
        assert!(listed.handles().contains(1) && listed.handles().contains(5));
        assert_eq!(pair.shadow, pair.live);
    }
}
