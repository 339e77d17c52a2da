//! A client: one session after another with a server, and the messages in both directions.
//!
//! *Invariant:* a new session keeps only the registered types, the messages that were not polled, and the
//! statistics of earlier sessions.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod attempts;
pub(crate) mod guest;

use std::any::TypeId;
use std::time::Duration;

use repl_core::{BitReader, BitWriter, NetSerialize, NoObjects, Objects, ReadError, WriteError};

use crate::frame::sequence::{Sequence, WINDOW};
use crate::link::{Link, NewPacket, PACKETS_PER_SECOND};
use crate::messages::channel::SendError;
use crate::messages::exchange::CheckedMessages;
use crate::messages::mailbox::{Inbox, Mailbox};
use crate::messages::progress::MessageProgress;
use crate::outbox::Limits;
use crate::packet_size::probing::PathFinding;
use crate::packet_size::truncation::Truncation;
use crate::rate::rate_limit::RateLimit;
use crate::sent::payload::Payload;
use crate::session::client_handshake::{ClientContext, ClientHandshake, ClientOutcome};
use crate::session::disconnect::DisconnectReason;
use crate::session::identity::Session;
use crate::session::terms::ClientTerms;
use crate::session::tick_watch::{TickWatch, Watched};
use attempts::Attempts;
pub use attempts::Beginning;

/// The reason why a packet was not applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiveError {
    /// The bytes are not a packet of this session: the bytes are damaged, truncated, too large, or from
    /// another sender. The client can ignore bytes that are not a packet of its session.
    #[error("not a packet of this session")]
    Damaged,
    /// The packet contains something that the protocol forbids, and the connection has ended. The event
    /// `Disconnected` has the reason [`Protocol`](DisconnectReason::Protocol), which lists the causes.
    #[error("malformed packet: {0}")]
    Malformed(String),
    /// The connection with the server has already ended. Ignore the packet: the event `Disconnected` has
    /// reported the reason, and a later session may begin.
    #[error("the connection is closed")]
    Closed,
}

/// What the user of a session must do with a packet from the server.
#[derive(Debug)]
pub enum Heard<'b, P: Payload> {
    /// Nothing.
    Nothing,
    /// A session has begun.
    Began(Beginning),
    /// The packet is new. The user of the session reads the rest of it, and then calls
    /// [`accept`](ClientSession::accept).
    Packet(NewPacket<'b, P>, BitReader<'b>),
    /// The session has ended.
    Ended(DisconnectReason),
}

/// Counts of the bytes and packets of a client, in all sessions together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionStats {
    /// The bytes of all packets that were sent.
    pub bytes_sent: u64,
    /// The bytes of all packets that were received.
    pub bytes_received: u64,
    /// The packets with state or acks that were received, without duplicates.
    pub packets_received: u64,
    /// The packets that the server has sent and that have not arrived. A late packet counts as lost until it
    /// arrives.
    pub packets_lost: u64,
    /// The packets that the server must acknowledge and has not acknowledged.
    pub packets_in_flight: usize,
}

/// Makes the rate control of a link. The argument is the greatest size of its packets in bytes.
pub type MakeRate<P> = fn(usize) -> <P as Payload>::Rate;

/// The client's side of its sessions with a server.
///
/// In each tick, the user passes the packets that arrived to [`receive`](Self::receive), calls
/// [`begin_tick`](Self::begin_tick), [`reconnect`](Self::reconnect) and [`tick`](Self::tick), and sends the
/// packets from [`poll_transmit`](Self::poll_transmit).
pub struct ClientSession<P: Payload> {
    handshake: ClientHandshake,
    attempts: Attempts,
    /// The link to the server, which fills the packets that are sent, and reads the packets that arrive.
    pub link: Link<P>,
    /// The registered types of messages, and the messages that were not polled.
    pub mailbox: Mailbox<()>,
    /// The latest time that was passed to the client. If a later call passes an earlier time, the client uses
    /// this time instead.
    now: Duration,
    last_tick: Duration,
    bytes_received: u64,
    packets_received: u64,
    make_rate: MakeRate<P>,
    /// The new greatest size of packets, if a probe of the path has changed it. `None` after the user has
    /// read it with `take_changed_packet_bytes`.
    changed_packet_bytes: Option<usize>,
    /// The packets that were received and lost in all earlier sessions together.
    earlier: Earlier,
    truncation: Truncation,
    /// How much time has passed between the last two ticks.
    jump: Duration,
    tick_watch: TickWatch,
}

#[derive(Clone, Copy, Debug, Default)]
struct Earlier {
    packets_received: u64,
    packets_lost: u64,
}

impl<P: Payload> ClientSession<P> {
    /// Returns a client that connects in its first tick. Each session has a new number, which is derived from
    /// `identity`, and a new rate control from `make_rate`.
    ///
    /// # Panics
    /// Panics if one of `terms` is out of its range. The message names the field.
    #[must_use]
    #[track_caller]
    pub fn new(identity: Session, terms: &ClientTerms<'_>, make_rate: MakeRate<P>) -> Self {
        terms.assert_valid();
        Self {
            handshake: ClientHandshake::new(identity.number(0), terms.capacity.mtu_bytes),
            attempts: Attempts::new(identity),
            link: new_link(terms, make_rate),
            make_rate,
            mailbox: Mailbox::default(),
            now: Duration::ZERO,
            last_tick: Duration::ZERO,
            bytes_received: 0,
            packets_received: 0,
            changed_packet_bytes: None,
            earlier: Earlier::default(),
            truncation: Truncation::default(),
            jump: Duration::ZERO,
            tick_watch: TickWatch::new(Watched::Client),
        }
    }

    /// Returns whether types may still be registered. Types may be registered until the first tick.
    #[must_use]
    pub fn may_register(&self) -> bool {
        self.handshake.is_idle() && self.attempts.is_first()
    }

    /// Returns whether the server has accepted this client and neither side has ended the connection since
    /// then.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.handshake.is_connected()
    }

    /// Returns whether the session has ended or could not begin, and this client will not connect again by
    /// itself.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.handshake.is_ended() && !self.attempts.has_next()
    }

    /// Returns whether this side has ended the session, and not the server.
    #[must_use]
    pub fn has_ended_itself(&self) -> bool {
        self.handshake.has_ended_itself()
    }

    /// Returns the answer of the server's application to the login.
    #[must_use]
    pub fn login_answer(&self) -> &[u8] {
        &self.handshake.login_answer
    }

    /// Returns the instance number of the server that accepted this client last. A restarted server has a new
    /// number.
    #[must_use]
    pub fn server_instance(&self) -> Option<u64> {
        self.attempts.server()
    }

    /// Returns the latest time that was passed to the client.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Returns the time of the last tick.
    #[must_use]
    pub fn last_tick(&self) -> Duration {
        self.last_tick
    }

    /// Returns how many bytes and packets were sent and received.
    #[must_use]
    pub fn stats(&self, terms: &ClientTerms<'_>) -> SessionStats {
        let packets_sent = self.link.received_end().number().saturating_sub(terms.first_sequence);
        let received = self.packets_received.saturating_sub(self.earlier.packets_received);
        SessionStats {
            bytes_sent: self.link.outbox.queue.bytes_sent,
            bytes_received: self.bytes_received,
            packets_received: self.packets_received,
            packets_lost: self.earlier.packets_lost.saturating_add(packets_sent.saturating_sub(received)),
            packets_in_flight: self.link.outbox.in_flight.unresolved(),
        }
    }

    /// Handles a packet from the server.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a packet of this session, or if the session has already ended.
    ///
    /// # Panics
    /// Panics in debug builds if packets were received for half of the timeout without a tick.
    #[track_caller]
    pub fn receive<'b>(
        &mut self,
        now: Duration,
        bytes: &'b [u8],
        context: ClientContext<'_>,
    ) -> Result<Heard<'b, P>, ReceiveError> {
        self.now = self.now.max(now);
        let (now, newest) = (self.now, self.link.newest_received());
        let queue = &mut self.link.outbox.queue;
        if self.handshake.is_ended() {
            self.handshake.receive_after_end(bytes, newest, queue);
            return Err(ReceiveError::Closed);
        }
        self.tick_watch.received(now, context.terms.timeout);
        let outcome = self.handshake.receive(bytes, newest, now, context, queue);
        if matches!(outcome, ClientOutcome::Damaged) {
            self.truncation.damaged(bytes.len(), self.link.outbox.size().of_any_path());
        } else {
            self.truncation.arrived(bytes.len());
            self.bytes_received = self.bytes_received.saturating_add(bytes.len() as u64);
        }
        Ok(match outcome {
            ClientOutcome::Damaged => return Err(ReceiveError::Damaged),
            ClientOutcome::Nothing => Heard::Nothing,
            ClientOutcome::State(sequence, reader) => self.open(sequence, reader),
            ClientOutcome::Connected => {
                self.welcomed();
                self.link.agree_packet_bytes(self.handshake.server_packet_bytes());
                self.handshake.packet_bytes = self.link.outbox.packet_bytes();
                self.link.exchange.begin(&self.mailbox, context.terms.timeout);
                Heard::Began(self.attempts.began(self.handshake.instance, now))
            }
            ClientOutcome::Welcome => {
                self.welcomed();
                Heard::Nothing
            }
            ClientOutcome::ProbeArrived(number) => {
                self.link.probe_answered(number, now);
                Heard::Nothing
            }
            ClientOutcome::Ended(reason) => {
                self.lost(&reason, &context.terms);
                Heard::Ended(reason)
            }
        })
    }

    /// Handles a welcome packet, by which the server accepts this client. Each welcome contains the token
    /// that validates the client's address.
    fn welcomed(&mut self) {
        self.link.outbox.binding = self.handshake.binding();
    }

    fn open<'b>(&mut self, sequence: Sequence, mut reader: BitReader<'b>) -> Heard<'b, P> {
        match self.link.open(sequence, &mut reader, true, self.now) {
            Ok(Some(packet)) => {
                self.handshake.note_packet(self.now);
                Heard::Packet(packet, reader)
            }
            Ok(None) => Heard::Nothing,
            Err(reason) => self.end(reason).map_or(Heard::Nothing, Heard::Ended),
        }
    }

    /// Reads and checks the messages of a packet, up to the end of the packet.
    ///
    /// # Errors
    /// Returns an error if an honest server cannot have sent them.
    pub fn check_messages<'b>(
        &mut self,
        reader: &mut BitReader<'b>,
    ) -> Result<CheckedMessages<'b>, ReadError> {
        self.link.exchange.read(reader, &mut self.mailbox)
    }

    /// Delivers the messages of one type before anything else in a checked packet. Returns the messages in
    /// the order in which they were sent. Returns no messages if the type is not registered.
    pub fn take_early<M: NetSerialize + Send + Sync>(&mut self, messages: &CheckedMessages<'_>) -> Vec<M> {
        let Some(channel) = self.mailbox.channel(TypeId::of::<M>()).filter(|_| !messages.is_empty()) else {
            return Vec::new();
        };
        let Self { link, mailbox, now, .. } = self;
        // The messages are polled at once, so the mailbox cannot become full.
        link.exchange.deliver((messages, Some(channel)), (), mailbox, &NoObjects, *now).ok();
        std::iter::from_fn(|| mailbox.poll().map(|((), message)| message)).collect()
    }

    /// Acks a new packet that was read to its end, processes its acks, and delivers its messages.
    ///
    /// # Errors
    /// Returns an error if the session must end, because too many messages wait to be polled.
    pub fn accept(
        &mut self,
        packet: NewPacket<'_, P>,
        messages: CheckedMessages<'_>,
        objects: &dyn Objects,
    ) -> Result<(), DisconnectReason> {
        let mut acks = self.link.accept(packet);
        while self.link.next_acked(&mut acks, self.now).is_some() {}
        self.packets_received = self.packets_received.saturating_add(1);
        self.link.exchange.deliver((&messages, None), (), &mut self.mailbox, objects, self.now)
    }

    /// Ends the session, and tells the server. Returns the reason, or `None` if the session had already
    /// ended.
    pub fn end(&mut self, reason: DisconnectReason) -> Option<DisconnectReason> {
        match self.handshake.end(reason, &mut self.link.outbox.queue) {
            ClientOutcome::Ended(reason) => {
                self.link.exchange.end();
                Some(reason)
            }
            _ => None,
        }
    }

    /// Tells the client that the transport seals the packets, and has a connection for each session. From now
    /// on, packets have the [form for such a transport](crate::parts::to_sealed), also in later sessions.
    pub fn seal(&mut self) {
        (self.handshake.is_sealed, self.link.outbox.is_sealed) = (true, true);
    }

    /// Returns the number of the session that this client has, or wants to begin. No two sessions have the
    /// same number.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.handshake.session()
    }

    /// Ends the session, because the transport knows that it cannot go on. Sends nothing to the server.
    /// Returns the reason, or `None` if the session had already ended.
    pub fn lose(&mut self, reason: DisconnectReason, terms: &ClientTerms<'_>) -> Option<DisconnectReason> {
        if self.handshake.is_ended() {
            return None;
        }
        self.handshake.ended(reason.clone());
        self.lost(&reason, terms);
        Some(reason)
    }

    /// Prevents this client from connecting again.
    pub fn stop(&mut self) {
        self.attempts.stop();
    }

    /// Handles an end of the session after which the client may connect again.
    fn lost(&mut self, reason: &DisconnectReason, terms: &ClientTerms<'_>) {
        self.link.exchange.end();
        if terms.reconnects {
            self.attempts.ended(reason, self.now, terms.timeout);
        }
    }

    /// Begins a tick. Returns the time, which never decreases.
    ///
    /// # Panics
    /// Panics in debug builds if the times of the ticks cannot be the time since a fixed start.
    #[track_caller]
    pub fn begin_tick(&mut self, now: Duration) -> Duration {
        self.jump = self.tick_watch.ticked(now, self.now);
        self.now = self.now.max(now);
        self.last_tick = self.now;
        self.now
    }

    /// Returns how much time has passed between the last two ticks, if this is at least `timeout`. Then the
    /// program was suspended, or its times are in the wrong unit.
    #[must_use]
    pub fn jump(&self, timeout: Duration) -> Option<Duration> {
        Some(self.jump).filter(|jump| *jump >= timeout)
    }

    /// Begins the next session, if it is due. Returns whether it has begun.
    pub fn reconnect(&mut self, terms: &ClientTerms<'_>) -> bool {
        let Some(number) = self.attempts.take_due(self.now) else { return false };
        let stats = self.stats(terms);
        self.earlier = Earlier { packets_received: stats.packets_received, packets_lost: stats.packets_lost };
        let wanted = self.link.outbox.size().wanted();
        let (bytes_sent, packets_sent) = (stats.bytes_sent, self.link.outbox.queue.packets_sent);
        let is_sealed = self.handshake.is_sealed;
        self.link = new_link(terms, self.make_rate);
        (self.link.outbox.queue.bytes_sent, self.link.outbox.queue.packets_sent) = (bytes_sent, packets_sent);
        self.link.set_packet_bytes(wanted);
        self.handshake = ClientHandshake::new(number, self.link.outbox.packet_bytes());
        (self.handshake.is_sealed, self.link.outbox.is_sealed) = (is_sealed, is_sealed);
        true
    }

    /// Sets the greatest size of the packets that this client sends, as [`Link::set_packet_bytes`] describes,
    /// in this session and in later ones.
    pub fn set_packet_bytes(&mut self, bytes: usize) {
        self.link.set_packet_bytes(bytes);
        self.handshake.packet_bytes = self.link.outbox.packet_bytes();
    }

    /// Returns the new greatest size of packets, if a probe of the path has changed it. Returns each change
    /// once.
    pub fn take_changed_packet_bytes(&mut self) -> Option<usize> {
        self.changed_packet_bytes.take()
    }

    /// If packets of the server seem to be truncated, returns the length to which they are truncated, in
    /// bytes. Returns it once.
    pub fn take_truncated(&mut self) -> Option<usize> {
        self.truncation.take()
    }

    /// Probes whether the path carries packets of the greatest size, if large packets were lost. Returns the
    /// reason if the session ends.
    fn probe(&mut self) -> Option<DisconnectReason> {
        match self.link.probe(self.handshake.closing_key(), self.now)? {
            PathFinding::Carries(bytes) => {
                (self.handshake.packet_bytes, self.changed_packet_bytes) = (bytes, Some(bytes));
                None
            }
            PathFinding::TooNarrow => self.end(DisconnectReason::PathTooNarrow),
        }
    }

    /// Makes the packets of this tick, which contain handshake data, messages or acks, or keep the session
    /// alive. Returns the reason if the session ends.
    pub fn tick(&mut self, context: ClientContext<'_>) -> Option<DisconnectReason> {
        let (now, terms) = (self.now, &context.terms);
        let has_begun = self.is_connected();
        if let Some(reason) = self.handshake.tick(now, context, &mut self.link.outbox.queue) {
            let queue = &self.link.outbox.queue;
            let reason = match reason {
                reason if has_begun => reason,
                reason => self.tick_watch.explained(reason, queue, terms.timeout),
            };
            self.lost(&reason, terms);
            return Some(reason);
        }
        if !self.is_connected() {
            return None;
        }
        let round_trip = self.link.health.round_trip.smoothed();
        if let Err(reason) = self.link.exchange.expire(terms.timeout, round_trip, now) {
            return self.end(reason);
        }
        if let Some(reason) = self.probe() {
            return Some(reason);
        }
        let timeout = self.handshake.shorter_timeout(terms.timeout);
        let must_send_token = self.handshake.must_send_token(now);
        self.link.tick(timeout, must_send_token, now);
        None
    }

    /// Queues a message to the server, which is sent in the next tick.
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent. Then the client has not changed.
    ///
    /// # Panics
    /// Panics if the type is not registered in the mailbox.
    #[track_caller]
    pub fn send<M: NetSerialize + Send + Sync>(&mut self, message: &M) -> Result<(), SendError> {
        self.send_bits((self.mailbox.channel_of::<M>(), 0), |writer| message.write(writer))
    }

    /// Queues a message to the server that `write` writes, as [`send`](Self::send) does. `channel` contains
    /// the channel of the message, and the number of the message's kind within this channel.
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent. Then the client has not changed.
    pub fn send_bits(
        &mut self,
        channel: (u16, usize),
        write: impl FnOnce(&mut BitWriter) -> Result<(), WriteError>,
    ) -> Result<(), SendError> {
        let Self { handshake, link, mailbox, last_tick, .. } = self;
        let writer = mailbox.write_bits(write)?;
        queue(handshake, link, channel, writer, *last_tick)
    }

    /// Queues a message to the server that `write` writes. `write` also receives the inbox of the message's
    /// type.
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent. Then only the changes that `write` made remain.
    pub fn send_from_inbox<I: Inbox<()>>(
        &mut self,
        type_id: TypeId,
        write: impl FnOnce(&mut I, &mut BitWriter) -> Result<(), WriteError>,
    ) -> Result<(), SendError> {
        let Self { handshake, link, mailbox, last_tick, .. } = self;
        let (channel, writer) = mailbox.write_from_inbox(type_id, write)?;
        queue(handshake, link, (channel, 0), writer, *last_tick)
    }

    /// Returns how much was transferred of the large messages of a type.
    ///
    /// # Panics
    /// Panics if the type is not registered in the mailbox.
    #[track_caller]
    pub fn message_progress<M: NetSerialize>(&self) -> MessageProgress {
        self.link.exchange.progress(self.mailbox.channel_of::<M>())
    }

    /// Returns the next packet for the server, or `None` if this tick has no more packets.
    ///
    /// # Panics
    /// Panics in debug builds if this method is called 1,000 times and there was never a tick.
    #[track_caller]
    pub fn poll_transmit(&mut self) -> Option<&[u8]> {
        self.tick_watch.polled();
        if self.handshake.is_idle() {
            self.tick_watch.polled_before_tick();
        }
        self.link.outbox.queue.pop()
    }
}

/// Queues a message. `channel` contains its channel, and the number of its kind within this channel.
fn queue<P: Payload>(
    handshake: &ClientHandshake,
    link: &mut Link<P>,
    channel: (u16, usize),
    writer: &mut BitWriter,
    now: Duration,
) -> Result<(), SendError> {
    if !handshake.is_connected() {
        return Err(SendError::NotConnected);
    }
    let max_bits = link.outbox.capacity();
    link.exchange.add_limited(channel, writer, max_bits, now)
}

fn new_link<P: Payload>(terms: &ClientTerms<'_>, make_rate: MakeRate<P>) -> Link<P> {
    let mtu_bytes = terms.capacity.mtu_bytes;
    let limits = Limits {
        packets_in_flight: WINDOW as usize,
        bytes_in_flight: usize::MAX,
        bytes_per_pass: usize::MAX,
        memory_bytes: usize::MAX,
    };
    let mut link = Link::new(Sequence::new(terms.first_sequence), mtu_bytes, limits, Duration::ZERO);
    link.outbox.congestion = Some(Box::new(make_rate(mtu_bytes)));
    link.outbox.packet_limit = Some(Box::new(RateLimit::sending(PACKETS_PER_SECOND)));
    link
}
