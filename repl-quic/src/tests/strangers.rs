//! Tests with strangers (peers without a session): they do little harm.

use repl_link::plain::SessionEvent;
use repl_sim::{LinkConditions, PeerId, Rng};

use super::engines::{SILENCE, client_config, engine};
use super::lan::{FRAME, Lan, SECOND, SERVER, address, lock};
use crate::QuicConfig;
use crate::native::settings::PROTOCOL;

/// Returns a network on which a client and the server have exchanged a message in each of `frames` frames,
/// and all datagrams that both have sent.
fn played(frames: usize) -> (Lan, Vec<(PeerId, PeerId, Vec<u8>)>) {
    let mut lan = Lan::new(LinkConditions::perfect());
    lock(&lan.air).heard = Some(Vec::new());
    let guest = lan.enter();
    lan.settle();
    for frame in 0..frames {
        lan.guests[guest].client.send(&format!("up {frame}")).expect("there is room");
        lan.server.send_to_all(&format!("down {frame}")).expect("there is room");
        lan.step();
    }
    lan.run(SECOND);
    assert_eq!((lan.heard.len(), lan.guests[guest].heard.len()), (frames, frames));
    let heard = lock(&lan.air).heard.take().expect("somebody listened");
    (lan, heard)
}

/// Sends datagrams, and asserts that they change nothing.
fn assert_no_effect(lan: &mut Lan, datagrams: impl Iterator<Item = (PeerId, PeerId, Vec<u8>)>) {
    let before = (lan.events.len(), lan.heard.len(), lan.guests[0].heard.len());
    for (count, (from, to, bytes)) in datagrams.enumerate() {
        lock(&lan.air).send(from, to, &bytes);
        if count % 200 == 199 {
            lan.step();
        }
    }
    lan.run(SECOND);
    assert_eq!((lan.events.len(), lan.heard.len(), lan.guests[0].heard.len()), before);
    assert!(lan.guests[0].client.is_connected() && lan.guests[0].ends.is_empty());
    lan.server.send_to_all(&"after it".to_owned()).expect("there is room");
    assert!(lan.until(SECOND, |lan| lan.guests[0].heard.len() == before.2 + 1).is_some());
}

#[test]
fn one_wrong_bit_in_each_of_100_000_datagrams_has_no_effect() {
    let (mut lan, heard) = played(500);
    let mut rng = Rng::new(7);
    let damaged = (0..100_000).map(|_| {
        let (from, to, mut bytes) = rng.pick(&heard).expect("some were heard").clone();
        let bit = rng.below(bytes.len() as u64 * 8) as usize;
        bytes[bit / 8] ^= 1 << (bit % 8);
        (from, to, bytes)
    });
    assert_no_effect(&mut lan, damaged);
}

#[test]
fn what_was_sent_before_has_no_effect_when_it_comes_again() {
    let (mut lan, heard) = played(500);
    assert_no_effect(&mut lan, heard.clone().into_iter());
    assert_no_effect(&mut lan, heard.into_iter().rev());
}

#[test]
fn the_datagrams_of_an_earlier_connection_have_no_effect() {
    let (mut lan, heard) = played(50);
    let peer = *lan.guests[0].peer.lock().expect("nobody panics with it");
    lan.guests[0].client.disconnect();
    lan.run(3 * SECOND);
    lan.guests.clear();
    let guest = lan.enter();
    *lan.guests[guest].peer.lock().expect("nobody panics with it") = peer;
    lan.settle();
    assert_no_effect(&mut lan, heard.into_iter());
}

#[test]
fn packets_that_are_65_536_packets_old_have_no_effect() {
    let (mut lan, heard) = played(10);
    for _ in 0..66_000 {
        lan.guests[0].client.send(&String::new()).expect("there is room");
        lan.step();
        lan.heard.clear();
    }
    lan.run(SECOND);
    assert_no_effect(&mut lan, heard.into_iter());
}

#[test]
fn forged_first_packets_keep_little_and_get_less_than_three_times_their_bytes() {
    const NEWCOMERS: usize = 10_000;
    let mut lan = Lan::new(LinkConditions::perfect());
    for _ in 0..NEWCOMERS {
        let guest = lan.enter();
        lan.step_guest(guest);
        lan.guests.clear();
    }
    lock(&lan.air).heard = Some(Vec::new());
    let mut most = 0;
    for _ in 0..500 {
        lock(&lan.air).advance(FRAME);
        lan.step_server();
        most = most.max(lan.quic.unfinished_handshakes());
    }
    let heard = lock(&lan.air).heard.take().expect("somebody listened");
    let sent: usize = heard.iter().filter(|(from, ..)| *from == SERVER).map(|(.., bytes)| bytes.len()).sum();
    assert!(most <= 32, "{most} are kept");
    assert!(sent <= 3 * 1_200 * NEWCOMERS, "{sent} bytes");
    let counters = lan.quic.counters();
    assert_eq!(counters.retries, NEWCOMERS as u64 - 32, "{counters:?}");
    lan.run(SECOND);
    assert_eq!(lan.quic.unfinished_handshakes(), 0, "they are gone after the time of a handshake");
    assert_eq!(lan.quic.counters().failed_handshakes, 32);
    lan.enter();
    lan.settle();
}

/// Returns two packets of a stranger that uses the protocol `protocol`: its first packet, and the packet that
/// ends the connection.
fn knock(lan: &Lan, protocol: &[u8]) -> [Vec<u8>; 2] {
    let (mut stranger, config) = (engine(), client_config(&lan.identity, protocol));
    let begun = stranger.connect(lan.now(), config, SILENCE, address(SERVER), "localhost");
    let begun = begun.expect("it begins");
    let mut packets = [Vec::new(), Vec::new()];
    for packet in &mut packets {
        let _ = stranger.poll_transmit(lan.now(), None, 1, packet).expect("it has something to say");
        stranger.close(lan.now(), begun, 0, "never mind");
    }
    packets
}

/// Returns the only packet of a stranger that ends its connection before it has sent anything else.
fn knock_and_run(lan: &Lan) -> Vec<u8> {
    let (mut stranger, config) = (engine(), client_config(&lan.identity, PROTOCOL));
    let begun = stranger.connect(lan.now(), config, SILENCE, address(SERVER), "localhost");
    let begun = begun.expect("it begins");
    stranger.close(lan.now(), begun, 0, "never mind");
    let mut packet = Vec::new();
    let _ = stranger.poll_transmit(lan.now(), None, 1, &mut packet).expect("it says that it gives up");
    packet
}

#[test]
fn handshakes_that_fail_at_once_count_until_they_would_have_been_given_up() {
    let mut lan = Lan::new(LinkConditions::perfect());
    let forge = |lan: &mut Lan| {
        let ([packet, _], from) = (knock(lan, b"h3"), lan.link());
        lock(&lan.air).send(from, SERVER, &packet);
        lan.step();
    };
    (0..40).for_each(|_| forge(&mut lan));
    let counters = lan.quic.counters();
    assert_eq!((counters.failed_handshakes, counters.retries), (32, 8), "{counters:?}");
    lan.run(5 * SECOND);
    forge(&mut lan);
    assert_eq!(lan.quic.counters().failed_handshakes, 33);
}

#[test]
fn handshakes_that_fail_with_the_second_packet_count_as_long_as_something_is_stored() {
    let mut lan = Lan::new(LinkConditions::perfect());
    for _ in 0..5 {
        for _ in 0..32 {
            let (packets, from) = (knock(&lan, PROTOCOL), lan.link());
            packets.iter().for_each(|packet| lock(&lan.air).send(from, SERVER, packet));
        }
        lan.step();
    }
    let counters = lan.quic.counters();
    assert!(lan.quic.connections() <= 32 && counters.failed_handshakes <= 32, "{counters:?}");
    assert!(counters.retries >= 4 * 32, "{counters:?}");
}

#[test]
fn who_forges_the_address_of_a_client_keeps_it_out_neither_with_first_packets_nor_with_last_ones() {
    for runs in [false, true] {
        let config = QuicConfig { max_per_origin: 1, ..QuicConfig::default() };
        let mut lan = Lan::with(LinkConditions::perfect(), config);
        let victim = lan.link();
        for _ in 0..40 {
            for _ in 0..8 {
                let packet = if runs { knock_and_run(&lan) } else { knock(&lan, PROTOCOL)[0].clone() };
                lock(&lan.air).send(victim, SERVER, &packet);
            }
            lan.step();
        }
        assert!(lan.quic.connections() <= 8, "{}", lan.quic.connections());
        let guest = lan.enter();
        *lan.guests[guest].peer.lock().expect("nobody panics with it") = victim;
        lan.settle();
        assert_eq!(lan.guests[guest].ends, []);
    }
}

#[test]
fn a_client_proves_its_address_first_if_the_server_wants_it() {
    let config = QuicConfig { always_retry: true, ..QuicConfig::default() };
    let mut lan = Lan::with(LinkConditions::perfect(), config);
    lan.enter();
    lan.settle();
    let counters = lan.quic.counters();
    assert_eq!((counters.retries, counters.accepted), (1, 1), "{counters:?}");
}

#[test]
fn clients_beyond_the_limit_wait_until_there_is_room() {
    let config = QuicConfig { max_clients: 2, ..QuicConfig::default() };
    let mut lan = Lan::with(LinkConditions::perfect(), config);
    lan.enter();
    lan.enter();
    lan.settle();
    let third = lan.enter();
    lan.run(SECOND / 5);
    assert_eq!(lan.guests[third].ends, [repl_link::DisconnectReason::Full]);
    lan.guests[0].client.disconnect();
    assert!(lan.until(10 * SECOND, |lan| lan.guests[third].client.is_connected()).is_some());
    assert!(lan.quic.counters().refused > 0);
}

#[test]
fn clients_that_come_at_once_are_not_more_than_the_limit() {
    let config = QuicConfig { max_clients: 2, ..QuicConfig::default() };
    let mut lan = Lan::with(LinkConditions::perfect(), config);
    (0..6).for_each(|_| _ = lan.enter());
    for _ in 0..20 {
        lan.step();
        assert!(lan.quic.clients() <= 2);
    }
    let full = |lan: &Lan| {
        lan.guests.iter().filter(|guest| guest.ends == [repl_link::DisconnectReason::Full]).count()
    };
    assert_eq!((full(&lan), lan.quic.clients(), lan.quic.counters().refused), (4, 2, 4));
}

#[test]
fn a_server_that_drains_takes_nobody_and_ends_the_rest_in_time() {
    let mut lan = Lan::new(LinkConditions::perfect());
    let first = lan.enter();
    lan.settle();
    let until = lan.now() + 5 * SECOND;
    lan.quic.drain(until);
    let late = lan.enter();
    lan.run(4 * SECOND);
    assert!(lan.guests[first].client.is_connected() && !lan.guests[late].client.is_connected());
    assert!(!lan.quic.is_drained());
    assert!(lan.until(3 * SECOND, |lan| lan.quic.is_drained()).is_some());
    assert_eq!(lan.guests[first].ends, [repl_link::DisconnectReason::Closed]);
    assert!(matches!(lan.events[..], [SessionEvent::Connected(_), SessionEvent::Disconnected(..)]));
}

#[test]
fn noise_has_no_effect() {
    let (mut lan, _) = played(5);
    let mut rng = Rng::new(3);
    let strangers: Vec<_> = (0..100).map(|_| lan.link()).collect();
    let noise = (0..20_000).map(|_| {
        let length = rng.range(0..1_400) as usize;
        let bytes: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
        (*rng.pick(&strangers).expect("there are some"), SERVER, bytes)
    });
    let noise: Vec<_> = noise.collect();
    let answered: usize = noise.iter().map(|(.., bytes)| bytes.len()).sum();
    lock(&lan.air).heard = Some(Vec::new());
    assert_no_effect(&mut lan, noise.into_iter());
    let heard = lock(&lan.air).heard.take().expect("somebody listened");
    let sent: usize = heard.iter().filter(|(from, ..)| *from == SERVER).map(|(.., bytes)| bytes.len()).sum();
    assert!(sent < answered, "{sent} of {answered}");
}
