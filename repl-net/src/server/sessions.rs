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
use crate::session::server_handshake::{HandshakeContext, HandshakeOutcome, ServerHandshake};
use crate::transport::allowance::Allowance;
use crate::transport::congestion::Congestion;
use crate::transport::outbox::Limits;
use crate::transport::sequence::Sequence;

impl Server {
    /// Adds a connection for a new client. The caller passes the client's packets to
    /// [`receive`](Self::receive) with the returned id. The server sends state once the handshake is
    /// complete.
    pub fn connect(&mut self, now: Duration) -> ConnectionId {
        self.connect_as(now, false)
    }

    /// Adds a connection for a client that records a replay. Conditions for replays apply to this connection
    /// (S35).
    pub fn connect_replay(&mut self, now: Duration) -> ConnectionId {
        self.connect_as(now, true)
    }

    fn connect_as(&mut self, now: Duration, is_replay: bool) -> ConnectionId {
        if !self.is_frozen() {
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
            connection.outbox.congestion = Some(Congestion::new(self.config.mtu_bytes));
        }
        if self.config.validate_addresses {
            connection.outbox.queue.allowance = Allowance::nothing();
        }
        let peer = Peer { handshake: ServerHandshake::new(id, now), connection, lent: Vec::new() };
        self.connections.insert(id, Box::new(peer));
        id
    }

    /// Ends a connection with a client. The next [`poll_transmit`](Self::poll_transmit) returns the packet
    /// that tells the client that the connection ends. The connection is removed after the timeout.
    pub fn disconnect(&mut self, connection: ConnectionId) {
        self.close(connection, DisconnectReason::Closed);
    }

    pub(super) fn close(&mut self, id: ConnectionId, reason: DisconnectReason) {
        let Some(peer) = self.connections.get_mut(&id) else { return };
        if let HandshakeOutcome::Ended(reason) = peer.handshake.end(reason, &mut peer.connection.outbox.queue)
        {
            self.closed(id, reason);
        }
    }

    /// Handles the end of a connection's session.
    fn closed(&mut self, id: ConnectionId, reason: DisconnectReason) {
        let Some(peer) = self.connections.get_mut(&id) else { return };
        peer.connection.end(&mut self.world);
        self.events.push(ServerEvent::Disconnected(id, reason));
    }

    /// Handles the start of a connection's session.
    fn connected(&mut self, id: ConnectionId) {
        let Some(peer) = self.connections.get_mut(&id) else { return };
        peer.connection.begin(peer.handshake.binding(), &self.mailbox, &mut self.world);
        self.events.push(ServerEvent::Connected(id));
    }

    /// Handles a packet that was received from a client. Bytes that are not a packet of the connection's
    /// session are ignored. A malformed packet whose checksum is right ends the connection (R20). Costs
    /// O(bytes).
    ///
    /// # Panics
    /// Panics in debug builds if packets were received for half of [`timeout`](crate::ServerConfig::timeout)
    /// without a [`tick`](Self::tick).
    #[track_caller]
    pub fn receive(&mut self, connection: ConnectionId, now: Duration, bytes: &[u8]) {
        self.hand_over(connection, now, bytes);
        if cfg!(debug_assertions)
            && self.connections.get(&connection).is_some_and(|peer| peer.handshake.last_received() == now)
        {
            self.tick_watch.received(now, self.config.timeout, "Server");
        }
    }

    #[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
    fn hand_over(&mut self, id: ConnectionId, now: Duration, bytes: &[u8]) {
        let Some(peer) = self.connections.get_mut(&id) else { return };
        let Peer { handshake, connection, .. } = &mut **peer;
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
            HandshakeOutcome::Ended(reason) => self.closed(id, reason),
        }
    }

    /// Reads a packet of state from a client.
    fn hear_state(&mut self, id: ConnectionId, sequence: Sequence, mut reader: BitReader<'_>, now: Duration) {
        let Some(peer) = self.connections.get_mut(&id) else { return };
        let Peer { handshake, connection, .. } = &mut **peer;
        match connection.receive(&mut self.world, &mut self.mailbox, sequence, &mut reader, now) {
            Ok(true) => handshake.note_packet(now),
            Ok(false) => {}
            Err(why) => self.close(id, DisconnectReason::Protocol(why)),
        }
    }
}
