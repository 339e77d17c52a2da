//! What a server does with a shadow: completing lists of what changed, and writing them.
//!
//! *Invariant:* what is written is read from the shadow alone.

use super::Class;
use crate::bits::{BitWriter, WriteError};
use crate::changes::changelist::Changelist;
use crate::changes::flat::flatten;
use crate::changes::prune::prune;
use crate::ids::handles::HandleSet;
use crate::object::level::Slot;
use crate::schema::replicated::Replicated;
use crate::wire::encode;

impl<T: Replicated> Class<T> {
    /// Whether objects have arrays, collections or maps that grow.
    #[must_use]
    pub fn has_arrays(&self) -> bool {
        self.growing.iter().any(|(handles, _)| !handles.is_empty())
    }

    /// How many items and entries the collections and maps among the properties of `handles` have together.
    /// O(properties).
    pub fn items_of(&self, shadow: &T, handles: &HandleSet) -> usize {
        let level = self.level(shadow);
        let items = |handle| match level.slot(handle) {
            Some(Slot::Items(items)) => items.collection.len(),
            Some(Slot::Entries(entries)) => entries.collection.len(),
            _ => 0,
        };
        let collections = self.growing.iter().skip(1).flat_map(|(collections, _)| collections.iter());
        collections.filter(|&handle| handles.contains(handle)).map(items).sum()
    }

    /// Adds the properties of `handles` to `changes`, whole.
    pub fn insert_whole(&self, handles: &HandleSet, changes: &mut Changelist) {
        changes.insert_whole(handles, &self.growing);
    }

    /// Drops what lies past the ends of the shadow's arrays (S72).
    pub fn prune(&self, shadow: &T, changes: &mut Changelist) {
        prune(self.level(shadow), changes);
    }

    /// Writes the values that `changes` lists (not which they are).
    ///
    /// # Errors
    /// Only if a hand-written serialiser refuses a value that it took when it was compared.
    pub fn write_values(
        &self,
        shadow: &T,
        changes: &Changelist,
        writer: &mut BitWriter,
    ) -> Result<(), WriteError> {
        encode::write_values(self.level(shadow), changes, writer)
    }

    /// The list in the form of S58: ascending handles, each array followed by the number of entries of its
    /// own list and that list; every list ends with 0. New elements are listed with all their handles (S60).
    /// Of a collection the ids are listed that came, changed or went.
    #[must_use]
    pub fn flat(&self, shadow: &T, changes: &Changelist) -> Vec<u32> {
        let mut flat = Vec::new();
        flatten(self.level(shadow), changes, &mut flat);
        flat
    }
}
