//! Applies the contents of a packet that was validated.
//!
//! *Invariant:* applying never fails, because validation has refused every entry that could not be applied.

use std::ops::Range;
use std::sync::Arc;

use repl_core::{BitReader, BitSlice, Checked, Guid, HandleSet, ObjectRef, Observer, ReferenceMap};

use super::{ChangedObject, Replicas};
use crate::client::contents::{Contents, Entry, LocalOrigin, Openings};
use crate::client::events::ClientEvents;
use crate::client::mentions::Mentions;
use crate::client::replica::Callback;
use crate::session::events::{ClientEvent, CloseReason};
use crate::session::traffic::Traffic;
use crate::transport::sequence::Sequence;

/// Applies the validated entries of one body.
pub(super) struct Applier<'a, 'b> {
    pub(super) replicas: &'a mut Replicas,
    pub(super) stamp: Sequence,
    pub(super) events: &'a mut ClientEvents,
    pub(super) checked: &'a mut Checked,
    /// Reads the values of the body.
    pub(super) reader: &'a mut BitReader<'b>,
}

impl Applier<'_, '_> {
    /// Applies an entry of `contents`. Entries are applied in the order in which they were validated.
    pub(super) fn apply(&mut self, entry: Entry, contents: &Contents) {
        match entry {
            Entry::Update { slot, list, head_bits, direct } => {
                let Some(handles) = contents.list(list) else { return };
                self.replicas.slots.update(slot, self.stamp);
                match direct {
                    Some(position) => self.direct(slot, handles, position.get() as usize),
                    None => self.values(slot, false, handles, head_bits),
                }
            }
            Entry::Open(openings) => {
                let Some(openings) = contents.openings(openings) else { return };
                let Some(handles) = contents.list(openings.list) else { return };
                let mut head_bits = openings.head_bits;
                for slot in openings.slots.clone() {
                    self.open(slot, openings, handles, std::mem::take(&mut head_bits));
                }
            }
            Entry::Close { slot, reason, path } => {
                self.close(slot, reason, path.and_then(|path| contents.path(path)));
            }
        }
    }

    fn open(&mut self, slot: u32, openings: &Openings, handles: &HandleSet, head_bits: u32) {
        let origin = &openings.origin;
        let slots = &mut self.replicas.slots;
        let is_new = slots.generation(slot).is_none();
        slots.update(slot, self.stamp);
        let has_changed = slots.set_proxy(slot, origin.proxy);
        if is_new {
            self.create(slot, origin, openings.path.as_ref());
        } else if has_changed {
            let known = slots.known(Guid::new(slot, origin.generation));
            self.events.push(ClientEvent::RoleChanged(ObjectRef::new(known)));
        }
        self.values(slot, is_new, handles, head_bits);
    }

    /// Creates an object in an empty slot, or binds the object that the user has placed under its path.
    fn create(&mut self, slot: u32, origin: &LocalOrigin, path: Option<&Arc<str>>) {
        let Replicas { columns, slots, paths, created_or_removed, .. } = &mut *self.replicas;
        let Some(column) = columns.get_mut(origin.class as usize) else { return };
        let bound = path.and_then(|path| column.bind(slot, path));
        let row = bound.unwrap_or_else(|| column.insert(slot, origin.archetype));
        slots.set(slot, origin.generation.get(), origin.class, row);
        let guid = Guid::new(slot, origin.generation);
        created_or_removed.push(guid);
        let object = ObjectRef::new(slots.known(guid));
        let Some(path) = path else {
            paths.remove(slot);
            self.events.push(ClientEvent::Spawned(object));
            return;
        };
        paths.open(slot, origin.generation, path.clone(), bound.is_some());
        if bound.is_some() {
            self.events.push(ClientEvent::Bound(object, path.clone()));
        } else {
            self.events.push(ClientEvent::Spawned(object));
            self.events.push(ClientEvent::UnknownPath(object, path.clone()));
        }
    }

    /// Applies the values of properties with direct bits, which are at `position`.
    fn direct(&mut self, slot: u32, handles: &HandleSet, position: usize) {
        let Some((class, row)) = self.replicas.slots.class_and_row(slot) else { return };
        let Some(column) = self.replicas.columns.get_mut(class as usize) else { return };
        let ahead = position.saturating_sub(self.reader.position());
        let skipped = self.reader.skip_bits(ahead);
        debug_assert_eq!(skipped, Ok(()), "a body that was validated");
        column.call(row, Callback::PreNetReceive);
        column.apply_direct(row, handles, self.reader);
        self.applied(slot, (class, row), false, handles);
    }

    fn values(&mut self, slot: u32, is_new: bool, handles: &HandleSet, head_bits: u32) {
        let Replicas { columns, slots, mentions, traffic, .. } = &mut *self.replicas;
        let Some((class, row)) = slots.class_and_row(slot) else { return };
        let Some(column) = columns.get_mut(class as usize) else { return };
        column.call(row, Callback::PreNetReceive);
        if let Some(traffic) = traffic {
            traffic.object(class, is_new, head_bits as usize);
        }
        let mut references = ReferenceMap::new(slots);
        let mut record = Record { slot, class, mentions, traffic: traffic.as_mut() };
        column.apply(row, handles, self.checked.take(self.reader), &mut references, &mut record);
        self.applied(slot, (class, row), is_new, handles);
    }

    /// Records that values of an object were applied, for callbacks and for the user.
    fn applied(&mut self, slot: u32, (class, row): (u16, u32), is_new: bool, handles: &HandleSet) {
        let Replicas { columns, touched, feeds, .. } = &mut *self.replicas;
        if let Some(feed) = feeds.get_mut(&class) {
            feed.note(slot, is_new, handles);
        }
        if let Some(column) = columns.get(class as usize)
            && column.is_watched()
        {
            let mut notified = Vec::new();
            column.changed(row, handles, &mut notified);
            touched.push(ChangedObject { slot, is_new, notified });
        }
    }

    fn close(&mut self, slot: u32, reason: CloseReason, path: Option<&str>) {
        self.replicas.slots.update(slot, self.stamp);
        if reason == CloseReason::TearOff {
            if let Some(guid) = self.replicas.tear_off(slot) {
                self.events.push(ClientEvent::TornOff(ObjectRef::new(guid)));
            }
        } else if let Some((guid, unbound)) = self.replicas.close(slot) {
            self.replicas.created_or_removed.push(guid);
            let known = ObjectRef::new(self.replicas.slots.known(guid));
            self.events.push(match unbound {
                Some(path) => ClientEvent::Unbound(known, path),
                None => ClientEvent::Despawned(known, reason),
            });
        }
        if reason == CloseReason::Destroyed
            && let Some(path) = self.replicas.paths.destroy(slot, path)
            && self.replicas.has_placed(&path)
        {
            self.events.push(ClientEvent::PathDestroyed(path));
        }
    }
}

/// Records the references in one object, and the traffic of the object, while an update of it is applied.
struct Record<'a> {
    slot: u32,
    class: u16,
    mentions: &'a mut Mentions,
    traffic: Option<&'a mut Traffic>,
}

impl Observer for Record<'_> {
    fn property(&mut self, handle: u32, bits: usize) {
        if let Some(traffic) = &mut self.traffic {
            traffic.property(self.class, handle, bits);
        }
    }

    fn measures(&self) -> bool {
        self.traffic.is_some()
    }

    fn plain(&mut self, path: &[u32]) {
        self.mentions.remove_leaf(self.slot, path);
    }

    fn mention(&mut self, path: &[u32], guids: &mut dyn Iterator<Item = Guid>, bits: BitSlice<'_>) {
        self.mentions.set(self.slot, path, guids, bits);
    }

    fn cut(&mut self, path: &[u32], steps: Range<u32>) {
        self.mentions.cut(self.slot, path, steps);
    }
}
