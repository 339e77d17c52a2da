//! The entities that arrive in one tick of the server.
//!
//! *Invariant:* an entity arrives with all components that the server sent with it.

use std::collections::HashMap;

use repl::prelude::*;

/// The entities that arrive in one tick of the server. The client receives the updates of their components in
/// any order, so they are collected here until all have arrived.
#[derive(Default)]
pub(super) struct Newcomers {
    /// The number of each arriving entity, by its root (the object that stands for the entity itself).
    roots: HashMap<ObjectRef<()>, usize>,
    /// The updates of roots and components. Each update has the number of its entity in `roots`.
    updates: Vec<(usize, Update)>,
    tick: u64,
}

impl Newcomers {
    /// Returns whether all stored entities are complete. This is so if `update` is of a later tick, or if it
    /// changes an entity that has already arrived.
    pub(super) fn are_all_before(&self, root: ObjectRef<()>, update: &Update) -> bool {
        update.tick != self.tick || !is_arrival(update) && self.roots.contains_key(&root)
    }

    /// Removes and returns the updates of all entities that arrive, grouped by entity.
    pub(super) fn take(&mut self) -> Vec<Vec<Update>> {
        let Self { roots, updates, .. } = std::mem::take(self);
        let mut families = vec![Vec::new(); roots.len()];
        updates.into_iter().for_each(|(number, update)| families[number].push(update));
        families
    }

    /// Stores an update if it is part of an arrival, and returns it otherwise.
    pub(super) fn add(&mut self, root: ObjectRef<()>, update: Update) -> Option<Update> {
        self.tick = update.tick;
        let numbers = self.roots.len();
        let number = if update.object == root && update.what == UpdateKind::Spawned {
            *self.roots.entry(root).or_insert(numbers)
        } else if let Some(&number) = self.roots.get(&root).filter(|_| is_arrival(&update)) {
            number
        } else {
            return Some(update);
        };
        self.updates.push((number, update));
        None
    }
}

fn is_arrival(update: &Update) -> bool {
    matches!(update.what, UpdateKind::Spawned | UpdateKind::Owner)
}
