//! The client: it receives objects, acks packets, and calls notifies.
//!
//! *Invariant:* bytes from the server never panic and never decide how much is allocated. A packet is applied
//! as a whole or not at all (R20).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod body;
mod change_feed;
mod clock;
mod contents;
mod departed;
mod events;
mod interpolated;
mod keyed_objects;
mod lists;
mod mentions;
mod messages;
mod notifies;
mod outcome;
mod path_table;
mod reconnecting;
mod replica;
mod replicas;
mod rows;
mod sessions;
mod slot_table;
mod statics;
mod tear_off;
mod torn_off;
mod view;

use std::ops::{Index, IndexMut};
use std::time::Duration;

use repl_core::{BitReader, ObjectRef, Replicated};

use crate::messages::exchange::{CheckedMessages, Exchange};
use crate::messages::mailbox::Mailbox;
use crate::session::archetype::ArchetypeId;
use crate::session::client_handshake::{ClientHandshake, HandshakeContext, HandshakeOutcome};
use crate::session::closing::shortened;
use crate::session::config::ClientConfig;
use crate::session::disconnect::DisconnectReason;
use crate::session::events::ClientEvent;
use crate::session::identity::Session;
use crate::session::tick_watch::TickWatch;
use crate::session::traffic::ClassTraffic;
use crate::transport::ack_pace::AckPace;
use crate::transport::acks::{Arrival, Received};
use crate::transport::congestion::Congestion;
use crate::transport::link::LinkHealth;
use crate::transport::message::{asks_for_ack, read_messages};
use crate::transport::outbox::{Limits, Outbox, PACKETS_PER_SECOND};
use crate::transport::packet::Header;
use crate::transport::rate_limit::RateLimit;
use crate::transport::sequence::{Sequence, WINDOW};
use crate::transport::status::StatusSink;
use body::BodyError;
use events::ClientEvents;
use replicas::Replicas;
use sessions::{EarlierSessions, Sessions};

pub use change_feed::Change;
pub use clock::ServerClock;
pub use interpolated::{Interpolate, Interpolated};
pub use replicas::Placed;
pub use view::ClientStats;

/// The reason why a packet was not applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiveError {
    /// The bytes are not a packet of this session: the bytes are damaged, truncated, too large, or from
    /// another sender. The client can ignore bytes that are not a packet of its session.
    #[error("not a packet of this session")]
    Damaged,
    /// The packet contains something that the protocol forbids, and the connection has ended. The event
    /// [`Disconnected`](crate::ClientEvent::Disconnected) has the reason
    /// [`Protocol`](crate::DisconnectReason::Protocol), which lists the causes.
    #[error("malformed packet: {0}")]
    Malformed(String),
    /// The connection with the server has already ended. Ignore the packet: the event
    /// [`Disconnected`](crate::ClientEvent::Disconnected) has told why, and a later session may begin.
    #[error("the connection is closed")]
    Closed,
}

/// A client: it has copies of the objects of a server that it may see, and keeps these copies up to date.
///
/// In each tick, the user passes the packets that arrived to [`receive`](Self::receive), calls
/// [`tick`](Self::tick), and sends the packets from [`poll_transmit`](Self::poll_transmit).
pub struct Client {
    pub(crate) config: ClientConfig,
    handshake: ClientHandshake,
    sessions: Sessions,
    pub(crate) replicas: Replicas,
    pub(crate) outbox: Outbox,
    /// What the client knows about the link from the acks of the server.
    link: LinkHealth,
    pub(crate) mailbox: Mailbox<()>,
    /// Functions that run the waiting remote calls, one for each class that has remote calls.
    pub(crate) call_runners: Vec<fn(&mut Self, Duration)>,
    pub(crate) exchange: Exchange,
    received: Received,
    /// Decides in which ticks acks are sent.
    ack_pace: AckPace,
    last_sent: Duration,
    /// The latest time that was passed to the client. An earlier time counts as this time.
    now: Duration,
    pub(crate) last_tick: Duration,
    events: ClientEvents,
    /// The object of the last polled event, if that event reported the object's removal.
    last_departed: Option<ObjectRef<()>>,
    status: StatusSink,
    clock: ServerClock,
    is_synchronized: bool,
    bytes_received: u64,
    packets_received: u64,
    earlier: EarlierSessions,
    tick_watch: TickWatch,
}

impl Client {
    /// Returns a client on which no classes are registered yet.
    ///
    /// `session` distinguishes the sessions of this client from all other sessions of the same server. Every
    /// packet belongs to one session, and packets of other sessions count as damaged (R25).
    ///
    /// # Panics
    /// Panics if a field of `config` is out of the range in its description. The message of the panic names
    /// the field.
    #[must_use]
    #[track_caller]
    pub fn new(config: ClientConfig, session: Session) -> Self {
        config.assert_valid();
        Self {
            handshake: ClientHandshake::new(session.number(0)),
            sessions: Sessions::new(session),
            replicas: Replicas::new(config.max_objects, config.max_object_bytes, config.measure),
            outbox: Self::new_outbox(&config),
            link: LinkHealth::default(),
            mailbox: Mailbox::default(),
            call_runners: Vec::new(),
            exchange: Exchange::default(),
            received: Received::default(),
            ack_pace: AckPace::default(),
            last_sent: Duration::ZERO,
            now: Duration::ZERO,
            last_tick: Duration::ZERO,
            events: ClientEvents::default(),
            last_departed: None,
            status: StatusSink::default(),
            clock: ServerClock::default(),
            is_synchronized: false,
            bytes_received: 0,
            packets_received: 0,
            earlier: EarlierSessions::default(),
            tick_watch: TickWatch::default(),
            config,
        }
    }

    fn new_outbox(config: &ClientConfig) -> Outbox {
        let limits = Limits {
            mtu_bytes: config.mtu_bytes,
            packets_in_flight: WINDOW as usize,
            bytes_in_flight: usize::MAX,
            bytes_per_pass: usize::MAX,
            memory_bytes: usize::MAX,
        };
        let mut outbox = Outbox::new(Sequence::new(config.first_sequence), limits);
        outbox.congestion = Some(Box::new(Congestion::new(config.mtu_bytes)));
        outbox.packet_limit = Some(Box::new(RateLimit::sending(PACKETS_PER_SECOND)));
        outbox
    }

    /// Registers the class of an object type. Register the same classes as on the server, in any order.
    ///
    /// # Panics
    /// Panics after the first [`tick`](Self::tick).
    #[track_caller]
    pub fn register<T: Replicated>(&mut self) -> &mut Self {
        self.assert_registers("class", T::LAYOUT.name());
        self.replicas.register::<T>();
        self
    }

    /// Registers an archetype, which is a set of initial values for objects. Register the same archetypes as
    /// on the server, and for each class in the same order.
    ///
    /// # Panics
    /// Panics after the first [`tick`](Self::tick).
    #[track_caller]
    pub fn register_archetype<T: Replicated>(
        &mut self,
        make: impl Fn() -> T + Send + Sync + 'static,
    ) -> ArchetypeId<T> {
        self.assert_registers("the archetypes of", T::LAYOUT.name());
        ArchetypeId::new(self.replicas.register::<T>().add_archetype(Box::new(make)))
    }

    /// Asserts that the client may still register something, such as a class with this name.
    #[track_caller]
    fn assert_registers(&self, what: &str, name: &str) {
        assert!(self.handshake.is_idle(), "{what} `{name}` must be registered before the first `tick`");
    }

    /// Returns whether the server has accepted this client and neither side has ended the connection since
    /// then.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.handshake.is_connected()
    }

    /// Returns whether the session has ended, or could not begin, and this client will not try again by
    /// itself. The last [`ClientEvent::Disconnected`] has the reason. Before the first [`tick`](Self::tick),
    /// and while the client connects or waits for its next attempt, this is `false`.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.handshake.is_ended() && !self.sessions.has_next()
    }

    /// Receives a packet from the server, applies it, and calls notifies and other callbacks.
    ///
    /// # Errors
    /// Returns an error if the packet was not applied. Every error except [`Damaged`](ReceiveError::Damaged)
    /// ends the connection, or means that the connection has already ended. `receive` returns no error for a
    /// packet that is repeated or arrives late.
    ///
    /// # Panics
    /// Panics in debug builds if packets were received for half of [`timeout`](ClientConfig::timeout) without
    /// a [`tick`](Self::tick), whatever is in them. Packets after the end of the session do not count.
    #[track_caller]
    pub fn receive(&mut self, now: Duration, bytes: &[u8]) -> Result<(), ReceiveError> {
        let now = self.now.max(now);
        self.now = now;
        let newest = self.received.newest().unwrap_or(Sequence::new(self.config.first_sequence));
        if self.handshake.is_ended() {
            self.handshake.receive_after_end(bytes, newest, &mut self.outbox.queue);
            return Err(ReceiveError::Closed);
        }
        self.tick_watch.received(now, self.config.timeout, "Client");
        let context = HandshakeContext { config: &self.config, classes: &self.replicas.classes };
        let outcome = self.handshake.receive(bytes, newest, now, context, &mut self.outbox.queue);
        if matches!(outcome, HandshakeOutcome::Damaged) {
            return Err(ReceiveError::Damaged);
        }
        self.bytes_received = self.bytes_received.saturating_add(bytes.len() as u64);
        match outcome {
            HandshakeOutcome::Damaged | HandshakeOutcome::Nothing => {}
            HandshakeOutcome::State(sequence, mut reader) => {
                if let Err(BodyError::Malformed(why)) = self.state(sequence, &mut reader, now) {
                    self.end(DisconnectReason::Protocol(why.clone()));
                    return Err(ReceiveError::Malformed(why));
                }
            }
            HandshakeOutcome::Connected => {
                self.welcomed();
                self.session_began();
            }
            HandshakeOutcome::Welcome => self.welcomed(),
            HandshakeOutcome::Ended(reason) => {
                self.session_ended(reason.clone(), Some(now));
                if let DisconnectReason::Protocol(why) = reason
                    && self.handshake.has_ended_itself()
                {
                    return Err(ReceiveError::Malformed(why));
                }
            }
        }
        Ok(())
    }

    /// Handles a welcome packet, by which the server accepts this client. Each welcome contains the token
    /// that validates the client's address.
    fn welcomed(&mut self) {
        self.outbox.binding = self.handshake.binding();
    }

    fn state<'b>(
        &mut self,
        sequence: Sequence,
        reader: &mut BitReader<'b>,
        now: Duration,
    ) -> Result<(), BodyError> {
        // A packet that is too old must have no effect, so its age is checked before anything else is read.
        let arrival = self.received.check(sequence);
        if arrival == Arrival::TooOld {
            return Ok(());
        }
        let (header, acks) = Header::read(reader, sequence, self.outbox.sequence(), true)?;
        let must_ack = asks_for_ack(reader)?;
        let mut body = reader.clone();
        let has_segments = body.read_flag()?;
        if arrival == Arrival::Duplicate {
            if must_ack {
                self.ack_pace.schedule_acks();
            }
            return Ok(());
        }
        self.handshake.note_packet(now);
        if let Some(floor) = header.floor {
            self.received.forget_below(floor);
        }
        let mut messages = CheckedMessages::default();
        let mut check_messages = |rest: &mut BitReader<'b>| {
            messages = self.exchange.check(read_messages(rest, self.mailbox.len())?, &mut self.mailbox)?;
            Ok(())
        };
        if has_segments {
            let (replicas, events) = (&mut self.replicas, &mut self.events);
            replicas.receive(header.sequence, header.stamp, reader, events, check_messages)?;
            self.events.take_unreported().into_iter().for_each(|object| self.replicas.release(object));
        } else {
            check_messages(&mut body)?;
        }
        self.received.insert(header.sequence);
        self.acked(acks, now);
        let objects = self.replicas.objects();
        let delivered = self.exchange.deliver(messages, (), &mut self.mailbox, objects, now);
        self.packets_received = self.packets_received.saturating_add(1);
        self.take_status(&header, now);
        self.ack_pace.arrived(header.sequence);
        if must_ack {
            self.ack_pace.schedule_acks();
        }
        if let Err(reason) = delivered {
            self.end(reason);
        }
        Ok(())
    }

    fn take_status(&mut self, header: &Header, now: Duration) {
        let Some(status) = header.status else { return };
        self.status.take(header.sequence, header.stamp, status);
        if let Some(tick) = self.status.tick() {
            self.clock.arrived(tick, now);
        }
        if status.connection.is_some_and(|connection| connection.has_joined)
            && !std::mem::replace(&mut self.is_synchronized, true)
        {
            self.events.push(ClientEvent::Synchronized);
        }
    }

    fn end(&mut self, reason: DisconnectReason) {
        if let HandshakeOutcome::Ended(reason) =
            self.handshake.end(reason, &self.config, &mut self.outbox.queue)
        {
            self.session_ended(reason, None);
        }
    }

    /// Ends the connection with the server. The next [`poll_transmit`](Self::poll_transmit) returns the
    /// packet that tells the server that the connection ends. Disconnecting does not change the objects of
    /// the client, and the client does not connect again. This packet may be lost. The client sends it again
    /// when it [receives](Self::receive) a packet that shows that the server does not know of the end. To end
    /// a connection reliably, continue to receive and poll packets for about a second.
    pub fn disconnect(&mut self) {
        self.sessions.stop();
        self.end(DisconnectReason::Closed);
    }

    /// Ends the connection in the same way as [`disconnect`](Self::disconnect), and tells the server the
    /// reason, which it reports as [`DisconnectReason::ClosedWith`]. A reason is cut if it is longer than 255
    /// bytes, or longer than the packet limit minus 8.
    pub fn disconnect_with(&mut self, text: &str) {
        self.sessions.stop();
        self.end(DisconnectReason::ClosedWith(shortened(text)));
    }

    /// Makes the packets of this tick, which contain handshake data or acks, or keep the connection alive.
    /// The argument `now` is the time since a fixed start that you choose. `now` should never decrease: an
    /// earlier time counts as the latest time so far. Call `tick` in every frame, because without it the
    /// client neither connects nor stays connected.
    pub fn tick(&mut self, now: Duration) {
        self.tick_watch.ticked();
        let now = self.now.max(now);
        self.now = now;
        self.last_tick = now;
        self.reconnect(now);
        self.clock.advance(now);
        for at in 0.. {
            let Some(run) = self.call_runners.get(at) else { break };
            run(self, now);
        }
        if self.handshake.is_idle() && self.sessions.is_first() {
            self.replicas.number_classes(self.mailbox.forms());
        }
        let context = HandshakeContext { config: &self.config, classes: &self.replicas.classes };
        if let Some(reason) = self.handshake.tick(now, context, &mut self.outbox.queue) {
            self.session_ended(reason, Some(now));
        }
        if !self.handshake.is_connected() {
            return;
        }
        let round_trip = self.link.round_trip.smoothed();
        if let Err(reason) = self.exchange.expire(self.config.timeout, round_trip, now) {
            self.end(reason);
            return;
        }
        let longest_silence = self.handshake.longest_silence(self.config.timeout, self.outbox.sequence());
        let is_silent = now.saturating_sub(self.last_sent) >= longest_silence;
        // An ack that the limit on packets in a second holds back remains due.
        let owes_ack = self.outbox.allows_packet(now) && self.ack_pace.is_due();
        let must_send_token = self.handshake.must_send_token(now);
        let packets_before = self.outbox.queue.packets_sent;
        let has_acked_all = self.send_messages(owes_ack, now);
        let is_silent = is_silent && self.outbox.queue.packets_sent == packets_before;
        if owes_ack && !has_acked_all {
            self.outbox.signal(&self.received, now);
        } else if is_silent || must_send_token {
            // The packets that probe a silent link contain no acks, because acks that are sent late would
            // look like long round trips.
            self.outbox.signal(&Received::default(), now);
        }
        if self.outbox.queue.packets_sent > packets_before {
            self.last_sent = now;
        }
    }

    /// Returns the next packet for the server. The caller sends the packet immediately. Returns `None` if
    /// this tick has no more packets.
    ///
    /// # Panics
    /// Panics in debug builds if this method is called 1,000 times and [`tick`](Self::tick) was never called.
    #[track_caller]
    pub fn poll_transmit(&mut self) -> Option<&[u8]> {
        if self.handshake.is_idle() {
            self.tick_watch.polled_before_tick();
        }
        self.outbox.queue.pop()
    }

    /// Returns the next event, or `None` if there are no more events.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        if let Some(departed) = self.last_departed.take() {
            self.replicas.release(departed);
        }
        let event = self.events.pop();
        if let Some(ClientEvent::Despawned(object, _)) = event {
            self.last_departed = Some(object);
        }
        event
    }

    /// Returns an object if it exists and is a `T`.
    #[must_use]
    pub fn get<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        self.replicas.get(object)
    }

    /// Returns an object for a change on this client alone, for example for prediction. A value of the
    /// changed property that arrives later replaces the local change. The notify of the property is then
    /// called only if the new value differs from the locally changed value (S49).
    ///
    /// A replicated `Vec` or `Option` that you make longer or shorter gets all elements of the server again
    /// with its next update. Items and map entries that you remove are restored when the server changes them.
    /// Items that you add remain on this client and belong to it. If you assign a fast array over another,
    /// all items of the new array belong to the client (S183), and the items get other ids with the next
    /// update of the array. If the object has arrays or collections, the client keeps a copy of the object
    /// after you have borrowed it. An array that you take from an object still belongs to the client. To use
    /// an array of a client in an object of a server, clone it.
    ///
    /// The change of an object on a client is not sent to the server. `client[object]` does the same, and
    /// panics if the object does not exist. A client has no method `objects_mut` as a
    /// [`Server`](crate::Server) has, because this method would copy every object.
    pub fn get_mut<T: Replicated>(&mut self, object: ObjectRef<T>) -> Option<&mut T> {
        self.replicas.get_mut(object)
    }

    /// Returns whether the client has the object.
    #[must_use]
    pub fn contains<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.replicas.contains(object)
    }

    /// Returns all objects of a class with their references, in no particular order. To change some objects,
    /// collect their references and call [`get_mut`](Self::get_mut) for each reference.
    pub fn objects<T: Replicated>(&self) -> impl Iterator<Item = (ObjectRef<T>, &T)> {
        self.replicas.typed::<T>().into_iter().flat_map(|column| {
            let live = column
                .slots
                .iter()
                .zip(column.live.iter())
                .filter_map(|(&slot, live)| Some((self.replicas.reference(slot)?, live)));
            live.chain(column.torn_off.iter().map(|(&guid, object)| (ObjectRef::new(guid), object)))
        })
    }

    /// Returns how many bits have been received so far for each class and each property. The measured traffic
    /// is empty unless [`ClientConfig::measure`] is set.
    #[must_use]
    pub fn traffic(&self) -> &[ClassTraffic] {
        self.replicas.traffic.as_ref().map_or(&[], |traffic| &traffic.classes)
    }
}

/// Returns the panic message of `client[object]`.
#[cold]
fn text_of_missing<T: Replicated>(object: ObjectRef<T>) -> String {
    let name = T::LAYOUT.name();
    format!("there is no {name} {object:?} (never received, removed, or of another class)")
}

/// Returns an object, which must exist. To change an object on this client alone, use [`Client::get_mut`].
impl<T: Replicated> Index<ObjectRef<T>> for Client {
    type Output = T;

    /// # Panics
    /// Panics if the object does not exist.
    #[track_caller]
    fn index(&self, object: ObjectRef<T>) -> &T {
        match self.get(object) {
            Some(found) => found,
            None => panic!("{}", text_of_missing(object)),
        }
    }
}

/// Returns an object for a change on this client alone, in the same way as [`Client::get_mut`]. A change of
/// an object on a client is not sent to the server, and later updates of the server replace it. To change the
/// object for all clients, change it on the server.
impl<T: Replicated> IndexMut<ObjectRef<T>> for Client {
    /// # Panics
    /// Panics if the object does not exist.
    #[track_caller]
    fn index_mut(&mut self, object: ObjectRef<T>) -> &mut T {
        match self.get_mut(object) {
            Some(found) => found,
            None => panic!("{}", text_of_missing(object)),
        }
    }
}
