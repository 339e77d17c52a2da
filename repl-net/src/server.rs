//! The server: owns objects, and brings each client the state it may see.
//!
//! Invariant: nothing is sent or received here; bytes come in through [`Server::receive`] and go out through
//! [`Server::poll_transmit`], time is an argument.

mod events;
mod objects;
mod transmit;

use std::collections::BTreeMap;
use std::time::Duration;

use repl_core::{BitReader, Condition, HandleSet, ObjectRef, PropertyIndex, Replicated};

use crate::allowance::{Allowance, token};
use crate::archetype::ArchetypeId;
use crate::broadcast::Broadcast;
use crate::classes::{ClassList, Finding};
use crate::config::{CongestionControl, ServerConfig};
use crate::congestion::Congestion;
use crate::connection::{Connection, PassContext, PassScratch, Stage};
use crate::events::{DisconnectReason, ServerEvent, SpawnError};
use crate::handshake::{ClientLimits, Control, HELLO_BYTES, timeout_ms};
use crate::inquiry::{Inquiry, Part, Progress};
use crate::outbox::Limits;
use crate::packet::{self, Opened};
use crate::role::{Proxy, Role};
use crate::sequence::Sequence;
use crate::tick_watch::TickWatch;
use crate::world::{World, WorldLimits};

use events::ServerEvents;
pub use transmit::Transmit;

/// Names a connection of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub(crate) u32);

impl ConnectionId {
    /// The number of the connection, from zero in the order of connecting; never used again.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a connection has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionStats {
    /// Bytes of all packets made for it.
    pub bytes_sent: u64,
    /// Packets made for it.
    pub packets_sent: u64,
    /// Packets of state held for lost.
    pub packets_lost: u64,
    /// Packets of state neither acknowledged nor held for lost.
    pub packets_in_flight: usize,
    /// The smoothed round trip, with the time that acks wait for the client's tick; zero before the first ack.
    pub round_trip: Duration,
    /// About how many bytes of memory the server keeps for what the client has not acknowledged, as of the last tick: what
    /// [`ServerConfig::max_connection_bytes`] limits.
    pub memory_bytes: usize,
}

/// Owns objects, and brings each client the state it may see.
///
/// A tick: change objects, call [`tick`](Self::tick), take the packets of each connection with [`poll_transmit`](Self::poll_transmit), and
/// hand over what arrives with [`receive`](Self::receive).
pub struct Server {
    config: ServerConfig,
    world: World,
    classes: ClassList,
    broadcast: Broadcast,
    scratch: PassScratch,
    /// Boxed, as the nodes of a map are up to twice as large as what is in them.
    connections: BTreeMap<ConnectionId, Box<Peer>>,
    /// The number of the next connection.
    next_connection: u32,
    /// The connection whose packets are being polled.
    transmitting: ConnectionId,
    events: ServerEvents,
    tick_watch: TickWatch,
}

/// How often a client is welcomed until it says something that follows it.
const WELCOME_INTERVAL: Duration = Duration::from_millis(100);

struct Peer {
    connection: Connection,
    /// What the client said it can hold, once it has said hello.
    limits: Option<ClientLimits>,
    /// What its packets of state are bound to beside the session, once it has said hello (R26).
    token: u64,
    /// Whether a packet has come that only who knows the token can have sealed.
    echoes: bool,
    /// When it was last told that it is welcome.
    last_welcome: Duration,
    /// How far it is known where its classes differ.
    inquiry: Inquiry,
    /// The packet that was last lent out.
    lent: Vec<u8>,
}

impl Peer {
    fn say_welcome(&mut self, timeout: Duration, now: Duration) {
        self.last_welcome = now;
        self.connection
            .outbox
            .control(&Control::Welcome { timeout_ms: timeout_ms(timeout), token: self.token });
    }

    /// Until the client knows the token nothing else that it says is heard.
    fn remind(&mut self, timeout: Duration, now: Duration) {
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
    /// A server without objects.
    ///
    /// # Panics
    /// If a field of `config` is out of the range that stands with it; the message names the field.
    #[must_use]
    #[track_caller]
    pub fn new(config: ServerConfig) -> Self {
        config.assert_valid();
        let mut world = World::default();
        world.limits = WorldLimits {
            max_objects: config.max_objects.min(u32::MAX as usize),
            max_object_bytes: config.max_object_bytes.min(u32::MAX as usize),
        };
        Self {
            config,
            world,
            classes: ClassList::default(),
            broadcast: Broadcast::default(),
            scratch: PassScratch::default(),
            connections: BTreeMap::new(),
            next_connection: 0,
            transmitting: ConnectionId(0),
            events: ServerEvents::default(),
            tick_watch: TickWatch::default(),
        }
    }

    fn is_frozen(&self) -> bool {
        self.next_connection > 0
    }

    /// Makes a class known. Spawning does it too, but all classes must be known before the first connection.
    ///
    /// # Panics
    /// If the class is new and a connection was made already, or an object takes more than
    /// [`max_object_bytes`](ServerConfig::max_object_bytes) even as it begins.
    #[track_caller]
    pub fn register<T: Replicated>(&mut self) -> &mut Self {
        self.world.register::<T>(self.is_frozen());
        self
    }

    /// Makes a set of initial values known. Clients must register the same in the same order.
    ///
    /// # Panics
    /// If a connection was made already, or what `make` makes takes more than [`max_object_bytes`](ServerConfig::max_object_bytes).
    #[track_caller]
    pub fn register_archetype<T: Replicated>(
        &mut self,
        make: impl Fn() -> T + Send + Sync + 'static,
    ) -> ArchetypeId<T> {
        assert!(
            !self.is_frozen(),
            "archetypes are registered before the first connection: call `register_archetype` for this `{}` before `connect`",
            T::LAYOUT.name(),
        );
        self.world.register::<T>(false);
        let max_bytes = self.config.max_object_bytes;
        let Some(column) = self.world.typed_mut::<T>() else { unreachable!("the class was just registered") };
        column.assert_fits(&make(), max_bytes);
        ArchetypeId::new(column.add_archetype(Box::new(make)))
    }

    /// Adds an object. Clients make theirs from `T::default()`, so only what differs from that is sent (S69).
    ///
    /// # Panics
    /// If the class is new and a connection was made already; if [`ServerConfig::max_objects`] slots are taken: where that can happen use
    /// [`try_spawn`](Self::try_spawn).
    #[track_caller]
    pub fn spawn<T: Replicated>(&mut self, object: T) -> ObjectRef<T> {
        self.spawn_from(ArchetypeId::default(), object)
    }

    /// Adds an object that clients make from an archetype: only what differs from it is sent.
    ///
    /// # Panics
    /// As [`spawn`](Self::spawn).
    #[track_caller]
    pub fn spawn_from<T: Replicated>(&mut self, archetype: ArchetypeId<T>, object: T) -> ObjectRef<T> {
        match self.try_spawn_from(archetype, object) {
            Ok(reference) => reference,
            Err(error) => panic!("{error}"),
        }
    }

    /// Adds an object, if there is room for one more.
    ///
    /// # Errors
    /// When [`ServerConfig::max_objects`] slots are taken. Then the object is dropped, and nothing else has changed.
    ///
    /// # Panics
    /// If the class is new and a connection was made already.
    #[track_caller]
    pub fn try_spawn<T: Replicated>(&mut self, object: T) -> Result<ObjectRef<T>, SpawnError> {
        self.try_spawn_from(ArchetypeId::default(), object)
    }

    /// Adds an object that clients make from an archetype, if there is room for one more.
    ///
    /// # Errors
    /// As [`try_spawn`](Self::try_spawn).
    ///
    /// # Panics
    /// As [`try_spawn`](Self::try_spawn).
    #[track_caller]
    pub fn try_spawn_from<T: Replicated>(
        &mut self,
        archetype: ArchetypeId<T>,
        object: T,
    ) -> Result<ObjectRef<T>, SpawnError> {
        let number = archetype.number();
        assert!(
            number == 0 || self.world.typed::<T>().is_some_and(|column| column.has_archetype(number)),
            "archetype {number} of `{}` is not this server's: spawn from what its own `register_archetype` returned",
            T::LAYOUT.name(),
        );
        let reference = self.world.spawn(object, number, self.is_frozen())?;
        if let Some(slot) = self.world.slot_of(reference) {
            for peer in self.connections.values_mut() {
                if peer.connection.stage == Stage::Connected {
                    peer.connection.show(&mut self.world, slot);
                }
            }
        }
        Ok(reference)
    }

    /// Takes an object out; clients lose it. Does nothing if it is gone already.
    pub fn despawn<T: ?Sized>(&mut self, object: ObjectRef<T>) {
        let Some(slot) = self.world.slot_of(object) else { return };
        let mut holders = 0;
        for peer in self.connections.values_mut() {
            holders += u32::from(peer.connection.destroy(&mut self.world, slot));
        }
        self.world.despawn(slot, holders);
    }

    /// Whether the object is there.
    #[must_use]
    pub fn contains<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.world.slot_of(object).is_some()
    }

    /// Marks a `push` property as changed (S124). Does nothing if the object is gone.
    ///
    /// # Panics
    /// If the index was made by hand and is none of a property of `T`.
    #[track_caller]
    pub fn mark_dirty<T: Replicated>(&mut self, object: ObjectRef<T>, property: PropertyIndex<T>) {
        if let Some((slot, property)) = self.place_of(object, property) {
            let (entry, lifetime) = self.world.object_mut(slot);
            entry.mark(lifetime, &lifetime.handles_of(property));
            self.world.mark_dirty(slot);
        }
    }

    /// Where the object is, and which property it is to its class. `None` if the object is gone, or is no `T`.
    ///
    /// # Panics
    /// If `T` has no such property.
    #[track_caller]
    fn place_of<T: Replicated>(
        &self,
        object: ObjectRef<T>,
        property: PropertyIndex<T>,
    ) -> Option<(u32, PropertyIndex)> {
        let (name, index) = (T::LAYOUT.name(), property.index());
        assert!(
            index < T::LAYOUT.properties(),
            "`{name}` has no property number {index}: ask for one by its name with `{name}::LAYOUT.property`",
        );
        let slot = self.world.slot_of(object)?;
        let is_of_class = self.world.class_of::<T>() == Some(self.world.objects[slot as usize].class);
        is_of_class.then_some((slot, property.erase()))
    }

    /// Calls `change` on an object's state, and lets every connection see by the conditions that follow.
    fn change_view(&mut self, object: ObjectRef<()>, change: impl FnOnce(&mut World, u32)) {
        let Some(slot) = self.world.slot_of(object) else { return };
        let view = |peer: &Peer| {
            (
                peer.connection.mask(&self.world, slot),
                peer.connection.proxy(&self.world.objects[slot as usize]),
            )
        };
        let before: Vec<(HandleSet, Proxy)> = self.connections.values().map(|peer| view(peer)).collect();
        change(&mut self.world, slot);
        self.world.recast.insert(slot);
        for (peer, (mask, proxy)) in self.connections.values_mut().zip(before) {
            peer.connection.review(&mut self.world, slot, &mask);
            peer.connection.review_proxy(&self.world, slot, proxy);
        }
    }

    /// Gives the object to a connection, or to none (S204). From the next tick on the new owner is sent what goes to owners only.
    ///
    /// What goes to owners only is not taken back from the old owner: its client keeps the values that it saw last, and hears of no later ones.
    /// If it is not to show them, tell it by a property that everyone sees, and let its notify clear them. To take the whole object away there is
    /// [`set_visible`](Self::set_visible).
    pub fn set_owner<T: ?Sized>(&mut self, object: ObjectRef<T>, owner: Option<ConnectionId>) {
        self.change_view(object.erase(), |world, slot| world.objects[slot as usize].owner = owner);
    }

    /// The connection that owns an object.
    #[must_use]
    pub fn owner<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<ConnectionId> {
        self.world.objects[self.world.slot_of(object)? as usize].owner
    }

    /// Sets what the object is on clients (S205).
    pub fn set_remote_role<T: ?Sized>(&mut self, object: ObjectRef<T>, role: Role) {
        self.change_view(object.erase(), |world, slot| world.objects[slot as usize].role = role);
    }

    /// Sets whether the object replicates physics (S36).
    pub fn set_replicates_physics<T: ?Sized>(&mut self, object: ObjectRef<T>, replicates: bool) {
        self.change_view(object.erase(), |world, slot| world.objects[slot as usize].physics = replicates);
    }

    /// Switches a property with the condition [`Custom`](Condition::Custom) on or off for all connections, those to come included; at first it is on.
    /// A connection gets the property while this switch is on and [its own](Self::set_custom_active_for) is on too.
    ///
    /// From the moment it is off no packet is made with the property in it, for nobody: not for changes, for losses of earlier packets, or for
    /// objects that open, which begin with the value of their archetype. While it is off the property is not compared. Switched on again, it
    /// is compared with the next tick, marked or not if it is `push` (S45), and each connection gets the value if it lacks it.
    ///
    /// Clients keep what they have got before. O(connections) if it changes anything; while the property is off the server keeps a few hundred bytes
    /// for the object for each connection that has got the property before.
    ///
    /// # Panics
    /// If the property was declared with another condition.
    #[track_caller]
    pub fn set_custom_active<T: Replicated>(
        &mut self,
        object: ObjectRef<T>,
        property: PropertyIndex<T>,
        active: bool,
    ) {
        let Some((slot, property)) = self.place_of(object, property) else { return };
        self.assert_condition::<T>(slot, property, Condition::Custom);
        let handles = self.world.lifetime(slot).handles_of(property);
        if self.world.objects[slot as usize].is_custom_on(&handles) == active {
            return;
        }
        self.change_view(object.erase(), |world, slot| {
            let (entry, lifetime) = world.object_mut(slot);
            entry.switch_custom(lifetime, &handles, active);
            world.mark_dirty(slot);
        });
    }

    /// Switches a property with the condition [`Custom`](Condition::Custom) on or off for one connection. At first it is on, or off if the field says
    /// `#[replicated(condition = Custom, starts_off)]`: then no client gets the property that was not named here, whenever it joins and whenever
    /// its events are polled. The switch of the [object](Self::set_custom_active) must be on too.
    ///
    /// From the moment it is off no packet is made for this connection with the property in it. The property is compared all the same; switched on
    /// again, the connection gets the current value if it lacks it. It is forgotten with the object and with the connection.
    ///
    /// A connection whose switch is not as the field declares it sees the object in a way of its own: what it is sent of the object is not shared with
    /// others. So declare the way that most connections have it.
    ///
    /// # Panics
    /// If the property was declared with another condition.
    #[track_caller]
    pub fn set_custom_active_for<T: Replicated>(
        &mut self,
        connection: ConnectionId,
        object: ObjectRef<T>,
        property: PropertyIndex<T>,
        active: bool,
    ) {
        let Some((slot, property)) = self.place_of(object, property) else { return };
        self.assert_condition::<T>(slot, property, Condition::Custom);
        let Some(peer) = self.connections.get_mut(&connection) else { return };
        peer.connection.switch_custom(&mut self.world, slot, property, active);
    }

    /// Sets the condition of a property declared as [`Dynamic`](Condition::Dynamic), for this object.
    ///
    /// # Panics
    /// If the property was declared with another condition.
    #[track_caller]
    pub fn set_dynamic_condition<T: Replicated>(
        &mut self,
        object: ObjectRef<T>,
        property: PropertyIndex<T>,
        condition: Condition,
    ) {
        let Some((slot, property)) = self.place_of(object, property) else { return };
        self.assert_condition::<T>(slot, property, Condition::Dynamic);
        if self.world.objects[slot as usize].condition(property) == condition {
            return;
        }
        self.change_view(object.erase(), |world, slot| {
            let (entry, lifetime) = world.object_mut(slot);
            entry.set_condition(lifetime, property, condition);
            world.mark_dirty(slot);
        });
    }

    #[track_caller]
    fn assert_condition<T: Replicated>(&self, slot: u32, property: PropertyIndex, wanted: Condition) {
        let declared = self.world.lifetime(slot).condition_of(property);
        assert!(
            declared == wanted,
            "`{}.{}` has the condition `{}`: declare it with `condition = {}` to set it at run time",
            T::LAYOUT.name(),
            T::LAYOUT.property_name(property),
            declared.name(),
            wanted.name(),
        );
    }

    /// Sets whether a connection sees an object, at first `true`. One that loses sight of it loses the object.
    pub fn set_visible<T: ?Sized>(&mut self, connection: ConnectionId, object: ObjectRef<T>, visible: bool) {
        let Some(slot) = self.world.slot_of(object) else { return };
        let Some(peer) = self.connections.get_mut(&connection) else { return };
        peer.connection.set_visible(&mut self.world, slot, visible);
    }

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

    fn close(&mut self, id: ConnectionId, reason: DisconnectReason) {
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
    /// In debug builds, if packets have been handed over for half of [`timeout`](ServerConfig::timeout) without a [`tick`](Self::tick).
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
                peer.token = token(self.config.secret, id.index(), session);
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

    /// Compares what may have changed, and makes the packets of this tick. `now` is the time since an epoch of the caller's, and never
    /// goes back.
    ///
    /// Nothing of what was changed leaves before the next tick: call it in every frame, with or without changes.
    ///
    /// O(what changed), not O(objects); a connection that needs nothing costs next to nothing.
    pub fn tick(&mut self, now: Duration) {
        self.tick_watch.ticked();
        for peer in self.connections.values_mut() {
            peer.connection.give_up_lost(&mut self.world, now);
        }
        self.world.compare();
        for (slot, refusal) in std::mem::take(&mut self.world.changes.refusals) {
            let object = &self.world.objects[slot as usize];
            let column = self.world.column(object.class);
            let layout = column.program().layout();
            self.events.push(ServerEvent::ValueRefused {
                object: ObjectRef::new(object.guid(slot)),
                class: layout.name(),
                property: column
                    .lifetime()
                    .property_of(refusal.handle())
                    .map_or("?", |p| layout.property_name(p)),
                path: refusal.path(layout),
                error: refusal.error,
            });
        }
        let max_bits = self.config.mtu_bytes * 8 - crate::outbox::FRAME_BITS;
        if self.config.share {
            self.broadcast.build(&self.world, &self.classes, max_bits);
        }
        let (mut silent, mut overdue) = (Vec::new(), Vec::new());
        for (&id, peer) in &mut self.connections {
            if !self.config.share {
                self.broadcast.build(&self.world, &self.classes, max_bits);
            }
            let timeout = peer.limits.map_or(self.config.timeout, |limits| limits.timeout());
            let mut context = PassContext {
                world: &mut self.world,
                broadcast: &mut self.broadcast,
                classes: &self.classes,
                scratch: &mut self.scratch,
                now,
                keep_alive: self.config.timeout.min(timeout) / 40,
            };
            peer.connection.pass(&mut context);
            peer.remind(self.config.timeout, now);
            if now.saturating_sub(peer.connection.last_heard) >= self.config.timeout {
                silent.push(id);
            } else if peer.connection.is_overdue(self.config.timeout, now) {
                overdue.push(id);
            }
        }
        overdue.into_iter().for_each(|id| self.close(id, DisconnectReason::Unacknowledged));
        for id in silent {
            if matches!(self.connections.get(&id), Some(peer) if peer.connection.is_closed()) {
                self.connections.remove(&id);
            } else {
                self.close(id, DisconnectReason::Timeout);
            }
        }
    }

    /// The next packet for a connection, to be sent at once; `None` if there is no more in this tick. For all connections in one loop
    /// there is [`poll_any_transmit`](Self::poll_any_transmit).
    pub fn poll_transmit(&mut self, connection: ConnectionId) -> Option<&[u8]> {
        let peer = self.connections.get_mut(&connection)?;
        peer.connection.outbox.pop(&mut peer.lent).then_some(peer.lent.as_slice())
    }

    /// How many ticks there have been: the number of the last one. Clients are told it ([`Client::server_tick`](crate::Client::server_tick)).
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.world.frame
    }

    /// The next event; `None` if there is no more.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop()
    }

    /// The connections that are not closed.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> {
        self.connections.iter().filter(|(_, peer)| !peer.connection.is_closed()).map(|(&id, _)| id)
    }

    /// What a connection has cost so far; `None` once it is gone.
    #[must_use]
    pub fn stats(&self, connection: ConnectionId) -> Option<ConnectionStats> {
        let connection = &self.connections.get(&connection)?.connection;
        Some(ConnectionStats {
            bytes_sent: connection.outbox.bytes_sent,
            packets_sent: connection.outbox.packets_sent,
            packets_lost: connection.packets_lost,
            packets_in_flight: connection.outbox.in_flight.unresolved(),
            round_trip: connection.round_trip.smoothed(),
            memory_bytes: connection.memory_bytes(),
        })
    }
}
