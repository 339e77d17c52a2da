//! The changes of one collection: which items of a fast array, or which entries of a map, were added, changed
//! or removed.
//!
//! *Invariant:* no element is in two of the sets of added, changed and removed elements. The last event of an
//! element decides which of these sets contains it.

use std::fmt::Debug;

use crate::ids::identity::{IdSet, Identity};

/// The greatest number of stretches (runs of consecutive elements) of removed elements that one
/// [`ElementChanges`] lists. If more stretches were removed, `ElementChanges` instead lists the elements that
/// still exist (R12).
pub(crate) const MAX_REMOVED: usize = 1_024;

/// Lists the changed properties of one element. [`Changelist`](crate::Changelist) implements the trait
/// `PropertyChanges`. A `Changelist` can also contain the changes of collections inside the element.
pub(crate) trait PropertyChanges: Clone + Debug + Eq {
    fn is_empty(&self) -> bool;
    fn has_new_elements(&self) -> bool;
    fn new_elements(&self) -> Self;
    fn merge(&mut self, later: &Self);
    fn subtract(&mut self, later: &Self);
    fn extend_new_elements(&mut self, new_elements: &Self);
    fn new_elements_arrived(&mut self, list: &Self);
}

/// Elements that were added, changed and removed. `L` lists the changed properties of one element.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ElementChanges<I: Identity, L> {
    /// Which elements the receiver removes in addition to the elements in `removed`.
    pub(crate) sweep: Sweep,
    pub(crate) removed: I::Set,
    /// New elements of the collection, which are sent whole until they are acked (R2). Some of the added
    /// elements may not exist any more.
    pub(crate) added: I::Set,
    /// Elements with changed properties, in ascending order of their ids or keys.
    pub(crate) changed: Vec<ElementChange<I, L>>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ElementChange<I, L> {
    pub(crate) id: I,
    /// The number of the comparison that found the oldest of this element's changes.
    pub(crate) age: u64,
    /// Whether the label (the position) of the element changed.
    pub(crate) moved: bool,
    /// The changed properties of the element. The handles are those of the element, not of the object.
    pub(crate) list: L,
}

impl<I: Identity, L: Clone> Clone for ElementChanges<I, L> {
    fn clone(&self) -> Self {
        let Self { sweep, removed, added, changed } = self;
        Self { sweep: *sweep, removed: removed.clone(), added: added.clone(), changed: changed.clone() }
    }

    /// Copies `other`, and reuses the memory of these changes if possible.
    fn clone_from(&mut self, other: &Self) {
        self.sweep = other.sweep;
        self.removed.clone_from(&other.removed);
        self.added.clone_from(&other.added);
        self.changed.clone_from(&other.changed);
    }
}

impl<I: Clone, L: Clone> Clone for ElementChange<I, L> {
    fn clone(&self) -> Self {
        let Self { id, age, moved, list } = self;
        Self { id: id.clone(), age: *age, moved: *moved, list: list.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.id.clone_from(&other.id);
        (self.age, self.moved) = (other.age, other.moved);
        self.list.clone_from(&other.list);
    }
}

impl<I, L: PropertyChanges> ElementChange<I, L> {
    fn is_empty(&self) -> bool {
        !self.moved && self.list.is_empty()
    }

    /// Adds later changes of the same element to this [`ElementChange`].
    pub(crate) fn merge(&mut self, later: &Self) {
        self.list.merge(&later.list);
        self.moved |= later.moved;
        self.age = self.age.min(later.age);
    }

    /// Removes the changes that are also in `later`, which contains changes of the same element. Returns
    /// whether any changes are left.
    fn subtract(&mut self, later: &Self) -> bool {
        self.list.subtract(&later.list);
        self.moved &= !later.moved;
        !self.is_empty()
    }
}

/// Which elements the receiver removes in addition to the elements in `removed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sweep {
    /// The receiver removes no other elements.
    #[default]
    None,
    /// The receiver removes all elements that do not exist on the server any more. The server uses `Dead` if
    /// the receiver may have missed more removals than the server remembers.
    Dead,
    /// The receiver removes all elements that are not new in this changelist: it empties its collection
    /// before it adds the new elements.
    All,
}

impl<I: Identity, L> Default for ElementChanges<I, L> {
    fn default() -> Self {
        let (removed, added) = (I::Set::default(), I::Set::default());
        Self { sweep: Sweep::None, removed, added, changed: Vec::new() }
    }
}

impl<I: Identity, L: PropertyChanges> ElementChanges<I, L> {
    /// Makes element changes from the results of a comparison. No element may occur twice in one argument.
    #[cfg(test)]
    pub(crate) fn new(added: Vec<I>, removed: Vec<I>, changed: Vec<ElementChange<I, L>>) -> Self {
        let mut changes = Self { changed, ..Self::default() };
        changes.complete(added, removed);
        changes
    }

    /// Stores the new and the removed elements, and sorts `changed`. These changes must not contain other
    /// elements yet. No element may occur twice in `changed` or in one argument.
    pub(crate) fn complete(&mut self, added: Vec<I>, removed: Vec<I>) {
        let set = |mut ids: Vec<I>| {
            ids.sort_unstable();
            I::Set::of(ids.into_iter())
        };
        (self.added, self.removed) = (set(added), set(removed));
        self.changed.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    }

    /// Removes all changes and keeps the memory of the list of changed elements.
    pub(crate) fn clear(&mut self) {
        (self.sweep, self.removed, self.added) = (Sweep::None, I::Set::default(), I::Set::default());
        self.changed.clear();
    }

    /// Returns the element changes that send the whole collection.
    pub(crate) fn whole() -> Self {
        Self { sweep: Sweep::All, added: I::Set::all(), ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sweep == Sweep::None
            && self.removed.is_empty()
            && self.added.is_empty()
            && self.changed.is_empty()
    }

    /// Returns about how many bytes the `ElementChanges` take on the heap, including the box that contains
    /// them. Costs O(1).
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + self.removed.heap_bytes()
            + self.added.heap_bytes()
            + self.changed.capacity() * size_of::<ElementChange<I, L>>()
    }

    pub(crate) fn has_new_elements(&self) -> bool {
        !self.added.is_empty() || self.changed.iter().any(|element| element.list.has_new_elements())
    }

    /// Adds later changes of the same collection to this [`ElementChanges`].
    pub(crate) fn merge(&mut self, later: &Self) {
        self.sweep = self.sweep.max(later.sweep);
        // A removed id can be added again, because a collection reuses ids if another array is assigned to
        // it.
        self.removed.subtract(&later.added);
        if later.added.is_all() && later.sweep != Sweep::None {
            self.removed = I::Set::default();
        }
        self.removed.union(&later.removed);
        if self.removed.stretch_count() > MAX_REMOVED {
            self.removed = I::Set::default();
            self.sweep = self.sweep.max(Sweep::Dead);
        }
        self.added.subtract(&later.removed);
        self.added.union(&later.added);
        let Self { removed, added, changed, .. } = self;
        // Later changes inside an element make no difference if the element is sent whole or was removed.
        let is_over = |id: &I| removed.contains(id) || added.contains(id);
        if !removed.is_empty() || !added.is_empty() {
            changed.retain(|element| !is_over(&element.id));
        }
        let (mut at, mut found) = (0, Vec::new());
        for element in &later.changed {
            if changed.get(at).is_some_and(|ours| ours.id < element.id) {
                at += changed[at..].partition_point(|ours| ours.id < element.id);
            }
            match changed.get_mut(at) {
                Some(same) if same.id == element.id => same.merge(element),
                _ if is_over(&element.id) => {}
                _ => found.push(element.clone()),
            }
        }
        let is_behind = changed.last().zip(found.first()).is_none_or(|(last, first)| last.id < first.id);
        changed.append(&mut found);
        if !is_behind {
            // The vector consists of two ascending stretches, which a stable sort merges in one pass.
            changed.sort_by(|one, other| one.id.cmp(&other.id));
        }
    }

    /// Returns the first and the last element that is added, changed or removed.
    fn span(&self) -> Option<(I, I)> {
        let changed = self.changed.first().zip(self.changed.last());
        let changed = changed.map(|(first, last)| (first.id.clone(), last.id.clone()));
        let spans = [self.removed.span(), self.added.span(), changed];
        spans.into_iter().flatten().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Returns whether the two lists of changes may contain the same element. The result may be true by
    /// mistake. For two parts of one long list of changes, it is usually false.
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        let spans = || self.span().zip(other.span());
        let is_all = self.added.is_all() || other.added.is_all();
        is_all || spans().is_some_and(|(one, other)| one.0 <= other.1 && other.0 <= one.1)
    }

    /// Removes the changes that are also in `later`, or that `later` replaces (R4).
    pub(crate) fn subtract(&mut self, later: &Self) {
        if later.sweep == Sweep::None && !self.may_meet(later) {
            return;
        }
        if later.sweep != Sweep::None {
            self.sweep = Sweep::None;
            self.removed = I::Set::default();
        }
        if later.added.is_all() {
            *self = Self { sweep: self.sweep, ..Self::default() };
            return;
        }
        self.removed.subtract(&later.removed);
        self.removed.subtract(&later.added);
        self.added.subtract(&later.added);
        self.added.subtract(&later.removed);
        if later.changed.len() < self.changed.len() {
            self.subtract_few(later);
            return;
        }
        self.changed.retain_mut(|element| {
            !later.is_over(&element.id)
                && later.change_of(&element.id).is_none_or(|later| element.subtract(later))
        });
    }

    /// Subtracts the changed elements of `later`, which has fewer changed elements than `self`. Visits all
    /// changed elements of `self` only if one of them must be removed.
    fn subtract_few(&mut self, later: &Self) {
        let mut stretches = later.added.stretches().chain(later.removed.stretches());
        let mut any_over = stretches.any(|stretch| self.changes_within(&stretch));
        for change in &later.changed {
            if let Ok(at) = self.changed.binary_search_by(|element| element.id.cmp(&change.id))
                && let Some(earlier) = self.changed.get_mut(at)
            {
                any_over |= !earlier.subtract(change);
            }
        }
        if any_over {
            self.changed.retain(|element| !element.is_empty() && !later.is_over(&element.id));
        }
    }

    /// Returns whether an element is sent whole or was removed.
    fn is_over(&self, id: &I) -> bool {
        self.added.contains(id) || self.removed.contains(id)
    }

    /// Returns whether any element from `first` to `last` changed. Costs O(log elements).
    fn changes_within(&self, (first, last): &(I, I)) -> bool {
        let at = self.changed.partition_point(|element| element.id < *first);
        self.changed.get(at).is_some_and(|element| element.id <= *last)
    }

    pub(crate) fn change_of(&self, id: &I) -> Option<&ElementChange<I, L>> {
        let at = self.changed.binary_search_by(|element| element.id.cmp(id)).ok()?;
        self.changed.get(at)
    }

    /// Returns only the new elements, including the new elements of collections inside changed elements.
    pub(crate) fn new_elements(&self) -> Option<Self> {
        let nested = self.changed.iter().filter(|element| element.list.has_new_elements());
        let new_elements = |element: &ElementChange<I, L>| {
            let (id, list) = (element.id.clone(), element.list.new_elements());
            ElementChange { id, age: element.age, moved: false, list }
        };
        let changed = nested.map(new_elements).collect();
        let new_elements = Self { added: self.added.clone(), changed, ..Self::default() };
        (!new_elements.is_empty()).then_some(new_elements)
    }

    /// Marks each changed element that is new in `new_elements` to be sent whole again, because the client
    /// may not have received it. For each other changed element, adds the new elements of its changed arrays
    /// (R2).
    pub(crate) fn extend_new_elements(&mut self, new_elements: &Self) {
        if !self.touches_new_elements(new_elements) {
            return;
        }
        let Self { added, changed, .. } = self;
        changed.retain_mut(|element| {
            if new_elements.added.contains(&element.id) {
                added.insert_anywhere(element.id.clone());
                return false;
            }
            if let Some(new_elements) = new_elements.change_of(&element.id) {
                element.list.extend_new_elements(&new_elements.list);
            }
            true
        });
    }

    /// Removes the new elements that have arrived together with `list`. Returns whether any new elements are
    /// left.
    pub(crate) fn new_elements_arrived(&mut self, list: &Self) -> bool {
        // Pruning has replaced "all elements" in `list` by the id or key of each element.
        if list.added.is_all() || (I::Set::CAN_BE_ALL && list.sweep == Sweep::All) {
            *self = Self::default();
            return false;
        }
        if self.may_meet(list) {
            self.added.subtract(&list.added);
            self.added.subtract(&list.removed);
            self.changed.retain_mut(|element| {
                if list.is_over(&element.id) {
                    return false;
                }
                if let Some(arrived) = list.change_of(&element.id) {
                    element.list.new_elements_arrived(&arrived.list);
                }
                !element.list.is_empty()
            });
        }
        !self.added.is_empty() || !self.changed.is_empty()
    }

    /// Returns whether `self` changes an element that is new, or that has a new part, in `new_elements`.
    /// Costs O(length of the shorter of the two), times the logarithm of the length of the other.
    pub(crate) fn touches_new_elements(&self, new_elements: &Self) -> bool {
        if !self.may_meet(new_elements) {
            return false;
        }
        let is_shorter = self.changed.len() < new_elements.added.stretch_count() + new_elements.changed.len();
        if is_shorter || new_elements.added.is_all() {
            let is_new = |id| new_elements.added.contains(id) || new_elements.change_of(id).is_some();
            return self.changed.iter().any(|element| is_new(&element.id));
        }
        new_elements.added.stretches().any(|stretch| self.changes_within(&stretch))
            || new_elements.changed.iter().any(|element| self.change_of(&element.id).is_some())
    }

    /// Replaces [`Sweep::All`] by [`Sweep::Dead`]: the receiver then removes only the elements that no longer
    /// exist on the server. This is necessary if the receiver may have received other elements since the
    /// changes were found.
    pub(crate) fn forget_resets(&mut self) {
        self.sweep = self.sweep.min(Sweep::Dead);
    }

    /// Removes and returns all changes except `sweep`. Returns `None` if there are no such changes.
    pub(crate) fn take_elements(&mut self) -> Option<Self> {
        let begun = Self { sweep: self.sweep, ..Self::default() };
        let taken = Self { sweep: Sweep::None, ..std::mem::replace(self, begun) };
        (!taken.is_empty()).then_some(taken)
    }

    /// Returns how many elements are added, changed or removed.
    pub(crate) fn count(&self) -> usize {
        self.removed.count() + self.changed.len() + self.added.count()
    }
}

#[cfg(test)]
mod tests;
