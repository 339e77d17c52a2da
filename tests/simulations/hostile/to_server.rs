//! A dishonest client: recorded, changed and random packets for a server with a few objects.
//!
//! *Invariant:* no client changes the server's objects.

use std::time::Duration;

use repl::prelude::*;
use repl::{BitReader, BitWriter};

use super::allocator::measure;
use super::forge::{self, Numbers};
use super::recording::SESSION;
use super::support::{Packets, collect};
use super::{Actor, Pebble, budget};

/// Returns a server that received `before` from its only client, with a tick after each packet, and the
/// packets that it sent in the last tick.
fn server_after(before: &[Vec<u8>]) -> (Server, ConnectionId, ObjectRef<Actor>, Packets) {
    let mut server = Server::new(ServerConfig::default());
    let actor = server.spawn(Actor { score: 5, name: "Ada".into(), ..Actor::default() });
    server.spawn(Pebble { weight: 1 });
    let id = server.connect(Duration::ZERO);
    let mut last = Packets::new();
    for packet in before {
        server.receive(id, Duration::ZERO, packet);
        server[actor].score += 1;
        server.tick(Duration::ZERO);
        last = collect(&mut server, id);
    }
    (server, id, actor, last)
}

/// Returns the token in the welcome. Packets with state from the client must match the token, as well as the
/// session.
fn token() -> u64 {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(SESSION));
    super::register(&mut client);
    client.tick(Duration::ZERO);
    let hello = client.poll_transmit().expect("a hello").to_vec();
    let (.., answer) = server_after(&[hello]);
    forge::token(&answer[0])
}

/// Puts the correct checksum before the content of a client that received this token.
fn seal(content: &[u8], token: u64) -> Vec<u8> {
    let is_control = content.first().is_some_and(|first| first & 1 == 1);
    forge::seal(content, if is_control { SESSION } else { SESSION ^ token })
}

/// Returns the packets of a client to such a server. The client receives the server's packets in two ticks of
/// three.
fn recorded(packets: usize) -> Packets {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(SESSION));
    super::register(&mut client);
    let mut said = Packets::new();
    for tick in 0.. {
        client.tick(Duration::from_millis(100 * tick));
        while let Some(packet) = client.poll_transmit() {
            said.push(packet.to_vec());
        }
        if said.len() >= packets {
            break;
        }
        if tick % 3 < 2 {
            for packet in server_after(&said).3 {
                client.receive(Duration::ZERO, &packet).expect("a packet of the server");
            }
        }
    }
    said
}

/// Hands the packet to a server that received `before`. Returns whether the connection still exists.
fn try_on(before: &[Vec<u8>], packet: &[u8]) -> bool {
    let (mut server, id, actor, _) = server_after(before);
    let expected = server[actor].clone();
    let ((), most) = measure(|| server.receive(id, Duration::ZERO, packet));
    // When the server welcomes a client, it also allocates memory for the objects that exist.
    let allowed = budget(packet.len()) + 2 * 512;
    assert!(most <= allowed, "{most} bytes for a packet of {}: {packet:?}", packet.len());
    let stands = server.connections().count() == 1;
    server.tick(Duration::from_millis(16));
    collect(&mut server, id);
    assert_eq!(server[actor], expected);
    assert_eq!((server.objects::<Actor>().count(), server.objects::<Pebble>().count()), (1, 1));
    stands
}

#[test]
fn changed_packets_of_a_client_are_refused_or_taken() {
    let mut numbers = Numbers(5);
    let (mut tried, mut stood) = (0, 0);
    let packets = recorded(30);
    let token = token();
    let reseal = |packet: &[u8], change: &mut dyn FnMut(&mut Vec<u8>)| {
        let mut content = packet[4..].to_vec();
        change(&mut content);
        seal(&content, token)
    };
    for at in 0..packets.len() {
        let (before, packet) = (&packets[..at], &packets[at]);
        assert!(try_on(before, packet), "as it was recorded");
        let mut try_form = |form: Vec<u8>| {
            tried += 1;
            stood += usize::from(try_on(before, &form));
        };
        (0..packet.len()).for_each(|len| try_form(reseal(packet, &mut |content| content.truncate(len))));
        for bit in 0..(packet.len() - 4) * 8 {
            try_form(reseal(packet, &mut |content| content[bit / 8] ^= 1 << (bit % 8)));
        }
        for _ in 0..200 {
            try_form(reseal(packet, &mut |content| {
                for _ in 0..=numbers.below(4) {
                    let at = numbers.below(content.len() + 1);
                    content.insert(at, numbers.next() as u8);
                }
            }));
        }
    }
    assert!(tried > 8_000 && stood > 0 && stood < tried, "{stood} of {tried} left the connection standing");
}

#[test]
fn random_packets_for_a_server_are_refused_or_taken() {
    let (packets, token) = (recorded(8), token());
    let mut numbers = Numbers(6);
    for round in 0..20_000 {
        let mut content: Vec<u8> = (0..numbers.below(200)).map(|_| numbers.next() as u8).collect();
        // The lowest bit of the first byte is the kind of the packet.
        if let Some(first) = content.first_mut() {
            *first = *first & !1 | (round % 2) as u8;
        }
        try_on(&packets[..round % packets.len()], &seal(&content, token));
    }
}

#[test]
fn a_client_that_hears_nothing_and_lies_about_it_costs_no_more() {
    let (mut server, id, actor, _) = server_after(&recorded(3));
    let mut numbers = Numbers(7);
    for _ in 0..2_000 {
        server[actor].score += 1;
        server.tick(Duration::ZERO);
        collect(&mut server, id);
        let content: Vec<u8> = (0..20).map(|_| numbers.next() as u8).collect();
        let damaged = [&numbers.next().to_le_bytes()[..], &content[..]].concat();
        let ((), most) = measure(|| server.receive(id, Duration::ZERO, &damaged));
        assert_eq!(most, 0, "damaged bytes cost nothing");
    }
    assert_eq!(server.connections().count(), 1);
    assert!(server.connection_info(id).stats().unwrap().packets_in_flight <= 1_024);
}

/// Returns a packet of a client that acks `last` and `more` packets before it, and contains nothing else.
fn ack_of(sequence: u16, last: u16, more: u64, token: u64) -> Vec<u8> {
    let mut writer = BitWriter::new();
    writer.write_flag(false);
    writer.write_bits(sequence.into(), 16);
    // The header says: this is the first packet of its tick, it does not tell its oldest packet without an
    // ack (the floor), and there is exactly one range of acks.
    writer.write_bits(0, 2);
    writer.write_flag(true);
    writer.write_bits(last.into(), 16);
    writer.write_exp_golomb(more, 2);
    writer.write_flag(false);
    // The packet has no state.
    writer.write_flag(false);
    seal(&writer.into_bytes(), token)
}

/// Returns the number of a packet with state.
fn number(packet: &[u8]) -> u16 {
    let mut reader = BitReader::new(&packet[4..]);
    assert!(!reader.read_flag().unwrap(), "a packet of state");
    reader.read_bits(16).unwrap() as u16
}

#[test]
fn an_ack_of_a_packet_that_was_not_sent_acknowledges_nothing() {
    // Prepares a server with three packets in flight and an object that it is about to close. Also returns
    // the newest packet and the packets that the client has sent.
    let prepared = || {
        let (mut server, id, actor, last) = server_after(&recorded(3));
        let mut newest = number(last.last().expect("the server sends state"));
        for _ in 0..3 {
            server[actor].score += 1;
            server.tick(Duration::ZERO);
            newest = number(collect(&mut server, id).last().expect("a packet for each change"));
        }
        let pebble = server.objects::<Pebble>().next().expect("a pebble").0;
        server.despawn(pebble);
        (server, id, newest)
    };
    let (of_client, token) = (1_000, token());
    let in_flight =
        |server: &Server, id| server.connection_info(id).stats().map(|stats| stats.packets_in_flight);
    let (mut server, id, newest) = prepared();
    let before = in_flight(&server, id).expect("a connection");
    assert!(before >= 3);
    server.receive(id, Duration::ZERO, &ack_of(of_client, newest, 0, token));
    assert_eq!(in_flight(&server, id), Some(before - 1), "what was sent can be acknowledged");
    for ahead in [1, 2, 500, 1_024, 30_000, 32_767, 40_000, 65_000] {
        for more in [0, 3, 1_023, 1_024, u64::from(u32::MAX)] {
            let (mut server, id, newest) = prepared();
            while server.poll_event().is_some() {}
            let lie = ack_of(of_client, newest.wrapping_add(ahead), more, token);
            let ((), most) = measure(|| server.receive(id, Duration::ZERO, &lie));
            assert!(most <= budget(lie.len()), "{most} bytes for a lie");
            // The client is not honest, so the connection ends. None of the packets in flight counts as
            // received.
            assert!(in_flight(&server, id).is_none_or(|packets| packets == before), "{ahead} ahead");
            let told = std::iter::from_fn(|| server.poll_event()).collect::<Vec<_>>();
            assert!(
                matches!(&told[..], [ServerEvent::Disconnected(gone, DisconnectReason::Protocol(_))] if *gone == id),
                "{ahead} ahead: {told:?}"
            );
            server.tick(Duration::from_millis(16));
        }
    }
}
