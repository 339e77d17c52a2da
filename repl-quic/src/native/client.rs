//! The client's side: connects to the server, sends the packets of each session over a QUIC connection of its
//! own, and tells the client when a connection is lost.
//!
//! *Invariant:* at most one connection belongs to a session, and this is the current session.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{ClientConfig, ConnectionError, ConnectionHandle, EndpointConfig};
use repl_link::parts::{Visit, from_sealed};
use repl_link::{DisconnectReason, Guest};
use ring::rand::SystemRandom;

use crate::closing::{FAREWELL, OVER};
use crate::native::carrier::{Carrier, Change};
use crate::native::engine::Arrival;
use crate::native::losses;
use crate::native::port::Port;
use crate::native::trust::Trust;
use crate::native::wire::{UdpWire, Wire};
use crate::telemetry::event;

/// If nothing arrives for this time, QUIC ends a connection, unless the server has set a shorter time.
/// Normally the timeouts of the session are shorter and end the session first.
const SILENCE: Duration = Duration::from_secs(60);

/// The number of consecutive refusals that are ignored, because anyone on the path could have forged them.
const MOST_DOUBTS: u8 = 2;

/// While a client connects, it begins a new connection if nothing has arrived from the server for this time.
/// QUIC doubles the time between its own attempts, so it would notice late that a server was started.
const PATIENCE: Duration = Duration::from_secs(3);

/// The QUIC connection of a client to a server.
///
/// In each tick, call [`receive`](Self::receive), then the tick of the client, and then
/// [`transmit`](Self::transmit). Continue for about a second after the client has disconnected: otherwise the
/// server notices the end only after its timeout. A `QuicClient` connects when the client begins a session,
/// and again for each later session. While nothing arrives from the server, it tries again every three
/// seconds. An error ends the session, and the client's events report it. If the client does not trust the
/// server, the reason is [`DisconnectReason::Transport`], with a text that says what to do.
pub struct QuicClient {
    port: Port,
    server: SocketAddr,
    name: String,
    config: ClientConfig,
    /// The connection of the current session.
    current: Option<Current>,
    /// The number of consecutive connections that were refused by a packet that anyone could have forged.
    doubts: u8,
    /// A buffer for the packet that is being received.
    opened: Vec<u8>,
}

/// The connection of the current session.
struct Current {
    handle: ConnectionHandle,
    session: u64,
    begun_at: Duration,
    is_established: bool,
    packet_bytes: usize,
    /// The newest packet of the session. It waits until the connection is established.
    first: Option<Vec<u8>>,
    /// The time at which the connection is closed, if its session has ended.
    closes_at: Option<Duration>,
}

impl QuicClient {
    /// Returns a connection to the server at this address. It begins to connect after the first tick of a
    /// client. To resolve the address of a name, use for example [`ToSocketAddrs`](std::net::ToSocketAddrs).
    ///
    /// # Errors
    /// Returns an error if no UDP port can be opened.
    pub fn new(server: SocketAddr, trust: &Trust) -> io::Result<Self> {
        let any: IpAddr =
            if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        Self::over(Box::new(UdpWire::bind(SocketAddr::new(any, 0), false)?), server, trust)
    }

    /// Does the same as [`new`](Self::new), with a given wire instead of a UDP port.
    pub(crate) fn over(wire: Box<dyn Wire>, server: SocketAddr, trust: &Trust) -> io::Result<Self> {
        let tls =
            QuicClientConfig::try_from(trust.tls().map_err(io::Error::other)?).map_err(io::Error::other)?;
        let config = ClientConfig::new(Arc::new(tls));
        let reset_key = ring::hmac::Key::generate(ring::hmac::HMAC_SHA256, &SystemRandom::new());
        let reset_key = reset_key.map_err(|_| io::Error::other("the system has no random numbers"))?;
        Ok(Self {
            port: Port::new(wire, EndpointConfig::new(Arc::new(reset_key))),
            server,
            name: trust
                .name
                .as_ref()
                .map_or_else(|| server.ip().to_string(), |name| name.to_str().into_owned()),
            config,
            current: None,
            doubts: 0,
            opened: Vec::new(),
        })
    }

    /// Returns the local address. The server may see another address. This address may even change during a
    /// session, for example if the client changes its network; the session then continues.
    ///
    /// # Errors
    /// Returns an error if the system does not know the address.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.port.local_address()
    }

    /// Receives the datagrams that have arrived, and passes their packets to the client. `now` is the time
    /// since a fixed start, the same as for the client's tick.
    ///
    /// # Errors
    /// Returns an error if the socket does not work any more.
    pub fn receive(&mut self, client: &mut impl Guest, now: Duration) -> io::Result<()> {
        client.visit_mut().seal();
        self.port.receive(now, |_, arrival, _| match arrival {
            Arrival::Answer(transmit) => Some(transmit),
            Arrival::Taken | Arrival::Newcomer(_) => None,
        })?;
        while let Some(handle) = self.port.engine.next_stirred() {
            self.look_at(client, now, handle);
        }
        Ok(())
    }

    /// Sends the packets of the client's tick. If the system does not accept a packet now, the next call
    /// sends it.
    ///
    /// # Errors
    /// Returns an error if the socket does not work any more.
    pub fn transmit(&mut self, client: &mut impl Guest, now: Duration) -> io::Result<()> {
        let session = client.visit().number();
        if self.current.as_ref().is_none_or(|current| current.session != session) || self.is_unheard(now) {
            self.connect(client, now, session);
        }
        while let Some(packet) = client.visit_mut().poll_transmit() {
            self.send(now, packet)?;
        }
        self.close_if_over(client, now);
        self.port.flush(now, None)
    }

    /// Returns whether the connection began at least [`PATIENCE`] ago, and nothing has arrived from the
    /// server.
    fn is_unheard(&mut self, now: Duration) -> bool {
        let waits = |current: &&Current| current.begun_at.saturating_add(PATIENCE) <= now;
        let Some(current) = self.current.as_ref().filter(|current| !current.is_established).filter(waits)
        else {
            return false;
        };
        let carrier = self.port.engine.get_mut(current.handle);
        carrier.is_some_and(|carrier| carrier.connection.stats().udp_rx.datagrams == 0)
    }

    /// Begins a connection for a session, unless the client has already ended the session.
    fn connect(&mut self, client: &mut impl Guest, now: Duration, session: u64) {
        let last = self.current.take();
        if let Some(last) = &last {
            self.port.engine.close(now, last.handle, OVER, "the client begins another connection");
        }
        if client.visit().is_over() {
            return;
        }
        client.visit_mut().seal();
        match self.port.engine.connect(now, self.config.clone(), SILENCE, self.server, &self.name) {
            Ok(handle) => {
                self.current = Some(Current {
                    handle,
                    session,
                    begun_at: now,
                    is_established: false,
                    packet_bytes: 0,
                    first: last.filter(|last| last.session == session).and_then(|last| last.first),
                    closes_at: None,
                });
            }
            Err(error) => client.lose_session(DisconnectReason::Transport(error.to_string())),
        }
    }

    /// Handles the events of a connection.
    fn look_at(&mut self, client: &mut impl Guest, now: Duration, handle: ConnectionHandle) {
        let mut end = None;
        while let Some(change) = self.port.engine.get_mut(handle).and_then(Carrier::poll) {
            let Some(current) = self.current.as_mut().filter(|current| current.handle == handle) else {
                continue;
            };
            match change {
                Change::Established => {
                    (current.is_established, self.doubts) = (true, 0);
                    event!(INFO, server = %self.server, "the connection to the server is encrypted");
                    let (first, carrier) = (current.first.take(), self.port.engine.get_mut(handle));
                    if let Some((packet, carrier)) = first.zip(carrier) {
                        carrier.send(carrier.sealed(&packet)).ok();
                    }
                }
                Change::Lost(reason) => end = Some(self.meaning(&reason)),
                Change::Asked(_) | Change::Left(..) => {}
            }
        }
        self.pass_on(client, now, handle);
        let session = self.current.as_ref().filter(|current| current.handle == handle);
        if let Some((reason, session)) = end.zip(session.map(|current| current.session))
            && client.visit().number() == session
        {
            event!(INFO, %reason, "the connection to the server was lost");
            client.lose_session(reason);
        }
    }

    /// Returns the reason why the session ends, after its connection was lost.
    fn meaning(&mut self, error: &ConnectionError) -> DisconnectReason {
        let is_established = self.current.as_ref().is_some_and(|current| current.is_established);
        match losses::reason_of(error) {
            // The server has ended the session, but the packet with the reason was lost.
            DisconnectReason::Closed => DisconnectReason::Timeout,
            // Before the connection is established, anyone on the path can forge a refusal.
            DisconnectReason::Transport(_)
                if !is_established
                    && self.doubts < MOST_DOUBTS
                    && !matches!(error, ConnectionError::TransportError(_)) =>
            {
                self.doubts = self.doubts.saturating_add(1);
                DisconnectReason::Timeout
            }
            reason => reason,
        }
    }

    /// Passes the packets that a connection has received to the client.
    fn pass_on(&mut self, client: &mut impl Guest, now: Duration, handle: ConnectionHandle) {
        let Some(current) = self.current.as_mut().filter(|current| current.handle == handle) else { return };
        let Some(carrier) = self.port.engine.get_mut(handle) else { return };
        if let Some(bytes) = carrier.packet_bytes().filter(|bytes| *bytes != current.packet_bytes) {
            current.packet_bytes = bytes;
            client.visit_mut().set_packet_bytes(bytes);
        }
        while let Some(packet) = carrier.receive() {
            from_sealed(&packet, &mut self.opened);
            client.receive(now, &self.opened);
        }
    }

    /// Sends a packet over the current connection.
    fn send(&mut self, now: Duration, packet: &[u8]) -> io::Result<()> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let handle = current.handle;
        if !current.is_established {
            current.first = Some(packet.to_vec());
            return Ok(());
        }
        self.port.send(now, handle, packet).map(drop)
    }

    /// Closes the connection of a session that has ended, after a time in which the server can learn the
    /// reason.
    fn close_if_over(&mut self, client: &impl Guest, now: Duration) {
        let Some(current) = self.current.as_mut().filter(|_| client.visit().is_over()) else { return };
        let closes_at = *current.closes_at.get_or_insert(now.saturating_add(FAREWELL));
        if closes_at <= now {
            self.port.engine.close(now, current.handle, OVER, "the session has ended");
        }
    }
}
