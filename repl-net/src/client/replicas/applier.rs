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
                    None => self.values(slot..slot.saturating_add(1), false, handles, head_bits),
                }
            }
            Entry::Open(openings) => {
                let Some(openings) = contents.openings(openings) else { return };
                let Some(handles) = contents.list(openings.list) else { return };
                self.open(openings, handles);
            }
            Entry::Close { slot, reason, path } => {
                self.close(slot, reason, path.and_then(|path| contents.path(path)));
            }
        }
    }

    /// Opens the objects of a run: creates those that the client does not have, and sets the values of all.
    fn open(&mut self, openings: &Openings, handles: &HandleSet) {
        let Openings { slots, origin, path, .. } = openings;
        let (mut slot, mut head_bits) = (slots.start, openings.head_bits);
        while slot < slots.end {
            let table = &mut self.replicas.slots;
            let new = (slot..slots.end).take_while(|slot| table.generation(*slot).is_none()).count() as u32;
            let opened = slot..slot.saturating_add(new.max(1));
            slot = opened.end;
            if new > 0 {
                self.create(opened.clone(), origin, path.as_ref());
            } else {
                table.update(opened.start, self.stamp);
                if table.set_proxy(opened.start, origin.proxy) {
                    let known = table.known(Guid::new(opened.start, origin.generation));
                    self.events.push(ClientEvent::RoleChanged(ObjectRef::new(known)));
                }
            }
            self.values(opened, new > 0, handles, std::mem::take(&mut head_bits));
        }
    }

    /// Creates objects in empty slots, or binds the object that the user has placed under its path.
    fn create(&mut self, opened: Range<u32>, origin: &LocalOrigin, path: Option<&Arc<str>>) {
        let Replicas { columns, slots, paths, created_or_removed, .. } = &mut *self.replicas;
        let Some(column) = columns.get_mut(origin.class as usize) else { return };
        let bound = path.and_then(|path| column.bind(opened.start, path));
        let row = bound.unwrap_or_else(|| column.insert(opened.clone(), origin.archetype));
        slots.open(opened.clone(), origin, row, self.stamp);
        created_or_removed.extend(opened.clone().map(|slot| Guid::new(slot, origin.generation)));
        let first = slots.known(Guid::new(opened.start, origin.generation));
        if bound.is_none() {
            self.events.spawned(first, opened.len() as u32);
        }
        let Some(path) = path else {
            opened.for_each(|slot| paths.remove(slot));
            return;
        };
        let (object, is_bound) = (ObjectRef::new(first), bound.is_some());
        paths.open(opened.start, origin.generation, path.clone(), is_bound);
        let event = if is_bound { ClientEvent::Bound } else { ClientEvent::UnknownPath };
        self.events.push(event(object, path.clone()));
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

    /// Applies the next updates, one to each of the objects in `slots`, which have the same class. If there
    /// are several, they are new, and their rows follow one another.
    fn values(&mut self, slots: Range<u32>, is_new: bool, handles: &HandleSet, head_bits: u32) {
        let Replicas { columns, slots: table, mentions, traffic, touched, feeds, .. } = &mut *self.replicas;
        let Some((class, first)) = table.class_and_row(slots.start) else { return };
        let Some(column) = columns.get_mut(class as usize) else { return };
        let (is_watched, mut feed) = (column.is_watched(), feeds.get_mut(&class));
        let (mut references, mut head_bits) = (ReferenceMap::new(table), head_bits as usize);
        let mut record = Record { slot: 0, class, mentions, traffic: traffic.as_mut() };
        for (slot, row) in slots.zip(first..) {
            if is_watched {
                column.call(row, Callback::PreNetReceive);
            }
            if let Some(traffic) = &mut record.traffic {
                traffic.object(class, is_new, std::mem::take(&mut head_bits));
            }
            record.slot = slot;
            column.apply(row, handles, self.checked.take(self.reader), &mut references, &mut record);
            if let Some(feed) = &mut feed {
                feed.note(slot, is_new, handles);
            }
            if is_watched {
                let mut notified = Vec::new();
                column.changed(row, handles, &mut notified);
                touched.push(ChangedObject { slot, is_new, notified });
            }
        }
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
