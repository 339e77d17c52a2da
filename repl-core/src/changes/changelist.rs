//! Changelists: a changelist names the handles of one object that changed, with the nested changes for arrays
//! and collections (S58 to S62, S72).
//!
//! *Invariant:* the sets in a changelist are sorted and have no duplicates. If a property has nested changes,
//! its handle is also in the set of handles of its object or element, because the count of an array is always
//! sent with its changes (S92).

use std::ops::Range;

use thin_vec::ThinVec;

use crate::changes::element_changes::{self, PropertyChanges};
use crate::ids::handles::HandleSet;
use crate::ids::identity::{IdSet, Identity};
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::ranges::Ranges;

/// The handles of one object that changed, in ascending order, with nested changes for arrays and
/// collections.
///
/// A changelist contains neither the times of the changes nor the lengths of arrays. Elements past the end of
/// an array are dropped when the changelist is [pruned](crate::Class::prune) or encoded.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changelist {
    pub(crate) handles: HandleSet,
    pub(crate) nested: NestedChanges,
}

impl Clone for Changelist {
    #[inline]
    fn clone(&self) -> Self {
        Self { handles: self.handles.clone(), nested: self.nested.clone() }
    }

    /// Copies `other`, and reuses the memory of this changelist if possible.
    #[inline]
    fn clone_from(&mut self, other: &Self) {
        self.handles.clone_from(&other.handles);
        self.nested.clone_from(&other.nested);
    }
}

/// The changes inside arrays and collections, in ascending order of their handles. If a changed array has no
/// entry in `NestedChanges`, only the number of its elements changed (S61).
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NestedChanges(ThinVec<(u32, Nested)>);

impl Clone for NestedChanges {
    #[inline]
    fn clone(&self) -> Self {
        // Most changelists have no nested changes, and then no function is called to clone them.
        if self.0.is_empty() { Self::NONE } else { Self(self.0.clone()) }
    }

    #[inline]
    fn clone_from(&mut self, other: &Self) {
        if !(self.0.is_empty() && other.0.is_empty()) {
            self.copy_from(other);
        }
    }
}

/// The changes inside one array, collection or map.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Nested {
    Array(ArrayChanges),
    Items(Box<ElementChanges<ItemId>>),
    Entries(Box<ElementChanges<KeyBits>>),
}

impl Clone for Nested {
    fn clone(&self) -> Self {
        match self {
            Self::Array(changes) => Self::Array(changes.clone()),
            Self::Items(changes) => Self::Items(changes.clone()),
            Self::Entries(changes) => Self::Entries(changes.clone()),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        match (self, other) {
            (Self::Array(ours), Self::Array(theirs)) => ours.clone_from(theirs),
            (Self::Items(ours), Self::Items(theirs)) => ours.clone_from(theirs),
            (Self::Entries(ours), Self::Entries(theirs)) => ours.clone_from(theirs),
            (ours, theirs) => *ours = theirs.clone(),
        }
    }
}

/// The changes of a collection, with a [`Changelist`] for each changed element.
pub(crate) type ElementChanges<I> = element_changes::ElementChanges<I, Changelist>;

/// The changes of one element of a collection, with a [`Changelist`] of its properties.
pub(crate) type ElementChange<I> = element_changes::ElementChange<I, Changelist>;

/// Expands to the same code for the changes of items of a fast array and for the changes of entries of a map.
/// The macro expands to `$else` for the changes of an array.
macro_rules! of_elements {
    ($nested:expr, $changes:ident => $then:expr, _ => $else:expr) => {
        match $nested {
            Nested::Items($changes) => $then,
            Nested::Entries($changes) => $then,
            Nested::Array(_) => $else,
        }
    };
}

/// Expands to the same code for two changes of collections of the same kind, items or entries. The caller
/// passes code for the changes of two arrays, and code for changes of two different kinds.
macro_rules! of_both {
    ($one:expr, $other:expr, ($ours:ident, $theirs:ident) => $then:expr, $($arms:tt)*) => {
        match ($one, $other) {
            (Nested::Items($ours), Nested::Items($theirs)) => $then,
            (Nested::Entries($ours), Nested::Entries($theirs)) => $then,
            $($arms)*
        }
    };
}

/// The handles of one kind of property that has elements, and the change that sends such a property whole.
pub(crate) type Growing = (HandleSet, fn() -> Nested);

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ArrayChanges {
    /// The index of the first new element. The element at this index and all later elements are sent whole
    /// until they are acked (R2). `tail` is `u32::MAX` if no element is new.
    pub(crate) tail: u32,
    /// The handles of changed elements before `tail` (S20), counted from zero.
    pub(crate) edits: Ranges,
    /// The changes inside arrays and collections of the elements before `tail`, by the handles of these
    /// elements.
    pub(crate) nested: NestedChanges,
}

impl Clone for ArrayChanges {
    fn clone(&self) -> Self {
        let Self { tail, edits, nested } = self;
        Self { tail: *tail, edits: edits.clone(), nested: nested.clone() }
    }

    /// Copies `other`, and reuses the memory of these changes if possible.
    fn clone_from(&mut self, other: &Self) {
        self.tail = other.tail;
        self.edits.clone_from(&other.edits);
        self.nested.clone_from(&other.nested);
    }
}

impl Changelist {
    /// Returns an empty changelist.
    #[must_use]
    pub const fn new() -> Self {
        Self { handles: HandleSet::new(), nested: NestedChanges::NONE }
    }

    /// Returns whether the changelist is empty.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// Adds properties without nested changes. Each set bit of `word` stands for a handle, as in
    /// [`HandleSet::first_word`].
    #[inline]
    pub fn insert_word(&mut self, word: u64) {
        self.handles.insert_word(0, word);
    }

    /// Removes all changes from the changelist and keeps its memory.
    #[inline]
    pub fn clear(&mut self) {
        self.handles.clear();
        // Most changelists have no nested changes, and then no function is called to clear them.
        if !self.nested.0.is_empty() {
            self.nested.0.clear();
        }
    }

    /// Returns the changed handles of the object itself, without the handles inside elements.
    #[inline]
    #[must_use]
    pub fn handles(&self) -> &HandleSet {
        &self.handles
    }

    /// Adds the handle of a changed leaf, or of an array if only its number of elements changed. The first
    /// handle is 1.
    #[inline]
    pub fn insert(&mut self, handle: u32) {
        self.handles.insert(handle);
    }

    /// Adds `count` properties without elements, with the handles from `first` on.
    #[inline]
    pub(crate) fn insert_stretch(&mut self, first: u32, count: u32) {
        self.handles.insert_stretch(first, count);
    }

    /// Adds properties that must be sent with all their elements. For each kind of property with elements,
    /// `whole` contains the change that sends all elements.
    pub(crate) fn insert_whole(&mut self, handles: &HandleSet, whole: &[Growing]) {
        self.handles.union(handles);
        for (growing, whole) in whole.iter().filter(|(growing, _)| handles.intersects(growing)) {
            for handle in handles.iter().filter(|&handle| growing.contains(handle)) {
                self.nested.set(handle, whole());
            }
        }
    }

    /// Adds the changes inside an array, collection or map. If the changes of an array are empty, only the
    /// number of its elements changed.
    pub(crate) fn insert_nested(&mut self, handle: u32, changes: impl Into<Nested>) {
        self.handles.insert(handle);
        let changes = changes.into();
        if !matches!(&changes, Nested::Array(array) if array.is_count_only()) {
            self.nested.add(handle, changes);
        }
    }

    /// Returns whether the changelist has changes inside arrays or collections.
    #[inline]
    pub(crate) fn has_nested(&self) -> bool {
        !self.nested.0.is_empty()
    }

    /// Returns whether the changelist consists of whole properties, without changes inside arrays or
    /// collections. Then it is equal to another flat changelist with the same handles.
    #[inline]
    #[must_use]
    pub fn is_flat(&self) -> bool {
        !self.has_nested()
    }

    /// Returns whether any array or collection in the changelist, at any depth, has new elements.
    #[inline]
    #[must_use]
    pub fn has_new_elements(&self) -> bool {
        self.has_nested() && self.nested.has_new_elements()
    }

    /// Adds all changes of `other`, which is a later changelist. After the merge, this changelist is the
    /// ordered union of both changelists, without pruning.
    pub fn merge(&mut self, other: &Self) {
        self.handles.union(&other.handles);
        self.nested.merge(&other.nested);
    }

    /// Merges the changelists `lists`, the earliest first. Costs O(length of all changelists), times the
    /// logarithm of their number.
    #[must_use]
    pub fn merged(mut lists: Vec<Self>) -> Self {
        // Neighbouring changelists are merged in pairs. If each changelist were merged into the first one,
        // the first one would grow and each merge would visit all of it.
        while lists.len() > 1 {
            let mut rest = std::mem::take(&mut lists).into_iter();
            while let Some(mut list) = rest.next() {
                if let Some(later) = rest.next() {
                    list.merge(&later);
                }
                lists.push(list);
            }
        }
        lists.pop().unwrap_or_default()
    }

    /// Returns whether both changelists may change the same property. For changes of different items of one
    /// collection, or of different entries of one map, the result is usually false. Costs O(properties).
    #[must_use]
    pub fn may_meet(&self, other: &Self) -> bool {
        let mut both = self.handles.iter().filter(|&handle| other.handles.contains(handle));
        both.any(|handle| match (self.nested.get(handle), other.nested.get(handle)) {
            (Some(one), Some(other)) => {
                of_both!(one, other, (one, other) => one.may_meet(other), _ => true)
            }
            _ => true,
        })
    }

    /// Removes the changes that are also in `later`. So a change that was lost and has already been sent
    /// again is not sent a third time. If a new element of an array remains in this changelist, all elements
    /// after it remain too.
    pub fn subtract(&mut self, later: &Self) {
        self.nested.subtract(&later.nested);
        let Self { handles, nested } = self;
        // The handle of an array remains while any change of its elements remains, even if the later
        // changelist contains the handle of the array.
        handles.difference_unless(&later.handles, |handle| nested.get(handle).is_some());
    }

    /// Removes the handles that are not in `mask`.
    pub fn retain(&mut self, mask: &HandleSet) {
        self.handles.intersect(mask);
        self.nested.0.retain(|(handle, _)| mask.contains(*handle));
    }

    /// Removes the handles in `mask`.
    pub fn remove(&mut self, mask: &HandleSet) {
        self.handles.difference(mask);
        self.nested.0.retain(|(handle, _)| !mask.contains(*handle));
    }

    /// Moves the handles that are not in `mask` to `rest`.
    pub fn split(&mut self, mask: &HandleSet, rest: &mut Self) {
        if self.handles.is_subset(mask) {
            return;
        }
        let mut removed = self.clone();
        removed.handles.difference(mask);
        removed.nested.0.retain(|(handle, _)| !mask.contains(*handle));
        self.retain(mask);
        rest.merge(&removed);
    }

    /// Adds the new elements that the client may not have received. For each array in this changelist, adds
    /// the new elements that `new_elements` has for this array. Each changed item that is new in
    /// `new_elements` is sent whole.
    pub fn extend_new_elements(&mut self, new_elements: &Self) {
        for (handle, new_elements) in &new_elements.nested.0 {
            if self.handles.contains(*handle) {
                match (new_elements, self.nested.get_mut(*handle)) {
                    (Nested::Array(_), _) => self.nested.precede(*handle, new_elements),
                    (_, None) => {}
                    (new_elements, Some(ours)) => {
                        of_both!(ours, new_elements, (ours, new_elements) => ours.extend_new_elements(new_elements), _ => {});
                    }
                }
            }
        }
    }

    /// Returns a changelist of only the new elements, which are sent whole. Until the new elements are acked,
    /// they are sent again with every later change of the same element.
    #[must_use]
    pub fn new_elements(&self) -> Self {
        let mut new_elements = Self::new();
        for (handle, nested) in &self.nested.0 {
            if let Some(own) = nested.new_elements() {
                new_elements.handles.insert(*handle);
                new_elements.nested.add(*handle, own);
            }
        }
        new_elements
    }

    /// Removes the new elements that have arrived together with `list`. `list` contained the new elements, or
    /// was sent after them. Removes all new elements of each array in `list`, and the new elements inside
    /// each item in `list`.
    pub fn new_elements_arrived(&mut self, list: &Self) {
        let Self { handles, nested } = self;
        nested.0.retain_mut(|(handle, new_elements)| {
            if !list.handles.contains(*handle) {
                return true;
            }
            let is_left = match (new_elements, list.nested.get(*handle)) {
                (Nested::Array(_), _) => false,
                (_, None) => true,
                (new_elements, Some(list)) => {
                    of_both!(new_elements, list, (new_elements, list) => new_elements.new_elements_arrived(list), _ => true)
                }
            };
            if !is_left {
                handles.remove(*handle);
            }
            is_left
        });
    }

    /// Returns whether all new elements are items of collections or entries of maps of the object itself (not
    /// inside elements). If the result is true, only changes of these items and entries affect the new
    /// elements.
    #[must_use]
    pub fn new_elements_are_items(&self) -> bool {
        self.nested.0.iter().all(|(_, nested)| !matches!(nested, Nested::Array(_)))
    }

    /// Returns whether this changelist changes an item that is new in `new_elements`, or an array with new
    /// elements.
    #[must_use]
    pub fn touches_new_elements(&self, new_elements: &Self) -> bool {
        new_elements.nested.0.iter().any(|(handle, new_elements)| {
            self.handles.contains(*handle)
                && match (new_elements, self.nested.get(*handle)) {
                    (Nested::Array(_), _) => true,
                    (_, None) => false,
                    (new_elements, Some(ours)) => {
                        of_both!(ours, new_elements, (ours, new_elements) => ours.touches_new_elements(new_elements), _ => false)
                    }
                }
        })
    }

    /// Replaces resets by sweeps. A reset makes the receiver empty its collections first. A sweep makes the
    /// receiver remove only the elements that no longer exist on the server. A reset is no longer correct if
    /// the receiver may have received other elements since the changelist was made.
    pub fn forget_resets(&mut self) {
        for (_, nested) in &mut self.nested.0 {
            of_elements!(nested, changes => changes.forget_resets(), _ => {});
        }
    }

    /// Returns about how many bytes the changelist takes on the heap, to limit the memory of a connection.
    /// The result is exact only if the changelists inside items and entries are short. Costs O(properties).
    #[inline]
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let nested = if self.nested.0.capacity() == 0 { 0 } else { self.nested.heap_bytes() };
        self.handles.heap_bytes() + nested
    }

    /// Returns how many items or entries the changelist contains, if the changelist changes one collection or
    /// map of the object itself (not inside an element) and nothing else. A changelist of only one collection
    /// or map can be sent in parts.
    #[inline]
    #[must_use]
    pub fn items(&self) -> Option<usize> {
        let [(handle, nested)] = &self.nested.0[..] else { return None };
        let count = of_elements!(nested, changes => changes.count(), _ => return None);
        self.handles.iter().eq(std::iter::once(*handle)).then_some(count)
    }

    /// Removes and returns the changes of a collection of the object itself (not inside an element), if the
    /// changelist contains nothing else.
    pub(crate) fn take_only(&mut self) -> Option<(u32, Nested)> {
        self.items()?;
        let only = self.nested.0.pop();
        self.clear();
        only
    }

    pub(crate) fn take_nested(&mut self, handle: u32) -> Option<Nested> {
        self.handles.remove(handle);
        let at = self.nested.0.binary_search_by_key(&handle, |(handle, _)| *handle).ok()?;
        Some(self.nested.0.remove(at).1)
    }

    /// Splits the changelist of an object that is sent to a client for the first time and is too large for
    /// one update. Moves the items of collections and the entries of maps of the object itself (not inside
    /// elements) to the changelist that is returned, which is sent later. The remaining changelist makes the
    /// receiver begin with empty collections and maps.
    #[must_use]
    pub fn take_items(&mut self) -> Self {
        let mut taken = Self::new();
        for (handle, nested) in &mut self.nested.0 {
            of_elements!(nested, changes => {
                if let Some(elements) = changes.take_elements() {
                    taken.insert_nested(*handle, elements);
                }
            }, _ => {});
        }
        taken
    }
}

impl PropertyChanges for Changelist {
    fn is_empty(&self) -> bool {
        self.is_empty()
    }
    fn has_new_elements(&self) -> bool {
        self.has_new_elements()
    }
    fn new_elements(&self) -> Self {
        self.new_elements()
    }
    fn merge(&mut self, later: &Self) {
        self.merge(later);
    }
    fn subtract(&mut self, later: &Self) {
        self.subtract(later);
    }
    fn extend_new_elements(&mut self, new_elements: &Self) {
        self.extend_new_elements(new_elements);
    }
    fn new_elements_arrived(&mut self, list: &Self) {
        self.new_elements_arrived(list);
    }
}

impl NestedChanges {
    const NONE: Self = Self(ThinVec::new());

    /// Copies `other`, and reuses the memory of these changes.
    #[inline(never)]
    fn copy_from(&mut self, other: &Self) {
        self.0.truncate(other.0.len());
        let (known, new) = other.0.split_at(self.0.len());
        for ((handle, nested), (other_handle, other)) in self.0.iter_mut().zip(known) {
            *handle = *other_handle;
            nested.clone_from(other);
        }
        self.0.extend(new.iter().cloned());
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Nested> {
        self.0.drain(..).map(|(_, nested)| nested)
    }

    fn heap_bytes(&self) -> usize {
        let nested = self.0.iter().map(|(_, nested)| match nested {
            Nested::Array(array) => array.edits.heap_bytes() + array.nested.heap_bytes(),
            elements => of_elements!(elements, changes => changes.heap_bytes(), _ => 0),
        });
        self.0.capacity() * size_of::<(u32, Nested)>() + nested.sum::<usize>()
    }

    pub(crate) fn get(&self, handle: u32) -> Option<&Nested> {
        let at = self.0.binary_search_by_key(&handle, |(handle, _)| *handle).ok()?;
        self.0.get(at).map(|(_, nested)| nested)
    }

    fn get_mut(&mut self, handle: u32) -> Option<&mut Nested> {
        let at = self.0.binary_search_by_key(&handle, |(handle, _)| *handle).ok()?;
        self.0.get_mut(at).map(|(_, nested)| nested)
    }

    pub(crate) fn array(&self, handle: u32) -> Option<&ArrayChanges> {
        if let Nested::Array(array) = self.get(handle)? { Some(array) } else { None }
    }

    /// Returns the changes of the fast array at `handle`.
    pub(crate) fn items(&self, handle: u32) -> Option<&ElementChanges<ItemId>> {
        if let Nested::Items(changes) = self.get(handle)? { Some(changes) } else { None }
    }

    /// Returns the changes of the map at `handle`.
    pub(crate) fn entries(&self, handle: u32) -> Option<&ElementChanges<KeyBits>> {
        if let Nested::Entries(changes) = self.get(handle)? { Some(changes) } else { None }
    }

    pub(crate) fn set(&mut self, handle: u32, nested: Nested) {
        match self.0.binary_search_by_key(&handle, |(handle, _)| *handle) {
            Ok(at) => self.0[at].1 = nested,
            Err(at) => self.0.insert(at, (handle, nested)),
        }
    }

    pub(crate) fn add(&mut self, handle: u32, later: Nested) {
        match self.0.binary_search_by_key(&handle, |(handle, _)| *handle) {
            Ok(at) => self.0[at].1.merge(&later),
            Err(at) => self.0.insert(at, (handle, later)),
        }
    }

    /// Adds earlier changes of one property. Elements that were removed after the earlier changes stay
    /// removed.
    fn precede(&mut self, handle: u32, earlier: &Nested) {
        let mut all = earlier.clone();
        if let Some(ours) = self.get(handle) {
            all.merge(ours);
        }
        self.set(handle, all);
    }

    /// Calls `prune` with each property that has nested changes, and drops the nested changes that are empty
    /// afterwards. The handles of these properties stay in the changelist.
    pub(crate) fn prune_each(&mut self, mut prune: impl FnMut(u32, &mut Nested)) {
        self.0.retain_mut(|(handle, nested)| {
            prune(*handle, nested);
            !nested.is_bare()
        });
    }

    fn has_new_elements(&self) -> bool {
        self.0.iter().any(|(_, nested)| match nested {
            Nested::Array(array) => array.tail != u32::MAX || array.nested.has_new_elements(),
            elements => of_elements!(elements, changes => changes.has_new_elements(), _ => false),
        })
    }

    fn merge(&mut self, later: &Self) {
        for (handle, nested) in &later.0 {
            match self.get_mut(*handle) {
                Some(ours) => ours.merge(nested),
                None => self.set(*handle, nested.clone()),
            }
        }
    }

    fn subtract(&mut self, later: &Self) {
        self.0.retain_mut(|(handle, nested)| {
            if let Some(later) = later.get(*handle) {
                nested.subtract(later);
            }
            !nested.is_bare()
        });
    }
}

impl From<Box<ElementChanges<ItemId>>> for Nested {
    fn from(changes: Box<ElementChanges<ItemId>>) -> Self {
        Self::Items(changes)
    }
}

impl From<Box<ElementChanges<KeyBits>>> for Nested {
    fn from(changes: Box<ElementChanges<KeyBits>>) -> Self {
        Self::Entries(changes)
    }
}

impl<I: Identity> From<ElementChanges<I>> for Nested
where
    Self: From<Box<ElementChanges<I>>>,
{
    fn from(changes: ElementChanges<I>) -> Self {
        Box::new(changes).into()
    }
}

impl Nested {
    /// Returns whether the array has no changes of elements. A handle of an array without nested changes
    /// means that only the number of its elements changed.
    pub(crate) fn is_bare(&self) -> bool {
        match self {
            Self::Array(array) => array.is_count_only(),
            elements => of_elements!(elements, changes => changes.is_empty(), _ => false),
        }
    }

    fn merge(&mut self, later: &Self) {
        of_both!(self, later, (ours, later) => ours.merge(later),
            (Self::Array(ours), Self::Array(later)) => ours.merge(later),
            _ => debug_assert!(false, "a handle is an array or one kind of collection, always"),
        );
    }

    fn subtract(&mut self, later: &Self) {
        of_both!(self, later, (ours, later) => ours.subtract(later),
            (Self::Array(ours), Self::Array(later)) => ours.subtract(later),
            _ => debug_assert!(false, "a handle is an array or one kind of collection, always"),
        );
    }

    fn new_elements(&self) -> Option<Self> {
        match self {
            Self::Array(array) => array.new_elements().map(Self::Array),
            elements => of_elements!(elements, changes => changes.new_elements().map(Self::from), _ => None),
        }
    }
}

impl ArrayChanges {
    pub(crate) const fn count_only() -> Self {
        Self { tail: u32::MAX, edits: Ranges::new(), nested: NestedChanges::NONE }
    }

    pub(crate) const fn whole() -> Self {
        Self { tail: 0, edits: Ranges::new(), nested: NestedChanges::NONE }
    }

    pub(crate) fn is_count_only(&self) -> bool {
        self.tail == u32::MAX && self.edits.is_empty() && self.nested.0.is_empty()
    }

    fn merge(&mut self, other: &Self) {
        self.tail = self.tail.min(other.tail);
        self.edits.union(&other.edits);
        self.nested.merge(&other.nested);
    }

    fn subtract(&mut self, later: &Self) {
        if later.tail == 0 {
            // Everything was sent whole later. An enum may have another variant since then.
            *self = Self::count_only();
            return;
        }
        if later.tail <= self.tail {
            self.tail = u32::MAX;
        }
        self.nested.subtract(&later.nested);
        // The handle of a nested array remains in the changelist while any of its changes remain.
        self.edits.subtract(&later.edits);
        for (handle, _) in &self.nested.0 {
            self.edits.insert(*handle);
        }
    }

    fn new_elements(&self) -> Option<Self> {
        let mut own = Self { tail: self.tail, ..Self::count_only() };
        for (handle, changes) in &self.nested.0 {
            if let Some(nested) = changes.new_elements() {
                own.edits.insert(*handle);
                own.nested.set(*handle, nested);
            }
        }
        (!own.is_count_only()).then_some(own)
    }

    /// Drops the changes of elements at or after index `len`, and the changes of properties with other
    /// element handles than `kept`.
    pub(crate) fn prune(&mut self, len: u32, kept: Range<u32>) {
        if self.tail >= len {
            self.tail = u32::MAX;
        }
        self.edits.truncate(kept.end);
        self.edits.remove_below(kept.start);
        self.nested.0.retain(|(handle, _)| kept.contains(handle));
    }
}
