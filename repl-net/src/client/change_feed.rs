//! A change feed: records which properties of the objects of one class arrived since the user last asked for
//! changes.
//!
//! *Invariant:* a feed has at most one entry for each existing object. A class has a feed only after the user
//! has asked for its changes.

use std::collections::BTreeMap;

use repl_core::{Guid, HandleSet, Layout, ObjectRef};
use repl_fastarray::ChangedProperties;

/// The properties of one object that arrived since the user last asked for changes.
#[derive(Clone, Debug)]
pub struct Change<T: ?Sized = ()> {
    /// A reference to the object. The object of a change exists and has the values of the newest update.
    pub object: ObjectRef<T>,
    /// Whether the object was created since the user last asked for changes.
    pub is_new: bool,
    layout: &'static Layout,
    handles: HandleSet,
}

impl<T: ?Sized> Change<T> {
    pub(crate) fn new(object: ObjectRef<T>, layout: &'static Layout, arrived: ArrivedProperties) -> Self {
        Self { object, is_new: arrived.is_new, layout, handles: arrived.handles }
    }

    /// Returns the handles of the properties that arrived.
    pub(crate) fn handles(&self) -> &HandleSet {
        &self.handles
    }

    /// Returns the properties that arrived. For a new object, these are the properties with values that
    /// differ from its archetype. If packets are lost, a value may arrive twice, so some of the returned
    /// properties may have the same value as before.
    #[must_use]
    pub fn properties(&self) -> ChangedProperties<'_> {
        ChangedProperties::new(self.layout, &self.handles)
    }
}

/// The properties of one object that arrived.
#[derive(Debug, Default)]
pub(crate) struct ArrivedProperties {
    pub(crate) is_new: bool,
    pub(crate) handles: HandleSet,
}

/// For each object of one class, the properties that arrived. The keys of the map are the slots of the
/// objects.
#[derive(Debug, Default)]
pub(crate) struct ChangeFeed {
    arrived: BTreeMap<u32, ArrivedProperties>,
    /// The same for objects that were torn off, which are in no slot any more.
    torn_off: BTreeMap<Guid, ArrivedProperties>,
}

impl ChangeFeed {
    /// Adds the properties of an update to the feed.
    pub(crate) fn note(&mut self, slot: u32, is_new: bool, handles: &HandleSet) {
        let arrived = self.arrived.entry(slot).or_default();
        arrived.is_new |= is_new;
        arrived.handles.union(handles);
    }

    /// Adds a property to the feed. The property was read again, because an object that it refers to was
    /// created or removed.
    pub(crate) fn note_one(&mut self, slot: u32, handle: u32) {
        self.arrived.entry(slot).or_default().handles.insert(handle);
    }

    /// Drops the entry of an object that was removed.
    pub(crate) fn forget(&mut self, slot: u32) {
        self.arrived.remove(&slot);
    }

    /// Keeps the entry of an object that was torn off and leaves its slot.
    pub(crate) fn tear_off(&mut self, slot: u32, guid: Guid) {
        if let Some(arrived) = self.arrived.remove(&slot) {
            self.torn_off.insert(guid, arrived);
        }
    }

    /// Adds all properties of an object that was torn off, because the user asks for the first time.
    pub(crate) fn note_torn_off(&mut self, guid: Guid, handles: HandleSet) {
        self.torn_off.insert(guid, ArrivedProperties { is_new: true, handles });
    }

    /// Drops the entry of an object that was torn off and is removed now.
    pub(crate) fn forget_torn_off(&mut self, guid: Guid) {
        self.torn_off.remove(&guid);
    }

    /// Removes all entries from the feed and returns them: the entries of objects in slots, and those of
    /// objects that were torn off.
    pub(crate) fn take(&mut self) -> (BTreeMap<u32, ArrivedProperties>, BTreeMap<Guid, ArrivedProperties>) {
        (std::mem::take(&mut self.arrived), std::mem::take(&mut self.torn_off))
    }
}
