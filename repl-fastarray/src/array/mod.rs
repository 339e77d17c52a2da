//! [`FastArray`]: a `Vec` of items, and a list with the id of each item.
//!
//! *Invariant:* the items and the list of ids have the same length, and an item and its id have the same
//! index.

mod convert;
mod following;
mod guard;
mod index;
mod item_ids;
mod keyed;
mod order;
mod replica;

use std::collections::TryReserveError;
use std::ops::RangeBounds;

use repl_core::ItemId;

use crate::indices::bounds;
use crate::marks::ItemMut;

pub use guard::IterMut;
use item_ids::ItemIds;

/// A growable array that sends only the items that changed.
///
/// A fast array is used like a `Vec` and read as a slice. Three things differ from a `Vec`: writes are
/// recorded, clients identify items by their ids, and the items of a clone are new items.
///
/// ```
/// # use repl_fastarray as repl;
/// use repl::FastArray;
///
/// let mut scores: FastArray<u32> = FastArray::from([10, 20, 30]);
/// let id = scores.push(40);
///
/// scores.sort_by(|one, other| other.cmp(one)); // ids stay with their items, and nothing is sent
/// assert_eq!((scores.index_of(id), &scores[..2]), (Some(0), &[40, 30][..]));
///
/// scores[1] += 5; // marks this one item, so that it is compared and sent
/// // Marks the items that are written to.
/// scores.iter_mut().filter(|score| **score < 15).for_each(|mut score| *score = 15);
/// scores.retain(|score| *score != 20); // clients receive the id of the removed item
/// assert_eq!(scores, [40, 35, 15]);
/// assert_eq!(scores.by_id(id), Some(&40));
/// ```
///
/// **Clients may have the same items in another order**. A client appends new items, and moves its last item
/// to the index of a removed item. If the order matters, use an
/// [`OrderedFastArray`](crate::OrderedFastArray), or sort the items on the client by one of their values.
///
/// # Ways to write
///
/// The server compares a marked item with the state of its clients, and sends the properties that differ. So
/// an unnecessary mark costs time, but no bytes.
///
/// | write | what it marks |
/// |---|---|
/// | `array[i] = …`, `array[i].count += 1` | the item, even if nothing is written |
/// | [`get_mut`], [`get_mut_by_id`] | the item, at the first write through its [`ItemMut`] |
/// | [`first_mut`], [`last_mut`] | the same |
/// | [`iter_mut`], [`retain_mut`] | each item, at the first write through its [`ItemMut`] |
/// | [`edit`] | the item |
/// | [`push`], [`insert`], `extend` and all else that adds | the new items |
/// | [`remove`], [`retain`], [`clear`] and all else that removes | nothing: the removed ids are sent |
/// | [`swap`], [`sort`], [`reverse`], [`rotate_left`] | nothing, and nothing is sent |
/// | [`unmarked_mut`], [`unmarked_slice_mut`], [`ItemMut::unmarked`] | nothing, until you call [`mark`] |
///
/// [`get_mut`]: Self::get_mut
/// [`get_mut_by_id`]: Self::get_mut_by_id
/// [`first_mut`]: Self::first_mut
/// [`last_mut`]: Self::last_mut
/// [`iter_mut`]: Self::iter_mut
/// [`retain_mut`]: Self::retain_mut
/// [`edit`]: Self::edit
/// [`push`]: Self::push
/// [`insert`]: Self::insert
/// [`remove`]: Self::remove
/// [`retain`]: Self::retain
/// [`clear`]: Self::clear
/// [`swap`]: Self::swap
/// [`sort`]: Self::sort
/// [`reverse`]: Self::reverse
/// [`rotate_left`]: Self::rotate_left
/// [`unmarked_mut`]: Self::unmarked_mut
/// [`unmarked_slice_mut`]: Self::unmarked_slice_mut
/// [`mark`]: Self::mark
///
/// # Ids
///
/// Ids of items count up from [`ItemId::FIRST`]. Clients identify an array by its field, and its items by
/// their ids.
///
/// A fast array inside a value that is sent as a unit, for example in a struct that derives only
/// `NetSerialize`, is sent without its ids. Its items have other ids on clients, and get new ids with each
/// update.
///
/// **An array that is assigned over another array has only new items**, however the array was made (`From`,
/// `collect`, `Default`, `clone`, `mem::swap`). Clients remove all old items and add all new ones. No item of
/// the old array becomes an item of the new array. An id is never used for two items of the same field. So if
/// an id of the new array was already used in the field, the server changes the ids of all items of the new
/// array at the next tick. From then on, `ids` and [`id`](Self::id) return the changed ids. The ids of an
/// array that is not replaced never change.
///
/// - To remember items of an array that replaces another array, read their ids after the tick. Instead of an
///   assignment, you can write `array.clear(); array.extend(items);`. This costs as much as an assignment,
///   and the new items have their final ids immediately.
/// - To remove some items, use [`retain`](Self::retain). `array = array.iter().filter(…).cloned().collect()`
///   makes a new array, so it sends all items again.
/// - An array that is taken out of its field and put back before the next tick is still the same array.
/// - An item that is taken out of its array and put back is a new item. To change the values of an item,
///   write to it.
///
/// On a client, items that the client's own code adds get ids from a separate range ([`ItemId::is_local`]).
/// These items remain until the client's own code removes them or assigns another array, and are never
/// confused with items of the server. All other edits on a client may be overwritten by the next update of
/// the array.
///
/// # Limits
///
/// An array on the server may have any length. But it is sent only while it has at most
/// [`MAX_ITEMS`](repl_core::limits::MAX_ITEMS) (1,048,576) items, or at most the number in the attribute
/// `max_len` of its field. While the array is longer, clients keep the items that they have, and the server
/// reports `ServerEvent::ValueRefused`. The array is also not sent if it makes its object larger than
/// `ServerConfig::max_object_bytes`.
///
/// # Cost
///
/// A method costs as much as the `Vec` method of the same name, unless its documentation says otherwise.
///
/// An array takes 64 bytes (on 64-bit machines) in its object, and 64 bytes in the shadow, the copy that the
/// server keeps of the object. An array that never had items has no other memory. The first item allocates 72
/// bytes for the array and room for the ids. Each item needs 4 bytes of memory for its id. After the first
/// lookup by id in an array of more than 32 items, each item needs 16 to 32 bytes more. The list of changed
/// items has at most about two entries of 8 bytes for each item, and is allocated with the first change that
/// is to be sent.
pub struct FastArray<T> {
    items: Vec<T>,
    item_ids: ItemIds,
}

impl<T> FastArray<T> {
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
        Self { items: Vec::new(), item_ids: ItemIds::starting(next) }
    }

    /// Returns the number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns whether the array has no items.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns how many items fit into the array without another allocation.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.items.capacity()
    }

    /// Reserves memory for `additional` more items.
    pub fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
        self.item_ids.reserve(additional);
    }

    /// Returns the items as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// Returns the ids of the items, in the order of the items.
    #[must_use]
    pub fn ids(&self) -> &[ItemId] {
        self.item_ids.ids()
    }

    /// Returns the id of the item at `index`. The item keeps its id wherever it moves in the array, and no
    /// other item receives the id.
    #[must_use]
    pub fn id(&self, index: usize) -> Option<ItemId> {
        self.item_ids.ids().get(index).copied()
    }

    /// Returns the index of the item `id`. Costs O(1). The first lookup, and the first lookup after a
    /// sort, a rotation, or several hundred insertions and removals in the middle, cost O(n).
    #[must_use]
    pub fn index_of(&self, id: ItemId) -> Option<usize> {
        self.item_ids.position(id)
    }

    /// Returns the item with the id `id`. Costs the same as [`index_of`](Self::index_of).
    #[must_use]
    pub fn by_id(&self, id: ItemId) -> Option<&T> {
        self.items.get(self.item_ids.position(id)?)
    }

    /// Appends a new item and returns its id. If the item was removed from an array before, it is still a new
    /// item with a new id.
    pub fn push(&mut self, item: T) -> ItemId {
        let id = self.item_ids.fresh();
        self.push_as(id, item);
        id
    }

    /// Inserts a new item before the item at `index`, and returns its id.
    ///
    /// # Panics
    /// Panics if `index` is greater than the length.
    #[track_caller]
    pub fn insert(&mut self, index: usize, item: T) -> ItemId {
        let id = self.item_ids.fresh();
        self.items.insert(index, item);
        self.item_ids.insert(index, id);
        id
    }

    /// Removes the item at `index` and returns it. The items that remain keep their order. If you put the
    /// removed item back, it is a new item.
    ///
    /// # Panics
    /// Panics if `index` is not less than the length.
    #[track_caller]
    pub fn remove(&mut self, index: usize) -> T {
        let item = self.items.remove(index);
        self.item_ids.remove(index);
        item
    }

    /// Removes the item at `index`, returns it, and moves the last item into its place. Costs O(1).
    ///
    /// # Panics
    /// Panics if `index` is not less than the length.
    #[track_caller]
    pub fn swap_remove(&mut self, index: usize) -> T {
        let item = self.items.swap_remove(index);
        self.item_ids.swap_remove(index);
        item
    }

    /// Removes the item `id` and returns it. The items that remain keep their order. Costs O(n).
    pub fn remove_by_id(&mut self, id: ItemId) -> Option<T> {
        let index = self.item_ids.position(id)?;
        Some(self.remove(index))
    }

    /// Removes the last item and returns it.
    pub fn pop(&mut self) -> Option<T> {
        let item = self.items.pop()?;
        self.item_ids.swap_remove(self.items.len());
        Some(item)
    }

    /// Removes all items from the array.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Removes all items after the first `len` items.
    pub fn truncate(&mut self, len: usize) {
        if len < self.items.len() {
            self.item_ids.remove_range(len..self.items.len());
            self.items.truncate(len);
        }
    }

    /// Removes the items of a range and returns them. Drained items are removed immediately, even if the
    /// iterator is not used.
    ///
    /// # Panics
    /// Panics if the range ends before it starts, or if it ends after the end of the array.
    #[track_caller]
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> std::vec::IntoIter<T> {
        let range = bounds(range, self.len());
        let drained: Vec<_> = self.items.drain(range.clone()).collect();
        self.item_ids.remove_range(range);
        drained.into_iter()
    }

    /// Keeps the items for which `keep` returns true, in their order. The items to which `keep` writes are
    /// marked.
    pub fn retain_mut(&mut self, mut keep: impl FnMut(&mut ItemMut<'_, T>) -> bool) {
        let mut sieve = RetainGuard { array: self, kept: 0, seen: 0 };
        while sieve.seen < sieve.array.items.len() {
            let at = sieve.seen;
            let stays = sieve.array.get_mut(at).is_some_and(|mut item| keep(&mut item));
            sieve.seen += 1;
            if stays {
                sieve.array.items.swap(sieve.kept, at);
                sieve.array.item_ids.ids_mut().swap(sieve.kept, at);
                sieve.kept += 1;
            }
        }
    }

    /// Tries to reserve memory for `additional` more items.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        self.items.try_reserve(additional)?;
        self.item_ids.try_reserve(additional)
    }

    pub(crate) fn next_id_of_copies(&self) -> ItemId {
        self.item_ids.next_for_copies()
    }

    /// Appends an item with an id that no other item of this array has.
    fn push_as(&mut self, id: ItemId, item: T) {
        self.items.push(item);
        self.item_ids.push(id);
    }
}

/// The progress of a call of `retain_mut`. Items before `kept` remain, items from `kept` to `seen` will be
/// removed, and the later items are not checked yet. When the guard is dropped, it removes the items from
/// `kept` to `seen`, even if the user's code panics, so that `items` and `item_ids` match.
struct RetainGuard<'a, T> {
    array: &'a mut FastArray<T>,
    kept: usize,
    seen: usize,
}

impl<T> Drop for RetainGuard<'_, T> {
    fn drop(&mut self) {
        if self.kept < self.seen {
            self.array.item_ids.shifted(self.seen - self.kept);
            self.array.item_ids.remove_range(self.kept..self.seen);
            self.array.items.drain(self.kept..self.seen);
        }
    }
}

const _: () = assert!(size_of::<FastArray<u64>>() <= 64, "many arrays stand in items of others");
