//! Compares an object with its shadow (the values that clients receive). Values that differ are copied to the
//! shadow and listed (S60 to S63).
//!
//! *Invariant:* the shadow contains only values that have a wire form. Encoding from the shadow fails only if
//! a hand-written serialiser refuses a value that it accepted before. The code that writes updates handles
//! this case (R3).

use std::collections::BTreeSet;
use std::ops::Range;

use crate::bits::{BitWriter, WriteError};
use crate::changes::changelist::{Changelist, ElementChange, ElementChanges, Nested};
use crate::diff::item_sizes::ItemSizes;
use crate::diff::refusal::Refusal;
use crate::ids::delta_base::DeltaBase;
use crate::ids::handles::HandleSet;
use crate::ids::identity::Identity;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::object::level::{Elements, Leaf, Level, LevelMut, Part, Slot};
use crate::schema::command::Collected;
use crate::schema::step::Step;

/// One comparison of an object with its shadow, and the lists that receive the results.
pub(crate) struct Comparison<'a> {
    pub(crate) sizes: &'a ItemSizes,
    /// Whether the object is compared for the first time. In the first comparison, each quantised value gets
    /// its nearest step, whatever the step of its initial value is.
    pub(crate) is_new: bool,
    pub(crate) refusals: &'a mut Vec<Refusal>,
    pub(crate) scratch: &'a mut Scratch,
}

/// Memory that comparisons of objects reuse.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The handles of properties that are compared by their commands.
    pub(crate) left: HandleSet,
    live: BitWriter,
    shadow: BitWriter,
    /// A buffer for the bits of keys. A map inside a value of a map gets a new writer.
    keys: BitWriter,
    /// The number of comparisons by commands so far, which is the age of the changes that the next comparison
    /// finds.
    pub(crate) comparisons: u64,
    /// Whether a collection was replaced by another one, so that the items of the object must be renumbered.
    must_renumber: bool,
    /// The values that were replaced of properties that are sent as differences, with their handles.
    replaced: Vec<(u32, DeltaBase)>,
    /// Empty changes of fast arrays and of maps. Later comparisons use their memory again.
    spare_items: SpareChanges<ItemId>,
    spare_entries: SpareChanges<KeyBits>,
}

/// Spare changes have room for at most this many elements.
const MOST_SPARE_ELEMENTS: usize = 1_024;

/// A list with at most this many spare changes is never shrunk.
const LEAST_SPARES: usize = 8;

/// Empty changes of collections, to reuse their memory.
#[derive(Debug)]
struct SpareChanges<I: Identity> {
    boxes: Vec<Box<ElementChanges<I>>>,
    /// The smallest number of boxes in the list since the last call of [`Scratch::end_round`]. So this many
    /// boxes were not needed.
    idle: usize,
}

impl<I: Identity> Default for SpareChanges<I> {
    fn default() -> Self {
        Self { boxes: Vec::new(), idle: 0 }
    }
}

impl<I: Identity> SpareChanges<I> {
    fn take(&mut self) -> Box<ElementChanges<I>> {
        let taken = self.boxes.pop().unwrap_or_default();
        self.idle = self.idle.min(self.boxes.len());
        debug_assert!(taken.is_empty(), "changes are emptied when they are put back");
        taken
    }

    fn end_round(&mut self) {
        self.boxes.drain(..self.idle);
        self.boxes.shrink_to(LEAST_SPARES + 2 * self.boxes.len());
        self.idle = self.boxes.len();
    }
}

/// The ids or keys of one kind of collection.
trait Spare: Collected {
    /// Returns the spare changes of this kind of collection.
    fn spare(scratch: &mut Scratch) -> &mut SpareChanges<Self>;
}

impl Spare for ItemId {
    fn spare(scratch: &mut Scratch) -> &mut SpareChanges<Self> {
        &mut scratch.spare_items
    }
}

impl Spare for KeyBits {
    fn spare(scratch: &mut Scratch) -> &mut SpareChanges<Self> {
        &mut scratch.spare_entries
    }
}

impl Scratch {
    /// Returns whether an object that was compared since the last call of this function must be
    /// [renumbered](crate::Class::renumber_items).
    #[must_use]
    pub fn take_must_renumber(&mut self) -> bool {
        self.must_renumber && std::mem::take(&mut self.must_renumber)
    }

    /// Returns whether values were replaced of properties that are sent as differences.
    #[inline]
    #[must_use]
    pub fn has_replaced(&self) -> bool {
        !self.replaced.is_empty()
    }

    /// Returns the values that were replaced of properties that are sent as differences, with their handles,
    /// since the last call of this function.
    pub fn take_replaced(&mut self) -> std::vec::Drain<'_, (u32, DeltaBase)> {
        self.replaced.drain(..)
    }

    /// Removes all changes from a changelist, and keeps their memory for later comparisons.
    #[inline]
    pub fn recycle(&mut self, list: &mut Changelist) {
        list.handles.clear();
        // Most changelists have no nested changes, and then no function is called to remove them.
        if list.has_nested() {
            self.take_nested(list);
        }
    }

    /// Frees the memory that no comparison has used since the last call of this function.
    pub fn end_round(&mut self) {
        self.spare_items.end_round();
        self.spare_entries.end_round();
    }

    #[cfg(test)]
    pub(crate) fn spares(&self) -> usize {
        self.spare_items.boxes.len() + self.spare_entries.boxes.len()
    }

    #[cfg(test)]
    pub(crate) fn spares_are_empty(&self) -> bool {
        let items = self.spare_items.boxes.iter().all(|changes| changes.is_empty());
        items && self.spare_entries.boxes.iter().all(|changes| changes.is_empty())
    }

    #[inline(never)]
    fn take_nested(&mut self, list: &mut Changelist) {
        for nested in list.nested.drain() {
            match nested {
                Nested::Array(_) => {}
                Nested::Items(changes) => self.put(changes),
                Nested::Entries(changes) => self.put(changes),
            }
        }
    }

    fn put<I: Spare>(&mut self, mut changes: Box<ElementChanges<I>>) {
        changes.changed.iter_mut().for_each(|element| self.recycle(&mut element.list));
        if changes.changed.capacity() <= MOST_SPARE_ELEMENTS {
            changes.clear();
            I::spare(self).boxes.push(changes);
        }
    }
}

/// The result of comparing one slot of an object's table.
pub(super) enum Found {
    Same,
    Leaf,
    /// The changes inside an array or collection. If the nested changes of an array are empty, only the
    /// number of its elements changed.
    Nested(Nested),
}

enum Outcome {
    Same,
    Changed,
    Refused(WriteError),
}

/// The result of comparing a live value with its shadow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// Both have the same wire form.
    Same,
    /// The wire forms differ, but clients keep the shadow's wire form, because the value is within its
    /// margin.
    Kept,
    Different,
}

impl Comparison<'_> {
    /// Adds a refusal for a value that has no wire form. `step` is the step of the path from the compared
    /// value to the refused value inside it. If `step` is `None`, the compared value itself is refused.
    #[cold]
    pub(super) fn refuse(&mut self, step: Option<u32>, error: WriteError) {
        self.refusals.push(Refusal { steps: step.into_iter().collect(), error });
    }

    /// Adds `step` to the path, runs a comparison of the values below it, and removes the step again.
    fn behind<R>(&mut self, step: u32, compare: impl FnOnce(&mut Self) -> R) -> R {
        let known = self.refusals.len();
        let outcome = compare(self);
        self.put_before(known, std::iter::once(step));
        outcome
    }

    /// Inserts `steps` at the start of the paths of all refusals except the first `known` refusals.
    fn put_before(&mut self, known: usize, steps: impl Iterator<Item = u32> + Clone) {
        for refusal in self.refusals.iter_mut().skip(known) {
            refusal.steps.splice(0..0, steps.clone());
        }
    }

    /// Compares the properties `handles` of an object or element with the shadow. Copies the values that
    /// differ to the shadow, and lists them. If `by_command` is given, the caller already knows that the
    /// bytes of all properties outside `by_command` differ.
    pub(crate) fn level(
        &mut self,
        live: Level<'_>,
        shadow: &mut LevelMut<'_>,
        handles: &HandleSet,
        by_command: Option<&HandleSet>,
        changes: &mut Changelist,
    ) {
        for (first, count) in handles.stretches() {
            self.between(live, shadow, first..first + count, by_command, changes);
        }
    }

    /// Does the same as [`level`](Self::level), for the properties with the handles in a range.
    #[inline]
    fn between(
        &mut self,
        live: Level<'_>,
        shadow: &mut LevelMut<'_>,
        handles: Range<u32>,
        by_command: Option<&HandleSet>,
        changes: &mut Changelist,
    ) {
        let mut next = handles.start;
        while let Some(part) = live.next_part(&mut next, handles.end) {
            let (handle, slot) = match part {
                Part::Slot(handle, slot) => (handle, slot),
                Part::Joined(handle, leaves) => {
                    let Some(mut known) = shadow.joined(handle, leaves.leaves()) else { continue };
                    if by_command.is_some_and(|unsure| !unsure.has_any(handle, leaves.leaves())) {
                        changes.insert_stretch(handle, leaves.leaves());
                    } else {
                        known.as_leaves().each_different(leaves, |at| changes.insert(handle + at));
                    }
                    known.copy(leaves);
                    continue;
                }
            };
            match self.slot(slot, shadow, handle, handle) {
                Found::Same => {}
                Found::Leaf => changes.insert(handle),
                Found::Nested(nested) => changes.insert_nested(handle, nested),
            }
        }
    }

    /// Compares one slot (a leaf, array or collection) of an object or element, and copies the values that
    /// differ to the shadow. `step` is its step in the path.
    // This function is always inlined. Most properties are leaves, and a call for each leaf would take a
    // tenth of the time of the comparison.
    #[inline(always)]
    pub(super) fn slot(
        &mut self,
        live: Slot<'_>,
        shadow: &mut LevelMut<'_>,
        handle: u32,
        step: u32,
    ) -> Found {
        let Slot::Leaf(leaf) = live else { return self.nested(live, shadow, handle, step) };
        match self.leaf(leaf, shadow, handle, !self.is_new) {
            Outcome::Same => Found::Same,
            Outcome::Changed => Found::Leaf,
            Outcome::Refused(error) => {
                self.refuse(Some(step), error);
                Found::Same
            }
        }
    }

    /// Compares one slot that is not a leaf. See [`slot`](Self::slot).
    #[inline(never)]
    fn nested(&mut self, live: Slot<'_>, shadow: &mut LevelMut<'_>, handle: u32, step: u32) -> Found {
        let nested = match live {
            Slot::Leaf(_) => None,
            Slot::Array(array) => {
                self.behind(step, |this| this.array(array, shadow, handle)).map(Nested::Array)
            }
            Slot::Items(items) => {
                self.behind(step, |this| this.elements(items, shadow, handle)).map(Nested::from)
            }
            Slot::Entries(entries) => {
                self.behind(step, |this| this.elements(entries, shadow, handle)).map(Nested::from)
            }
        };
        nested.map_or(Found::Same, Found::Nested)
    }

    /// Compares a leaf with its shadow, and copies it to the shadow if it differs. If `may_keep` is true and
    /// the value is within the margin of its step, the shadow keeps its value, because clients receive the
    /// values of the shadow.
    #[inline]
    fn leaf(&mut self, live: Leaf<'_>, shadow: &mut LevelMut<'_>, handle: u32, may_keep: bool) -> Outcome {
        let Some(mut old) = shadow.leaf(handle) else { return Outcome::Same };
        if live.identical(&old.as_leaf()) {
            return Outcome::Same;
        }
        if live.is_text() {
            if let Err(error) = live.check_text() {
                return Outcome::Refused(error);
            }
        } else if live.must_be_tried() {
            match self.scratch.relation(live, old.as_leaf()) {
                Ok(Relation::Different) => {
                    self.scratch.replaced.extend(old.as_leaf().base().map(|base| (handle, base)))
                }
                Ok(Relation::Kept) if !may_keep => {}
                Ok(Relation::Kept) => return Outcome::Same,
                Ok(Relation::Same) => {
                    old.copy(live);
                    return Outcome::Same;
                }
                Err(error) => return Outcome::Refused(error),
            }
        }
        old.copy(live);
        Outcome::Changed
    }

    /// Copies a leaf of a new element to the shadow. The value has no earlier step that it could keep.
    /// Returns an error if the value has no wire form, even if the value equals the initial value.
    fn new_leaf(&mut self, live: Leaf<'_>, shadow: &mut LevelMut<'_>, handle: u32) -> Option<WriteError> {
        match self.leaf(live, shadow, handle, false) {
            Outcome::Same if live.must_be_tried() => {
                self.scratch.live.clear();
                live.write(&mut self.scratch.live).err()
            }
            Outcome::Same | Outcome::Changed => None,
            Outcome::Refused(error) => Some(error),
        }
    }

    /// Copies a new item or a new value of a map to the shadow, except the properties that would make it too
    /// large.
    fn new_item(&mut self, table: u32, live: Level<'_>, shadow: &mut LevelMut<'_>) {
        let mut except = HandleSet::new();
        if let Some(survey) = self.sizes.survey(table, live, shadow.as_level()) {
            for (handle, error) in survey.refused {
                except.insert(handle);
                self.refuse(Some(handle), error);
            }
        }
        self.new_element(live, shadow, 1, &except);
    }

    /// Compares an item or a value of a map with its shadow, except the properties that would make it too
    /// large. Adds the properties that differ to `list`.
    fn item(&mut self, table: u32, live: Level<'_>, shadow: &mut LevelMut<'_>, list: &mut Changelist) {
        match self.sizes.survey(table, live, shadow.as_level()) {
            None => self.between(live, shadow, 1..live.handles() + 1, None, list),
            Some(survey) => {
                self.level(live, shadow, &survey.open, None, list);
                survey.refused.into_iter().for_each(|(handle, error)| self.refuse(Some(handle), error));
            }
        }
    }

    /// Copies a new element to the shadow, without the handles in `except`. `first` is the step that stands
    /// for the first property of the element in a path.
    pub(super) fn new_element(
        &mut self,
        live: Level<'_>,
        shadow: &mut LevelMut<'_>,
        first: u32,
        except: &HandleSet,
    ) {
        let slots = live.slots().zip(1..).zip(first..);
        for ((slot, handle), step) in slots.filter(|((_, handle), _)| !except.contains(*handle)) {
            match slot {
                Slot::Leaf(leaf) => {
                    if let Some(error) = self.new_leaf(leaf, shadow, handle) {
                        self.refuse(Some(step), error);
                    }
                }
                Slot::Array(array) if array.count() <= array.max_count() as usize => {
                    shadow.resize(handle, array.count());
                    self.behind(step, |this| this.copy_elements(array, shadow, handle, 0));
                }
                Slot::Array(array) => {
                    let error = WriteError::TooLong { len: array.len(), max: array.max_count() as usize };
                    self.refuse(Some(step), error);
                }
                // Collections inside a new element are sent whole, so their changes are not needed.
                Slot::Items(items) => {
                    let changes = self.behind(step, |this| this.elements(items, shadow, handle));
                    changes.into_iter().for_each(|changes| self.scratch.put(changes));
                }
                Slot::Entries(entries) => {
                    let changes = self.behind(step, |this| this.elements(entries, shadow, handle));
                    changes.into_iter().for_each(|changes| self.scratch.put(changes));
                }
            }
        }
    }

    /// Compares the elements of a collection that were written to, or all elements if the collection does not
    /// record which elements were written to. Returns `None` if nothing changed.
    #[inline(never)]
    fn elements<I: Spare>(
        &mut self,
        live: Elements<'_, I>,
        shadow: &mut LevelMut<'_>,
        handle: u32,
    ) -> Option<Box<ElementChanges<I>>> {
        let mut shadow = shadow.elements::<I>(handle)?;
        if shadow.collection.is_up_to_date(live.collection) == Some(true) {
            return None;
        }
        let (len, max) = (live.collection.len(), live.max_len() as usize);
        if len > max {
            self.refuse(None, WriteError::TooLong { len, max });
            return None;
        }
        let refused = self.refusals.len();
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        let mut changes = I::spare(self.scratch).take();
        // The new elements that contain a value without a wire form. If such an element were sent, clients
        // would see an initial value that the server never had.
        let mut unsendable = BTreeSet::new();
        let table = live.table();
        // Most entries of a map have not changed, so one list is used for all entries.
        let mut list = Changelist::new();
        let mut keys = if I::IS_KEY { std::mem::take(&mut self.scratch.keys) } else { BitWriter::new() };
        let must_renumber = shadow.follow(&live, &mut keys, &mut |named, step| {
            let known = self.refusals.len();
            match step {
                Step::Added { live, mut shadow } => {
                    let Ok(id) = named.id() else { return };
                    self.new_item(table, live, &mut shadow);
                    self.put_before(known, id.steps());
                    if self.refusals.len() > known {
                        unsendable.insert(id);
                    } else {
                        added.push(id);
                    }
                }
                // The element was written to more than once, and an attempt to copy it has failed already.
                Step::Touched { .. } if named.known().is_some_and(|id| unsendable.contains(id)) => {}
                Step::Touched { live, mut shadow, moved } => {
                    self.item(table, live, &mut shadow, &mut list);
                    let is_same = !moved && list.is_empty();
                    if is_same && self.refusals.len() == known {
                        return;
                    }
                    let list = std::mem::take(&mut list);
                    match named.id() {
                        Err(error) => self.refuse(None, error),
                        Ok(id) => {
                            self.put_before(known, id.steps());
                            if !is_same {
                                let age = self.scratch.comparisons;
                                changes.changed.push(ElementChange { id, age, moved, list });
                            }
                        }
                    }
                }
                Step::Removed => match named.id() {
                    Ok(id) if unsendable.remove(&id) => {}
                    Ok(id) => removed.push(id),
                    Err(error) => self.refuse(None, error),
                },
            }
        });
        if I::IS_KEY {
            self.scratch.keys = keys;
            // The refusals are sorted, because the entries of a hash map are in another order in each run.
            let refused = self.refusals.get_mut(refused..).unwrap_or_default();
            refused.sort_by_cached_key(|refusal| (refusal.steps.clone(), refusal.error.to_string()));
        }
        unsendable.iter().for_each(|id| shadow.collection.remove_unsendable(id, live.collection));
        self.scratch.must_renumber |= must_renumber;
        changes.complete(added, removed);
        if changes.is_empty() {
            self.scratch.put(changes);
            return None;
        }
        Some(changes)
    }
}

impl Scratch {
    /// Compares the wire forms of a live value and of `shadow`, which differ in memory.
    ///
    /// # Errors
    /// Returns an error if the live value has no wire form.
    #[inline]
    fn relation(&mut self, live: Leaf<'_>, shadow: Leaf<'_>) -> Result<Relation, WriteError> {
        let Some(number) = live.number()? else { return self.relation_of_bits(live, shadow) };
        Ok(match shadow.number() {
            Ok(Some(sent)) if sent == number && live.is_lossy() => Relation::Same,
            Ok(Some(sent)) if live.keeps_number(sent) => Relation::Kept,
            _ => Relation::Different,
        })
    }

    /// Does the same as [`relation`](Self::relation) for values whose wire form is not a number.
    ///
    /// # Errors
    /// Returns an error if the live value has no wire form.
    fn relation_of_bits(&mut self, live: Leaf<'_>, shadow: Leaf<'_>) -> Result<Relation, WriteError> {
        Ok(if self.writes_same_bits(live, shadow)? {
            Relation::Same
        } else if live.is_kept_as(&shadow) {
            Relation::Kept
        } else {
            Relation::Different
        })
    }

    /// Returns whether a live value has the same wire form as `shadow`, for values whose wire form is not a
    /// number.
    ///
    /// # Errors
    /// Returns an error if the live value has no wire form.
    fn writes_same_bits(&mut self, live: Leaf<'_>, shadow: Leaf<'_>) -> Result<bool, WriteError> {
        self.live.clear();
        live.write(&mut self.live)?;
        self.shadow.clear();
        Ok(live.is_lossy() && shadow.write(&mut self.shadow).is_ok() && self.live == self.shadow)
    }
}
