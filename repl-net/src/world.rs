//! The world of a server: its classes, its objects, and what changed in this tick.
//!
//! Invariant: an object is compared at most once a tick, for all connections (S67); what comparison found is in `changes` until the next.

use std::any::{Any, TypeId};
use std::collections::{HashMap, VecDeque};
use std::num::NonZeroU32;

use repl_core::{BitWriter, Changelist, HandleSet, Lifetime, ObjectRef, Refusal, Replicated, Scratch};

use crate::classes::ClassList;
use crate::column::{Column, TypedColumn};
use crate::object::Object;
use crate::slot_set::SlotSet;

/// Classes, objects and changes.
#[derive(Default)]
pub(crate) struct World {
    columns: Vec<Box<dyn Column>>,
    by_type: HashMap<TypeId, u16>,
    pub(crate) objects: Vec<Object>,
    free: VecDeque<u32>,
    /// Objects that may have changed since the last tick.
    dirty: SlotSet,
    /// Classes whose objects may all have changed.
    polled: Vec<bool>,
    /// Objects that some connection is about to open.
    opening: SlotSet,
    pub(crate) changes: Changes,
    pub(crate) frame: u64,
    scratch: Scratch,
}

/// What changed in this tick.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// One entry for each object that changed, ascending by slot; entries past `len` are spare.
    items: Vec<Change>,
    len: usize,
    /// By slot, where its entry is; valid for members of `slots`.
    at: Vec<u32>,
    pub(crate) slots: SlotSet,
    /// Lists that left a full history: slot, place, list (R10).
    pub(crate) evicted: Vec<(u32, u64, Changelist)>,
    /// Values without a form: slot and what comparison said.
    pub(crate) refusals: Vec<(u32, Refusal)>,
}

/// What changed of one object.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) slot: u32,
    pub(crate) list: Changelist,
}

impl Changes {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Change> {
        self.items.iter().take(self.len)
    }

    /// The list of the object in `slot`, if it changed.
    pub(crate) fn list(&self, slot: u32) -> Option<&Changelist> {
        if !self.slots.contains(slot) {
            return None;
        }
        self.items.get(*self.at.get(slot as usize)? as usize).map(|change| &change.list)
    }

    fn clear(&mut self) {
        self.len = 0;
        self.slots.clear();
        self.evicted.clear();
        self.refusals.clear();
    }

    /// An entry for `slot` with an empty list, to be kept with [`keep`](Self::keep).
    fn blank(&mut self, slot: u32) -> &mut Changelist {
        if self.items.len() == self.len {
            self.items.push(Change { slot, list: Changelist::new() });
        }
        let change = &mut self.items[self.len];
        change.slot = slot;
        change.list.clear();
        &mut change.list
    }

    fn keep(&mut self, slot: u32) {
        if self.at.len() <= slot as usize {
            self.at.resize(slot as usize + 1, 0);
        }
        self.at[slot as usize] = self.len as u32;
        self.slots.insert(slot);
        self.len += 1;
    }
}

impl World {
    /// The class of `T`, which must not be new once `frozen`.
    ///
    /// # Panics
    /// If `frozen` and the class is new.
    pub(crate) fn register<T: Replicated>(&mut self, frozen: bool) -> u16 {
        if let Some(&class) = self.by_type.get(&TypeId::of::<T>()) {
            return class;
        }
        let name = T::LAYOUT.name();
        assert!(
            !frozen,
            "class `{name}` is new, but clients have connected already: call `register::<{name}>()` before the first `connect`"
        );
        let class = self.columns.len() as u16;
        self.columns.push(Box::new(TypedColumn::<T>::new()));
        self.polled.push(false);
        self.by_type.insert(TypeId::of::<T>(), class);
        class
    }

    pub(crate) fn class_list(&self) -> ClassList {
        ClassList::new(self.columns.iter().map(|column| {
            let layout = column.program().layout();
            (layout.name(), layout.checksum())
        }))
    }

    pub(crate) fn column(&self, class: u16) -> &dyn Column {
        &*self.columns[class as usize]
    }

    pub(crate) fn typed<T: Replicated>(&self) -> Option<&TypedColumn<T>> {
        let class = *self.by_type.get(&TypeId::of::<T>())?;
        self.columns.get(class as usize)?.as_any().downcast_ref()
    }

    pub(crate) fn typed_mut<T: Replicated>(&mut self) -> Option<&mut TypedColumn<T>> {
        let class = *self.by_type.get(&TypeId::of::<T>())?;
        self.columns.get_mut(class as usize)?.as_any_mut().downcast_mut()
    }

    /// Marks all objects of a class: they are scanned at the next tick.
    pub(crate) fn poll<T: Replicated>(&mut self) {
        if let Some(&class) = self.by_type.get(&TypeId::of::<T>()) {
            self.polled[class as usize] = true;
        }
    }

    /// The slot of an object that is there.
    pub(crate) fn slot_of<T: ?Sized>(&self, object: ObjectRef<T>) -> Option<u32> {
        let guid = object.guid()?;
        let entry = self.objects.get(guid.slot() as usize)?;
        (entry.alive && entry.generation == guid.generation()).then_some(guid.slot())
    }

    pub(crate) fn get<T: Replicated>(&self, object: ObjectRef<T>) -> Option<&T> {
        let entry = &self.objects[self.slot_of(object)? as usize];
        let column: &dyn Any = self.columns[entry.class as usize].as_any();
        column.downcast_ref::<TypedColumn<T>>()?.live.get(entry.row as usize)
    }

    /// The object, marked as dirty.
    pub(crate) fn get_mut<T: Replicated>(&mut self, object: ObjectRef<T>) -> Option<&mut T> {
        let slot = self.slot_of(object)?;
        let entry = &self.objects[slot as usize];
        let column: &mut dyn Any = self.columns[entry.class as usize].as_any_mut();
        let live = column.downcast_mut::<TypedColumn<T>>()?.live.get_mut(entry.row as usize)?;
        self.dirty.insert(slot);
        Some(live)
    }

    pub(crate) fn mark_dirty(&mut self, slot: u32) {
        self.dirty.insert(slot);
    }

    /// The column of the object in `slot`.
    pub(crate) fn column_of(&self, slot: u32) -> &dyn Column {
        self.column(self.objects[slot as usize].class)
    }

    pub(crate) fn lifetime(&self, slot: u32) -> &Lifetime {
        self.columns[self.objects[slot as usize].class as usize].lifetime()
    }

    /// An object is about to open on a connection: what is compared only then is compared at the next tick (S40).
    pub(crate) fn compare_for_open(&mut self, slot: u32) {
        let lifetime = self.lifetime(slot);
        if !lifetime.initial_only().is_empty() || !lifetime.push().is_empty() {
            self.opening.insert(slot);
        }
    }

    /// Adds an object.
    pub(crate) fn spawn<T: Replicated>(&mut self, object: T, archetype: u32, frozen: bool) -> ObjectRef<T> {
        let class = self.register::<T>(frozen);
        let slot = self.free.pop_front().unwrap_or_else(|| {
            self.objects.push(Object::new(NonZeroU32::MIN));
            self.objects.len() as u32 - 1
        });
        let Some(column) = self.columns[class as usize].as_any_mut().downcast_mut::<TypedColumn<T>>() else {
            unreachable!("`by_type` names the column of the type");
        };
        let row = column.insert(object, slot, archetype);
        let properties =
            if T::LAYOUT.properties() > 0 && self.columns[class as usize].lifetime().is_conditional() {
                T::LAYOUT.properties()
            } else {
                0
            };
        let entry = &mut self.objects[slot as usize];
        *entry = Object {
            class,
            archetype,
            row,
            changed_at: vec![0; properties],
            ..Object::new(entry.generation)
        };
        self.dirty.insert(slot);
        ObjectRef::new(entry.guid(slot))
    }

    /// Takes an object out. Its slot is free once no connection holds it.
    pub(crate) fn despawn(&mut self, slot: u32) {
        let entry = &mut self.objects[slot as usize];
        entry.alive = false;
        let (class, row) = (entry.class, entry.row);
        if let Some(moved) = self.columns[class as usize].remove(row) {
            self.objects[moved as usize].row = row;
        }
        self.dirty.remove(slot);
        self.opening.remove(slot);
        self.free_if_unheld(slot);
    }

    /// A connection has the slot in use no more.
    pub(crate) fn release(&mut self, slot: u32) {
        let entry = &mut self.objects[slot as usize];
        entry.holders = entry.holders.saturating_sub(1);
        self.free_if_unheld(slot);
    }

    fn free_if_unheld(&mut self, slot: u32) {
        let entry = &mut self.objects[slot as usize];
        if entry.alive || entry.holders > 0 {
            return;
        }
        // A slot that has been through all generations is not used again.
        if let Some(generation) = entry.generation.checked_add(1) {
            *entry = Object { alive: false, ..Object::new(generation) };
            self.free.push_back(slot);
        }
    }

    /// Compares what may have changed, and appends what did to the histories.
    pub(crate) fn compare(&mut self) {
        self.frame += 1;
        self.changes.clear();
        for (class, polled) in self.polled.iter_mut().enumerate() {
            if std::mem::take(polled) {
                let dirty = &mut self.dirty;
                self.columns[class].scan(&mut |slot| dirty.insert(slot));
            }
        }
        for (word, mask) in self.opening.masks() {
            self.dirty.insert_mask(word, mask);
        }
        let mut refusals = Vec::new();
        for slot in self.dirty.iter() {
            let entry = &mut self.objects[slot as usize];
            let column = &mut *self.columns[entry.class as usize];
            let scope = entry.scope(column.lifetime(), self.opening.contains(slot));
            let list = self.changes.blank(slot);
            column.compare(entry.row, &scope, list, &mut refusals, &mut self.scratch);
            self.changes.refusals.extend(refusals.drain(..).map(|refusal| (slot, refusal)));
            let list = &self.changes.items[self.changes.len].list;
            if list.is_empty() {
                continue;
            }
            for handle in list.handles().iter().take(if entry.changed_at.is_empty() { 0 } else { usize::MAX })
            {
                if let Some(property) = column.lifetime().property_of(handle) {
                    entry.changed_at[property.index()] = self.frame;
                }
            }
            let evicted = &mut self.changes.evicted;
            entry
                .history
                .push(list, entry.laggards > 0, |place, list| evicted.push((slot, place, list.clone())));
            self.changes.keep(slot);
        }
        self.dirty.clear();
        self.opening.clear();
    }

    /// Writes the values that `list` names from the shadow of the object in `slot`. A property whose hand-written serialiser refuses
    /// what it took before is taken out of the list, so that it holds up no other; gives what was taken out.
    pub(crate) fn write_values(
        &self,
        slot: u32,
        list: &mut Changelist,
        writer: &mut BitWriter,
    ) -> Changelist {
        let (column, row, start) = (self.column_of(slot), self.objects[slot as usize].row, writer.bit_len());
        let mut refused = Changelist::new();
        if column.write_values(row, list, writer).is_ok() {
            return refused;
        }
        let mut written = Changelist::new();
        writer.truncate(start);
        loop {
            let first = list.handles().iter().next();
            let Some(property) = first.and_then(|first| column.lifetime().property_of(first)) else { break };
            let mut rest = Changelist::new();
            list.split(&column.lifetime().handles_of(property), &mut rest);
            let before = writer.bit_len();
            if column.write_values(row, list, writer).is_ok() {
                written.merge(list);
            } else {
                writer.truncate(before);
                refused.merge(list);
            }
            *list = rest;
        }
        *list = written;
        refused
    }

    /// A whole list of the given handles for the object in `slot`.
    pub(crate) fn whole(&self, slot: u32, handles: &HandleSet) -> Changelist {
        let mut list = Changelist::new();
        self.columns[self.objects[slot as usize].class as usize].insert_whole(handles, &mut list);
        list
    }
}
