//! The comparison of objects that may have changed with their shadows, one class at a time.
//!
//! *Invariant:* an object is compared only in the properties that may be sent now (S39, S45), and its changes
//! are stored both in its history and in the changes of the tick.

use repl_core::{HandleSet, Refusal, Replicated, Scratch};

use super::changes::Changes;
use super::object::{Object, TearOff};
use super::shadows::Shadows;
use super::source::{Outcome, Source};
use crate::transport::slot_set::SlotSet;

/// The number of objects whose rows are looked up together.
const BATCH: usize = 64;
/// Memory is prefetched so many objects before it is needed. A miss of all caches takes about as long as
/// eight comparisons.
const AHEAD: usize = 8;

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

/// What is known about all objects of a class before they are compared.
#[derive(Clone, Copy)]
struct Expected {
    /// Whether some `push` properties mark themselves.
    marks: bool,
    /// Whether some objects, of any class, are sent whole.
    openings: bool,
    /// Whether objects can become larger than clients can hold.
    too_large: bool,
    /// Whether nothing of this is the case.
    nothing: bool,
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
        let marks = shadows.class.conditions().has_marks_of_its_own();
        let openings = !(self.opening.is_empty() && self.reopening.is_empty());
        let too_large = shadows.class.may_exceed(self.max_bits);
        let expected = Expected { marks, openings, too_large, nothing: !(marks || openings || too_large) };
        let (mut rows, mut refusals, mut compared) = ([0; BATCH], Vec::new(), 0);
        for slots in slots.chunks(BATCH) {
            // If the slots are consecutive, the processor prefetches the objects by itself.
            let is_spread = slots.last().is_some_and(|last| last - slots[0] >= slots.len() as u32);
            let rows = self.rows_of(class, slots, is_spread, &mut rows);
            if is_spread {
                rows.iter().take(AHEAD).for_each(|&row| source.preload_row(shadows, row as usize));
            }
            for (at, (&slot, &row)) in slots.iter().zip(rows).enumerate() {
                if is_spread {
                    if let Some(&next) = rows.get(at + AHEAD) {
                        source.preload_row(shadows, next as usize);
                    }
                    if let Some(&next) = rows.get(at + AHEAD / 2) {
                        source.preload_values(shadows, next as usize);
                    }
                }
                self.object(shadows, source, (slot, row as usize), expected, &mut refusals);
            }
            compared += rows.len();
            if rows.len() < slots.len() {
                break;
            }
        }
        compared
    }

    /// Stores in `rows` the rows of the objects in `slots`, up to the first object of another class. Returns
    /// these rows. `is_spread` says whether to prefetch the objects.
    #[inline]
    fn rows_of<'r>(
        &self,
        class: u16,
        slots: &[u32],
        is_spread: bool,
        rows: &'r mut [u32; BATCH],
    ) -> &'r [u32] {
        if is_spread {
            slots.iter().for_each(|&slot| self.objects[slot as usize].preload());
        }
        let mut count = 0;
        for (&slot, row) in slots.iter().zip(rows.iter_mut()) {
            let object = &self.objects[slot as usize];
            if object.class != class {
                break;
            }
            *row = object.row;
            count += 1;
        }
        &rows[..count]
    }

    /// Compares the object with a slot and a row, and stores what changed. `refusals` is empty before and
    /// after.
    #[inline]
    fn object<T: Replicated, S: Source<T>>(
        &mut self,
        shadows: &mut Shadows<T>,
        source: &mut S,
        (slot, row): (u32, usize),
        expected: Expected,
        refusals: &mut Vec<Refusal>,
    ) {
        let special = if expected.nothing && self.objects[slot as usize].is_plain() {
            None
        } else {
            let Some(scope) = self.special_scope(shadows, source, (slot, row), expected, refusals) else {
                return;
            };
            Some(scope)
        };
        let Shadows { class, rows, .. } = shadows;
        let conditions = class.conditions();
        let changes = self.changes.blank(slot, self.scratch);
        let outcome = Outcome { changes, refusals, scratch: self.scratch };
        let scope = special.as_ref().unwrap_or(conditions.ordinary());
        source.compare(class, &mut rows[row], row, scope, outcome);
        if !refusals.is_empty() {
            self.changes.refusals.extend(refusals.drain(..).map(|refusal| (slot, refusal)));
        }
        let Some(list) = self.changes.keep() else { return };
        let object = &mut self.objects[slot as usize];
        object.note_changes(list.handles(), conditions, self.frame);
        if let Some((place, list)) = object.history.push(list, object.has_laggards()) {
            self.changes.evicted.push((slot, place, list));
        }
        if let Some(moved) = &mut self.moved {
            moved.push((slot, row as u32));
        }
    }

    /// Returns the properties that are compared of an object of which not just the ordinary ones may be
    /// compared. Returns `None` if the object is not compared.
    // Not inlined, so that the code for most objects stays short.
    #[inline(never)]
    fn special_scope<T: Replicated, S: Source<T>>(
        &mut self,
        shadows: &Shadows<T>,
        source: &S,
        (slot, row): (u32, usize),
        expected: Expected,
        refusals: &mut Vec<Refusal>,
    ) -> Option<HandleSet> {
        let object = &mut self.objects[slot as usize];
        if object.tear_off == TearOff::Frozen {
            return None;
        }
        let conditions = shadows.class.conditions();
        if expected.marks {
            let touched = source.touched(shadows, row);
            if !touched.is_empty() {
                object.mark(conditions, &touched);
            }
        }
        let opens = expected.openings && (self.opening.contains(slot) || self.reopening.contains(slot));
        let mut scope = object.scope(conditions, opens);
        if expected.too_large {
            let too_large = source.keep_within(shadows, self.max_bits, row, &mut scope);
            object.find_too_large(too_large, refusals);
        }
        object.unmark(&scope);
        Some(scope.into_owned())
    }
}
