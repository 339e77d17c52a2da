//! Items with values that have their own serialisers. Such values are sent whole or not at all. Also how
//! often the server compares and writes such values (S156 to S166).
//!
//! *Invariant:* each test runs on its own thread, so each has its own counters.

use std::cell::Cell;

use repl::prelude::*;
use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

use crate::support::Room;

thread_local! {
    static COMPARED: Cell<usize> = const { Cell::new(0) };
    static WRITTEN: Cell<usize> = const { Cell::new(0) };
}

/// A text with its own serialiser, which counts how often it is written and compared.
#[derive(Clone, Debug, Default, PartialEq)]
struct Script {
    text: String,
    seal: u8,
}

impl NetSerialize for Script {
    const WIRE_NAME: &'static str = "Script";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        WRITTEN.set(WRITTEN.get() + 1);
        self.text.write(writer)?;
        self.seal.write(writer)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        Ok(Self { text: String::read(reader, references)?, seal: u8::read(reader, references)? })
    }

    fn identical(&self, other: &Self) -> bool {
        COMPARED.set(COMPARED.get() + 1);
        self == other
    }
}
repl::leaf!(Script);

/// An item that consists of a [`Script`].
#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
#[replicated(callbacks)]
struct Scroll(Script);

/// An item with a [`Script`] and another property.
#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Tablet {
    script: Script,
    shelf: u16,
}

thread_local! {
    static CHANGES: Cell<usize> = const { Cell::new(0) };
    static OTHERS: Cell<usize> = const { Cell::new(0) };
}

impl ItemCallbacks for Scroll {
    fn pre_replicated_remove(&mut self) {
        OTHERS.set(OTHERS.get() + 1);
    }

    fn post_replicated_add(&mut self) {
        OTHERS.set(OTHERS.get() + 1);
    }

    fn post_replicated_change(&mut self, _: &ChangedProperties<'_>) {
        CHANGES.set(CHANGES.get() + 1);
    }
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Library {
    scrolls: FastArray<Scroll>,
    tablets: FastArray<Tablet>,
    notices: Vec<Script>,
    visitors: u32,
}

/// The number of bits of each text.
const TEXT_BITS: u64 = 8 * 200;

fn script(seal: u8) -> Script {
    Script { text: "x".repeat(200), seal }
}

/// Returns a room with this many clients, and a library with this many items of each kind.
fn library(items: u8, guests: usize) -> (Room, ObjectRef<Library>) {
    let register = |client: &mut Client| {
        client.register::<Library>();
    };
    Room::furnished(ServerConfig::default(), register, guests, |server| {
        let scrolls = (0..items).map(|seal| Scroll(script(seal))).collect();
        let tablets = (0..items).map(|seal| Tablet { script: script(seal), shelf: seal.into() }).collect();
        server.spawn(Library { scrolls, tablets, ..Library::default() })
    })
}

fn assert_same(room: &Room, library: ObjectRef<Library>) {
    let there = &room.server[library];
    for guest in &room.guests {
        let here = guest.client.get(library).expect("the client has it");
        assert_eq!((here.scrolls.len(), here.tablets.len()), (there.scrolls.len(), there.tablets.len()));
        for id in there.scrolls.ids() {
            assert_eq!(here.scrolls.by_id(*id), there.scrolls.by_id(*id), "{id}");
        }
        for id in there.tablets.ids() {
            assert_eq!(here.tablets.by_id(*id), there.tablets.by_id(*id), "{id}");
        }
        assert_eq!(here.notices, there.notices);
    }
}

/// Returns how often the server compares and writes values in the tick after a change. All clients then
/// receive the change.
fn effort(room: &mut Room, library: ObjectRef<Library>, change: impl FnOnce(&mut Library)) -> (usize, usize) {
    change(&mut room.server[library]);
    let before = (COMPARED.get(), WRITTEN.get());
    let packets = room.tick();
    let effort = (COMPARED.get() - before.0, WRITTEN.get() - before.1);
    packets.iter().enumerate().for_each(|(guest, packets)| room.deliver(guest, packets));
    room.settle();
    assert_same(room, library);
    effort
}

#[test]
fn s156_an_item_that_writes_itself_goes_whole_or_not_at_all() {
    assert_eq!(<Scroll as FastArrayItem>::LAYOUT.counts().handles, 1);
    assert_eq!(<Tablet as FastArrayItem>::LAYOUT.counts().handles, 2);
    let (mut room, library) = Room::measuring(|| library(10, 1));
    type Change = (&'static str, &'static str, fn(&mut Library), bool);
    let changes: [Change; 5] = [
        ("a part of the item's only value", "scrolls", |library| library.scrolls[4].0.seal = 77, true),
        ("a mark of what is as it was", "scrolls", |library| library.scrolls[4].0.seal = 77, false),
        ("a part of one value of two", "tablets", |library| library.tablets[4].script.seal = 77, true),
        ("the other of two", "tablets", |library| library.tablets[4].shelf = 77, false),
        ("the end of an item", "tablets", |library| drop(library.tablets.remove(4)), false),
    ];
    for (name, path, change, is_whole) in changes {
        let before = room.received::<Library>(0, path).1;
        effort(&mut room, library, change);
        let bits = room.received::<Library>(0, path).1 - before;
        let most = if is_whole { TEXT_BITS + 64 } else { 48 };
        assert!(bits <= most && (bits >= TEXT_BITS) == is_whole, "{name}: {bits} bits");
    }
}

#[test]
fn s166_an_item_that_writes_itself_keeps_its_identity_through_its_changes() {
    let (mut room, library) = library(10, 1);
    let ids = |library: &Library| library.scrolls.ids().to_vec();
    let before = ids(&room.server[library]);
    CHANGES.set(0);
    OTHERS.set(0);
    for round in 0..40 {
        let items = &mut room.server[library].scrolls;
        items[round % 10].0 = script(100 + round as u8);
        let packets = room.tick_one();
        // Every third packet is lost. So this item changes again before its change is sent again, or the
        // change is sent again.
        if round % 3 > 0 {
            room.deliver(0, &packets);
            room.acknowledge();
        }
    }
    room.settle();
    assert_same(&room, library);
    assert_eq!(ids(&room.server[library]), before);
    assert_eq!(room.client().get(library).map(ids), Some(before), "nobody came or went in between");
    assert_eq!(OTHERS.get(), 0);
    assert!((27..=40).contains(&CHANGES.get()), "{} changes of 40 were told", CHANGES.get());
    // In the end this item is removed, and no other.
    effort(&mut room, library, |library| drop(library.scrolls.remove(3)));
    assert_eq!(OTHERS.get(), 1);
}

#[test]
fn s158_w02_one_comparison_in_a_tick_serves_all_connections() {
    let mut efforts = Vec::new();
    for guests in [1, 4] {
        let (mut room, library) = library(100, guests);
        let edit = |library: &mut Library| {
            library.scrolls[30].0.seal = 200;
            library.scrolls[60].0.seal = 201;
        };
        efforts.push(effort(&mut room, library, edit));
    }
    // A value of variable size is compared a second time before it is measured.
    assert_eq!(efforts[0].0, 2 * 2);
    assert_eq!(efforts[0], efforts[1], "compared and written, for 1 and 4 connections");
    // If one client lacks more changes, its data is written separately, but no value is compared again.
    let (mut room, library) = library(100, 4);
    room.server[library].scrolls[10].0.seal = 202;
    let packets = room.tick();
    (1..4).for_each(|guest| room.deliver(guest, &packets[guest]));
    for _ in 0..3 {
        room.acknowledge();
        let before = COMPARED.get();
        room.server[library].scrolls[30].0.seal += 1;
        let packets = room.tick();
        assert_eq!(COMPARED.get() - before, 2);
        packets.iter().enumerate().for_each(|(guest, packets)| room.deliver(guest, packets));
    }
    room.settle();
    assert_same(&room, library);
}

#[test]
fn w02_new_items_and_elements_are_written_once_for_all_connections() {
    let changes: [fn(&mut Library); 2] = [
        |library| library.scrolls.extend([Scroll(script(201)), Scroll(script(202))]),
        |library| library.notices.extend([script(203), script(204)]),
    ];
    for change in changes {
        let written = [1, 4].map(|guests| {
            let (mut room, library) = library(10, guests);
            effort(&mut room, library, change).1
        });
        assert!(written[0] >= 2, "both are written");
        assert_eq!(written[0], written[1], "for 1 and 4 connections");
    }
}

#[test]
fn s159_only_touched_items_are_compared_wherever_they_stand() {
    let (mut room, library) = library(100, 1);
    type Change = (&'static str, fn(&mut Library), usize, bool);
    let changes: [Change; 7] = [
        ("another property", |library| library.visitors += 1, 0, false),
        ("a new order", |library| library.scrolls.reverse(), 0, false),
        (
            "one item, and a new order",
            |library| {
                library.scrolls.rotate_left(7);
                library.scrolls[20].0.seal = 200;
                library.scrolls.swap(20, 90);
            },
            1,
            true,
        ),
        ("a mark without a change", |library| library.scrolls.mark(5), 1, false),
        (
            "one item twice",
            |library| (1..=2).for_each(|seal| library.scrolls[40].0.seal = 210 + seal),
            1,
            true,
        ),
        ("some that go", |library| drop(library.scrolls.drain(10..20)), 0, false),
        ("one that comes first of all", |library| _ = library.scrolls.insert(0, Scroll(script(7))), 1, true),
    ];
    for (name, change, items, differs) in changes {
        let (compared, written) = effort(&mut room, library, change);
        // A value of variable size is compared a second time before it is measured.
        let times = if differs { 2 } else { 1 };
        assert_eq!((compared, written > 0), (items * times, differs), "{name}");
    }
}
