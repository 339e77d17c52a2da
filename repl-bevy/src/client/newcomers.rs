//! The entities that arrive in one tick of the server.
//!
//! *Invariant:* an entity arrives with all components that the server sent with it.

use std::collections::HashMap;

use repl::prelude::*;

/// The entities that arrive in one tick of the server. In the stream of updates, the components of several
/// entities are mixed.
#[derive(Default)]
pub(super) struct Newcomers {
    /// The number of each root.
    roots: HashMap<ObjectRef<()>, usize>,
    /// The updates of roots and components, each with the number of its root.
    updates: Vec<(usize, Update)>,
    tick: u64,
}

impl Newcomers {
    /// Returns whether the stored arrivals are complete before this update: the update is of a later tick, or
    /// it is a change of an entity that has arrived.
    pub(super) fn are_all_before(&self, root: ObjectRef<()>, update: &Update) -> bool {
        update.tick != self.tick || !is_arrival(update) && self.roots.contains_key(&root)
    }

    /// Takes the updates of all entities that arrive, grouped by entity and in their order.
    pub(super) fn take(&mut self) -> Vec<Vec<Update>> {
        let Self { roots, updates, .. } = std::mem::take(self);
        let mut families = vec![Vec::new(); roots.len()];
        updates.into_iter().for_each(|(number, update)| families[number].push(update));
        families
    }

    /// Adds an update, if it is part of an arrival. Returns it otherwise.
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
