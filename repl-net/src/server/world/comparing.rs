//! The comparison of all objects that may have changed in a tick: one class after the other, or several
//! classes at the same time.
//!
//! *Invariant:* the findings are in ascending order of the slots, so they do not depend on the threads that
//! compare.

use repl_core::Changelist;

use super::{Marks, Store, World};
use crate::body::slot_set::{SlotSet, slots_of};
use crate::server::changes::{Changes, Findings};
use crate::server::column::Column;
use crate::server::comparison::{Chosen, ClassComparison, ComparisonInputs};
use crate::server::object::{Object, TearOff};
use crate::server::occupant::Occupant;
use crate::server::work_limit::{GROUP, WorkLimit};

/// The greatest number of objects that are compared before the positions of the changed objects are recorded.
/// Because of this limit, the data of these objects is still in the fastest cache.
const LOCATED_TOGETHER: usize = 512;

impl World {
    /// Compares the objects that may have changed and are due, and appends their changes to the histories.
    /// Call it after [`begin_tick`](Self::begin_tick). Returns the initially dormant objects that have
    /// changed for the first time, and the objects that are attached to them. Clients may receive these
    /// objects from now on. With a `limit`, compares only some of the objects. The others come first in the
    /// next tick.
    pub(crate) fn compare(&mut self, limit: Option<&mut WorkLimit<'_>>) -> Vec<u32> {
        let mut woken = self.dormancies.begin_comparison(&self.marks.dirty);
        for &slot in &woken {
            // If the object has changed, clients receive it in this tick.
            self.cells.with_attached(slot).into_iter().for_each(|slot| self.marks.opening.insert(slot));
        }
        for (word, mask) in self.marks.opening.masks() {
            self.marks.dirty.insert_mask(word, mask);
        }
        self.changes.reserve(self.store.objects.len());
        match limit {
            None => self.compare_all(),
            Some(limit) => self.compare_within(limit),
        }
        self.begin_revisions();
        self.revisions.free_unused();
        for (slot, handle, base) in self.changes.found.replaced.drain(..) {
            self.revisions.replaced(slot, handle, base);
        }
        self.changes.found.refusing.drain(..).for_each(|(slot, has)| self.marks.refusing.set(slot, has));
        self.changes.complete();
        self.schedule.changed(&self.changes.slots);
        // Each new object counts as changed, because all its values are new.
        self.schedule.changed(&self.changes.newborn);
        self.marks.opening.clear();
        self.marks.reopening.clear();
        self.locate_newborn();
        if !self.paused.is_empty() {
            self.locate_paused();
        }
        for slot in self.marks.tearing_off.drain(..) {
            let state = &mut self.store.objects[slot as usize].tear_off;
            // The object may have been removed since. The next object in its slot was not torn off, so it
            // must not be frozen.
            if *state == TearOff::Begun {
                *state = TearOff::Frozen;
            }
        }
        woken.retain(|slot| self.changes.slots.contains(*slot));
        woken.iter().for_each(|&slot| self.dormancies.wake(slot));
        woken.into_iter().flat_map(|slot| self.cells.with_attached(slot)).collect()
    }

    /// Begins the revisions of the new objects whose properties are sent as differences.
    fn begin_revisions(&mut self) {
        if self.store.columns.iter().all(|column| column.deltas().is_empty()) {
            return;
        }
        for slot in self.changes.newborn.iter().filter(|&slot| self.store.occupant(slot).alive) {
            let deltas = self.store.column_of(slot).deltas();
            self.revisions.begin(slot, deltas.iter());
        }
    }

    fn compare_all(&mut self) {
        let Marks { dirty, left_over, queue, .. } = &mut self.marks;
        if !left_over.is_empty() {
            left_over.drain_into(dirty);
        }
        if dirty.is_empty() {
            return;
        }
        dirty.masks().for_each(|(word, mask)| queue.extend(slots_of(word, mask)));
        dirty.clear();
        self.compare_queue();
    }

    /// Compares the objects that cannot wait, and then the others in groups, as long as `limit` allows it.
    // Not inlined, because most ticks have no limit.
    #[inline(never)]
    fn compare_within(&mut self, limit: &mut WorkLimit<'_>) {
        self.queue_urgent();
        self.marks.left_over.add(&mut self.marks.dirty);
        while !self.marks.queue.is_empty() || self.has_group(limit) {
            limit.note_compared(self.compare_queue());
        }
        self.changes.found.sort();
        self.cells.sort_moved();
    }

    /// Puts the objects into the queue that cannot wait: new ones, those that clients receive for the first
    /// time, those that are torn off, and those that no client receives before they change.
    fn queue_urgent(&mut self) {
        let Self { marks, changes, dormancies, .. } = self;
        let Marks { dirty, left_over, opening, tearing_off, queue, .. } = marks;
        let is_urgent = |slot: &u32| {
            opening.contains(*slot)
                || changes.newborn.contains(*slot)
                || tearing_off.contains(slot)
                || dormancies.is_initial(*slot)
        };
        queue.extend(dirty.iter().filter(is_urgent));
        for &slot in &*queue {
            dirty.remove(slot);
            left_over.remove(slot);
        }
    }

    /// Puts the next group of objects into the queue, if there are any and `limit` allows it.
    fn has_group(&mut self, limit: &mut WorkLimit<'_>) -> bool {
        let Marks { left_over, queue, .. } = &mut self.marks;
        if !left_over.is_empty() && limit.allows_objects() {
            left_over.take_group(GROUP, queue);
        }
        !queue.is_empty()
    }

    /// Compares the objects in the queue, and empties the queue. Returns how many objects were in it.
    #[inline]
    fn compare_queue(&mut self) -> usize {
        let mut queue = std::mem::take(&mut self.marks.queue);
        let objects = queue.len();
        self.marks.most_queued = self.marks.most_queued.max(objects);
        self.compare_each(&queue);
        queue.clear();
        self.marks.queue = queue;
        objects
    }

    fn compare_each(&mut self, queue: &[u32]) {
        #[cfg(feature = "rayon")]
        if self.marks.by_class.divide(queue, &self.store.occupants, self.store.columns.len()) {
            return self.compare_at_once(queue);
        }
        let (mut slots, mut changed) = (queue, std::mem::take(&mut self.marks.changed_rows));
        while let Some(&first) = slots.first() {
            let class = self.store.occupant(first).class;
            let has_area = self.cells.has_area(class);
            let most = if has_area { slots.len().min(LOCATED_TOGETHER) } else { slots.len() };
            let (columns, objects, found, inputs) = self.split();
            let (objects, moved) = (Chosen::All(objects), has_area.then_some(&mut changed));
            let mut comparison = ClassComparison { inputs, objects, found, moved };
            let compared = columns[usize::from(class)].compare(class, &slots[..most], &mut comparison);
            slots = &slots[compared..];
            self.locate(class, &changed);
            changed.clear();
        }
        self.marks.changed_rows = changed;
    }

    /// Does the same as [`compare_each`](Self::compare_each) for objects that were
    /// [divided](crate::server::by_class::ByClass::divide), several classes at the same time.
    #[cfg(feature = "rayon")]
    fn compare_at_once(&mut self, queue: &[u32]) {
        let mut by_class = std::mem::take(&mut self.marks.by_class);
        let (columns, objects, found, inputs) = self.split();
        by_class.compare(queue, columns, objects, inputs);
        found.take_in(by_class.found());
        by_class.moved().for_each(|(class, moved)| self.locate(class, moved));
        self.cells.sort_moved();
        self.marks.by_class = by_class;
    }

    /// Compares an object that is about to be removed with its shadow, and returns its changes since the last
    /// comparison. Costs as much as one comparison, or O(1) if the object was not written to.
    pub(crate) fn compare_last(&mut self, slot: u32) -> Changelist {
        let may_have_changed =
            self.is_dirty(slot) || self.schedule.is_waiting(slot) || self.paused.is_waiting(slot);
        if !may_have_changed || self.marks.newborn.contains(slot) {
            return Changelist::new();
        }
        let class = self.store.occupant(slot).class;
        let (columns, objects, _, inputs) = self.split();
        let (mut found, objects, nobody) = (Findings::default(), Chosen::All(objects), SlotSet::default());
        // `newborn` contains the objects that were new in the last tick. Clients may have received them
        // since, so no object counts as new here.
        let inputs = ComparisonInputs { newborn: &nobody, ..inputs };
        let mut comparison = ClassComparison { inputs, objects, found: &mut found, moved: None };
        columns[usize::from(class)].compare(class, &[slot], &mut comparison);
        found.into_only()
    }

    /// Returns the parts of the world that a comparison needs: the columns, the states of the objects, the
    /// findings, and the inputs.
    fn split(&mut self) -> (&mut [Box<dyn Column>], &mut [Object], &mut Findings, ComparisonInputs<'_>) {
        let Self { store, marks, changes, frame, .. } = self;
        let Store { columns, occupants, objects, limits, .. } = store;
        let Marks { opening, reopening, .. } = marks;
        let Changes { newborn, found, .. } = changes;
        let max_bits = limits.max_object_bits();
        let inputs = ComparisonInputs { occupants, newborn, opening, reopening, max_bits, frame: *frame };
        (columns, objects, found, inputs)
    }

    /// Records the positions of new objects. A comparison does not find every move of a new object: an object
    /// that has moved to the position of its archetype after the spawn does not differ from its shadow.
    fn locate_newborn(&mut self) {
        for slot in self.changes.newborn.iter() {
            let Occupant { class, row, alive, .. } = self.store.occupant(slot);
            if alive && let Some((area, positions)) = self.cells.positions_in(class) {
                self.store.columns[usize::from(class)].locate(&[(slot, row)], area, positions);
            }
        }
    }

    /// Records the positions of paused objects that may have moved, although the objects are not compared.
    /// Connections see these objects, or lose sight of them, according to their live positions.
    // Not inlined, because in most ticks nothing is paused.
    #[inline(never)]
    fn locate_paused(&mut self) {
        let mut has_located = false;
        for &slot in self.paused.held() {
            let Occupant { class, row, .. } = self.store.occupant(slot);
            let column = self.store.column(class);
            if column.has_positions()
                && let Some(position) = column.position(row)
                && let Some((area, positions)) = self.cells.positions_in(class)
            {
                positions.update(area, std::iter::once((slot, position)));
                has_located = true;
            }
        }
        if has_located {
            self.cells.sort_moved();
        }
    }

    /// Records the positions of objects of a class. Each object in `changed` is a slot and a row.
    fn locate(&mut self, class: u16, changed: &[(u32, u32)]) {
        if !changed.is_empty()
            && let Some((area, positions)) = self.cells.positions_in(class)
        {
            self.store.columns[usize::from(class)].locate(changed, area, positions);
        }
    }
}
