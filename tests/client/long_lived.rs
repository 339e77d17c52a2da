//! A client that receives thousands of packets. It reuses the lists of properties that earlier updates
//! contained. It has the same values as the server after each packet, and so has a client that has just
//! joined.
//!
//! *Invariant:* all values have an exact form on the wire, so that the objects of both sides can be compared
//! as they are.

#[path = "../support/linked.rs"]
mod linked;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, Loss, Rng, seeds};
use repl::{CongestionControl, OrderedFastArray, ReplicatedMap};

use crate::support::Room;
use linked::Linked;

/// More handles than 128, so a set of them needs more than two words.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
struct Panel {
    #[replicated]
    lamps: [bool; 20],
    #[replicated]
    dials: [u16; 20],
    #[replicated(quantize(step = 0.25, range = -1_000.0..=1_000.0))]
    needles: [f32; 12],
    #[replicated(range = 0..=99)]
    percents: [u8; 12],
    #[replicated]
    counters: Counters,
    #[replicated]
    mode: Mode,
    #[replicated]
    spares: [Counters; 8],
    #[replicated]
    offsets: [i64; 20],
    #[replicated(notify = on_alarm)]
    alarm: u8,
    alarms: u32,
}

impl Panel {
    fn on_alarm(&mut self, old: &u8) {
        assert_ne!(*old, self.alarm, "a notify is called for a change");
        self.alarms += 1;
    }
}

#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
struct Counters {
    up: u32,
    down: u64,
    level: f64,
    is_full: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, NetSerialize)]
enum Mode {
    #[default]
    Off,
    Dimmed(u8),
    Blinking {
        on: u16,
        off: Option<u8>,
    },
}

/// Few handles, so there are few different sets of them.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
struct Bolt {
    torque: u16,
    is_loose: bool,
    angle: i32,
    seat: ObjectRef<Self>,
    wear: u8,
}

/// The same types as a [`Bolt`], so that both have the same sets of handles.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
#[replicated(all)]
struct Rivet {
    load: u16,
    is_hot: bool,
    depth: i32,
    plate: ObjectRef<Bolt>,
    age: u8,
}

/// A class whose properties (arrays, strings, maps) cannot be read by recipes.
#[derive(Clone, Debug, Default, PartialEq, Replicated)]
struct Locker {
    #[replicated]
    label: String,
    #[replicated]
    codes: Vec<u16>,
    #[replicated]
    tools: FastArray<Tool>,
    #[replicated]
    queue: OrderedFastArray<Tool>,
    #[replicated]
    shelves: HashMap<u8, Tool>,
    #[replicated]
    marks: ReplicatedMap<u16, u32>,
    #[replicated]
    keys: BTreeSet<u32>,
    #[replicated]
    weight: u32,
    #[replicated]
    rows: Vec<Counters>,
    #[replicated]
    notes: BTreeMap<u8, Vec<u8>>,
}

#[derive(Clone, Debug, Default, PartialEq, FastArrayItem)]
struct Tool {
    kind: u16,
    name: String,
    uses: [u8; 3],
    parts: FastArray<Part>,
}

#[derive(Clone, Debug, Default, PartialEq, FastArrayItem)]
struct Part {
    size: u8,
    count: u32,
}

fn register(client: &mut Client) {
    client.register::<Panel>().register::<Bolt>().register::<Rivet>().register::<Locker>();
}

/// A number that says which properties of an object change.
type Choice = u64;

/// The objects of a server, and the sets of properties that change again and again.
struct Works {
    rng: Rng,
    panels: Vec<ObjectRef<Panel>>,
    bolts: Vec<ObjectRef<Bolt>>,
    rivets: Vec<ObjectRef<Rivet>>,
    lockers: Vec<ObjectRef<Locker>>,
    /// Choices of properties that change together. There are more choices than a client keeps property lists
    /// for later packets.
    habits: Vec<Choice>,
}

impl Works {
    fn new(server: &mut Server, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        server.register::<Panel>().register::<Bolt>().register::<Rivet>().register::<Locker>();
        let habits = (0..150).map(|_| rng.below(u64::MAX) & rng.below(u64::MAX)).collect();
        let mut works = Self { rng, panels: vec![], bolts: vec![], rivets: vec![], lockers: vec![], habits };
        for (class, count) in [(0, 12), (1, 40), (2, 40), (3, 8)] {
            (0..count).for_each(|_| works.spawn(server, class));
        }
        works
    }

    fn spawn(&mut self, server: &mut Server, class: u64) {
        match class {
            0 => self.panels.push(server.spawn(Panel::default())),
            1 => self.bolts.push(server.spawn(Bolt::default())),
            2 => self.rivets.push(server.spawn(Rivet::default())),
            _ => self.lockers.push(server.spawn(Locker::default())),
        }
    }

    /// Makes the changes of a tick. In most ticks, several neighbouring objects change in the same
    /// properties. In few ticks all objects change, each in other properties.
    fn change(&mut self, server: &mut Server) {
        if self.rng.chance(0.05) {
            let Self { rng, panels, bolts, rivets, habits, .. } = self;
            let habit = |rng: &mut Rng| *rng.pick(habits).expect("there are some");
            for &one in &*panels {
                let choice = habit(rng);
                change_panel(&mut server[one], choice, rng);
            }
            for &one in &*bolts {
                let choice = habit(rng);
                change_bolt(&mut server[one], choice, bolts, rng);
            }
            for &one in &*rivets {
                let choice = habit(rng);
                change_rivet(&mut server[one], choice, bolts, rng);
            }
        }
        for _ in 0..1 + self.rng.below(4) {
            // Some habits are much more frequent than others, and none lasts for ever.
            let most = 1 + self.rng.below(self.habits.len() as u64);
            let at = self.rng.below(most) as usize;
            if self.rng.chance(0.03) {
                self.habits[at] = self.rng.below(u64::MAX) & self.rng.below(u64::MAX);
            }
            let choice = if self.rng.chance(0.1) { u64::MAX } else { self.habits[at] };
            let (first, count) = (self.rng.below(6) as usize, 1 + self.rng.below(4) as usize);
            let class = self.rng.below(8);
            let Self { rng, panels, bolts, rivets, lockers, .. } = self;
            match class {
                0..3 => panels.iter().skip(first).take(count).for_each(|one| {
                    change_panel(&mut server[*one], choice, rng);
                }),
                3 => bolts.iter().skip(first).take(count).for_each(|one| {
                    change_bolt(&mut server[*one], choice, bolts, rng);
                }),
                4 => rivets.iter().skip(first).take(count).for_each(|one| {
                    change_rivet(&mut server[*one], choice, bolts, rng);
                }),
                5 => lockers.iter().skip(first).take(count).for_each(|one| {
                    change_locker(&mut server[*one], choice, rng);
                }),
                6 => {
                    // Bolts and rivets alternate, and change in the same handles.
                    for (bolt, rivet) in bolts.iter().zip(rivets.iter()).skip(first).take(count) {
                        change_bolt(&mut server[*bolt], choice, bolts, rng);
                        change_rivet(&mut server[*rivet], choice, bolts, rng);
                    }
                }
                _ if rng.chance(0.2) => self.replace(server),
                _ => {}
            }
        }
    }

    /// Removes some objects of a class, and spawns the same number of new ones in a row.
    fn replace(&mut self, server: &mut Server) {
        let (class, count) = (self.rng.below(4), 1 + self.rng.below(3));
        let mut go = |gone: Option<ObjectRef<()>>| gone.into_iter().for_each(|gone| server.despawn(gone));
        for _ in 0..count {
            match class {
                0 => go((!self.panels.is_empty()).then(|| self.panels.remove(0).erase())),
                1 => go((!self.bolts.is_empty()).then(|| self.bolts.remove(0).erase())),
                2 => go((!self.rivets.is_empty()).then(|| self.rivets.remove(0).erase())),
                _ => go((!self.lockers.is_empty()).then(|| self.lockers.remove(0).erase())),
            }
        }
        (0..count).for_each(|_| self.spawn(server, class));
    }

    /// Asserts that a client has all objects of the server, with the same values.
    fn check(&self, server: &Server, client: &Client, context: &str) {
        for &one in &self.panels {
            let have = client.get(one).unwrap_or_else(|| panic!("no panel, {context}"));
            assert_eq!(&Panel { alarms: 0, ..have.clone() }, &server[one], "{context}");
        }
        for &one in &self.bolts {
            let there = &server[one];
            // A reference to an object that is gone is null on clients.
            let seat = if server.contains(there.seat) { there.seat } else { ObjectRef::NULL };
            assert_eq!(client.get(one), Some(&Bolt { seat, ..there.clone() }), "{context}");
        }
        for &one in &self.rivets {
            let there = &server[one];
            let plate = if server.contains(there.plate) { there.plate } else { ObjectRef::NULL };
            assert_eq!(client.get(one), Some(&Rivet { plate, ..there.clone() }), "{context}");
        }
        for &one in &self.lockers {
            let have = client.get(one).unwrap_or_else(|| panic!("no locker, {context}"));
            assert_same_locker(have, &server[one], context);
        }
        let count = self.panels.len() + self.bolts.len() + self.rivets.len() + self.lockers.len();
        let have = client.objects::<Panel>().count()
            + client.objects::<Bolt>().count()
            + client.objects::<Rivet>().count()
            + client.objects::<Locker>().count();
        assert_eq!(have, count, "{context}");
    }
}

/// Asserts that two lockers are the same, except for the order of their fast arrays.
fn assert_same_locker(have: &Locker, there: &Locker, context: &str) {
    assert_eq!(have.tools.len(), there.tools.len(), "{context}");
    for id in there.tools.ids() {
        let (one, other) = (have.tools.by_id(*id), there.tools.by_id(*id));
        let (one, other) = (one.expect("it has the tool"), other.expect("it has the tool"));
        assert_same_tool(one, other, context);
    }
    assert_eq!(have.queue.len(), there.queue.len(), "{context}");
    have.queue.iter().zip(there.queue.iter()).for_each(|(one, other)| assert_same_tool(one, other, context));
    assert_eq!(have.shelves.len(), there.shelves.len(), "{context}");
    for (key, other) in &there.shelves {
        assert_same_tool(&have.shelves[key], other, context);
    }
    let plain = |locker: &Locker| Locker {
        tools: FastArray::new(),
        queue: OrderedFastArray::new(),
        shelves: HashMap::new(),
        ..locker.clone()
    };
    assert_eq!(plain(have), plain(there), "{context}");
}

fn assert_same_tool(one: &Tool, other: &Tool, context: &str) {
    assert_eq!((one.kind, &one.name, one.uses), (other.kind, &other.name, other.uses), "{context}");
    assert_eq!(one.parts.len(), other.parts.len(), "{context}");
    for id in other.parts.ids() {
        assert_eq!(one.parts.by_id(*id), other.parts.by_id(*id), "{context}");
    }
}

/// Returns the bit of a choice that decides about the property with this number.
fn chosen(choice: Choice, number: usize) -> bool {
    (choice.rotate_left(number as u32 * 7) ^ choice >> 3) & 1 == 1
}

fn counters(rng: &mut Rng) -> Counters {
    let up = rng.below(1 << 20) as u32;
    Counters { up, down: rng.below(u64::MAX), level: rng.below(1_000) as f64 / 8.0, is_full: rng.chance(0.5) }
}

fn change_panel(panel: &mut Panel, choice: Choice, rng: &mut Rng) {
    let mut number = 0;
    let mut next = || {
        number += 1;
        chosen(choice, number)
    };
    panel.lamps.iter_mut().filter(|_| next()).for_each(|lamp| *lamp ^= true);
    panel.dials.iter_mut().filter(|_| next()).for_each(|dial| *dial = rng.below(1 << 16) as u16);
    let needle = |rng: &mut Rng| rng.below(8_000) as f32 / 4.0 - 1_000.0;
    panel.needles.iter_mut().filter(|_| next()).for_each(|one| *one = needle(rng));
    panel.percents.iter_mut().filter(|_| next()).for_each(|one| *one = rng.below(100) as u8);
    panel.offsets.iter_mut().filter(|_| next()).for_each(|one| *one = rng.below(u64::MAX) as i64);
    panel.spares.iter_mut().filter(|_| next()).for_each(|one| one.level += 0.5);
    if next() {
        panel.counters = counters(rng);
    }
    if next() {
        panel.mode = match rng.below(3) {
            0 => Mode::Off,
            1 => Mode::Dimmed(rng.below(200) as u8),
            _ => Mode::Blinking { on: rng.below(900) as u16, off: rng.chance(0.5).then_some(3) },
        };
    }
    if choice.count_ones() > 16 {
        panel.alarm = panel.alarm.wrapping_add(1);
    }
}

fn change_bolt(bolt: &mut Bolt, choice: Choice, bolts: &[ObjectRef<Bolt>], rng: &mut Rng) {
    if choice & 1 != 0 {
        bolt.torque = rng.below(1 << 16) as u16;
    }
    if choice & 2 != 0 {
        bolt.is_loose ^= true;
    }
    if choice & 4 != 0 {
        bolt.angle = rng.below(1 << 32) as i32;
    }
    if choice & 24 == 24 {
        bolt.seat = rng.pick(bolts).copied().unwrap_or_default();
    }
    if choice & 32 != 0 {
        bolt.wear = bolt.wear.wrapping_add(1);
    }
}

fn change_rivet(rivet: &mut Rivet, choice: Choice, bolts: &[ObjectRef<Bolt>], rng: &mut Rng) {
    let mut bolt = Bolt { torque: rivet.load, is_loose: rivet.is_hot, angle: rivet.depth, ..Bolt::default() };
    (bolt.seat, bolt.wear) = (rivet.plate, rivet.age);
    change_bolt(&mut bolt, choice, bolts, rng);
    let Bolt { torque, is_loose, angle, seat, wear } = bolt;
    *rivet = Rivet { load: torque, is_hot: is_loose, depth: angle, plate: seat, age: wear };
}

fn tool(rng: &mut Rng) -> Tool {
    let parts = (0..rng.below(4)).map(|size| Part { size: size as u8, count: 1 }).collect();
    Tool { kind: rng.below(999) as u16, name: "x".repeat(rng.below(12) as usize), uses: [0; 3], parts }
}

fn change_tool(tool: &mut Tool, rng: &mut Rng) {
    match rng.below(6) {
        0 => tool.kind += 1,
        1 => tool.name.push('y'),
        2 => tool.uses[rng.below(3) as usize] ^= 1,
        3 => _ = tool.parts.push(Part { size: 9, count: rng.below(99) as u32 }),
        4 if !tool.parts.is_empty() => _ = tool.parts.swap_remove(0),
        _ => tool.parts.iter_mut().for_each(|mut part| part.count += 1),
    }
    tool.name.truncate(20);
}

fn change_locker(locker: &mut Locker, choice: Choice, rng: &mut Rng) {
    let (at, key) = (rng.below(12) as usize, rng.below(40) as u8);
    if choice & 1 != 0 {
        locker.label = "long ".repeat(rng.below(30) as usize);
    }
    if choice & 2 != 0 {
        locker.codes.resize(rng.below(20) as usize, at as u16);
    }
    if choice & 4 != 0 && !locker.codes.is_empty() {
        let at = at % locker.codes.len();
        locker.codes[at] += 1;
    }
    match choice >> 3 & 3 {
        0 if locker.tools.len() < 20 => _ = locker.tools.push(tool(rng)),
        1 if at < locker.tools.len() => _ = locker.tools.swap_remove(at),
        2 if at < locker.tools.len() => change_tool(&mut locker.tools[at], rng),
        _ => {}
    }
    match choice >> 5 & 3 {
        0 if locker.queue.len() < 20 => _ = locker.queue.insert(at.min(locker.queue.len()), tool(rng)),
        1 if at < locker.queue.len() => _ = locker.queue.remove(at),
        2 if at < locker.queue.len() => change_tool(&mut locker.queue[at], rng),
        _ => {}
    }
    match choice >> 7 & 3 {
        0 => _ = locker.shelves.insert(key, tool(rng)),
        1 => _ = locker.shelves.remove(&key),
        _ => locker.shelves.values_mut().for_each(|tool| change_tool(tool, rng)),
    }
    match choice >> 9 & 3 {
        0 => _ = locker.marks.insert(key.into(), 1),
        1 => _ = locker.marks.remove(&key.into()),
        _ => {
            if let Some(mut mark) = locker.marks.get_mut(&key.into()) {
                *mark += 1;
            }
        }
    }
    if choice & 1 << 11 != 0 && !locker.keys.remove(&key.into()) {
        locker.keys.insert(key.into());
    }
    if choice & 1 << 12 != 0 {
        locker.weight += 1;
    }
    if choice & 1 << 13 != 0 {
        locker.rows.resize_with(rng.below(6) as usize, Counters::default);
        locker.rows.iter_mut().for_each(|row| row.up += 1);
    }
    if choice & 1 << 14 != 0 {
        locker.notes.entry(key % 8).or_default().push(key);
        locker.notes.remove(&(key / 8));
    }
}

/// Compares all clients with the server in each tick. One client stays connected. The other leaves and joins
/// again as a new client.
#[test]
fn r05_an_old_client_and_a_new_one_have_the_values_of_the_server_in_each_tick() {
    for seed in seeds(0..6) {
        let mut room = Room::new(ServerConfig::default(), register);
        let mut works = Works::new(&mut room.server, seed);
        room.enter();
        room.enter();
        room.settle();
        for tick in 0..2_000 {
            works.change(&mut room.server);
            room.step();
            works.check(&room.server, room.client(), &format!("seed {seed}, tick {tick}"));
            if tick % 97 == 96 {
                let newcomer = format!("a new client, seed {seed}, tick {tick}");
                room.settle();
                works.check(&room.server, &room.guests[1].client, &newcomer);
                let gone = room.guests.swap_remove(1);
                room.server.connection(gone.id).disconnect();
                room.enter();
            }
        }
    }
}

/// Loses, repeats and reorders packets. Compares the clients with the server whenever all packets have
/// arrived.
#[test]
fn r05_an_old_client_has_the_values_of_the_server_after_each_storm() {
    for seed in seeds(0..12) {
        let server = Server::new(ServerConfig {
            congestion_control: if seed % 2 == 0 {
                CongestionControl::Off
            } else {
                CongestionControl::default()
            },
            mtu_bytes: if seed % 3 == 0 { 300 } else { 1_200 },
            ..ServerConfig::default()
        });
        let mut linked = Linked::new(server, seed);
        let mut works = Works::new(&mut linked.server, seed);
        let storm = LinkConditions {
            latency: Duration::from_millis(10),
            jitter: Duration::from_millis(30 * (seed % 4)),
            loss: if seed % 2 == 0 { Loss::Independent(0.2) } else { Loss::bursts(0.2, 6.0) },
            duplicate: 0.2,
            reorder: 0.2,
            reorder_by: Duration::from_millis(150),
            ..LinkConditions::perfect()
        };
        for id in 0..2 {
            let mut client = Client::new(ClientConfig::default(), Session::for_tests(id + 1));
            register(&mut client);
            linked.connect(client, storm, storm);
        }
        for round in 0..12 {
            for _ in 0..150 {
                works.change(&mut linked.server);
                linked.tick();
            }
            for _ in 0..400 {
                linked.tick();
            }
            for guest in &linked.guests {
                let context = format!("seed {seed}, round {round}, client {:?}", guest.id);
                works.check(&linked.server, &guest.client, &context);
            }
        }
    }
}

/// The user of a client changes its copies at random. The client still accepts all packets, and after the
/// server has changed a value, the client has the value of the server.
#[test]
fn s49_an_old_client_that_changes_its_copies_takes_all_packets() {
    for seed in seeds(0..8) {
        let mut room = Room::new(ServerConfig::default(), register);
        let mut works = Works::new(&mut room.server, seed);
        let mut rng = Rng::new(seed).fork(1);
        room.enter();
        room.settle();
        for _ in 0..1_500 {
            works.change(&mut room.server);
            let client = &mut room.guests[0].client;
            let (choice, at) = (rng.below(u64::MAX), rng.below(8) as usize);
            match rng.below(12) {
                0 => client.get_mut(works.panels[at]).into_iter().for_each(|panel| {
                    change_panel(panel, choice, &mut rng);
                }),
                1 => client.get_mut(works.bolts[at]).into_iter().for_each(|bolt| {
                    change_bolt(bolt, choice, &works.bolts, &mut rng);
                }),
                2..6 => client.get_mut(works.lockers[at]).into_iter().for_each(|locker| {
                    change_locker(locker, choice, &mut rng);
                }),
                6 => client.get_mut(works.lockers[at]).into_iter().for_each(|locker| {
                    *locker = Locker::default();
                }),
                _ => {}
            }
            let packets = room.tick_one();
            let arriving: Vec<_> = packets.into_iter().filter(|_| rng.chance(0.8)).collect();
            room.deliver(0, &arriving);
            let replies = room.replies(0);
            room.hear(0, &replies);
        }
        room.settle();
        for &one in &works.bolts {
            let Bolt { torque, is_loose, angle, seat, wear } = room.server[one].clone();
            let seat = if seat.is_null() { works.bolts[0] } else { ObjectRef::NULL };
            let (torque, wear) = (torque.wrapping_add(1), wear.wrapping_add(1));
            room.server[one] = Bolt { torque, is_loose: !is_loose, angle: angle.wrapping_add(1), seat, wear };
        }
        room.settle();
        for &one in &works.bolts {
            assert_eq!(room.client()[one], room.server[one], "seed {seed}");
        }
        for &one in &works.lockers {
            room.server[one].codes.iter_mut().for_each(|code| *code = code.wrapping_add(1));
            room.server[one].codes.push(1);
            room.server[one].label.push('z');
            room.server[one].weight += 1;
            for mut tool in room.server[one].tools.iter_mut() {
                tool.kind = tool.kind.wrapping_add(1);
                tool.name.push('z');
                tool.uses = tool.uses.map(|uses| uses.wrapping_add(1));
            }
        }
        room.settle();
        for &one in &works.lockers {
            let (have, there) = (&room.client()[one], &room.server[one]);
            assert_eq!((&have.label, have.weight), (&there.label, there.weight), "seed {seed}");
            assert_eq!(have.codes, there.codes, "seed {seed}");
            for id in there.tools.ids() {
                let (tool, wanted) = (have.tools.by_id(*id), there.tools.by_id(*id).expect("it has it"));
                let tool = tool.unwrap_or_else(|| panic!("seed {seed}: no tool {id:?}"));
                assert_eq!((tool.kind, &tool.name, tool.uses), (wanted.kind, &wanted.name, wanted.uses));
            }
        }
    }
}
