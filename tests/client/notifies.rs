//! Callbacks and notifies on a client: which of them run, when, in what order, and with which old value (S49
//! to S57, R5).
//!
//! *Invariant:* each object logs its calls itself, with the values that it can see at that moment.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::support::{Packets, Room};
use repl::prelude::*;
use repl::{BitReader, BitWriter, Callbacks, ReadError, ReferenceMap, WriteError};

#[derive(Replicated, Default)]
#[replicated(callbacks)]
struct Hero {
    #[replicated(notify = on_health)]
    health: u16,
    #[replicated(notify = on_place)]
    place: [u8; 3],
    #[replicated(notify = on_pulse, notify_always)]
    pulse: u8,
    #[replicated(notify = on_items)]
    items: Vec<u8>,
    #[replicated(notify = on_name)]
    name: String,
    #[replicated]
    silent: u32,
    log: Vec<String>,
}

impl Hero {
    fn on_health(&mut self, old: &u16) {
        self.log.push(format!("health {old} > {}", self.health));
    }

    fn on_place(&mut self, old: &[u8; 3]) {
        self.log.push(format!("place {old:?} > {:?}", self.place));
    }

    fn on_pulse(&mut self) {
        self.log.push(format!("pulse {}", self.pulse));
    }

    fn on_items(&mut self, old: &Vec<u8>) {
        self.log.push(format!("items {old:?} > {:?}", self.items));
    }

    fn on_name(&mut self, old: &String) {
        self.log.push(format!("name {old} > {}, silent {}", self.name, self.silent));
    }
}

impl Callbacks for Hero {
    fn pre_net_receive(&mut self) {
        self.log.push(format!("pre {}", self.silent));
    }

    fn post_net_receive(&mut self) {
        self.log.push(format!("post {}", self.silent));
    }

    fn post_rep_notifies(&mut self) {
        self.log.push("notified".into());
    }

    fn post_net_init(&mut self) {
        self.log.push("init".into());
    }
}

/// Returns a room with one client that has one hero with an empty log.
fn one_hero() -> (Room, ObjectRef<Hero>) {
    let register = |client: &mut Client| {
        client.register::<Hero>();
    };
    let (mut room, hero) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Hero::default()));
    log(&mut room, hero);
    (room, hero)
}

/// Returns the lines that the client's hero has logged since the last call, without the callbacks before and
/// after each packet.
fn notes(room: &mut Room, hero: ObjectRef<Hero>) -> Vec<String> {
    let frame = |line: &String| line.starts_with("pre") || line.starts_with("post") || line == "notified";
    log(room, hero).into_iter().filter(|line| !frame(line)).collect()
}

fn log(room: &mut Room, hero: ObjectRef<Hero>) -> Vec<String> {
    std::mem::take(&mut seen(room, hero).log)
}

fn seen(room: &mut Room, hero: ObjectRef<Hero>) -> &mut Hero {
    room.guests[0].client.get_mut(hero).expect("the client has it")
}

/// Delivers one tick.
fn update(room: &mut Room) -> Packets {
    let packets = room.tick_one();
    room.deliver(0, &packets);
    packets
}

#[test]
fn s49_a_notify_comes_if_and_only_if_the_value_differs_from_the_local_one() {
    let (mut room, hero) = one_hero();
    room.server[hero].health = 5;
    update(&mut room);
    assert_eq!(notes(&mut room, hero), ["health 0 > 5"]);
    seen(&mut room, hero).health = 9;
    room.server[hero].health = 9;
    update(&mut room);
    assert_eq!(notes(&mut room, hero), [""; 0], "the client had predicted it");
    seen(&mut room, hero).health = 1;
    room.server[hero].health = 8;
    update(&mut room);
    assert_eq!(notes(&mut room, hero), ["health 1 > 8"], "the old value is the local one");
}

#[test]
fn s49_always_means_with_every_receipt() {
    let (mut room, hero) = one_hero();
    seen(&mut room, hero).pulse = 3;
    room.server[hero].pulse = 3;
    update(&mut room);
    assert_eq!(notes(&mut room, hero), ["pulse 3"]);
    room.server[hero].silent = 1;
    update(&mut room);
    assert_eq!(notes(&mut room, hero), [""; 0], "not received, so not told");
}

#[test]
fn s50_a_property_is_queued_once_for_several_elements() {
    let (mut room, hero) = one_hero();
    room.server[hero].place = [1, 2, 3];
    room.server[hero].items = vec![7; 5];
    update(&mut room);
    assert_eq!(notes(&mut room, hero), ["place [0, 0, 0] > [1, 2, 3]", "items [] > [7, 7, 7, 7, 7]"]);
}

#[test]
fn s51_an_array_notifies_for_its_length_and_for_its_elements() {
    let (mut room, hero) = one_hero();
    room.server[hero].items = vec![1, 2, 3];
    update(&mut room);
    room.server[hero].items.truncate(2);
    update(&mut room);
    room.server[hero].items[1] = 9;
    update(&mut room);
    let expected = ["items [] > [1, 2, 3]", "items [1, 2, 3] > [1, 2]", "items [1, 2] > [1, 9]"];
    assert_eq!(notes(&mut room, hero), expected);
}

#[test]
fn s51_an_array_that_is_received_as_it_is_shown_notifies_only_if_told_always() {
    #[derive(Replicated, Default)]
    struct Choir {
        #[replicated(notify = on_voices)]
        voices: Vec<u8>,
        #[replicated(notify = on_songs, notify_always)]
        songs: Vec<u8>,
        log: Vec<String>,
    }
    impl Choir {
        fn on_voices(&mut self, old: &Vec<u8>) {
            self.log.push(format!("voices {old:?} > {:?}", self.voices));
        }
        fn on_songs(&mut self, old: &Vec<u8>) {
            self.log.push(format!("songs {old:?} > {:?}", self.songs));
        }
    }
    let register = |client: &mut Client| {
        client.register::<Choir>();
    };
    let start = || Choir { voices: vec![1, 2], songs: vec![1, 2], log: Vec::new() };
    let (mut room, choir) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(start()));
    let local = room.guests[0].client.get_mut(choir).expect("the client has it");
    local.log.clear();
    (local.voices[1], local.songs[1]) = (7, 7);
    (room.server[choir].voices[1], room.server[choir].songs[1]) = (7, 7);
    update(&mut room);
    let log = |room: &mut Room| {
        std::mem::take(&mut room.guests[0].client.get_mut(choir).expect("the client has it").log)
    };
    assert_eq!(log(&mut room), ["songs [1, 7] > [1, 7]"], "received with the elements that it shows");
    // In this case the client itself has changed the length of the array.
    let local = room.guests[0].client.get_mut(choir).expect("the client has it");
    local.voices.push(3);
    local.songs.push(3);
    room.server[choir].voices.push(3);
    room.server[choir].songs.push(3);
    update(&mut room);
    assert_eq!(log(&mut room), ["songs [1, 7, 3] > [1, 7, 3]"], "received with the length that it has");
}

#[derive(Replicated, Default)]
struct Shelf {
    #[replicated(notify = on_hashed)]
    hashed: HashMap<u8, u8>,
    #[replicated(notify = on_sorted)]
    sorted: BTreeMap<u8, u8>,
    #[replicated(notify = on_set)]
    set: HashSet<u8>,
    #[replicated(notify = on_sorted_set)]
    sorted_set: BTreeSet<u8>,
    log: Vec<(&'static str, usize, usize)>,
}

impl Shelf {
    fn on_hashed(&mut self, old: &HashMap<u8, u8>) {
        self.log.push(("hashed", old.len(), self.hashed.len()));
    }

    fn on_sorted(&mut self, old: &BTreeMap<u8, u8>) {
        self.log.push(("sorted", old.len(), self.sorted.len()));
    }

    fn on_set(&mut self, old: &HashSet<u8>) {
        self.log.push(("set", old.len(), self.set.len()));
    }

    fn on_sorted_set(&mut self, old: &BTreeSet<u8>) {
        self.log.push(("sorted_set", old.len(), self.sorted_set.len()));
    }
}

#[test]
fn s51_maps_and_sets_notify_when_an_entry_only_comes_or_only_leaves() {
    let register = |client: &mut Client| {
        client.register::<Shelf>();
    };
    let (mut room, shelf) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Shelf::default()));
    let log = |room: &mut Room| {
        update(room);
        std::mem::take(&mut room.guests[0].client.get_mut(shelf).expect("the client has it").log)
    };
    let all = |old, new| ["hashed", "sorted", "set", "sorted_set"].map(|name| (name, old, new));
    for key in 0..2 {
        let lent = &mut room.server[shelf];
        lent.hashed.insert(key, 1);
        lent.sorted.insert(key, 1);
        lent.set.insert(key);
        lent.sorted_set.insert(key);
        assert_eq!(log(&mut room), all(key.into(), usize::from(key) + 1));
    }
    for key in 0..2 {
        let lent = &mut room.server[shelf];
        lent.hashed.remove(&key);
        lent.sorted.remove(&key);
        lent.set.remove(&key);
        lent.sorted_set.remove(&key);
        assert_eq!(log(&mut room), all(2 - usize::from(key), 1 - usize::from(key)));
    }
}

#[test]
fn s52_the_old_value_is_the_one_last_shown() {
    let (mut room, hero) = one_hero();
    for value in [3, 7, 4] {
        room.server[hero].health = value;
        room.server[hero].place[1] = value as u8;
        update(&mut room);
    }
    let notes = notes(&mut room, hero);
    assert_eq!(notes[0], "health 0 > 3");
    assert_eq!(notes[2], "health 3 > 7");
    assert_eq!(notes[4..], ["health 7 > 4", "place [0, 7, 0] > [0, 4, 0]"]);
}

#[test]
fn s54_callbacks_come_in_order_and_post_net_init_last() {
    let (mut room, _) = one_hero();
    let born = room.server.spawn(Hero { silent: 4, health: 2, name: "Ada".into(), ..Hero::default() });
    update(&mut room);
    let expected = ["pre 0", "post 4", "health 0 > 2", "name  > Ada, silent 4", "notified", "init"];
    assert_eq!(log(&mut room, born), expected);
    room.server[born].silent = 5;
    update(&mut room);
    assert_eq!(
        log(&mut room, born)[..3],
        ["pre 4", "post 5", "notified"],
        "the rest comes without notifies too"
    );
}

thread_local! {
    /// The callbacks of all pawns, first to last.
    static COURSE: RefCell<Vec<(u8, &'static str)>> = const { RefCell::new(Vec::new()) };
}

fn note(pawn: u8, what: &'static str) {
    COURSE.with_borrow_mut(|course| course.push((pawn, what)));
}

/// A leaf that records when a value of its type is read, and when a value is replaced.
#[derive(Clone, Debug, Default, PartialEq)]
struct Traced {
    pawn: u8,
    value: u8,
}

impl NetSerialize for Traced {
    const WIRE_NAME: &'static str = "Traced";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        self.pawn.write(writer)?;
        self.value.write(writer)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        let (pawn, value) = (u8::read(reader, references)?, u8::read(reader, references)?);
        note(pawn, "value");
        Ok(Self { pawn, value })
    }
}
repl::leaf!(Traced);

impl Drop for Traced {
    fn drop(&mut self) {
        note(self.pawn, "value");
    }
}

#[derive(Replicated, Default)]
#[replicated(callbacks)]
struct Pawn {
    #[replicated]
    traced: Traced,
    #[replicated(notify = on_steps)]
    steps: u16,
}

impl Pawn {
    fn numbered(pawn: u8) -> Self {
        Self { traced: Traced { pawn, value: 0 }, ..Self::default() }
    }

    fn on_steps(&mut self) {
        note(self.traced.pawn, "notify");
    }
}

impl Callbacks for Pawn {
    fn pre_net_receive(&mut self) {
        note(self.traced.pawn, "pre");
    }

    fn post_net_receive(&mut self) {
        note(self.traced.pawn, "post");
    }

    fn post_rep_notifies(&mut self) {
        note(self.traced.pawn, "notified");
    }
}

#[test]
fn s54_all_values_of_a_packet_are_there_before_any_callback_after_receiving() {
    let register = |client: &mut Client| {
        client.register::<Pawn>();
    };
    let (mut room, pawns) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        [1, 2, 3].map(|pawn| server.spawn(Pawn::numbered(pawn)))
    });
    for pawn in pawns {
        room.server[pawn].traced.value = 5;
        room.server[pawn].steps = 5;
    }
    let packets = room.tick_one();
    assert_eq!(packets.len(), 1);
    COURSE.take();
    room.deliver(0, &packets);
    let course = COURSE.take();
    let last_value = course.iter().rposition(|(_, what)| *what == "value").expect("values were read");
    let (values, callbacks) = course.split_at(last_value + 1);
    assert!(values.iter().all(|(_, what)| ["value", "pre"].contains(what)), "{course:?}");
    let each = ["post", "notify", "notified"];
    let expected: Vec<_> = [1, 2, 3].iter().flat_map(|&pawn| each.map(|what| (pawn, what))).collect();
    assert_eq!(callbacks, expected);
    for pawn in [1, 2, 3] {
        assert_eq!(values.iter().filter(|entry| **entry == (pawn, "pre")).count(), 1, "{course:?}");
        let pre = values.iter().position(|entry| *entry == (pawn, "pre"));
        let replaced = values.iter().rposition(|entry| *entry == (pawn, "value"));
        assert!(pre < replaced, "what is about to be received is told before: {course:?}");
    }
}

#[test]
fn s54_all_openings_of_a_packet_are_there_before_any_callback_after_receiving() {
    let register = |client: &mut Client| {
        client.register::<Pawn>();
    };
    let (mut room, _) =
        Room::furnished(ServerConfig::default(), register, 1, |server| server.spawn(Pawn::numbered(1)));
    // Objects that are opened with other handles are opened separately.
    room.server.spawn(Pawn::numbered(2));
    room.server.spawn(Pawn { steps: 5, ..Pawn::numbered(3) });
    let packets = room.tick_one();
    assert_eq!(packets.len(), 1);
    COURSE.take();
    room.deliver(0, &packets);
    let course = COURSE.take();
    let last_value = course.iter().rposition(|(_, what)| *what == "value").expect("values were read");
    let (values, callbacks) = course.split_at(last_value + 1);
    assert!(values.iter().all(|(_, what)| ["value", "pre"].contains(what)), "{course:?}");
    assert!([2, 3].iter().all(|&pawn| callbacks.contains(&(pawn, "post"))), "{course:?}");
}

#[test]
fn s54_an_opening_that_comes_twice_begins_the_object_once() {
    let (mut room, _) = one_hero();
    let born = room.server.spawn(Hero { health: 1, ..Hero::default() });
    let first = room.tick_one();
    room.server[born].silent = 2;
    let second = room.tick_one();
    room.deliver(0, &first);
    room.deliver(0, &second);
    let log = log(&mut room, born);
    assert_eq!(log.iter().filter(|line| *line == "init").count(), 1);
    assert_eq!(log.iter().filter(|line| line.starts_with("health")).count(), 1);
}

#[test]
fn s55_notifies_ascend_by_handle() {
    let (mut room, hero) = one_hero();
    let on_server = &mut room.server[hero];
    on_server.name = "x".into();
    on_server.items = vec![1];
    on_server.pulse = 1;
    on_server.place = [1; 3];
    on_server.health = 1;
    update(&mut room);
    let notes = notes(&mut room, hero);
    let first = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
    assert_eq!(notes.iter().map(first).collect::<Vec<_>>(), ["health", "place", "pulse", "items", "name"]);
}

#[derive(Replicated, Default)]
struct Follower {
    #[replicated(notify = on_leader)]
    leader: ObjectRef<Self>,
    #[replicated(notify = on_pace)]
    pace: u8,
    heard: Vec<&'static str>,
}

impl Follower {
    fn on_leader(&mut self) {
        self.heard.push("leader");
    }

    fn on_pace(&mut self) {
        self.heard.push("pace");
    }
}

#[test]
fn s55_the_notify_of_a_reference_that_is_filled_in_keeps_its_place() {
    let register = |client: &mut Client| {
        client.register::<Follower>();
    };
    let (mut room, (follower, leader)) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        (server.spawn(Follower::default()), server.spawn(Follower::default()))
    });
    let guest = room.guests[0].id;
    room.server.object(leader).set_visible(guest, false);
    room.settle();
    room.server[follower].leader = leader;
    room.settle();
    room.server.object(leader).set_visible(guest, true);
    room.server[follower].pace = 1;
    update(&mut room);
    assert_eq!(room.client()[follower].heard, ["leader", "pace"]);
}

#[test]
fn s56_no_notify_runs_for_an_incomplete_value() {
    let register = |client: &mut Client| {
        client.register::<Hero>();
    };
    let config = ServerConfig { mtu_bytes: 200, ..ServerConfig::default() };
    let (mut room, hero) = Room::furnished(config, register, 1, |server| server.spawn(Hero::default()));
    log(&mut room, hero);
    room.server[hero].name = "n".repeat(500);
    let packets = room.tick_one();
    room.deliver(0, &packets[1..]);
    assert_eq!(log(&mut room, hero), [""; 0]);
    room.deliver(0, &packets[..1]);
    assert_eq!(notes(&mut room, hero).len(), 1);
}

#[test]
fn s57_the_server_calls_nothing() {
    let (mut room, hero) = one_hero();
    room.server[hero].health = 5;
    room.server[hero].pulse = 5;
    room.settle();
    assert!(room.server[hero].log.is_empty());
}

#[test]
fn r05_a_resend_of_arrived_values_calls_only_always_notifies_again() {
    let (mut room, hero) = one_hero();
    room.server[hero].health = 5;
    room.server[hero].pulse = 5;
    update(&mut room);
    assert_eq!(notes(&mut room, hero), ["health 0 > 5", "pulse 5"]);
    // The acks are lost.
    let mut again = 0;
    for _ in 0..40 {
        again += update(&mut room).len();
    }
    assert!(again > 0);
    let notes = notes(&mut room, hero);
    assert!(!notes.is_empty() && notes.iter().all(|line| line == "pulse 5"), "{notes:?}");
}

#[test]
fn r05_a_duplicated_packet_calls_nothing() {
    let (mut room, hero) = one_hero();
    room.server[hero].pulse = 1;
    let packets = update(&mut room);
    log(&mut room, hero);
    room.deliver(0, &packets);
    assert_eq!(log(&mut room, hero), [""; 0]);
}

#[test]
fn s52_structs_and_arrays_with_a_fast_array_in_them_have_no_old_value() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Bag {
        items: FastArray<u8>,
    }
    fn flattens<T: repl::__private::Property>() -> bool {
        T::SHAPE.flattens_items()
    }
    assert!(flattens::<Bag>() && flattens::<[Bag; 2]>() && flattens::<(u8, Bag)>());
    assert!(!flattens::<Vec<Bag>>() && !flattens::<Option<Bag>>() && !flattens::<BTreeMap<u8, Bag>>());
}
