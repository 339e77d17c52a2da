//! R26, R25: how much a server sends and stores for a hello before its client has proved its address. Anyone
//! can send such a hello.
//!
//! *Invariant:* bytes are counted by an allocator, and only while the server works.

use std::time::Duration;

use repl::prelude::*;
use repl::{Endpoint, EndpointConfig, SpawnError};

const TICK: Duration = Duration::from_millis(16);
/// The most bytes that a server may keep for the hello of a client that has not proved its address.
const HELLO_KEEPS_BYTES: isize = 1_024;

#[derive(Replicated, Default)]
struct Lamp {
    #[replicated]
    oil: u64,
    #[replicated(condition = InitialOnly)]
    colour: u32,
}

fn client(session: u64, max_objects: usize) -> Client {
    let mut client =
        Client::new(ClientConfig { max_objects, ..ClientConfig::default() }, Session::for_tests(session));
    client.register::<Lamp>();
    client
}

/// Returns the first packet of a client.
fn hello(session: u64, max_objects: usize) -> Vec<u8> {
    let mut client = client(session, max_objects);
    client.tick(Duration::ZERO);
    client.poll_transmit().expect("a hello").to_vec()
}

#[test]
fn r26_a_hello_that_proves_nothing_keeps_a_kilobyte_at_most_and_is_sent_no_state() {
    for objects in [1_000, 20_000] {
        let mut server = Server::new(ServerConfig::default());
        let lamps: Vec<_> = (0..objects).map(|_| server.spawn(Lamp { oil: 1, colour: 2 })).collect();
        (0..3).for_each(|tick| server.tick(TICK * tick));
        let hello = hello(1, ServerConfig::default().max_objects);
        let ids: Vec<_> = (0..200).map(|_| server.connect(TICK * 3)).collect();
        let mut sent = vec![0; ids.len()];
        // The server's own memory for changes must be allocated before the measurement.
        let change = |server: &mut Server, tick: usize| {
            (0..20).for_each(|at| server[lamps[(tick * 7 + at * 13) % objects]].oil += 1);
        };
        for tick in 3..103 {
            change(&mut server, tick);
            server.tick(TICK * tick as u32);
        }
        let before = crate::allocator::held();
        ids.iter().for_each(|&id| server.receive(id, TICK * 103, &hello));
        for tick in 103..303 {
            change(&mut server, tick);
            server.tick(TICK * tick as u32);
            for (&id, sent) in ids.iter().zip(&mut sent) {
                while let Some(packet) = server.poll_transmit(id) {
                    *sent += packet.len();
                    assert_eq!(packet[4] & 1, 1, "a control packet");
                }
                let memory_bytes = server.connection_info(id).stats().map_or(0, |stats| stats.memory_bytes);
                assert!(memory_bytes as isize <= HELLO_KEEPS_BYTES, "{memory_bytes} bytes");
            }
            let each = (crate::allocator::held() - before) / ids.len() as isize;
            assert!(each <= HELLO_KEEPS_BYTES, "{each} bytes for a hello in a world of {objects}");
        }
        assert!(sent.iter().all(|&sent| 0 < sent && sent <= 3 * hello.len()), "{sent:?}");
        assert!(server.poll_event().is_none(), "nobody has connected");
    }
}

#[test]
fn r26_hellos_without_a_cookie_keep_not_one_byte_with_an_endpoint() {
    let mut server = Server::new(ServerConfig::default());
    (0..1_000).for_each(|_| _ = server.spawn(Lamp { oil: 1, colour: 2 }));
    let mut endpoint = Endpoint::new(EndpointConfig::default(), 5);
    let hello = hello(1, ServerConfig::default().max_objects);
    let mut before = 0;
    for address in 0..10_001_u32 {
        endpoint.receive(&mut server, TICK, address, &hello);
        while endpoint.poll_transmit(&mut server).is_some() {}
        if address == 0 {
            // The memory for the answer was allocated, and is used again.
            before = crate::allocator::held();
        }
    }
    assert_eq!(crate::allocator::held(), before);
}

#[test]
fn r26_hellos_that_prove_nothing_hold_no_slots() {
    let mut server = Server::new(ServerConfig { max_objects: 100, ..ServerConfig::default() });
    let mut lamps: Vec<_> = (0..30).map(|_| server.spawn(Lamp::default())).collect();
    for tick in 0..2_000_u32 {
        let now = TICK * tick;
        if tick % 60 == 0 {
            let id = server.connect(now);
            server.receive(id, now, &hello(tick.into(), 100));
        }
        if tick % 125 == 0 {
            lamps.drain(..).for_each(|lamp| server.despawn(lamp));
            let spawned: Result<Vec<_>, SpawnError> =
                (0..30).map(|_| server.try_spawn(Lamp::default())).collect();
            lamps = spawned.expect("slots of what is gone are free");
        }
        server.tick(now);
        while server.poll_any_transmit().is_some() {}
    }
}

#[test]
fn r25_a_hello_of_an_old_session_that_comes_first_does_not_keep_a_client_out() {
    for tick_of_old in [0, 1, 2] {
        let mut server = Server::new(ServerConfig::default());
        let lamp = server.spawn(Lamp { oil: 5, colour: 6 });
        let id = server.connect(Duration::ZERO);
        let old = hello(1, ServerConfig::default().max_objects);
        let mut client = client(2, ServerConfig::default().max_objects);
        for tick in 0..60 {
            let now = TICK * tick;
            if tick == tick_of_old {
                server.receive(id, now, &old);
            }
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                server.receive(id, now, packet);
            }
            server.tick(now);
            while let Some(packet) = server.poll_transmit(id) {
                client.receive(now, packet).ok();
            }
        }
        assert_eq!(client.get(lamp).map(|lamp| lamp.oil), Some(5));
        assert!(client.is_connected(), "the old hello came in tick {tick_of_old}");
    }
}

/// Gives the server what a client sends, and returns the packets.
fn speak(client: &mut Client, server: &mut Server, id: ConnectionId, now: Duration) -> Vec<Vec<u8>> {
    client.tick(now);
    let packets: Vec<_> = std::iter::from_fn(|| client.poll_transmit().map(<[u8]>::to_vec)).collect();
    packets.iter().for_each(|packet| server.receive(id, now, packet));
    packets
}

#[test]
fn r25_a_replaced_client_that_proves_its_address_too_late_does_not_take_the_connection_over() {
    let max_objects = ServerConfig::default().max_objects;
    let mut server = Server::new(ServerConfig::default());
    let lamp = server.spawn(Lamp { oil: 0, colour: 6 });
    let id = server.connect(Duration::ZERO);
    let (mut replaced, mut second) = (client(1, max_objects), client(2, max_objects));
    speak(&mut replaced, &mut server, id, Duration::ZERO);
    let welcome = server.poll_transmit(id).expect("a welcome").to_vec();
    replaced.receive(Duration::ZERO, &welcome).expect("a packet of the server");
    replaced.tick(Duration::ZERO);
    let late = replaced.poll_transmit().expect("a proof of the address").to_vec();
    for tick in 1..60 {
        let now = TICK * tick;
        speak(&mut second, &mut server, id, now);
        if tick == 30 {
            server.receive(id, now, &late);
        }
        server[lamp].oil = tick.into();
        server.tick(now);
        while let Some(packet) = server.poll_transmit(id) {
            second.receive(now, packet).expect("a packet of the second client's session");
        }
    }
    assert_eq!(second.get(lamp).map(|lamp| lamp.oil), Some(59));
    assert_eq!(server.poll_event(), Some(ServerEvent::Connected(id)));
    assert_eq!(server.poll_event(), None, "connected once");
}
