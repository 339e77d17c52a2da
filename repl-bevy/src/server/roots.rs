//! The root of each replicated entity on a server: the object that stands for the entity itself.

use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::{ArchetypeId, SpawnError};
use std::collections::HashMap;

use crate::net_entity::{NetEntity, Root};

/// The roots of all replicated entities, and of entities that are going to be replicated.
#[derive(Default)]
pub(super) struct Roots {
    entities: HashMap<ObjectRef<()>, Entity>,
    /// The roots of entities that are not replicated yet, but already have a name, because another entity
    /// refers to them.
    promised: EntityHashMap<NetEntity>,
    /// The entities that became replicated since the last tick.
    new: Vec<Entity>,
}

impl Roots {
    /// Returns the root of an entity that is not replicated yet, so that other entities can refer to it.
    pub(super) fn promise(&mut self, server: &mut Server, entity: Entity) -> Result<NetEntity, SpawnError> {
        if let Some(promised) = self.promised.get(&entity) {
            return Ok(*promised);
        }
        let root = self.spawn(server, entity)?;
        self.promised.insert(entity, root);
        Ok(root)
    }

    /// Begins the replication of an entity, and returns its root.
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

    /// Despawns the roots of entities that have a name but did not become replicated before this tick. On
    /// clients, references to such an entity are empty.
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
