//! [`OrderedFastArray`]: items in a tree. Each item has an id by which clients identify it, and a label that
//! represents its position (R13).
//!
//! *Invariant:* the labels of an array ascend in the order of its items, and items with equal labels are
//! ordered by id. The items are in the order of their labels between calls, on live arrays and on replicas,
//! but not on shadows.

mod convert;
mod edit;
mod following;
mod guard;
mod iter;
mod keyed;
mod labelled_item;
mod labels;
mod moves;
mod neighbours;
mod notes;
mod relabel;
mod replica;
mod runs;
mod search;

use std::ops::{Range, RangeBounds};

use repl_core::ItemId;
use repl_core::label::Label;

use crate::ids::IdCounter;
use crate::indices::bounds;
use crate::marks::ItemLog;
use crate::replica::Receipt;
use crate::sequence::{Key, Sequence};

pub use guard::IterMut;
pub use iter::{IntoIter, Iter};

use labelled_item::LabelledItem;
use notes::Notes;

/// An array whose items have the same order on every client as on the server.
///
/// Inserting, removing and moving an item cost O(log n) at any index, on the server and on clients, and a few
/// bytes on the wire. The position of an item is sent as a short label, and the labels of other items do not
/// change. The disadvantage is that the array is a tree and not a slice. So an ordered array does not
/// dereference to a slice, and finding an item by index costs O(log n). All methods of an ordered array cost
/// O(log n) unless their documentation says otherwise. If the order does not matter, use a
/// [`FastArray`](crate::FastArray).
///
/// ```
/// # use repl_fastarray as repl;
/// use repl::OrderedFastArray;
///
/// let mut tasks: OrderedFastArray<String> = ["sow", "harvest"].map(String::from).into();
/// let id = tasks.insert(1, "water".to_owned());
/// tasks.move_item(2, 0);
/// assert_eq!(tasks, ["harvest", "sow", "water"]);
/// assert_eq!(tasks.index_of(id), Some(2)); // ids stay with their items
/// tasks[2].push_str(" twice"); // marks this one item, so that it is sent
/// ```
///
/// The ways to write to items, and the items that each way marks, are the same as for a
/// [`FastArray`](crate::FastArray#ways-to-write), but there is no `unmarked_slice_mut`. The
/// [limits](crate::FastArray#limits) are the same as for a [`FastArray`](crate::FastArray).
///
/// # Ids
///
/// Ids work in the same way as in a [`FastArray`](crate::FastArray#ids). If an array is assigned over another
/// array, all its items are new, and they get other ids at the next tick if necessary. To remove some items,
/// use [`retain`](Self::retain). An item that is removed and inserted elsewhere is a new item. To keep the id
/// of an item, [move](Self::move_item) the item instead.
///
/// To remember a position, store the id of the item next to it:
///
/// ```
/// # use repl_fastarray::OrderedFastArray;
/// let mut text: OrderedFastArray<char> = "repication".chars().collect();
/// let cursor = text.id(2).unwrap();
/// text.drain(..2); // the id still finds the item at its new index
/// let inserted = text.insert_after(cursor, 'l');
/// assert_eq!(text.iter().collect::<String>(), "plication");
/// assert!(text.move_before(inserted.unwrap(), cursor));
/// assert_eq!(text.range(..3).collect::<String>(), "lpi");
/// ```
///
/// # On clients
///
/// The server moves items with the methods of the live array. A client's own code may add items, which keep
/// their positions between the items of the server. All other edits of a client, such as moved items, may be
/// undone by the next update of the array.
///
/// When [callbacks](crate::ItemCallbacks) run, new and moved items are already in their final order. Removing
/// an item does not change the order of the other items. An update that only moves items calls the functions
/// for the whole array, with an empty list of indices. Moved items are not reported as changed.
///
/// # Cost
///
/// An array takes 56 bytes (on 64-bit machines) in its object, and 56 bytes in the shadow, the copy that
/// the server keeps of the object. An array that never had items has no other memory. The first item
/// allocates about 600 bytes for the array and its tree. Each item needs about 40 bytes of memory in
/// addition to its own size. After the first lookup by id, each item needs 16 to 32 bytes more. The list
/// of changed items has at most about two entries of 8 bytes for each item.
pub struct OrderedFastArray<T> {
    /// The items. The items of a shadow (the server's copy with the values that it compared last) are in no
    /// particular order.
    items: Sequence<LabelledItem<T>>,
    /// The notes on the items. An array that never had items has none.
    notes: Option<Box<Notes>>,
    id_counter: IdCounter,
    log: ItemLog,
    /// In a client's replica, the results of the update that is being received.
    receipt: Option<Box<Receipt>>,
}

impl<T> OrderedFastArray<T> {
    /// Returns an empty array. `new` allocates no memory.
    #[must_use]
    pub fn new() -> Self {
        Self::with_next_id(ItemId::FIRST)
    }

    /// Returns an empty array. The first item that is added receives the id `next`. Clones use
    /// `with_next_id`, and so do tests of the end of the id range.
    #[doc(hidden)]
    #[must_use]
    pub fn with_next_id(next: ItemId) -> Self {
        Self {
            items: Sequence::new(),
            notes: None,
            id_counter: IdCounter::starting(next),
            log: ItemLog::default(),
            receipt: None,
        }
    }

    /// Returns the number of items. Costs O(1).
    #[must_use]
    pub const fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether the array has no items. Costs O(1).
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns how many items fit into the array without another allocation for items. The tree that orders
    /// the items allocates memory separately.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.items.capacity()
    }

    /// Reserves memory for `additional` more items.
    pub fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
    }

    /// Returns the item at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.items.get(index).map(|entry| &entry.item)
    }

    /// Returns the first item.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// Returns the last item.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Returns the id of the item at `index`. The item keeps its id wherever it moves in the array, and no
    /// other item receives the id.
    #[must_use]
    pub fn id(&self, index: usize) -> Option<ItemId> {
        self.items.get(index).map(|entry| entry.id)
    }

    /// Returns the ids of the items, in the order of the items.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ItemId> + ExactSizeIterator {
        self.items.iter().map(|entry| entry.id)
    }

    /// Returns the index of the item `id`. Costs O(n) for the first lookup by id.
    #[must_use]
    pub fn index_of(&self, id: ItemId) -> Option<usize> {
        self.items.index_of(self.key(id)?)
    }

    /// Returns the item with the id `id`. Costs O(1), but O(n) for the first lookup by id.
    #[must_use]
    pub fn by_id(&self, id: ItemId) -> Option<&T> {
        self.entry(id).map(|entry| &entry.item)
    }

    /// Returns an iterator over the items in their order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, T> {
        self.iter_from(0)
    }

    /// Returns an iterator over the items from `index` on. The iterator is empty if `index` is greater than
    /// the length. Costs O(log n), and then O(1) for each item on average.
    #[must_use]
    pub fn iter_from(&self, index: usize) -> Iter<'_, T> {
        self.range(index.min(self.len())..)
    }

    /// Returns an iterator over the items at the indices in `range`. Costs O(log n), and then O(1) for each
    /// item on average.
    ///
    /// # Panics
    /// Panics if the range ends before it starts, or if it ends after the end of the array.
    #[must_use]
    #[track_caller]
    pub fn range(&self, range: impl RangeBounds<usize>) -> Iter<'_, T> {
        Iter::new(self.items.iter_range(bounds(range, self.len())))
    }

    /// Returns the key under which the item `id` is stored.
    fn key(&self, id: ItemId) -> Option<Key> {
        self.notes.as_ref()?.key(id, &self.items)
    }

    fn notes_mut(&mut self) -> &mut Notes {
        self.notes.get_or_insert_default()
    }

    pub(crate) fn next_id_of_copies(&self) -> ItemId {
        self.id_counter.next_for_copies()
    }

    fn entry(&self, id: ItemId) -> Option<&LabelledItem<T>> {
        self.items.by_key(self.key(id)?)
    }

    fn keys(&self, range: Range<usize>) -> Vec<Key> {
        self.items.keys_from(range.start).take(range.len()).collect()
    }

    fn label_of(&self, key: Option<Key>) -> Option<&Label> {
        self.items.by_key(key?).map(|entry| &entry.label)
    }

    fn insert_entry(&mut self, index: usize, entry: LabelledItem<T>) -> Key {
        let id = entry.id;
        let key = self.items.insert(index, entry);
        self.notes_mut().insert(id, key);
        key
    }

    fn take(&mut self, key: Key) -> Option<T> {
        self.take_entry(key).map(|entry| entry.item)
    }

    fn take_entry(&mut self, key: Key) -> Option<LabelledItem<T>> {
        let Self { items, notes, log, .. } = self;
        let notes = notes.as_mut()?;
        notes.runs.removed(key, || items.key_at(items.index_of(key)?.checked_sub(1)?));
        let entry = items.remove_key(key)?;
        notes.remove(entry.id);
        log.remove(entry.id, key.number(), items.len());
        Some(entry)
    }

    fn touch(&mut self, key: Key) {
        if let Some(entry) = self.items.by_key(key) {
            self.log.touch(entry.id, key.number(), self.items.len());
        }
    }
}

const _: () = assert!(size_of::<OrderedFastArray<u64>>() <= 64, "many arrays stand in items of others");
