//! All predicted components in one tick.

use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::tools::Objects;
use std::any::Any;

use super::kind::{Kind, Kinds, Rows};
use super::states::States;
use crate::client::entities::Entities;
use crate::simulate::Simulated;

/// All predicted components of a client in one tick.
pub(super) struct Snapshot {
    rows: Vec<Box<dyn Rows>>,
    /// The entities of which it has all predicted components, in their order.
    known: Vec<Entity>,
}

impl Clone for Snapshot {
    fn clone(&self) -> Self {
        Self { rows: self.rows.iter().map(|rows| rows.copy()).collect(), known: self.known.clone() }
    }
}

impl Snapshot {
    /// Returns what is in the world.
    pub(super) fn of(world: &mut World, kinds: &Kinds) -> Self {
        let mut snapshot = Self { rows: kinds.iter().map(Kind::rows).collect(), known: Vec::new() };
        snapshot.save(world);
        snapshot
    }

    pub(super) fn save(&mut self, world: &mut World) {
        let mut simulated = world.query_filtered::<Entity, With<Simulated>>();
        self.known.clear();
        self.known.extend(simulated.iter(world));
        self.known.sort_unstable();
        self.rows.iter_mut().for_each(|rows| rows.save(world));
    }

    pub(super) fn load(&self, world: &mut World) {
        self.rows.iter().for_each(|rows| rows.load(world, &self.known));
    }

    /// Returns the components of one kind.
    pub(super) fn rows_of<R: Rows>(&self) -> Option<&R> {
        self.rows.iter().find_map(|rows| (rows.as_ref() as &dyn Any).downcast_ref())
    }

    /// Returns whether all components are the same as those that the server has confirmed.
    pub(super) fn agrees(&self, confirmed: &Self) -> bool {
        self.rows.iter().zip(&confirmed.rows).all(|(mine, confirmed)| mine.agrees(confirmed.as_ref()))
    }

    /// Takes the values that the server has confirmed.
    ///
    /// # Errors
    /// Returns an error if the server has other kinds of components.
    pub(super) fn confirm(
        &mut self,
        states: &States,
        entities: &Entities,
        objects: &dyn Objects,
    ) -> Result<(), ReadError> {
        let mut known = Vec::with_capacity(states.entities.len());
        for state in &states.entities {
            // An entity that has not arrived yet is predicted later.
            let Some(entity) = entities.entity_of(state.name.root().erase()) else { continue };
            known.push(entity);
            let mut reader = BitReader::new(&state.components);
            self.rows.iter_mut().try_for_each(|rows| rows.confirm(entity, &mut reader, objects))?;
        }
        known.sort_unstable();
        self.rows.iter_mut().for_each(|rows| rows.retain(&known));
        self.known = known;
        Ok(())
    }
}
