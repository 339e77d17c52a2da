//! Begins and ends the sessions of clients, and receives their packets.
//!
//! *Invariant:* a connection has objects only during its session.

use std::time::Duration;

use repl_core::BitReader;
use repl_link::parts::{Maker, PathFinding, Peer, Roster, Sequence, ServerOutcome, ServerSessions};
use repl_link::{ConnectionId, DisconnectReason};

use super::Server;
use super::connection::Connection;
use super::host::{Host, HostOptions};
use crate::session::events::ServerEvent;
use crate::telemetry;

impl Server {
    /// Adds a connection for a new client. The caller passes the client's packets to
    /// [`receive`](Self::receive) with the returned id. The server sends state after the handshake is
    /// complete. After the first call, nothing more can be registered, even if no client has answered yet.
    pub fn connect(&mut self, now: Duration) -> ConnectionId {
        self.connect_as(now, Maker::User, false)
    }

    /// Adds a connection for a client that records a replay. Conditions for replays apply to this connection.
    pub fn connect_replay(&mut self, now: Duration) -> ConnectionId {
        self.connect_as(now, Maker::User, true)
    }

    /// Adds the host: the player in the process of the server, as on Unreal's listen server. It is a
    /// connection without packets. Its session begins at once, and [`ServerEvent::Connected`] reports it. As
    /// after the first [`connect`](Self::connect), nothing more can be registered from now on. The returned
    /// id works in the same methods as the id of a client: the host can own objects, be in groups and be
    /// disconnected. The handle [`host`](Self::host) has the methods that the host itself uses.
    ///
    /// A host does not log in, does not count in the limits of an [`Endpoint`](crate::Endpoint), and receives
    /// no state, because it uses the objects of the server. Settings that decide which state a client
    /// receives, and when, have no effect on it.
    ///
    /// ```
    /// # use repl_net as repl;
    /// use repl::{Channel, HostOptions, Server, ServerConfig, ServerEvent};
    ///
    /// let mut server = Server::new(ServerConfig::default());
    /// server.register_message::<String>(Channel::Ordered);
    /// let id = server.connect_host(HostOptions::default());
    /// assert_eq!(server.poll_event(), Some(ServerEvent::Connected(id)));
    ///
    /// server.host().expect("it is connected").send(&"hello".to_owned())?;
    /// assert_eq!(server.poll_message(), Some((id, "hello".to_owned())));
    /// server.connection(id).send(&"welcome".to_owned())?;
    /// assert_eq!(server.host().expect("it is connected").poll_message(), Some("welcome".to_owned()));
    /// # Ok::<(), repl_net::SendError>(())
    /// ```
    ///
    /// # Panics
    /// Panics if the server has a host already.
    #[track_caller]
    pub fn connect_host(&mut self, options: HostOptions) -> ConnectionId {
        assert!(
            self.host.is_none(),
            "a server has at most one host: disconnect the host before another comes"
        );
        self.end_registration();
        let id = self.sessions.take_number();
        self.host = Some(Box::new(Host::new(id, options, &self.sessions.mailbox)));
        self.report_beginning(id);
        id
    }

    /// Numbers the classes, unless they are numbered already. After this, nothing more can be registered.
    fn end_registration(&mut self) {
        if !self.is_registration_over() {
            self.classes = self.world.store.class_list(self.sessions.mailbox.forms());
            if let Some(traffic) = &mut self.traffic {
                traffic.set_layouts(self.world.store.columns().map(|column| column.program().layout()));
            }
            self.find_channel_of_assets();
        }
    }

    fn connect_as(&mut self, now: Duration, maker: Maker, is_replay: bool) -> ConnectionId {
        self.end_registration();
        self.world.functions.have_outdated = true;
        let config = &self.config;
        self.sessions.connect(now, maker, |id, mut link| {
            link.outbox.congestion = config.congestion_control.make(config.mtu_bytes).map(Box::new);
            Connection::new(id, is_replay, link, config)
        })
    }

    pub(crate) fn close(&mut self, id: ConnectionId, reason: DisconnectReason) {
        if self.host.take_if(|host| host.id == id).is_some() {
            self.sessions.mailbox.end_session(id);
            self.report_end(id, reason);
        } else if let Some(reason) = self.sessions.close(id, reason) {
            self.closed(id, reason);
        }
    }

    /// Returns whether a connection exists and has not ended. The host counts as a connection, too.
    pub(crate) fn is_open(&self, id: ConnectionId) -> bool {
        self.is_host(id) || self.sessions.handshake(id).is_some_and(|handshake| !handshake.is_ended())
    }

    fn closed(&mut self, id: ConnectionId, reason: DisconnectReason) {
        if let Some(peer) = self.sessions.peers.get_mut(id) {
            peer.connection.end(&mut self.world);
        }
        self.sessions.mailbox.end_session(id);
        self.shared_size.changed();
        self.report_end(id, reason);
    }

    fn connected(&mut self, id: ConnectionId) {
        if let Some(peer) = self.sessions.peers.get_mut(id) {
            peer.connection.begin(&mut self.world);
        }
        self.shared_size.changed();
        self.report_beginning(id);
    }

    fn report_beginning(&mut self, id: ConnectionId) {
        telemetry::event!(INFO, connection = ?id, "a session has begun");
        self.events.push(ServerEvent::Connected(id));
    }

    fn report_end(&mut self, id: ConnectionId, reason: DisconnectReason) {
        telemetry::event!(INFO, connection = ?id, reason = %reason, "a session has ended");
        self.events.push(ServerEvent::Disconnected(id, reason));
    }

    /// Handles a new result of the path probes, which measure how large packets to a client may be.
    pub(super) fn found_path(&mut self, id: ConnectionId, finding: PathFinding) {
        match finding {
            PathFinding::Carries(bytes) => {
                self.shared_size.changed();
                self.events.push(ServerEvent::PacketBytesChanged(id, bytes));
            }
            PathFinding::TooNarrow => self.close(id, DisconnectReason::PathTooNarrow),
        }
    }

    /// Reports it if larger packets seem to arrive truncated.
    pub(super) fn report_truncation(&mut self) {
        if let Some(bytes) = self.sessions.take_truncated() {
            telemetry::event!(WARN, bytes, "packets arrive truncated: receive them into a larger buffer");
            let mtu_bytes = self.config.mtu_bytes;
            self.events.push(ServerEvent::PacketsTruncated { arrived_bytes: bytes, mtu_bytes });
        }
    }

    /// Accepts the login of a client.
    #[track_caller]
    pub(super) fn accept(&mut self, id: ConnectionId, answer: &[u8]) {
        match self.sessions.accept(id, answer) {
            ServerOutcome::Connected => self.connected(id),
            ServerOutcome::Ended(reason) => self.closed(id, reason),
            _ => {}
        }
    }

    /// Handles a packet that was received from a client. Bytes that are not a packet of the connection's
    /// session are ignored. A malformed packet with a correct checksum ends the connection. Costs O(bytes).
    ///
    /// # Panics
    /// Panics in debug builds if packets were received for half of [`timeout`](crate::ServerConfig::timeout)
    /// without a [`tick`](Self::tick), or for the same time without a packet being
    /// [polled](Self::poll_any_transmit). The content of the packets does not matter. Packets of connections
    /// that have ended do not count.
    #[track_caller]
    pub fn receive(&mut self, connection: ConnectionId, now: Duration, bytes: &[u8]) {
        match self.sessions.receive(connection, now, bytes, self.classes.agreement()) {
            ServerOutcome::Nothing | ServerOutcome::Damaged | ServerOutcome::ProbeArrived(_) => {}
            ServerOutcome::Proved(sequence, reader) => {
                self.connected(connection);
                self.hear_state(connection, sequence, reader);
            }
            ServerOutcome::State(sequence, reader) => self.hear_state(connection, sequence, reader),
            ServerOutcome::Connected => self.connected(connection),
            ServerOutcome::Login(login) => self.events.push(ServerEvent::Login(connection, login)),
            ServerOutcome::Ended(reason) => self.closed(connection, reason),
        }
    }

    /// Reads a packet of state from a client.
    #[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
    fn hear_state(&mut self, id: ConnectionId, sequence: Sequence, mut reader: BitReader<'_>) {
        let now = self.sessions.now();
        let ServerSessions { peers, mailbox, .. } = &mut self.sessions;
        let Some(peer) = peers.get_mut(id) else { return };
        let Peer { handshake, connection, .. } = peer;
        connection.link.outbox.in_flight.preload_oldest();
        match connection.receive(&mut self.world, mailbox, sequence, &mut reader, now) {
            Ok(true) => handshake.note_packet(now),
            Ok(false) => {}
            Err(reason) => self.close(id, reason),
        }
    }
}

/// For endpoints. Programs call the methods with the same names above.
impl repl_link::Host for Server {
    fn roster(&self) -> &impl Roster {
        &self.sessions
    }

    fn roster_mut(&mut self) -> &mut impl Roster {
        &mut self.sessions
    }

    fn connect(&mut self, now: Duration, maker: Maker) -> ConnectionId {
        self.connect_as(now, maker, false)
    }

    fn receive(&mut self, connection: ConnectionId, now: Duration, bytes: &[u8]) {
        Self::receive(self, connection, now, bytes);
    }

    fn close(&mut self, connection: ConnectionId, reason: DisconnectReason) {
        Self::close(self, connection, reason);
    }
}
