//! Portions: what a list says of one collection or map, in the order in which it is to go, to be taken from the front part by part (R15).
//!
//! Invariant: what is to go is put in order once, and looked at no more before its turn; so cutting a list costs what it holds, into however many
//! parts it is cut.

use std::collections::BTreeSet;

use crate::changes::age_queue::AgeQueue;
use crate::changes::changelist::{Changelist, Nested};
use crate::changes::entries::{ENTRY_HEAP_BYTES, EntryChange, EntryChanges, MAX_REMOVED};
use crate::changes::items::{ItemChange, ItemChanges, MAX_REMOVED_RANGES, Sweep};
use crate::ids::handles::HandleSet;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::ids::ranges::RangeQueue;

/// What a list said of the items of one collection or the entries of one map: removals first, then the oldest changes, then births in the order of
/// their ids or keys. What [waits](Self::turn) has births before changes every other time, so that neither starves where the other never ends.
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

    /// About how many bytes this holds on the heap. O(1).
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match &self.queue {
            Queue::Items(items) => {
                items.removed.heap_bytes()
                    + items.born.heap_bytes()
                    + items.changed.len() * 2 * size_of::<(u64, ItemId, (bool, Changelist))>()
            }
            Queue::Entries(entries) => entries.len() * ENTRY_HEAP_BYTES,
        }
    }

    /// Whether the collection or map is among these properties.
    #[must_use]
    pub fn is_in(&self, handles: &HandleSet) -> bool {
        handles.contains(self.handle)
    }

    /// Takes over what a list says of the same collection or map, found later than what waits here. O(what it says), times the logarithm of what waits; only
    /// where something that waits goes, or comes before the others, O(what waits).
    pub fn add(&mut self, list: &mut Changelist) {
        match (&mut self.queue, list.take_nested(self.handle)) {
            (Queue::Items(items), Some(Nested::Items(later))) => items.add(*later),
            (Queue::Entries(entries), Some(Nested::Entries(later))) => entries.add(*later),
            (_, later) => debug_assert!(later.is_none(), "a handle is a collection or a map, always"),
        }
    }

    /// What is left waits for its next turn: then births go before changes, or again after them.
    pub fn turn(&mut self) {
        let first = match &mut self.queue {
            Queue::Items(items) => &mut items.first,
            Queue::Entries(entries) => &mut entries.first,
        };
        *first = match first {
            First::Changes => First::Births,
            First::Births => First::Changes,
        };
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
}

/// What goes first, when all removals have gone.
#[derive(Clone, Copy, Debug, Default)]
enum First {
    #[default]
    Changes,
    Births,
}

impl First {
    /// How many of so many changes and births are among the first `count` of both.
    fn share(self, count: usize, changes: usize, births: usize) -> (usize, usize) {
        match self {
            Self::Changes => (count.min(changes), count.saturating_sub(changes).min(births)),
            Self::Births => (count.saturating_sub(births).min(changes), count.min(births)),
        }
    }
}

/// What a list said of a collection.
#[derive(Clone, Debug, Default)]
pub(crate) struct ItemQueue {
    first: First,
    sweep: Sweep,
    removed: RangeQueue,
    /// What changed, and whether the label did.
    changed: AgeQueue<ItemId, (bool, Changelist)>,
    born: RangeQueue,
}

fn item_change((key, id, (moved, list)): (u64, ItemId, (bool, Changelist))) -> ItemChange {
    ItemChange { id, key, moved, list }
}

fn aged_item(ItemChange { id, key, moved, list }: ItemChange) -> (u64, ItemId, (bool, Changelist)) {
    (key, id, (moved, list))
}

impl ItemQueue {
    pub(crate) fn new(changes: ItemChanges) -> Self {
        let ItemChanges { sweep, removed, born, changed } = changes;
        let changed = AgeQueue::new(changed.into_iter().map(aged_item).collect());
        Self { first: First::default(), sweep, removed: removed.into(), changed, born: born.into() }
    }

    pub(crate) fn len(&self) -> usize {
        self.removed.len() + self.changed.len() + self.born.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sweep == Sweep::None && self.len() == 0
    }

    /// Adds what happened later, as [`ItemChanges::merge`] does.
    pub(crate) fn add(&mut self, later: ItemChanges) {
        self.sweep = self.sweep.max(later.sweep);
        self.removed.exchange(&later.born, &later.removed);
        if self.removed.stretches() > MAX_REMOVED_RANGES {
            self.removed = RangeQueue::default();
            self.sweep = self.sweep.max(Sweep::Dead);
        }
        self.born.exchange(&later.removed, &later.born);
        if later.removed.count() + later.born.count() < self.changed.len() {
            self.changed.remove(later.removed.iter().chain(later.born.iter()).filter_map(ItemId::new));
        } else {
            let is_over = |id: u32| later.removed.contains(id) || later.born.contains(id);
            self.changed.remove_where(|id| is_over(id.number()));
        }
        let (removed, born) = (&self.removed, &self.born);
        let is_news = |id: ItemId| !removed.contains(id.number()) && !born.contains(id.number());
        let found = later.changed.into_iter().filter(|item| is_news(item.id)).map(aged_item);
        self.changed.add(found, |(moved, list), (later_moved, later)| {
            *moved |= later_moved;
            list.merge(later);
        });
    }

    pub(crate) fn part(&self, count: usize) -> ItemChanges {
        let mut left = count;
        let removed = self.removed.first(&mut left);
        let (changes, mut births) = self.first.share(left, self.changed.len(), self.born.len());
        let changed = self.changed.iter().take(changes).cloned().map(item_change);
        let mut changed: Vec<ItemChange> = changed.collect();
        changed.sort_unstable_by_key(|item| item.id);
        let sweep = if count >= self.len() { self.sweep } else { Sweep::None };
        ItemChanges { sweep, removed, changed, born: self.born.first(&mut births) }
    }

    pub(crate) fn skip(&mut self, count: usize) {
        if count >= self.len() {
            *self = Self::default();
            return;
        }
        self.sweep = self.sweep.min(Sweep::Dead);
        let mut left = count;
        self.removed.skip(&mut left);
        let (changes, mut births) = self.first.share(left, self.changed.len(), self.born.len());
        self.changed.skip(changes);
        self.born.skip(&mut births);
    }
}

/// What a list said of a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntryQueue {
    first: First,
    sweep: Sweep,
    whole: bool,
    removed: BTreeSet<KeyBits>,
    changed: AgeQueue<KeyBits, Changelist>,
    /// What goes whole.
    born: BTreeSet<KeyBits>,
}

/// Entries of a list: those that go whole, and those that changed.
type Sorted = (BTreeSet<KeyBits>, Vec<(u64, KeyBits, Changelist)>);

fn sorted(entries: impl Iterator<Item = (KeyBits, EntryChange)>) -> Sorted {
    let (mut born, mut changed) = (Vec::new(), Vec::new());
    for (key, change) in entries {
        match change {
            EntryChange::Born => born.push(key),
            EntryChange::Changed { age, list } => changed.push((age, key, list)),
        }
    }
    (born.into_iter().collect(), changed)
}

impl EntryQueue {
    pub(crate) fn new(changes: EntryChanges) -> Self {
        let EntryChanges { sweep, whole, removed, entries } = changes;
        let (born, changed) = sorted(entries.into_iter());
        Self { first: First::default(), sweep, whole, removed, changed: AgeQueue::new(changed), born }
    }

    pub(crate) fn len(&self) -> usize {
        self.removed.len() + self.changed.len() + self.born.len() + usize::from(self.whole)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sweep == Sweep::None && self.len() == 0
    }

    /// Adds what happened later, as [`EntryChanges::merge`] does.
    pub(crate) fn add(&mut self, later: EntryChanges) {
        if self.whole || later.whole {
            let mut all = self.part(self.len());
            all.merge(&later);
            *self = Self::new(all);
            return;
        }
        self.sweep = self.sweep.max(later.sweep);
        let (born, mut changed) = sorted(later.entries.into_iter());
        self.changed.remove(later.removed.iter().chain(&born).cloned());
        later.removed.iter().for_each(|key| _ = self.born.remove(key));
        self.removed.extend(later.removed);
        born.iter().for_each(|key| _ = self.removed.remove(key));
        self.born.extend(born);
        changed.retain(|(_, key, _)| !self.born.contains(key) && !self.removed.contains(key));
        self.changed.add(changed.into_iter(), Changelist::merge);
        if self.removed.len() > MAX_REMOVED {
            self.removed.clear();
            self.sweep = self.sweep.max(Sweep::Dead);
        }
    }

    pub(crate) fn part(&self, count: usize) -> EntryChanges {
        let left = count.saturating_sub(self.removed.len());
        let (changes, births) = self.first.share(left, self.changed.len(), self.born.len());
        let changed = self.changed.iter().take(changes).cloned();
        let changed = changed.map(|(age, key, list)| (key, EntryChange::Changed { age, list }));
        let born = self.born.iter().take(births).map(|key| (key.clone(), EntryChange::Born));
        let is_all = count >= self.len();
        EntryChanges {
            sweep: if is_all { self.sweep } else { Sweep::None },
            whole: is_all && self.whole,
            removed: self.removed.iter().take(count).cloned().collect(),
            entries: changed.chain(born).collect(),
        }
    }

    pub(crate) fn skip(&mut self, count: usize) {
        if count >= self.len() {
            *self = Self::default();
            return;
        }
        self.sweep = self.sweep.min(Sweep::Dead);
        let mut left = count;
        while left > 0 && self.removed.pop_first().is_some() {
            left -= 1;
        }
        let (changes, births) = self.first.share(left, self.changed.len(), self.born.len());
        self.changed.skip(changes);
        (0..births).for_each(|_| _ = self.born.pop_first());
    }
}
