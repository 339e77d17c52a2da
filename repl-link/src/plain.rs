//! A server and a client that exchange only messages.
//!
//! *Invariant:* packets contain only acks and messages, and no state of objects.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::VecDeque;
use std::time::Duration;

use repl_core::{Guid, NetSerialize, Objects, ReadError};

use crate::client::guest::{Guest, Visit};
use crate::client::{ClientSession, Heard, ReceiveError};
use crate::link::Link;
use crate::messages::channel::{Channel, MessageOptions, SendError};
use crate::messages::progress::MessageProgress;
use crate::packet_size::probing::PathFinding;
use crate::rate::bbr::Bbr;
use crate::server::host::{Host, Roster};
use crate::server::{Maker, ServerSessions, ServerSettings};
use crate::session::agreement::Agreement;
use crate::session::client_handshake::ClientContext;
use crate::session::connection_id::ConnectionId;
use crate::session::disconnect::DisconnectReason;
use crate::session::identity::Session;
use crate::session::server_outcome::ServerOutcome;
use crate::session::terms::ClientTerms;

/// There are no objects, so references in messages read as null.
struct NoObjects;

impl Objects for NoObjects {
    fn contains(&self, _: Guid) -> bool {
        false
    }
}

/// An event that a server reports to its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// The session of this connection has begun.
    Connected(ConnectionId),
    /// A client has sent its login data. Call [`accept`](MessageServer::accept), or
    /// [disconnect](MessageServer::disconnect) the client.
    Login(ConnectionId, Vec<u8>),
    /// The session of this connection has ended, for this reason.
    Disconnected(ConnectionId, DisconnectReason),
    /// Packets to the client have at most this many bytes from now on, because the path drops larger packets,
    /// or carries larger packets again.
    PacketBytesChanged(ConnectionId, usize),
}

/// A server that exchanges messages with its clients.
pub struct MessageServer {
    sessions: ServerSessions<Link<()>>,
    agreement: Agreement,
    events: VecDeque<SessionEvent>,
}

impl MessageServer {
    /// Returns a server without clients.
    #[must_use]
    pub fn new(settings: ServerSettings) -> Self {
        let sessions = ServerSessions::new(settings);
        Self { sessions, agreement: Agreement::default(), events: VecDeque::new() }
    }

    /// Registers a type of messages. Clients must register the same types.
    ///
    /// # Panics
    /// Panics after the first connection, or if a type of this name is registered already.
    #[track_caller]
    pub fn register<M: NetSerialize + Send + Sync>(&mut self, channel: Channel) -> &mut Self {
        self.register_with::<M>(channel, MessageOptions::default())
    }

    /// Registers a type of messages with its own limits. Clients must register it with the same limits.
    ///
    /// # Panics
    /// Panics as [`register`](Self::register) does, or if a limit is out of its range.
    #[track_caller]
    pub fn register_with<M: NetSerialize + Send + Sync>(
        &mut self,
        channel: Channel,
        options: MessageOptions,
    ) -> &mut Self {
        assert!(self.sessions.may_register(), "register `{}` before the first connection", M::WIRE_NAME);
        self.sessions.mailbox.register::<M>(channel, options);
        self
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<SessionEvent> {
        self.events.pop_front()
    }

    /// Accepts the login of a client. Does nothing if this connection has no login that waits for a decision.
    pub fn accept(&mut self, connection: ConnectionId, answer: &[u8]) {
        let event = match self.sessions.accept(connection, answer) {
            ServerOutcome::Connected => SessionEvent::Connected(connection),
            ServerOutcome::Ended(reason) => SessionEvent::Disconnected(connection, reason),
            _ => return,
        };
        self.events.push_back(event);
    }

    /// Ends a connection.
    pub fn disconnect(&mut self, connection: ConnectionId) {
        self.close(connection, DisconnectReason::Closed);
    }

    /// Sets the greatest size of the packets to a client, in bytes, for example when the transport knows the
    /// largest packet that its path carries. The size is never greater than the largest packet that each of
    /// the two sides receives. It is less than 508 only if one side receives less. Does nothing if the
    /// connection does not exist.
    pub fn set_packet_bytes(&mut self, connection: ConnectionId, bytes: usize) {
        self.sessions.set_packet_bytes(connection, bytes);
    }

    /// Queues a message to a client, which is sent in the next tick.
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent. Then the call has changed nothing.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub fn send<M: NetSerialize + Send + Sync>(
        &mut self,
        connection: ConnectionId,
        message: &M,
    ) -> Result<(), SendError> {
        self.sessions.send(connection, message)
    }

    /// Queues a message to each client. Returns the clients that do not receive the message, because too many
    /// messages to them wait for acks.
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent to anyone. Then the call has changed nothing.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub fn send_to_all<M: NetSerialize + Send + Sync>(
        &mut self,
        message: &M,
    ) -> Result<Vec<ConnectionId>, SendError> {
        self.sessions.send_to_each(message, |_| true)
    }

    /// Returns how much was transferred of the large messages of a type between the server and a client.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub fn message_progress<M: NetSerialize>(&self, connection: ConnectionId) -> MessageProgress {
        self.sessions.message_progress::<M>(connection)
    }

    /// Returns the next message of a type, with its sender.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub fn poll<M: NetSerialize + Send + Sync>(&mut self) -> Option<(ConnectionId, M)> {
        self.sessions.mailbox.poll()
    }

    /// Makes the packets of this tick. `now` is the time since a fixed start, and never decreases.
    ///
    /// # Panics
    /// Panics in debug builds if `now` cannot be the time since a fixed start.
    #[track_caller]
    pub fn tick(&mut self, now: Duration) {
        let now = self.sessions.begin_tick(now);
        let (timeout, mut ends) = (self.sessions.timeout(), Vec::new());
        let terms = *self.sessions.terms();
        for (id, peer) in self.sessions.peers.iter_mut() {
            match peer.probe(now) {
                Some(PathFinding::Carries(bytes)) => {
                    self.events.push_back(SessionEvent::PacketBytesChanged(id, bytes));
                }
                Some(PathFinding::TooNarrow) => ends.push((id, DisconnectReason::PathTooNarrow)),
                None => {}
            }
            let link = &mut peer.connection;
            if peer.handshake.is_connected() {
                link.tick(peer.handshake.shorter_timeout(timeout), false, now);
            }
            peer.handshake.repeat_welcome(&terms, now, &mut link.outbox.queue);
            let round_trip = link.health.round_trip.smoothed();
            let stalled = || link.exchange.expire(timeout, round_trip, now).err();
            ends.extend(peer.handshake.overdue(&terms, now).or_else(stalled).map(|reason| (id, reason)));
        }
        ends.into_iter().for_each(|(id, reason)| self.close(id, reason));
        self.sessions.remove_ended();
    }

    /// Returns the next packet for a client, or `None` if this tick has no more packets for it.
    pub fn poll_transmit(&mut self, connection: ConnectionId) -> Option<&[u8]> {
        self.sessions.poll_transmit(connection)
    }
}

impl Host for MessageServer {
    fn roster(&self) -> &impl Roster {
        &self.sessions
    }

    fn roster_mut(&mut self) -> &mut impl Roster {
        &mut self.sessions
    }

    fn connect(&mut self, now: Duration, maker: Maker) -> ConnectionId {
        if self.sessions.may_register() {
            self.agreement = Agreement::new(Vec::new(), self.sessions.mailbox.forms().collect());
        }
        let packet_bytes = self.sessions.terms().capacity.mtu_bytes;
        self.sessions.connect(now, maker, |_, mut link| {
            link.outbox.congestion = Some(Box::new(Bbr::new(packet_bytes)));
            link
        })
    }

    fn receive(&mut self, connection: ConnectionId, now: Duration, bytes: &[u8]) {
        let (sequence, mut reader) = match self.sessions.receive(connection, now, bytes, &self.agreement) {
            ServerOutcome::Nothing | ServerOutcome::Damaged | ServerOutcome::ProbeArrived(_) => return,
            ServerOutcome::Connected => {
                return self.events.push_back(SessionEvent::Connected(connection));
            }
            ServerOutcome::Login(login) => {
                return self.events.push_back(SessionEvent::Login(connection, login));
            }
            ServerOutcome::Ended(reason) => {
                return self.events.push_back(SessionEvent::Disconnected(connection, reason));
            }
            ServerOutcome::Proved(sequence, reader) => {
                self.events.push_back(SessionEvent::Connected(connection));
                (sequence, reader)
            }
            ServerOutcome::State(sequence, reader) => (sequence, reader),
        };
        let now = self.sessions.now();
        let ServerSessions { peers, mailbox, .. } = &mut self.sessions;
        let Some(peer) = peers.get_mut(connection) else { return };
        let link = &mut peer.connection;
        let heard = link.open(sequence, &mut reader, false, now).and_then(|packet| {
            let Some(packet) = packet else { return Ok(false) };
            let protocol = |error: ReadError| DisconnectReason::Protocol(error.to_string());
            let messages = link.exchange.read_alone(&mut reader, mailbox).map_err(protocol)?;
            let mut acks = link.accept(packet);
            while link.next_acked(&mut acks, now).is_some() {}
            link.exchange.deliver((&messages, None), connection, mailbox, &NoObjects, now)?;
            Ok(true)
        });
        match heard {
            Ok(true) => peer.handshake.note_packet(now),
            Ok(false) => {}
            Err(reason) => self.close(connection, reason),
        }
    }

    fn close(&mut self, connection: ConnectionId, reason: DisconnectReason) {
        if let Some(reason) = self.sessions.close(connection, reason) {
            self.events.push_back(SessionEvent::Disconnected(connection, reason));
        }
    }
}

/// A client that exchanges messages with a server.
pub struct MessageClient {
    terms: ClientTerms<'static>,
    session: ClientSession<()>,
    agreement: Agreement,
    /// Why the last session ended.
    ended: Option<DisconnectReason>,
}

impl MessageClient {
    /// Returns a client that connects in its first tick. `identity` distinguishes its sessions from the
    /// sessions of all other clients.
    #[must_use]
    pub fn new(terms: ClientTerms<'static>, identity: Session) -> Self {
        let session = ClientSession::new(identity, &terms, Bbr::new);
        Self { terms, session, agreement: Agreement::default(), ended: None }
    }

    /// Registers a type of messages. The server must register the same types.
    ///
    /// # Panics
    /// Panics after the first tick, or if a type of this name is registered already.
    #[track_caller]
    pub fn register<M: NetSerialize + Send + Sync>(&mut self, channel: Channel) -> &mut Self {
        self.register_with::<M>(channel, MessageOptions::default())
    }

    /// Registers a type of messages with its own limits. The server must register it with the same limits.
    ///
    /// # Panics
    /// Panics as [`register`](Self::register) does, or if a limit is out of its range.
    #[track_caller]
    pub fn register_with<M: NetSerialize + Send + Sync>(
        &mut self,
        channel: Channel,
        options: MessageOptions,
    ) -> &mut Self {
        assert!(self.session.may_register(), "register `{}` before the first tick", M::WIRE_NAME);
        self.session.mailbox.register::<M>(channel, options);
        self
    }

    /// Returns whether the server has accepted this client, and the session has not ended.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.session.is_connected()
    }

    /// Returns the reason why the last session ended. Returns each reason once.
    pub fn take_end(&mut self) -> Option<DisconnectReason> {
        self.ended.take()
    }

    /// Sets the greatest size of the packets to the server, in bytes, in this session and in later ones. The
    /// size is never greater than the largest packet that each of the two sides receives. It is less than 508
    /// only if one side receives less.
    pub fn set_packet_bytes(&mut self, bytes: usize) {
        self.session.set_packet_bytes(bytes);
    }

    /// Returns the new greatest size of packets, if a probe of the path has changed it. Returns each change
    /// once.
    pub fn take_changed_packet_bytes(&mut self) -> Option<usize> {
        self.session.take_changed_packet_bytes()
    }

    /// Ends the session, and does not connect again.
    pub fn disconnect(&mut self) {
        self.session.stop();
        self.ended = self.session.end(DisconnectReason::Closed).or(self.ended.take());
    }

    /// Queues a message to the server, which is sent in the next tick.
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent. Then the call has changed nothing.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub fn send<M: NetSerialize + Send + Sync>(&mut self, message: &M) -> Result<(), SendError> {
        self.session.send(message)
    }

    /// Returns how much was transferred of the large messages of a type.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub fn message_progress<M: NetSerialize>(&self) -> MessageProgress {
        self.session.message_progress::<M>()
    }

    /// Returns the next message of a type.
    ///
    /// # Panics
    /// Panics if the type is not registered.
    #[track_caller]
    pub fn poll<M: NetSerialize + Send + Sync>(&mut self) -> Option<M> {
        self.session.mailbox.poll().map(|((), message)| message)
    }

    /// Handles a packet from the server.
    ///
    /// # Errors
    /// Returns an error if the packet has no effect because it does not belong to this session. Also returns
    /// an error if the packet is malformed. A malformed packet ends the session.
    #[track_caller]
    pub fn receive(&mut self, now: Duration, bytes: &[u8]) -> Result<(), ReceiveError> {
        let context = ClientContext { terms: self.terms, agreement: &self.agreement };
        match self.session.receive(now, bytes, context)? {
            Heard::Nothing | Heard::Began(_) => Ok(()),
            Heard::Ended(reason) => {
                self.ended = Some(reason.clone());
                match reason {
                    DisconnectReason::Protocol(why) if self.session.has_ended_itself() => {
                        Err(ReceiveError::Malformed(why))
                    }
                    _ => Ok(()),
                }
            }
            Heard::Packet(packet, mut reader) => {
                let session = &mut self.session;
                let result = match session.link.exchange.read_alone(&mut reader, &mut session.mailbox) {
                    Ok(messages) => session.accept(packet, messages, &NoObjects),
                    Err(error) => Err(DisconnectReason::Protocol(error.to_string())),
                };
                let Err(reason) = result else { return Ok(()) };
                self.ended = self.session.end(reason.clone());
                match reason {
                    DisconnectReason::Protocol(why) => Err(ReceiveError::Malformed(why)),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Makes the packets of this tick. `now` is the time since a fixed start, and never decreases.
    ///
    /// # Panics
    /// Panics in debug builds if `now` cannot be the time since a fixed start.
    #[track_caller]
    pub fn tick(&mut self, now: Duration) {
        self.session.begin_tick(now);
        self.session.reconnect(&self.terms);
        if self.session.may_register() {
            self.agreement = Agreement::new(Vec::new(), self.session.mailbox.forms().collect());
        }
        let context = ClientContext { terms: self.terms, agreement: &self.agreement };
        self.ended = self.session.tick(context).or(self.ended.take());
    }

    /// Returns the next packet for the server, or `None` if this tick has no more packets.
    #[track_caller]
    pub fn poll_transmit(&mut self) -> Option<&[u8]> {
        self.session.poll_transmit()
    }
}

impl Guest for MessageClient {
    fn visit(&self) -> &impl Visit {
        &self.session
    }

    fn visit_mut(&mut self) -> &mut impl Visit {
        &mut self.session
    }

    fn receive(&mut self, now: Duration, bytes: &[u8]) {
        Self::receive(self, now, bytes).ok();
    }

    fn lose_session(&mut self, reason: DisconnectReason) {
        self.ended = self.session.lose(reason, &self.terms).or(self.ended.take());
    }
}

#[cfg(test)]
mod tests {
    use repl_core::BitWriter;

    use super::*;
    use crate::frame::packet::{self, PacketKind, Salt};
    use crate::session::secret::Secret;

    const TICK: Duration = Duration::from_millis(16);

    /// A server with a client. Every packet arrives.
    struct Pair {
        server: MessageServer,
        client: MessageClient,
        id: ConnectionId,
        now: Duration,
    }

    impl Pair {
        fn new() -> Self {
            let mut server = MessageServer::new(ServerSettings::default());
            server.register::<String>(Channel::Unordered);
            let mut client = MessageClient::new(ClientTerms::default(), Session::for_tests(1));
            client.register::<String>(Channel::Unordered);
            let id = server.connect(Duration::ZERO, Maker::User);
            let mut pair = Self { server, client, id, now: TICK };
            pair.run(20);
            assert!(pair.client.is_connected());
            pair
        }

        fn run(&mut self, ticks: u32) {
            for _ in 0..ticks {
                self.now += TICK;
                self.client.tick(self.now);
                while let Some(packet) = self.client.poll_transmit() {
                    self.server.receive(self.id, self.now, packet);
                }
                self.server.tick(self.now);
                while let Some(packet) = self.server.poll_transmit(self.id) {
                    self.client.receive(self.now, packet).expect("nothing is damaged");
                }
            }
        }

        fn link(&self) -> &Link<()> {
            &self.server.sessions.peers.get(self.id).expect("a connection").connection
        }
    }

    #[test]
    fn r20_a_malformed_packet_ends_the_session_and_is_an_error_for_whoever_passes_it() {
        let cut_header = vec![true; 6];
        let segment_without_an_end: Vec<bool> = (0..40).map(|at| at > 3).collect();
        for bits in [cut_header, segment_without_an_end] {
            let mut pair = Pair::new();
            let (binding, next) = (pair.link().outbox.binding, pair.link().outbox.sequence());
            let mut writer = BitWriter::new();
            packet::begin(PacketKind::State, &mut writer);
            writer.write_bits(next.to_wire().into(), 16);
            bits.iter().for_each(|&bit| writer.write_flag(bit));
            let forged = packet::seal(writer, Salt::state(binding, next));
            let received = pair.client.receive(pair.now, &forged);
            assert!(matches!(received, Err(ReceiveError::Malformed(_))), "{bits:?}: {received:?}");
            assert!(matches!(pair.client.take_end(), Some(DisconnectReason::Protocol(_))));
            assert_eq!(pair.client.receive(pair.now, &forged), Err(ReceiveError::Closed));
        }
    }

    #[test]
    fn r25_a_side_whose_transport_does_not_seal_takes_no_state_without_a_checksum() {
        for server_seals in [false, true] {
            let mut pair = Pair::new();
            if server_seals {
                let peer = pair.server.sessions.peers.get_mut(pair.id).expect("a connection");
                peer.connection.outbox.is_sealed = true;
            } else {
                pair.client.session.seal();
            }
            pair.client.send(&"up".to_owned()).expect("there is room");
            pair.server.send(pair.id, &"down".to_owned()).expect("there is room");
            for _ in 0..20 {
                pair.now += TICK;
                pair.client.tick(pair.now);
                while let Some(packet) = pair.client.poll_transmit() {
                    pair.server.receive(pair.id, pair.now, packet);
                }
                pair.server.tick(pair.now);
                while let Some(packet) = pair.server.poll_transmit(pair.id) {
                    pair.client.receive(pair.now, packet).ok();
                }
            }
            let up = pair.server.poll::<String>().map(|(_, text)| text);
            let down = pair.client.poll::<String>();
            let (from_sealed, from_other) = if server_seals { (down, up) } else { (up, down) };
            assert_eq!(from_sealed, None, "it has no checksum");
            assert!(from_other.is_some(), "its checksum is right");
        }
    }

    #[test]
    fn r25_state_before_the_welcome_proves_nothing() {
        for sends_state in [false, true] {
            let mut settings = ServerSettings::default();
            settings.terms.asks_login = true;
            let mut server = MessageServer::new(settings);
            let mut client = MessageClient::new(ClientTerms::default(), Session::for_tests(7));
            let id =
                Host::connect(&mut server, Duration::ZERO, Maker::Transport { secret: Secret::from(5_u64) });
            client.tick(Duration::ZERO);
            let hello = client.poll_transmit().expect("it says hello").to_vec();
            let mut end = None;
            for tick in 0..700 {
                let now = TICK * tick;
                if tick % 5 == 0 {
                    server.receive(id, now, &hello);
                }
                if sends_state && tick == 10 {
                    server.receive(id, now, &[0; 12]);
                }
                server.tick(now);
                while server.poll_transmit(id).is_some() {}
                if let Some(SessionEvent::Disconnected(..)) = server.poll_event() {
                    end.get_or_insert(now);
                }
            }
            assert!(end.is_some_and(|end| end <= Duration::from_secs(11)), "{sends_state}: {end:?}");
        }
    }

    #[test]
    fn what_a_burst_of_messages_needed_is_freed_on_both_sides() {
        let mut pair = Pair::new();
        let text = "x".repeat(500);
        for _ in 0..100 {
            pair.client.send(&text).expect("there is room");
            pair.server.send(pair.id, &text).expect("there is room");
        }
        let held = |link: &Link<()>| link.outbox.memory_bytes() + link.other_bytes();
        pair.run(3);
        let busy = [held(&pair.client.session.link), held(pair.link())];
        pair.run(1_100);
        let resting = [held(&pair.client.session.link), held(pair.link())];
        assert!(busy.iter().all(|&bytes| bytes > 20_000), "{busy:?}");
        assert!(resting.iter().all(|&bytes| bytes < 5_000), "{resting:?}");
    }

    #[test]
    fn secrets_and_logins_are_not_printed() {
        let settings = ServerSettings { secret: 123_456_789, ..ServerSettings::default() };
        assert!(!format!("{settings:?}").contains("123456789"));
        let terms = ClientTerms { login: b"password", ..ClientTerms::default() };
        assert!(format!("{terms:?}").contains("8 bytes"));
    }

    #[test]
    #[should_panic = "the largest packet is from 128 to 65,507 bytes, but `mtu_bytes` is 100"]
    fn packets_too_small_for_their_frames_are_refused() {
        let mut terms = crate::ServerTerms::default();
        terms.capacity.mtu_bytes = 100;
        _ = MessageServer::new(ServerSettings { terms, ..ServerSettings::default() });
    }

    #[test]
    #[should_panic = "an answer to a login has at most 512 bytes, not 513"]
    fn an_answer_to_a_login_that_no_client_could_read_is_refused() {
        let mut pair = Pair::new();
        pair.server.accept(pair.id, &[0; 513]);
    }
}
