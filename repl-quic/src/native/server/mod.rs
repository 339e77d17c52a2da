//! The server's side: accepts clients, sends and receives their packets, and closes their connections. A
//! *newcomer* or *stranger* is a connection that has not finished the TLS handshake or not sent its first
//! packet.
//!
//! *Invariant:* the [`Host`] (the server of the library) knows each client as one connection, from the first
//! packet of the client until one side ends the session.

mod clients;
pub(crate) mod config;
pub(crate) mod counters;
mod gate;
mod places;
mod strangers;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use quinn_proto::crypto::HandshakeTokenKey;
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{ConnectionHandle, EndpointConfig, ServerConfig};
use repl_link::parts::{Maker, Roster, Secret, from_sealed};
use repl_link::{ConnectionId, DisconnectReason, Host};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::{SecureRandom, SystemRandom};

use crate::closing::{FULL, LATE, OVER, REFUSED};
use crate::native::carrier::{Carrier, Change};
use crate::native::certificate::IdentityError;
use crate::native::connection_ids::MarkedIds;
use crate::native::engine::Engine;
use crate::native::identity::Identity;
use crate::native::losses;
use crate::native::port::Port;
use crate::native::settings::Streams;
use crate::native::wire::{UdpWire, Wire};
use crate::telemetry::event;
use clients::{Client, Clients};
use config::QuicConfig;
use counters::{Count, QuicCounters};
use gate::Gate;
use places::Places;
use strangers::Strangers;

/// QUIC ends a connection if nothing arrives for twice the timeout of the session plus this time.
const GRACE: Duration = Duration::from_secs(2);

/// The clients of a server over QUIC, on one UDP port. The server implements [`Host`].
///
/// In each tick, call [`receive`](Self::receive), then the tick of the server, and then
/// [`transmit`](Self::transmit). Use each `QuicServer` with only one server. The clients must know which
/// certificate to [trust](crate::Trust).
///
/// All packets are QUIC datagrams, so they are encrypted and authenticated. Only `repl` sends lost data
/// again; QUIC does not. Configure the [packet size](repl_link::Capacity::mtu_bytes) of both sides. The
/// default is 1,200 bytes. At the beginning, packets of up to 1,162 bytes fit into a datagram. After some
/// round trips, up to 1,414 bytes fit on most paths. The packet size of each connection is set to the size
/// that fits.
pub struct QuicServer {
    port: Port,
    /// The key that signs the proofs of addresses.
    proofs: Arc<dyn HandshakeTokenKey>,
    config: QuicConfig,
    /// The secret from which the tokens of the sessions are derived.
    secret: Secret,
    clients: Clients,
    strangers: Strangers,
    /// All connections by origin, including closed connections that were not removed yet.
    places: Places,
    counters: QuicCounters,
    /// The time at which all sessions end. If it is set, the server accepts no more clients.
    drains_until: Option<Duration>,
    /// A buffer for the packet that is being received.
    opened: Vec<u8>,
}

impl QuicServer {
    /// Opens a UDP port for clients. The address `[::]` listens on IPv6, and on most systems also on IPv4.
    /// The address `0.0.0.0` listens only on IPv4.
    ///
    /// # Errors
    /// Returns an error if the port cannot be opened, or if TLS 1.3 cannot use the key of the identity.
    ///
    /// # Panics
    /// Panics if a limit of `config` is zero.
    #[track_caller]
    pub fn bind(address: SocketAddr, identity: &Identity, config: QuicConfig) -> io::Result<Self> {
        Self::over(Box::new(UdpWire::bind(address, true)?), identity, config)
    }

    /// Does the same as [`bind`](Self::bind), with a given wire instead of a UDP port.
    #[track_caller]
    pub(crate) fn over(wire: Box<dyn Wire>, identity: &Identity, config: QuicConfig) -> io::Result<Self> {
        config.assert_valid();
        let mut secret = [0; 16];
        SystemRandom::new().fill(&mut secret).map_err(|_| io::Error::other("no random numbers"))?;
        let number = wire.local_address()?.port();
        let lasting = lasting(identity, &[&config.process.to_be_bytes(), &number.to_be_bytes()]);
        let mut port = Port::new(wire, lasting);
        let proofs: Arc<dyn HandshakeTokenKey> =
            Arc::new(Salt::new(HKDF_SHA256, b"repl proofs").extract(&secret));
        accept_with(&mut port.engine, identity, &proofs, &config).map_err(io::Error::other)?;
        Ok(Self {
            port,
            proofs,
            config,
            secret: Secret::from(u128::from_le_bytes(secret)),
            clients: Clients::default(),
            strangers: Strangers::default(),
            places: Places::default(),
            counters: QuicCounters::default(),
            drains_until: None,
            opened: Vec::new(),
        })
    }

    /// Replaces the certificate for clients that connect from now on, for example after a renewal. Connected
    /// clients remain connected. Clients that [pin](crate::Trust::pinned) only the hash of the old
    /// certificate can no longer connect. To avoid this, first let all clients pin both hashes, and then
    /// replace the certificate.
    ///
    /// A renewed certificate may have another key. If it has, the clients of this process notice a restart of
    /// the server only after their timeout. To avoid this, keep the key (`certbot renew --reuse-key`).
    ///
    /// # Errors
    /// Returns an error if the key does not belong to the certificate.
    pub fn set_identity(&mut self, identity: &Identity) -> Result<(), IdentityError> {
        accept_with(&mut self.port.engine, identity, &self.proofs, &self.config)
    }

    /// Returns the address on which the server listens.
    ///
    /// # Errors
    /// Returns an error if the system does not know the address.
    pub fn local_address(&self) -> io::Result<SocketAddr> {
        self.port.local_address()
    }

    /// Returns the current address of a client, which changes when the client changes its network. To ban
    /// addresses, use the address from which a client has connected: an attacker who can copy packets of the
    /// client can change the current address for a moment. `None` if the connection was removed, or does not
    /// belong to this port.
    #[must_use]
    pub fn address(&self, connection: ConnectionId) -> Option<SocketAddr> {
        self.clients.get(connection).map(|client| client.address)
    }

    /// Returns the number of clients, including clients whose sessions have ended but whose connections are
    /// still open.
    #[must_use]
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// Returns the number of all stored connections: those of clients, those of newcomers, and closed
    /// connections that wait for late packets.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.port.engine.len()
    }

    /// Returns the number of newcomers that have not finished the TLS handshake or not sent their first
    /// packet.
    #[must_use]
    pub fn unfinished_handshakes(&self) -> usize {
        self.strangers.len()
    }

    /// Returns the counters of this server.
    #[must_use]
    pub fn counters(&self) -> QuicCounters {
        self.counters
    }

    /// Accepts no more clients, so that the server can be ended. Newcomers are refused with
    /// [`DisconnectReason::Full`], and try again later. Connected clients remain until they disconnect, but
    /// only until the time `until`. Then their sessions end with [`DisconnectReason::Closed`], and these
    /// clients do not reconnect by themselves. To tell players the reason, end their sessions earlier with
    /// your own text. Continue to call [`receive`](Self::receive) and [`transmit`](Self::transmit) until
    /// [`is_drained`](Self::is_drained) returns `true`, so that all clients learn the reason.
    pub fn drain(&mut self, until: Duration) {
        self.drains_until = Some(until);
    }

    /// Returns whether [`drain`](Self::drain) was called, and no clients and newcomers remain. A client that
    /// acknowledges the end of its session is removed at once. A client that does not answer is removed after
    /// the timeout of the server.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.drains_until.is_some() && self.clients.len() == 0 && self.strangers.len() == 0
    }

    /// Receives the datagrams that have arrived, and passes their packets to the server. `now` is the time
    /// since a fixed start, the same as for the server's tick.
    ///
    /// # Errors
    /// Returns an error if the socket does not work any more.
    ///
    /// # Panics
    /// Panics, like the server, if packets were received for half of the server's timeout without a tick.
    #[track_caller]
    pub fn receive(&mut self, server: &mut impl Host, now: Duration) -> io::Result<()> {
        // Ends are handled first, because a new connection may have the same handle as one that has ended.
        self.look_at_stirred(server, now);
        let Self { port, config, clients, strangers, places, counters, drains_until, .. } = self;
        // The session notices silence before QUIC does.
        let silence = server.roster().timeout().saturating_mul(2).saturating_add(GRACE);
        let is_closed = drains_until.is_some();
        let mut gate = Gate { config, clients, strangers, places, counters, silence, is_closed };
        let received = port.receive(now, |engine, arrival, answer| gate.decide(engine, now, arrival, answer));
        self.look_at_stirred(server, now);
        self.end_overdue(server, now);
        received
    }

    /// Sends the packets of the server's tick. If the system does not accept a packet now, the next call
    /// sends it.
    ///
    /// # Errors
    /// Returns an error if the socket does not work any more.
    pub fn transmit(&mut self, server: &mut impl Host, now: Duration) -> io::Result<()> {
        self.note_ends(server, now);
        while let Some(id) = server.roster_mut().next_transmitting(|id| self.clients.contains(id)) {
            let handle = self.clients.get(id).map(|client| client.handle);
            if let Some((packet, handle)) = server.roster_mut().poll_transmit(id).zip(handle)
                && !self.port.send(now, handle, packet)?
            {
                self.counters.count(Count::Dropped);
            }
        }
        self.let_go(server, now);
        self.port.flush(now, None)
    }

    fn look_at_stirred(&mut self, server: &mut impl Host, now: Duration) {
        while let Some(handle) = self.port.engine.next_stirred() {
            self.look_at(server, now, handle);
        }
    }

    /// Handles the events of a connection.
    fn look_at(&mut self, server: &mut impl Host, now: Duration, handle: ConnectionHandle) {
        let mut end = None;
        while let Some(change) = self.port.engine.get_mut(handle).and_then(Carrier::poll) {
            match change {
                Change::Established => self.check(now, handle),
                Change::Asked(origin) => self.answer(now, handle, origin.as_deref()),
                Change::Left(code, why) => {
                    self.port.engine.close(now, handle, code, why);
                    end = Some(DisconnectReason::Closed);
                }
                Change::Lost(reason) => end = Some(losses::reason_of(&reason)),
            }
        }
        self.pass_on(server, now, handle);
        let is_drained = self.port.engine.get_mut(handle).is_none();
        if is_drained {
            self.places.remove(handle);
            self.strangers.gone(handle);
        }
        if let Some(reason) = end.or_else(|| is_drained.then_some(DisconnectReason::Timeout)) {
            self.lost(server, handle, &reason);
        }
    }

    /// Passes the packets that a connection has received to the server. With its first packet, a stranger
    /// becomes a client.
    fn pass_on(&mut self, server: &mut impl Host, now: Duration, handle: ConnectionHandle) {
        let Some(carrier) = self.port.engine.get_mut(handle) else { return };
        let packets: Vec<_> = std::iter::from_fn(|| carrier.receive()).collect();
        if packets.is_empty() && self.clients.id_of(handle).is_none() {
            return;
        }
        let Some(id) = self.clients.id_of(handle).or_else(|| self.welcome(server, now, handle)) else {
            return;
        };
        for packet in packets {
            from_sealed(&packet, &mut self.opened);
            server.receive(id, now, &self.opened);
        }
        self.follow(server, id, handle);
    }

    /// Sets the packet size of a client's session by the size that its path allows, and records its address.
    fn follow(&mut self, server: &mut impl Host, id: ConnectionId, handle: ConnectionHandle) {
        let Some(carrier) = self.port.engine.get_mut(handle) else { return };
        let (address, packet_bytes) = (carrier.connection.remote_address(), carrier.packet_bytes());
        let Some(client) = self.clients.get_mut(id) else { return };
        if let Some(bytes) = packet_bytes.filter(|bytes| *bytes != client.packet_bytes) {
            client.packet_bytes = bytes;
            server.roster_mut().set_packet_bytes(id, bytes);
        }
        if address != client.address {
            client.address = address;
            server.roster_mut().moved(id);
        }
    }

    /// Checks a stranger that has finished the TLS handshake, which proves its address. Its origin must not
    /// have too many connections, and it must accept datagrams.
    fn check(&mut self, now: Duration, handle: ConnectionHandle) {
        if let Some(origin) = self.strangers.unproved_origin(handle) {
            if self.places.of(origin) >= self.config.max_per_origin {
                return self.refuse(
                    now,
                    handle,
                    Count::Refused,
                    (FULL, "too many connections of one origin"),
                );
            }
            self.places.add(handle, origin);
            self.strangers.proved(handle);
        }
        let Some(carrier) = self.port.engine.get_mut(handle) else { return };
        if carrier.packet_bytes().is_none() {
            event!(DEBUG, address = %carrier.connection.remote_address(), "a client takes no datagrams");
            self.refuse(now, handle, Count::Stranger, (OVER, "this server sends datagrams (RFC 9221)"));
        }
    }

    /// Accepts the session of a web page, if the page has an origin that may connect.
    fn answer(&mut self, now: Duration, handle: ConnectionHandle, origin: Option<&str>) {
        if !self.config.web_origins.contains(origin) {
            event!(DEBUG, ?origin, "a web page may not connect");
            let why = "its origin is not in `web_origins` of the server's `QuicConfig`";
            self.refuse(now, handle, Count::Stranger, (REFUSED, why));
        } else if let Some(carrier) = self.port.engine.get_mut(handle) {
            carrier.accept_page();
        }
    }

    /// Closes the connection of a stranger, and increments a counter.
    fn refuse(&mut self, now: Duration, handle: ConnectionHandle, count: Count, why: (u32, &'static str)) {
        self.strangers.finished(handle);
        self.counters.count(count);
        self.port.engine.close(now, handle, why.0, why.1);
    }

    /// Lets a stranger become a client after its first packet has arrived, if there is room.
    fn welcome(
        &mut self,
        server: &mut impl Host,
        now: Duration,
        handle: ConnectionHandle,
    ) -> Option<ConnectionId> {
        let carrier = self.port.engine.get_mut(handle).filter(|carrier| !carrier.is_over())?;
        let address = carrier.connection.remote_address();
        self.strangers.finished(handle);
        if self.drains_until.is_some() || self.clients.active() >= self.config.max_clients {
            self.counters.count(Count::Refused);
            self.port.engine.close(now, handle, FULL, "the server is full");
            return None;
        }
        self.counters.count(Count::Accepted);
        let id = server.connect(now, Maker::Transport { secret: self.secret });
        event!(INFO, connection = ?id, %address, "a client has connected");
        self.clients.add(id, Client { handle, address, packet_bytes: 0 });
        Some(id)
    }

    /// Handles the loss of a connection, which can no longer send anything.
    fn lost(&mut self, server: &mut impl Host, handle: ConnectionHandle, reason: &DisconnectReason) {
        if self.strangers.failed(handle) {
            event!(DEBUG, %reason, "a handshake has failed");
            self.counters.count(Count::FailedHandshake);
        }
        if let Some(id) = self.clients.id_of(handle) {
            event!(INFO, connection = ?id, %reason, "the connection of a client was lost");
            server.close(id, reason.clone());
            self.forget(server, id);
        }
    }

    /// Removes a client after the end of its session, and returns its connection.
    fn forget(&mut self, server: &mut impl Host, id: ConnectionId) -> Option<ConnectionHandle> {
        server.roster_mut().take_ended(|ended| ended == id);
        server.roster_mut().forget(id);
        self.clients.remove(id)
    }

    /// Closes the connections of newcomers that take too long.
    fn end_overdue(&mut self, server: &mut impl Host, now: Duration) {
        while let Some(handle) = self.strangers.next_overdue(now) {
            self.port.engine.close(now, handle, LATE, "the handshake takes too long");
            self.lost(server, handle, &DisconnectReason::Timeout);
        }
    }

    /// Records which sessions have ended.
    fn note_ends(&mut self, server: &mut impl Host, now: Duration) {
        if self.drains_until.is_some_and(|until| until <= now) {
            self.clients.ids().into_iter().for_each(|id| server.close(id, DisconnectReason::Closed));
        }
        for id in server.roster_mut().take_ended(|id| self.clients.contains(id)) {
            self.clients.ended(id, now.saturating_add(server.roster().timeout()));
        }
    }

    /// Closes the connections of clients whose time to learn the end of their sessions is over.
    fn let_go(&mut self, server: &mut impl Host, now: Duration) {
        while let Some(id) = self.clients.next_gone(now, self.config.max_clients) {
            if let Some(handle) = self.forget(server, id) {
                self.port.engine.close(now, handle, OVER, "the session has ended");
            }
        }
        for id in server.roster_mut().take_removed(|id| self.clients.contains(id)) {
            if let Some(handle) = self.clients.remove(id) {
                self.port.engine.close(now, handle, OVER, "the session has ended");
            }
        }
    }
}

/// Lets an engine accept connections with an identity. The key `proofs` signs the proofs of addresses.
fn accept_with(
    engine: &mut Engine,
    identity: &Identity,
    proofs: &Arc<dyn HandshakeTokenKey>,
    config: &QuicConfig,
) -> Result<(), IdentityError> {
    let streams = if config.web_origins.are_some() { Streams::OfBrowsers } else { Streams::None };
    let tls = QuicServerConfig::try_from(identity.tls(streams.protocols())?);
    let tls = tls.map_err(|error| IdentityError::Mismatch(error.to_string()))?;
    engine.set_accepts(ServerConfig::new(Arc::new(tls), Arc::clone(proofs)), streams);
    Ok(())
}

/// Returns a configuration with keys that are the same after a restart of a server with this identity. With
/// these keys, the new process can tell clients of the old process that their connections no longer exist (by
/// stateless resets of QUIC).
///
/// `process` distinguishes processes with the same certificate, so that no process can reset the connections
/// of another.
fn lasting(identity: &Identity, process: &[&[u8]]) -> EndpointConfig {
    let reset_key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &identity.derive(b"repl reset", process));
    let mut config = EndpointConfig::new(Arc::new(reset_key));
    let names = identity.derive(b"repl connection ids", process);
    // Resets need no limit: a reset is shorter than the packet that it answers, and is sent only for
    // connection ids that this server may have issued.
    config.min_reset_interval(Duration::ZERO);
    config.cid_generator(move || Box::new(MarkedIds::new(&names)));
    config
}
