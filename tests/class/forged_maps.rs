//! Updates of maps that no correct server sends, and the limit on the entries of one update (R14, R20).
//!
//! *Invariant:* an update is refused as a whole, or applied as a whole.

use std::collections::BTreeMap;

use crate::pair::Pair;
use repl::BitWriter;
use repl::prelude::*;

#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Target {
    #[replicated(max_len = 4)]
    map: BTreeMap<u8, u8>,
}

/// Returns an update of a map. `removals` is the kind of removals, and `gone` the removed key. Each entry is
/// its key, the flag of new entries, and the rest as a number with its width in bits.
fn forged(removals: u64, gone: Option<&[u8]>, entries: &[(u8, bool, u64, u32)]) -> BitWriter {
    let mut writer = BitWriter::new();
    repl::tools::wire::write_handles(&crate::pair::handles([1]), 1, false, &mut writer);
    writer.write_bits(removals, 2);
    if let Some(gone) = gone {
        for key in gone {
            writer.write_flag(true);
            writer.write_bits((*key).into(), 8);
        }
        writer.write_flag(false);
    }
    for (key, is_new, value, bits) in entries {
        writer.write_flag(true);
        writer.write_bits((*key).into(), 8);
        writer.write_flag(*is_new);
        writer.write_bits(*value, *bits);
    }
    writer.write_flag(false);
    writer
}

#[test]
fn r20_forged_updates_of_maps_are_refused_whole() {
    let mut pair = Pair::<Target>::from(|| Target { map: BTreeMap::from([(1, 1), (2, 2)]) });
    let before = pair.replica.clone();
    // The bits of a change of handle 1: the list of handles, which contains only this handle, and then the
    // value.
    let change = |key, value: u64| (key, false, value << 2 | 0b10, 10);
    let refused = [
        forged(0, None, &[(5, true, 1, 8), (5, true, 1, 8)]),
        forged(0, None, &[(6, true, 1, 8), (5, true, 1, 8)]),
        forged(1, Some(&[2, 1]), &[]),
        forged(1, Some(&[1, 1]), &[]),
        forged(1, Some(&[1, 2]), &[(2, true, 1, 8)]),
        forged(1, Some(&[2]), &[change(2, 1)]),
        forged(0, None, &[change(9, 1)]),
        forged(0, None, &[3, 4, 5, 6, 7].map(|key| (key, true, 0, 8))),
    ];
    for (at, bits) in refused.iter().enumerate() {
        assert!(pair.receive(bits).is_err(), "case {at}");
        assert_eq!(pair.replica, before, "case {at}");
    }
    let full = forged(0, None, &[(5, true, 1, 8)]);
    for cut in 0..full.bit_len() {
        let mut short = full.clone();
        short.truncate(cut);
        assert!(pair.receive(&short).is_err(), "cut at {cut}");
    }
    pair.receive(&forged(1, Some(&[9, 77]), &[(5, true, 1, 8)])).unwrap();
    assert_eq!(
        pair.replica.map,
        BTreeMap::from([(1, 1), (2, 2), (5, 1)]),
        "unknown removals are ignored (R5)"
    );
    pair.receive(&forged(2, Some(&[2]), &[])).unwrap();
    assert_eq!(pair.replica.map, BTreeMap::from([(2, 2)]));
    pair.receive(&forged(3, None, &[(7, true, 1, 8)])).unwrap();
    assert_eq!(pair.replica.map, BTreeMap::from([(7, 1)]));
}

#[test]
fn r14_a_client_may_hold_more_entries_than_one_update_may_bring() {
    let mut pair = Pair::<Target>::new();
    let grown = (0..40).take_while(|&first| {
        let keys = [first * 4, first * 4 + 1, first * 4 + 2, first * 4 + 3];
        pair.receive(&forged(0, None, &keys.map(|key| (key, true, 0, 8)))).is_ok()
    });
    assert_eq!(grown.count(), 40, "removals that were lost are told later");
    assert!(pair.receive(&forged(0, None, &[200, 201, 202, 203, 204].map(|key| (key, true, 0, 8)))).is_err());
    assert_eq!(pair.replica.map.len(), 160);
}

#[test]
fn r20_entries_that_a_client_has_already_count_for_the_limit_of_an_update() {
    let mut pair = Pair::<Target>::from(|| Target { map: [1, 2, 3, 4].map(|key| (key, 0)).into() });
    let entries = [1, 2, 3, 4, 5].map(|key| (key, true, 9, 8));
    assert!(pair.receive(&forged(0, None, &entries)).is_err());
    assert_eq!(pair.replica.map, [1, 2, 3, 4].map(|key| (key, 0)).into());
    assert!(pair.receive(&forged(0, None, &entries[..4])).is_ok());
    assert_eq!(pair.replica.map, [1, 2, 3, 4].map(|key| (key, 9)).into());
}
