//! Tests how much memory small packets can make a client allocate: for their contents, for objects with
//! references, and for updates that are never completed.
//!
//! *Invariant:* no test of this file depends on a clock. The tests count allocated memory, because code that
//! visits many values always allocates some.

use std::time::Duration;

use repl::prelude::*;

use super::allocator::{held, measure, measure_given};
use super::claims::{PEBBLE, only, origin, run};
use super::forge::{end, segment, state};
use super::hello::welcome;
use super::recording::SESSION;
use super::support::Room;
use super::{Pebble, budget, register};

#[derive(Replicated, Default)]
#[replicated(all)]
struct Crowd {
    leader: ObjectRef<Self>,
    friends: Vec<ObjectRef<Self>>,
}

#[derive(Replicated)]
#[replicated(all)]
struct Wall {
    bricks: [bool; 4_096],
}

impl Default for Wall {
    fn default() -> Self {
        Self { bricks: [false; 4_096] }
    }
}

const FRIENDS: usize = 2_000;

/// Returns a client with crowds, and another crowd that it sees or does not see.
fn crowds(crowds: usize, is_seen: bool) -> (Room, Vec<ObjectRef<Crowd>>, ObjectRef<Crowd>) {
    let register = |client: &mut Client| {
        client.register::<Crowd>();
    };
    let (mut room, objects) = Room::furnished(ServerConfig::default(), register, 1, |server| {
        (0..crowds).map(|_| server.spawn(Crowd::default())).collect::<Vec<_>>()
    });
    let other = room.server.spawn(Crowd::default());
    let id = room.guests[0].id;
    room.server.object(other).set_visible(id, is_seen);
    room.settle();
    (room, objects, other)
}

#[test]
fn references_cost_what_their_bits_pay_for() {
    let (mut room, crowds, other) = crowds(40, false);
    for crowd in crowds {
        room.server[crowd].friends = vec![other; FRIENDS];
    }
    let (mut wire, mut client) = (0, 0_isize);
    for _ in 0..100 {
        for packet in room.tick_one() {
            wire += packet.len();
            let before = held();
            room.deliver(0, std::slice::from_ref(&packet));
            client += held() - before;
        }
        room.acknowledge();
    }
    let references: usize = room.client().objects::<Crowd>().map(|(_, crowd)| crowd.friends.len()).sum();
    assert_eq!(references, 40 * FRIENDS);
    let created =
        room.client().objects::<Crowd>().map(|(_, crowd)| 8 * crowd.friends.capacity()).sum::<usize>();
    let client = usize::try_from(client).unwrap();
    assert!(
        client <= 16 * wire + created + 4_096,
        "{client} bytes for {references} references in {wire} bytes"
    );
}

#[test]
fn an_object_that_appears_or_disappears_costs_nothing_for_objects_that_refer_to_it() {
    let (mut room, crowds, other) = crowds(40, false);
    for crowd in crowds {
        room.server[crowd].friends = vec![other; FRIENDS];
    }
    room.settle();
    let id = room.guests[0].id;
    for is_seen in [true, false, true, false] {
        room.server.object(other).set_visible(id, is_seen);
        let packets = room.tick_one();
        let [packet] = &packets[..] else { panic!("one packet") };
        room.polled(0);
        let client = &mut room.guests[0].client;
        let (result, given) = measure_given(|| client.receive(Duration::ZERO, packet));
        result.unwrap();
        let mapped = client
            .objects::<Crowd>()
            .flat_map(|(_, crowd)| &crowd.friends)
            .filter(|friend| !friend.is_null());
        assert_eq!(mapped.count(), if is_seen { 40 * FRIENDS } else { 0 });
        // A packet may allocate a few bytes for each crowd, because the client must call the callbacks of the
        // crowd.
        assert!(given <= budget(packet.len()) + 40 * 256, "{given} bytes for a packet of {}", packet.len());
        room.settle();
    }
}

/// Returns a room with one client, which has this many walls.
fn walls(count: usize) -> (Room, Vec<ObjectRef<Wall>>) {
    let register = |client: &mut Client| {
        client.register::<Wall>();
    };
    Room::furnished(ServerConfig::default(), register, 1, |server| {
        (0..count).map(|_| server.spawn(Wall::default())).collect()
    })
}

#[test]
fn a_bit_of_an_object_costs_the_same_however_many_handles_it_has() {
    let (mut room, walls) = walls(1_000);
    let mut given = Vec::new();
    for round in [true, false, true] {
        for &wall in &walls {
            room.server[wall].bricks[4_095] = round;
        }
        let packets = room.tick_one();
        let [packet] = &packets[..] else { panic!("{} packets", packets.len()) };
        room.polled(0);
        let client = &mut room.guests[0].client;
        let (result, bytes) = measure(|| client.receive(Duration::ZERO, packet));
        result.unwrap();
        assert!(client.objects::<Wall>().all(|(_, wall)| wall.bricks[4_095] == round));
        given.push((bytes, packet.len()));
        room.settle();
    }
    // The first packet allocates memory that is used again: 64 bytes for each object that one packet may
    // touch.
    let (first, len) = given[0];
    assert!(first <= 1_000 * 64 + budget(len), "{first} bytes for a packet of {len}");
    for &(bytes, len) in &given[1..] {
        assert!(bytes <= budget(len), "{bytes} bytes for a packet of {len}");
    }
}

#[test]
fn an_object_costs_the_same_however_many_handles_its_class_has_and_whatever_its_neighbour_changes() {
    let (mut room, walls) = walls(400);
    for round in [true, false, true] {
        for (at, &wall) in walls.iter().enumerate() {
            room.server[wall].bricks[4_095 - at % 2] = round;
        }
        let packets = room.tick_one();
        let [packet] = &packets[..] else { panic!("{} packets", packets.len()) };
        room.polled(0);
        let client = &mut room.guests[0].client;
        let (result, bytes) = measure(|| client.receive(Duration::ZERO, packet));
        result.unwrap();
        assert!(client.objects::<Wall>().all(|(_, wall)| wall.bricks.contains(&true) == round));
        assert!(bytes <= 400 * 64 + budget(packet.len()), "{bytes} bytes for a packet of {}", packet.len());
        room.settle();
    }
}

/// The number of objects in one packet of the next test.
const REOPENED: u64 = 1_100;

/// Returns a packet that opens pebbles, or opens them again. If `is_run` is true, the pebbles are in one run
/// with their values. Otherwise each pebble is in a separate run without values. If `is_alike` is true, the
/// flag of each run says that it repeats the head of the run before; otherwise each run has its own head.
fn openings(sequence: u16, first: u64, is_run: bool, is_alike: bool) -> Vec<u8> {
    state(sequence, SESSION, |writer| {
        segment(1, writer);
        writer.write_exp_golomb(first, 0);
        origin(0, PEBBLE, 0, writer);
        if is_run {
            only(1, 1, true, writer);
            run(REOPENED, writer);
            (0..REOPENED).for_each(|_| writer.write_bits(7, 8));
            return end(writer);
        }
        // A list without properties, and a run of one object.
        writer.write_bits(0b01, 2);
        run(1, writer);
        for _ in 1..REOPENED {
            writer.write_flag(true);
            writer.write_exp_golomb(0, 0);
            writer.write_flag(is_alike);
            if !is_alike {
                origin(0, PEBBLE, 0, writer);
                // The list is not the last one, and has no properties.
                writer.write_bits(0b0100, 3);
            }
            run(1, writer);
        }
        end(writer);
    })
}

#[test]
fn objects_that_open_again_one_by_one_take_no_more_memory_than_other_entries() {
    for is_alike in [true, false] {
        let config = ClientConfig { max_objects: 4_096, mtu_bytes: 4_096, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::for_tests(SESSION));
        register(&mut client);
        client.tick(Duration::ZERO);
        client.receive(Duration::ZERO, &welcome(10_000, 0)).unwrap();
        client.receive(Duration::ZERO, &openings(0, 0, true, true)).unwrap();
        assert_eq!(client.objects::<Pebble>().count() as u64, REOPENED);
        let packet = openings(1, 0, false, is_alike);
        let (result, most) = measure(|| client.receive(Duration::ZERO, &packet));
        result.unwrap();
        let allowed = 64 * REOPENED as usize + budget(packet.len());
        assert!(most <= allowed, "{most} bytes for a packet of {}, allowed {allowed}", packet.len());
    }
}
