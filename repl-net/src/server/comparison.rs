//! The comparison of objects that may have changed with their shadows, one class at a time.
//!
//! *Invariant:* an object is compared only in the properties that may be sent now (S39, S45), and its changes
//! are stored both in its history and in the changes of the tick. The changes of newborn objects are only in
//! the history, because their openings (the data with which clients create them) contain them.

use repl_core::{ConditionMasks, HandleSet, Replicated};

use super::changes::Findings;
use super::object::{Object, TearOff};
use super::occupant::Occupant;
use super::prepare::prepare;
use super::shadows::Shadows;
use super::source::Source;
use crate::body::slot_set::SlotSet;

/// The number of objects whose rows are looked up together.
const BATCH: usize = 64;
/// Memory is prefetched this many objects ahead. A miss of all caches takes about as long as eight
/// comparisons.
const AHEAD: usize = 8;

/// The comparison of many objects of one class.
pub(crate) struct ClassComparison<'a> {
    pub(crate) inputs: ComparisonInputs<'a>,
    pub(crate) objects: Chosen<'a>,
    pub(crate) found: &'a mut Findings,
    /// Receives the slots and rows of the objects that changed, because they may have moved. `None` for
    /// classes without an area.
    pub(crate) moved: Option<&'a mut Vec<(u32, u32)>>,
}

/// The data that all comparisons of a tick read.
#[derive(Clone, Copy)]
pub(crate) struct ComparisonInputs<'a> {
    pub(crate) occupants: &'a [Occupant],
    /// The objects that were spawned since the last tick.
    pub(crate) newborn: &'a SlotSet,
    /// The objects that some connection sends to its client for the first time in this tick (S40).
    pub(crate) opening: &'a SlotSet,
    /// The objects that some connection sends whole if they change.
    pub(crate) reopening: &'a SlotSet,
    /// The greatest number of bits that an object may take.
    pub(crate) max_bits: u64,
    pub(crate) frame: u64,
}

/// The states of the objects that are compared.
pub(crate) enum Chosen<'a> {
    /// The states of all objects, by slot.
    All(&'a mut [Object]),
    /// Only the states of the objects that are compared, in the order of the slots to compare.
    #[cfg(feature = "rayon")]
    Only(&'a mut [&'a mut Object]),
}

#[cfg_attr(not(feature = "rayon"), expect(unused_variables, reason = "all objects are found by their slots"))]
impl Chosen<'_> {
    /// Returns the state of the object in `slot`. `at` is the index of the object among the objects that are
    /// compared.
    #[inline]
    fn get(&self, at: usize, slot: u32) -> &Object {
        match self {
            Self::All(objects) => &objects[slot as usize],
            #[cfg(feature = "rayon")]
            Self::Only(objects) => objects[at],
        }
    }

    #[inline]
    fn get_mut(&mut self, at: usize, slot: u32) -> &mut Object {
        match self {
            Self::All(objects) => &mut objects[slot as usize],
            #[cfg(feature = "rayon")]
            Self::Only(objects) => objects[at],
        }
    }
}

/// The properties of a class and of a tick that decide which special checks the comparison of an object
/// needs.
#[derive(Clone, Copy)]
struct Expected {
    /// Whether there are `push` properties.
    push: bool,
    /// Whether some `push` properties record by themselves that they were written to.
    marks: bool,
    /// Whether some objects, of any class, are sent whole.
    openings: bool,
    /// Whether objects of the class can become larger than the limit for one object.
    too_large: bool,
    /// Whether some objects, of any class, are compared for the first time.
    newborn: bool,
    /// Whether no special comparison is necessary, except for `push` properties and objects that are sent
    /// whole.
    nothing: bool,
}

/// The slot and row of an object that is compared.
#[derive(Clone, Copy)]
struct Place {
    /// The index of the object among the objects that are compared.
    at: usize,
    slot: u32,
    row: usize,
}

/// Up to [`BATCH`] objects of one class, with the rows in which they are stored.
struct Batch<'a> {
    /// How many objects were compared before this batch.
    compared: usize,
    slots: &'a [u32],
    rows: &'a [u32],
}

impl Batch<'_> {
    /// Returns whether the slots are not consecutive.
    fn is_spread(&self) -> bool {
        self.slots.last().is_some_and(|last| last - self.slots[0] >= self.slots.len() as u32)
    }

    #[inline(always)]
    fn get(&self, at: usize) -> Option<Place> {
        let (&row, &slot) = (self.rows.get(at)?, self.slots.get(at)?);
        Some(Place { at: self.compared + at, slot, row: row as usize })
    }
}

impl ClassComparison<'_> {
    /// Compares the objects in `slots` with their shadows. Stops at the first object that is not of `class`,
    /// the class of the shadows and of the source. Returns how many objects were compared.
    pub(crate) fn run<T: Replicated, S: Source<T>>(
        &mut self,
        shadows: &mut Shadows<T>,
        source: &mut S,
        class: u16,
        slots: &[u32],
    ) -> usize {
        let ComparisonInputs { newborn, opening, reopening, max_bits, .. } = self.inputs;
        let (push, newborn) = (shadows.has_marks(), !newborn.is_empty());
        let marks = shadows.class.conditions().has_marks_of_its_own();
        let openings = !(opening.is_empty() && reopening.is_empty());
        let too_large = shadows.class.may_exceed(max_bits);
        let nothing = !(marks || too_large);
        let expected = Expected { push, marks, openings, too_large, newborn, nothing };
        let (mut rows, mut compared) = ([0; BATCH], 0);
        for slots in slots.chunks(BATCH) {
            let rows = self.rows_of(class, slots, &mut rows);
            let batch = Batch { compared, slots: &slots[..rows.len()], rows };
            if shadows.prepare.is_some() {
                self.prepare_batch(shadows, source, &batch);
            }
            if const { T::LAYOUT.table().compares_only_marked() } {
                self.marked_batch(shadows, source, &batch, expected);
            } else {
                self.batch(shadows, source, &batch, expected);
            }
            compared += rows.len();
            if rows.len() < slots.len() {
                break;
            }
        }
        compared
    }

    /// Lets the user prepare the objects of a batch, except the torn-off objects that are not compared any
    /// more.
    // Not inlined, because most classes have no function for this.
    #[inline(never)]
    fn prepare_batch<T: Replicated, S: Source<T>>(
        &self,
        shadows: &mut Shadows<T>,
        source: &mut S,
        batch: &Batch<'_>,
    ) {
        let Shadows { class, marks, prepare: Some(function), .. } = shadows else { return };
        for Place { at, slot, row } in (0..batch.rows.len()).filter_map(|at| batch.get(at)) {
            let is_frozen = self.objects.get(at, slot).tear_off == TearOff::Frozen;
            if let Some(object) = source.live_mut(row).filter(|_| !is_frozen) {
                prepare(&mut **function, object, class.conditions(), marks.get_mut(row), slot);
            }
        }
    }

    #[inline]
    fn batch<T: Replicated, S: Source<T>>(
        &mut self,
        shadows: &mut Shadows<T>,
        source: &mut S,
        batch: &Batch<'_>,
        expected: Expected,
    ) {
        // If the slots are consecutive, the processor prefetches the objects by itself.
        let is_spread = batch.is_spread();
        let is_plain = expected.nothing && !expected.push;
        if is_spread {
            (0..AHEAD).filter_map(|at| batch.get(at)).for_each(|place| self.preload(shadows, source, place));
        }
        for at in 0..batch.rows.len() {
            if is_spread {
                if let Some(place) = batch.get(at + AHEAD) {
                    self.preload(shadows, source, place);
                }
                if let Some(place) = batch.get(at + AHEAD / 2) {
                    source.preload_values(shadows, place.row);
                }
            }
            let Some(place) = batch.get(at) else { return };
            if is_plain && self.is_plain(place, expected) {
                self.plain_object(shadows, source, place);
            } else {
                self.object(shadows, source, place, expected);
            }
        }
    }

    /// Does the same as [`batch`](Self::batch) for a class whose ordinary updates compare only [marked
    /// properties](repl_core::Layout::compares_only_marked).
    // Not inlined, so that the loop for most objects fits into the processor's registers.
    #[inline(never)]
    fn marked_batch<T: Replicated, S: Source<T>>(
        &mut self,
        shadows: &mut Shadows<T>,
        source: &mut S,
        batch: &Batch<'_>,
        expected: Expected,
    ) {
        let is_marked_alone = !(expected.marks || expected.too_large);
        for ahead in (0..AHEAD).filter_map(|at| batch.get(at)) {
            self.preload_marked(shadows, source, ahead);
        }
        for at in 0..batch.rows.len() {
            if let Some(next) = batch.get(at + AHEAD) {
                self.preload_marked(shadows, source, next);
            }
            let Some(place) = batch.get(at) else { return };
            let is_only_marked = is_marked_alone && self.is_plain(place, expected);
            match is_only_marked.then(|| copy_marked(shadows, source, place.row)).flatten() {
                Some(0) => {}
                Some(changed) => self.store_copied(place, changed),
                None => self.object(shadows, source, place, expected),
            }
        }
    }

    /// Stores in `rows` the rows of the objects in the slots, up to the first object of another class.
    /// Returns these rows.
    #[inline]
    fn rows_of<'r>(&self, class: u16, slots: &[u32], rows: &'r mut [u32; BATCH]) -> &'r [u32] {
        let occupants = slots.iter().map(|&slot| &self.inputs.occupants[slot as usize]);
        let mut count = 0;
        for (occupant, row) in occupants.zip(rows.iter_mut()) {
            if occupant.class != class {
                break;
            }
            *row = occupant.row;
            count += 1;
        }
        &rows[..count]
    }

    /// Prefetches the memory that the comparison of an object reads, except for the values on the heap.
    #[inline]
    fn preload<T: Replicated, S: Source<T>>(
        &self,
        shadows: &Shadows<T>,
        source: &S,
        Place { at, slot, row }: Place,
    ) {
        self.objects.get(at, slot).preload();
        source.preload_row(shadows, row);
        shadows.preload_marks(row);
    }

    /// Does the same as [`preload`](Self::preload) for an object of which only marked properties are
    /// compared. The marks are already in the processor's cache, because they were written a moment ago.
    #[inline]
    fn preload_marked<T: Replicated, S: Source<T>>(
        &self,
        shadows: &Shadows<T>,
        source: &S,
        Place { at, slot, row }: Place,
    ) {
        self.objects.get(at, slot).preload();
        source.preload_marked(shadows, row);
    }

    /// Returns whether only the ordinary and the marked properties of an object are compared, and the object
    /// is neither new nor sent whole.
    #[inline]
    fn is_plain(&self, Place { at, slot, .. }: Place, expected: Expected) -> bool {
        self.objects.get(at, slot).is_plain()
            && !(expected.newborn && self.inputs.newborn.contains(slot))
            && !self.opens(slot, expected)
    }

    /// Returns whether some connection sends an object to its client whole, if it changes.
    #[inline]
    fn opens(&self, slot: u32, expected: Expected) -> bool {
        let ComparisonInputs { opening, reopening, .. } = self.inputs;
        expected.openings && (opening.contains(slot) || reopening.contains(slot))
    }

    /// Compares one object that [is plain](Self::is_plain), and stores its changes.
    #[inline(always)]
    fn plain_object<T: Replicated, S: Source<T>>(
        &mut self,
        shadows: &mut Shadows<T>,
        source: &mut S,
        place: Place,
    ) {
        source.compare_ordinary(shadows, place.row, self.found.blank(place.slot));
        let conditions = shadows.class.conditions();
        if !self.found.refused.is_empty() {
            self.note_refusals::<T, S>(place, conditions.ordinary());
        }
        self.store(place, None, false);
    }

    // Not inlined, so that the code for most objects stays short.
    #[inline(never)]
    fn object<T: Replicated, S: Source<T>>(
        &mut self,
        shadows: &mut Shadows<T>,
        source: &mut S,
        place: Place,
        expected: Expected,
    ) {
        let Place { at, slot, row } = place;
        let is_plain = self.objects.get(at, slot).is_plain() && !self.opens(slot, expected);
        let special = if !(expected.nothing && is_plain) {
            let Some(scope) = self.special_scope(shadows, source, place, expected) else { return };
            Some(scope)
        } else if expected.push {
            let mut scope = std::mem::take(&mut shadows.marks[row]);
            scope.union(shadows.class.conditions().ordinary());
            Some(scope)
        } else {
            None
        };
        let is_new = expected.newborn && self.inputs.newborn.contains(slot);
        let (class, shadow) = shadows.in_row(row, is_new);
        let conditions = class.conditions();
        let scope = special.as_ref().unwrap_or(conditions.ordinary());
        source.compare(class, shadow, row, scope, self.found.blank(slot));
        // Old refusals need not be cleared otherwise: an object with refused values has rare state, so it has
        // a special scope.
        if special.is_some() || !self.found.refused.is_empty() {
            self.note_refusals::<T, S>(place, scope);
        }
        self.store(place, Some(conditions), is_new);
    }

    /// Stores the refusals that the comparison of the properties in `scope` has found.
    #[inline(never)]
    fn note_refusals<T, S: Source<T>>(&mut self, Place { at, slot, .. }: Place, scope: &HandleSet) {
        let Findings { refused, refusing, refusals, .. } = &mut *self.found;
        let compared = (!S::REFUSES_OUTSIDE_OF_SCOPE).then_some(scope);
        if let Some(has) = self.objects.get_mut(at, slot).note_refusals(compared, refused) {
            refusing.push((slot, has));
        }
        refusals.extend(refused.drain(..).map(|refusal| (slot, refusal)));
    }

    /// Stores the changes that the comparison of an object has found, if there are any. The changes of a new
    /// object are stored only in its history. `conditions` are the conditions of its class, or `None` for an
    /// object that does not record when its properties change.
    #[inline(always)]
    fn store(&mut self, Place { at, slot, row }: Place, conditions: Option<&ConditionMasks>, is_new: bool) {
        if self.found.scratch.has_replaced() {
            self.found.note_replaced(slot);
        }
        let list = if is_new { self.found.pass_by() } else { self.found.keep() };
        let Some(list) = list else { return };
        let object = self.objects.get_mut(at, slot);
        if let Some(conditions) = conditions {
            object.note_changes(list.handles(), conditions, self.inputs.frame);
        }
        if let Some((place, list)) = object.history.push(list, object.has_laggards()) {
            self.found.evicted.push((slot, place, list));
        }
        if let Some(moved) = &mut self.moved {
            moved.push((slot, row as u32));
        }
    }

    /// Stores the changes of an object that [is plain](Self::is_plain). `changed` are the bits of the handles
    /// that changed.
    #[inline]
    fn store_copied(&mut self, Place { at, slot, row }: Place, changed: u64) {
        let list = self.found.add_flat(slot, changed);
        let object = self.objects.get_mut(at, slot);
        if let Some((place, list)) = object.history.push(list, object.has_laggards()) {
            self.found.evicted.push((slot, place, list));
        }
        if let Some(moved) = &mut self.moved {
            moved.push((slot, row as u32));
        }
    }

    /// Returns the properties of an object that must be compared, for an object that may not be
    /// [plain](Self::is_plain). Returns `None` if the object was torn off and its last state was compared
    /// already.
    // Not inlined, so that the code for most objects stays short.
    #[inline(never)]
    fn special_scope<T: Replicated, S: Source<T>>(
        &mut self,
        shadows: &mut Shadows<T>,
        source: &S,
        Place { at, slot, row }: Place,
        expected: Expected,
    ) -> Option<HandleSet> {
        let max_bits = self.inputs.max_bits;
        let opens = self.opens(slot, expected);
        let object = self.objects.get_mut(at, slot);
        if object.tear_off == TearOff::Frozen {
            return None;
        }
        if expected.marks {
            // Properties that record by themselves that they were written to are `push` properties, so they
            // need a mark.
            let touched = source.touched(shadows, row);
            shadows.marks[row].union(&touched);
        }
        let mut marked =
            if expected.push { std::mem::take(&mut shadows.marks[row]) } else { HandleSet::new() };
        let mut scope = object.scope(shadows.class.conditions(), &marked, opens);
        if expected.too_large {
            self.found.refused.extend(source.keep_within(shadows, max_bits, row, &mut scope));
        }
        let scope = scope.into_owned();
        if expected.push {
            // A marked property that is not compared, because it is switched off or too large, stays marked.
            marked.difference(&scope);
            shadows.marks[row] = marked;
        }
        Some(scope)
    }
}

/// Copies the marked values of an object to its shadow and clears the marks, if the source can copy them all.
/// Returns which of the values differed, as bits of the first word of handles. A class without values has no
/// marks.
#[inline]
fn copy_marked<T: Replicated, S: Source<T>>(shadows: &mut Shadows<T>, source: &S, row: usize) -> Option<u64> {
    let Shadows { class, rows, marks, .. } = shadows;
    let marked = marks.get_mut(row)?;
    let changed = source.copy_marked(class, &mut rows[row], row, marked)?;
    marked.clear();
    Some(changed)
}
