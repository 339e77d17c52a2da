//! Maps and sets from a server to its clients: they are sent entry by entry, under any loss and with any
//! hasher (R14, S17, W16).
//!
//! *Invariant:* after a round trip without changes a client's map equals the server's. The order of entries
//! does not matter.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher};

use crate::pair::{AllObjects, Pair};
use crate::support::Room;
use repl::prelude::*;
use repl::{BitWriter, ReferenceMap, Refusal, WriteError};

#[derive(FastArrayItem, Default, Clone, Debug, PartialEq)]
struct Score {
    #[replicated]
    kills: u16,
    #[replicated]
    deaths: u16,
    #[replicated]
    names: Vec<String>,
}

#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Board {
    #[replicated]
    scores: HashMap<u32, Score>,
    #[replicated]
    sorted: BTreeMap<String, u8>,
    #[replicated]
    seen: HashSet<u16>,
    #[replicated]
    open: BTreeSet<(u8, bool)>,
}

fn scores(keys: impl IntoIterator<Item = u32>) -> HashMap<u32, Score> {
    keys.into_iter().map(|key| (key, Score { kills: key as u16, ..Score::default() })).collect()
}

#[test]
fn s17_w16_maps_and_sets_are_replicated_by_entry() {
    let mut pair = Pair::<Board>::new();
    pair.update(|board| {
        board.scores = scores(0..100);
        board.sorted.insert("one".to_owned(), 1);
        board.seen.extend([1, 2, 3]);
        board.open.insert((7, true));
    });
    assert_eq!(pair.replica, pair.live);
    pair.update(|board| {
        board.scores.remove(&17);
        board.scores.get_mut(&18).unwrap().names.push("Ann".to_owned());
        board.scores.insert(1_000, Score::default());
        board.sorted.insert("two".to_owned(), 2);
        board.seen.remove(&2);
        board.open.clear();
    });
    assert_eq!(pair.replica, pair.live);
    pair.update(|board| board.scores.clear());
    assert_eq!(pair.replica, pair.live);
    assert_eq!(pair.update(|_| {}), 0);
}

#[test]
fn r14_an_update_costs_what_changed_of_the_entries_that_did() {
    let mut pair = Pair::<Board>::new();
    pair.update(|board| board.scores = scores(0..1_000));
    // The bits are: 3 for the object's handles, 2 for removals, 1 + 32 + 1 for one entry, 4 for its handles,
    // 16 for the value, and 1 for the end.
    let changed = pair.update(|board| board.scores.get_mut(&500).unwrap().deaths = 9);
    assert!(changed <= 64, "{changed} bits");
    let removed = pair.update(|board| drop(board.scores.remove(&500)));
    assert!(removed <= 48, "{removed} bits");
    let alike = pair.update(|board| {
        board.scores.get_mut(&1).unwrap().deaths = 1;
        board.scores.get_mut(&2).unwrap().deaths = 2;
    });
    assert!(alike <= changed + 1 + 32 + 1 + 1 + 16, "the second says that its handles are the same: {alike}");
    let cleared = pair.update(|board| {
        board.scores.clear();
        board.scores.insert(3, Score::default());
    });
    assert!(cleared <= 120, "what goes is not listed where little stays: {cleared} bits");
    assert_eq!(pair.replica, pair.live);
}

#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Hashed {
    #[replicated]
    map: HashMap<u32, u8, BuildHasherDefault<DefaultHasher>>,
    #[replicated]
    set: HashSet<String>,
}

#[test]
fn s17_bytes_do_not_depend_on_hashers_or_the_order_of_insertion() {
    let names = ["a", "bc", "def", "g", "h", "ijk"].map(str::to_owned);
    let mut pair = Pair::<Hashed>::new();
    let changes = pair.edit(|hashed| {
        hashed.map = (0..100).map(|key| (key, key as u8)).collect();
        hashed.set = names.iter().cloned().collect();
    });
    let mut other = Pair::<Hashed>::new();
    let others = other.edit(|hashed| {
        hashed.map = (0..100).rev().map(|key| (key, key as u8)).collect();
        hashed.set = names.iter().rev().cloned().collect();
    });
    assert_eq!(pair.encode(&changes), other.encode(&others));
    let board = Board { scores: scores(0..100), ..Board::default() };
    let again = Board { scores: scores((0..100).rev()), ..Board::default() };
    let whole = |board: &Board| {
        let mut writer = BitWriter::new();
        NetSerialize::write(board, &mut writer).unwrap();
        writer
    };
    assert_eq!(whole(&board), whole(&again));
    let mut bits = whole(&board);
    let read = NetSerialize::read(&mut bits.as_slice().reader(), &mut ReferenceMap::new(&AllObjects));
    assert_eq!(read, Ok(board));
}

#[derive(FastArrayItem, Default, Clone, Debug, PartialEq)]
struct Shelf {
    #[replicated]
    stock: BTreeMap<u8, u16>,
    #[replicated]
    label: u8,
}

#[derive(FastArrayItem, Default, Clone, Debug)]
struct Hall {
    #[replicated]
    shelves: FastArray<Shelf>,
}

#[derive(Replicated, Default, Clone, Debug)]
struct House {
    #[replicated]
    nested: HashMap<u8, BTreeMap<u8, Vec<u8>>>,
    #[replicated]
    listed: Vec<HashMap<u8, u8>>,
    #[replicated]
    maybe: Option<HashMap<u8, u8>>,
    #[replicated]
    shelves: FastArray<Shelf>,
    #[replicated]
    rooms: BTreeMap<u8, Hall>,
}

fn same_house(one: &House, other: &House) -> bool {
    let shelves = |array: &FastArray<Shelf>| -> BTreeMap<u32, Shelf> {
        array.ids().iter().map(|id| id.number()).zip(array.iter().cloned()).collect()
    };
    one.nested == other.nested
        && one.listed == other.listed
        && one.maybe == other.maybe
        && shelves(&one.shelves) == shelves(&other.shelves)
        && one.rooms.len() == other.rooms.len()
        && one.rooms.iter().all(|(key, room)| {
            other.rooms.get(key).is_some_and(|other| shelves(&room.shelves) == shelves(&other.shelves))
        })
}

/// Makes a change, sends it as an update, and ends the update as a client does, so that callbacks run.
/// Returns its bits.
fn tell(pair: &mut Pair<House>, edit: impl FnOnce(&mut House)) -> usize {
    let bits = pair.update(edit);
    pair.class.conclude(&mut pair.replica, true);
    assert!(same_house(&pair.replica, &pair.live), "{:#?}\n{:#?}", pair.replica, pair.live);
    bits
}

fn hall(house: &mut House) -> &mut Hall {
    house.rooms.get_mut(&4).unwrap()
}

#[test]
fn w16_maps_nest_in_everything_and_everything_in_maps() {
    let mut pair = Pair::<House>::new();
    tell(&mut pair, |house| {
        house.nested.entry(1).or_default().insert(2, vec![3]);
        house.listed = vec![HashMap::from([(1, 1)]), HashMap::new()];
        house.maybe = Some(HashMap::from([(5, 5)]));
        house.shelves.push(Shelf { stock: BTreeMap::from([(1, 1)]), label: 1 });
        house.rooms.entry(4).or_default().shelves.push(Shelf::default());
    });
    let stock = tell(&mut pair, |house| hall(house).shelves[0].stock.extend([(1, 300), (2, 400)]));
    assert!(stock < 140, "{stock} bits");
    tell(&mut pair, |house| {
        house.nested.get_mut(&1).unwrap().get_mut(&2).unwrap().push(4);
        house.nested.entry(9).or_default();
        house.listed[1].insert(7, 7);
        house.listed[0].clear();
        house.maybe.as_mut().unwrap().insert(6, 6);
        house.shelves[0].stock.insert(1, 2);
        hall(house).shelves.push(Shelf::default());
    });
    tell(&mut pair, |house| {
        house.nested.get_mut(&1).unwrap().remove(&2);
        house.listed.pop();
        house.maybe = None;
        hall(house).shelves.remove(0);
        house.rooms.insert(5, Hall::default());
    });
    tell(&mut pair, |house| {
        house.maybe = Some(HashMap::from([(6, 1)]));
        house.rooms.remove(&4);
        house.nested.clear();
    });
}

/// A number. As a key on the wire, it must be from 0 to 255.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Clamped {
    #[replicated(range = 0..=255, saturate)]
    number: u32,
}

#[derive(Replicated, Default, Clone, Debug, PartialEq)]
struct Refusing {
    #[replicated]
    clamped: HashMap<Clamped, u8>,
    #[replicated]
    named: HashMap<String, u8>,
    #[replicated(max_len = 3)]
    few: BTreeSet<u8>,
    #[replicated(range = 0..=3)]
    small: BTreeMap<u8, u8>,
}

#[test]
fn s17_keys_without_a_form_of_their_own_are_refused_and_harm_no_other() {
    let mut pair = Pair::<Refusing>::new();
    let clamped = |number| Clamped { number };
    pair.update(|map| {
        map.clamped.extend([(clamped(255), 1), (clamped(300), 2), (clamped(400), 3)]);
        map.named.extend([("x".repeat(5_000), 1), ("y".to_owned(), 2)]);
    });
    assert_eq!(pair.refusals.iter().map(Refusal::handle).collect::<Vec<_>>(), [1, 1, 2]);
    assert!(matches!(pair.refusals[0].error, WriteError::Other(_)));
    assert_eq!(pair.replica.clamped, HashMap::from([(clamped(255), 1)]));
    assert_eq!(pair.replica.named, HashMap::from([("y".to_owned(), 2)]));
    pair.update(|map| map.clamped.retain(|key, _| *key != clamped(300)));
    assert_eq!(pair.replica.clamped, HashMap::from([(clamped(255), 1)]));
    pair.update(|map| map.clamped.retain(|key, _| *key != clamped(255)));
    assert!(pair.replica.clamped.is_empty());
    pair.refusals.clear();
    pair.update(|map| map.few.extend([1, 2, 3, 4]));
    assert_eq!(pair.refusals.last().unwrap().error, WriteError::TooLong { len: 4, max: 3 });
    assert!(pair.replica.few.is_empty());
    pair.update(|map| map.few.retain(|key| *key > 1));
    assert_eq!(pair.replica.few, pair.live.few);
    pair.update(|map| map.small.extend([(1, 3), (2, 9)]));
    assert_eq!(pair.replica.small, BTreeMap::from([(1, 3)]), "an entry whose value has no form waits");
    pair.update(|map| map.small.extend([(2, 3)]));
    assert_eq!(pair.replica.small, pair.live.small);
}

#[test]
fn s17_layouts_show_keys_and_values() {
    let table = Board::LAYOUT.to_string();
    assert!(table.contains("HashMap<u32, Score>"), "{table}");
    assert!(table.contains("scores{}.names"), "{table}");
    assert!(table.contains("HashSet<u16>"), "{table}");
    assert!(format!("{:?}", Board::program()).contains("0 handles a value"));
}

#[test]
fn r20_any_bits_give_an_update_or_an_error() {
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for _ in 0..20_000 {
        let mut pair = Pair::<House>::new();
        let mut writer = BitWriter::new();
        for _ in 0..dice.below(12) {
            writer.write_bits(dice.next() & dice.next(), 64);
        }
        let _ = pair.receive(&writer);
    }
}

// The tests from here on use whole connections.

/// A random number generator with the same sequence in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// A value that records its callbacks. In the end this value is compared with the value on the server.
#[derive(FastArrayItem, Default, Clone, Debug, PartialEq)]
#[replicated(callbacks)]
struct Told {
    #[replicated]
    name: u16,
    #[replicated]
    count: u8,
    #[replicated]
    target: ObjectRef<Mark>,
    #[replicated]
    list: Vec<u8>,
    /// The values at the time of the last callback.
    #[replicated(skip)]
    told: Option<(u16, u8, ObjectRef<Mark>, Vec<u8>)>,
    #[replicated(skip)]
    calls: u32,
}

impl Told {
    fn parts(&self) -> (u16, u8, ObjectRef<Mark>, Vec<u8>) {
        (self.name, self.count, self.target, self.list.clone())
    }
}

thread_local! {
    static REMOVED: std::cell::RefCell<Vec<u16>> = const { std::cell::RefCell::new(Vec::new()) };
}

impl ItemCallbacks for Told {
    fn pre_replicated_remove(&mut self) {
        assert_eq!(self.told, Some(self.parts()), "what goes was told of");
        REMOVED.with_borrow_mut(|removed| removed.push(self.name));
    }

    fn post_replicated_add(&mut self) {
        assert_eq!(self.told, None, "told of once");
        self.told = Some(self.parts());
        self.calls += 1;
    }

    fn post_replicated_change(&mut self, changed: &ChangedProperties<'_>) {
        let (name, count, target, list) = self.told.clone().expect("it was added before");
        assert_eq!(changed.contains("name"), name != self.name);
        assert_eq!(changed.contains("count"), count != self.count);
        assert_eq!(changed.contains("target"), target != self.target);
        assert_eq!(changed.contains("list"), list != self.list);
        self.told = Some(self.parts());
        self.calls += 1;
    }
}

#[derive(Replicated, Default)]
struct Mark {
    #[replicated]
    number: u8,
}

#[derive(Replicated, Default)]
struct World {
    #[replicated(notify = on_hashed)]
    hashed: HashMap<u16, Told>,
    #[replicated]
    sorted: BTreeMap<String, Vec<u8>>,
    #[replicated]
    set: HashSet<u32>,
    #[replicated]
    sorted_set: BTreeSet<(u8, u8)>,
    #[replicated]
    marked: HashMap<ObjectRef<Mark>, (u8, u8)>,
    #[replicated]
    small_set: HashSet<u8>,
    #[replicated(condition = OwnerOnly)]
    secret: BTreeMap<u8, u8>,
    notified: u32,
}

impl World {
    fn on_hashed(&mut self, old: &HashMap<u16, Told>) {
        let same = old.len() == self.hashed.len()
            && old
                .iter()
                .all(|(key, old)| self.hashed.get(key).is_some_and(|new| new.parts() == old.parts()));
        assert!(!same, "no notify without a change");
        self.notified += 1;
    }
}

fn room_with(world: World) -> (Room, ObjectRef<World>) {
    let mut room = Room::new(ServerConfig::default(), |client| {
        client.register::<World>();
        client.register::<Mark>();
    });
    room.server.register::<Mark>();
    let world = room.server.spawn(world);
    (room, world)
}

fn told_parts(map: &HashMap<u16, Told>) -> BTreeMap<u16, (u16, u8, ObjectRef<Mark>, Vec<u8>)> {
    map.iter().map(|(key, told)| (*key, told.parts())).collect()
}

fn assert_same(room: &Room, world: ObjectRef<World>, context: &str) {
    for guest in &room.guests {
        let (client, server) = (guest.client.get(world).expect("the client has it"), &room.server[world]);
        assert_eq!(told_parts(&client.hashed), told_parts(&server.hashed), "{context}");
        for told in client.hashed.values() {
            assert_eq!(told.told.as_ref(), Some(&told.parts()), "callbacks tell what there is; {context}");
        }
        assert_eq!(client.sorted, server.sorted, "{context}");
        assert_eq!(client.set, server.set, "{context}");
        assert_eq!(client.sorted_set, server.sorted_set, "{context}");
        assert_eq!(client.marked, server.marked, "{context}");
        assert_eq!(client.small_set, server.small_set, "{context}");
        assert!(client.secret.is_empty(), "{context}");
    }
}

fn mutate(world: &mut World, marks: &[ObjectRef<Mark>], dice: &mut Dice) {
    let (key, value) = (dice.below(60), dice.below(256) as u8);
    let mark = marks[dice.below(marks.len())];
    match dice.below(16) {
        0..3 => {
            let told = world.hashed.entry(key as u16).or_default();
            (told.name, told.target) = (key as u16, mark);
        }
        3..5 => world.hashed.values_mut().take(3).for_each(|told| told.count = value),
        5 => {
            if let Some(told) = world.hashed.get_mut(&(key as u16)) {
                if value < 80 { told.list.clear() } else { told.list.push(value) }
            }
        }
        6 => drop(world.hashed.remove(&(key as u16))),
        7 => world.sorted.entry(format!("key {key}")).or_default().push(value),
        8 => drop(world.sorted.remove(&format!("key {key}"))),
        9 => drop(world.set.replace(key as u32)),
        10 => drop(world.set.take(&(key as u32))),
        11 => world.sorted_set = (0..value % 8).map(|number| (key as u8, number)).collect(),
        12 => drop(world.marked.insert(mark, (value, 1))),
        13 => drop(world.marked.remove(&mark)),
        14 => drop(world.small_set.replace(value)),
        _ => match dice.below(30) {
            0 => world.hashed.clear(),
            1 => world.sorted.clear(),
            2 => world.small_set.clear(),
            3 => world.set = (0..3_000).map(|number| number * 3).collect(),
            4 => world.set.retain(|number| number % 2 == 0),
            _ => world.secret.extend([(value, value)]),
        },
    }
}

#[test]
fn r14_clients_converge_under_any_loss_and_delay() {
    for seed in 1..40 {
        let mut dice = Dice(seed * 0x9E37_79B9);
        let large = if seed % 5 == 0 { 3_000 } else { 10 };
        let (mut room, world) = room_with(World { set: (0..large).collect(), ..World::default() });
        let marks: Vec<_> = (0..12).map(|number| room.server.spawn(Mark { number })).collect();
        room.enter();
        room.settle();
        assert_same(&room, world, "at first");
        room.enter();
        let (loss, mut late) = (seed % 9, Vec::new());
        for tick in 0..200 {
            for _ in 0..dice.below(5) {
                mutate(&mut room.server[world], &marks, &mut dice);
            }
            if tick == 100 {
                room.enter();
            }
            for (guest, packets) in room.tick().into_iter().enumerate() {
                for packet in packets {
                    match dice.below(12) as u64 {
                        roll if roll < loss => {}
                        9 => late.push((guest, packet)),
                        10 => {
                            late.push((guest, packet.clone()));
                            room.deliver(guest, &[packet]);
                        }
                        _ => room.deliver(guest, &[packet]),
                    }
                }
            }
            if dice.below(3) == 0 && !late.is_empty() {
                let (guest, packet) = late.remove(0);
                room.deliver(guest, &[packet]);
            }
            for guest in 0..room.guests.len() {
                let replies = room.replies(guest);
                if dice.below(10) as u64 >= loss {
                    room.hear(guest, &replies);
                }
            }
        }
        room.settle();
        assert_same(&room, world, &format!("seed {seed}"));
    }
}

#[test]
fn s178_values_of_maps_have_callbacks_for_added_changed_and_removed_entries_only() {
    let (mut room, world) = room_with(World::default());
    let mark = room.server.spawn(Mark { number: 1 });
    room.enter();
    room.settle();
    let told = |name| Told { name, ..Told::default() };
    room.server[world].hashed.extend([(1, told(1)), (2, told(2))]);
    room.settle();
    let calls = |room: &Room, key| room.client().get(world).unwrap().hashed[&key].calls;
    assert_eq!((calls(&room, 1), calls(&room, 2)), (1, 1));
    room.server[world].hashed.get_mut(&1).unwrap().target = mark;
    room.settle();
    assert_eq!((calls(&room, 1), calls(&room, 2)), (2, 1), "what was not touched is told nothing");
    assert_eq!(room.client().get(world).unwrap().notified, 2);
    REMOVED.take();
    room.server[world].hashed.remove(&2);
    room.settle();
    assert_eq!(REMOVED.take(), [2]);
    assert_same(&room, world, "at last");
}

#[test]
fn s118_s184_references_in_values_are_filled_in_and_reported_as_changes() {
    let (mut room, world) = room_with(World::default());
    let mark = room.server.spawn(Mark { number: 1 });
    let guest = room.enter();
    room.server.object(mark).set_visible(guest, false);
    room.server[world].hashed.insert(7, Told { target: mark, ..Told::default() });
    room.server[world].marked.insert(mark, (1, 2));
    room.settle();
    let client = room.client().get(world).unwrap();
    assert!(client.hashed[&7].target.is_null());
    assert!(client.marked.is_empty(), "no key names what is not there");
    room.server.object(mark).set_visible(guest, true);
    room.settle();
    let client = room.client().get(world).unwrap();
    assert_eq!((client.hashed[&7].target, client.hashed[&7].calls), (mark, 2));
    assert_eq!(client.marked.get(&mark), Some(&(1, 2)));
    room.server[world].hashed.remove(&7);
    room.settle();
    room.server[world].marked.clear();
    room.server.object(mark).set_visible(guest, false);
    room.settle();
    assert_same(&room, world, "at last");
}

#[test]
fn r15_a_map_larger_than_a_packet_is_sent_in_parts() {
    let (mut room, world) = room_with(World::default());
    for _ in 0..2 {
        room.enter();
    }
    room.settle();
    let value = vec![7; 40];
    room.server[world].sorted = (0..2_000).map(|key| (format!("{key}"), value.clone())).collect();
    room.settle();
    assert_same(&room, world, "much came");
    room.enter();
    room.server[world].sorted.values_mut().step_by(2).for_each(|value| value[3] = 9);
    room.settle();
    assert_same(&room, world, "much changed");
    room.server[world].sorted.retain(|key, _| key.len() < 3);
    room.settle();
    assert_same(&room, world, "much went");
}

#[test]
fn s34_a_map_obeys_the_condition_of_its_field() {
    let (mut room, world) = room_with(World { secret: BTreeMap::from([(0xA5, 0x5A)]), ..World::default() });
    let guest = room.enter();
    room.settle();
    assert!(room.client().get(world).unwrap().secret.is_empty());
    room.server.object(world).set_owner(Some(guest));
    room.settle();
    room.server[world].secret.insert(1, 2);
    room.settle();
    assert_eq!(room.client().get(world).unwrap().secret, room.server[world].secret);
}

#[test]
fn a_client_may_change_its_maps_and_still_receives_updates() {
    let (mut room, world) = room_with(World::default());
    room.enter();
    room.server[world].sorted.extend([("a".to_owned(), vec![1, 2, 3]), ("b".to_owned(), vec![4])]);
    room.settle();
    let lent = room.guests[0].client.get_mut(world).unwrap();
    lent.sorted.remove("b");
    lent.sorted.get_mut("a").unwrap().clear();
    lent.sorted.insert("mine".to_owned(), vec![0]);
    room.server[world].sorted.get_mut("a").unwrap()[2] = 30;
    room.server[world].sorted.get_mut("b").unwrap()[0] = 40;
    room.settle();
    let client = room.client().get(world).unwrap();
    assert_eq!(client.sorted["a"], [1, 2, 30]);
    assert_eq!(client.sorted["b"], [40], "it is back with its next change");
    assert!(!client.sorted.contains_key("mine"), "the map is what the server sent");
}

#[test]
fn s17_an_entry_that_is_taken_out_through_objects_mut_is_removed_on_clients() {
    let takes: [fn(&mut World); 6] = [
        |world| _ = world.hashed.remove(&1),
        |world| _ = world.sorted.remove("a"),
        |world| _ = world.set.remove(&1),
        |world| _ = world.sorted_set.remove(&(1, 1)),
        |world| _ = world.small_set.remove(&1),
        |world| _ = world.secret.remove(&1),
    ];
    let full = World {
        hashed: [1, 2].map(|key| (key, Told::default())).into(),
        sorted: ["a", "b"].map(|key| (key.to_owned(), vec![1])).into(),
        set: [1, 2].into(),
        sorted_set: [(1, 1), (2, 2)].into(),
        small_set: [1, 2].into(),
        secret: [(1, 1), (2, 2)].into(),
        ..World::default()
    };
    let (mut room, world) = room_with(full);
    let guest = room.enter();
    room.server.object(world).set_owner(Some(guest));
    room.settle();
    let lengths = |world: &World| {
        let maps = [world.hashed.len(), world.sorted.len(), world.secret.len()];
        (maps, [world.set.len(), world.sorted_set.len(), world.small_set.len()])
    };
    assert_eq!(lengths(&room.client()[world]), ([2; 3], [2; 3]));
    for take in takes {
        room.server.objects_mut::<World>().for_each(|(_, world)| take(world));
        room.settle();
        assert_eq!(lengths(&room.client()[world]), lengths(&room.server[world]));
    }
    assert_eq!(lengths(&room.client()[world]), ([1; 3], [1; 3]));
}
