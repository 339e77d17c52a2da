//! Packets of strangers: anybody can write any bytes and any address on a packet (R25, R26).
//!
//! *Invariant:* the strangers know the protocol and the addresses of the clients, and see no packets of
//! clients or of the server.

use std::collections::HashMap;
use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, PeerId};
use repl::{BitWriter, Endpoint, EndpointConfig};

use super::world::{Ship, World, hello};
use crate::forge::{Numbers, seal, state};

/// Returns a server and an endpoint without clients.
fn alone() -> (Server, Endpoint<u64>) {
    let mut server = Server::new(ServerConfig::default());
    server.spawn(Ship { hull: 1 });
    (server, Endpoint::new(EndpointConfig::default(), 5))
}

#[test]
fn r26_ten_thousand_hellos_with_false_addresses_are_answered_with_less_and_keep_nothing() {
    let (mut server, mut endpoint) = alone();
    let hello = hello(7);
    let (mut received, mut sent) = (0, 0);
    for address in 0..10_000 {
        let now = Duration::from_millis(address / 10);
        endpoint.receive(&mut server, now, address, &hello);
        received += hello.len();
        while let Some((to, packet)) = endpoint.poll_transmit(&mut server) {
            assert_eq!(to, address, "one answer, for this address");
            sent += packet.len();
            assert!(sent <= received, "{sent} bytes for {received}");
        }
        server.tick(now);
    }
    assert_eq!(sent, 10_000 * 13, "each answer has 13 bytes");
    assert_eq!((server.connections().count(), server.poll_event()), (0, None));
    let debug = format!("{endpoint:?}");
    assert!(debug.len() < 700, "nothing is stored: {debug}");
}

#[test]
fn r26_answers_that_nobody_polls_do_not_pile_up() {
    let (mut server, mut endpoint) = alone();
    let hello = hello(7);
    (0..10_000).for_each(|address| endpoint.receive(&mut server, Duration::ZERO, address, &hello));
    let mut answers = 0;
    while endpoint.poll_transmit(&mut server).is_some() {
        answers += 1;
    }
    assert_eq!(answers, 1_024);
}

#[test]
fn r26_a_hello_shorter_than_an_honest_one_is_answered_with_fewer_bytes_or_not_at_all() {
    let (mut server, mut endpoint) = alone();
    let full = hello(7);
    let content = &full[4..];
    for length in 0..content.len() {
        let packet = seal(&content[..length], 0);
        endpoint.receive(&mut server, Duration::ZERO, 9, &packet);
        if let Some((_, answer)) = endpoint.poll_transmit(&mut server) {
            assert!(answer.len() < packet.len());
        }
    }
    assert_eq!(server.connections().count(), 0);
}

/// Returns a packet of any kind that a stranger can make. Its session is not the session of a client.
fn forged(numbers: &mut Numbers, recorded: &[Vec<u8>]) -> Vec<u8> {
    let session = numbers.next();
    let mut writer = BitWriter::new();
    let noise = |writer: &mut BitWriter, numbers: &mut Numbers| {
        (0..numbers.below(20)).for_each(|_| writer.write_bits(numbers.next() >> 40, 24));
    };
    match numbers.below(5) {
        // A control packet.
        0 => {
            writer.write_flag(true);
            writer.write_bits(numbers.next() >> 61, 3);
            noise(&mut writer, numbers);
            seal(&writer.into_bytes(), session)
        }
        // A hello that is valid, except for its cookie and its token.
        1 => {
            writer.write_flag(true);
            writer.write_bits(0, 3);
            [session, 0x1111].into_iter().for_each(|number| writer.write_bits(number, 64));
            [(1_200, 16), (65_536, 32), (262_144, 32), (10_000, 32)]
                .into_iter()
                .for_each(|(limit, bits)| writer.write_bits(limit, bits));
            writer.write_flag(true);
            (0..2).for_each(|_| writer.write_bits(numbers.next(), 64));
            let login = numbers.below(40) as u64;
            writer.write_bits(login, 10);
            (0..login).for_each(|_| writer.write_bits(numbers.next() >> 56, 8));
            seal(&writer.into_bytes(), 0)
        }
        // A packet of state.
        2 => state(numbers.next() as u16, session, |writer| {
            (0..4).for_each(|_| writer.write_bits(numbers.next() >> 40, 24));
        }),
        // A recorded packet of another session, unchanged.
        3 => recorded[numbers.below(recorded.len())].clone(),
        // Any bytes.
        _ => (0..numbers.below(1_400)).map(|_| numbers.next() as u8).collect(),
    }
}

/// Returns the packets of a client of another server, in both directions.
fn recorded() -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    let mut server = Server::new(ServerConfig::default());
    server.spawn(Ship { hull: 1 });
    let mut endpoint = Endpoint::<u8>::new(EndpointConfig::default(), 99);
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(4_711));
    client.register::<Ship>();
    for tick in 0..50 {
        let now = Duration::from_millis(16 * tick);
        client.tick(now);
        while let Some(packet) = client.poll_transmit() {
            packets.push(packet.to_vec());
            endpoint.receive(&mut server, now, 1, packet);
        }
        server.tick(now);
        while let Some((_, packet)) = endpoint.poll_transmit(&mut server) {
            packets.push(packet.to_vec());
            client.receive(now, packet).ok();
        }
        if tick == 45 {
            client.disconnect_with("good night");
        }
    }
    packets
}

#[test]
fn r25_a_hundred_thousand_forged_and_replayed_packets_have_no_effect() {
    let mut world = World::new(3, LinkConditions::perfect());
    for guest in 0..4 {
        world.enter(guest + 1, 1 << 40 | u64::from(guest));
    }
    world.run_until(|world| (0..4).all(|guest| world.sees(guest)));
    let (connections, events) = (world.connected(), world.events.clone());
    let addresses: Vec<_> = connections.iter().map(|&id| world.endpoint.address(id)).collect();
    let (mut numbers, recorded) = (Numbers(11), recorded());
    let mut bytes: HashMap<PeerId, (usize, usize)> = HashMap::new();
    for _ in 0..1_000 {
        for _ in 0..100 {
            let packet = forged(&mut numbers, &recorded);
            // Half of these addresses belong to clients.
            let from = PeerId(numbers.below(8) as u32 + 1);
            world.endpoint.receive(&mut world.server, world.now, from, &packet);
            bytes.entry(from).or_default().0 += packet.len();
            while let Some((to, answer)) = world.endpoint.poll_transmit(&mut world.server) {
                let (received, sent) = bytes.entry(to).or_default();
                *sent += answer.len();
                assert!(sent <= received, "{sent} bytes for {received}");
            }
        }
        world.step();
    }
    assert!((0..4).all(|guest| world.is_current(guest)));
    assert_eq!(world.events, events, "nothing has begun or ended");
    assert_eq!(world.server.connections().collect::<Vec<_>>(), connections);
    assert_eq!(connections.iter().map(|&id| world.endpoint.address(id)).collect::<Vec<_>>(), addresses);
    for guest in &world.guests {
        assert_eq!(guest.end, None);
    }
}

#[test]
fn r25_packets_of_an_ended_session_have_no_effect_when_they_are_replayed() {
    let mut world = World::new(3, LinkConditions::perfect());
    world.enter(1, 50);
    let mut replayed = Vec::new();
    world.guests[0].client.tick(world.now);
    while let Some(packet) = world.guests[0].client.poll_transmit() {
        replayed.push(packet.to_vec());
        world.endpoint.receive(&mut world.server, world.now, PeerId(1), packet);
    }
    world.run(Duration::from_secs(1));
    world.guests[0].client.disconnect();
    while let Some(packet) = world.guests[0].client.poll_transmit() {
        replayed.push(packet.to_vec());
        world.endpoint.receive(&mut world.server, world.now, PeerId(1), packet);
    }
    world.run(Duration::from_secs(1));
    world.guests[0].address = PeerId(99);
    world.enter(1, 51);
    world.run_until(|world| world.sees(1));
    let events = world.events.len();
    for _ in 0..100 {
        for packet in &replayed {
            world.endpoint.receive(&mut world.server, world.now, PeerId(1), packet);
            world.endpoint.receive(&mut world.server, world.now, PeerId(2), packet);
        }
        while world.endpoint.poll_transmit(&mut world.server).is_some() {}
        world.step();
    }
    assert!(world.is_current(1));
    assert_eq!((world.events.len(), world.server.connections().count()), (events, 1));
}
