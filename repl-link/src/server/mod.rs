//! The clients of a server and their sessions: which clients are connected, how sessions begin and end, and
//! how the packets of all clients are polled in fair turns.
//!
//! *Invariant:* only the handshake decides which session a packet belongs to and whether the session begins.

pub(crate) mod host;
pub(crate) mod peer;
pub(crate) mod peers;
mod poll_order;
pub(crate) mod rest;

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use repl_core::NetSerialize;

use crate::frame::sequence::{Sequence, WINDOW};
use crate::link::Link;
use crate::messages::channel::SendError;
use crate::messages::mailbox::Mailbox;
use crate::messages::progress::MessageProgress;
use crate::messages::recipient::Recipient;
use crate::messages::written::Written;
use crate::outbox::Limits;
use crate::packet_size::truncation::Truncation;
use crate::rate::allowance::Allowance;
use crate::session::agreement::Agreement;
use crate::session::connection_id::ConnectionId;
use crate::session::disconnect::DisconnectReason;
use crate::session::login::max_login_bytes;
use crate::session::secret::Secret;
use crate::session::server_handshake::{ServerContext, ServerHandshake};
use crate::session::server_outcome::ServerOutcome;
use crate::session::terms::{ServerTerms, assert_positive};
use crate::session::tick_watch::{TickWatch, Watched};
use crate::session::trust::Trust;
use peer::{HasLink, Peer};
use peers::Peers;
use poll_order::PollOrder;

/// The settings of the sessions of a server. `Debug` does not print the secret.
#[derive(Clone, Copy)]
pub struct ServerSettings {
    /// The settings that the handshake uses.
    pub terms: ServerTerms,
    /// The limits of the packets that are sent to each client.
    pub limits: Limits,
    /// How many bytes may be sent to a client in a second. `usize::MAX` stands for no limit.
    pub bytes_per_second: usize,
    /// Whether clients must prove their addresses, because the transport has not validated them.
    pub validates_addresses: bool,
    /// The secret that protects the tokens of connections that do not belong to an
    /// [`Endpoint`](crate::Endpoint). If clients connect without an endpoint over a network that others can
    /// read, set it to random bits.
    pub secret: u64,
    /// The number of the first packet of each session, the same on both sides.
    pub first_sequence: u64,
}

/// By default, packets have up to 1,200 bytes, and sessions end after 10 s of silence. Anyone may connect,
/// and each client must prove its address.
impl Default for ServerSettings {
    fn default() -> Self {
        let limits = Limits {
            packets_in_flight: WINDOW as usize,
            bytes_in_flight: 4 << 20,
            bytes_per_pass: usize::MAX,
            memory_bytes: 4 << 20,
        };
        Self {
            terms: ServerTerms::default(),
            limits,
            bytes_per_second: usize::MAX,
            validates_addresses: true,
            secret: 0,
            first_sequence: 0,
        }
    }
}

impl fmt::Debug for ServerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { terms, limits, bytes_per_second, validates_addresses, secret: _, first_sequence } = self;
        f.debug_struct("ServerSettings")
            .field("terms", terms)
            .field("limits", limits)
            .field("bytes_per_second", bytes_per_second)
            .field("validates_addresses", validates_addresses)
            .field("secret", &format_args!("_"))
            .field("first_sequence", first_sequence)
            .finish()
    }
}

impl ServerSettings {
    /// # Panics
    /// Panics if a setting is out of its range. The message names the setting.
    #[track_caller]
    fn assert_valid(&self) {
        self.terms.assert_valid();
        let Limits { packets_in_flight, bytes_in_flight, bytes_per_pass, memory_bytes } = self.limits;
        assert_positive("packets_in_flight", packets_in_flight);
        assert_positive("bytes_in_flight", bytes_in_flight);
        assert_positive("bytes_per_pass", bytes_per_pass);
        assert_positive("memory_bytes", memory_bytes);
        assert_positive("bytes_per_second", self.bytes_per_second);
    }
}

/// Who makes a connection: the user of the server, an [`Endpoint`](crate::Endpoint) or a transport.
#[derive(Clone, Copy, Debug)]
pub enum Maker {
    /// The user of the server, who passes each packet together with its connection.
    User,
    /// An endpoint, to which the client has proved its address with a cookie.
    Endpoint {
        /// The secret of the endpoint, which protects the token of the connection.
        secret: Secret,
        /// Whether the connection begins only when the client has shown that it has received the welcome, the
        /// packet by which the server accepts it.
        waits: bool,
        /// After its end, the connection is remembered for at least this time.
        keep: Duration,
    },
    /// A transport that encrypts and authenticates packets, has proved the address of the client, and uses
    /// its connection only for this session. Packets have the [form for such a
    /// transport](crate::parts::to_sealed).
    Transport {
        /// The secret of the transport, which protects the token of the connection.
        secret: Secret,
    },
}

/// The clients of a server and their sessions. `C` is the type of the data that the server stores about one
/// connection.
pub struct ServerSessions<C: HasLink> {
    settings: ServerSettings,
    secret: Secret,
    /// The registered types of messages, and the messages that were not polled.
    pub mailbox: Mailbox<ConnectionId>,
    /// The clients, including those whose sessions have ended and are still remembered.
    pub peers: Peers<C>,
    next: u32,
    /// How many connections have places: see [`Roster::open`](host::Roster::open).
    open: usize,
    /// The ended connections, in the order in which they ended.
    ended: VecDeque<(Duration, ConnectionId)>,
    /// How long an ended connection is remembered.
    keep_ended: Duration,
    /// The connections of endpoints that have ended. Their endpoints have not asked for them since then.
    ended_of_endpoints: Vec<ConnectionId>,
    /// The connections of endpoints that were removed. Their endpoints have not asked for them since then.
    removed: Vec<ConnectionId>,
    /// The latest time that was passed to the server. If a later call passes an earlier time, the server uses
    /// this time instead.
    now: Duration,
    ticks: u64,
    poll_order: PollOrder,
    truncation: Truncation,
    /// How much time has passed between the last two ticks.
    jump: Duration,
    tick_watch: TickWatch,
}

impl<C: HasLink> ServerSessions<C> {
    /// Returns the sessions of a server that has no clients yet.
    ///
    /// # Panics
    /// Panics if a setting is out of its range. The message names the setting.
    #[must_use]
    #[track_caller]
    pub fn new(settings: ServerSettings) -> Self {
        settings.assert_valid();
        Self {
            settings,
            secret: Secret::from(settings.secret),
            mailbox: Mailbox::default(),
            peers: Peers::default(),
            next: 0,
            open: 0,
            ended: VecDeque::new(),
            keep_ended: settings.terms.timeout,
            ended_of_endpoints: Vec::new(),
            removed: Vec::new(),
            now: Duration::ZERO,
            ticks: 0,
            poll_order: PollOrder::new(),
            truncation: Truncation::default(),
            jump: Duration::ZERO,
            tick_watch: TickWatch::new(Watched::Server),
        }
    }

    /// Returns the number of a connection without packets, for example for a player in the process of the
    /// server. Nothing else is stored about such a connection, and no other connection receives this number.
    ///
    /// # Panics
    /// Panics if it is the 2^32nd connection since the server was made.
    pub fn take_number(&mut self) -> ConnectionId {
        let id = ConnectionId(self.next);
        assert!(self.next < u32::MAX, "a server has at most 2^32 connections in its life");
        self.next += 1;
        id
    }

    /// Returns whether types may still be registered. Types may be registered until the first connection is
    /// made.
    #[must_use]
    pub fn may_register(&self) -> bool {
        self.next == 0
    }

    /// Returns the latest time that was passed to the server.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Returns the secret of the server.
    #[must_use]
    pub fn secret(&self) -> Secret {
        self.secret
    }

    /// Returns the limits and times that the server requires of its clients.
    #[must_use]
    pub fn terms(&self) -> &ServerTerms {
        &self.settings.terms
    }

    /// Returns the timeout: the server closes a connection from which nothing has arrived for this time.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.settings.terms.timeout
    }

    /// Returns the connections that have not ended.
    pub fn ids(&self) -> impl Iterator<Item = ConnectionId> {
        self.peers.iter().filter(|(_, peer)| !peer.handshake.is_ended()).map(|(id, _)| id)
    }

    /// Returns the handshake of a connection that was not removed.
    #[must_use]
    pub fn handshake(&self, id: ConnectionId) -> Option<&ServerHandshake> {
        self.peers.get(id).map(|peer| &peer.handshake)
    }

    /// Adds a connection. `make` makes the data of the connection from its link, and also sets the rate
    /// control of the link. Without a rate control, only the other limits apply to the packets.
    ///
    /// # Panics
    /// Panics if it is the 2^32nd connection since the server was made.
    pub fn connect(
        &mut self,
        now: Duration,
        maker: Maker,
        make: impl FnOnce(ConnectionId, Link<C::Payload>) -> C,
    ) -> ConnectionId {
        let now = self.now.max(now);
        self.now = now;
        let (secret, trust) = match maker {
            Maker::User if self.settings.validates_addresses => (self.secret, Trust::Unproved),
            Maker::User => (self.secret, Trust::Validated),
            Maker::Endpoint { secret, waits, keep } => {
                self.keep_ended = self.keep_ended.max(keep);
                (secret, Trust::Cookie { waits })
            }
            Maker::Transport { secret } => (secret, Trust::Sealed),
        };
        let id = self.take_number();
        let ServerSettings { limits, bytes_per_second, first_sequence, .. } = self.settings;
        let mut link =
            Link::new(Sequence::new(first_sequence), self.settings.terms.capacity.mtu_bytes, limits, now);
        link.limit_packets(Duration::ZERO);
        link.outbox.is_sealed = trust == Trust::Sealed;
        link.outbox.set_budget(bytes_per_second, now);
        if trust == Trust::Unproved {
            link.outbox.queue.allowance = Allowance::nothing();
        }
        let handshake = ServerHandshake::new(id, secret, trust, now);
        self.open += usize::from(!handshake.waits());
        self.peers.push(id, Peer { handshake, connection: make(id, link), has_begun: false });
        id
    }

    /// Handles a packet that was received from a client. Bytes that are not a packet of the connection's
    /// session are ignored. When the result says that the session [begins](ServerOutcome::Connected) or
    /// [ends](ServerOutcome::Ended), this method has already begun or ended the exchange of messages. Costs
    /// O(bytes).
    ///
    /// # Panics
    /// Panics in debug builds if packets were received for half of the timeout without a tick, or if no
    /// packet was ever polled in that time.
    #[track_caller]
    pub fn receive<'b>(
        &mut self,
        id: ConnectionId,
        now: Duration,
        bytes: &'b [u8],
        agreement: &Agreement,
    ) -> ServerOutcome<'b> {
        let now = self.now.max(now);
        self.now = now;
        let terms = self.settings.terms;
        if cfg!(debug_assertions) && self.handshake(id).is_some_and(|handshake| !handshake.is_ended()) {
            self.tick_watch.received(now, terms.timeout);
        }
        let Some(peer) = self.peers.get_mut(id) else { return ServerOutcome::Nothing };
        peer.preload_packet();
        let Peer { handshake, connection, .. } = peer;
        let link = connection.link_mut();
        link.outbox.preload_ack();
        let (context, newest) = (ServerContext { terms, agreement }, link.newest_received());
        let outcome = handshake.receive(bytes, newest, now, context, &mut link.outbox.queue);
        match outcome {
            ServerOutcome::Connected | ServerOutcome::Proved(..) => self.begin(id),
            ServerOutcome::Ended(_) => self.note_end(id),
            ServerOutcome::ProbeArrived(number) => link.probe_answered(number, now),
            ServerOutcome::Damaged => self.truncation.damaged(bytes.len(), terms.capacity.mtu_bytes),
            ServerOutcome::Nothing | ServerOutcome::State(..) | ServerOutcome::Login(_) => {}
        }
        if !matches!(outcome, ServerOutcome::Damaged) {
            self.truncation.arrived(bytes.len());
        }
        outcome
    }

    /// Handles the start of a connection's session.
    fn begin(&mut self, id: ConnectionId) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        let timeout = self.settings.terms.timeout;
        self.open += usize::from(peer.handshake.waits());
        peer.has_begun = true;
        let (link, binding) = (peer.connection.link_mut(), peer.handshake.binding());
        let packet_bytes = peer.handshake.packet_bytes(self.settings.terms.capacity.mtu_bytes);
        link.exchange.begin(&self.mailbox, timeout);
        link.limit_packets(timeout);
        link.agree_packet_bytes(packet_bytes);
        link.outbox.binding = binding;
    }

    /// Handles the end of a connection's session.
    fn note_end(&mut self, id: ConnectionId) {
        let Some(peer) = self.peers.get_mut(id) else { return };
        let has_place = peer.has_begun || !peer.handshake.waits();
        self.open -= usize::from(has_place);
        peer.connection.link_mut().exchange.end();
        self.ended.push_back((self.now, id));
        if peer.handshake.is_of_endpoint() {
            self.ended_of_endpoints.push(id);
        }
    }

    /// Ends a connection, and tells its client. Returns the reason, or `None` if the connection had already
    /// ended. The connection is removed after at least one timeout. Until then, the server tells the client
    /// again whenever a packet shows that the client does not know of the end.
    pub fn close(&mut self, id: ConnectionId, reason: DisconnectReason) -> Option<DisconnectReason> {
        let timeout = self.timeout();
        let peer = self.peers.get_mut(id)?;
        let queue = &mut peer.connection.link_mut().outbox.queue;
        let reason = self.tick_watch.explained(reason, queue, timeout);
        match peer.handshake.end(reason, &self.settings.terms, queue) {
            ServerOutcome::Ended(reason) => {
                self.note_end(id);
                Some(reason)
            }
            _ => None,
        }
    }

    /// Sets the greatest size of the packets to a client, as [`Link::set_packet_bytes`] describes. Does
    /// nothing if the connection does not exist.
    pub fn set_packet_bytes(&mut self, id: ConnectionId, bytes: usize) {
        if let Some(peer) = self.peers.get_mut(id) {
            peer.connection.link_mut().set_packet_bytes(bytes);
        }
    }

    /// Returns whether the application must decide about the login of a client.
    #[must_use]
    pub fn awaits_login(&self, id: ConnectionId) -> bool {
        self.handshake(id).is_some_and(ServerHandshake::awaits_login)
    }

    /// Accepts the login of a client, so that the handshake continues. Does nothing if this connection has no
    /// login that waits for a decision. Returns whether the session [begins](ServerOutcome::Connected) now,
    /// or has [ended](ServerOutcome::Ended) because the answer does not fit into the packets of the client.
    ///
    /// # Panics
    /// Panics if the answer has more than 512 bytes, or more than the greatest size of a packet minus 64.
    #[track_caller]
    pub fn accept(&mut self, id: ConnectionId, answer: &[u8]) -> ServerOutcome<'static> {
        let most = max_login_bytes(self.settings.terms.capacity.mtu_bytes);
        assert!(answer.len() <= most, "an answer to a login has at most {most} bytes, not {}", answer.len());
        let Some(peer) = self.peers.get_mut(id) else { return ServerOutcome::Nothing };
        let queue = &mut peer.connection.link_mut().outbox.queue;
        let outcome = peer.handshake.accept(answer, self.now, &self.settings.terms, queue);
        match outcome {
            ServerOutcome::Connected => self.begin(id),
            ServerOutcome::Ended(_) => self.note_end(id),
            _ => {}
        }
        outcome
    }

    /// Queues a message to a client, which is sent in the next tick.
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent. Then the call has changed nothing.
    ///
    /// # Panics
    /// Panics if the type is not registered in the mailbox.
    #[track_caller]
    pub fn send<M: NetSerialize + Send + Sync>(
        &mut self,
        id: ConnectionId,
        message: &M,
    ) -> Result<(), SendError> {
        let (channel, writer) = self.mailbox.write(message)?;
        let link = self.peers.get_mut(id).ok_or(SendError::NotConnected)?.connection.link_mut();
        link.exchange.outgoing.add(channel, writer, link.outbox.capacity())
    }

    /// Sends a message to each client for which `receives` returns true. Returns the clients that do not
    /// receive the message, because too many messages to them wait for acks.
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent to anyone. Then the call has changed nothing.
    ///
    /// # Panics
    /// Panics if the type is not registered in the mailbox.
    #[track_caller]
    pub fn send_to_each<M: NetSerialize + Send + Sync>(
        &mut self,
        message: &M,
        receives: impl Fn(&C) -> bool,
    ) -> Result<Vec<ConnectionId>, SendError> {
        let (channel, writer) = self.mailbox.write(message)?;
        let mut written = Written::new(writer);
        let mut full = Vec::new();
        for (id, peer) in self.peers.iter_mut().filter(|(_, peer)| receives(&peer.connection)) {
            let link = peer.connection.link_mut();
            let max_bits = link.outbox.capacity();
            match link.exchange.outgoing.add_written(Recipient::Anyone, channel, &mut written, max_bits) {
                Err(SendError::Full) => full.push(id),
                Err(SendError::NotConnected) | Ok(()) => {}
                // The limits of a type are the same for all connections, so this error occurs for the first
                // connection, before any message was queued.
                Err(error) => return Err(error),
            }
        }
        Ok(full)
    }

    /// Returns how much was transferred of the large messages of a type, if the connection exists.
    ///
    /// # Panics
    /// Panics if the type is not registered in the mailbox.
    #[track_caller]
    pub fn message_progress<M: NetSerialize>(&self, id: ConnectionId) -> MessageProgress {
        let channel = self.mailbox.channel_of::<M>();
        let peer = self.peers.get(id);
        peer.map_or_else(MessageProgress::default, |peer| peer.connection.link().exchange.progress(channel))
    }

    /// Begins a tick. Returns the time, which never decreases.
    ///
    /// # Panics
    /// Panics in debug builds if the times of the ticks cannot be the time since a fixed start.
    #[track_caller]
    pub fn begin_tick(&mut self, now: Duration) -> Duration {
        self.jump = self.tick_watch.ticked(now, self.now);
        self.ticks += 1;
        self.now = self.now.max(now);
        self.now
    }

    /// If packets of clients seem to be truncated, returns the length to which they are truncated, in bytes.
    /// Returns each length only once.
    pub fn take_truncated(&mut self) -> Option<usize> {
        self.truncation.take()
    }

    /// Returns how much time has passed between the last two ticks, if this is at least the timeout of silent
    /// connections. Then the program was suspended, or its times are in the wrong unit.
    #[must_use]
    pub fn jump(&self) -> Option<Duration> {
        Some(self.jump).filter(|jump| *jump >= self.timeout())
    }

    /// Removes the connections that ended long ago and need not be remembered any more. The client of a
    /// removed connection is no longer told why the connection ended.
    pub fn remove_ended(&mut self) {
        while let Some((at, id)) = self.ended.front().copied()
            && self.now.saturating_sub(at) >= self.keep_ended
        {
            self.ended.pop_front();
            if self.peers.remove(id).is_some_and(|peer| peer.handshake.is_of_endpoint()) {
                self.removed.push(id);
            }
        }
    }

    /// Returns the next packet for a client, or `None` if this tick has no more packets for it.
    pub fn poll_transmit(&mut self, id: ConnectionId) -> Option<&[u8]> {
        self.tick_watch.polled();
        if !self.peers.get(id)?.connection.link().outbox.queue.is_empty() {
            self.peers.preload_packets_after(id);
        }
        self.peers.resting_mut(id)?.connection.link_mut().outbox.queue.pop()
    }

    /// Returns the connection of the next packet to send, among the connections for which `is_meant` returns
    /// true. The connections take turns, and each turn is one packet.
    pub fn next_transmitting(&mut self, is_meant: impl Fn(ConnectionId) -> bool) -> Option<ConnectionId> {
        self.tick_watch.polled();
        let has_packets =
            |id: ConnectionId, peer: &Peer<C>| peer.connection.link().outbox.queue.is_ready() && is_meant(id);
        self.poll_order.next(self.ticks, &self.peers, has_packets)
    }
}
