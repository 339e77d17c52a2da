//! An entry of an ordered array: an item with its label and its id.
//!
//! Invariant: labels decide which of two entries stands first, and between equal labels ids do, so that all
//! peers agree.

use std::cmp::Ordering;

use repl_core::ItemId;
use repl_core::label::Label;

/// An item, and what is known of it.
pub(super) struct Entry<T> {
    pub(super) item: T,
    pub(super) label: Label,
    pub(super) id: ItemId,
}

impl<T> Entry<T> {
    /// Which of the two stands first.
    pub(super) fn stands(&self, other: &Self) -> Ordering {
        self.label.cmp(&other.label).then(self.id.cmp(&other.id))
    }
}
