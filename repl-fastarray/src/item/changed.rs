//! [`ChangedProperties`]: the set of an item's properties that an update changed, for use in callbacks.
//!
//! *Invariant:* asking for a property that the item does not have panics, and never returns "unchanged".

use std::fmt;

use repl_core::{HandleSet, Layout, PropertyIndex};

/// The properties of an item that an update changed.
#[derive(Clone, Copy)]
pub struct ChangedProperties<'a> {
    layout: &'static Layout,
    handles: &'a HandleSet,
}

impl<'a> ChangedProperties<'a> {
    /// Returns the properties with the given `handles`, for an item with this layout.
    #[must_use]
    pub fn new(layout: &'static Layout, handles: &'a HandleSet) -> Self {
        Self { layout, handles }
    }

    /// Returns whether the property (or part of a property) at `path`, or anything inside it, changed. A part
    /// is a field of a struct, or an element of a tuple or of a fixed array. Paths are written as the item's
    /// [`LAYOUT`](crate::FastArrayItem::LAYOUT) prints them: `"count"`, `"pose.position"`, `"slots[2]"`.
    /// There are no paths into a `Vec`, an `Option`, a map or another fast array. For a value inside such a
    /// type, ask for the property that contains the `Vec`, `Option`, map or fast array.
    ///
    /// # Panics
    /// Panics if the item has no such path. Otherwise a misspelt name would not be noticed.
    /// [`contains_property`](Self::contains_property) can check the name at compile time.
    #[must_use]
    #[track_caller]
    pub fn contains(&self, path: &str) -> bool {
        match self.layout.handles_at(path) {
            Some(mut handles) => handles.any(|handle| self.handles.contains(handle)),
            None => self.contains_property(self.layout.property(path)),
        }
    }

    /// Returns whether `property` changed, or anything inside it. If the property is looked up in a constant,
    /// for example `changed.contains_property(const { Stack::LAYOUT.property("count") })`, a misspelt name
    /// does not compile.
    #[must_use]
    pub fn contains_property(&self, property: PropertyIndex) -> bool {
        self.layout.handles_of(property).any(|handle| self.handles.contains(handle))
    }

    /// Returns the names of the changed properties, in the order of their declaration.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> {
        let all = (0..self.layout.properties()).map(PropertyIndex::new);
        let changed = all.filter(|&property| self.contains_property(property));
        changed.map(|property| self.layout.property_name(property))
    }

    /// Returns the handles of the changed properties: their numbers in the layout of the item, counted from
    /// one.
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
