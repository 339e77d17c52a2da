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

/// The number of objects whose memory is prefetched together. A miss of all caches takes about as long as
/// eight comparisons.
const BLOCK: usize = 8;

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
        let expected = Expected {
            marks: shadows.class.conditions().has_marks_of_its_own(),
            openings: !(self.opening.is_empty() && self.reopening.is_empty()),
            too_large: shadows.class.may_exceed(self.max_bits),
        };
        let mut refusals = Vec::new();
        for (at, &slot) in slots.iter().enumerate() {
            if at % BLOCK == 0 {
                self.preload(shadows, source, class, &slots[at..]);
            }
            if self.objects[slot as usize].class != class {
                return at;
            }
            self.object(shadows, source, slot, expected, &mut refusals);
        }
        slots.len()
    }

    /// Prefetches the memory for the comparisons after the first block of `slots`, in three steps. Each step
    /// reads memory that the previous step has prefetched. If `slots` contains all objects of a range, the
    /// processor prefetches the objects by itself.
    fn preload<T: Replicated, S: Source<T>>(
        &self,
        shadows: &Shadows<T>,
        source: &S,
        class: u16,
        slots: &[u32],
    ) {
        let objects = |block: usize| {
            let slots = slots.iter().skip(block * BLOCK).take(BLOCK);
            slots.map(|&slot| &self.objects[slot as usize])
        };
        let rows = |block| {
            let objects = objects(block).filter(|object| object.class == class);
            objects.map(|object| object.row as usize)
        };
        if slots.get(3 * BLOCK).is_some_and(|slot| slot - slots[0] == 3 * BLOCK as u32) {
            return;
        }
        objects(3).for_each(Object::preload);
        rows(2).for_each(|row| source.preload_row(shadows, row));
        rows(1).for_each(|row| source.preload_values(shadows, row));
    }

    /// Compares one object. `refusals` is empty before and after.
    #[inline]
    fn object<T: Replicated, S: Source<T>>(
        &mut self,
        shadows: &mut Shadows<T>,
        source: &mut S,
        slot: u32,
        expected: Expected,
        refusals: &mut Vec<Refusal>,
    ) {
        let object = &mut self.objects[slot as usize];
        if object.tear_off == TearOff::Frozen {
            return;
        }
        let row = object.row as usize;
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
        let changes = self.changes.blank(slot, self.scratch);
        let outcome = Outcome { changes, refusals, scratch: self.scratch };
        source.compare(&shadows.class, &mut shadows.rows[row], row, &scope, outcome);
        if !refusals.is_empty() {
            self.changes.refusals.extend(refusals.drain(..).map(|refusal| (slot, refusal)));
        }
        let Some(list) = self.changes.keep() else { return };
        object.note_changes(list.handles(), shadows.class.conditions(), self.frame);
        if let Some((place, list)) = object.history.push(list, object.has_laggards()) {
            self.changes.evicted.push((slot, place, list));
        }
        if let Some(moved) = &mut self.moved {
            moved.push((slot, object.row));
        }
    }
}
