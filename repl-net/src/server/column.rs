//! Columns of objects of the same class. The shadows of all objects of one class form a column. The live
//! objects of a column come from its source: either the server owns them, or the user passes them to the
//! server.
//!
//! *Invariant:* row `n` of each vector belongs to the same object, both in the vectors of the shadows and in
//! the rows of the source.

use std::any::Any;

use repl_core::{Changelist, ConditionMasks, HandleSet, Program, Replicated, Rows};

use super::cells::area::{Area, Position};
use super::cells::positions::Positions;
use super::class_memory::ClassMemory;
use super::comparison::ClassComparison;
use super::old_values::{self, OldValues};
use super::priority::Viewer;
use super::shadows::Shadows;
use super::source::Source;
use super::verdicts::{Due, Pairs};

/// All objects of one class, for code that does not know their Rust type.
pub(crate) trait Column: Any + Send + Sync {
    fn program(&self) -> &Program;
    fn conditions(&self) -> &ConditionMasks;
    /// Returns the properties that are sent as differences.
    fn deltas(&self) -> &HandleSet;
    /// Compares the objects in `slots` with their shadows, up to the first object of another class than
    /// `class`, the number of this column. Returns how many objects were compared. One call compares many
    /// objects, so that the compiler knows the type in the loop.
    fn compare(&mut self, class: u16, slots: &[u32], comparison: &mut ClassComparison<'_>) -> usize;
    /// Calls `found` with the slot of each object that differs from its shadow.
    fn scan(&self, found: &mut dyn FnMut(u32));
    /// Returns the shadows, to write their values.
    fn rows(&self) -> Rows<'_>;
    fn prune(&self, row: u32, list: &mut Changelist);
    /// Adds to `list` the new array elements that are in the shadow, but that no tick has found yet.
    fn extend_waiting(&self, row: u32, list: &mut Changelist);
    /// Returns the `push` properties of the object in a row that differ from their shadows and were not
    /// marked.
    fn unmarked(&self, row: u32) -> HandleSet;
    /// Returns the number of the tick after which the user last handed over the object in a row, or `None` if
    /// the server owns it.
    fn handed_over_in(&self, row: u32) -> Option<u64>;
    fn insert_whole(&self, handles: &HandleSet, list: &mut Changelist);
    /// Returns the total number of items and entries in the collections and maps among `handles` of the
    /// object in a row. [`Class::items_of`](repl_core::Class::items_of) has the details of this function.
    fn items_of(&self, row: u32, handles: &HandleSet) -> usize;
    /// Returns how many archetypes (sets of initial values) the class has, including the archetype with the
    /// values of `Default`.
    fn archetypes(&self) -> u32;
    /// Returns the checksums of the initial values of all properties, for each archetype. The first vector
    /// belongs to the archetype that has the values of `Default`.
    /// [`Class::begin_sums`](repl_core::Class::begin_sums) describes the checksums.
    fn begin_sums(&self) -> Vec<Vec<u64>>;
    /// Puts the positions of some objects into `positions`, according to their shadows. Each object in
    /// `changed` is a slot and a row. `area` is the area of the class.
    fn locate(&self, changed: &[(u32, u32)], area: &Area, positions: &mut Positions);
    /// Returns the position of the object in a row, or `None` if the class has no area. If the server owns
    /// the live object, this is its position. Otherwise it is the position of its shadow.
    fn position(&self, row: u32) -> Option<Position>;
    /// Returns whether the position of each object is computed from its fields.
    fn has_positions(&self) -> bool;
    /// Calls the priority function of the class with the shadow of the object in a row. Returns 1 if there is
    /// no function.
    fn prioritize(&self, row: u32, viewer: &Viewer<'_>) -> f32;
    /// Calls the function of the class that decides which objects in `due` a connection sees. Calls nothing
    /// if there is no function.
    fn decide(&self, due: &[Due], pairs: &mut Pairs<'_>);
    /// Returns the old values of the object in a row, if the server owns the live object and the class has
    /// notifies. They are the values of its shadow.
    fn old_values(&self, row: u32) -> Option<OldValues>;
    /// Calls the notifies of the properties in `changed` of the live object in a row, and then stores the
    /// values of its shadow in `old`. Returns whether any notify was called.
    fn notify(&mut self, row: u32, changed: &HandleSet, old: &mut OldValues) -> bool;
    fn reserve(&mut self, additional: usize);
    /// Frees the memory that was not needed recently.
    fn end_round(&mut self);
    /// Removes an object from the column. Returns the slot of the object that moved to the removed row.
    fn remove(&mut self, row: u32) -> Option<u32>;
    /// Returns the [`Shadows`] of the column. Their type does not depend on the source of the live objects.
    fn shadows(&self) -> &dyn Any;
    #[cfg(feature = "metrics")]
    fn objects(&self) -> usize;
    /// Returns how many objects the class has, and about how many bytes of memory they take on the server.
    /// Costs O(size of the objects).
    fn memory(&self) -> ClassMemory;
    fn shadows_mut(&mut self) -> &mut dyn Any;
}

impl dyn Column {
    pub(crate) fn is<C: Column>(&self) -> bool {
        (self as &dyn Any).is::<C>()
    }

    /// Returns the column, if it has the type `C`.
    pub(crate) fn downcast_ref<C: Column>(&self) -> Option<&C> {
        (self as &dyn Any).downcast_ref()
    }

    pub(crate) fn downcast_mut<C: Column>(&mut self) -> Option<&mut C> {
        (self as &mut dyn Any).downcast_mut()
    }
}

/// The column of the class `T`. The live objects of the class come from the source `S`.
pub(crate) struct TypedColumn<T, S> {
    pub(crate) shadows: Shadows<T>,
    pub(crate) source: S,
}

impl<T: Replicated, S: Source<T>> TypedColumn<T, S> {
    /// Returns an empty column for objects of at most `max_bits`.
    pub(crate) fn new(max_bits: u64) -> Self {
        Self { shadows: Shadows::new(max_bits), source: S::default() }
    }

    /// Adds an object to the column. The shadow of the object starts with the archetype's values (S29, S69).
    /// The function `add` adds the object's row to the source. Returns the number of the row and the result
    /// of `add`.
    #[inline]
    pub(crate) fn insert<R>(
        &mut self,
        slot: u32,
        archetype: u32,
        add: impl FnOnce(&Shadows<T>, &mut S) -> R,
    ) -> (u32, R) {
        let Self { shadows, source } = self;
        shadows.push(slot, archetype);
        (shadows.rows.len() as u32 - 1, add(shadows, source))
    }
}

impl<T: Replicated, S: Source<T>> Column for TypedColumn<T, S> {
    fn program(&self) -> &Program {
        self.shadows.class.program()
    }

    fn conditions(&self) -> &ConditionMasks {
        self.shadows.class.conditions()
    }

    fn deltas(&self) -> &HandleSet {
        self.shadows.class.deltas()
    }

    fn compare(&mut self, class: u16, slots: &[u32], comparison: &mut ClassComparison<'_>) -> usize {
        comparison.run(&mut self.shadows, &mut self.source, class, slots)
    }

    fn scan(&self, found: &mut dyn FnMut(u32)) {
        self.source.scan(&self.shadows, found);
    }

    fn rows(&self) -> Rows<'_> {
        self.shadows.class.rows(&self.shadows.rows)
    }

    fn prune(&self, row: u32, list: &mut Changelist) {
        self.shadows.class.prune(&self.shadows.rows[row as usize], list);
    }

    fn extend_waiting(&self, row: u32, list: &mut Changelist) {
        if let Some(waiting) = self.source.waiting(row as usize) {
            list.extend_new_elements(&waiting.new_elements());
        }
    }

    fn unmarked(&self, row: u32) -> HandleSet {
        let mut unmarked = self.shadows.class.conditions().push().clone();
        if !unmarked.is_empty() {
            unmarked.difference(&self.shadows.marks[row as usize]);
            self.source.retain_differing(&self.shadows, row as usize, &mut unmarked);
        }
        unmarked
    }

    fn handed_over_in(&self, row: u32) -> Option<u64> {
        self.source.handed_over_in(row as usize)
    }

    fn insert_whole(&self, handles: &HandleSet, list: &mut Changelist) {
        self.shadows.class.insert_whole(handles, list);
    }

    fn items_of(&self, row: u32, handles: &HandleSet) -> usize {
        self.shadows.class.items_of(&self.shadows.rows[row as usize], handles)
    }

    fn archetypes(&self) -> u32 {
        self.shadows.archetypes.len() as u32
    }

    fn begin_sums(&self) -> Vec<Vec<u64>> {
        let Shadows { class, archetypes, .. } = &self.shadows;
        archetypes.iter().map(|make| class.begin_sums(&make())).collect()
    }

    fn locate(&self, changed: &[(u32, u32)], area: &Area, positions: &mut Positions) {
        if let Some(locate) = &self.shadows.locate {
            locate.locate(&self.shadows.rows, changed, area, positions);
        }
    }

    fn has_positions(&self) -> bool {
        self.shadows.locate.is_some()
    }

    fn position(&self, row: u32) -> Option<Position> {
        let object = self.source.live(row as usize).or_else(|| self.shadows.rows.get(row as usize))?;
        self.shadows.position_of(object)
    }

    fn prioritize(&self, row: u32, viewer: &Viewer<'_>) -> f32 {
        let Shadows { prioritize, rows, .. } = &self.shadows;
        prioritize.as_ref().map_or(1.0, |prioritize| prioritize(&rows[row as usize], viewer))
    }

    fn decide(&self, due: &[Due], pairs: &mut Pairs<'_>) {
        if let Some(decide) = &self.shadows.decide {
            decide.decide(&self.shadows.rows, due, pairs);
        }
    }

    fn old_values(&self, row: u32) -> Option<OldValues> {
        self.source.live(row as usize)?;
        old_values::of(&self.shadows.class, self.shadows.rows.get(row as usize)?)
    }

    fn notify(&mut self, row: u32, changed: &HandleSet, old: &mut OldValues) -> bool {
        let Shadows { class, rows, .. } = &self.shadows;
        let (live, shadow) = (self.source.live_mut(row as usize), rows.get(row as usize));
        let (Some(live), Some(shadow)) = (live, shadow) else { return false };
        old_values::notify(class, live, shadow, changed, old)
    }

    fn reserve(&mut self, additional: usize) {
        self.shadows.reserve(additional);
        self.source.reserve(additional);
    }

    fn end_round(&mut self) {
        let kept = self.shadows.end_round();
        self.source.shrink(kept);
    }

    fn remove(&mut self, row: u32) -> Option<u32> {
        let (row, shadows) = (row as usize, &mut self.shadows);
        self.source.swap_remove(row);
        shadows.swap_remove(row);
        shadows.slots.get(row).copied()
    }

    fn shadows(&self) -> &dyn Any {
        &self.shadows
    }

    fn shadows_mut(&mut self) -> &mut dyn Any {
        &mut self.shadows
    }

    #[cfg(feature = "metrics")]
    fn objects(&self) -> usize {
        self.shadows.rows.len()
    }

    fn memory(&self) -> ClassMemory {
        let Self { shadows, source } = self;
        let live = (0..shadows.rows.len()).filter_map(|row| source.live(row));
        let elements = shadows.rows.iter().chain(live).map(|object| shadows.class.element_bytes(object));
        ClassMemory {
            class: self.program().layout().name(),
            objects: shadows.rows.len(),
            object_bytes: source.live_bytes(),
            shadow_bytes: shadows.bytes(),
            element_bytes: elements.sum(),
        }
    }
}
