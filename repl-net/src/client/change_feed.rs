//! What arrived of objects since their user last looked.
//!
//! *Invariant:* a feed holds at most one entry for each object that is there, and nothing at all before somebody has asked for it.

use std::collections::BTreeMap;

use repl_core::{HandleSet, Layout, ObjectRef};
use repl_fastarray::ChangedProperties;

/// What arrived of an object since it was last looked at, all updates together.
#[derive(Clone, Debug)]
pub struct Change<T: ?Sized = ()> {
    /// The object: it is there, and has the values of the newest update.
    pub object: ObjectRef<T>,
    /// Whether it came into being since.
    pub is_new: bool,
    layout: &'static Layout,
    handles: HandleSet,
}

impl<T: ?Sized> Change<T> {
    pub(crate) fn new(object: ObjectRef<T>, layout: &'static Layout, noted: Noted) -> Self {
        Self { object, is_new: noted.is_new, layout, handles: noted.handles }
    }

    /// The properties that arrived. Of a new object these are those in which it differs from its archetype. Under loss a value may
    /// arrive twice, so a property can be among them whose value is as it was.
    #[must_use]
    pub fn properties(&self) -> ChangedProperties<'_> {
        ChangedProperties::new(self.layout, &self.handles)
    }
}

/// What arrived of one object.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    pub(crate) is_new: bool,
    pub(crate) handles: HandleSet,
}

/// What arrived of the objects of one class, by slot.
#[derive(Debug, Default)]
pub(crate) struct ChangeFeed {
    noted: BTreeMap<u32, Noted>,
}

impl ChangeFeed {
    /// Adds what an update brought.
    pub(crate) fn note(&mut self, slot: u32, is_new: bool, handles: &HandleSet) {
        let noted = self.noted.entry(slot).or_default();
        noted.is_new |= is_new;
        noted.handles.union(handles);
    }

    /// Adds a property that was read again, because what it refers to came or went.
    pub(crate) fn note_one(&mut self, slot: u32, handle: u32) {
        self.noted.entry(slot).or_default().handles.insert(handle);
    }

    /// The object is gone.
    pub(crate) fn forget(&mut self, slot: u32) {
        self.noted.remove(&slot);
    }

    /// Takes all that was noted.
    pub(crate) fn take(&mut self) -> BTreeMap<u32, Noted> {
        std::mem::take(&mut self.noted)
    }
}
