//! Completes changelists on a server, and writes the values of the properties in them.
//!
//! *Invariant:* all values are read from the shadow.

use super::Class;
use super::tables::Tables;
use crate::bits::{BitWriter, WriteError};
use crate::changes::changelist::Changelist;
use crate::changes::flat::flatten;
use crate::changes::prune::prune;
use crate::ids::delta_base::DeltaBase;
use crate::ids::handles::HandleSet;
use crate::object::level::{Level, Slot};
use crate::object::rows::Rows;
use crate::object::write_recipe::WriteRecipe;
use crate::schema::replicated::Replicated;
use crate::wire::encode;

impl<T: Replicated> Class<T> {
    /// Returns whether objects of this class have arrays of variable length, collections or maps.
    #[must_use]
    pub fn has_arrays(&self) -> bool {
        self.tables.has_arrays
    }

    /// Returns the total number of items and entries in the collections and maps among `handles`. Costs
    /// O(properties).
    pub fn items_of(&self, shadow: &T, handles: &HandleSet) -> usize {
        if self.tables.has_arrays { self.tables.items_of(self.level(shadow), handles) } else { 0 }
    }

    /// Adds the properties of `handles` to `changes`, with all their elements.
    pub fn insert_whole(&self, handles: &HandleSet, changes: &mut Changelist) {
        self.tables.insert_whole(handles, changes);
    }

    /// Drops changes that no longer apply, such as changes past the ends of the shadow's arrays.
    pub fn prune(&self, shadow: &T, changes: &mut Changelist) {
        prune(self.level(shadow), changes);
    }

    /// Writes the values of the handles in `changes`, without the handles themselves.
    ///
    /// # Errors
    /// Returns an error only if a hand-written serialiser refuses a value that it accepted when the value was
    /// compared.
    pub fn write_values(
        &self,
        shadow: &T,
        changes: &Changelist,
        writer: &mut BitWriter,
    ) -> Result<(), WriteError> {
        encode::write_values(self.level(shadow), changes, writer)
    }

    /// Returns the changelist as one flat list, in Unreal's format. The list has the handles in ascending
    /// order. After the handle of each array come the length of the array's own list, and then that list.
    /// Every flat list ends with 0. In the flat list, new elements are listed with all their handles. For a
    /// collection, the flat list contains the ids of the new, changed and removed items.
    #[must_use]
    pub fn flat(&self, shadow: &T, changes: &Changelist) -> Vec<u32> {
        let mut flat = Vec::new();
        flatten(self.level(shadow), changes, &mut flat);
        flat
    }
}

impl Rows<'_> {
    /// Writes the values of the handles in `changes` from the shadow at index `row`, without the handles
    /// themselves. `recipe` is the recipe of these handles.
    ///
    /// # Errors
    /// Returns an error only if a hand-written serialiser refuses a value that it accepted when the value was
    /// compared.
    ///
    /// # Panics
    /// Panics if there is no such row, or if the recipe was made for objects of another class.
    #[inline]
    pub fn write_values(
        &self,
        row: u32,
        changes: &Changelist,
        recipe: &WriteRecipe,
        writer: &mut BitWriter,
    ) -> Result<(), WriteError> {
        debug_assert_eq!(recipe.handles(), changes.handles(), "the recipe of other properties");
        encode::write_by_recipe(*self, row, recipe, changes, writer)
    }

    /// Returns how many bits the value of a property takes whole. Costs as much as writing it.
    ///
    /// # Panics
    /// Panics if there is no such row.
    #[must_use]
    pub fn whole_bits(&self, row: u32, handle: u32) -> usize {
        let mut writer = BitWriter::new();
        match self.level(row).slot(handle) {
            Some(Slot::Leaf(leaf)) if leaf.write_nearest(&mut writer).is_ok() => writer.bit_len(),
            _ => 0,
        }
    }

    /// Writes how the value of a property differs from a base.
    ///
    /// # Errors
    /// Returns an error if the difference cannot be written, or if the property is always sent whole.
    ///
    /// # Panics
    /// Panics if there is no such row.
    pub fn write_difference(
        &self,
        row: u32,
        handle: u32,
        base: &DeltaBase,
        writer: &mut BitWriter,
    ) -> Result<(), WriteError> {
        match self.level(row).slot(handle) {
            Some(Slot::Leaf(leaf)) => leaf.write_difference(base, writer),
            _ => Err(WriteError::Other("a property without differences")),
        }
    }
}

impl Tables {
    fn items_of(&self, shadow: Level<'_>, handles: &HandleSet) -> usize {
        let items = |handle| match shadow.slot(handle) {
            Some(Slot::Items(items)) => items.collection.len(),
            Some(Slot::Entries(entries)) => entries.collection.len(),
            _ => 0,
        };
        let collections = self.growing.iter().skip(1).flat_map(|(collections, _)| collections.iter());
        collections.filter(|&handle| handles.contains(handle)).map(items).sum()
    }

    pub(super) fn insert_whole(&self, handles: &HandleSet, changes: &mut Changelist) {
        changes.insert_whole(handles, if self.has_arrays { &self.growing } else { &[] });
    }
}
