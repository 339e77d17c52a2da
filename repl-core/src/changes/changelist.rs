//! Changelists: which handles of one object changed, with nested sets for arrays (S58 to S62, S72).
//!
//! Invariant: sets are sorted and without repeats; an array that has a nested set is also in its level's own
//! set, since its count always travels with it (S92).

use crate::changes::elements::{self, PropertyChanges};
use crate::ids::handles::HandleSet;
use crate::ids::identity::IdSet;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::ranges::Ranges;

/// The handles of one object that changed, in ascending order, with nested changes for arrays.
///
/// A list is relative: *since when* is known to whoever holds it. Lists know no lengths; elements past an
/// array's end are dropped when a list is [pruned](crate::Class::prune) or encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changelist {
    pub(crate) handles: HandleSet,
    pub(crate) nested: NestedChanges,
}

/// Changes within arrays and collections by their handle at their level, ascending. An array without an entry
/// changed its count only (S61).
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NestedChanges(Vec<(u32, Nested)>);

impl Clone for NestedChanges {
    #[inline]
    fn clone(&self) -> Self {
        // Most lists have none: then there is nothing to call.
        if self.0.is_empty() { Self::NONE } else { Self(self.0.clone()) }
    }
}

/// What changed within one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Nested {
    Array(ArrayChanges),
    Items(Box<ElementChanges<ItemId>>),
    Entries(Box<ElementChanges<KeyBits>>),
}

/// The changes of a collection whose elements are changed by [`Changelist`]s.
pub(crate) type ElementChanges<I> = elements::ElementChanges<I, Changelist>;

/// The changes of one of its elements.
pub(crate) type ElementChange<I> = elements::ElementChange<I, Changelist>;

/// The same for what changed of items and of entries; `$else` for arrays.
macro_rules! of_elements {
    ($nested:expr, $changes:ident => $then:expr, _ => $else:expr) => {
        match $nested {
            Nested::Items($changes) => $then,
            Nested::Entries($changes) => $then,
            Nested::Array(_) => $else,
        }
    };
}

/// The same for two parts of lists that speak of one collection; the other arms are for arrays and what does
/// not go together.
macro_rules! of_both {
    ($one:expr, $other:expr, ($ours:ident, $theirs:ident) => $then:expr, $($arms:tt)*) => {
        match ($one, $other) {
            (Nested::Items($ours), Nested::Items($theirs)) => $then,
            (Nested::Entries($ours), Nested::Entries($theirs)) => $then,
            $($arms)*
        }
    };
}

/// Properties of one kind that have elements, and what a list says of one that goes whole.
pub(crate) type Growing = (HandleSet, fn() -> Nested);

/// What changed in one array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArrayChanges {
    /// Elements from here on came into being and go whole until acked (R2); `u32::MAX` for none.
    pub(crate) tail: u32,
    /// Element handles (S20, counted from zero) before the tail.
    pub(crate) edits: Ranges,
    /// Arrays and collections inside elements before the tail, by element handle.
    pub(crate) nested: NestedChanges,
}

impl Changelist {
    /// An empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self { handles: HandleSet::new(), nested: NestedChanges::NONE }
    }

    /// Whether nothing changed.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// Forgets all, keeping the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.handles.clear();
        self.nested.0.clear();
    }

    /// The changed handles of the object's own level.
    #[inline]
    #[must_use]
    pub fn handles(&self) -> &HandleSet {
        &self.handles
    }

    /// Adds a handle that is no array, or an array of which only the count changed. Counted from one (S18).
    #[inline]
    pub fn insert(&mut self, handle: u32) {
        self.handles.insert(handle);
    }

    /// Adds properties whole; `whole` says how, of those that have elements.
    pub(crate) fn insert_whole(&mut self, handles: &HandleSet, whole: &[Growing]) {
        self.handles.union(handles);
        for (growing, whole) in whole.iter().filter(|(growing, _)| handles.intersects(growing)) {
            for handle in handles.iter().filter(|&handle| growing.contains(handle)) {
                self.nested.set(handle, whole());
            }
        }
    }

    /// Adds what changed within a property; of an array perhaps its count alone.
    pub(crate) fn insert_nested(&mut self, handle: u32, changes: impl Into<Nested>) {
        self.handles.insert(handle);
        let changes = changes.into();
        if !matches!(&changes, Nested::Array(array) if array.is_count_only()) {
            self.nested.add(handle, changes);
        }
    }

    /// Whether any array or collection, at any depth, has elements that came into being.
    #[inline]
    #[must_use]
    pub fn has_births(&self) -> bool {
        !self.nested.0.is_empty() && self.nested.has_births()
    }

    /// Adds all changes of `other`, which came later: the ordered union of S72, without pruning.
    pub fn merge(&mut self, other: &Self) {
        self.handles.union(&other.handles);
        self.nested.merge(&other.nested);
    }

    /// All of these lists in one, the earliest first. O(what they say), times the logarithm of their number.
    #[must_use]
    pub fn merged(mut lists: Vec<Self>) -> Self {
        // Neighbour with neighbour: to merge into one that grows would go through it for each.
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

    /// Whether the two may say something of the same: what is said of other items of the same collection, or
    /// of other entries of the same map, mostly does not meet. O(properties).
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

    /// Removes what `later` holds too: what was lost and has been sent again since need not go a third time
    /// (R4). Where a part of new elements remains, all from its first on remain.
    pub fn subtract(&mut self, later: &Self) {
        self.nested.subtract(&later.nested);
        let Self { handles, nested } = self;
        // An array stays while some of its elements do, though the later list carries its count.
        handles.difference_unless(&later.handles, |handle| nested.get(handle).is_some());
    }

    /// Keeps the handles in `mask`.
    pub fn retain(&mut self, mask: &HandleSet) {
        self.handles.intersect(mask);
        self.nested.0.retain(|(handle, _)| mask.contains(*handle));
    }

    /// Drops the handles in `mask`.
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

    /// For each array of this list that also has new elements in `births`: its new elements too; each changed
    /// item that came into being in
    /// `births` goes whole (R2).
    pub fn extend_births(&mut self, births: &Self) {
        for (handle, births) in &births.nested.0 {
            if self.handles.contains(*handle) {
                match (births, self.nested.get_mut(*handle)) {
                    (Nested::Array(_), _) => self.nested.precede(*handle, births),
                    (_, None) => {}
                    (births, Some(ours)) => {
                        of_both!(ours, births, (ours, births) => ours.extend_births(births), _ => {});
                    }
                }
            }
        }
    }

    /// What came into being alone: what must go again with every later change of it until acked.
    #[must_use]
    pub fn births(&self) -> Self {
        let mut births = Self::new();
        for (handle, nested) in &self.nested.0 {
            if let Some(own) = nested.births() {
                births.handles.insert(*handle);
                births.nested.add(*handle, own);
            }
        }
        births
    }

    /// Of these births those are over that arrived with `list`, which was sent later or carried them: of an
    /// array in it all, of a collection those of its items.
    pub fn births_arrived(&mut self, list: &Self) {
        let Self { handles, nested } = self;
        nested.0.retain_mut(|(handle, births)| {
            if !list.handles.contains(*handle) {
                return true;
            }
            let is_left = match (births, list.nested.get(*handle)) {
                (Nested::Array(_), _) => false,
                (_, None) => true,
                (births, Some(list)) => {
                    of_both!(births, list, (births, list) => births.births_arrived(list), _ => true)
                }
            };
            if !is_left {
                handles.remove(*handle);
            }
            is_left
        });
    }

    /// Whether all births are of items of collections and entries of maps at the object's own level: then
    /// only changes of these items must watch over them.
    #[must_use]
    pub fn births_are_of_items(&self) -> bool {
        self.nested.0.iter().all(|(_, nested)| !matches!(nested, Nested::Array(_)))
    }

    /// Whether this list changes an item that came into being in `births`, or touches another property with
    /// births.
    #[must_use]
    pub fn touches_births(&self, births: &Self) -> bool {
        births.nested.0.iter().any(|(handle, births)| {
            self.handles.contains(*handle)
                && match (births, self.nested.get(*handle)) {
                    (Nested::Array(_), _) => true,
                    (_, None) => false,
                    (births, Some(ours)) => {
                        of_both!(ours, births, (ours, births) => ours.touches_births(births), _ => false)
                    }
                }
        })
    }

    /// What began collections anew must not do so again: the receiver may have some of them by now.
    pub fn soften(&mut self) {
        for (_, nested) in &mut self.nested.0 {
            of_elements!(nested, changes => changes.soften(), _ => {});
        }
    }

    /// About how many bytes the list holds on the heap: for what limits the memory of a connection. Lists
    /// within items and entries count as short. O(properties).
    #[inline]
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let nested = if self.nested.0.capacity() == 0 { 0 } else { self.nested.heap_bytes() };
        self.handles.heap_bytes() + nested
    }

    /// How many items or entries this names, if it is about one collection or map at the object's own level
    /// and nothing else; what a collection says can be sent in parts (R15).
    #[inline]
    #[must_use]
    pub fn items(&self) -> Option<usize> {
        let [(handle, nested)] = &self.nested.0[..] else { return None };
        let count = of_elements!(nested, changes => changes.count(), _ => return None);
        self.handles.iter().eq(std::iter::once(*handle)).then_some(count)
    }

    /// Takes out what the list says, if it is about one collection at the object's own level and nothing
    /// else.
    pub(crate) fn take_only(&mut self) -> Option<(u32, Nested)> {
        self.items()?;
        let only = self.nested.0.pop();
        self.clear();
        only
    }

    /// Takes out what the list says of one property.
    pub(crate) fn take_nested(&mut self, handle: u32) -> Option<Nested> {
        self.handles.remove(handle);
        let at = self.nested.0.binary_search_by_key(&handle, |(handle, _)| *handle).ok()?;
        Some(self.nested.0.remove(at).1)
    }

    /// Of what begins objects: the items of collections and the entries of maps at the object's own level
    /// move to the list that is given back, to be sent later; here they begin empty.
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
    fn has_births(&self) -> bool {
        self.has_births()
    }
    fn births(&self) -> Self {
        self.births()
    }
    fn merge(&mut self, later: &Self) {
        self.merge(later);
    }
    fn subtract(&mut self, later: &Self) {
        self.subtract(later);
    }
    fn extend_births(&mut self, births: &Self) {
        self.extend_births(births);
    }
    fn births_arrived(&mut self, list: &Self) {
        self.births_arrived(list);
    }
}

impl NestedChanges {
    const NONE: Self = Self(Vec::new());

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

    /// What changed of the array at `handle`.
    pub(crate) fn array(&self, handle: u32) -> Option<&ArrayChanges> {
        if let Nested::Array(array) = self.get(handle)? { Some(array) } else { None }
    }

    /// What changed of the collection at `handle`.
    pub(crate) fn items(&self, handle: u32) -> Option<&ElementChanges<ItemId>> {
        if let Nested::Items(changes) = self.get(handle)? { Some(changes) } else { None }
    }

    /// The same of a map.
    pub(crate) fn entries(&self, handle: u32) -> Option<&ElementChanges<KeyBits>> {
        if let Nested::Entries(changes) = self.get(handle)? { Some(changes) } else { None }
    }

    pub(crate) fn set(&mut self, handle: u32, nested: Nested) {
        match self.0.binary_search_by_key(&handle, |(handle, _)| *handle) {
            Ok(at) => self.0[at].1 = nested,
            Err(at) => self.0.insert(at, (handle, nested)),
        }
    }

    /// Adds later changes of one property.
    pub(crate) fn add(&mut self, handle: u32, later: Nested) {
        match self.0.binary_search_by_key(&handle, |(handle, _)| *handle) {
            Ok(at) => self.0[at].1.merge(&later),
            Err(at) => self.0.insert(at, (handle, later)),
        }
    }

    /// Adds earlier changes of one property: what is removed of a collection since then stays so.
    fn precede(&mut self, handle: u32, earlier: &Nested) {
        let mut all = earlier.clone();
        if let Some(ours) = self.get(handle) {
            all.merge(ours);
        }
        self.set(handle, all);
    }

    /// Calls `prune` for each property; of one that is left with nothing of its own only the handle stays.
    pub(crate) fn prune_each(&mut self, mut prune: impl FnMut(u32, &mut Nested)) {
        self.0.retain_mut(|(handle, nested)| {
            prune(*handle, nested);
            !nested.is_bare()
        });
    }

    fn has_births(&self) -> bool {
        self.0.iter().any(|(_, nested)| match nested {
            Nested::Array(array) => array.tail != u32::MAX || array.nested.has_births(),
            elements => of_elements!(elements, changes => changes.has_births(), _ => false),
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

impl From<ElementChanges<ItemId>> for Nested {
    fn from(changes: ElementChanges<ItemId>) -> Self {
        Self::Items(Box::new(changes))
    }
}

impl From<ElementChanges<KeyBits>> for Nested {
    fn from(changes: ElementChanges<KeyBits>) -> Self {
        Self::Entries(Box::new(changes))
    }
}

impl Nested {
    /// Whether nothing is said but that the property changed: of an array its count.
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

    fn births(&self) -> Option<Self> {
        match self {
            Self::Array(array) => array.births().map(Self::Array),
            elements => of_elements!(elements, changes => changes.births().map(Self::from), _ => None),
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
        if later.tail <= self.tail {
            self.tail = u32::MAX;
        }
        self.nested.subtract(&later.nested);
        // The same for a nested array as for one of the object: its handle stays while something of it does.
        self.edits.subtract(&later.edits);
        for (handle, _) in &self.nested.0 {
            self.edits.insert(*handle);
        }
    }

    fn births(&self) -> Option<Self> {
        let mut own = Self { tail: self.tail, ..Self::count_only() };
        for (handle, changes) in &self.nested.0 {
            if let Some(nested) = changes.births() {
                own.edits.insert(*handle);
                own.nested.set(*handle, nested);
            }
        }
        (!own.is_count_only()).then_some(own)
    }

    /// Drops what lies past `len` elements of `handles` handles each.
    pub(crate) fn prune(&mut self, len: u32, handles: u32) {
        if self.tail >= len {
            self.tail = u32::MAX;
        }
        let end = self.tail.min(len).saturating_mul(handles);
        self.edits.truncate(end);
        self.nested.0.retain(|(handle, _)| *handle < end);
    }
}
