//! The clients of a server. Each client is an entity.

use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::collections::HashMap;

/// A connected client is an entity on the server with this component. The entity is spawned when the client
/// connects, or earlier at its [login](crate::LoginAsked). It is despawned when the session ends. To react to
/// both, observe `On<Add<ConnectedClient>>` and `On<Remove<ConnectedClient>>`.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectedClient {
    /// The connection, for the methods of [`Server`].
    pub connection: ConnectionId,
}

/// A client has left. The event is triggered before the entity of the client is despawned.
#[derive(EntityEvent, Clone, Debug, PartialEq, Eq)]
pub struct ClientLeft {
    /// The entity of the client.
    pub entity: Entity,
    /// The reason.
    pub reason: DisconnectReason,
}

/// The entities of all connections, including clients that wait for the answer to their login.
#[derive(Default)]
pub(super) struct Clients {
    entities: HashMap<ConnectionId, Entity>,
    connections: EntityHashMap<ConnectionId>,
}

impl Clients {
    pub(super) fn add(&mut self, connection: ConnectionId, entity: Entity) {
        self.entities.insert(connection, entity);
        self.connections.insert(entity, connection);
    }

    pub(super) fn remove(&mut self, connection: ConnectionId) -> Option<Entity> {
        let entity = self.entities.remove(&connection)?;
        self.connections.remove(&entity);
        Some(entity)
    }

    pub(super) fn entity(&self, connection: ConnectionId) -> Option<Entity> {
        self.entities.get(&connection).copied()
    }

    pub(super) fn connection(&self, entity: Entity) -> Option<ConnectionId> {
        self.connections.get(&entity).copied()
    }
}
