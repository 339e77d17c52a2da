//! Converts entities to names that are the same on the server and its clients, and back.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;

use crate::client::entities::Entities;
use crate::net_entity::NetEntity;
use crate::server::state::ReplServer;

/// Converts entities to [`NetEntity`], and back.
#[derive(SystemParam)]
pub struct NetEntities<'w, 's> {
    server: Option<ResMut<'w, ReplServer>>,
    entities: Option<Res<'w, Entities>>,
    names: Query<'w, 's, &'static NetEntity>,
}

impl NetEntities<'_, '_> {
    /// Returns the name of an entity, which is the same on the server and its clients. On a server, an entity
    /// that is not replicated yet also receives a name, so that other entities can refer to it. The name is
    /// valid only if the entity gets [`Replicate`](crate::Replicate) before the next tick.
    ///
    /// On a client, returns [`NetEntity::EMPTY`] for an entity that is not from the server.
    pub fn of(&mut self, entity: Entity) -> NetEntity {
        let name = self.known(entity);
        match &mut self.server {
            Some(server) if name.is_empty() => server.promise(entity),
            _ => name,
        }
    }

    /// Returns the name of an entity that is already replicated, or [`NetEntity::EMPTY`].
    pub(crate) fn known(&self, entity: Entity) -> NetEntity {
        self.names.get(entity).copied().unwrap_or_default()
    }

    pub(crate) fn server(&mut self) -> Option<&mut ReplServer> {
        self.server.as_deref_mut()
    }

    /// Returns the entity with this name. `None` if the entity does not exist, or if this client does not
    /// have it.
    #[must_use]
    pub fn entity(&self, name: NetEntity) -> Option<Entity> {
        let server = self.server.as_ref().and_then(|server| server.entity_of(name.root().erase()));
        server.or_else(|| self.entities.as_ref().and_then(|entities| entities.entity_of(name.root().erase())))
    }
}
