//! Values that have no form on the wire, and where they stand.
//!
//! *Invariant:* a refusal names one value; the last one that had a form stays in the shadow.

use crate::bits::WriteError;
use crate::schema::display;
use crate::schema::layout::Layout;

/// A value that has no form on the wire: its property keeps the last value that had one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The way to it: the handle at the object's own level, and from there the handle in each element, the id
    /// and handle in each item, or the key and handle in each entry.
    pub(crate) steps: Vec<u32>,
    /// What is wrong with the value.
    pub error: WriteError,
}

impl Refusal {
    /// The handle at the object's own level, counted from one.
    #[must_use]
    pub fn handle(&self) -> u32 {
        self.steps.first().copied().unwrap_or(0)
    }

    /// Where the value stands in objects with this layout, such as `bag{3}.count` for the item with the id 3.
    /// Keys of maps are not told.
    #[must_use]
    pub fn path(&self, layout: &Layout) -> String {
        display::path(layout, &self.steps)
    }
}
