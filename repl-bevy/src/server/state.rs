//! The server of the library, as a resource of an app.

use bevy_ecs::entity::EntityHashSet;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::{SpawnError, Work};
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

use super::clients::Clients;
use super::roots::Roots;
use crate::net_entity::NetEntity;
use crate::transport::ServerTransport;

/// The server of this app. It dereferences to the [`Server`] of the library. Use the [`Server`] for
/// everything for which this crate has no component, message or event, for example statistics and budgets.
///
/// Change entities, their owners and their components in the world, not through the [`Server`]. The plug-in
/// passes these changes to the [`Server`].
#[derive(Resource)]
pub struct ReplServer {
    server: Server,
    transport: Box<dyn ServerTransport>,
    roots: Roots,
    pub(super) clients: Clients,
    /// The entities with settings that have changed since the last tick.
    unsettled: EntityHashSet,
    /// The entities to tear off in this tick.
    torn_off: Vec<Entity>,
    /// The entities that are their own ancestors. Their settings are applied again in each tick.
    circles: EntityHashSet,
    /// The error of the last object that the server could not spawn since the last tick.
    refused: Option<SpawnError>,
    /// Whether the host must still be connected (see [`host_later`](Self::host_later)).
    awaits_host: bool,
    last_tick: Duration,
    limit: Option<WorkLimit>,
}

/// Limits the work of a tick.
pub(crate) type GoesOn = Box<dyn FnMut(Work, Duration) -> bool + Send + Sync>;

struct WorkLimit {
    goes_on: GoesOn,
    /// When the work of this tick has begun.
    start: Instant,
}

impl ReplServer {
    pub(crate) fn new(server: Server, transport: Box<dyn ServerTransport>) -> Self {
        Self {
            server,
            transport,
            roots: Roots::default(),
            clients: Clients::default(),
            unsettled: EntityHashSet::default(),
            torn_off: Vec::new(),
            circles: EntityHashSet::default(),
            refused: None,
            awaits_host: false,
            last_tick: Duration::ZERO,
            limit: None,
        }
    }

    /// Connects a host later, after all types were registered.
    pub(crate) const fn host_later(mut self) -> Self {
        self.awaits_host = true;
        self
    }

    pub(crate) fn limit_work(&mut self, goes_on: GoesOn) {
        self.limit = Some(WorkLimit { goes_on, start: Instant::now() });
    }

    /// Begins the work of a tick, if it is limited.
    pub(super) fn begin_work(&mut self) {
        if let Some(limit) = &mut self.limit {
            limit.start = Instant::now();
        }
    }

    pub(super) fn begin_hosting(&mut self) {
        if std::mem::take(&mut self.awaits_host) {
            self.server.connect_host(HostOptions::default());
        }
    }

    /// Returns the connection of the client with this entity.
    #[must_use]
    pub fn connection_of(&self, client: Entity) -> Option<ConnectionId> {
        self.clients.connection(client)
    }

    /// Returns the entity of a connection.
    #[must_use]
    pub fn client_of(&self, connection: ConnectionId) -> Option<Entity> {
        self.clients.entity(connection)
    }

    /// If `visible` is false, hides an entity from a client, together with those of its children that have no
    /// position of their own. If `visible` is true, the other rules decide again whether the client sees it.
    /// The setting lasts until the client leaves.
    pub fn set_visible(&mut self, entity: NetEntity, client: Entity, visible: bool) {
        if let Some(connection) = self.connection_of(client) {
            self.server.object(entity.root()).set_visible(connection, visible);
        }
    }

    /// If `paused` is true, pauses an entity for one client, as [`NetPaused`](crate::NetPaused) does for all
    /// clients. If `paused` is false, ends this pause. The pause also ends when the client leaves.
    pub fn set_paused_for(&mut self, entity: NetEntity, client: Entity, paused: bool) {
        if let Some(connection) = self.connection_of(client) {
            self.server.object(entity.root()).set_paused_for(connection, paused);
        }
    }

    /// Returns the reason why a client lacks an entity or its newest state. `None` if the client has both.
    #[must_use]
    pub fn why_not_sent(&self, entity: NetEntity, client: Entity) -> Option<NotSent> {
        let connection = self.connection_of(client)?;
        self.server.object_info(entity.root()).why_not_sent_to(connection)
    }

    /// Returns the entity that this root object stands for.
    pub(crate) fn entity_of(&self, root: ObjectRef<()>) -> Option<Entity> {
        self.roots.entity_of(root)
    }

    pub(crate) fn promise(&mut self, entity: Entity) -> NetEntity {
        let root = self.roots.promise(&mut self.server, entity);
        root.unwrap_or_else(|error| self.refuse(error))
    }

    pub(super) fn add_root(&mut self, entity: Entity) -> NetEntity {
        let root = self.roots.add(&mut self.server, entity);
        root.unwrap_or_else(|error| self.refuse(error))
    }

    /// Stores the error of an entity or component that could not be replicated.
    pub(crate) fn refuse(&mut self, error: SpawnError) -> NetEntity {
        self.refused = Some(error);
        NetEntity::EMPTY
    }

    /// Returns the error that [`refuse`](Self::refuse) has stored since the last tick, if there is one.
    pub(super) fn tell_refused(&mut self) -> Result {
        let refused = self.refused.take().map_or(Ok(()), Err);
        refused
            .map_err(|error| BevyError::error(format!("an entity or component is not replicated: {error}")))
    }

    pub(super) fn remove_root(&mut self, root: NetEntity) {
        self.roots.remove(&mut self.server, root);
    }

    pub(super) fn take_new(&mut self) -> Vec<Entity> {
        self.roots.break_promises(&mut self.server);
        self.roots.take_new()
    }

    pub(super) fn unsettle(&mut self, entity: Entity) {
        self.unsettled.insert(entity);
    }

    /// Adds the entities of a circle of parents. The settings of those that were not known before are applied
    /// in this tick.
    pub(super) fn add_circle(&mut self, circle: EntityHashSet) {
        let Self { circles, unsettled, .. } = self;
        unsettled.extend(circle.into_iter().filter(|&entity| circles.insert(entity)));
    }

    pub(super) fn tear_off_later(&mut self, entity: Entity) {
        self.torn_off.push(entity);
    }

    /// Tears off the entities that received [`TornOff`](crate::TornOff) since the last tick.
    pub(super) fn tear_off(&mut self, world: &World) {
        for entity in std::mem::take(&mut self.torn_off) {
            if let Some(name) = world.get::<NetEntity>(entity).filter(|name| !name.is_empty()) {
                self.server.object(name.root()).tear_off();
            }
        }
    }

    pub(super) fn unsettle_circles(&mut self) {
        self.unsettled.extend(self.circles.drain());
    }

    pub(super) fn take_unsettled(&mut self) -> EntityHashSet {
        std::mem::take(&mut self.unsettled)
    }

    pub(super) fn receive(&mut self, now: Duration) -> std::io::Result<()> {
        self.transport.receive(&mut self.server, now)
    }

    /// Returns whether the last tick was at least `long` ago.
    pub(super) fn has_rested(&self, now: Duration, long: Duration) -> bool {
        now.saturating_sub(self.last_tick) >= long
    }

    pub(super) fn tick(&mut self, now: Duration) -> std::io::Result<()> {
        self.last_tick = now;
        match &mut self.limit {
            Some(WorkLimit { goes_on, start }) => {
                self.server.tick_while(now, |work| goes_on(work, start.elapsed()));
            }
            None => self.server.tick(now),
        }
        self.transport.transmit(&mut self.server, now)
    }
}

impl Deref for ReplServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

impl DerefMut for ReplServer {
    fn deref_mut(&mut self) -> &mut Server {
        &mut self.server
    }
}
