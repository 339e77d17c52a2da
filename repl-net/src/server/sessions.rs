//! Sessions of clients: from the first hello to the farewell.
//!
//! *Invariant:* a packet is heard only in the session that it is sealed for (R25), and no state flows before the welcome (R21).

use std::time::Duration;

use repl_core::BitReader;

use super::{ConnectionId, Server};
use crate::allowance::{Allowance, token};
use crate::classes::Finding;
use crate::config::CongestionControl;
use crate::congestion::Congestion;
use crate::connection::{Connection, Stage};
use crate::events::{DisconnectReason, ServerEvent};
use crate::handshake::{ClientLimits, Control, HELLO_BYTES, timeout_ms};
use crate::inquiry::{Inquiry, Part, Progress};
use crate::outbox::Limits;
use crate::packet::{self, Opened};
use crate::sequence::Sequence;

/// How often a client is welcomed until it says something that follows it.
const WELCOME_INTERVAL: Duration = Duration::from_millis(100);

/// A connection, and what its session knows of the client.
pub(super) struct Peer {
    pub(super) connection: Connection,
    /// What the client said it can hold, once it has said hello.
    pub(super) limits: Option<ClientLimits>,
    /// What its packets of state are bound to beside the session, once it has said hello (R26); zero if the transport validates addresses.
    token: u64,
    /// Whether a packet has come that only who knows the token can have sealed.
    echoes: bool,
    /// When it was last told that it is welcome.
    last_welcome: Duration,
    /// How far it is known where its classes differ.
    inquiry: Inquiry,
    /// The packet that was last lent out.
    pub(super) lent: Vec<u8>,
}

impl Peer {
    fn say_welcome(&mut self, timeout: Duration, now: Duration) {
        self.last_welcome = now;
        self.connection
            .outbox
            .control(&Control::Welcome { timeout_ms: timeout_ms(timeout), token: self.token });
    }

    /// Until the client knows the token nothing else that it says is heard.
    pub(super) fn remind(&mut self, timeout: Duration, now: Duration) {
        if !self.echoes
            && self.connection.stage == Stage::Connected
            && !self.connection.outbox.is_held_back()
            && now.saturating_sub(self.last_welcome) >= WELCOME_INTERVAL
        {
            self.say_welcome(timeout, now);
        }
    }
}

/// What is said to a client at the end.
fn farewell(reason: &DisconnectReason) -> Control {
    match reason {
        DisconnectReason::Layouts(mismatch) => Control::Refused(mismatch.clone()),
        DisconnectReason::Limits(mismatch) => Control::TooSmall(*mismatch),
        _ => Control::Disconnect,
    }
}

impl Server {
    /// A new client: hand over its packets under this name. State flows once it has said hello.
    pub fn connect(&mut self, now: Duration) -> ConnectionId {
        self.connect_as(now, false)
    }

    /// A new client that records a replay: conditions on replays hold for it (S35).
    pub fn connect_replay(&mut self, now: Duration) -> ConnectionId {
        self.connect_as(now, true)
    }

    fn connect_as(&mut self, now: Duration, is_replay: bool) -> ConnectionId {
        if !self.is_frozen() {
            self.classes = self.world.class_list();
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
        let mut connection = Connection::new(id, is_replay, first, limits, now);
        if self.config.congestion_control == CongestionControl::Paced {
            connection.outbox.congestion = Some(Congestion::new(self.config.mtu_bytes));
        }
        if self.config.validate_addresses {
            connection.outbox.allowance = Allowance::nothing();
        }
        let peer = Peer {
            connection,
            limits: None,
            token: 0,
            echoes: false,
            last_welcome: now,
            inquiry: Inquiry::default(),
            lent: Vec::new(),
        };
        self.connections.insert(id, Box::new(peer));
        id
    }

    /// Ends a connection; its farewell goes with the next [`poll_transmit`](Self::poll_transmit), and it is
    /// forgotten after the timeout.
    pub fn disconnect(&mut self, connection: ConnectionId) {
        self.close(connection, DisconnectReason::Closed);
    }

    pub(super) fn close(&mut self, id: ConnectionId, reason: DisconnectReason) {
        let Some(peer) = self.connections.get_mut(&id) else { return };
        if peer.connection.is_closed() {
            return;
        }
        // Nobody could open the farewell of a session that has not begun.
        if peer.limits.is_some() {
            peer.connection.outbox.control(&farewell(&reason));
        }
        peer.connection.stage = Stage::Closed(reason.clone());
        peer.connection.release_all(&mut self.world);
        self.events.push(ServerEvent::Disconnected(id, reason));
    }

    /// Hands over a packet from a client. Bytes that are no packet of the session are dropped in silence; a malformed packet whose
    /// checksum is right ends the connection (R20). O(bytes).
    ///
    /// # Panics
    /// In debug builds, if packets have been handed over for half of [`timeout`](crate::ServerConfig::timeout) without a [`tick`](Self::tick).
    #[cfg_attr(
        not(test),
        deny(
            clippy::unwrap_used,
            clippy::expect_used,
            clippy::indexing_slicing,
            clippy::arithmetic_side_effects
        )
    )]
    #[track_caller]
    pub fn receive(&mut self, connection: ConnectionId, now: Duration, bytes: &[u8]) {
        self.open(connection, now, bytes);
        if self.connections.get(&connection).is_some_and(|peer| peer.connection.last_heard == now) {
            self.tick_watch.received(now, self.config.timeout, "Server");
        }
    }

    fn open(&mut self, connection: ConnectionId, now: Duration, bytes: &[u8]) {
        let Some(peer) = self.connections.get_mut(&connection) else { return };
        // A client need not know how large the server's packets are, so its own may be as large as it said.
        let said_bytes = peer.limits.map_or(HELLO_BYTES, |limits| limits.mtu_bytes());
        let max_bytes = said_bytes.max(self.config.mtu_bytes);
        if bytes.len() > max_bytes {
            return;
        }
        if let Some(mut reader) = packet::open_hello(bytes) {
            peer.connection.outbox.allowance.earn(bytes.len());
            self.hello(connection, &mut reader, now);
            return;
        }
        // Before its hello a client has no session that a packet could be bound to.
        if peer.limits.is_none() {
            return;
        }
        let session = peer.connection.outbox.session;
        let newest = peer.connection.newest_received();
        let Some(opened) = packet::open(bytes, session, peer.token, newest) else { return };
        match &opened {
            Opened::Control(_) => peer.connection.outbox.allowance.earn(bytes.len()),
            // Only the welcome told the token.
            Opened::State(..) => {
                peer.echoes = true;
                peer.connection.outbox.allowance.lift();
            }
        }
        let result = match (opened, &peer.connection.stage) {
            (Opened::Control(mut reader), _) => {
                Control::read(&mut reader).map(|control| self.control(connection, control, now))
            }
            (Opened::State(sequence, mut reader), Stage::Connected) => {
                peer.connection.receive(&mut self.world, sequence, &mut reader, now)
            }
            (Opened::State(..), _) => Ok(()),
        };
        if let Err(error) = result {
            self.close(connection, DisconnectReason::Protocol(error.to_string()));
        }
    }

    /// A client says hello. Anyone can write one: for a session that holds the connection it changes nothing, and a second
    /// session is told that there is another (R25).
    #[cfg_attr(
        not(test),
        deny(
            clippy::unwrap_used,
            clippy::expect_used,
            clippy::indexing_slicing,
            clippy::arithmetic_side_effects
        )
    )]
    fn hello(&mut self, id: ConnectionId, reader: &mut BitReader<'_>, now: Duration) {
        let Some(peer) = self.connections.get_mut(&id) else { return };
        let connection = &mut peer.connection;
        if connection.outbox.is_held_back() {
            return;
        }
        let is_held = peer.limits.is_some();
        let (session, checksum, limits) = match Control::read(reader) {
            Ok(Control::Hello { session, checksum, limits }) => (session, checksum, limits),
            Err(error) if !is_held => {
                self.close(id, DisconnectReason::Protocol(error.to_string()));
                return;
            }
            _ => return,
        };
        if is_held && session != connection.outbox.session {
            connection.outbox.push(Control::Taken.to_packet(session));
            return;
        }
        match &connection.stage {
            Stage::Closed(reason) => connection.outbox.push(farewell(reason).to_packet(session)),
            Stage::Connected => peer.say_welcome(self.config.timeout, now),
            Stage::Handshake => {
                connection.last_heard = now;
                connection.outbox.session = session;
                if self.config.validate_addresses {
                    peer.token = token(self.config.secret, id.index(), session);
                }
                peer.limits = Some(limits);
                if let Some(mismatch) = limits.first_mismatch(&self.config) {
                    self.close(id, DisconnectReason::Limits(mismatch));
                } else if checksum == self.classes.checksum() {
                    self.welcome(id, now);
                } else {
                    connection.outbox.control(&Control::Differs(peer.inquiry.question().clone()));
                }
            }
        }
    }

    #[cfg_attr(
        not(test),
        deny(
            clippy::unwrap_used,
            clippy::expect_used,
            clippy::indexing_slicing,
            clippy::arithmetic_side_effects
        )
    )]
    fn control(&mut self, id: ConnectionId, control: Control, now: Duration) {
        let Some(peer) = self.connections.get_mut(&id) else { return };
        let connection = &mut peer.connection;
        match (control, connection.stage.clone()) {
            (Control::Classes(part), Stage::Handshake) => {
                connection.last_heard = now;
                self.hear_answer(id, part, now);
            }
            (Control::Classes(_), Stage::Closed(DisconnectReason::Layouts(mismatch))) => {
                connection.outbox.control(&Control::Refused(mismatch));
            }
            (Control::Disconnect, Stage::Handshake | Stage::Connected) => {
                self.close(id, DisconnectReason::Closed)
            }
            _ => {}
        }
    }

    /// Takes a part of a client's answer on its classes, and asks on, refuses or welcomes it when all is there.
    fn hear_answer(&mut self, id: ConnectionId, part: Part, now: Duration) {
        let Some(peer) = self.connections.get_mut(&id) else { return };
        let is_first = part.part == 0;
        let entries = match peer.inquiry.take(part) {
            Ok(Progress::Answered(entries)) => entries,
            Ok(Progress::Outdated) if is_first => {
                let question = peer.inquiry.question().clone();
                peer.connection.outbox.control(&Control::Differs(question));
                return;
            }
            Ok(Progress::Incomplete | Progress::Outdated) => return,
            Err(error) => return self.close(id, DisconnectReason::Protocol(error.to_string())),
        };
        match self.classes.examine(peer.inquiry.question(), &entries) {
            Finding::Same => self.welcome(id, now),
            Finding::Differs(mismatch) => self.close(id, DisconnectReason::Layouts(mismatch)),
            Finding::Ask(question) => {
                peer.inquiry = Inquiry::asking(question.clone());
                peer.connection.outbox.control(&Control::Differs(question));
            }
        }
    }

    fn welcome(&mut self, id: ConnectionId, now: Duration) {
        let Some(peer) = self.connections.get_mut(&id) else { return };
        peer.connection.stage = Stage::Connected;
        peer.connection.outbox.tell_status();
        peer.say_welcome(self.config.timeout, now);
        peer.connection.show_all(&mut self.world);
        self.events.push(ServerEvent::Connected(id));
    }
}
