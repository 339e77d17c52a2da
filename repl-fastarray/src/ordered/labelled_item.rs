//! An item of an ordered array with its label and its id.
//!
//! *Invariant:* items are ordered by label, and items with equal labels are ordered by id. So all peers have
//! the same order.

use std::cmp::Ordering;

use repl_core::ItemId;
use repl_core::label::Label;

pub(super) struct LabelledItem<T> {
    pub(super) item: T,
    pub(super) label: Label,
    pub(super) id: ItemId,
}

impl<T> LabelledItem<T> {
    /// Compares the positions of two items, by label and then by id.
    pub(super) fn compare_position(&self, other: &Self) -> Ordering {
        self.label.cmp(&other.label).then(self.id.cmp(&other.id))
    }
}
