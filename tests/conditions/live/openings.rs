//! Collections that are sent only with the opening (the first update) of an object, beside values that make
//! the opening large (S42, S43, R15).
//!
//! *Invariant:* the elements of these collections do not change after the opening, unless a test says so.

use std::collections::BTreeMap;
use std::time::Duration;

use repl::prelude::*;

use crate::support::{Packets, Room, leaks, property};

/// An object with a long log, so that its opening is larger than half a packet.
#[derive(Replicated, Default)]
#[replicated(all)]
struct Ship {
    log: String,
    #[replicated(condition = InitialOnly)]
    crew: FastArray<u32>,
    #[replicated(condition = InitialOnly)]
    course: OrderedFastArray<u32>,
    #[replicated(condition = InitialOnly)]
    stores: BTreeMap<u32, u64>,
    #[replicated(condition = InitialOrOwner)]
    orders: FastArray<u32>,
    #[replicated(condition = Dynamic)]
    signals: FastArray<u32>,
    #[replicated(condition = OwnerOnly)]
    secrets: FastArray<String>,
    cargo: FastArray<u32>,
}

const SECRET: &str = "canary-of-a-secret";

fn ship(elements: u32) -> Ship {
    Ship {
        log: "x".repeat(700),
        crew: (0..elements).collect(),
        course: (0..elements).collect(),
        stores: (0..elements).map(|key| (key, u64::from(key) << 40)).collect(),
        orders: (0..elements).collect(),
        signals: (0..elements).collect(),
        secrets: FastArray::new(),
        cargo: (0..elements).collect(),
    }
}

/// Returns how many elements each collection of a ship has. The secrets are not counted.
fn lens(ship: &Ship) -> [usize; 6] {
    let Ship { crew, course, stores, orders, signals, cargo, .. } = ship;
    [crew.len(), course.len(), stores.len(), orders.len(), signals.len(), cargo.len()]
}

fn room(config: ServerConfig) -> Room {
    let register = |client: &mut Client| _ = client.register::<Ship>();
    Room::furnished(config, register, 1, |server| _ = server.register::<Ship>()).0
}

#[test]
fn s43_collections_that_are_sent_only_with_an_opening_arrive_with_a_large_one() {
    for elements in [3, 40, 5_000] {
        let mut room = room(ServerConfig::default());
        let object = room.server.spawn(ship(elements));
        room.settle();
        let shown = room.client().get(object).expect("it is there");
        assert_eq!(lens(shown), [elements as usize; 6]);
        assert!(shown.course.iter().copied().eq(0..elements));
        assert_eq!(shown.stores, room.server[object].stores);
        // After the opening, the server does not send changes of these collections.
        let on_server = &mut room.server[object];
        on_server.crew.push(7);
        on_server.course.remove(0);
        on_server.stores.clear();
        on_server.cargo.push(7);
        room.settle();
        let shown = room.client().get(object).expect("it is there");
        let elements = elements as usize;
        assert_eq!(lens(shown), [elements, elements, elements, elements, elements, elements + 1]);
    }
}

#[test]
fn s43_collections_that_are_sent_only_with_an_opening_arrive_although_packets_are_lost() {
    for (elements, period) in [(3, 2), (3, 3), (400, 2), (400, 3)] {
        for lost in 0..period {
            let mut room = room(ServerConfig::default());
            let object = room.server.spawn(ship(elements));
            for tick in 0..120 {
                // The opening grows and shrinks, so the server writes it anew when it sends it again.
                room.server[object].log = "y".repeat(500 + 97 * (tick % 5));
                room.acknowledge();
                let packets: Packets = room.tick_one();
                let arrived = packets.into_iter().enumerate().filter(|(at, _)| (tick + at) % period != lost);
                let arrived: Packets = arrived.map(|(_, packet)| packet).collect();
                room.deliver(0, &arrived);
            }
            room.settle();
            let shown = room.client().get(object).expect("it is there");
            assert_eq!(lens(shown), [elements as usize; 6], "one packet in {period}, from {lost}");
        }
    }
}

#[test]
fn s43_an_opening_that_is_sent_again_has_the_elements_of_its_own_moment() {
    let mut room = room(ServerConfig::default());
    let object = room.server.spawn(ship(3));
    room.tick_one();
    // The first opening is lost.
    room.server[object].crew.push(3);
    room.server[object].stores.remove(&0);
    room.server[object].cargo.push(3);
    room.settle();
    let shown = room.client().get(object).expect("it is there");
    assert_eq!(lens(shown), [4, 3, 2, 3, 3, 4]);
}

#[test]
fn s43_an_opening_in_flight_brings_its_elements_although_the_object_changes() {
    let mut room = room(ServerConfig::default());
    let object = room.server.spawn(ship(3));
    let opening = room.tick_one();
    room.server[object].log.push('y');
    room.server[object].crew.push(3);
    room.server[object].orders.push(3);
    room.server[object].cargo.push(3);
    room.tick_one();
    room.deliver(0, &opening);
    room.settle();
    let shown = room.client().get(object).expect("it is there");
    assert_eq!((shown.log.len(), lens(shown)), (701, [3, 3, 3, 3, 3, 4]));
}

#[test]
fn s43_a_change_of_owner_takes_nothing_from_an_opening_and_reveals_nothing() {
    for elements in [3, 2_000] {
        for ticks in 0..4 {
            let config = ServerConfig { max_bytes_per_tick: 4_000, ..ServerConfig::default() };
            let mut room = room(config);
            let owner = room.guests[0].id;
            let object = room.server.spawn(ship(elements));
            room.server.object(object).set_owner(Some(owner));
            (0..=ticks).for_each(|_| _ = room.step());
            room.server.object(object).set_owner(None);
            room.server[object].secrets.push(SECRET.to_owned());
            for _ in 0..300 {
                room.acknowledge();
                let packets = room.tick_one();
                assert!(!leaks(&packets.concat(), SECRET.as_bytes()), "it is not the owner any more");
                room.deliver(0, &packets);
            }
            room.settle();
            let shown = room.client().get(object).expect("it is there");
            assert_eq!(lens(shown), [elements as usize; 6], "{ticks} ticks");
        }
    }
}

#[test]
fn s43_a_condition_that_is_set_meanwhile_takes_nothing_from_an_opening() {
    let signals = property::<Ship>("signals");
    for condition in [Condition::InitialOnly, Condition::InitialOrOwner] {
        for (elements, before) in [(3, true), (3, false), (2_000, true), (2_000, false)] {
            let config = ServerConfig { max_bytes_per_tick: 4_000, ..ServerConfig::default() };
            let mut room = room(config);
            let object = room.server.spawn(ship(elements));
            if before {
                room.server.object(object).set_dynamic_condition(signals, condition);
            }
            (0..2).for_each(|_| _ = room.step());
            room.server.object(object).set_dynamic_condition(signals, condition);
            room.settle();
            let shown = room.client().get(object).expect("it is there");
            assert_eq!(lens(shown), [elements as usize; 6], "{condition:?}, {before}");
        }
    }
}

#[test]
fn s43_a_collection_larger_than_an_object_may_be_arrives_with_its_opening() {
    let config = ServerConfig { max_object_bytes: 3_000, mtu_bytes: 300, ..ServerConfig::default() };
    let mut room = room(config);
    let object = room.server.spawn(ship(4_000));
    room.settle();
    let shown = room.client().get(object).expect("it is there");
    assert_eq!(lens(shown), [4_000; 6]);
}

#[test]
fn s43_an_opening_that_is_acked_late_brings_what_it_owes() {
    let mut room = room(ServerConfig::default());
    let object = room.server.spawn(ship(3));
    let opening = room.tick_one();
    room.deliver(0, &opening);
    let ack = room.replies(0);
    // The opening counts as lost, so the server sends it again. The second opening is lost.
    room.lose_until_noticed(0);
    room.hear(0, &ack);
    room.settle();
    let shown = room.client().get(object).expect("it is there");
    assert_eq!(lens(shown), [3; 6]);
}

#[test]
fn s43_an_opening_that_is_acked_before_it_could_go_again_brings_what_it_owes() {
    let config = ServerConfig { max_bytes_per_tick: 1_000, ..ServerConfig::default() };
    let mut room = room(config);
    let objects: Vec<_> = (0..4).map(|_| room.server.spawn(ship(3))).collect();
    let lost = |room: &Room| {
        room.server.connection_info(room.guests[0].id).stats().map_or(0, |stats| stats.packets_lost)
    };
    let (before, mut sent) = (lost(&room), 0);
    for _ in 0..4 {
        let packets = room.tick_one();
        sent += packets.len() as u64;
        room.deliver(0, &packets);
    }
    let acks = room.replies(0);
    // The acks are lost. So the openings are declared lost, and in each tick the server has room for only one
    // of them.
    room.wait(Duration::from_secs(2));
    room.tick_one();
    assert_eq!(lost(&room), before + sent);
    room.hear(0, &acks);
    for &object in &objects {
        room.server[object].log.push('y');
    }
    room.settle();
    for object in objects {
        let shown = room.client().get(object).expect("it is there");
        assert_eq!((shown.log.len(), lens(shown)), (701, [3; 6]));
    }
}

#[test]
fn s43_what_an_opening_owes_is_not_sent_after_it_is_hidden() {
    #[derive(Replicated, Default)]
    struct Library {
        #[replicated(condition = Dynamic)]
        books: FastArray<String>,
    }
    let books = property::<Library>("books");
    for initial in [Condition::InitialOnly, Condition::InitialOrOwner, Condition::None] {
        for ticks in 0..6 {
            let config = ServerConfig { max_bytes_per_tick: 2_000, ..ServerConfig::default() };
            let mut room = Room::new(config, |client| _ = client.register::<Library>());
            let library = Library { books: (0..600).map(|book| format!("{SECRET} {book}")).collect() };
            let library = room.server.spawn(library);
            room.server.object(library).set_dynamic_condition(books, initial);
            room.enter();
            (0..ticks).for_each(|_| _ = room.step());
            room.server.object(library).set_dynamic_condition(books, Condition::Never);
            for _ in 0..60 {
                room.acknowledge();
                let packets = room.tick_one();
                assert!(!leaks(&packets.concat(), SECRET.as_bytes()), "{initial:?}, {ticks} ticks");
                room.deliver(0, &packets);
            }
            // Now the client may see the books again. It lacks most of them.
            room.server.object(library).set_dynamic_condition(books, Condition::None);
            room.settle();
            assert_eq!(room.client()[library].books.len(), 600, "{initial:?}, {ticks} ticks");
        }
    }
}

#[test]
fn s43_later_changes_are_not_sent_with_what_an_opening_owes() {
    #[derive(Replicated, Default)]
    struct Plan {
        #[replicated(condition = InitialOrOwner)]
        steps: FastArray<String>,
    }
    let config = ServerConfig { max_bytes_per_tick: 2_000, ..ServerConfig::default() };
    let mut room = Room::new(config, |client| _ = client.register::<Plan>());
    let steps = (0..600).map(|step| format!("step number {step}")).collect();
    let plan = room.server.spawn(Plan { steps });
    let owner = room.enter();
    room.server.object(plan).set_owner(Some(owner));
    (0..5).for_each(|_| _ = room.step());
    let len = room.client()[plan].steps.len();
    assert!((1..600).contains(&len), "{len} steps have arrived, the rest waits");
    room.server.object(plan).set_owner(None);
    for tick in 0..200 {
        room.server[plan].steps.push(format!("{SECRET} {tick}"));
        room.acknowledge();
        let packets = room.tick_one();
        assert!(!leaks(&packets.concat(), SECRET.as_bytes()), "it is not the owner any more");
        room.deliver(0, &packets);
    }
    room.settle();
    assert_eq!(room.client()[plan].steps.len(), 600);
    room.server.object(plan).set_owner(Some(owner));
    room.settle();
    assert_eq!(room.client()[plan].steps.len(), 800, "the owner gets what it missed");
}
