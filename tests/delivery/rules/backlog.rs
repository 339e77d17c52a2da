//! R6 and R17 with a client that stays alive and acks nothing.
//!
//! *Invariant:* after the client has connected, it receives nothing and sends only keep-alive packets.

use std::time::Duration;

use repl::prelude::*;
use repl::{DisconnectReason, SpawnError};

use super::{Thing, thing};
use crate::support::{Guest, Room, TICK};

const TIMEOUT: Duration = Duration::from_secs(2);

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Item {
    number: u32,
    list: Vec<u16>,
}

#[derive(Replicated, Debug, Default)]
#[replicated(all)]
struct Bag {
    number: u32,
    items: FastArray<Item>,
    list: Vec<u32>,
    map: std::collections::BTreeMap<u32, u32>,
}

fn bags(client: &mut Client) {
    client.register::<Bag>();
    client.register::<Thing>();
}

/// Returns a room with a guest that never acks, and another guest that acks everything.
fn room(config: ServerConfig) -> Room {
    let mut room = Room::new(ServerConfig { timeout: TIMEOUT, ..config }, bags);
    room.server.register::<Bag>().register::<Thing>();
    let id = room.server.connect(room.now);
    let mut client = Client::new(
        ClientConfig { timeout: Duration::MAX, ..ClientConfig::default() },
        Session::for_tests(5),
    );
    bags(&mut client);
    room.guests.push(Guest { client, id });
    room.enter();
    room.settle();
    room
}

/// Runs a tick in which the first guest sends a keep-alive packet and receives nothing, while the other guest
/// acks everything. Returns false if the first guest is disconnected.
fn step(room: &mut Room) -> bool {
    room.acknowledge();
    let packets = room.tick();
    room.deliver(1, &packets[1]);
    room.server.connection_info(room.guests[0].id).stats().is_some() && room.server.connections().count() == 2
}

fn memory_bytes(room: &Room, guest: usize) -> usize {
    room.server.connection_info(room.guests[guest].id).stats().map_or(0, |stats| stats.memory_bytes)
}

/// Changes the bag in a tick. Each tick adds new elements to its arrays, collections and maps.
fn churn(bag: &mut Bag, tick: u32) {
    bag.number = tick;
    bag.items.push(Item { number: tick, list: vec![tick as u16; 3] });
    bag.list.push(tick);
    bag.map.insert(tick, tick);
    if bag.items.len() > 200 {
        bag.items.swap_remove(0);
        bag.list.truncate(100);
        bag.map.pop_first();
    }
    if let Some(mut item) = bag.items.iter_mut().next() {
        item.list.push(tick as u16);
        item.list.truncate(50);
    }
}

#[test]
fn r06_what_is_kept_for_a_client_that_never_acks_stays_within_the_configured_bytes() {
    // The memory that each object needs for itself. Only the number of objects limits it.
    let world = 20 * 50_000;
    for limit in [100_000, 1 << 20, 4 << 20] {
        let mut room = room(ServerConfig { max_connection_bytes: limit, ..ServerConfig::default() });
        let all: Vec<_> = (0..20).map(|_| room.server.spawn(Bag::default())).collect();
        let mut most = 0;
        for tick in 0..2_000 {
            all.iter().for_each(|&bag| churn(&mut room.server[bag], tick));
            let is_connected = step(&mut room);
            most = most.max(memory_bytes(&room, 0));
            assert!(most <= limit + world, "{most} bytes in tick {tick}, {limit} may be");
            assert!(memory_bytes(&room, 1) <= limit);
            if !is_connected {
                break;
            }
        }
        room.guests.remove(0);
        room.settle();
        for &bag in &all {
            let (here, there) = (room.client().get(bag).expect("the other has it"), &room.server[bag]);
            assert_eq!((here.number, &here.list, &here.map), (there.number, &there.list, &there.map));
        }
    }
}

#[test]
fn r06_who_leaves_no_memory_for_a_whole_timeout_is_disconnected_with_a_reason() {
    let limit = 100_000;
    let mut room = room(ServerConfig { max_connection_bytes: limit, ..ServerConfig::default() });
    let all: Vec<_> = (0..50).map(|_| room.server.spawn(Bag::default())).collect();
    let start = room.now;
    let (mut tick, mut over_since) = (0, None);
    loop {
        all.iter().for_each(|&bag| churn(&mut room.server[bag], tick));
        tick += 1;
        if !step(&mut room) {
            break;
        }
        let is_over = memory_bytes(&room, 0) > limit;
        over_since = is_over.then(|| over_since.unwrap_or(room.now));
        assert!(over_since.is_none_or(|since| room.now - since < TIMEOUT * 5 / 4), "it is still connected");
        assert!(room.now - start < TIMEOUT * 4, "it is still connected");
    }
    assert!(room.now - start >= TIMEOUT);
    assert_eq!(room.closed(0), Some(DisconnectReason::Unacknowledged));
}

#[test]
fn r06_who_is_over_the_memory_twice_for_less_than_a_timeout_each_is_not_disconnected() {
    let limit = 100_000;
    let mut room = room(ServerConfig { max_connection_bytes: limit, ..ServerConfig::default() });
    let all: Vec<_> = (0..50).map(|_| room.server.spawn(Bag::default())).collect();
    room.settle();
    let (mut tick, mut over) = (0, Duration::ZERO);
    for _ in 0..2 {
        let mut since = None;
        while since.is_none_or(|since| room.now - since < TIMEOUT * 3 / 4) {
            all.iter().for_each(|&bag| churn(&mut room.server[bag], tick));
            tick += 1;
            assert!(step(&mut room), "disconnected in tick {tick}");
            if memory_bytes(&room, 0) > limit {
                since = since.or(Some(room.now));
            }
        }
        over += TIMEOUT * 3 / 4;
        // From now on everything arrives, and the memory is free again.
        room.settle();
        assert!(memory_bytes(&room, 0) <= limit);
    }
    assert!(over > TIMEOUT);
    assert_eq!(room.closed(0), None);
}

#[test]
fn r17_slots_of_ends_that_a_client_never_acks_come_back_in_bounded_time() {
    let mut room = room(ServerConfig { max_objects: 100, ..ServerConfig::default() });
    let mut alive = std::collections::VecDeque::new();
    let (start, mut failed, mut spawned_again) = (room.now, None, 0);
    while room.now - start < TIMEOUT * 8 {
        if alive.len() >= 10 {
            alive.pop_front().into_iter().for_each(|object| room.server.despawn(object));
        }
        let result: Result<_, SpawnError> = room.server.try_spawn(thing(1));
        match result {
            Ok(object) => {
                alive.push_back(object);
                spawned_again += u32::from(failed.is_some());
            }
            Err(_) => failed = failed.or(Some(room.now)),
        }
        step(&mut room);
    }
    let failed = failed.expect("all slots are taken for a while");
    assert!(room.now > failed);
    assert_eq!(room.closed(0), Some(DisconnectReason::Unacknowledged));
    assert!(spawned_again > 100, "{spawned_again} objects after that");
    room.guests.remove(0);
    room.settle();
    assert_eq!(room.client().objects::<Thing>().count(), alive.len());
}

#[test]
fn r17_an_end_is_waited_for_eight_round_trips_where_these_are_longer_than_timeouts() {
    let config = ServerConfig { timeout: TIMEOUT, ..ServerConfig::default() };
    let furnish = |server: &mut Server| [0, 1].map(|a| server.spawn(thing(a)));
    let (mut room, [one, other]) = Room::furnished(config, super::things, 1, furnish);
    for b in 1..20 {
        room.server[one].b = b;
        let packets = room.tick_one();
        room.wait(TIMEOUT * 3 / 4);
        room.deliver(0, &packets);
        room.acknowledge();
    }
    let round_trip = room.server.connection_info(room.guests[0].id).stats().map(|stats| stats.round_trip);
    assert!(round_trip > Some(TIMEOUT * 5 / 8), "{round_trip:?}");
    room.server.despawn(other);
    let start = room.now;
    while room.now - start < TIMEOUT * 9 / 2 {
        room.acknowledge();
        room.tick_one();
    }
    assert_eq!(room.closed(0), None, "four timeouts have passed, but not eight round trips");
    room.settle();
    assert!(!room.client().contains(other));
}

#[test]
fn a_client_that_acks_late_is_not_disconnected() {
    let mut room = room(ServerConfig::default());
    let all: Vec<_> = (0..20).map(|_| room.server.spawn(Bag::default())).collect();
    let mut acks = std::collections::VecDeque::new();
    for tick in 0..1_000 {
        all.iter().for_each(|&bag| churn(&mut room.server[bag], tick));
        if tick % 7 == 0 {
            let object = room.server.spawn(thing(tick));
            step_late(&mut room, &mut acks);
            room.server.despawn(object);
        }
        step_late(&mut room, &mut acks);
    }
    assert_eq!(room.closed(0), None);
    room.settle();
    (0..600).for_each(|_| _ = room.step());
    let left = memory_bytes(&room, 0);
    assert!(left < 10_000, "what was kept is given back, but for {left} bytes");
}

#[test]
fn r17_who_acks_all_but_ends_stays_within_the_memory_and_is_disconnected_with_a_reason() {
    let limit = 1 << 20;
    let mut room = room(ServerConfig { max_connection_bytes: limit, ..ServerConfig::default() });
    let id = room.guests[0].id;
    let bag = room.server.spawn(Bag::default());
    let all: Vec<_> = (0..2_000).map(|number| room.server.spawn(thing(number))).collect();
    room.settle();
    let (start, mut lost) = (room.now, 0);
    for tick in 0.. {
        room.server[bag].number = tick;
        let ends = tick % 8 == 0;
        if ends && let Some(&object) = all.get(tick as usize) {
            room.server.despawn(object);
        }
        room.acknowledge();
        let packets = room.tick();
        room.deliver(1, &packets[1]);
        let Some(stats) = room.server.connection_info(id).stats() else { break };
        assert!(stats.memory_bytes <= limit, "{} bytes in tick {tick}", stats.memory_bytes);
        assert!(room.now - start < TIMEOUT * 6, "it is still connected");
        // Closings are sent again only in the tick in which a packet with them is declared lost.
        if !ends && stats.packets_lost == lost {
            room.deliver(0, &packets[0]);
        }
        lost = stats.packets_lost;
        assert_eq!(room.client().objects::<Thing>().count(), all.len(), "it has heard of an end");
    }
    assert!(room.now - start >= TIMEOUT * 4);
    assert_eq!(room.closed(0), Some(DisconnectReason::Unacknowledged));
    room.guests.remove(0);
    room.settle();
    let left = all.len() - room.server.objects::<Thing>().count();
    assert!(left > 0, "some are gone");
    assert_eq!(room.client().objects::<Thing>().count(), all.len() - left);
}

#[test]
fn r06_a_client_that_acks_every_second_packet_stays_within_the_memory_and_receives_everything() {
    for limit in [100_000, 1 << 20] {
        let mut room = room(ServerConfig { max_connection_bytes: limit, ..ServerConfig::default() });
        let all: Vec<_> = (0..20).map(|_| room.server.spawn(Bag::default())).collect();
        let mut packets_sent = 0;
        let mut step = |room: &mut Room| {
            room.acknowledge();
            let packets = room.tick();
            room.deliver(1, &packets[1]);
            for packet in &packets[0] {
                packets_sent += 1;
                if packets_sent % 2 == 0 {
                    room.deliver(0, std::slice::from_ref(packet));
                }
            }
            memory_bytes(room, 0)
        };
        let world = 20 * 50_000;
        for tick in 0..600 {
            all.iter().for_each(|&bag| churn(&mut room.server[bag], tick));
            let bytes = step(&mut room);
            assert!(bytes <= limit + world, "{bytes} bytes in tick {tick}, {limit} may be");
        }
        (0..600).for_each(|_| _ = step(&mut room));
        assert_eq!((room.closed(0), room.in_flight(0)), (None, 0));
        assert!(memory_bytes(&room, 0) <= limit);
        for &bag in &all {
            let (here, there) = (room.client().get(bag).expect("it has it"), &room.server[bag]);
            assert_eq!((here.number, &here.list, &here.map), (there.number, &there.list, &there.map));
            assert_eq!(here.items.len(), there.items.len());
            assert!(there.items.ids().iter().all(|id| here.items.by_id(*id) == there.items.by_id(*id)));
        }
    }
}

/// Runs a tick of both guests. The acks of the first guest arrive 60 ticks late, and half of the packets to
/// it are lost.
fn step_late(room: &mut Room, acks: &mut std::collections::VecDeque<Vec<Vec<u8>>>) {
    acks.push_back(room.replies(0));
    if acks.len() > 60 {
        let due = acks.pop_front().unwrap_or_default();
        room.hear(0, &due);
    }
    let replies = room.replies(1);
    room.hear(1, &replies);
    let packets = room.tick();
    let kept: Vec<_> = packets[0].iter().step_by(2).cloned().collect();
    room.deliver(0, &kept);
    room.deliver(1, &packets[1]);
    room.now += TICK / 2;
}
