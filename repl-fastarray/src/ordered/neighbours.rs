//! Inserting and moving beside an item that is known by its id.
//!
//! Invariant: an id leads to its item wherever that has moved meanwhile, so what is remembered as an id, such as a cursor, needs no mending.

use repl_core::ItemId;

use super::OrderedFastArray;

impl<T> OrderedFastArray<T> {
    /// Inserts an item directly before the item `neighbour`, and gives its id.
    ///
    /// # Errors
    /// If there is no such item: the one that was to be inserted.
    pub fn insert_before(&mut self, neighbour: ItemId, item: T) -> Result<ItemId, T> {
        match self.index_of(neighbour) {
            Some(index) => Ok(self.insert(index, item)),
            None => Err(item),
        }
    }

    /// Inserts an item directly behind the item `neighbour`, and gives its id.
    ///
    /// # Errors
    /// If there is no such item: the one that was to be inserted.
    pub fn insert_after(&mut self, neighbour: ItemId, item: T) -> Result<ItemId, T> {
        match self.index_of(neighbour) {
            Some(index) => Ok(self.insert(index + 1, item)),
            None => Err(item),
        }
    }

    /// Moves the item `id` directly before the item `neighbour`; false, and nothing has happened, if one of the two is not there. Clients are
    /// sent its label alone.
    pub fn move_before(&mut self, id: ItemId, neighbour: ItemId) -> bool {
        let (Some(from), Some(at)) = (self.index_of(id), self.index_of(neighbour)) else { return false };
        self.move_item(from, if from < at { at - 1 } else { at });
        true
    }

    /// Moves the item `id` directly behind the item `neighbour`; false, and nothing has happened, if one of the two is not there. Clients are
    /// sent its label alone.
    pub fn move_after(&mut self, id: ItemId, neighbour: ItemId) -> bool {
        let (Some(from), Some(at)) = (self.index_of(id), self.index_of(neighbour)) else { return false };
        self.move_item(from, if from > at { at + 1 } else { at });
        true
    }
}
