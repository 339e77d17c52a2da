//! R6 to R9: limits, acks, silence and timeouts. R20: which packets are refused, and what happens then. Also
//! S106.
//!
//! *Invariant:* forged packets are changed packets of the room.

use std::collections::VecDeque;
use std::time::Duration;

use repl::prelude::*;
use repl::{DisconnectReason, ReceiveError};

use super::{copy, one_thing, thing, things};
use crate::support::{Guest, Room, TICK, collect, leaks, size};

/// Changes the thing once in each of `ticks` ticks within a very short time, and loses all packets. Returns
/// how many packets were lost.
fn flood(room: &mut Room, one: ObjectRef<super::Thing>, ticks: u32) -> usize {
    let mut packets = 0;
    for value in 1..=ticks {
        room.server[one].a = value;
        packets += room.tick_one().len();
        room.now -= TICK - Duration::from_micros(5);
    }
    packets
}

#[test]
fn r06_at_most_1024_packets_are_unresolved() {
    let (mut room, one) = one_thing();
    assert_eq!(flood(&mut room, one, 3_000), 1_024);
    assert_eq!(room.in_flight(0), 1_024);
    room.settle();
    assert_eq!(copy(&room, one).a, 3_000);
}

/// Returns how many packets to the first guest are in flight, and how many bytes were sent to it since
/// `before`. If nothing was acked or declared lost, these bytes are in flight.
fn sent_since(room: &Room, before: ConnectionStats) -> (usize, usize) {
    let now = room.server.connection_info(room.guests[0].id).stats().expect("it is connected");
    (now.packets_in_flight, (now.bytes_sent - before.bytes_sent) as usize)
}

#[test]
fn r06_no_more_packets_or_bytes_are_in_flight_than_configured() {
    let with = |packets, bytes| ServerConfig {
        max_packets_in_flight: packets,
        max_bytes_in_flight: bytes,
        mtu_bytes: 200,
        ..ServerConfig::default()
    };
    for (packets, bytes) in
        [(1, 10_000), (2, 10_000), (7, 10_000), (100, 200), (100, 399), (100, 1_000), (3, 1)]
    {
        let spawn = |server: &mut Server| (0..100).map(|_| server.spawn(thing(0))).collect::<Vec<_>>();
        let (mut room, all) = Room::furnished(with(packets, bytes), things, 1, spawn);
        let before = room.server.connection_info(room.guests[0].id).stats().expect("it is connected");
        for round in 1..=20_u32 {
            for (at, &object) in all.iter().enumerate() {
                room.server[object].a = round;
                room.server[object].name = "n".repeat(at * round as usize % 140);
                room.server[object].list.push(round as u16);
            }
            let hidden = all[round as usize];
            let id = room.guests[0].id;
            room.server.object(hidden).set_visible(id, round % 2 == 0);
            room.tick_one();
            room.now -= TICK - Duration::from_micros(5);
            let (in_flight, in_bytes) = sent_since(&room, before);
            assert!(in_flight >= 1 && in_flight <= packets, "{in_flight} packets, {packets} may be");
            // One packet may always be in flight, even if it is larger than the limit.
            assert!(in_bytes <= bytes.max(200), "{in_bytes} bytes, {bytes} may be");
        }
        for &object in &all {
            let id = room.guests[0].id;
            room.server.object(object).set_visible(id, true);
        }
        room.settle();
        for &object in &all {
            assert_eq!(copy(&room, object), room.server[object], "{packets} packets and {bytes} bytes");
        }
    }
}

/// Returns a room whose packets have at most 200 bytes, with one client that has 400 things. All things have
/// just changed.
fn many_changes(config: ServerConfig) -> Room {
    let config = ServerConfig { mtu_bytes: 200, ..config };
    let spawn = |server: &mut Server| (0..400).map(|_| server.spawn(thing(0))).collect::<Vec<_>>();
    let (mut room, all) = Room::furnished(config, things, 1, spawn);
    all.into_iter().for_each(|object| room.server[object].a = u32::MAX);
    room
}

#[test]
fn r06_as_many_packets_and_bytes_are_in_flight_as_configured() {
    let first = many_changes(ServerConfig::default()).tick_one().swap_remove(0).len();
    for (packets, bytes, expected) in [
        (1, 4_000, 1),
        (2, 4_000, 2),
        (7, 4_000, 7),
        // The second packet is begun only if 200 more bytes fit.
        (100, first + 199, 1),
        (100, first + 200, 2),
    ] {
        let mut room = many_changes(ServerConfig {
            max_packets_in_flight: packets,
            max_bytes_in_flight: bytes,
            ..ServerConfig::default()
        });
        assert_eq!(room.tick_one().len(), expected, "{packets} packets, {bytes} bytes");
        assert_eq!(room.tick_one().len(), 0);
    }
}

#[test]
fn a_tick_ends_with_the_packet_that_reaches_the_bytes_that_a_tick_may_send() {
    let sizes: Vec<usize> = many_changes(ServerConfig::default()).tick_one().iter().map(Vec::len).collect();
    let two = sizes[0] + sizes[1];
    for (bytes, expected) in [(1, 1), (sizes[0], 1), (sizes[0] + 1, 2), (two, 2), (two + 1, 3)] {
        let mut room = many_changes(ServerConfig { max_bytes_per_tick: bytes, ..ServerConfig::default() });
        assert_eq!(room.tick_one().len(), expected, "{bytes} bytes of {sizes:?}");
    }
}

#[test]
fn r06_where_memory_is_used_up_four_packets_are_in_flight() {
    let config = ServerConfig { max_connection_bytes: 65_536, ..ServerConfig::default() };
    let spawn = |server: &mut Server| (0..300).map(|_| server.spawn(thing(0))).collect::<Vec<_>>();
    let (mut room, all) = Room::furnished(config, things, 1, spawn);
    for round in 1..40 {
        for &object in &all {
            room.server[object].name = "n".repeat(30);
            room.server[object].a = round;
        }
        room.tick_one();
        room.now -= TICK - Duration::from_micros(5);
        assert_eq!(room.in_flight(0), 4, "round {round}");
    }
    room.settle();
    assert!(all.iter().all(|&object| copy(&room, object) == room.server[object]));
}

#[test]
fn r06_objects_take_turns_where_almost_all_packets_are_in_flight() {
    let spawn = |server: &mut Server| (0..5).map(|_| server.spawn(thing(0))).collect::<Vec<_>>();
    let (mut room, all) = Room::furnished(ServerConfig::default(), things, 1, spawn);
    let letter = |at: usize| char::from(b'a' + at as u8).to_string().repeat(100);
    let change = |room: &mut Room, tick: u32| {
        for (at, &object) in all.iter().enumerate() {
            room.server[object].name = format!("{}{tick}", letter(at).repeat(9));
        }
        let packets = room.tick_one();
        room.now -= TICK - Duration::from_micros(5);
        packets
    };
    let (mut tick, mut late) = (0, VecDeque::new());
    while room.in_flight(0) < 1_024 {
        tick += 1;
        late.extend(change(&mut room, tick));
    }
    // In each tick the oldest packet in flight arrives, so there is room for another packet.
    let mut sent = [false; 5];
    for _ in 0..20 {
        let oldest = late.pop_front().expect("a packet in flight");
        room.deliver(0, &[oldest]);
        room.acknowledge();
        tick += 1;
        let packets = change(&mut room, tick);
        for (at, sent) in sent.iter_mut().enumerate() {
            *sent |= packets.iter().any(|packet| leaks(packet, letter(at).as_bytes()));
        }
        late.extend(packets);
    }
    assert_eq!(sent, [true; 5]);
}

#[test]
fn r06_packets_are_sent_until_the_memory_has_no_room_for_one_more() {
    let limit = 300_000;
    let config = ServerConfig { max_connection_bytes: limit, mtu_bytes: 200, ..ServerConfig::default() };
    let spawn = |server: &mut Server| (0..10).map(|_| server.spawn(thing(0))).collect::<Vec<_>>();
    let (mut room, all) = Room::furnished(config, things, 1, spawn);
    let (mut packets, mut most) = (0, 0);
    for round in 1..1_000 {
        all.iter().for_each(|&object| room.server[object].a = round);
        room.tick_one();
        room.now -= TICK - Duration::from_micros(5);
        if room.in_flight(0) > packets {
            packets = room.in_flight(0);
            most =
                room.server.connection_info(room.guests[0].id).stats().map_or(0, |stats| stats.memory_bytes);
        }
    }
    assert!((5..1_000).contains(&packets), "{packets} packets");
    assert!((limit - 20_000..=limit).contains(&most), "{most} bytes");
}

#[test]
fn limits_of_zero_are_refused_and_those_of_one_work() {
    type Set = fn(&mut ServerConfig);
    let zeros: [(&str, Set); 6] = [
        ("max_packets_in_flight", |config| config.max_packets_in_flight = 0),
        ("max_bytes_in_flight", |config| config.max_bytes_in_flight = 0),
        ("max_bytes_per_tick", |config| config.max_bytes_per_tick = 0),
        ("max_objects", |config| config.max_objects = 0),
        ("max_object_bytes", |config| config.max_object_bytes = 0),
        ("timeout", |config| config.timeout = Duration::ZERO),
    ];
    for (name, set) in zeros {
        let mut config = ServerConfig::default();
        set(&mut config);
        let panic = std::panic::catch_unwind(|| Server::new(config)).err().expect(name);
        let text = panic.downcast_ref::<String>().expect("a text");
        assert!(text.contains(&format!("`{name}`")) && text.contains("at least 1"), "{text}");
    }
    type SetClient = fn(&mut ClientConfig);
    let zeros: [(&str, SetClient); 3] = [
        ("max_objects", |config| config.max_objects = 0),
        ("max_object_bytes", |config| config.max_object_bytes = 0),
        ("timeout", |config| config.timeout = Duration::ZERO),
    ];
    for (name, set) in zeros {
        let mut config = ClientConfig::default();
        set(&mut config);
        let panic =
            std::panic::catch_unwind(|| Client::new(config, Session::for_tests(1))).err().expect(name);
        let text = panic.downcast_ref::<String>().expect("a text");
        assert!(text.contains(&format!("`{name}`")) && text.contains("at least 1"), "{text}");
    }
    let least: [Set; 3] = [
        |config| config.max_packets_in_flight = 1,
        |config| config.max_bytes_in_flight = 1,
        |config| config.max_bytes_per_tick = 1,
    ];
    for set in least {
        let mut config = ServerConfig::default();
        set(&mut config);
        let (mut room, one) = Room::furnished(config, things, 1, |server| server.spawn(thing(3)));
        room.server[one].name = "n".repeat(3_000);
        room.settle();
        assert_eq!(copy(&room, one), room.server[one]);
    }
}

#[test]
fn r06_numbers_cross_the_wrap_of_the_wire_form_under_loss() {
    let config = ServerConfig { first_sequence: 65_480, ..ServerConfig::default() };
    let mut room = Room::new(config, things);
    let one = room.server.spawn(thing(0));
    let id = room.server.connect(room.now);
    let mut client = Client::new(
        ClientConfig { first_sequence: 65_500, ..ClientConfig::default() },
        Session::for_tests(5),
    );
    things(&mut client);
    room.guests.push(Guest { client, id });
    for value in 1..=300 {
        room.server[one].a = value;
        room.acknowledge();
        let packets = room.tick_one();
        if value % 3 > 0 {
            room.deliver(0, &packets);
        }
    }
    room.settle();
    assert_eq!(copy(&room, one).a, 300);
    assert!(room.client().is_connected());
}

#[test]
fn r07_a_tick_of_hundreds_of_packets_is_acked_by_one() {
    let config = ServerConfig { mtu_bytes: 128, ..ServerConfig::default() };
    let spawn_all = |server: &mut Server| (0..6_000).map(|_| server.spawn(thing(0))).collect::<Vec<_>>();
    let (mut room, all) = Room::furnished(config, things, 1, spawn_all);
    all.iter().for_each(|&object| room.server[object].a = u32::MAX);
    let packets = room.tick_one();
    assert!(packets.len() >= 256, "{} packets", packets.len());
    room.deliver(0, &packets);
    let acks = room.replies(0);
    assert_eq!(acks.len(), 1);
    assert!(acks[0].len() < 20, "one range: {} bytes", acks[0].len());
    room.hear(0, &acks);
    assert_eq!(room.in_flight(0), 0);
}

#[test]
fn r07_a_duplicate_is_not_applied_but_acked_again() {
    let (mut room, one) = Room::measuring(one_thing);
    room.server[one].a = 1;
    let packets = room.tick_one();
    room.deliver(0, &packets);
    assert!(!room.replies(0).is_empty(), "this ack is lost");
    assert!(room.replies(0).is_empty());
    room.deliver(0, &packets);
    assert_eq!(room.updates::<super::Thing>(0, "a"), 1);
    room.acknowledge();
    assert_eq!(room.in_flight(0), 0);
}

#[test]
fn r07_acks_name_each_packet_that_arrived_and_no_other() {
    let (mut room, one) = one_thing();
    for value in 1..=40 {
        room.server[one].a = value;
        let packets = room.tick_one();
        room.now -= TICK - Duration::from_micros(5);
        if value % 3 == 0 {
            room.deliver(0, &packets);
        }
    }
    room.acknowledge();
    assert_eq!(room.in_flight(0), 40 - 13);
}

#[test]
fn r08_a_quiet_room_is_silent_but_for_keep_alives() {
    let (mut room, _) = one_thing();
    let (mut times, mut bytes) = (0, 0);
    let start = room.now;
    while room.now - start < Duration::from_secs(5) {
        let moved = room.step();
        bytes += moved;
        times += usize::from(moved > 0);
    }
    // In the five seconds of the test, each side sends about 35 keep-alive packets (69 in a timeout of ten
    // seconds), sometimes both in the same tick.
    assert!((48..=72).contains(&times) && bytes <= times * 2 * 24, "{bytes} bytes in {times} ticks");
}

#[test]
fn r08_at_most_one_ack_only_packet_a_tick_which_is_never_acked() {
    let (mut room, one) = one_thing();
    let mut packets = Vec::new();
    for value in 1..=10 {
        room.server[one].a = value;
        packets.extend(room.tick_one());
    }
    room.deliver(0, &packets);
    let acks = room.replies(0);
    assert_eq!(acks.len(), 1);
    room.hear(0, &acks);
    assert!(room.tick_one().is_empty(), "an ack is not acked");
    assert!(room.replies(0).is_empty());
}

#[test]
fn r08_acks_are_repeated_more_often_if_more_is_lost() {
    for (one_in, ticks) in [(1, 1), (2, 4), (4, 8), (10, 16)] {
        let (mut room, one) = one_thing();
        for value in 1..=400 {
            // These acks are lost.
            drop(room.replies(0));
            room.server[one].a = value;
            let packets = room.tick_one();
            if value % one_in == 0 {
                room.deliver(0, &packets);
            }
        }
        let told = (0..100).filter(|_| !room.replies(0).is_empty()).count();
        assert_eq!(told, ticks, "one packet in {one_in} arrives");
    }
}

#[test]
fn r09_a_dead_link_is_tried_at_least_every_250_ms() {
    let (mut room, one) = one_thing();
    room.server[one].a = 1;
    let mut last = room.now;
    let start = room.now;
    while room.now - start < Duration::from_secs(5) {
        let before = room.now;
        if !room.tick_one().is_empty() {
            assert!(before - last <= Duration::from_millis(250) + TICK, "{:?} of silence", before - last);
            last = before;
        }
    }
    assert!(room.now - last <= Duration::from_millis(250) + TICK);
    room.settle();
    assert_eq!(copy(&room, one).a, 1);
}

#[test]
fn r09_a_silent_peer_is_given_up_after_the_timeout() {
    let (mut room, _) = one_thing();
    let timeout = ServerConfig::default().timeout;
    let keep_alive = timeout / 40;
    room.wait(timeout - keep_alive - 8 * TICK);
    room.tick_one();
    room.replies(0);
    assert_eq!(room.closed(0), None);
    assert!(room.client().is_connected());
    room.wait(keep_alive + 8 * TICK);
    room.tick_one();
    room.replies(0);
    assert_eq!(room.closed(0), Some(DisconnectReason::Timeout));
    assert!(!room.client().is_connected());
    let events: Vec<_> = std::iter::from_fn(|| room.guests[0].client.poll_event()).collect();
    assert_eq!(events.last(), Some(&ClientEvent::Disconnected(DisconnectReason::Timeout)));
}

#[test]
fn r09_a_side_is_silent_for_too_long_when_its_whole_timeout_has_passed() {
    let moment = Duration::from_nanos(1);
    for server_waits in [true, false] {
        let (mut room, one) = one_thing();
        let timeout = ServerConfig::default().timeout;
        for a in [1, 2] {
            room.acknowledge();
            room.server[one].a = a;
            let packets = room.tick_one();
            room.deliver(0, &packets);
        }
        // The server has received a packet one tick before the client has received one.
        let heard = if server_waits { room.now - TICK } else { room.now };
        for (now, is_open) in [(heard + timeout - moment, true), (heard + timeout, false)] {
            room.now = now;
            if server_waits {
                room.server.tick(now);
                assert_eq!(room.server.connections().count(), usize::from(is_open));
            } else {
                room.replies(0);
                assert_eq!(room.client().is_connected(), is_open);
            }
        }
    }
}

#[test]
fn r20_damaged_bytes_are_dropped_in_silence() {
    let (mut room, one) = one_thing();
    room.server[one].a = 1;
    let packets = room.tick_one();
    let packet = &packets[0];
    for bit in 0..packet.len() * 8 {
        let mut damaged = packet.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let result = room.guests[0].client.receive(room.now, &damaged);
        assert_eq!(result, Err(ReceiveError::Damaged), "bit {bit}");
    }
    for len in 0..packet.len() {
        assert_eq!(room.guests[0].client.receive(room.now, &packet[..len]), Err(ReceiveError::Damaged));
    }
    assert!(room.client().is_connected());
    assert_eq!(copy(&room, one).a, 0);
    room.hear(0, &[vec![0; 40], vec![], vec![0xff; 1_200]]);
    assert_eq!(room.closed(0), None);
    room.deliver(0, &packets);
    assert_eq!(copy(&room, one).a, 1);
}

#[test]
fn r20_a_packet_of_another_session_is_as_good_as_damaged() {
    let (mut room, one) =
        Room::furnished(ServerConfig::default(), things, 2, |server| server.spawn(thing(0)));
    room.server[one].a = 1;
    let packets = room.tick();
    let result = room.guests[1].client.receive(room.now, &packets[0][0]);
    assert_eq!(result, Err(ReceiveError::Damaged));
}

/// Returns a packet of state with `bytes` bytes. It contains closings of objects that nobody has.
fn closes(sequence: u16, session: u64, bytes: usize) -> Vec<u8> {
    const FIRST_SLOT: u64 = 2;
    let packet = crate::forge::state(sequence, session, |writer| {
        crate::forge::segment(2, writer);
        writer.write_exp_golomb(FIRST_SLOT, 0);
        writer.write_bits(0, 3);
        // Of the packet, the checksum takes four bytes. Each closing after the first takes half a byte.
        let content_bits = (bytes - 4) * 8;
        while writer.bit_len() + 4 + 2 <= content_bits {
            writer.write_flag(true);
            writer.write_exp_golomb(0, 0);
            // These bits say that the object was destroyed and has no last state.
            writer.write_bits(0, 3);
        }
        crate::forge::end(writer);
    });
    assert_eq!(packet.len(), bytes);
    packet
}

#[test]
fn r20_a_client_reads_packets_of_at_most_its_mtu() {
    let mut room = Room::new(ServerConfig::default(), things);
    let one = room.server.spawn(thing(0));
    let id = room.enter();
    room.acknowledge();
    let welcome = collect(&mut room.server, id);
    room.deliver(0, &welcome);
    room.settle();
    let client = &mut room.guests[0].client;
    let bytes_received = client.connection_info().stats().bytes_received;
    let instance = client.connection_info().server_instance().expect("it is connected");
    let binding = 1_000 ^ instance ^ crate::forge::token(&welcome[0]);
    assert_eq!(client.receive(room.now, &closes(100, binding, 1_201)), Err(ReceiveError::Damaged));
    assert_eq!(client.connection_info().stats().bytes_received, bytes_received);
    assert_eq!(client.receive(room.now, &closes(100, binding, 1_200)), Ok(()));
    assert_eq!(client.connection_info().stats().bytes_received, bytes_received + 1_200);
    assert_eq!(copy(&room, one).a, 0);
}

#[test]
fn r20_a_server_reads_packets_of_at_most_the_mtu_of_its_client() {
    for (own_bytes, client_bytes) in [(1_200, 1_300), (1_300, 1_300), (400, 1_200)] {
        let config = ServerConfig { mtu_bytes: own_bytes, ..ServerConfig::default() };
        let mut room = Room::new(config, things);
        room.server.spawn(thing(1));
        let id = room.server.connect(room.now);
        let config = ClientConfig { mtu_bytes: client_bytes, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::for_tests(1_000));
        things(&mut client);
        room.guests.push(Guest { client, id });
        room.acknowledge();
        let binding = 1_000 ^ crate::forge::token(&collect(&mut room.server, id)[0]);
        // A client may not send closings. So if the server reads this packet, it ends the session of the
        // client.
        room.hear(0, &[closes(3, binding, client_bytes + 1)]);
        assert_eq!(room.closed(0), None, "{own_bytes}, {client_bytes}");
        room.hear(0, &[closes(3, binding, client_bytes)]);
        assert!(matches!(room.closed(0), Some(DisconnectReason::Protocol(_))), "{own_bytes}, {client_bytes}");
    }
}

#[test]
fn s106_a_client_that_sends_state_is_disconnected() {
    let mut room = Room::new(ServerConfig::default(), things);
    let one = room.server.spawn(thing(1));
    let id = room.enter();
    room.acknowledge();
    let packets = collect(&mut room.server, id);
    let state = crate::forge::state(3, 1_000 ^ crate::forge::token(&packets[0]), |writer| {
        crate::forge::segment(0, writer);
        crate::forge::end(writer);
    });
    room.deliver(0, &packets);
    room.hear(0, &[state]);
    assert!(matches!(room.closed(0), Some(DisconnectReason::Protocol(_))));
    let farewell = collect(&mut room.server, room.guests[0].id);
    assert!(size(&farewell) > 0);
    room.deliver(0, &farewell);
    assert!(!room.client().is_connected(), "it is told");
    assert_eq!(room.server[one].a, 1);
}
