//! The server: owns objects, and sends each client the state that it may see.
//!
//! *Invariant:* the server does no input or output. The user passes received packets to [`Server::receive`]
//! and sends the packets from [`Server::poll_transmit`]. The user passes the time as an argument.

mod asset_paths;
mod assets;
mod broadcast;
#[cfg(feature = "rayon")]
mod by_class;
mod calls;
mod cells;
mod changes;
mod class_handle;
mod class_memory;
mod column;
mod comparison;
mod connection;
mod connection_handle;
mod connection_info;
mod dormancy;
mod edit;
mod events;
mod external;
mod handed_over;
mod history;
mod host;
mod host_handle;
mod host_messages;
mod host_news;
mod host_notifies;
mod hosting;
mod inspection;
mod last_state;
mod later;
mod left_over;
mod memory;
mod messages;
mod not_sent;
mod object;
mod object_handle;
mod object_info;
mod objects;
mod occupant;
mod old_values;
mod openings;
mod out_of_sight;
mod part_size;
mod passes;
mod paths;
mod paused_objects;
mod peer;
mod phase;
mod prepare;
mod priority;
mod relevancy;
mod relevancy_functions;
mod revisions;
mod rows;
mod schedule;
mod sending;
mod served;
mod sessions;
mod shadows;
mod shared_size;
mod source;
mod statics;
mod ticks;
mod transmit;
mod verdicts;
mod work_limit;
mod world;

use std::sync::Arc;
use std::time::Duration;

use repl_core::{BitWriter, HandleSet, ObjectRef, Replicated};
use repl_link::ConnectionId;
use repl_link::parts::ServerSessions;

use crate::body::role::Proxy;
use crate::inspect::traffic::Traffic;
use crate::session::archetype::ArchetypeId;
use crate::session::classes::ClassList;
use crate::session::config::ServerConfig;
use crate::session::events::{ServerEvent, SpawnError};
use broadcast::Broadcast;
use connection::Connection;
use events::ServerEvents;
use host::Host;
use last_state::{LastChanges, LastFamily};
use passes::Passes;
use peer::Peer;
use rows::OwnRows;
use served::Served;
use shadows::Shadows;
use shared_size::SharedSize;
use source::Source;
use world::{World, WorldLimits};

pub use assets::ServerAssets;
pub use cells::area::{Area, Position};
pub use cells::{Audience, Group, Relevancy};
pub use class_handle::ClassHandle;
pub use class_memory::ClassMemory;
pub use connection_handle::ConnectionHandle;
pub use connection_info::{ConnectionInfo, ConnectionStats};
pub use dormancy::Dormancy;
pub use external::External;
pub use history::{History, Rewound};
pub use host::HostOptions;
pub use host_handle::HostHandle;
pub use memory::ServerMemory;
pub use not_sent::NotSent;
pub use object_handle::ObjectHandle;
pub use object_info::ObjectInfo;
pub use out_of_sight::OutOfSight;
pub use priority::Viewer;
pub use schedule::UpdateRate;
pub use statics::Statics;
pub use transmit::Transmit;
pub use work_limit::Work;

/// The server: it owns objects, and sends each client the state that it may see.
///
/// In each tick, the user changes objects (or [passes them](External) to the server), calls
/// [`tick`](Self::tick), sends the packets of each connection from [`poll_transmit`](Self::poll_transmit),
/// and passes the packets that arrive to [`receive`](Self::receive).
///
/// The methods, by what they access:
///
/// - All objects: [`spawn`](Self::spawn), [`get_mut`](Self::get_mut) or `server[object]`,
///   [`objects`](Self::objects), [`despawn`](Self::despawn).
/// - One object: [`object`](Self::object) sets its owner, relevancy, priority, dormancy and subobjects.
///   [`object_info`](Self::object_info) returns these settings.
/// - One connection: [`connection`](Self::connection) answers logins, sends messages, and sets viewpoints,
///   groups and budgets. [`connection_info`](Self::connection_info) returns these settings and statistics.
/// - One class: [`class`](Self::class) sets areas, rates and priorities.
/// - Data from clients: [`poll_event`](Self::poll_event), [`poll_message`](Self::poll_message),
///   [`poll_call`](Self::poll_call).
/// - Data to all clients: [`call`](Self::call), [`send_to_all`](Self::send_to_all),
///   [`send_to_group`](Self::send_to_group).
/// - Objects that your program stores itself, outside the server: [`external`](Self::external).
/// - Objects of levels, and assets: [`statics`](Self::statics), [`assets`](Self::assets).
/// - The player of this process: [`connect_host`](Self::connect_host), [`host`](Self::host).
/// - Statistics: [`memory`](Self::memory), [`traffic`](Self::traffic).
pub struct Server {
    config: ServerConfig,
    /// The sessions of the clients, with a connection for each.
    pub(crate) sessions: ServerSessions<Connection>,
    world: World,
    classes: ClassList,
    /// Functions that run at the beginning of each tick. Each class with remote calls has such a function,
    /// which runs the waiting calls, and so has each type of inputs.
    pub(crate) runners: Vec<fn(&mut Self, Duration)>,
    pub(crate) call_writer: BitWriter,
    broadcast: Broadcast,
    /// The packet size to which the content of `broadcast` is fitted.
    shared_size: SharedSize,
    passes: Passes,
    /// Reused memory: the pairs of a connection and an object for which [`update_cells`](Self::update_cells)
    /// decides again whether the connection sees the object.
    crossings: Vec<(ConnectionId, u32)>,
    /// The connections that are served in the current tick.
    served: Served,
    events: ServerEvents,
    /// The bits sent so far, if the configuration asks to count them.
    traffic: Option<Traffic>,
    pub(crate) host: Option<Box<Host>>,
}

enum SpawnKind {
    Plain,
    /// It is a subobject of the object in this slot.
    Subobject(u32),
    /// It is static, with this path.
    Static(Arc<str>),
}

impl Server {
    /// Returns a server without objects.
    ///
    /// # Panics
    /// Panics if a field of `config` is out of the range in its description. The message of the panic names
    /// the field.
    #[must_use]
    #[track_caller]
    pub fn new(config: ServerConfig) -> Self {
        config.assert_valid();
        let mut world = World::default();
        world.store.limits = WorldLimits {
            max_objects: config.max_objects.min(u32::MAX as usize),
            max_object_bytes: config.max_object_bytes.min(u32::MAX as usize),
        };
        let traffic = config.measure.then(Traffic::default);
        Self {
            sessions: ServerSessions::new(config.session_settings()),
            crossings: Vec::new(),
            config,
            world,
            classes: ClassList::default(),
            runners: Vec::new(),
            call_writer: BitWriter::new(),
            broadcast: Broadcast::default(),
            shared_size: SharedSize::default(),
            passes: Passes::default(),
            served: Served::new(),
            events: ServerEvents::default(),
            traffic,
            host: None,
        }
    }

    /// Returns whether a connection was ever added. If so, nothing more can be registered.
    pub(crate) fn is_registration_over(&self) -> bool {
        !self.sessions.may_register()
    }

    /// Registers the class of an object type, if it is new. Spawning an object also registers its class, but
    /// all classes must be known before the first [`connect`](Self::connect).
    ///
    /// # Panics
    /// Panics if the class is new after the first [`connect`](Self::connect), if another class has the same
    /// name, or if the initial values of its objects take more than
    /// [`max_object_bytes`](ServerConfig::max_object_bytes).
    #[track_caller]
    pub fn register<T: Replicated>(&mut self) -> &mut Self {
        if self.world.store.class_of::<T>().is_none() {
            self.world.register::<T, OwnRows<T>>(self.is_registration_over());
        }
        self
    }

    /// Registers an archetype, which is a set of initial values for objects. Clients must register the same
    /// archetypes in the same order.
    ///
    /// # Panics
    /// Panics after the first [`connect`](Self::connect), or if the initial values take more than
    /// [`max_object_bytes`](ServerConfig::max_object_bytes).
    #[track_caller]
    pub fn register_archetype<T: Replicated>(
        &mut self,
        make: impl Fn() -> T + Send + Sync + 'static,
    ) -> ArchetypeId<T> {
        assert!(
            !self.is_registration_over(),
            "archetypes are registered before the first connection: call `register_archetype` for this `{}` before `connect`",
            T::LAYOUT.name(),
        );
        if self.world.store.class_of::<T>().is_none() {
            self.register::<T>();
        }
        let max_bytes = self.config.max_object_bytes;
        let Some(shadows) = self.world.store.shadows_mut::<T>() else {
            unreachable!("the class was just registered")
        };
        shadows.assert_fits(&make(), max_bytes);
        ArchetypeId::new(shadows.add_archetype(Box::new(make)))
    }

    /// Adds an object to the server. Clients create their copies from `T::default()`, so only values that
    /// differ from `T::default()` are sent. Costs O(connections).
    ///
    /// # Panics
    /// Panics in the same cases as [`register`](Self::register), if the class is
    /// [external](Self::register_external), and if [`ServerConfig::max_objects`] slots are taken. If slots
    /// can run out, use [`try_spawn`](Self::try_spawn).
    #[track_caller]
    pub fn spawn<T: Replicated>(&mut self, object: T) -> ObjectRef<T> {
        self.spawn_from(ArchetypeId::default(), object)
    }

    /// Adds an object to the server, which clients create from an archetype. Only values that differ from the
    /// archetype are sent.
    ///
    /// # Panics
    /// Panics in the same cases as [`spawn`](Self::spawn), and if `archetype` was not returned by
    /// [`register_archetype`](Self::register_archetype) of this server.
    #[track_caller]
    pub fn spawn_from<T: Replicated>(&mut self, archetype: ArchetypeId<T>, object: T) -> ObjectRef<T> {
        match self.try_spawn_from(archetype, object) {
            Ok(reference) => reference,
            Err(error) => panic!("{error}"),
        }
    }

    /// Adds an object to the server, if a slot is free.
    ///
    /// # Errors
    /// Returns an error if [`ServerConfig::max_objects`] slots are taken. If the object cannot be added, it
    /// is dropped, and nothing else changes.
    ///
    /// # Panics
    /// Panics in the same cases as [`register`](Self::register), and if the class is
    /// [external](Self::register_external).
    #[track_caller]
    pub fn try_spawn<T: Replicated>(&mut self, object: T) -> Result<ObjectRef<T>, SpawnError> {
        self.try_spawn_from(ArchetypeId::default(), object)
    }

    /// Adds an object to the server, which clients create from an archetype, if a slot is free.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`try_spawn`](Self::try_spawn).
    ///
    /// # Panics
    /// Panics in the same cases as [`try_spawn`](Self::try_spawn), and if `archetype` was not returned by
    /// [`register_archetype`](Self::register_archetype) of this server.
    #[track_caller]
    pub fn try_spawn_from<T: Replicated>(
        &mut self,
        archetype: ArchetypeId<T>,
        object: T,
    ) -> Result<ObjectRef<T>, SpawnError> {
        self.add(archetype, SpawnKind::Plain, |shadows, rows: &mut OwnRows<T>| rows.push(object, shadows))
    }

    /// Adds an object. Connections that have its position in sight see it from now on. The argument
    /// `push_row` adds the object's row to the source of its class, and returns the object's position if the
    /// class has an area.
    #[track_caller]
    fn add<T: Replicated, S: Source<T>>(
        &mut self,
        archetype: ArchetypeId<T>,
        kind: SpawnKind,
        push_row: impl FnOnce(&Shadows<T>, &mut S) -> Option<Position>,
    ) -> Result<ObjectRef<T>, SpawnError> {
        let number = archetype.number();
        assert!(
            number == 0
                || self.world.store.shadows::<T>().is_some_and(|shadows| shadows.has_archetype(number)),
            "archetype {number} of `{}` is not this server's: spawn from what its own `register_archetype` returned",
            T::LAYOUT.name(),
        );
        let reference = self.world.spawn(number, self.is_registration_over(), push_row)?;
        if let Some(slot) = self.world.store.slot_of(reference) {
            let parent = match kind {
                SpawnKind::Plain => None,
                SpawnKind::Subobject(parent) => {
                    self.world.add_subobject(slot, parent);
                    Some(parent)
                }
                SpawnKind::Static(path) => {
                    self.world.make_static(slot, path);
                    None
                }
            };
            let is_alike = self.world.is_alike_for_all(slot);
            for peer in self.sessions.peers.values_mut() {
                if peer.handshake.is_connected() {
                    debug_assert!(
                        !peer.connection.copies.uses(slot),
                        "a slot is used again after all acks (R17)"
                    );
                    if let Some(parent) = parent {
                        peer.connection.copies.pause_with_parent(slot, parent);
                    }
                    peer.connection.copies.show_newborn(&mut self.world, slot, is_alike);
                }
            }
            let owner = parent.and_then(|parent| self.world.store.objects[parent as usize].owner());
            if owner.is_some() {
                self.give(slot, owner);
            }
        }
        Ok(reference)
    }

    /// Removes an object and its [subobjects](ObjectHandle::spawn_subobject) from the server and from the
    /// clients. Does nothing if the object does not exist.
    ///
    /// The last changes of the object, and changes that a client has not acknowledged yet, arrive together
    /// with the removal, even if packets are lost. The client keeps this last state until its user has polled
    /// the [update](crate::UpdateKind::Despawned), and runs the notifies of the changes. The last state
    /// contains what the client could see at the moment of the removal. It is no longer sent to a client that
    /// leaves the group because of which it saw the object. Clients are told of the end of subobjects before
    /// the end of their parents.
    ///
    /// Costs O(connections × log objects) for each removed object, plus one comparison if the object was
    /// written to. If the object changed while packets were in flight, the server also looks at the contents
    /// of these packets. The last state counts as memory of the connection until its client has acknowledged
    /// the removal. The first removal after a packet of a client also looks once at each call that waits for
    /// this client.
    pub fn despawn<T: ?Sized>(&mut self, object: ObjectRef<T>) {
        let Some(slot) = self.world.store.slot_of(object) else { return };
        let mut family = LastFamily::of(&mut self.world, slot);
        if let Some(host) = &mut self.host {
            family.slots.iter().rev().for_each(|&slot| host.removed(&self.world, slot));
        }
        for peer in self.sessions.peers.values_mut() {
            peer.connection.destroy(&mut self.world, &mut family);
        }
        for LastChanges { slot, holders, .. } in family.objects.into_iter().rev() {
            self.despawn_one(slot, holders);
        }
    }

    /// Removes an object from the world. `holders` is the number of connections that were told to remove it.
    fn despawn_one(&mut self, slot: u32, holders: u32) {
        let class = self.world.store.occupant(slot).class;
        self.world.despawn(slot, holders);
        self.world.audiences.remove(&slot);
        self.world.out_of_sight.forget(slot);
        if self.world.functions.forget(class, slot) {
            for entry in self.sessions.peers.as_mut_slice() {
                entry.peer.connection.copies.forget_verdict(slot);
            }
        }
        let orphans = self.world.cells.remove(slot);
        self.reconsider(&orphans);
        for orphan in self.world.owners.remove(slot) {
            self.give(orphan, None);
        }
    }

    /// Returns whether the object exists on the server.
    #[must_use]
    pub fn contains<T: ?Sized>(&self, object: ObjectRef<T>) -> bool {
        self.world.store.slot_of(object).is_some()
    }

    /// Returns the next packet for a connection. The caller sends the packet immediately. Returns `None` if
    /// this tick has no more packets for this connection. To send the packets of all connections in one loop,
    /// use [`poll_any_transmit`](Self::poll_any_transmit), which gives clients behind the same narrow link
    /// equal shares of this link.
    pub fn poll_transmit(&mut self, connection: ConnectionId) -> Option<&[u8]> {
        self.sessions.poll_transmit(connection)
    }

    /// Returns the number of ticks so far, which is also the number of the last tick. Clients receive this
    /// number ([`Client::server_tick`](crate::Client::server_tick)).
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.world.frame
    }

    /// Returns the number of the tick that the next call of [`tick`](Self::tick) begins. The
    /// [inputs](ConnectionHandle::input) that are simulated now, and the resulting
    /// [states](repl_core::Confirmed::set), belong to this tick.
    #[must_use]
    pub fn next_tick(&self) -> u64 {
        self.ticks().saturating_add(1)
    }

    /// Returns the next event, or `None` if there are no more events.
    pub fn poll_event(&mut self) -> Option<ServerEvent> {
        self.events.pop()
    }

    /// Returns the connections that have not ended. The [host](Self::connect_host) comes first.
    pub fn connections(&self) -> impl Iterator<Item = ConnectionId> {
        self.host.iter().map(|host| host.id).chain(self.sessions.ids())
    }

    /// Calls `change` with the world and the slot of an object, and then updates the properties of the object
    /// that each connection may see.
    fn change_view(&mut self, object: ObjectRef<()>, change: impl FnOnce(&mut World, u32)) {
        let Some(slot) = self.world.store.slot_of(object) else { return };
        let view = |peer: &Peer| {
            (
                peer.connection.copies.view().mask(&self.world, slot),
                peer.connection.copies.view().proxy(&self.world.store.objects[slot as usize]),
            )
        };
        let before: Vec<(HandleSet, Proxy)> = self.sessions.peers.values().map(&view).collect();
        change(&mut self.world, slot);
        self.world.marks.view_changed.insert(slot);
        for (peer, (mask, proxy)) in self.sessions.peers.values_mut().zip(before) {
            peer.connection.copies.review(&mut self.world, slot, &mask);
            peer.connection.copies.note_proxy(&mut self.world, slot, proxy);
        }
    }

    /// Sets the connection that owns an object, and also sets it for all objects that this object owns,
    /// directly or through other objects.
    fn give(&mut self, slot: u32, owner: Option<ConnectionId>) {
        for slot in self.world.owners.with_descendants(slot) {
            let object = ObjectRef::new(self.world.store.occupant(slot).guid(slot));
            if let Some(host) = &mut self.host {
                host.owner_changes(object, self.world.store.objects[slot as usize].owner());
            }
            self.change_view(object, |world, slot| world.store.objects[slot as usize].set_owner(owner));
            self.world.functions.mark(self.world.store.occupant(slot).class, slot);
            let affected = self.world.cells.with_attached(slot);
            self.reconsider(&affected);
        }
    }

    fn reconsider(&mut self, slots: &[u32]) {
        if slots.is_empty() {
            return;
        }
        for peer in self.sessions.peers.values_mut() {
            for &slot in slots {
                peer.connection.copies.reconsider(&mut self.world, slot);
            }
        }
    }
}
