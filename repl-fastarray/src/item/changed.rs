//! Which properties of an item an update changed, as a callback asks for them.
//!
//! Invariant: a name that the item does not have is refused, never taken for one that did not change.

use std::fmt;

use repl_core::{HandleSet, Layout, PropertyIndex};

/// Which properties of an item an update gave other values.
#[derive(Clone, Copy)]
pub struct ChangedProperties<'a> {
    layout: &'static Layout,
    handles: &'a HandleSet,
}

impl<'a> ChangedProperties<'a> {
    /// Those with a handle in `handles`, which are those of an item with this layout.
    #[must_use]
    pub fn new(layout: &'static Layout, handles: &'a HandleSet) -> Self {
        Self { layout, handles }
    }

    /// Whether what stands at `path` changed, or anything in it: a property, or a part of one that is a
    /// struct, a tuple or a fixed array, named as the item's [`LAYOUT`](crate::FastArrayItem::LAYOUT) prints
    /// it (`"count"`, `"pose.position"`, `"slots[2]"`). What lies in a `Vec`, an `Option`, a map or another
    /// fast array has no path here: ask for the property that holds it.
    ///
    /// # Panics If the item has no such place: a misspelt name would else never be heard of.
    /// [`contains_property`](Self::contains_property) takes a name that was looked up at compile time.
    #[must_use]
    #[track_caller]
    pub fn contains(&self, path: &str) -> bool {
        match self.layout.handles_at(path) {
            Some(mut handles) => handles.any(|handle| self.handles.contains(handle)),
            None => self.contains_property(self.layout.property(path)),
        }
    }

    /// Whether a property changed, or anything in it. If it is looked up in a constant, as in
    /// `changed.contains_property(const { Stack::LAYOUT.property("count") })`, a misspelt name does not
    /// compile.
    #[must_use]
    pub fn contains_property(&self, property: PropertyIndex) -> bool {
        self.layout.handles_of(property).any(|handle| self.handles.contains(handle))
    }

    /// The names of those that changed, in the order of their declaration.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        let all = (0..self.layout.properties()).map(PropertyIndex::new);
        let changed = all.filter(|&property| self.contains_property(property));
        changed.map(|property| self.layout.property_name(property))
    }

    /// The handles of those that changed, counted from one.
    #[must_use]
    pub fn handles(&self) -> &'a HandleSet {
        self.handles
    }
}

impl fmt::Debug for ChangedProperties<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
