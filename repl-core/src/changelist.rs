//! Changelists: which handles of one object changed, with nested sets for arrays (S58 to S62, S72).
//!
//! Invariant: sets are sorted and without repeats; an array that has a nested set is also in its level's own set, since its
//! count always travels with it (S92).

use crate::handles::HandleSet;
use crate::ranges::Ranges;

/// The handles of one object that changed, in ascending order, with nested changes for arrays.
///
/// A list is relative: *since when* is known to whoever holds it. Lists know no lengths; elements past an array's end are dropped when a
/// list is [pruned](crate::Class::prune) or encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changelist {
    pub(crate) handles: HandleSet,
    pub(crate) arrays: NestedChanges,
}

/// Changes of arrays by the handle of the array at its level, ascending. An array without an entry changed its count only (S61).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NestedChanges(Vec<(u32, ArrayChanges)>);

/// What changed in one array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArrayChanges {
    /// Elements from here on came into being and go whole until acked (R2); `u32::MAX` for none.
    pub(crate) tail: u32,
    /// Element handles (S20, counted from zero) before the tail.
    pub(crate) edits: Ranges,
    /// Arrays inside elements before the tail, by element handle.
    pub(crate) arrays: NestedChanges,
}

impl Changelist {
    /// An empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self { handles: HandleSet::new(), arrays: NestedChanges(Vec::new()) }
    }

    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// Forgets all, keeping the memory.
    pub fn clear(&mut self) {
        self.handles.clear();
        self.arrays.0.clear();
    }

    /// The changed handles of the object's own level.
    #[must_use]
    pub fn handles(&self) -> &HandleSet {
        &self.handles
    }

    /// Adds a handle that is no array, or an array of which only the count changed. Counted from one (S18).
    pub fn insert(&mut self, handle: u32) {
        self.handles.insert(handle);
    }

    /// Adds properties whole: for those in `arrays`, every element they have.
    pub(crate) fn insert_whole(&mut self, handles: &HandleSet, arrays: &HandleSet) {
        self.handles.union(handles);
        if handles.intersects(arrays) {
            for handle in handles.iter().filter(|&handle| arrays.contains(handle)) {
                *self.arrays.entry(handle) = ArrayChanges::whole();
            }
        }
    }

    pub(crate) fn insert_array(&mut self, handle: u32, changes: ArrayChanges) {
        self.handles.insert(handle);
        if !changes.is_count_only() {
            self.arrays.entry(handle).merge(&changes);
        }
    }

    /// Whether any array, at any depth, has elements that came into being.
    #[must_use]
    pub fn has_births(&self) -> bool {
        self.arrays.has_births()
    }

    /// Adds all changes of `other`: the ordered union of S72, without pruning.
    pub fn merge(&mut self, other: &Self) {
        self.handles.union(&other.handles);
        self.arrays.merge(&other.arrays);
    }

    /// Removes what `later` holds too: what was lost and has been sent again since need not go a third time (R4). Where a
    /// part of new elements remains, all from its first on remain.
    pub fn subtract(&mut self, later: &Self) {
        self.arrays.subtract(&later.arrays);
        let Self { handles, arrays } = self;
        // An array stays while some of its elements do, though the later list carries its count.
        handles.difference_unless(&later.handles, |handle| arrays.get(handle).is_some());
    }

    /// Keeps the handles in `mask`.
    pub fn retain(&mut self, mask: &HandleSet) {
        self.handles.intersect(mask);
        self.arrays.0.retain(|(handle, _)| mask.contains(*handle));
    }

    /// Drops the handles in `mask`.
    pub fn remove(&mut self, mask: &HandleSet) {
        self.handles.difference(mask);
        self.arrays.0.retain(|(handle, _)| !mask.contains(*handle));
    }

    /// Moves the handles that are not in `mask` to `rest`.
    pub fn split(&mut self, mask: &HandleSet, rest: &mut Self) {
        if self.handles.is_subset(mask) {
            return;
        }
        let mut removed = self.clone();
        removed.handles.difference(mask);
        removed.arrays.0.retain(|(handle, _)| !mask.contains(*handle));
        self.retain(mask);
        rest.merge(&removed);
    }

    /// For each array of this list at the top level that also has new elements in `births`: its new elements too (R2).
    pub fn extend_births(&mut self, births: &Self) {
        for (handle, changes) in &births.arrays.0 {
            if self.handles.contains(*handle) {
                self.arrays.entry(*handle).merge(changes);
            }
        }
    }

    /// The arrays with new elements alone: what must go again with every later change of these arrays until acked.
    #[must_use]
    pub fn births(&self) -> Self {
        let mut births = Self::new();
        for (handle, changes) in &self.arrays.0 {
            if let Some(own) = changes.births() {
                births.insert_array(*handle, own);
            }
        }
        births
    }
}

impl NestedChanges {
    pub(crate) fn get(&self, handle: u32) -> Option<&ArrayChanges> {
        let at = self.0.binary_search_by_key(&handle, |(handle, _)| *handle).ok()?;
        self.0.get(at).map(|(_, changes)| changes)
    }

    /// The changes of the array `handle`, at first none but its count.
    pub(crate) fn entry(&mut self, handle: u32) -> &mut ArrayChanges {
        let at = match self.0.binary_search_by_key(&handle, |(handle, _)| *handle) {
            Ok(at) => at,
            Err(at) => {
                self.0.insert(at, (handle, ArrayChanges::count_only()));
                at
            }
        };
        &mut self.0[at].1
    }

    /// Calls `prune` for each array; of one that is left with its count alone only the handle stays.
    pub(crate) fn prune_each(&mut self, mut prune: impl FnMut(u32, &mut ArrayChanges)) {
        self.0.retain_mut(|(handle, changes)| {
            prune(*handle, changes);
            !changes.is_count_only()
        });
    }

    fn has_births(&self) -> bool {
        self.0.iter().any(|(_, changes)| changes.tail != u32::MAX || changes.arrays.has_births())
    }

    fn merge(&mut self, other: &Self) {
        for (handle, changes) in &other.0 {
            self.entry(*handle).merge(changes);
        }
    }

    fn subtract(&mut self, later: &Self) {
        self.0.retain_mut(|(handle, changes)| {
            if let Some(later) = later.get(*handle) {
                changes.subtract(later);
            }
            !changes.is_count_only()
        });
    }
}

impl ArrayChanges {
    pub(crate) const fn count_only() -> Self {
        Self { tail: u32::MAX, edits: Ranges::new(), arrays: NestedChanges(Vec::new()) }
    }

    pub(crate) const fn whole() -> Self {
        Self { tail: 0, edits: Ranges::new(), arrays: NestedChanges(Vec::new()) }
    }

    pub(crate) fn is_count_only(&self) -> bool {
        self.tail == u32::MAX && self.edits.is_empty() && self.arrays.0.is_empty()
    }

    fn merge(&mut self, other: &Self) {
        self.tail = self.tail.min(other.tail);
        self.edits.union(&other.edits);
        self.arrays.merge(&other.arrays);
    }

    fn subtract(&mut self, later: &Self) {
        if later.tail <= self.tail {
            self.tail = u32::MAX;
        }
        self.arrays.subtract(&later.arrays);
        // The same for a nested array as for one of the object: its handle stays while something of it does.
        self.edits.subtract(&later.edits);
        for (handle, _) in &self.arrays.0 {
            self.edits.insert(*handle);
        }
    }

    fn births(&self) -> Option<Self> {
        let mut own = Self { tail: self.tail, ..Self::count_only() };
        for (handle, changes) in &self.arrays.0 {
            if let Some(nested) = changes.births() {
                own.edits.insert(*handle);
                *own.arrays.entry(*handle) = nested;
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
        self.arrays.0.retain(|(handle, _)| *handle < end);
    }
}
