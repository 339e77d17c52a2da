//! Tests of the engine: QUIC connections without the packets of `repl`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{ClientConfig, ConnectionHandle, Endpoint, EndpointConfig, ServerConfig};

use super::lan::identity;
use crate::native::engine::{Arrival, Engine};
use crate::native::settings::{PROTOCOL, Streams};
use crate::native::wire::Received;
use crate::{Identity, Trust};

pub(super) const SILENCE: Duration = Duration::from_secs(10);

pub(super) fn engine() -> Engine {
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"reset");
    Engine::new(Endpoint::new(Arc::new(EndpointConfig::new(Arc::new(key))), None, true, None))
}

/// The engines of a server and of a client, and their connections.
struct Pair {
    now: Duration,
    server: Engine,
    client: Engine,
    of_server: Option<ConnectionHandle>,
    of_client: ConnectionHandle,
}

/// Returns the settings of a client that trusts a server, and uses the protocol `protocol`.
pub(super) fn client_config(identity: &Identity, protocol: &[u8]) -> ClientConfig {
    let mut tls = Trust::pinned([identity.hash()]).tls().expect("it is good");
    tls.alpn_protocols = vec![protocol.to_vec()];
    ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).expect("it is TLS 1.3")))
}

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], 7_777))
}

impl Pair {
    fn new() -> Self {
        let (identity, mut server, mut client) = (identity(), engine(), engine());
        let tls = QuicServerConfig::try_from(identity.tls(&[PROTOCOL]).expect("the key is good"))
            .expect("it is TLS 1.3");
        let proofs = ring::hkdf::Salt::new(ring::hkdf::HKDF_SHA256, b"proofs").extract(b"secret");
        server.set_accepts(ServerConfig::new(Arc::new(tls), Arc::new(proofs)), Streams::None);
        let config = client_config(&identity, PROTOCOL);
        let of_client = client.connect(Duration::ZERO, config, SILENCE, address(0), "localhost");
        let mut pair = Self {
            now: Duration::ZERO,
            server,
            client,
            of_server: None,
            of_client: of_client.expect("it begins"),
        };
        (0..10).for_each(|_| pair.exchange(1, true));
        let of_client = &pair.client.get_mut(pair.of_client).expect("it is there").connection;
        assert!(pair.of_server.is_some() && !of_client.is_handshaking());
        pair
    }

    /// Advances the time by a millisecond, and delivers the datagrams of both sides. The datagrams of the
    /// client come from the host `host`. If `client_hears` is false, the datagrams to the client are lost.
    fn exchange(&mut self, host: u8, client_hears: bool) {
        self.now += Duration::from_millis(1);
        for from_server in [true, false] {
            let (from, to) = if from_server {
                (&mut self.server, &mut self.client)
            } else {
                (&mut self.client, &mut self.server)
            };
            from.wake(self.now);
            let (mut buffer, mut answer) = (Vec::new(), Vec::new());
            while from.poll_transmit(self.now, None, 1, &mut buffer).is_some() {
                let from = address(if from_server { 0 } else { host });
                if from_server && !client_hears {
                    continue;
                }
                let datagram = Received { from, to: None, ecn: None, bytes: &buffer };
                if let Arrival::Newcomer(incoming) = to.take(self.now, &datagram, &mut answer) {
                    self.of_server = to.accept(self.now, *incoming, SILENCE, &mut answer).ok();
                }
            }
        }
    }
}

impl Pair {
    /// In each exchange, the server sends a datagram, until its connection is closed or `most` datagrams were
    /// sent. Returns the number of sent datagrams. The client sends something in each exchange.
    fn flood(&mut self, most: usize, client_hears: bool) -> usize {
        let (of_server, mut sent) = (self.of_server.expect("it was accepted"), 0);
        loop {
            self.client.get_mut(self.of_client).expect("it is there").connection.ping();
            let connection = &mut self.server.get_mut(of_server).expect("it is there").connection;
            if connection.is_closed() || sent >= most {
                return sent;
            }
            let taken = connection.datagrams().send(Bytes::from_static(&[7; 1_000]), false);
            sent += usize::from(taken.is_ok());
            self.exchange(1, client_hears);
            assert!(self.now < Duration::from_secs(60), "{sent} datagrams were sent");
        }
    }
}

const MANY: usize = 10_000;

#[test]
fn a_connection_ends_whose_other_side_answers_and_acknowledges_nothing() {
    let sent = Pair::new().flood(MANY, false);
    assert!((2_000..6_000).contains(&sent), "{sent} packets");
}

#[test]
fn a_connection_whose_other_side_acknowledges_goes_on() {
    assert_eq!(Pair::new().flood(MANY, true), MANY);
}

#[test]
fn a_client_whose_address_is_forged_gets_nobody_much() {
    let Pair { mut now, mut server, mut client, of_client, .. } = Pair::new();
    let (mut received, mut sent, mut buffer) = (0, 0, Vec::new());
    for frame in 0..1_500_u32 {
        now += Duration::from_millis(1);
        client.get_mut(of_client).expect("it is there").connection.ping();
        while client.poll_transmit(now, None, 1, &mut buffer).is_some() {
            let from = address((frame % 2) as u8 + 100);
            received += buffer.len();
            let datagram = Received { from, to: None, ecn: None, bytes: &buffer };
            if let Arrival::Answer(transmit) = server.take(now, &datagram, &mut Vec::new()) {
                sent += transmit.size;
            }
        }
        while let Some(transmit) = server.poll_transmit(now, None, 1, &mut Vec::new()) {
            sent += transmit.size;
        }
    }
    assert!(received > 10_000 && sent <= 3 * received, "{sent} bytes for {received}");
}

#[test]
fn a_connection_whose_move_comes_to_nothing_is_back_at_its_address() {
    let mut pair = Pair::new();
    let of_server = pair.of_server.expect("it was accepted");
    (0..300).for_each(|_| pair.exchange(1, true));
    let client = &mut pair.client.get_mut(pair.of_client).expect("it is there").connection;
    (0..6).for_each(|_| {
        client.datagrams().send(Bytes::from_static(&[7; 1_000]), false).expect("there is room")
    });
    pair.exchange(2, false);
    let moved =
        |pair: &mut Pair| pair.server.get_mut(of_server).map(|carrier| carrier.connection.remote_address());
    assert_eq!(moved(&mut pair), Some(address(2)));
    // From here on, nothing arrives from the client.
    for _ in 0..5_000 {
        pair.now += Duration::from_millis(1);
        pair.server.wake(pair.now);
        while pair.server.poll_transmit(pair.now, None, 1, &mut Vec::new()).is_some() {}
    }
    assert_eq!(moved(&mut pair), Some(address(1)));
}

#[test]
fn forged_datagrams_that_move_nothing_do_not_keep_a_client_from_moving() {
    let mut pair = Pair::new();
    let of_server = pair.of_server.expect("it was accepted");
    pair.client.get_mut(pair.of_client).expect("it is there").connection.ping();
    let mut real = Vec::new();
    let _ = pair.client.poll_transmit(pair.now, None, 1, &mut real).expect("it says that it is there");
    let mut forged = real.clone();
    forged.last_mut().into_iter().for_each(|byte| *byte ^= 1);
    for host in 10..200 {
        let datagram = Received { from: address(host), to: None, ecn: None, bytes: &forged };
        pair.server.take(pair.now, &datagram, &mut Vec::new());
    }
    let datagram = Received { from: address(2), to: None, ecn: None, bytes: &real };
    pair.server.take(pair.now, &datagram, &mut Vec::new());
    let moved = pair.server.get_mut(of_server).map(|carrier| carrier.connection.remote_address());
    assert_eq!(moved, Some(address(2)));
}
