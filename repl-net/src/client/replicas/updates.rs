//! Records the updates of a client's objects, and returns them to the user.
//!
//! *Invariant:* a user who polls all updates knows which objects the client has.

use std::ops::Range;
use std::sync::Arc;

use repl_core::{Guid, ObjectRef, Replicated};

use super::Replicas;
use crate::updates::update::{Update, UpdateKind};

impl Replicas {
    /// Returns the next update. The first call begins to record updates, and reports all objects that exist.
    pub(crate) fn poll_update(&mut self) -> Option<Update> {
        if self.updates.begin() {
            self.note_all();
        }
        self.updates.pop()
    }

    /// Records updates for all objects that exist, as if they had just arrived.
    #[cold]
    fn note_all(&mut self) {
        self.begin_updates(None);
        (0..self.slots.len() as u32).for_each(|slot| self.note_arrivals(slot..slot.saturating_add(1)));
        for (guid, class) in self.slots.torn_off.iter() {
            let Some(column) = self.columns.get(class as usize) else { continue };
            self.updates.spawned(guid, 1, column.program());
            self.updates.push(ObjectRef::new(guid), UpdateKind::TornOff, column.program());
        }
        for (guid, class) in self.slots.out_of_sight.iter() {
            let Some(column) = self.columns.get(class as usize) else { continue };
            match self.slots.families.parent(guid.slot()) {
                Some(_) => self.updates.spawned_below(guid, 1, column.program()),
                None => self.updates.spawned(guid, 1, column.program()),
            }
            self.updates.push(ObjectRef::new(guid), UpdateKind::OutOfSight, column.program());
        }
        let destroyed: Vec<Arc<str>> = self.paths.destroyed().cloned().collect();
        destroyed.into_iter().for_each(|path| self.note_destroyed(path));
        self.end_updates();
    }

    /// Begins to record the changes of a packet that the server made in the tick `tick`. If `tick` is `None`,
    /// the tick of the previous packet is used.
    pub(crate) fn begin_updates(&mut self, tick: Option<u64>) {
        self.updates.begin_packet(tick);
    }

    /// Ends the recording of a packet. Drops those removed objects whose removal no update will report.
    pub(crate) fn end_updates(&mut self) {
        let Self { updates, slots, .. } = self;
        let is_there =
            |guid: Guid| slots.known_in(guid.slot()) == Some(guid) || slots.out_of_sight.contains(guid);
        updates.end_packet(&slots.families, is_there);
        updates.take_unreported().into_iter().for_each(|object| self.release(object));
    }

    /// Records that the objects in consecutive slots have arrived. They have the same class, generation,
    /// owner and role, and either all or none of them have parents. A static object must be recorded alone.
    pub(super) fn note_arrivals(&mut self, slots: Range<u32>) {
        if !self.updates.is_recording() {
            return;
        }
        let first = slots.start;
        let (Some(known), Some(generation)) = (self.slots.known_in(first), self.slots.generation(first))
        else {
            return;
        };
        let Some((class, _)) = self.slots.class_and_row(first) else { return };
        let Some(class) = self.columns.get(class as usize).map(|column| column.program()) else { return };
        let count = slots.len() as u32;
        let path = self.paths.path(first, generation).cloned();
        let is_bound = self.paths.bound_path(first).is_some();
        match &path {
            Some(path) if is_bound => {
                self.updates.push(ObjectRef::new(known), UpdateKind::Bound(path.clone()), class);
            }
            _ if self.slots.families.parent(first).is_some() => {
                self.updates.spawned_below(known, count, class)
            }
            _ => self.updates.spawned(known, count, class),
        }
        if let Some(path) = path.filter(|_| !is_bound) {
            self.updates.push(ObjectRef::new(known), UpdateKind::UnknownPath(path), class);
        }
        if self.slots.proxy(first).is_owner {
            slots.for_each(|slot| self.note(slot, UpdateKind::Owner));
        }
    }

    pub(super) fn note(&mut self, slot: u32, what: UpdateKind) {
        if let Some(known) = self.slots.known_in(slot)
            && let Some((class, _)) = self.slots.class_and_row(slot)
            && let Some(column) = self.columns.get(class as usize)
        {
            self.updates.push(ObjectRef::new(known), what, column.program());
        }
    }

    /// If an object that the user has placed waits under a path, records that the server has destroyed the
    /// static object with this path.
    pub(super) fn note_destroyed(&mut self, path: Arc<str>) {
        if let Some(column) = self.columns.iter().find(|column| column.has_placed(&path)) {
            self.updates.push(ObjectRef::default(), UpdateKind::PathDestroyed(path), column.program());
        }
    }

    pub(crate) fn forget_updates(&mut self, object: ObjectRef<()>) {
        self.updates.forget(object);
    }

    /// Returns whether `other` differs from the client's object in a property that `update` contains. Returns
    /// `false` if the object's class is not `T` or the object does not exist.
    pub(crate) fn differs_from<T: Replicated>(&self, update: &Update, other: &T) -> bool {
        let object = update.cast::<T>().and_then(|object| self.get(object));
        object
            .zip(self.typed::<T>())
            .is_some_and(|(object, column)| column.class.differs_in(object, other, update.handles()))
    }

    /// Copies the properties that `update` contains from the client's object to `to`. Returns `false` if the
    /// object's class is not `T` or the object does not exist.
    pub(crate) fn copy_updated<T: Replicated>(&self, update: &Update, to: &mut T) -> bool {
        let from = update.cast::<T>().and_then(|object| self.get(object));
        let (Some(from), Some(column)) = (from, self.typed::<T>()) else { return false };
        column.class.copy(from, to, update.handles());
        true
    }
}
