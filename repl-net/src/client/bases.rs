//! The bases of a class's objects: for each object that the user has borrowed, a copy with exactly the values
//! that the server sent. Updates are deltas to these values, and `restore` puts the object back to them.
//!
//! *Invariant:* each property in which an object differs from its base is in `unchecked`, except for map
//! entries that are hidden, items that are local, and what callbacks of elements have written. An object
//! without a base has the values that the server sent, except those that its callbacks have written.

use repl_core::{Class, HandleSet, Replicated};

use super::keyed_objects::KeyedObjects;
use crate::body::slot_set::SlotSet;

/// The bases of the objects of one class, by slot.
pub(super) struct Bases<T> {
    bases: KeyedObjects<u32, Base<T>>,
    /// The slots of the objects that have a base.
    slots: SlotSet,
}

/// The base of one object.
pub(super) struct Base<T> {
    /// The values that the server sent.
    pub(super) sent: T,
    /// The properties that the user may have written to since an update last contained them.
    pub(super) unchecked: HandleSet,
}

impl<T> Default for Bases<T> {
    fn default() -> Self {
        Self { bases: KeyedObjects::default(), slots: SlotSet::default() }
    }
}

impl<T: Replicated> Bases<T> {
    pub(super) fn is_empty(&self) -> bool {
        self.bases.is_empty()
    }

    /// Returns whether the object in a slot has a base.
    #[inline]
    pub(super) fn has(&self, slot: u32) -> bool {
        self.slots.contains(slot)
    }

    pub(super) fn get(&self, slot: u32) -> Option<&Base<T>> {
        if self.has(slot) { self.bases.get(&slot) } else { None }
    }

    pub(super) fn get_mut(&mut self, slot: u32) -> Option<&mut Base<T>> {
        if self.has(slot) { self.bases.get_mut(&slot) } else { None }
    }

    /// Returns the base of the object in a slot. Creates it if the object has none, from the values that the
    /// object has now.
    pub(super) fn create(&mut self, class: &Class<T>, slot: u32, object: &T) -> Option<&mut Base<T>> {
        if !self.has(slot) {
            self.insert(slot, class.base_of(object));
        }
        self.get_mut(slot)
    }

    fn insert(&mut self, slot: u32, sent: T) {
        self.bases.insert(slot, Base { sent, unchecked: HandleSet::new() });
        self.slots.insert(slot);
    }

    pub(super) fn remove(&mut self, slot: u32) {
        if self.slots.take(slot) {
            self.bases.remove(&slot);
        }
    }

    /// Drops the base of an object without arrays and collections, if the object has the same values.
    pub(super) fn remove_if_equal(&mut self, class: &Class<T>, slot: u32, object: &T) {
        if !class.has_arrays() && self.get(slot).is_some_and(|base| class.equals_base(object, &base.sent)) {
            self.remove(slot);
        }
    }
}

impl<T> Base<T> {
    /// Records that the user may write to all properties of a class with `handles` handles.
    pub(super) fn uncheck_all(&mut self, handles: u32) {
        self.unchecked = HandleSet::up_to(handles);
    }
}
