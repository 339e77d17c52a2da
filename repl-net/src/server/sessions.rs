//! The methods of the server that open and close connections and receive packets.
//!
//! *Invariant:* only the handshake decides which session a packet belongs to and whether the session begins.

use std::time::Duration;

use repl_core::BitReader;

use super::Server;
use super::connection::Connection;
use super::peer::Peer;
use crate::session::config::CongestionControl;
use crate::session::connection_id::ConnectionId;
use crate::session::disconnect::DisconnectReason;
use crate::session::events::ServerEvent;
use crate::session::secret::Secret;
use crate::session::server_handshake::{HandshakeContext, HandshakeOutcome, ServerHandshake, Trust};
use crate::transport::allowance::Allowance;
use crate::transport::congestion::Congestion;
use crate::transport::outbox::Limits;
use crate::transport::sequence::Sequence;

impl Server {
    /// Adds a connection for a new client. The caller passes the client's packets to
    /// [`receive`](Self::receive) with the returned id. The server sends state after the handshake is
    /// complete. From the first call on, nothing more can be registered, even if no client has answered yet.
    pub fn connect(&mut self, now: Duration) -> ConnectionId {
        self.connect_as(now, false, self.secret, self.trust())
    }

    /// Adds a connection for a client that records a replay. Conditions for replays apply to this connection
    /// (S35).
    pub fn connect_replay(&mut self, now: Duration) -> ConnectionId {
        self.connect_as(now, true, self.secret, self.trust())
    }

    /// Adds a connection for a client that has proved its address to an endpoint with this secret. If `waits`
    /// is set, the connection begins only when the client has shown that it has received the welcome. Ended
    /// connections are kept for at least the time `keep`.
    pub(crate) fn connect_from_endpoint(
        &mut self,
        now: Duration,
        secret: Secret,
        waits: bool,
        keep: Duration,
    ) -> ConnectionId {
        self.keep_ended = self.keep_ended.max(keep);
        self.connect_as(now, false, secret, Trust::Cookie { waits })
    }

    fn trust(&self) -> Trust {
        if self.config.validate_addresses { Trust::Unproved } else { Trust::Validated }
    }

    fn connect_as(&mut self, now: Duration, is_replay: bool, secret: Secret, trust: Trust) -> ConnectionId {
        let now = self.now.max(now);
        self.now = now;
        if !self.is_registration_over() {
            self.classes = self.world.class_list(self.mailbox.forms());
        }
        let id = ConnectionId(self.next_connection);
        self.next_connection += 1;
        let limits = Limits {
            mtu_bytes: self.config.mtu_bytes,
            packets_in_flight: self.config.max_packets_in_flight,
            bytes_in_flight: self.config.max_bytes_in_flight,
            bytes_per_pass: self.config.max_bytes_per_tick,
            memory_bytes: self.config.max_connection_bytes,
        };
        let first = Sequence::new(self.config.first_sequence);
        let mut connection = Connection::new(id, is_replay, first, limits, self.config.message_percent, now);
        if self.config.congestion_control == CongestionControl::Paced {
            connection.outbox.congestion = Some(Box::new(Congestion::new(self.config.mtu_bytes)));
        }
        connection.outbox.set_budget(self.config.max_bytes_per_second, now);
        if trust == Trust::Unproved {
            connection.outbox.queue.allowance = Allowance::nothing();
        }
        let handshake = ServerHandshake::new(id, secret, trust, now);
        self.open += usize::from(!handshake.waits());
        self.connections.push(id, Peer { handshake, connection, followed: None });
        id
    }

    pub(crate) fn close(&mut self, id: ConnectionId, reason: DisconnectReason) {
        let Some(peer) = self.connections.get_mut(id) else { return };
        let queue = &mut peer.connection.outbox.queue;
        if let HandshakeOutcome::Ended(reason) = peer.handshake.end(reason, &self.config, queue) {
            self.closed(id, reason);
        }
    }

    /// Removes the connections that ended so long ago that they need not be kept any more.
    pub(super) fn remove_ended(&mut self, now: Duration) {
        while self.ended.front().is_some_and(|(at, _)| now.saturating_sub(*at) >= self.keep_ended) {
            self.remove_oldest_ended();
        }
    }

    /// Removes the connection that ended first. The client of a removed connection is no longer told why the
    /// connection ended.
    fn remove_oldest_ended(&mut self) {
        if let Some((_, id)) = self.ended.pop_front()
            && let Some(peer) = self.connections.remove(id)
            && peer.handshake.is_of_endpoint()
        {
            self.removed.push(id);
        }
    }

    /// Removes an ended connection before its time. Costs O(ended connections).
    pub(crate) fn forget(&mut self, id: ConnectionId) {
        if let Some(at) = self.ended.iter().position(|(_, ended)| *ended == id) {
            self.ended.remove(at);
            self.connections.remove(id);
            self.ended_of_endpoints.retain(|other| *other != id);
        }
    }

    /// Ends a connection and removes it immediately. Returns the packets that tell its client the reason.
    pub(crate) fn evict(&mut self, id: ConnectionId, reason: DisconnectReason) -> Vec<Vec<u8>> {
        self.close(id, reason);
        let farewells = self.handshake(id).map(|handshake| handshake.farewells(self.config.mtu_bytes));
        let farewells = farewells.into_iter().flatten().collect();
        self.forget(id);
        farewells
    }

    /// Returns the number of connections that have places: all that have not ended, except those of clients
    /// that begin only when they have shown their tokens and have not done so yet.
    pub(crate) fn open(&self) -> usize {
        self.open
    }

    /// Returns the connections that have ended since the last call, of the endpoint whose connections these
    /// are.
    pub(crate) fn take_ended(&mut self, is_own: impl Fn(ConnectionId) -> bool) -> Vec<ConnectionId> {
        self.ended_of_endpoints.extract_if(.., |id| is_own(*id)).collect()
    }

    /// Returns the connections that were removed since the last call, of the endpoint whose connections these
    /// are. The connections of other endpoints wait for their calls.
    pub(crate) fn take_removed(&mut self, is_own: impl Fn(ConnectionId) -> bool) -> Vec<ConnectionId> {
        self.removed.extract_if(.., |id| is_own(*id)).collect()
    }

    /// Returns after how much silence the server closes a connection.
    pub(crate) fn timeout(&self) -> Duration {
        self.config.timeout
    }

    /// Returns the handshake of a connection that was not removed.
    pub(crate) fn handshake(&self, id: ConnectionId) -> Option<&ServerHandshake> {
        self.connections.get(id).map(|peer| &peer.handshake)
    }

    /// Returns the packet that tells the client of an ended connection why the connection ended, as the
    /// answer to a hello with this token.
    pub(crate) fn closing(&self, id: ConnectionId, token: u64) -> Option<Vec<u8>> {
        self.handshake(id)?.closing(token, self.config.mtu_bytes)
    }

    /// Records that a client has a new address. The measured capacity of the link is dropped, because it
    /// belongs to the old address.
    pub(crate) fn moved(&mut self, id: ConnectionId) {
        let Some(peer) = self.connections.get_mut(id) else { return };
        if let Some(congestion) = &mut peer.connection.outbox.congestion {
            **congestion = Congestion::new(self.config.mtu_bytes);
        }
    }

    /// Handles the end of a connection's session.
    fn closed(&mut self, id: ConnectionId, reason: DisconnectReason) {
        let Some(peer) = self.connections.get_mut(id) else { return };
        let has_place = peer.connection.is_live() || !peer.handshake.waits();
        self.open -= usize::from(has_place);
        peer.connection.end(&mut self.world);
        self.ended.push_back((self.now, id));
        if peer.handshake.is_of_endpoint() {
            self.ended_of_endpoints.push(id);
        }
        self.events.push(ServerEvent::Disconnected(id, reason));
    }

    /// Handles the start of a connection's session.
    pub(super) fn connected(&mut self, id: ConnectionId) {
        let Some(peer) = self.connections.get_mut(id) else { return };
        let timeout = self.config.timeout;
        self.open += usize::from(peer.handshake.waits());
        peer.connection.begin(peer.handshake.binding(), &self.mailbox, timeout, &mut self.world);
        self.events.push(ServerEvent::Connected(id));
    }

    /// Handles a packet that was received from a client. Bytes that are not a packet of the connection's
    /// session are ignored. A malformed packet with a correct checksum ends the connection (R20). Costs
    /// O(bytes).
    ///
    /// # Panics
    /// Panics in debug builds if packets were received for half of [`timeout`](crate::ServerConfig::timeout)
    /// without a [`tick`](Self::tick), whatever is in them. Packets of connections that have ended do not
    /// count.
    #[track_caller]
    pub fn receive(&mut self, connection: ConnectionId, now: Duration, bytes: &[u8]) {
        let now = self.now.max(now);
        self.now = now;
        if cfg!(debug_assertions)
            && self.connections.get(connection).is_some_and(|peer| !peer.handshake.is_ended())
        {
            self.tick_watch.received(now, self.config.timeout, "Server");
        }
        self.dispatch_packet(connection, now, bytes);
    }

    #[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
    fn dispatch_packet(&mut self, id: ConnectionId, now: Duration, bytes: &[u8]) {
        let Some(peer) = self.connections.get_mut(id) else { return };
        peer.preload_packet();
        let Peer { handshake, connection, .. } = peer;
        connection.outbox.preload_ack();
        let context = HandshakeContext { config: &self.config, classes: &self.classes };
        let newest = connection.newest_received();
        match handshake.receive(bytes, newest, now, context, &mut connection.outbox.queue) {
            HandshakeOutcome::Nothing => {}
            HandshakeOutcome::Proved(sequence, reader) => {
                self.connected(id);
                self.hear_state(id, sequence, reader, now);
            }
            HandshakeOutcome::State(sequence, reader) => self.hear_state(id, sequence, reader, now),
            HandshakeOutcome::Connected => self.connected(id),
            HandshakeOutcome::Login(login) => self.events.push(ServerEvent::Login(id, login)),
            HandshakeOutcome::Ended(reason) => self.closed(id, reason),
        }
    }

    /// Reads a packet of state from a client.
    fn hear_state(&mut self, id: ConnectionId, sequence: Sequence, mut reader: BitReader<'_>, now: Duration) {
        let Some(peer) = self.connections.get_mut(id) else { return };
        let Peer { handshake, connection, .. } = peer;
        connection.outbox.in_flight.preload_oldest();
        match connection.receive(&mut self.world, &mut self.mailbox, sequence, &mut reader, now) {
            Ok(true) => handshake.note_packet(now),
            Ok(false) => {}
            Err(reason) => self.close(id, reason),
        }
    }
}
