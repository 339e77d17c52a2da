//! The bases of the objects of a class. When the user borrows an object mutably, the client keeps a copy with
//! exactly the values that the server sent: the base. Updates are applied to the base, and `restore` sets the
//! object back to its base.
//!
//! *Invariant:* if an object differs from its base in a property, the property is in `unchecked`. Exceptions
//! are hidden map entries, local items, and values that callbacks of elements have written. An object without
//! a base has the values that the server sent, except for values that its callbacks have written.

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
    /// The properties that the user may have written to since the last update that contained them.
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

    /// Returns the base of the object in a slot. If there is none, creates it from the object's current
    /// values.
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

    /// Drops the base of an object if it is equal to the object and the class has no arrays and collections.
    pub(super) fn remove_if_equal(&mut self, class: &Class<T>, slot: u32, object: &T) {
        if !class.has_arrays() && self.get(slot).is_some_and(|base| class.equals_base(object, &base.sent)) {
            self.remove(slot);
        }
    }
}

impl<T> Base<T> {
    /// Records that the user may write to all properties. `handles` is the number of handles of the class.
    pub(super) fn uncheck_all(&mut self, handles: u32) {
        self.unchecked = HandleSet::up_to(handles);
    }
}
