//! R26: how much the server sends to an address that never answered, and to a client whose acks have stopped.
//!
//! *Invariant:* the worlds of these tests are larger than everything that may be in flight at the same time,
//! so every limit applies.

use std::time::Duration;

use repl::prelude::*;
use repl::{BitReader, BitWriter};

use super::{Thing, thing, things};
use crate::forge::seal;
use crate::support::{Packets, Room, TICK, collect, size};

/// Returns a room with a client that is not connected yet, and this many things of about a hundred bytes
/// each.
fn full_room(things_count: u32) -> (Room, Vec<ObjectRef<Thing>>) {
    let mut room = Room::new(ServerConfig::default(), things);
    let spawn = |a| room.server.spawn(Thing { name: "x".repeat(400), ..thing(a) });
    let all = (0..things_count).map(spawn).collect();
    room.enter();
    (room, all)
}

/// Returns the client's hello of 43 bytes without its padding of zeros, as an attacker would send it.
fn short_hello(room: &mut Room) -> Vec<u8> {
    let hello = room.replies(0).swap_remove(0);
    let end = hello.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let short = crate::forge::reseal(&hello, 0, |content| content.truncate(end.max(39) - 4));
    assert!(short.len() < 50, "{} bytes", short.len());
    short
}

/// Returns the number of the session that a hello begins.
fn session(hello: &[u8]) -> u64 {
    let mut bits = BitReader::new(&hello[4..]);
    bits.skip_bits(4).and_then(|()| bits.read_bits(64)).expect("a hello is longer")
}

/// Returns how many bytes the server sends to its only connection in this time, while all objects change from
/// time to time.
fn sent_in(room: &mut Room, all: &[ObjectRef<Thing>], time: Duration) -> usize {
    let end = room.now + time;
    let mut bytes = 0;
    while room.now < end {
        for (at, &object) in all.iter().enumerate().step_by(7) {
            room.server[object].b = at as u32 ^ room.now.as_millis() as u32;
        }
        bytes += size(&room.tick_one());
    }
    bytes
}

#[test]
fn r26_a_hello_that_nobody_follows_is_answered_with_three_times_its_bytes_at_most() {
    let (mut room, all) = full_room(2_000);
    let hello = short_hello(&mut room);
    let mut bytes = 0;
    for copies in 1..=5 {
        room.hear(0, std::slice::from_ref(&hello));
        bytes += sent_in(&mut room, &all, Duration::from_secs(2));
        assert!(bytes <= 3 * copies * hello.len(), "{bytes} bytes for {copies} hellos of {}", hello.len());
    }
    let id = room.guests[0].id;
    assert_eq!(room.server.connection_info(id).stats().map(|stats| stats.round_trip), Some(Duration::ZERO));
}

#[test]
fn r26_a_padded_hello_brings_a_welcome_and_state_comes_with_the_proof_of_the_address() {
    let (mut room, _) = full_room(2_000);
    let hello = room.replies(0);
    assert_eq!(size(&hello), 1_200);
    room.hear(0, &hello);
    let welcome = room.tick_one();
    assert_eq!(welcome.len(), 1, "a welcome and no state");
    room.deliver(0, &welcome);
    let proof = room.replies(0);
    room.hear(0, &proof);
    assert!(size(&room.tick_one()) > 4_000, "as much as in the first flight of any connection");
}

#[test]
fn r26_acks_that_do_not_know_the_token_bring_nothing_more() {
    let (mut room, all) = full_room(2_000);
    let hello = room.replies(0);
    room.hear(0, &hello);
    let mut bytes = sent_in(&mut room, &all, TICK);
    let session = session(&hello[0]);
    // The attacker receives nothing. But he knows the number of the session, because he chose it, and the
    // numbers of the packets, because they count from zero.
    for sequence in 0..200_u16 {
        let mut writer = BitWriter::new();
        writer.write_flag(false);
        writer.write_bits(sequence.into(), 16);
        writer.write_bits(0, 2);
        writer.write_flag(true);
        writer.write_bits(1, 16);
        writer.write_exp_golomb(1, 2);
        writer.write_bits(0, 2);
        let ack = seal(&writer.into_bytes(), session);
        room.hear(0, &[ack]);
        bytes += sent_in(&mut room, &all, TICK);
    }
    assert!(bytes <= 3_600, "{bytes} bytes");
}

#[test]
fn r26_control_packets_which_need_no_token_bring_three_times_their_bytes_at_most() {
    let (mut room, all) = full_room(2_000);
    let hello = room.replies(0);
    room.hear(0, &hello);
    let mut writer = BitWriter::new();
    writer.write_flag(true);
    // This is a packet that a client never sends. The server accepts it and does nothing.
    writer.write_bits(7, 3);
    let control = seal(&writer.into_bytes(), session(&hello[0]));
    let mut heard = size(&hello);
    let mut bytes = sent_in(&mut room, &all, TICK);
    for _ in 0..20 {
        room.hear(0, std::slice::from_ref(&control));
        heard += control.len();
        bytes += sent_in(&mut room, &all, TICK);
        assert!(bytes <= 3 * heard, "{bytes} bytes for {heard}");
    }
    assert_eq!(room.closed(0), None, "the server takes them");
}

#[test]
fn r26_a_client_that_echoes_the_token_receives_everything() {
    let (mut room, all) = full_room(200);
    room.settle();
    for (a, &object) in (0..).zip(&all) {
        assert_eq!(room.client().get(object).map(|thing| thing.a), Some(a));
    }
}

#[test]
fn r26_answers_wait_until_the_address_has_paid_for_them() {
    let (mut room, _) = full_room(1);
    let hello = short_hello(&mut room);
    let id = room.guests[0].id;
    let mut answers = Packets::new();
    for _ in 0..1_000 {
        room.hear(0, std::slice::from_ref(&hello));
    }
    answers.extend(collect(&mut room.server, id));
    assert!(size(&answers) <= 3_000 * hello.len());
}

#[test]
fn a_transport_that_has_validated_the_address_gets_everything_at_once() {
    let config = ServerConfig { validate_addresses: false, ..ServerConfig::default() };
    let mut room = Room::new(config, things);
    for a in 0..100 {
        room.server.spawn(Thing { name: "x".repeat(400), ..thing(a) });
    }
    room.enter();
    let hello = room.replies(0);
    room.hear(0, &hello);
    assert!(size(&room.tick_one()) > 4_000);
}

#[test]
fn r26_a_token_of_one_secret_proves_nothing_to_a_server_with_another() {
    let enter = |secret| {
        let mut room = Room::new(ServerConfig { secret, ..ServerConfig::default() }, things);
        room.server.spawn(thing(1));
        room.enter();
        let hello = room.replies(0);
        room.hear(0, &hello);
        room
    };
    let mut welcomed = enter(1);
    let welcome = welcomed.tick_one();
    welcomed.deliver(0, &welcome);
    let proof = welcomed.replies(0);
    for (secret, is_proved) in [(1, true), (2, false), (0, false)] {
        let mut room = enter(secret);
        room.hear(0, &proof);
        let event = room.server.poll_event();
        assert_eq!(event.is_some(), is_proved, "secret {secret}: {event:?}");
    }
}
