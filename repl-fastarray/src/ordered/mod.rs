//! The ordered array: items in a tree, each with an id by which clients know it and a label that tells them where it stands (R13).
//!
//! Invariant: labels ascend with the places of the items, equal ones with their ids; between calls that is so on live arrays and on replicas.

mod convert;
mod entry;
mod following;
mod guard;
mod iter;
mod keyed;
mod labels;
mod moves;
mod neighbours;
mod relabel;
mod replica;
mod runs;
mod search;

use std::cmp::Ordering;
use std::ops::{Range, RangeBounds};
use std::sync::OnceLock;

use repl_core::ItemId;
use repl_core::label::Label;

use crate::follow::Followed;
use crate::ids::{IdTable, Ids};
use crate::marks::{ItemMut, Log};
use crate::places::{bounds, no_item};
use crate::replica::Receipt;
use crate::sequence::{Key, Sequence};

pub use guard::IterMut;
pub use iter::{IntoIter, Iter};

use entry::Entry;
use runs::Runs;

/// An array whose items stand on every client in the order in which they stand on the server.
///
/// Inserting, removing and moving cost O(log n) anywhere, on the server and on clients, and a few bytes on the wire: what travels of an item's
/// place is a short label, and other items' places are not affected. For that it is a tree and not a slice: there is no `Deref`, and finding an
/// item by index costs O(log n), as everything does where nothing else is said. If the order does not matter, use a
/// [`FastArray`](crate::FastArray).
///
/// ```
/// use repl_fastarray::OrderedFastArray;
///
/// let mut tasks: OrderedFastArray<String> = ["sow", "harvest"].map(String::from).into();
/// let id = tasks.insert(1, "water".to_owned());
/// tasks.move_item(2, 0);
/// assert_eq!(tasks, ["harvest", "sow", "water"]);
/// assert_eq!(tasks.index_of(id), Some(2)); // ids stay with their items
/// tasks[2].push_str(" twice"); // marks this one item, so that it is sent
/// ```
///
/// The ways to write, and what they mark, are those of a [`FastArray`](crate::FastArray#ways-to-write), apart from the slice: there is no
/// `unmarked_slice_mut`. So are the [limits](crate::FastArray#limits).
///
/// # Ids
///
/// Ids mean what they mean in a [`FastArray`](crate::FastArray#ids): an array that is assigned over another has new items, and those that need other
/// ids get them at the next tick. To filter, write [`retain`](Self::retain). An item that was removed and inserted elsewhere is a new one: to keep
/// its identity [move](Self::move_item) it.
///
/// A place is best remembered as the id of the item beside it:
///
/// ```
/// # use repl_fastarray::OrderedFastArray;
/// let mut text: OrderedFastArray<char> = "repication".chars().collect();
/// let cursor = text.id(2).unwrap();
/// text.drain(..2); // wherever the item goes, its id leads to it
/// let inserted = text.insert_after(cursor, 'l');
/// assert_eq!(text.iter().collect::<String>(), "plication");
/// assert!(text.move_before(inserted.unwrap(), cursor));
/// assert_eq!(text.range(..3).collect::<String>(), "lpi");
/// ```
///
/// # On clients
///
/// Items are moved by methods of the server's array. A client may add items of its own, which stay where they were put between those of the
/// server (S183), and it may move items for itself; what the server says of an item's place later replaces that.
///
/// [Callbacks](crate::ItemCallbacks) find items that came where they belong, and those that moved where they moved to. Items that go leave the order of
/// the others as it is. An update that only moves items calls what there is for the array, with no indices; of moved items nobody is told
/// that they changed (S145).
///
/// # Cost
///
/// For each item some 40 bytes are kept beside it, and 16 to 32 more once items are looked for by id.
pub struct OrderedFastArray<T> {
    items: Sequence<Entry<T>>,
    /// Made when somebody asks for an id, and kept from then on.
    index: OnceLock<IdTable<Key>>,
    ids: Ids,
    log: Log,
    runs: Runs,
    /// Set on a shadow: what it has followed. The items of a shadow stand in no particular order.
    followed: Option<Followed>,
    /// Set on a replica: what came of the update that is being received.
    receipt: Option<Box<Receipt>>,
    /// On a replica: the items that the update gave other labels.
    unsettled: Vec<Key>,
}

impl<T> OrderedFastArray<T> {
    /// An empty array. Takes no memory.
    #[must_use]
    pub fn new() -> Self {
        Self::with_next_id(ItemId::FIRST)
    }

    /// An empty array whose first item gets the id `next`: for tests of what happens at the end of the range.
    #[doc(hidden)]
    #[must_use]
    pub fn with_next_id(next: ItemId) -> Self {
        Self {
            items: Sequence::new(),
            index: OnceLock::new(),
            ids: Ids::starting(next),
            log: Log::default(),
            runs: Runs::new(),
            followed: None,
            receipt: None,
            unsettled: Vec::new(),
        }
    }

    /// How many items there are. O(1).
    #[must_use]
    pub const fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none. O(1).
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// For how many items there is room. The tree of their places grows as they come.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.items.capacity()
    }

    /// Makes room for `additional` more items.
    pub fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
    }

    /// The item at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        self.items.get(index).map(|entry| &entry.item)
    }

    /// The first item.
    #[must_use]
    pub fn first(&self) -> Option<&T> {
        self.get(0)
    }

    /// The last item.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// The id of the item at `index` (S138): it stays with the item wherever that moves, and no other item gets it.
    #[must_use]
    pub fn id(&self, index: usize) -> Option<ItemId> {
        self.items.get(index).map(|entry| entry.id)
    }

    /// The ids of the items, in their order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ItemId> + ExactSizeIterator {
        self.items.iter().map(|entry| entry.id)
    }

    /// Where the item `id` stands. When the first id is asked for, O(n).
    #[must_use]
    pub fn index_of(&self, id: ItemId) -> Option<usize> {
        self.items.index_of(self.key(id)?)
    }

    /// The item `id`. O(1); when the first id is asked for, O(n).
    #[must_use]
    pub fn by_id(&self, id: ItemId) -> Option<&T> {
        self.entry(id).map(|entry| &entry.item)
    }

    /// The items in their order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, T> {
        self.iter_from(0)
    }

    /// The items from `index` on, in their order; none if there are not so many. O(log n), then O(1) an item over all.
    #[must_use]
    pub fn iter_from(&self, index: usize) -> Iter<'_, T> {
        self.range(index.min(self.len())..)
    }

    /// The items of a range, in their order. O(log n), then O(1) an item over all.
    ///
    /// # Panics
    /// If the range ends before it starts, or beyond the length.
    #[must_use]
    #[track_caller]
    pub fn range(&self, range: impl RangeBounds<usize>) -> Iter<'_, T> {
        Iter::new(self.items.iter_range(bounds(range, self.len())))
    }

    /// Appends an item, new whatever it was before, and gives its id.
    pub fn push(&mut self, item: T) -> ItemId {
        self.insert(self.len(), item)
    }

    /// Inserts an item before the one at `index`, and gives its id.
    ///
    /// # Panics
    /// If `index` is beyond the length.
    #[track_caller]
    pub fn insert(&mut self, index: usize, item: T) -> ItemId {
        let id = self.fresh();
        let before = index.checked_sub(1).and_then(|at| self.items.key_at(at));
        let after = self.items.key_at(index);
        let hint = self.runs.hint(before, after);
        let key = match Label::between(self.label_of(before), self.label_of(after), hint) {
            Some(label) if self.receipt.is_some() || !label.is_long() => {
                self.place(index, Entry { item, label, id })
            }
            None if self.receipt.is_some() => self.squeeze_in(before, id, item),
            _ => {
                let key = self.place(index, Entry { item, label: Label::START, id });
                self.make_room(index..index + 1);
                key
            }
        };
        self.runs.inserted(before, after, key, 1);
        self.touch(key);
        id
    }

    /// Takes out the item at `index`; the others keep their order. If it is put back, it is a new item. There is no `swap_remove`, which would
    /// gain nothing.
    ///
    /// # Panics
    /// If `index` is not below the length.
    #[track_caller]
    pub fn remove(&mut self, index: usize) -> T {
        let removed = self.items.key_at(index).and_then(|key| self.take(key));
        removed.unwrap_or_else(|| no_item(index, self.len()))
    }

    /// Takes out the item `id`. When the first id is asked for, O(n).
    pub fn remove_by_id(&mut self, id: ItemId) -> Option<T> {
        self.take(self.key(id)?)
    }

    /// Takes out the last item.
    pub fn pop(&mut self) -> Option<T> {
        self.take(self.items.key_at(self.len().checked_sub(1)?)?)
    }

    /// Takes out all items. O(n).
    pub fn clear(&mut self) {
        self.index.take();
        self.runs.clear();
        let Self { items, log, .. } = self;
        for (key, entry) in items.keys_from(0).zip(items.iter()) {
            log.remove(entry.id, key.number(), 0);
        }
        items.clear();
    }

    /// Takes out the items from `len` on. O(log n) for each.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            self.drain(len..);
        }
    }

    /// Takes out the items of a range, at once, whether or not they are then asked for. O(log n) for each.
    ///
    /// # Panics
    /// If the range ends before it starts, or beyond the length.
    #[track_caller]
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> std::vec::IntoIter<T> {
        let keys = self.keys(bounds(range, self.len()));
        let drained: Vec<T> = keys.into_iter().filter_map(|key| self.take(key)).collect();
        drained.into_iter()
    }

    /// Keeps the items for which `keep` says so; those that it writes to are marked. O(n), and O(log n) for each that goes.
    pub fn retain_mut(&mut self, mut keep: impl FnMut(&mut ItemMut<'_, T>) -> bool) {
        for (at, key) in self.keys(0..self.len()).into_iter().enumerate() {
            if self.guard(key, at).is_some_and(|mut item| !keep(&mut item)) {
                self.take(key);
            }
        }
    }

    /// Where the item `id` is.
    fn key(&self, id: ItemId) -> Option<Key> {
        let index = self.index.get_or_init(|| {
            let mut index = IdTable::with_capacity(self.len());
            let keys = self.items.iter().zip(self.items.keys_from(0));
            keys.for_each(|(entry, key)| index.set(entry.id, key));
            index
        });
        index.get(id)
    }

    /// The id that the first item of a copy gets.
    pub(crate) fn next_id_of_copies(&self) -> ItemId {
        self.ids.next_for_copies()
    }

    fn entry(&self, id: ItemId) -> Option<&Entry<T>> {
        self.items.by_key(self.key(id)?)
    }

    fn keys(&self, range: Range<usize>) -> Vec<Key> {
        self.items.keys_from(range.start).take(range.len()).collect()
    }

    fn label_of(&self, key: Option<Key>) -> Option<&Label> {
        self.items.by_key(key?).map(|entry| &entry.label)
    }

    /// An id that no item has.
    fn fresh(&mut self) -> ItemId {
        let mut ids = self.ids;
        let id = ids.fresh(|id| self.key(id).is_some());
        self.ids = ids;
        id
    }

    fn place(&mut self, index: usize, entry: Entry<T>) -> Key {
        let id = entry.id;
        let key = self.items.insert(index, entry);
        if let Some(index) = self.index.get_mut() {
            index.set(id, key);
        }
        key
    }

    /// Inserts an item of a client behind `before`, where the labels of the server leave no room. It gets the label of that item, and so stands
    /// behind those that have it too.
    fn squeeze_in(&mut self, before: Option<Key>, id: ItemId, item: T) -> Key {
        let label = self.label_of(before).cloned().unwrap_or_default();
        let entry = Entry { item, label, id };
        let index = self.items.partition_point(|other| other.stands(&entry) == Ordering::Less);
        self.place(index, entry)
    }

    fn take(&mut self, key: Key) -> Option<T> {
        self.take_entry(key).map(|entry| entry.item)
    }

    fn take_entry(&mut self, key: Key) -> Option<Entry<T>> {
        let Self { items, runs, index, log, .. } = self;
        runs.removed(key, || items.key_at(items.index_of(key)?.checked_sub(1)?));
        let entry = items.remove_key(key)?;
        if let Some(index) = index.get_mut() {
            index.remove(entry.id);
        }
        log.remove(entry.id, key.number(), items.len());
        Some(entry)
    }

    fn touch(&mut self, key: Key) {
        if let Some(entry) = self.items.by_key(key) {
            self.log.touch(entry.id, key.number(), self.items.len());
        }
    }
}
