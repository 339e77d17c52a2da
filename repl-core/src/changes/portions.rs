//! Portions: the changes of one collection (a fast array or a map) in the order of sending. The caller takes
//! parts of a chosen size from the front of the portions (R15).
//!
//! *Invariant:* the changes of a collection are sorted only once, and after that each change is visited only
//! when it is sent. So writing all parts together costs O(changes), for any number of parts.

use crate::changes::age_queue::AgeQueue;
use crate::changes::changelist::{Changelist, ElementChange, ElementChanges, Nested};
use crate::changes::element_changes::{MAX_REMOVED, Sweep};
use crate::ids::handles::HandleSet;
use crate::ids::identity::{IdSet, Identity};
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;

/// The changes of the elements of one collection: removals come first, then changed elements with the oldest
/// changes first, then new elements in the order of their ids or keys. Every [rotation](Self::rotate) swaps
/// changed and new elements in the order of sending, so that neither of the two waits forever.
///
/// A sweep makes the receiver remove all elements that do not exist on the server. The sweep is in the last
/// part. It does not remove the elements that other parts add, even if the parts arrive in another order.
#[derive(Clone, Debug)]
pub struct Portions {
    /// The handle of the collection, which is a property of the object itself.
    handle: u32,
    queue: Queue,
}

#[derive(Clone, Debug)]
enum Queue {
    Items(ElementQueue<ItemId>),
    Entries(ElementQueue<KeyBits>),
}

/// Expands to the same code for the queue of a fast array and for the queue of a map.
macro_rules! each_queue {
    ($queue:expr, $elements:ident => $then:expr) => {
        match $queue {
            Queue::Items($elements) => $then,
            Queue::Entries($elements) => $then,
        }
    };
}

impl Changelist {
    /// Takes all changes out of the changelist, to send them in parts, if the changelist changes one
    /// collection or map of the object itself (not inside an element) and nothing else. Costs O(items), or
    /// O(items × log items) if the changes have several ages.
    #[must_use]
    pub fn take_portions(&mut self) -> Option<Portions> {
        let (handle, nested) = self.take_only()?;
        Portions::of(handle, nested)
    }
}

impl Portions {
    /// Makes portions of the changes of the property at `handle`. Returns `None` if the property is not a
    /// collection.
    fn of(handle: u32, nested: Nested) -> Option<Self> {
        let queue = match nested {
            Nested::Items(changes) => Queue::Items(ElementQueue::new(*changes)),
            Nested::Entries(changes) => Queue::Entries(ElementQueue::new(*changes)),
            Nested::Array(_) => return None,
        };
        Some(Self { handle, queue })
    }

    /// Returns about how many bytes the portions take on the heap. Costs O(1).
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        each_queue!(&self.queue, elements => elements.heap_bytes())
    }

    /// Returns the handle of the collection, which is a property of the object itself.
    #[must_use]
    pub fn handle(&self) -> u32 {
        self.handle
    }

    /// Returns whether `handles` contains the collection.
    #[must_use]
    pub fn is_in(&self, handles: &HandleSet) -> bool {
        handles.contains(self.handle)
    }

    /// Removes the changes of the same collection from a later changelist and adds them to the portions.
    /// Costs O(added changes × log waiting changes). Costs O(waiting changes) only if the added changes
    /// remove a waiting element or are older than waiting changes.
    pub fn add(&mut self, list: &mut Changelist) {
        match (&mut self.queue, list.take_nested(self.handle)) {
            (Queue::Items(items), Some(Nested::Items(later))) => items.add(*later),
            (Queue::Entries(entries), Some(Nested::Entries(later))) => entries.add(*later),
            (_, later) => debug_assert!(later.is_none(), "a handle is one kind of collection, always"),
        }
    }

    /// Swaps the order in which new elements and changed elements are sent in the next tick. Call this
    /// function if only some parts were sent in a tick.
    pub fn rotate(&mut self) {
        each_queue!(&mut self.queue, elements => elements.added_first ^= true);
    }

    /// Returns how many elements are still to be sent.
    #[must_use]
    pub fn len(&self) -> usize {
        each_queue!(&self.queue, elements => elements.len())
    }

    /// Returns whether all elements have been sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        each_queue!(&self.queue, elements => elements.is_empty())
    }

    /// Returns the changes of the first `count` elements, or of all elements if there are fewer. Costs
    /// O(count), times the logarithm of `count` if the changes have several ages.
    #[must_use]
    pub fn part(&self, count: usize) -> Changelist {
        let mut part = Changelist::new();
        each_queue!(&self.queue, elements => part.insert_nested(self.handle, elements.part(count)));
        part
    }

    /// Removes the changes that [`part`](Self::part) returns for `count`. Costs O(count).
    pub fn skip(&mut self, count: usize) {
        each_queue!(&mut self.queue, elements => elements.skip(count));
    }
}

/// The changes of one collection in the order in which they are sent.
#[derive(Clone, Debug)]
pub(crate) struct ElementQueue<I: Identity> {
    /// Whether new elements are sent before changed elements.
    added_first: bool,
    sweep: Sweep,
    removed: I::Set,
    changed: AgeQueue<I>,
    /// New elements, which are sent whole.
    added: I::Set,
    /// The number of removed elements and the number of new elements.
    counts: (usize, usize),
}

impl<I: Identity> ElementQueue<I> {
    pub(crate) fn new(changes: ElementChanges<I>) -> Self {
        let ElementChanges { sweep, removed, added, changed } = changes;
        let changed = AgeQueue::new(changed);
        let counts = (removed.count(), added.count());
        Self { added_first: false, sweep, removed, changed, added, counts }
    }

    fn heap_bytes(&self) -> usize {
        let changed = self.changed.len() * 2 * size_of::<ElementChange<I>>();
        self.removed.heap_bytes() + self.added.heap_bytes() + changed
    }

    pub(crate) fn len(&self) -> usize {
        self.counts.0 + self.changed.len() + self.counts.1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sweep == Sweep::None && self.len() == 0
    }

    /// Adds later changes in the same way as [`ElementChanges::merge`].
    pub(crate) fn add(&mut self, later: ElementChanges<I>) {
        if self.added.is_all() || later.added.is_all() {
            let mut all = self.part(self.len());
            all.merge(&later);
            *self = Self::new(all);
            return;
        }
        self.sweep = self.sweep.max(later.sweep);
        if !later.removed.is_empty() || !later.added.is_empty() {
            self.removed.subtract(&later.added);
            self.removed.union(&later.removed);
            if self.removed.stretch_count() > MAX_REMOVED {
                self.removed = I::Set::default();
                self.sweep = self.sweep.max(Sweep::Dead);
            }
            self.added.subtract(&later.removed);
            self.added.union(&later.added);
            self.counts = (self.removed.count(), self.added.count());
        }
        if later.removed.count() + later.added.count() < self.changed.len() {
            self.changed.remove(later.removed.iter().chain(later.added.iter()));
        } else {
            self.changed.remove_where(|id| later.removed.contains(id) || later.added.contains(id));
        }
        let (removed, added) = (&self.removed, &self.added);
        let mut found = later.changed;
        found.retain(|element| !removed.contains(&element.id) && !added.contains(&element.id));
        self.changed.add(found);
    }

    /// Returns how many of the first `count` elements are changed elements, and how many are new elements.
    /// The elements are counted in the order in which they are sent.
    fn share(&self, count: usize) -> (usize, usize) {
        let (changes, new_elements) = (self.changed.len(), self.counts.1);
        if self.added_first {
            (count.saturating_sub(new_elements).min(changes), count.min(new_elements))
        } else {
            (count.min(changes), count.saturating_sub(changes).min(new_elements))
        }
    }

    pub(crate) fn part(&self, count: usize) -> ElementChanges<I> {
        let (changes, new_elements) = self.share(count.saturating_sub(self.counts.0));
        let mut changed: Vec<_> = self.changed.iter().take(changes).cloned().collect();
        changed.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        let sweep = if count >= self.len() { self.sweep } else { Sweep::None };
        ElementChanges {
            sweep,
            removed: self.removed.first(count),
            changed,
            added: self.added.first(new_elements),
        }
    }

    pub(crate) fn skip(&mut self, count: usize) {
        if count >= self.len() {
            *self = Self::new(ElementChanges::default());
            return;
        }
        self.sweep = self.sweep.min(Sweep::Dead);
        let removed = count.min(self.counts.0);
        let (changes, new_elements) = self.share(count - removed);
        self.removed.skip(removed);
        self.changed.skip(changes);
        self.added.skip(new_elements);
        self.counts = (self.counts.0 - removed, self.counts.1 - new_elements);
    }
}
