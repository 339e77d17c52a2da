//! All predicted components in one tick.

use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::sync::Arc;

use super::kind::{Kind, Rows};
use super::states::States;
use crate::client::entities::Entities;

/// All predicted components of a client in one tick.
pub(super) struct Snapshot(Vec<Box<dyn Rows>>);

impl Clone for Snapshot {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|rows| rows.copy()).collect())
    }
}

impl Snapshot {
    /// Returns what is in the world.
    pub(super) fn of(world: &mut World, kinds: &[Arc<dyn Kind>]) -> Self {
        let mut snapshot = Self(kinds.iter().map(|kind| kind.rows()).collect());
        snapshot.save(world);
        snapshot
    }

    pub(super) fn save(&mut self, world: &mut World) {
        self.0.iter_mut().for_each(|rows| rows.save(world));
    }

    pub(super) fn load(&self, world: &mut World) {
        self.0.iter().for_each(|rows| rows.load(world));
    }

    /// Returns whether all components are the same.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| one.agrees(other.as_ref()))
    }

    /// Takes the values that the server has confirmed.
    ///
    /// # Errors
    /// Returns an error if the server has other kinds of components.
    pub(super) fn confirm(&mut self, states: &States, entities: &Entities) -> Result<(), ReadError> {
        let mut known = Vec::with_capacity(states.entities.len());
        for state in &states.entities {
            // An entity that has not arrived yet is predicted later.
            let Some(entity) = entities.entity_of(state.name.root().erase()) else { continue };
            known.push(entity);
            let mut reader = BitReader::new(&state.components);
            self.0.iter_mut().try_for_each(|rows| rows.confirm(entity, &mut reader))?;
        }
        self.0.iter_mut().for_each(|rows| rows.retain(&known));
        Ok(())
    }
}
