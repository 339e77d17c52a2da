//! Changelists: which handles of one object changed, with nested sets for arrays (S58 to S62, S72).
//!
//! Invariant: sets are sorted and without repeats; an array that has a nested set is also in its level's own set, since its
//! count always travels with it (S92).

use crate::changes::entries::EntryChanges;
use crate::changes::items::{ItemChanges, Sweep};
use crate::changes::portions::Portions;
use crate::ids::handles::HandleSet;
use crate::ids::ranges::Ranges;

/// The handles of one object that changed, in ascending order, with nested changes for arrays.
///
/// A list is relative: *since when* is known to whoever holds it. Lists know no lengths; elements past an array's end are dropped when a
/// list is [pruned](crate::Class::prune) or encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changelist {
    pub(crate) handles: HandleSet,
    pub(crate) nested: NestedChanges,
}

/// Changes within arrays and collections by their handle at their level, ascending. An array without an entry changed its count only (S61).
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
    Items(Box<ItemChanges>),
    Entries(Box<EntryChanges>),
}

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

    /// Adds properties whole: for the arrays, collections and maps among them, every element they have.
    pub(crate) fn insert_whole(
        &mut self,
        handles: &HandleSet,
        arrays: &HandleSet,
        keyed: &HandleSet,
        maps: &HandleSet,
    ) {
        self.handles.union(handles);
        if handles.intersects(arrays) {
            for handle in handles.iter().filter(|&handle| arrays.contains(handle)) {
                self.nested.set(handle, Nested::Array(ArrayChanges::whole()));
            }
        }
        if handles.intersects(keyed) {
            for handle in handles.iter().filter(|&handle| keyed.contains(handle)) {
                self.nested.set(handle, Nested::Items(Box::new(ItemChanges::whole())));
            }
        }
        if handles.intersects(maps) {
            for handle in handles.iter().filter(|&handle| maps.contains(handle)) {
                self.nested.set(handle, Nested::Entries(Box::new(EntryChanges::whole())));
            }
        }
    }

    pub(crate) fn insert_array(&mut self, handle: u32, changes: ArrayChanges) {
        self.handles.insert(handle);
        if !changes.is_count_only() {
            self.nested.add(handle, Nested::Array(changes));
        }
    }

    pub(crate) fn insert_items(&mut self, handle: u32, changes: ItemChanges) {
        self.handles.insert(handle);
        self.nested.add(handle, Nested::Items(Box::new(changes)));
    }

    pub(crate) fn insert_entries(&mut self, handle: u32, changes: EntryChanges) {
        self.handles.insert(handle);
        self.nested.add(handle, Nested::Entries(Box::new(changes)));
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

    /// Whether the two may say something of the same: what is said of other items of the same collection, or of other entries of the same map, mostly
    /// does not meet. O(properties).
    #[must_use]
    pub fn may_meet(&self, other: &Self) -> bool {
        let mut both = self.handles.iter().filter(|&handle| other.handles.contains(handle));
        both.any(|handle| match (self.nested.get(handle), other.nested.get(handle)) {
            (Some(Nested::Items(one)), Some(Nested::Items(other))) => one.may_meet(other),
            (Some(Nested::Entries(one)), Some(Nested::Entries(other))) => one.may_meet(other),
            _ => true,
        })
    }

    /// Removes what `later` holds too: what was lost and has been sent again since need not go a third time (R4). Where a
    /// part of new elements remains, all from its first on remain.
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

    /// For each array of this list that also has new elements in `births`: its new elements too; each changed item that came into being in
    /// `births` goes whole (R2).
    pub fn extend_births(&mut self, births: &Self) {
        for (handle, births) in &births.nested.0 {
            if self.handles.contains(*handle) {
                match (births, self.nested.get_mut(*handle)) {
                    (Nested::Items(births), Some(Nested::Items(items))) => items.extend_births(births),
                    (Nested::Entries(births), Some(Nested::Entries(entries))) => {
                        entries.extend_births(births);
                    }
                    (Nested::Items(_) | Nested::Entries(_), _) => {}
                    (Nested::Array(_), _) => self.nested.precede(*handle, births),
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

    /// Of these births those are over that arrived with `list`, which was sent later or carried them: of an array in it all, of a collection those of its
    /// items.
    pub fn births_arrived(&mut self, list: &Self) {
        let Self { handles, nested } = self;
        nested.0.retain_mut(|(handle, births)| {
            if !list.handles.contains(*handle) {
                return true;
            }
            let is_left = match (births, list.nested.get(*handle)) {
                (Nested::Items(births), Some(Nested::Items(list))) => births.births_arrived(list),
                (Nested::Entries(births), Some(Nested::Entries(list))) => births.births_arrived(list),
                (Nested::Items(_) | Nested::Entries(_), _) => true,
                (Nested::Array(_), _) => false,
            };
            if !is_left {
                handles.remove(*handle);
            }
            is_left
        });
    }

    /// Whether all births are of items of collections and entries of maps at the object's own level: then only changes of these items must watch over them.
    #[must_use]
    pub fn births_are_of_items(&self) -> bool {
        self.nested.0.iter().all(|(_, nested)| matches!(nested, Nested::Items(_) | Nested::Entries(_)))
    }

    /// Whether this list changes an item that came into being in `births`, or touches another property with births.
    #[must_use]
    pub fn touches_births(&self, births: &Self) -> bool {
        births.nested.0.iter().any(|(handle, births)| {
            self.handles.contains(*handle)
                && match (births, self.nested.get(*handle)) {
                    (Nested::Items(births), Some(Nested::Items(items))) => items.touches_births(births),
                    (Nested::Entries(births), Some(Nested::Entries(entries))) => {
                        entries.touches_births(births)
                    }
                    (Nested::Items(_) | Nested::Entries(_), _) => false,
                    (Nested::Array(_), _) => true,
                }
        })
    }

    /// What began collections anew must not do so again: the receiver may have some of them by now.
    pub fn soften(&mut self) {
        for (_, nested) in &mut self.nested.0 {
            match nested {
                Nested::Items(items) => items.soften(),
                Nested::Entries(entries) => entries.soften(),
                Nested::Array(_) => {}
            }
        }
    }

    /// About how many bytes the list holds on the heap: for what limits the memory of a connection. Lists within items and entries count
    /// as short. O(properties).
    #[inline]
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let nested = if self.nested.0.capacity() == 0 { 0 } else { self.nested.heap_bytes() };
        self.handles.heap_bytes() + nested
    }

    /// How many items or entries this names, if it is about one collection or map at the object's own level and nothing else; what a collection says can be sent in
    /// parts (R15).
    #[inline]
    #[must_use]
    pub fn items(&self) -> Option<usize> {
        let [(handle, nested)] = &self.nested.0[..] else { return None };
        let count = match nested {
            Nested::Items(items) => items.items(),
            Nested::Entries(entries) => entries.items(),
            Nested::Array(_) => return None,
        };
        self.handles.iter().eq(std::iter::once(*handle)).then_some(count)
    }

    /// What the list says, to be sent in parts, if it is about one collection or map at the object's own level and nothing else; the list is empty then
    /// (R15). O(items), times its logarithm where they are of several ages.
    #[must_use]
    pub fn take_portions(&mut self) -> Option<Portions> {
        self.items()?;
        let (handle, nested) = self.nested.0.pop()?;
        self.clear();
        match nested {
            Nested::Items(items) => Some(Portions::of_items(handle, *items)),
            Nested::Entries(entries) => Some(Portions::of_entries(handle, *entries)),
            Nested::Array(_) => None,
        }
    }

    /// Takes out what the list says of one property.
    pub(crate) fn take_nested(&mut self, handle: u32) -> Option<Nested> {
        self.handles.remove(handle);
        let at = self.nested.0.binary_search_by_key(&handle, |(handle, _)| *handle).ok()?;
        Some(self.nested.0.remove(at).1)
    }

    /// Of what begins objects: the items of collections and the entries of maps at the object's own level move to the list that is given back, to be sent later; here they
    /// begin empty.
    #[must_use]
    pub fn take_items(&mut self) -> Self {
        let mut taken = Self::new();
        for (handle, nested) in &mut self.nested.0 {
            match nested {
                Nested::Items(items) => {
                    let begun = ItemChanges { sweep: items.sweep, ..ItemChanges::default() };
                    let items = ItemChanges { sweep: Sweep::None, ..std::mem::replace(&mut **items, begun) };
                    if !items.is_empty() {
                        taken.insert_items(*handle, items);
                    }
                }
                Nested::Entries(entries) => {
                    let begun = EntryChanges { sweep: entries.sweep, ..EntryChanges::default() };
                    let entries =
                        EntryChanges { sweep: Sweep::None, ..std::mem::replace(&mut **entries, begun) };
                    if !entries.is_empty() {
                        taken.insert_entries(*handle, entries);
                    }
                }
                Nested::Array(_) => {}
            }
        }
        taken
    }
}

impl NestedChanges {
    const NONE: Self = Self(Vec::new());

    fn heap_bytes(&self) -> usize {
        let nested = self.0.iter().map(|(_, nested)| match nested {
            Nested::Array(array) => array.edits.heap_bytes() + array.nested.heap_bytes(),
            Nested::Items(items) => items.heap_bytes(),
            Nested::Entries(entries) => entries.heap_bytes(),
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
        match self.get(handle)? {
            Nested::Array(array) => Some(array),
            _ => None,
        }
    }

    /// What changed of the collection at `handle`.
    pub(crate) fn items(&self, handle: u32) -> Option<&ItemChanges> {
        match self.get(handle)? {
            Nested::Items(items) => Some(items),
            _ => None,
        }
    }

    /// What changed of the map at `handle`.
    pub(crate) fn entries(&self, handle: u32) -> Option<&EntryChanges> {
        match self.get(handle)? {
            Nested::Entries(entries) => Some(entries),
            _ => None,
        }
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
            Nested::Items(items) => {
                items.has_births() || items.changed.iter().any(|item| item.list.has_births())
            }
            Nested::Entries(entries) => entries.has_births(),
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

impl Nested {
    /// Whether nothing is said but that the property changed: of an array its count.
    fn is_bare(&self) -> bool {
        match self {
            Self::Array(array) => array.is_count_only(),
            Self::Items(items) => items.is_empty(),
            Self::Entries(entries) => entries.is_empty(),
        }
    }

    fn merge(&mut self, later: &Self) {
        match (self, later) {
            (Self::Array(array), Self::Array(later)) => array.merge(later),
            (Self::Items(items), Self::Items(later)) => items.merge(later),
            (Self::Entries(entries), Self::Entries(later)) => entries.merge(later),
            _ => debug_assert!(false, "a handle is an array, a collection or a map, always"),
        }
    }

    fn subtract(&mut self, later: &Self) {
        match (self, later) {
            (Self::Array(array), Self::Array(later)) => array.subtract(later),
            (Self::Items(items), Self::Items(later)) => items.subtract(later),
            (Self::Entries(entries), Self::Entries(later)) => entries.subtract(later),
            _ => debug_assert!(false, "a handle is an array, a collection or a map, always"),
        }
    }

    fn births(&self) -> Option<Self> {
        match self {
            Self::Array(array) => array.births().map(Self::Array),
            Self::Items(items) => items.births().map(|births| Self::Items(Box::new(births))),
            Self::Entries(entries) => entries.births().map(|births| Self::Entries(Box::new(births))),
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
