//! A small store of objects that resembles an ECS. The store is a table whose rows may move at any time. Each
//! row stores whether it has changed.
//!
//! *Invariant:* only [`Store::get_mut`] writes to an object, and it marks the row.

use repl::CompareError;
use repl::prelude::*;
use repl::sim::Rng;

struct Row<T> {
    object: ObjectRef<T>,
    value: T,
    has_changed: bool,
}

/// The rows of one class.
pub(crate) struct Store<T>(Vec<Row<T>>);

impl<T: Replicated> Store<T> {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn spawn(&mut self, server: &mut Server, value: T) -> ObjectRef<T> {
        let object = server.external().spawn(&value);
        self.0.push(Row { object, value, has_changed: false });
        object
    }

    /// Passes the object to the server for the last time, and removes it.
    pub(crate) fn despawn(&mut self, server: &mut Server, object: ObjectRef<T>) {
        let row = self.0.iter_mut().find(|row| row.object == object && row.has_changed);
        row.into_iter().for_each(|row| _ = server.external().compare_mut(object, &mut row.value));
        server.despawn(object);
        self.0.retain(|row| row.object != object);
    }

    pub(crate) fn get(&self, object: ObjectRef<T>) -> &T {
        let row = self.0.iter().find(|row| row.object == object);
        &row.expect("the store has the object").value
    }

    pub(crate) fn get_mut(&mut self, object: ObjectRef<T>) -> &mut T {
        let row = self.0.iter_mut().find(|row| row.object == object);
        let row = row.expect("the store has the object");
        row.has_changed = true;
        &mut row.value
    }

    /// Puts the rows in a random order.
    pub(crate) fn shuffle(&mut self, rng: &mut Rng) {
        rng.shuffle(&mut self.0);
    }

    /// Passes the objects that changed since the last call to the server. Returns the number of changed
    /// objects.
    pub(crate) fn hand_over(&mut self, server: &mut Server) -> Result<usize, CompareError> {
        let (mut objects, mut count) = (server.external::<T>(), 0);
        for row in self.0.iter_mut().filter(|row| row.has_changed) {
            row.has_changed = false;
            objects.compare_mut(row.object, &mut row.value)?;
            count += 1;
        }
        Ok(count)
    }
}
