//! Applies the entries of a packet that were validated.
//!
//! *Invariant:* applying never fails: if an entry cannot be applied, validation has refused the packet.

use std::ops::Range;
use std::sync::Arc;

use repl_core::{BitReader, BitSlice, Checked, Guid, HandleSet, Observer, ReferenceMap};
use repl_link::parts::Sequence;

use super::{ChangedObject, Replicas};
use crate::body::removal::CloseReason;
use crate::client::asset_table::AssetTable;
use crate::client::lists::ListIndex;
use crate::client::mentions::Mentions;
use crate::client::replica::{Callback, Prepared};
use crate::client::validated_entries::{
    LocalOrigin, Openings, PreparedUpdate, ValidatedEntries, ValidatedEntry,
};
use crate::updates::update::UpdateKind;

/// Which entries of a packet are applied in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    All,
    /// All entries except the removals of objects.
    Values,
    /// Only the removals of objects.
    Closings,
}

/// The values of the objects in a run of openings.
enum Values<'a> {
    /// The values are read by a recipe. The number is the bit position in the body of the next object's
    /// values.
    Prepared(Prepared<'a>, usize),
    /// The values are read by a walk over the program of the class, up to the ends that validation has
    /// stored.
    Checked(&'a HandleSet),
}

/// Applies the validated entries of one body: the packet's own, or that of an update that was sent in parts.
pub(super) struct Applier<'a, 'b> {
    pub(super) replicas: &'a mut Replicas,
    pub(super) stamp: Sequence,
    pub(super) checked: &'a mut Checked,
    /// Reads the values of the body.
    pub(super) reader: &'a mut BitReader<'b>,
}

impl<'b> Applier<'_, 'b> {
    /// Applies an entry of `contents`, if it belongs to this step. Within a step, entries are applied in the
    /// order in which they were validated.
    pub(super) fn apply(&mut self, entry: ValidatedEntry, contents: &ValidatedEntries, step: Step) {
        if step != Step::All && matches!(entry, ValidatedEntry::Close { .. }) != (step == Step::Closings) {
            return;
        }
        match entry {
            ValidatedEntry::Prepared { list, updates } => {
                self.prepared(contents.updates(updates), list, contents)
            }
            ValidatedEntry::Update { slot, list } => {
                let Some(handles) = contents.lists.handles(list) else { return };
                self.replicas.slots.update(slot, self.stamp);
                self.values(slot..slot.saturating_add(1), false, &handles);
            }
            ValidatedEntry::Open { first, objects, openings, at } => {
                let Some(openings) = contents.openings(openings) else { return };
                let Some(handles) = contents.lists.handles(openings.list) else { return };
                let handles = &*handles;
                let values = match at.zip(contents.lists.recipe(openings.list)) {
                    Some((at, recipe)) => {
                        Values::Prepared(Prepared { handles, recipe, body: self.body() }, at.get() as usize)
                    }
                    None => Values::Checked(handles),
                };
                self.open(first..first.saturating_add(objects), openings, values);
            }
            ValidatedEntry::Close { slot, reason, path } => {
                self.close(slot, reason, path.and_then(|path| contents.path(path)));
            }
        }
    }

    fn body(&self) -> BitSlice<'b> {
        let end = self.reader.position().saturating_add(self.reader.remaining());
        self.reader.slice(0..end).unwrap_or_default()
    }

    /// Applies a run of openings: creates the objects that the client does not have, and sets the values of
    /// all objects of the run.
    fn open(&mut self, slots: Range<u32>, openings: &Openings, mut values: Values<'_>) {
        let Openings { origin, path, .. } = openings;
        let mut slot = slots.start;
        while slot < slots.end {
            let table = &mut self.replicas.slots;
            let new = table.count_empty(slot..slots.end);
            let opened = slot..slot.saturating_add(new.max(1));
            slot = opened.end;
            if new > 0 {
                self.create(opened.clone(), origin, path.as_ref());
            } else {
                table.update(opened.start, self.stamp);
                if table.set_proxy(opened.start, origin.proxy) {
                    self.replicas.note(opened.start, UpdateKind::Owner);
                }
            }
            match &mut values {
                Values::Prepared(prepared, at) => *at = self.run(opened.clone(), new > 0, *prepared, *at),
                Values::Checked(handles) => self.values(opened.clone(), new > 0, handles),
            }
            self.replicas.take_over(opened);
        }
    }

    /// Creates objects in empty slots. If the user has placed an object under `path`, uses this object
    /// instead of a new one.
    fn create(&mut self, opened: Range<u32>, origin: &LocalOrigin, path: Option<&Arc<str>>) {
        self.replicas.end_replaced(opened.clone(), origin.generation);
        let Replicas { columns, slots, paths, created_or_removed, .. } = &mut *self.replicas;
        let Some(column) = columns.get_mut(origin.class as usize) else { return };
        let bound = path.and_then(|path| column.bind(opened.start, path, &*slots));
        let row = bound.unwrap_or_else(|| column.insert(opened.clone(), origin.archetype));
        slots.open(opened.clone(), origin, row, self.stamp);
        // An object that comes back into sight was there for all references.
        let new = opened.clone().filter(|slot| slots.out_of_sight.in_slot(*slot).is_none());
        created_or_removed.extend(new.map(|slot| Guid::new(slot, origin.generation)));
        match path {
            Some(path) => paths.open(opened.start, origin.generation, path.clone(), bound.is_some()),
            None => opened.clone().for_each(|slot| paths.remove(slot)),
        }
        self.replicas.note_opened(opened);
    }

    /// Applies updates of the same properties by a recipe.
    fn prepared(&mut self, changes: &[PreparedUpdate], list: ListIndex, contents: &ValidatedEntries) {
        let (Some(handles), Some(class)) = (contents.lists.handles(list), contents.lists.class_of(list))
        else {
            return;
        };
        let (Some(recipe), body) = (contents.lists.recipe(list), self.body()) else { return };
        let Replicas { columns, slots, touched, updates, .. } = &mut *self.replicas;
        let Some(column) = columns.get_mut(class as usize) else { return };
        let prepared = Prepared { handles: &handles, recipe, body };
        column.apply_prepared(changes, (slots, self.stamp), prepared);
        if updates.is_recording() {
            for &PreparedUpdate { slot, .. } in changes {
                if let Some(known) = slots.known_in(slot) {
                    updates.changed((known, 1), column.program(), &handles);
                }
            }
        }
        if column.is_watched() {
            for &PreparedUpdate { slot, .. } in changes {
                let Some((_, row)) = slots.class_and_row(slot) else { continue };
                touched.push(ChangedObject::of(&**column, (slot, row), false, &handles));
            }
        }
    }

    /// Applies updates by a recipe to the objects in `slots`, which are in consecutive rows of one class. The
    /// values of the first object begin at the bit position `at`. Returns the position after all values.
    fn run(&mut self, slots: Range<u32>, is_new: bool, prepared: Prepared<'_>, at: usize) -> usize {
        let Replicas { columns, slots: table, touched, updates, .. } = &mut *self.replicas;
        let Some((class, first)) = table.class_and_row(slots.start) else { return at };
        let Some(column) = columns.get_mut(class as usize) else { return at };
        let rows = first..first.saturating_add(slots.len() as u32);
        let end = column.apply_run(rows.clone(), at, prepared);
        if updates.is_recording()
            && !is_new
            && let Some(known) = table.known_in(slots.start)
        {
            updates.changed((known, slots.len() as u32), column.program(), prepared.handles);
        }
        if column.is_watched() {
            let changed = |at| ChangedObject::of(&**column, at, is_new, prepared.handles);
            touched.extend(slots.zip(rows).map(changed));
        }
        end
    }

    /// Applies the next updates in the body: one to each object in `slots`. The objects have the same class.
    /// If there is more than one object, all are new and in consecutive rows.
    fn values(&mut self, slots: Range<u32>, is_new: bool, handles: &HandleSet) {
        let Replicas { columns, slots: table, mentions, kept_bases, touched, updates, .. } =
            &mut *self.replicas;
        let Some((class, first)) = table.class_and_row(slots.start) else { return };
        let Some(column) = columns.get_mut(class as usize) else { return };
        let (is_watched, is_told) = (column.is_watched(), updates.is_recording() && !is_new);
        let mut received = Vec::new();
        let mut references = ReferenceMap::new(table).with_bases(kept_bases);
        let mut record = Record { slot: 0, assets: &table.assets, mentions };
        for (slot, row) in slots.zip(first..) {
            if is_watched {
                column.call(row, Callback::PreNetReceive);
            }
            record.slot = slot;
            references.begin_object(slot);
            column.apply(row, handles, self.checked.take(self.reader), &mut references, &mut record);
            if is_told && let Some(known) = table.known_in(slot) {
                updates.changed((known, 1), column.program(), handles);
            }
            if is_watched {
                touched.push(ChangedObject::of(&**column, (slot, row), is_new, handles));
            }
            received.extend(references.take_renditions().map(|rendition| (slot, rendition)));
        }
        received.into_iter().for_each(|(slot, rendition)| kept_bases.receive(slot, rendition));
    }

    fn close(&mut self, slot: u32, reason: CloseReason, path: Option<&str>) {
        self.replicas.slots.update(slot, self.stamp);
        match reason {
            CloseReason::TearOff => self.replicas.tear_off(slot),
            CloseReason::OutOfSight => self.replicas.keep_out_of_sight(slot),
            CloseReason::Destroyed | CloseReason::Relevancy => self.remove(slot, reason),
        }
        if reason.is_destruction()
            && let Some(path) = self.replicas.paths.destroy(slot, path)
        {
            self.replicas.note_destroyed(path);
        }
    }
}

impl Applier<'_, '_> {
    /// Removes the object in a slot, or the object out of sight that was in it if that object is destroyed,
    /// and all objects out of sight below it.
    fn remove(&mut self, slot: u32, reason: CloseReason) {
        let ended = self.replicas.slots.ended_by_removal(slot, reason);
        self.replicas.end_out_of_sight(ended, reason);
        if let Some(guid) = self.replicas.close(slot, reason) {
            self.replicas.created_or_removed.push(guid);
        }
    }
}

/// Records the references in one object in the index while an update of the object is applied.
struct Record<'a> {
    slot: u32,
    assets: &'a AssetTable,
    mentions: &'a mut Mentions,
}

impl Observer for Record<'_> {
    fn plain(&mut self, path: &[u32]) {
        self.mentions.remove_leaf(self.slot, path);
    }

    fn mention(&mut self, path: &[u32], guids: &mut dyn Iterator<Item = Guid>, bits: BitSlice<'_>) {
        // References to assets that the client has are not recorded, because they never become invalid.
        let is_awaited = |guid: &Guid| guid.asset_number().is_none_or(|number| !self.assets.contains(number));
        let mut guids = guids.filter(is_awaited).peekable();
        if guids.peek().is_some() {
            self.mentions.set(self.slot, path, &mut guids, bits);
        } else {
            self.mentions.remove_leaf(self.slot, path);
        }
    }

    fn cut(&mut self, path: &[u32], steps: Range<u32>) {
        self.mentions.cut(self.slot, path, steps);
    }
}
