//! False claims in the handshake: the limits in a client's hello, and the answers of a server.
//!
//! *Invariant:* each packet is valid except for the one claim that the test is about.

use std::time::Duration;

use repl::prelude::*;
use repl::{BitWriter, DisconnectReason, ReceiveError};

use super::allocator::measure;
use super::forge::seal;
use super::recording::SESSION;
use super::support::collect;
use super::{Actor, Pebble, budget};

/// Returns a packet of the handshake with the type `kind`. `write` writes everything after the type.
pub(crate) fn control(kind: u64, write: impl FnOnce(&mut BitWriter)) -> Vec<u8> {
    let mut writer = BitWriter::new();
    writer.write_flag(true);
    writer.write_bits(kind, 3);
    write(&mut writer);
    seal(&writer.into_bytes(), SESSION)
}

/// Returns a welcome with this timeout in milliseconds and this token, of the server with the number 0, which
/// receives packets of 1,200 bytes, and with an empty answer to the login.
pub(crate) fn welcome(timeout_ms: u64, token: u64) -> Vec<u8> {
    welcome_with(timeout_ms, token, 1_200)
}

/// Returns the same welcome of a server that receives packets of at most `packet_bytes` bytes.
fn welcome_with(timeout_ms: u64, token: u64, packet_bytes: u64) -> Vec<u8> {
    control(1, |writer| {
        writer.write_bits(timeout_ms, 32);
        writer.write_bits(token, 64);
        writer.write_bits(0, 64);
        writer.write_bits(packet_bytes, 16);
        writer.write_bits(0, 10);
    })
}

/// Returns the hello of a client with these limits: bytes of a packet, objects, bytes of an object, and
/// timeout in milliseconds.
fn hello(limits: [u64; 4]) -> Vec<u8> {
    control(0, |writer| {
        writer.write_bits(SESSION, 64);
        // A checksum of classes that no server has.
        writer.write_bits(77, 64);
        limits.into_iter().zip([16, 32, 32, 32]).for_each(|(limit, bits)| writer.write_bits(limit, bits));
    })
}

/// Hands a server the first packet of its only client. Returns the reason why the connection closed, and the
/// answer.
fn verdict(packet: &[u8]) -> (Option<DisconnectReason>, Vec<Vec<u8>>) {
    let mut server = Server::new(ServerConfig::default());
    server.spawn(Pebble { weight: 1 });
    let id = server.connect(Duration::ZERO);
    let ((), most) = measure(|| server.receive(id, Duration::ZERO, packet));
    assert!(most <= budget(packet.len()), "{most} bytes for a packet of {}", packet.len());
    server.tick(Duration::ZERO);
    let reason = std::iter::from_fn(|| server.poll_event()).find_map(|event| match event {
        ServerEvent::Disconnected(_, reason) => Some(reason),
        _ => None,
    });
    (reason, collect(&mut server, id))
}

const ENOUGH: [u64; 4] = [1_200, 65_536, 262_144, 10_000];
const MOST: u64 = u32::MAX as u64;

#[test]
fn r21_a_hello_is_answered_within_its_own_length() {
    for limits in [ENOUGH, [65_507, MOST, MOST, MOST], [1_200, 65_536, 262_144, 1]] {
        let (reason, answer) = verdict(&hello(limits));
        assert_eq!((reason, answer.len()), (None, 1), "asked for its classes, and nothing else");
        assert!(answer[0].len() < hello(limits).len());
    }
    for limits in [[128, MOST, MOST, MOST], [1_200, 0, MOST, 1], [1_200, MOST, 0, MOST]] {
        let (reason, answer) = verdict(&hello(limits));
        assert!(matches!(reason, Some(DisconnectReason::Limits(_))), "{reason:?}");
        assert!(answer.len() == 1 && answer[0].len() < hello(limits).len());
    }
}

#[test]
fn r20_a_hello_with_limits_that_no_client_has_is_malformed() {
    let sizes = [0, 1, 127, 65_508, 65_535].map(|packet_bytes| [packet_bytes, MOST, MOST, 1]);
    for limits in sizes.into_iter().chain([[1_200, MOST, MOST, 0]]) {
        let (reason, _) = verdict(&hello(limits));
        assert!(matches!(reason, Some(DisconnectReason::Protocol(_))), "{reason:?} for {limits:?}");
    }
}

#[test]
fn r21_answers_about_classes_without_a_hello_accept_no_client() {
    let classes = control(3, |writer| {
        writer.write_exp_golomb(0, 0);
        writer.write_exp_golomb(1, 0);
        writer.write_flag(false);
    });
    assert_eq!(verdict(&classes), (None, Vec::new()));
}

#[test]
fn r20_a_welcome_without_time_is_malformed() {
    for timeout_ms in [0, 1, MOST] {
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(SESSION));
        super::register(&mut client);
        client.tick(Duration::ZERO);
        let result = client.receive(Duration::ZERO, &welcome(timeout_ms, 5));
        assert_eq!((result.is_ok(), client.is_connected()), (timeout_ms > 0, timeout_ms > 0), "{result:?}");
    }
}

#[test]
fn r20_a_welcome_with_a_size_of_packets_that_no_server_has_is_malformed() {
    for packet_bytes in [0, 1, 127, 128, 508, 1_200, 65_507, 65_508, 65_535] {
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(SESSION));
        super::register(&mut client);
        client.tick(Duration::ZERO);
        let welcome = welcome_with(10_000, 5, packet_bytes);
        let (result, most) = measure(|| client.receive(Duration::ZERO, &welcome));
        assert!(most <= budget(welcome.len()), "{most} bytes of memory");
        let is_one = (128..=65_507).contains(&packet_bytes);
        assert_eq!((result.is_ok(), client.is_connected()), (is_one, is_one), "{packet_bytes}: {result:?}");
        client.tick(Duration::from_millis(200));
        let sizes: Vec<usize> =
            std::iter::from_fn(|| client.poll_transmit().map(<[u8]>::len)).skip(1).collect();
        assert!(sizes.iter().all(|size| *size <= 1_200.min(packet_bytes.max(128) as usize)), "{sizes:?}");
    }
}

#[test]
fn r25_hellos_with_other_sizes_of_packets_change_nothing_once_the_session_has_begun() {
    let mut server = Server::new(ServerConfig::default());
    server.register::<Actor>().register::<Pebble>();
    let id = server.connect(Duration::ZERO);
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(SESSION));
    super::register(&mut client);
    let mut now = Duration::ZERO;
    let mut step = |hello: Option<Vec<u8>>| {
        client.tick(now);
        while let Some(packet) = client.poll_transmit() {
            server.receive(id, now, packet);
        }
        hello.iter().for_each(|hello| server.receive(id, now, hello));
        server.tick(now);
        for packet in collect(&mut server, id) {
            assert!(packet.len() <= 1_200);
            _ = client.receive(now, &packet);
        }
        now += Duration::from_millis(16);
        client.is_connected()
    };
    (0..40).for_each(|_| _ = step(None));
    for packet_bytes in [600_u64, 65_507, 0, 508, 65_535, 1_200, 1, 900].into_iter().cycle().take(400) {
        // Anyone who knows the session can send such hellos.
        assert!(step(Some(hello([packet_bytes, MOST, MOST, 10_000]))), "{packet_bytes}");
    }
    let stats = server.connection_info(id).stats().expect("a connection");
    assert_eq!(stats.packet_bytes, 1_200);
}

#[test]
fn r20_a_refusal_for_a_limit_that_is_none_is_malformed() {
    let refusal = |limit: u64, client: u64, server: u64| {
        control(6, |writer| {
            writer.write_bits(limit, 2);
            writer.write_bits(client, 32);
            writer.write_bits(server, 32);
        })
    };
    for (packet, is_one) in [
        (refusal(0, 1, 2), true),
        (refusal(2, 0, MOST), true),
        (refusal(3, 1, 2), false),
        (refusal(1, 2, 2), false),
        (refusal(1, MOST, 0), false),
    ] {
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(SESSION));
        super::register(&mut client);
        client.tick(Duration::ZERO);
        let result = client.receive(Duration::ZERO, &packet);
        let Some(ClientEvent::Disconnected(reason)) = client.poll_event() else { panic!("still there") };
        if is_one {
            assert!(result.is_ok() && matches!(reason, DisconnectReason::Limits(_)), "{reason:?}");
        } else {
            assert!(matches!(result, Err(ReceiveError::Malformed(_))), "{result:?}");
        }
    }
}
