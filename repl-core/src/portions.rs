//! Portions: what a list says of one collection or map, in the order in which it is to go, to be taken from the front part by part (R15).
//!
//! Invariant: what is to go is put in order once, and looked at no more before its turn; so cutting a list costs what it holds, into however many
//! parts it is cut.

use std::collections::VecDeque;

use crate::changelist::Changelist;
use crate::entries::{EntryChange, EntryChanges};
use crate::items::{ItemChange, ItemChanges, Sweep};
use crate::key::KeyBits;
use crate::ranges::RangeQueue;

/// What a list said of the items of one collection or the entries of one map: removals first, then the oldest changes, then births in the order of
/// their ids or keys.
///
/// Who sweeps comes last, and spares what the parts before brought, in whatever order they arrive.
#[derive(Clone, Debug)]
pub struct Portions {
    /// Of the collection or map, at the object's own level.
    handle: u32,
    queue: Queue,
}

#[derive(Clone, Debug)]
enum Queue {
    Items(ItemQueue),
    Entries(EntryQueue),
}

impl Portions {
    pub(crate) fn of_items(handle: u32, changes: ItemChanges) -> Self {
        Self { handle, queue: Queue::Items(ItemQueue::new(changes)) }
    }

    pub(crate) fn of_entries(handle: u32, changes: EntryChanges) -> Self {
        Self { handle, queue: Queue::Entries(EntryQueue::new(changes)) }
    }

    /// How many items or entries are left.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.queue {
            Queue::Items(items) => items.len(),
            Queue::Entries(entries) => entries.len(),
        }
    }

    /// Whether nothing is left to be said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.queue {
            Queue::Items(items) => items.is_empty(),
            Queue::Entries(entries) => entries.is_empty(),
        }
    }

    /// What concerns the first `count` items or entries; all that is left if there are no more than that. O(count), times its logarithm where what changed
    /// is of several ages.
    #[must_use]
    pub fn part(&self, count: usize) -> Changelist {
        let mut part = Changelist::new();
        match &self.queue {
            Queue::Items(items) => part.insert_items(self.handle, items.part(count)),
            Queue::Entries(entries) => part.insert_entries(self.handle, entries.part(count)),
        }
        part
    }

    /// Goes past what [`part`](Self::part) gives for `count`. O(count).
    pub fn skip(&mut self, count: usize) {
        match &mut self.queue {
            Queue::Items(items) => items.skip(count),
            Queue::Entries(entries) => entries.skip(count),
        }
    }

    /// What is left, as a list again. O(what is left), times its logarithm.
    #[must_use]
    pub fn into_list(self) -> Changelist {
        let mut list = Changelist::new();
        if self.is_empty() {
            return list;
        }
        match self.queue {
            Queue::Items(items) => list.insert_items(self.handle, items.into_changes()),
            Queue::Entries(entries) => list.insert_entries(self.handle, entries.into_changes()),
        }
        list
    }
}

/// What a list said of a collection.
#[derive(Clone, Debug, Default)]
pub(crate) struct ItemQueue {
    sweep: Sweep,
    removed: RangeQueue,
    /// The oldest first.
    changed: VecDeque<ItemChange>,
    born: RangeQueue,
}

impl ItemQueue {
    pub(crate) fn new(changes: ItemChanges) -> Self {
        let ItemChanges { sweep, removed, born, mut changed } = changes;
        changed.sort_by_key(|item| item.key);
        Self { sweep, removed: removed.into(), changed: changed.into(), born: born.into() }
    }

    pub(crate) fn len(&self) -> usize {
        self.removed.len() + self.changed.len() + self.born.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sweep == Sweep::None && self.len() == 0
    }

    pub(crate) fn part(&self, count: usize) -> ItemChanges {
        if count >= self.len() {
            return self.clone().into_changes();
        }
        let mut left = count;
        let removed = self.removed.first(&mut left);
        let mut changed: Vec<ItemChange> = self.changed.iter().take(left).cloned().collect();
        changed.sort_unstable_by_key(|item| item.id);
        left -= changed.len();
        ItemChanges { sweep: Sweep::None, removed, changed, born: self.born.first(&mut left) }
    }

    pub(crate) fn skip(&mut self, count: usize) {
        if count >= self.len() {
            *self = Self::default();
            return;
        }
        self.sweep = self.sweep.min(Sweep::Dead);
        let mut left = count;
        self.removed.skip(&mut left);
        let changed = left.min(self.changed.len());
        self.changed.drain(..changed);
        left -= changed;
        self.born.skip(&mut left);
    }

    pub(crate) fn into_changes(self) -> ItemChanges {
        let mut changed = Vec::from(self.changed);
        changed.sort_unstable_by_key(|item| item.id);
        ItemChanges { sweep: self.sweep, removed: self.removed.into(), changed, born: self.born.into() }
    }
}

/// What a list said of a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntryQueue {
    sweep: Sweep,
    whole: bool,
    removed: VecDeque<KeyBits>,
    /// The oldest first, those that go whole last.
    entries: VecDeque<(KeyBits, EntryChange)>,
}

impl EntryQueue {
    pub(crate) fn new(changes: EntryChanges) -> Self {
        let EntryChanges { sweep, whole, removed, entries } = changes;
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_by_key(|(_, change)| match change {
            EntryChange::Changed { age, .. } => *age,
            EntryChange::Born => u64::MAX,
        });
        Self { sweep, whole, removed: removed.into_iter().collect(), entries: entries.into() }
    }

    pub(crate) fn len(&self) -> usize {
        self.removed.len() + self.entries.len() + usize::from(self.whole)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sweep == Sweep::None && self.len() == 0
    }

    pub(crate) fn part(&self, count: usize) -> EntryChanges {
        if count >= self.len() {
            return self.clone().into_changes();
        }
        let left = count.saturating_sub(self.removed.len());
        EntryChanges {
            sweep: Sweep::None,
            whole: false,
            removed: self.removed.iter().take(count).cloned().collect(),
            entries: self.entries.iter().take(left).cloned().collect(),
        }
    }

    pub(crate) fn skip(&mut self, count: usize) {
        if count >= self.len() {
            *self = Self::default();
            return;
        }
        self.sweep = self.sweep.min(Sweep::Dead);
        let removed = count.min(self.removed.len());
        self.removed.drain(..removed);
        let entries = (count - removed).min(self.entries.len());
        self.entries.drain(..entries);
    }

    pub(crate) fn into_changes(self) -> EntryChanges {
        EntryChanges {
            sweep: self.sweep,
            whole: self.whole,
            removed: self.removed.into_iter().collect(),
            entries: self.entries.into_iter().collect(),
        }
    }
}
