//! Methods that insert and move items next to an item that is given by its id.
//!
//! *Invariant:* an id finds its item wherever the item has moved. A position that is stored as an id, for
//! example a cursor, stays valid while the item exists.

use repl_core::ItemId;

use super::OrderedFastArray;

impl<T> OrderedFastArray<T> {
    /// Inserts an item directly before the item `neighbour`, and returns its id.
    ///
    /// # Errors
    /// Returns an error if the array has no item `neighbour`. The error contains the item that was to be
    /// inserted.
    pub fn insert_before(&mut self, neighbour: ItemId, item: T) -> Result<ItemId, T> {
        match self.index_of(neighbour) {
            Some(index) => Ok(self.insert(index, item)),
            None => Err(item),
        }
    }

    /// Inserts an item directly after the item `neighbour`, and returns its id.
    ///
    /// # Errors
    /// Returns an error if the array has no item `neighbour`. The error contains the item that was to be
    /// inserted.
    pub fn insert_after(&mut self, neighbour: ItemId, item: T) -> Result<ItemId, T> {
        match self.index_of(neighbour) {
            Some(index) => Ok(self.insert(index + 1, item)),
            None => Err(item),
        }
    }

    /// Moves the item `id` directly before the item `neighbour`. Only the label of the moved item is sent.
    /// Returns false and does nothing if one of the two items does not exist.
    pub fn move_before(&mut self, id: ItemId, neighbour: ItemId) -> bool {
        let (Some(from), Some(at)) = (self.index_of(id), self.index_of(neighbour)) else { return false };
        self.move_item(from, if from < at { at - 1 } else { at });
        true
    }

    /// Moves the item `id` directly after the item `neighbour`. Only the label of the moved item is sent.
    /// Returns false and does nothing if one of the two items does not exist.
    pub fn move_after(&mut self, id: ItemId, neighbour: ItemId) -> bool {
        let (Some(from), Some(at)) = (self.index_of(id), self.index_of(neighbour)) else { return false };
        self.move_item(from, if from > at { at + 1 } else { at });
        true
    }
}
