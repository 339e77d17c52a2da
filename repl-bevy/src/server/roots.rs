//! Which object stands for which entity, on a server.

use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::{ArchetypeId, SpawnError};
use std::collections::HashMap;

use crate::net_entity::{NetEntity, Root};

/// The roots of all entities that are replicated, and of those that are going to be.
#[derive(Default)]
pub(super) struct Roots {
    entities: HashMap<ObjectRef<()>, Entity>,
    /// The roots of entities to which something refers, and which are not replicated yet.
    promised: EntityHashMap<NetEntity>,
    /// The entities that are replicated since the last tick.
    new: Vec<Entity>,
}

impl Roots {
    /// Returns the root of an entity that something refers to before it is replicated.
    pub(super) fn promise(&mut self, server: &mut Server, entity: Entity) -> Result<NetEntity, SpawnError> {
        if let Some(promised) = self.promised.get(&entity) {
            return Ok(*promised);
        }
        let root = self.spawn(server, entity)?;
        self.promised.insert(entity, root);
        Ok(root)
    }

    /// Returns the root of an entity that is replicated from now on.
    pub(super) fn add(&mut self, server: &mut Server, entity: Entity) -> Result<NetEntity, SpawnError> {
        self.new.push(entity);
        match self.promised.remove(&entity).filter(|promised| server.contains(promised.root())) {
            Some(promised) => Ok(promised),
            None => self.spawn(server, entity),
        }
    }

    fn spawn(&mut self, server: &mut Server, entity: Entity) -> Result<NetEntity, SpawnError> {
        let root = server.external().try_spawn_from(ArchetypeId::default(), &Root)?;
        self.entities.insert(root.erase(), entity);
        Ok(NetEntity::new(root))
    }

    /// Ends the replication of an entity.
    pub(super) fn remove(&mut self, server: &mut Server, root: NetEntity) {
        self.entities.remove(&root.root().erase());
        server.despawn(root.root());
    }

    pub(super) fn entity_of(&self, root: ObjectRef<()>) -> Option<Entity> {
        self.entities.get(&root).copied()
    }

    /// Ends what was promised and did not come: an entity that was never replicated is none on clients.
    pub(super) fn break_promises(&mut self, server: &mut Server) {
        for (_, root) in self.promised.drain() {
            self.entities.remove(&root.root().erase());
            server.despawn(root.root());
        }
    }

    pub(super) fn take_new(&mut self) -> Vec<Entity> {
        std::mem::take(&mut self.new)
    }
}
