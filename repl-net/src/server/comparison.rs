//! The comparison of objects that may have changed with their shadows, one class at a time.
//!
//! *Invariant:* an object is compared only in the properties that may be sent now (S39, S45), and its changes
//! are stored both in its history and in the changes of the tick.

use repl_core::{Refusal, Replicated, Scratch};

use super::changes::Changes;
use super::object::{Object, TearOff};
use super::shadows::Shadows;
use super::source::{Outcome, Source};
use crate::transport::slot_set::SlotSet;

/// The number of objects by which memory is prefetched ahead. A miss of all caches takes about as long as
/// four comparisons.
const PRELOAD_LEAD: usize = 4;

/// What the comparison of many objects of one class reads, and where it stores its results.
pub(crate) struct Comparison<'a> {
    pub(crate) objects: &'a mut [Object],
    pub(crate) changes: &'a mut Changes,
    /// The objects that some connection sends to its client for the first time in this tick (S40).
    pub(crate) opening: &'a SlotSet,
    /// The objects that some connection sends whole if they change.
    pub(crate) reopening: &'a SlotSet,
    /// The greatest number of bits that an object may take.
    pub(crate) max_bits: u64,
    pub(crate) frame: u64,
    /// Receives the slots and rows of the objects that changed, if the class has an area.
    pub(crate) moved: Option<&'a mut Vec<(u32, u32)>>,
    pub(crate) scratch: &'a mut Scratch,
}

impl Comparison<'_> {
    /// Compares the objects in `slots` with their shadows, up to the first object of another class than
    /// `class`, which is the class of the shadows and of the source. Returns how many objects were compared.
    pub(crate) fn run<T: Replicated, S: Source<T>>(
        &mut self,
        shadows: &mut Shadows<T>,
        source: &mut S,
        class: u16,
        slots: &[u32],
    ) -> usize {
        let mut refusals = Vec::new();
        for (at, &slot) in slots.iter().enumerate() {
            self.preload(shadows, source, class, slots, at);
            if self.objects[slot as usize].class != class {
                return at;
            }
            self.object(shadows, source, slot, &mut refusals);
        }
        slots.len()
    }

    /// Prefetches the memory for comparisons that come after index `at`. Prefetching has three steps, and
    /// each step reads memory that the previous step has prefetched. If `slots` contains all objects of a
    /// range, the processor prefetches the objects by itself.
    #[inline]
    fn preload<T: Replicated, S: Source<T>>(
        &self,
        shadows: &Shadows<T>,
        source: &S,
        class: u16,
        slots: &[u32],
        at: usize,
    ) {
        if let Some(&slot) = slots.get(at + 3 * PRELOAD_LEAD) {
            if slot - slots[at] == 3 * PRELOAD_LEAD as u32 {
                return;
            }
            self.objects[slot as usize].preload();
        }
        let row_at = |at: usize| {
            let object = &self.objects[*slots.get(at)? as usize];
            (object.class == class).then_some(object.row as usize)
        };
        if let Some(row) = row_at(at + 2 * PRELOAD_LEAD) {
            source.preload_row(shadows, row);
        }
        if let Some(row) = row_at(at + PRELOAD_LEAD) {
            source.preload_values(shadows, row);
        }
    }

    /// Compares one object. `refusals` is empty before and after.
    #[inline]
    fn object<T: Replicated, S: Source<T>>(
        &mut self,
        shadows: &mut Shadows<T>,
        source: &mut S,
        slot: u32,
        refusals: &mut Vec<Refusal>,
    ) {
        let object = &mut self.objects[slot as usize];
        if object.tear_off == TearOff::Frozen {
            return;
        }
        let row = object.row as usize;
        if shadows.class.conditions().has_marks_of_its_own() {
            let touched = source.touched(shadows, row);
            if !touched.is_empty() {
                object.mark(shadows.class.conditions(), &touched);
            }
        }
        let opens = self.opening.contains(slot) || self.reopening.contains(slot);
        let mut scope = object.scope(shadows.class.conditions(), opens);
        let too_large = source.keep_within(shadows, self.max_bits, row, &mut scope);
        object.unmark(&scope);
        object.find_too_large(too_large, refusals);
        let changes = self.changes.blank(slot);
        let outcome = Outcome { changes, refusals, scratch: self.scratch };
        source.compare(&shadows.class, &mut shadows.rows[row], row, &scope, outcome);
        if !refusals.is_empty() {
            self.changes.refusals.extend(refusals.drain(..).map(|refusal| (slot, refusal)));
        }
        let (list, evicted) = self.changes.last_blank();
        if list.is_empty() {
            return;
        }
        object.note_changes(list.handles(), shadows.class.conditions(), self.frame);
        object
            .history
            .push(list, object.has_laggards(), |place, list| evicted.push((slot, place, list.clone())));
        if let Some(moved) = &mut self.moved {
            moved.push((slot, object.row));
        }
        self.changes.keep(slot);
    }
}
