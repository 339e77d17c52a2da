//! All predicted components in one tick.

use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::tools::Objects;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use super::kind::{Kind, Kinds, Rows};
use super::states::States;
use crate::client::entities::Entities;
use crate::net_entity::NetEntity;
use crate::simulate::Simulated;

/// All predicted components of a client in one tick.
pub(super) struct Snapshot {
    rows: Vec<Box<dyn Rows>>,
    /// The entities in this snapshot, sorted. The snapshot has all their predicted components.
    known: Vec<Entity>,
    simulated: SimulatedEntities,
}

/// A query for the entities that the client simulates.
type SimulatedEntities = Arc<Mutex<QueryState<Entity, With<Simulated>>>>;

impl Clone for Snapshot {
    fn clone(&self) -> Self {
        let rows = self.rows.iter().map(|rows| rows.copy()).collect();
        Self { rows, known: self.known.clone(), simulated: self.simulated.clone() }
    }
}

impl Snapshot {
    /// Returns a snapshot of the predicted components in the world.
    pub(super) fn of(world: &mut World, kinds: &Kinds) -> Self {
        let simulated = Arc::new(Mutex::new(QueryState::new(world)));
        let mut snapshot =
            Self { rows: kinds.iter().map(Kind::rows).collect(), known: Vec::new(), simulated };
        snapshot.save(world);
        snapshot
    }

    pub(super) fn save(&mut self, world: &mut World) {
        let mut simulated = self.simulated.lock().unwrap_or_else(PoisonError::into_inner);
        self.known.clear();
        self.known.extend(simulated.iter(world));
        drop(simulated);
        self.known.sort_unstable();
        self.rows.iter_mut().for_each(|rows| rows.save(world));
    }

    pub(super) fn load(&self, world: &mut World) {
        self.rows.iter().for_each(|rows| rows.load(world, &self.known));
    }

    pub(super) fn rows_of<R: Rows>(&self) -> Option<&R> {
        self.rows.iter().find_map(|rows| (rows.as_ref() as &dyn Any).downcast_ref())
    }

    /// Returns whether all components equal those in a snapshot that the server has confirmed.
    pub(super) fn agrees(&self, confirmed: &Self) -> bool {
        self.rows.iter().zip(&confirmed.rows).all(|(mine, confirmed)| mine.agrees(confirmed.as_ref()))
    }

    /// Replaces the components by the values that the server has confirmed.
    ///
    /// # Errors
    /// Returns an error if the server confirms other component types.
    pub(super) fn confirm(
        &mut self,
        states: &States,
        entities: &Entities,
        objects: &dyn Objects,
    ) -> Result<(), ReadError> {
        let mut known = Vec::with_capacity(usize::from(states.entities));
        let bytes = states.bytes();
        let mut reader = BitReader::new(&bytes);
        for _ in 0..states.entities {
            // The entity is `None` if it has not arrived yet. Its prediction begins after it has arrived.
            let name = NetEntity::read(&mut reader, &mut ReferenceMap::new(objects))?;
            let entity = entities.entity_of(name.root().erase());
            known.extend(entity);
            self.rows.iter_mut().try_for_each(|rows| rows.confirm(entity, &mut reader, objects))?;
        }
        known.sort_unstable();
        self.rows.iter_mut().for_each(|rows| rows.retain(&known));
        self.known = known;
        Ok(())
    }
}
