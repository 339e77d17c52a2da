//! Refusals: a refusal reports a value that has no wire form, and the path to this value.
//!
//! *Invariant:* a refusal names one value. If a value is refused, the shadow keeps the last value that had a
//! wire form.

use std::hash::{Hash, Hasher};

use crate::bits::WriteError;
use crate::schema::display;
use crate::schema::layout::Layout;

/// Reports a value that has no wire form. On clients, a property with a refused value keeps the last value
/// that had a wire form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The path to the value. The first step is the handle of the property of the object itself. For each
    /// array, item or entry inside, the next steps are the handle of the array element, the id and handle of
    /// the item, or the key and handle of the entry.
    pub(crate) steps: Vec<u32>,
    /// The reason why the value was refused.
    pub error: WriteError,
}

/// The hash does not cover the reason. So refusals of the same value for different reasons have the same
/// hash, but such refusals are rare.
impl Hash for Refusal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.steps.hash(state);
    }
}

impl Refusal {
    /// Returns the handle of the object's property that is or contains the value. Handles are counted from
    /// one.
    #[must_use]
    pub fn handle(&self) -> u32 {
        self.steps.first().copied().unwrap_or(0)
    }

    /// Returns whether both refusals report the same value. The reasons may differ.
    #[must_use]
    pub fn is_of_same_value(&self, other: &Self) -> bool {
        self.steps == other.steps
    }

    /// Returns the path of the value as text for an object with this layout, such as `bag{3}.count` for the
    /// property `count` of the item with the id 3. The path of a refusal does not contain keys of maps.
    #[must_use]
    pub fn path(&self, layout: &Layout) -> String {
        display::path(layout, &self.steps)
    }
}
