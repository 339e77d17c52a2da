//! Failures of the network, of processes and of the system, and their effects.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quinn_proto::Transmit;
use repl_link::plain::SessionEvent;
use repl_link::{ConnectionId, DisconnectReason, Host};

use super::lan::{AirWire, FRAME, Lan, SECOND, SERVER, address, link, lock};
use crate::native::wire::{Received, Wire};
use crate::{QuicConfig, QuicServer};

/// Returns a network with a connected client, and the client's connection on the server.
fn connected(latency_ms: u64) -> (Lan, ConnectionId) {
    let lan = Lan::connected(latency_ms);
    let Some(&SessionEvent::Connected(id)) = lan.events.first() else { panic!("{:?}", lan.events) };
    (lan, id)
}

/// Runs only the server, as if the processes of the clients did not run.
fn stall(lan: &mut Lan, time: Duration) {
    let until = lan.now() + time;
    while lan.now() < until {
        lock(&lan.air).advance(FRAME);
        lan.step_server();
    }
}

fn cheater() -> DisconnectReason {
    DisconnectReason::ClosedWith("cheater".to_owned())
}

#[test]
fn a_client_that_stalls_hears_why_its_session_has_ended() {
    for stall_ms in [500, 1_500, 9_000] {
        let (mut lan, id) = connected(5);
        lan.server.close(id, cheater());
        stall(&mut lan, Duration::from_millis(stall_ms));
        lan.run(5 * SECOND);
        assert_eq!(lan.guests[0].ends, [cheater()], "{stall_ms} ms");
        assert!(!lan.guests[0].client.is_connected());
    }
}

#[test]
fn a_client_that_stalls_for_about_a_timeout_comes_back() {
    for stall_ms in [10_500, 11_200, 11_500, 12_500, 21_000, 25_000] {
        let (mut lan, _) = connected(5);
        stall(&mut lan, Duration::from_millis(stall_ms));
        lan.run(10 * SECOND);
        assert!(lan.guests[0].client.is_connected(), "{stall_ms} ms: {:?}", lan.guests[0].ends);
    }
}

#[test]
fn a_client_that_is_ended_while_its_link_is_down_hears_why_and_stays_away() {
    for down_ms in [900, 1_300, 2_000, 5_000] {
        let (mut lan, id) = connected(20);
        lan.set_conditions(link(20).with_loss(1.0));
        lan.run(Duration::from_millis(50));
        lan.server.close(id, cheater());
        lan.run(Duration::from_millis(down_ms));
        lan.set_conditions(link(20));
        lan.run(4 * SECOND);
        assert_eq!(lan.guests[0].ends, [cheater()], "{down_ms} ms");
        assert!(!lan.guests[0].client.is_connected());
    }
}

#[test]
fn a_session_begins_after_two_round_trips_however_short_they_are() {
    for latency_ms in [1, 5, 20, 40, 200] {
        let mut lan = Lan::new(link(latency_ms));
        lan.enter();
        lan.step();
        let took = lan.until(5 * SECOND, |lan| !lan.events.is_empty()).expect("it connects");
        let most = Duration::from_millis(4 * latency_ms) + FRAME * 4;
        assert!(took <= most, "latency {latency_ms} ms: {took:?}");
    }
}

#[test]
fn all_of_many_clients_notice_a_restart_within_two_seconds() {
    let mut lan = Lan::new(link(20));
    (0..150).for_each(|_| _ = lan.enter());
    lan.settle();
    lan.run(SECOND);
    lan.restart();
    lan.run(2 * SECOND);
    assert!(lan.guests.iter().all(|guest| guest.ends == [DisconnectReason::Forgotten]));
    lan.settle();
}

#[test]
fn a_server_with_the_same_certificate_resets_no_connection_of_another() {
    let (mut lan, _) = connected(5);
    lock(&lan.air).heard = Some(Vec::new());
    lan.run(SECOND);
    let me = *lan.guests[0].peer.lock().expect("nobody panics with it");
    let heard = lock(&lan.air).heard.take().expect("somebody listened");
    let is_usual = |bytes: &[u8]| bytes.len() > 30 && bytes[0] & 0x80 == 0;
    let sniffed = heard.into_iter().find(|(from, _, bytes)| *from == me && is_usual(bytes));
    let (.., mut sniffed) = sniffed.expect("the client has sent something");
    let (other, attacker) = (lan.link(), lan.link());
    lock(&lan.air).network.connect(other, attacker, link(5));
    let config = QuicConfig { process: 1, ..QuicConfig::default() };
    let mut second =
        QuicServer::over(AirWire::of(&lan.air, other), &lan.identity, config).expect("it can be made");
    let mut host = repl_link::plain::MessageServer::new(repl_link::ServerSettings::default());
    sniffed.resize(60, 7);
    lock(&lan.air).heard = Some(Vec::new());
    lock(&lan.air).send(attacker, other, &sniffed);
    lock(&lan.air).advance(FRAME);
    let now = lan.now();
    second.receive(&mut host, now).expect("the wire works");
    second.transmit(&mut host, now).expect("the wire works");
    let answers = lock(&lan.air).heard.take().expect("somebody listened");
    for (.., bytes) in answers.into_iter().filter(|(from, ..)| *from == other) {
        lock(&lan.air).send(SERVER, me, &bytes);
    }
    lan.run(2 * SECOND);
    assert_eq!(lan.guests[0].ends, []);
}

#[test]
fn a_refusal_that_anyone_could_have_forged_is_not_believed_at_once() {
    let mut lan = Lan::new(link(50));
    lock(&lan.air).heard = Some(Vec::new());
    lan.enter();
    lan.step();
    let me = *lan.guests[0].peer.lock().expect("nobody panics with it");
    let heard = lock(&lan.air).heard.take().expect("somebody listened");
    let first = &heard.iter().find(|(from, ..)| *from == me).expect("it has begun").2;
    // This is a version negotiation packet. It contains both connection ids of the client's packet in swapped
    // order.
    let (theirs, rest) = first[6..].split_at(usize::from(first[5]));
    let ours = &rest[1..=usize::from(rest[0])];
    let mut forged = vec![0xc0, 0, 0, 0, 0, ours.len() as u8];
    forged.extend_from_slice(ours);
    forged.push(theirs.len() as u8);
    forged.extend_from_slice(theirs);
    forged.extend_from_slice(&[0x0a, 0x1a, 0x2a, 0x3a]);
    lock(&lan.air).send(SERVER, me, &forged);
    lan.run(3 * SECOND);
    assert!(lan.guests[0].client.is_connected(), "{:?}", lan.guests[0].ends);
}

#[test]
fn a_server_that_drains_takes_nobody_whose_handshake_has_begun() {
    let mut lan = Lan::new(link(50));
    lan.enter();
    lan.run(Duration::from_millis(120));
    assert_eq!(lan.quic.unfinished_handshakes(), 1);
    lan.quic.drain(lan.now() + 60 * SECOND);
    assert!(!lan.quic.is_drained());
    lan.run(8 * SECOND);
    assert!(lan.quic.is_drained() && lan.events.is_empty());
}

#[test]
fn connections_that_are_closed_count_until_nothing_of_them_is_stored() {
    let config = QuicConfig { max_per_origin: 4, ..QuicConfig::default() };
    let mut lan = Lan::with(link(400), config);
    let peer = lan.link();
    for _ in 0..30 {
        let guest = lan.enter();
        *lan.guests[guest].peer.lock().expect("nobody panics with it") = peer;
        for _ in 0..30 {
            lan.step();
            assert!(lan.quic.connections() <= 4, "{}", lan.quic.connections());
        }
        lan.guests.clear();
    }
    assert!(lan.quic.counters().retries > 0);
}

/// A wire whose system accepts and returns only few datagrams at a time.
struct Narrow {
    wire: Box<AirWire>,
    arrived: std::collections::VecDeque<(SocketAddr, Vec<u8>)>,
    /// The number of datagrams that the system will still accept for sending.
    takes: Arc<Mutex<usize>>,
    waiting: Arc<Mutex<usize>>,
}

impl Wire for Narrow {
    fn receive(&mut self, take: &mut dyn FnMut(&Received<'_>)) -> io::Result<bool> {
        let arrived = &mut self.arrived;
        self.wire.receive(&mut |datagram| arrived.push_back((datagram.from, datagram.bytes.to_vec())))?;
        let Some((from, bytes)) = self.arrived.pop_front() else { return Ok(false) };
        take(&Received { from, to: None, ecn: None, bytes: &bytes });
        *self.waiting.lock().expect("nobody panics with it") = self.arrived.len();
        Ok(true)
    }

    fn send(&mut self, transmit: &Transmit, bytes: &[u8]) -> io::Result<bool> {
        let mut takes = self.takes.lock().expect("nobody panics with it");
        let Some(left) = takes.checked_sub(1) else { return Ok(false) };
        *takes = left;
        self.wire.send(transmit, bytes)
    }

    fn most_segments(&self) -> usize {
        1
    }

    fn keeps_whole(&self) -> bool {
        true
    }

    fn local_address(&self) -> io::Result<SocketAddr> {
        Ok(address(SERVER))
    }
}

#[test]
fn a_system_that_gives_and_takes_little_at_once_is_shared_by_all_clients() {
    const GUESTS: usize = 24;
    let mut lan = Lan::new(link(10));
    let (takes, waiting) = (Arc::new(Mutex::new(usize::MAX)), Arc::default());
    let wire = AirWire::of(&lan.air, SERVER);
    let narrow = Narrow {
        wire,
        arrived: Default::default(),
        takes: Arc::clone(&takes),
        waiting: Arc::clone(&waiting),
    };
    let quic = QuicServer::over(Box::new(narrow), &lan.identity, QuicConfig::default());
    lan.quic = quic.expect("it can be made");
    (0..GUESTS).for_each(|_| _ = lan.enter());
    lan.settle();
    for _ in 0..1_000 {
        *takes.lock().expect("nobody panics with it") = 16;
        lan.guests.iter_mut().for_each(|guest| _ = guest.client.send(&"up".to_owned()));
        lan.server.send_to_all(&"down".to_owned()).ok();
        lan.step();
        assert!(*waiting.lock().expect("nobody panics with it") < 100, "all that has arrived is received");
    }
    let heard: Vec<_> = lan.guests.iter().map(|guest| guest.heard.len()).collect();
    assert!(heard.iter().all(|heard| *heard > 300), "{heard:?}");
    assert!(lan.guests.iter().all(|guest| guest.ends.is_empty()));
}
