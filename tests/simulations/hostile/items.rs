//! Updates of fast arrays that no honest server sends: ids out of range, items that are added and removed in
//! the same update, changes of items that do not exist.
//!
//! *Invariant:* each packet is valid except for the one claim that the test is about. The wire format can
//! only express ascending ids, so no id can be repeated, descend or be zero.

use std::time::Duration;

use repl::BitWriter;
use repl::tools::{HandleSet, wire};

use super::allocator::measure;
use super::claims::{client, refuse, update};
use super::forge::{end, state};
use super::recording::SESSION;
use super::{Actor, budget, shown, worth};

const NUMBERS: u64 = 16;

/// The values of two bits that say which items the update removes from the receiver's array.
const NONE: u64 = 0;
const LISTED: u64 = 1;
const ALL_BUT_LISTED: u64 = 2;
const ALL_BUT_NEW: u64 = 3;

/// Begins an update of the array `numbers` of the actor in slot 3.
fn numbers(removals: u64, writer: &mut BitWriter) {
    update(3, NUMBERS, writer);
    writer.write_bits(removals, 2);
}

/// Writes a list of ids. After each id, `each` writes its data.
fn list(ids: &[u64], writer: &mut BitWriter, mut each: impl FnMut(&mut BitWriter)) {
    let mut last = 0;
    for (at, &id) in ids.iter().enumerate() {
        writer.write_flag(true);
        match at {
            0 => writer.write_exp_golomb(id - 1, 7),
            _ => {
                if at == 1 {
                    writer.write_bits(0, 4);
                }
                writer.write_exp_golomb(id - last - 1, 0);
            }
        }
        last = id;
        each(writer);
    }
    writer.write_flag(false);
}

fn born(writer: &mut BitWriter) {
    writer.write_flag(true);
    writer.write_bits(5, 8);
}

/// Hands a client a packet that it must accept. Returns the client's numbers after the packet.
fn take(body: impl FnOnce(&mut BitWriter)) -> Vec<(u32, u8)> {
    let mut client = client();
    let packet = state(1, SESSION, |writer| {
        body(writer);
        end(writer);
    });
    let (result, most) = measure(|| client.receive(Duration::ZERO, &packet));
    result.expect("nothing is wrong with it");
    assert!(most <= budget(packet.len()) + worth(&client), "{most} bytes for {}", packet.len());
    let (_, actor) = client.objects::<Actor>().next().expect("the actor");
    actor.numbers.ids().iter().map(|id| id.number()).zip(actor.numbers.iter().copied()).collect()
}

#[test]
fn the_forge_makes_items_that_are_taken() {
    let taken = take(|writer| {
        numbers(NONE, writer);
        list(&[1, 2, 9, 1_000], writer, born);
    });
    assert_eq!(taken, [(1, 5), (2, 5), (9, 5), (1_000, 5)]);
}

#[test]
fn r05_removals_of_unknown_ids_are_ignored() {
    let listed = |removals: u64| {
        take(|writer| {
            numbers(removals, writer);
            list(&[1, 9, 77, 1 << 30], writer, |_| ());
            list(&[5, 8], writer, born);
        })
    };
    assert_eq!(listed(LISTED), [(5, 5), (8, 5)]);
    assert_eq!(listed(ALL_BUT_LISTED), [(5, 5), (8, 5)]);
    let swept = take(|writer| {
        numbers(ALL_BUT_NEW, writer);
        list(&[3], writer, born);
    });
    assert_eq!(swept, [(3, 5)]);
}

#[test]
fn ids_out_of_range_are_refused() {
    for id in [1_u64 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 5, 1 << 63] {
        for removals in [NONE, LISTED, ALL_BUT_LISTED] {
            refuse("numbers", |writer| {
                numbers(removals, writer);
                list(&[id], writer, born);
                end(writer);
            });
        }
    }
    // The second id is out of range.
    refuse("numbers", |writer| {
        numbers(NONE, writer);
        list(&[(1 << 31) - 1, 1 << 31], writer, born);
        end(writer);
    });
}

#[test]
fn an_item_that_is_removed_and_added_in_one_update_is_refused() {
    refuse("numbers", |writer| {
        numbers(LISTED, writer);
        list(&[2, 5, 6], writer, |_| ());
        list(&[1, 6], writer, born);
        end(writer);
    });
}

#[test]
fn s185_a_change_of_an_unknown_item_is_refused_with_all_before_it() {
    refuse("numbers", |writer| {
        numbers(NONE, writer);
        let mut first = true;
        list(&[4, 7], writer, |writer| {
            if std::mem::take(&mut first) {
                return born(writer);
            }
            writer.write_flag(false);
            let mut handles = HandleSet::new();
            handles.insert(1);
            wire::write_handles(&handles, 1, false, writer);
            writer.write_bits(5, 8);
        });
        end(writer);
    });
}

#[test]
fn items_that_are_claimed_but_not_there_are_refused() {
    // The list has neither an end nor values.
    for bits in [0, 1, 8, 64, 2_000] {
        refuse("", |writer| {
            numbers(NONE, writer);
            (0..bits).for_each(|_| writer.write_flag(true));
        });
    }
}

#[test]
fn thousands_of_removals_take_no_memory() {
    let taken = take(|writer| {
        numbers(LISTED, writer);
        let ids: Vec<u64> = (1..4_000).collect();
        list(&ids, writer, |_| ());
        list(&[], writer, |_| ());
    });
    assert_eq!(taken, []);
}

#[test]
fn the_memory_for_the_items_of_a_packet_is_limited_by_their_size() {
    let ids: Vec<u64> = (1..800).collect();
    let taken = take(|writer| {
        numbers(ALL_BUT_NEW, writer);
        list(&ids, writer, born);
    });
    assert_eq!(taken.len(), 799);
}

#[test]
fn nothing_of_an_array_is_applied_if_something_behind_it_is_wrong() {
    let mut client = client();
    let before = shown(&client);
    let packet = state(1, SESSION, |writer| {
        numbers(NONE, writer);
        list(&[1, 2], writer, born);
        writer.write_flag(false);
        update(4, 1, writer);
        writer.write_bits(1, 32);
        end(writer);
    });
    assert!(client.receive(Duration::ZERO, &packet).is_err());
    assert_eq!(shown(&client), before);
}
