//! A client's own edits of its copies last until the next update of the edited property. Then the property
//! has the value that the server sent, whatever kind of collection it is (S49). `restore` does the same at
//! once.
//!
//! *Invariant:* every kind of collection has every kind of edit, followed by every kind of event.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use crate::support::Room;
use repl::prelude::*;
use repl::sim::Rng;

/// A part of a machine, with all kinds of collections in it.
#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Part {
    count: u16,
    marks: Vec<u8>,
    gems: FastArray<u16>,
    notes: BTreeMap<u8, u8>,
}

/// Declares a class with a collection of each kind. The fields have the attributes in the parentheses.
macro_rules! machine {
    ($name:ident($($attribute:tt)*) $($class:tt)*) => {
        #[derive(Replicated, Default)]
        $($class)*
        struct $name {
            #[replicated]
            power: u16,
            #[replicated($($attribute)*)]
            list: Vec<Part>,
            #[replicated($($attribute)*)]
            sorted: BTreeMap<u8, Part>,
            #[replicated($($attribute)*)]
            hashed: HashMap<u8, Part>,
            #[replicated($($attribute)*)]
            recorded: ReplicatedMap<u8, Part>,
            #[replicated($($attribute)*)]
            keys: BTreeSet<u8>,
            #[replicated($($attribute)*)]
            items: FastArray<Part>,
            #[replicated($($attribute)*)]
            shelf: OrderedFastArray<Part>,
            #[replicated($($attribute)*)]
            bins: Vec<FastArray<Part>>,
            /// Counts notifies. The field is not replicated.
            notified: u32,
        }

        impl Machine for $name {
            fn power(&mut self) -> &mut u16 {
                &mut self.power
            }

            fn change(&mut self, kind: Kind, at: u8, change: impl FnOnce(&mut Part)) {
                let index = usize::from(at);
                match kind {
                    Kind::List => self.list.get_mut(index).map(change),
                    Kind::Sorted => self.sorted.get_mut(&at).map(change),
                    Kind::Hashed => self.hashed.get_mut(&at).map(change),
                    Kind::Recorded => self.recorded.get_mut(&at).map(|mut part| change(&mut part)),
                    Kind::Keys => {
                        self.keys.remove(&at);
                        self.keys.insert(at + 100);
                        None
                    }
                    Kind::Items => self.items.get_mut(index).map(|mut part| change(&mut part)),
                    Kind::Shelf => self.shelf.get_mut(index).map(|mut part| change(&mut part)),
                    Kind::Bins => self.bins[0].get_mut(index).map(|mut part| change(&mut part)),
                };
            }

            fn remove(&mut self, kind: Kind, at: u8) {
                let index = usize::from(at);
                match kind {
                    Kind::List => drop(self.list.remove(index)),
                    Kind::Sorted => drop(self.sorted.remove(&at)),
                    Kind::Hashed => drop(self.hashed.remove(&at)),
                    Kind::Recorded => drop(self.recorded.remove(&at)),
                    Kind::Keys => _ = self.keys.remove(&at),
                    Kind::Items => drop(self.items.remove(index)),
                    Kind::Shelf => drop(self.shelf.remove(index)),
                    Kind::Bins => drop(self.bins[0].remove(index)),
                }
            }

            fn add(&mut self, kind: Kind, at: u8) {
                let part = part(at);
                match kind {
                    Kind::List => self.list.push(part),
                    Kind::Sorted => drop(self.sorted.insert(at, part)),
                    Kind::Hashed => drop(self.hashed.insert(at, part)),
                    Kind::Recorded => drop(self.recorded.insert(at, part)),
                    Kind::Keys => _ = self.keys.insert(at),
                    Kind::Items => _ = self.items.push(part),
                    Kind::Shelf => _ = self.shelf.push(part),
                    Kind::Bins => _ = self.bins[0].push(part),
                }
            }

            fn replace(&mut self, kind: Kind, with: std::ops::Range<u8>) {
                match kind {
                    Kind::List => self.list = with.map(part).collect(),
                    Kind::Sorted => self.sorted = with.map(|at| (at, part(at))).collect(),
                    Kind::Hashed => self.hashed = with.map(|at| (at, part(at))).collect(),
                    Kind::Recorded => self.recorded = with.map(|at| (at, part(at))).collect(),
                    Kind::Keys => self.keys = with.collect(),
                    Kind::Items => self.items = with.map(part).collect(),
                    Kind::Shelf => self.shelf = with.map(part).collect(),
                    Kind::Bins => self.bins = vec![with.map(part).collect()],
                }
            }

            fn reorder(&mut self, kind: Kind) {
                match kind {
                    Kind::List => self.list.reverse(),
                    Kind::Sorted => exchange(&mut self.sorted),
                    Kind::Hashed => {
                        let (one, other) = (self.hashed[&0].clone(), self.hashed[&2].clone());
                        self.hashed.extend([(0, other), (2, one)]);
                    }
                    Kind::Recorded => {
                        let (one, other) = (self.recorded[&0].clone(), self.recorded[&2].clone());
                        self.recorded.extend([(0, other), (2, one)]);
                    }
                    Kind::Keys => self.keys = self.keys.iter().map(|key| key + 50).collect(),
                    Kind::Items => self.items.reverse(),
                    Kind::Shelf => self.shelf.reverse(),
                    Kind::Bins => self.bins[0].reverse(),
                }
            }

            fn notified(&mut self) -> &mut u32 {
                &mut self.notified
            }

            fn shown(&self, kind: Kind) -> Shown {
                match kind {
                    Kind::List => in_order(self.list.iter().map(text)),
                    Kind::Sorted => by_key(self.sorted.iter().map(|(key, part)| (*key, text(part)))),
                    Kind::Hashed => by_key(self.hashed.iter().map(|(key, part)| (*key, text(part)))),
                    Kind::Recorded => by_key(self.recorded.iter().map(|(key, part)| (*key, text(part)))),
                    Kind::Keys => by_key(self.keys.iter().map(|key| (*key, String::new()))),
                    Kind::Items => of_items(self.items.ids().iter().copied().zip(self.items.iter().map(text))),
                    Kind::Shelf => {
                        let mut shown = Shown::default();
                        for (id, part) in self.shelf.ids().zip(self.shelf.iter()) {
                            match id.is_local() {
                                true => shown.own.push(text(part)),
                                false => shown.of_server.push(format!("{id}: {}", text(part))),
                            }
                        }
                        shown
                    }
                    Kind::Bins => match self.bins.first() {
                        Some(bin) => of_items(bin.ids().iter().copied().zip(bin.iter().map(text))),
                        None => Shown::default(),
                    },
                }
            }
        }
    };
}

machine!(Quiet());
machine!(Watched(notify = on_change));

impl Watched {
    fn on_change(&mut self) {
        self.notified += 1;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    List,
    Sorted,
    Hashed,
    Recorded,
    Keys,
    Items,
    Shelf,
    Bins,
}

const KINDS: [Kind; 8] = [
    Kind::List,
    Kind::Sorted,
    Kind::Hashed,
    Kind::Recorded,
    Kind::Keys,
    Kind::Items,
    Kind::Shelf,
    Kind::Bins,
];

/// A class with a collection of each kind.
trait Machine: Replicated {
    fn power(&mut self) -> &mut u16;
    /// Changes the element with the key `at`, or at the index `at`.
    fn change(&mut self, kind: Kind, at: u8, change: impl FnOnce(&mut Part));
    fn remove(&mut self, kind: Kind, at: u8);
    /// Adds an element. If the elements have keys, the new element has the key `at`.
    fn add(&mut self, kind: Kind, at: u8);
    fn replace(&mut self, kind: Kind, with: std::ops::Range<u8>);
    fn reorder(&mut self, kind: Kind);
    /// The number of notifies that ran. The field is not replicated.
    fn notified(&mut self) -> &mut u32;
    fn shown(&self, kind: Kind) -> Shown;
}

/// What a collection contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Shown {
    /// The elements that came from the server, with their keys or ids. They are in the order of the
    /// collection if it has one.
    of_server: Vec<String>,
    /// The items that the client has added itself.
    own: Vec<String>,
}

fn part(at: u8) -> Part {
    Part {
        count: u16::from(at) * 10,
        marks: vec![at, 1, 2],
        gems: [u16::from(at), 7].into(),
        notes: [(1, at), (2, 9)].into(),
    }
}

fn text(part: &Part) -> String {
    let Part { count, marks, gems, notes } = part;
    let of_server = gems.ids().iter().zip(gems).filter(|(id, _)| !id.is_local());
    let mut gems: Vec<_> = of_server.map(|(id, gem)| format!("{id}={gem}")).collect();
    gems.sort();
    format!("{count} {marks:?} {gems:?} {notes:?}")
}

fn exchange(map: &mut BTreeMap<u8, Part>) {
    let (one, other) = (map[&0].clone(), map[&2].clone());
    map.extend([(0, other), (2, one)]);
}

fn in_order(elements: impl Iterator<Item = String>) -> Shown {
    Shown { of_server: elements.collect(), own: Vec::new() }
}

fn by_key(entries: impl Iterator<Item = (u8, String)>) -> Shown {
    let sorted: BTreeMap<_, _> = entries.collect();
    in_order(sorted.into_iter().map(|(key, text)| format!("{key}: {text}")))
}

fn of_items(items: impl Iterator<Item = (ItemId, String)>) -> Shown {
    let (own, of_server): (BTreeMap<_, _>, BTreeMap<_, _>) = items.partition(|(id, _)| id.is_local());
    Shown {
        of_server: of_server.into_iter().map(|(id, text)| format!("{id}: {text}")).collect(),
        own: own.into_values().collect(),
    }
}

/// An edit of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edit {
    Change,
    ChangeWithin,
    AddWithin,
    Remove,
    Clear,
    Add,
    Replace,
    Reorder,
}

const EDITS: [Edit; 8] = [
    Edit::Change,
    Edit::ChangeWithin,
    Edit::AddWithin,
    Edit::Remove,
    Edit::Clear,
    Edit::Add,
    Edit::Replace,
    Edit::Reorder,
];

impl Edit {
    fn make<M: Machine>(self, machine: &mut M, kind: Kind) {
        match self {
            Self::Change => machine.change(kind, 1, |part| part.count = 77),
            Self::ChangeWithin => machine.change(kind, 1, |part| {
                part.marks.swap(0, 1);
                part.gems[1] = 70;
                part.notes.remove(&1);
            }),
            Self::AddWithin => machine.change(kind, 1, |part| {
                part.marks.truncate(1);
                part.notes.insert(3, 3);
            }),
            Self::Remove => machine.remove(kind, 1),
            Self::Clear => (0..4).rev().for_each(|at| machine.remove(kind, at)),
            Self::Add => machine.add(kind, 44),
            Self::Replace => machine.replace(kind, 1..3),
            Self::Reorder => machine.reorder(kind),
        }
    }

    /// Returns how many items that the client added itself are in the collection after the next update.
    fn own_items(self, kind: Kind) -> usize {
        match (self, kind) {
            (Self::Add, Kind::Items | Kind::Shelf | Kind::Bins) => 1,
            _ => 0,
        }
    }
}

/// The event that happens after the edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Nothing,
    OtherProperty,
    OtherElement,
    ThisElement,
    WithinThisElement,
    ElementRemoved,
    OtherRemoved,
    ElementAdded,
    AllReplaced,
    OutOfSight,
    Reconnect,
}

const EVENTS: [Event; 11] = [
    Event::Nothing,
    Event::OtherProperty,
    Event::OtherElement,
    Event::ThisElement,
    Event::WithinThisElement,
    Event::ElementRemoved,
    Event::OtherRemoved,
    Event::ElementAdded,
    Event::AllReplaced,
    Event::OutOfSight,
    Event::Reconnect,
];

impl Event {
    /// Returns whether the event brings an update of the edited collection.
    fn brings_update(self) -> bool {
        !matches!(self, Self::Nothing | Self::OtherProperty)
    }

    /// Returns whether the event opens the object again on the client.
    fn brings_object(self) -> bool {
        matches!(self, Self::OutOfSight | Self::Reconnect)
    }

    fn happen<M: Machine>(self, room: &mut Room, object: ObjectRef<M>, kind: Kind) {
        let machine = &mut room.server[object];
        match self {
            Self::Nothing => {}
            Self::OtherProperty => *machine.power() += 1,
            Self::OtherElement => machine.change(kind, 2, |part| part.count = 222),
            Self::ThisElement => machine.change(kind, 1, |part| part.count = 111),
            Self::WithinThisElement => machine.change(kind, 1, |part| {
                part.marks[2] = 33;
                part.gems[0] = 99;
                _ = part.notes.insert(2, 99);
            }),
            Self::ElementRemoved => machine.remove(kind, 1),
            Self::OtherRemoved => machine.remove(kind, 3),
            Self::ElementAdded => machine.add(kind, 55),
            Self::AllReplaced => machine.replace(kind, 2..6),
            Self::OutOfSight => {
                let id = room.guests[0].id;
                room.server.object(object).set_visible(id, false);
                room.settle();
                assert!(!room.client().contains(object));
                room.server.object(object).set_visible(id, true);
            }
            Self::Reconnect => {
                // This time is longer than the timeouts of both sides.
                room.wait(Duration::from_secs(30));
                room.acknowledge();
                room.tick();
                room.guests[0].id = room.server.connect(room.now);
                for _ in 0..500 {
                    if !room.client().is_connected() {
                        room.step();
                    }
                }
            }
        }
        room.settle();
    }
}

fn room_of<M: Machine + Default>() -> (Room, ObjectRef<M>) {
    Room::furnished(
        ServerConfig::default(),
        |client| {
            client.register::<M>();
        },
        1,
        |server| {
            let mut machine = M::default();
            KINDS.into_iter().for_each(|kind| machine.replace(kind, 0..4));
            server.spawn(machine)
        },
    )
}

/// Makes each edit in each kind of collection, then each event, and checks what the client shows then.
fn check_all<M: Machine + Default>() {
    let mut wrong = Vec::new();
    for kind in KINDS {
        for edit in EDITS {
            for event in EVENTS {
                let (mut room, object) = room_of::<M>();
                edit.make(room.guests[0].client.get_mut(object).unwrap(), kind);
                let edited = room.client()[object].shown(kind);
                event.happen(&mut room, object, kind);
                let shown = room.client()[object].shown(kind);
                let own = if event.brings_object() { 0 } else { edit.own_items(kind) };
                let of_server = room.server[object].shown(kind).of_server;
                let is_right = match event.brings_update() {
                    true => shown.of_server == of_server && shown.own.len() == own,
                    false => shown == edited,
                };
                if !is_right {
                    wrong.push(format!("{kind:?}, {edit:?}, {event:?}: {shown:#?}, not {of_server:#?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn s49_an_edit_lasts_until_the_next_update_of_its_property() {
    check_all::<Quiet>();
}

#[test]
fn s49_an_edit_lasts_until_the_next_update_of_its_property_in_a_class_with_notifies() {
    check_all::<Watched>();
}

/// Makes each edit in each kind of collection, calls `restore`, and then makes each event.
fn check_restoring<M: Machine + Default>() {
    for kind in KINDS {
        for edit in EDITS {
            for event in [Event::Nothing, Event::OtherElement, Event::ElementRemoved, Event::AllReplaced] {
                let context = format!("{kind:?}, {edit:?}, {event:?}");
                let (mut room, object) = room_of::<M>();
                let before = *room.guests[0].client[object].notified();
                edit.make(&mut room.guests[0].client[object], kind);
                assert!(room.guests[0].client.object(object).restore());
                for kind in KINDS {
                    let shown = room.client()[object].shown(kind);
                    assert_eq!(shown, room.server[object].shown(kind), "{context}, restored");
                }
                assert_eq!(*room.guests[0].client[object].notified(), before, "{context}");
                event.happen(&mut room, object, kind);
                let shown = room.client()[object].shown(kind);
                assert_eq!(shown, room.server[object].shown(kind), "{context}, then updated");
            }
        }
    }
}

#[test]
fn restore_undoes_every_edit_of_every_kind_and_updates_go_on() {
    check_restoring::<Quiet>();
    check_restoring::<Watched>();
}

#[test]
fn one_property_is_restored_and_the_others_stay_edited() {
    let (mut room, object) = room_of::<Quiet>();
    let client = &mut room.guests[0].client;
    KINDS.into_iter().for_each(|kind| client[object].remove(kind, 1));
    *client[object].power() = 9;
    let edited: Vec<_> = KINDS.into_iter().map(|kind| client[object].shown(kind)).collect();
    assert!(client.object(object).restore_property(Quiet::LAYOUT.property("items")));
    for (kind, edited) in KINDS.into_iter().zip(edited) {
        let expected = if kind == Kind::Items { room.server[object].shown(kind) } else { edited };
        assert_eq!(room.client()[object].shown(kind), expected, "{kind:?}");
    }
    assert_eq!(room.client()[object].power, 9);
    assert!(room.guests[0].client.object(object).restore());
    assert_eq!(room.client()[object].power, 0);
}

/// A client with edits shows the same value of a property as a client without edits: after the next update of
/// the property, or at once after `restore`.
#[test]
fn random_edits_leave_nothing_after_the_next_update() {
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let (mut room, object) = room_of::<Watched>();
        room.enter();
        room.settle();
        let mut edited: Vec<Kind> = Vec::new();
        for round in 0..100 {
            let context = format!("seed {seed}, round {round}");
            let kind = KINDS[rng.below(KINDS.len() as u64) as usize];
            if rng.chance(0.6) {
                random_change(&mut room.guests[0].client[object], kind, &mut rng);
                edited.push(kind);
            }
            let updated = KINDS[rng.below(KINDS.len() as u64) as usize];
            let before = room.guests[1].client[object].shown(updated);
            if rng.chance(0.7) {
                random_change(&mut room.server[object], updated, &mut rng);
            }
            // The first packets are lost.
            (0..rng.below(3)).for_each(|_| _ = room.tick());
            room.settle();
            let untouched = room.guests[1].client[object].shown(updated);
            if untouched != before {
                edited.retain(|&kind| kind != updated);
            }
            if rng.chance(0.1) {
                assert!(room.guests[0].client.object(object).restore());
                edited.clear();
                KINDS.into_iter().for_each(|kind| {
                    let (one, other) = (&room.guests[0].client[object], &room.guests[1].client[object]);
                    assert_eq!(one.shown(kind), other.shown(kind), "{context}: {kind:?} restored");
                });
            }
            for kind in KINDS.into_iter().filter(|kind| !edited.contains(kind)) {
                let (one, other) = (&room.guests[0].client[object], &room.guests[1].client[object]);
                let (one, other) = (one.shown(kind).of_server, other.shown(kind).of_server);
                assert_eq!(one, other, "{context}: {kind:?} after an update of {updated:?}");
            }
        }
    }
}

/// Changes a collection at random, whatever it contains.
fn random_change(machine: &mut Watched, kind: Kind, rng: &mut Rng) {
    let at = rng.below(6) as u8;
    let value = rng.below(1_000) as u16;
    let len = machine.shown(kind).of_server.len() + machine.shown(kind).own.len();
    let is_there = match kind {
        Kind::Sorted => machine.sorted.contains_key(&at),
        Kind::Hashed => machine.hashed.contains_key(&at),
        Kind::Recorded => machine.recorded.contains_key(&at),
        Kind::Keys => machine.keys.contains(&at),
        _ => usize::from(at) < len,
    };
    match rng.below(8) {
        0..3 if is_there => machine.change(kind, at, |part| part.count = value),
        3 if is_there => machine.change(kind, at, |part| {
            part.marks.push(value as u8);
            part.gems.push(value);
            part.notes.insert(value as u8 % 4, 5);
        }),
        4 if is_there => machine.change(kind, at, |part| {
            part.marks.truncate(1);
            part.gems.clear();
            part.notes.clear();
        }),
        5 if is_there => machine.remove(kind, at),
        6 => machine.add(kind, at),
        7 if value < 200 => machine.replace(kind, 1..4),
        _ => {}
    }
}
