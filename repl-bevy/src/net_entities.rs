//! From entities to their names and back, on both sides.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;

use crate::client::entities::Entities;
use crate::net_entity::NetEntity;
use crate::server::state::ReplServer;

/// Turns entities into [`NetEntity`] and back.
#[derive(SystemParam)]
pub struct NetEntities<'w, 's> {
    server: Option<ResMut<'w, ReplServer>>,
    entities: Option<Res<'w, Entities>>,
    names: Query<'w, 's, &'static NetEntity>,
}

impl NetEntities<'_, '_> {
    /// Returns what an entity is called between the server and its clients. On a server, the entity need not
    /// be spawned yet: if commands spawn it with [`Replicate`](crate::Replicate) before the next tick, others
    /// can refer to it already.
    ///
    /// Returns [`NetEntity::EMPTY`] on a client for an entity of its own.
    pub fn of(&mut self, entity: Entity) -> NetEntity {
        let name = self.known(entity);
        match &mut self.server {
            Some(server) if name.is_empty() => server.promise(entity),
            _ => name,
        }
    }

    /// Returns what an entity that is replicated already is called.
    pub(crate) fn known(&self, entity: Entity) -> NetEntity {
        self.names.get(entity).copied().unwrap_or_default()
    }

    pub(crate) fn server(&mut self) -> Option<&mut ReplServer> {
        self.server.as_deref_mut()
    }

    /// Returns the entity with this name. `None` if it does not exist, or is not on this client.
    #[must_use]
    pub fn entity(&self, name: NetEntity) -> Option<Entity> {
        let server = self.server.as_ref().and_then(|server| server.entity_of(name.root().erase()));
        server.or_else(|| self.entities.as_ref().and_then(|entities| entities.entity_of(name.root().erase())))
    }
}
