//! The array: items, and beside them the roster that knows each by an id.
//!
//! Invariant: items and roster are equally long, and an item and what the roster has of it stand at the same index.

mod convert;
mod following;
mod guard;
mod index;
mod keyed;
mod order;
mod replica;
mod roster;

use std::collections::TryReserveError;
use std::ops::RangeBounds;

use repl_core::ItemId;

use crate::follow::Followed;
use crate::marks::ItemMut;
use crate::places::bounds;
use crate::replica::Receipt;

pub use guard::IterMut;
use roster::Roster;

/// A growing array whose items have identities of their own, so that what is sent of it is what changed.
///
/// It is used like a `Vec` and read as a slice. Three things are not a `Vec`'s: what is written to is noted, items have ids by which clients
/// know them, and `Clone` makes new items (S137).
///
/// ```
/// use repl_fastarray::FastArray;
///
/// let mut scores: FastArray<u32> = FastArray::from([10, 20, 30]);
/// let id = scores.push(40);
///
/// scores.sort_by(|one, other| other.cmp(one)); // ids go with their items, and nothing is sent
/// assert_eq!((scores.index_of(id), &scores[..2]), (Some(0), &[40, 30][..]));
///
/// scores[1] += 5; // marks this one item, so that it is compared and sent
/// scores.iter_mut().filter(|score| **score < 15).for_each(|mut score| *score = 15); // marks what is written to
/// scores.retain(|score| *score != 20); // clients are told the id of what went
/// assert_eq!(scores, [40, 35, 15]);
/// assert_eq!(scores.by_id(id), Some(&40));
/// ```
///
/// **Clients have the same items in another order** (S180): what comes is appended there, and the place of what goes is taken by the last item.
/// Where the order matters use an [`OrderedFastArray`](crate::OrderedFastArray), or sort on clients by something that is in the items.
///
/// # Ways to write
///
/// A marked item is compared with what clients have, and the properties that differ are sent; so a mark too many costs time, no bytes.
///
/// | write | and marked is |
/// |---|---|
/// | `array[i] = …`, `array[i].count += 1` | the item, even if `IndexMut` is asked and nothing written |
/// | [`get_mut`](Self::get_mut), [`get_mut_by_id`](Self::get_mut_by_id), [`first_mut`](Self::first_mut), [`last_mut`](Self::last_mut), [`iter_mut`](Self::iter_mut), [`retain_mut`](Self::retain_mut) | what is written to through its [`ItemMut`], when it first is; reading marks nothing |
/// | [`edit`](Self::edit) | the item |
/// | [`push`](Self::push), [`insert`](Self::insert), `extend` and what else adds | what came |
/// | [`remove`](Self::remove), [`retain`](Self::retain), [`clear`](Self::clear) and what else takes out | nothing: what is sent is the ids of what went |
/// | [`swap`](Self::swap), [`sort`](Self::sort), [`reverse`](Self::reverse), [`rotate_left`](Self::rotate_left) | nothing, and nothing is sent |
/// | [`unmarked_mut`](Self::unmarked_mut), [`unmarked_slice_mut`](Self::unmarked_slice_mut), [`ItemMut::unmarked`] | nothing: say [`mark`](Self::mark) or [`mark_all`](Self::mark_all) when it is to be sent |
///
/// # Ids
///
/// Ids count from [`ItemId::FIRST`] on. Clients know an array by the field it stands in and its items by id.
///
/// **An array that is assigned over another has new items**, however it was made (`From`, `collect`, `Default`, `clone`, `mem::swap`): clients remove
/// all old items and add all new ones, and no old item changes into a new one. No id is used twice in one field, so the server gives the items of such
/// an array other ids at the next tick, if theirs were used there before; `ids` and [`id`](Self::id) return the new ones from then on. The ids of an
/// array that stays where it is never change.
///
/// - To remember items of an array that replaces another, ask for their ids after the tick; or write `array.clear(); array.extend(items);`,
///   which costs as much, and the ids stay.
/// - To filter, write [`retain`](Self::retain), not `array = array.iter().filter(…).cloned().collect()`, which sends all items again.
/// - An array that is taken out and put back before the next tick is still the same.
/// - An item that was taken out and put back is a new one. To give an item other values, write to it.
///
/// On a client, items that it adds by itself get ids apart ([`ItemId::is_local`]). They stay until it takes them out, and are never taken for
/// items of the server (S183).
///
/// # Limits
///
/// An array on the server may grow as it likes, but clients hold no more than [`MAX_ITEMS`](repl_core::limits::MAX_ITEMS) items, 1,048,576.
/// While it is longer nothing of it is sent, clients keep what they have, and the server tells with `ServerEvent::ValueRefused`. The same goes
/// for an array that makes its object larger than `ServerConfig::max_object_bytes`. The attribute `max_len` is not for fast arrays.
///
/// # Cost
///
/// Unless something else is said, methods cost what those of `Vec` with the same names cost; for each item 4 bytes are kept beside it, and 16
/// to 32 more once items are looked for by id.
pub struct FastArray<T> {
    items: Vec<T>,
    roster: Roster,
    /// Set on a shadow: what it has followed.
    followed: Option<Followed>,
    /// Set on a replica: what came of the update that is being received.
    receipt: Option<Box<Receipt>>,
}

impl<T> FastArray<T> {
    /// An empty array. Takes no memory.
    #[must_use]
    pub fn new() -> Self {
        Self::with_next_id(ItemId::FIRST)
    }

    /// An empty array whose first item gets the id `next`: for tests of what happens at the end of the range.
    #[doc(hidden)]
    #[must_use]
    pub fn with_next_id(next: ItemId) -> Self {
        Self { items: Vec::new(), roster: Roster::starting(next), followed: None, receipt: None }
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// For how many items there is room.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.items.capacity()
    }

    /// Makes room for `additional` more items.
    pub fn reserve(&mut self, additional: usize) {
        self.items.reserve(additional);
        self.roster.ids.reserve(additional);
    }

    /// The items.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }

    /// The ids of the items, in their order.
    #[must_use]
    pub fn ids(&self) -> &[ItemId] {
        &self.roster.ids
    }

    /// The id of the item at `index` (S138): it stays with the item wherever that moves in this array, and no other item gets it.
    #[must_use]
    pub fn id(&self, index: usize) -> Option<ItemId> {
        self.roster.ids.get(index).copied()
    }

    /// Where the item `id` stands. O(1), but O(n) when asked for the first time, and after a sort, a rotation or some hundreds of insertions and
    /// removals in the middle.
    #[must_use]
    pub fn index_of(&self, id: ItemId) -> Option<usize> {
        self.roster.position(id)
    }

    /// The item `id`. Costs what [`index_of`](Self::index_of) costs.
    #[must_use]
    pub fn by_id(&self, id: ItemId) -> Option<&T> {
        self.items.get(self.roster.position(id)?)
    }

    /// Appends an item, new whatever it was before, and gives its id.
    pub fn push(&mut self, item: T) -> ItemId {
        let id = self.roster.fresh();
        self.push_as(id, item);
        id
    }

    /// Inserts an item before the one at `index`, and gives its id.
    ///
    /// # Panics
    /// If `index` is beyond the length.
    #[track_caller]
    pub fn insert(&mut self, index: usize, item: T) -> ItemId {
        let id = self.roster.fresh();
        self.items.insert(index, item);
        self.roster.insert(index, id);
        id
    }

    /// Takes out the item at `index`; the others keep their order. If it is put back, it is a new item.
    ///
    /// # Panics
    /// If `index` is not below the length.
    #[track_caller]
    pub fn remove(&mut self, index: usize) -> T {
        let item = self.items.remove(index);
        self.roster.remove(index);
        item
    }

    /// Takes out the item at `index` and puts the last one in its place. O(1).
    ///
    /// # Panics
    /// If `index` is not below the length.
    #[track_caller]
    pub fn swap_remove(&mut self, index: usize) -> T {
        let item = self.items.swap_remove(index);
        self.roster.swap_remove(index);
        item
    }

    /// Takes out the item `id`; the others keep their order. O(n).
    pub fn remove_by_id(&mut self, id: ItemId) -> Option<T> {
        let index = self.roster.position(id)?;
        Some(self.remove(index))
    }

    /// Takes out the last item.
    pub fn pop(&mut self) -> Option<T> {
        let item = self.items.pop()?;
        self.roster.swap_remove(self.items.len());
        Some(item)
    }

    /// Takes out all items.
    pub fn clear(&mut self) {
        self.truncate(0);
    }

    /// Takes out the items from `len` on.
    pub fn truncate(&mut self, len: usize) {
        if len < self.items.len() {
            self.roster.remove_range(len..self.items.len());
            self.items.truncate(len);
        }
    }

    /// Takes out the items of a range, at once, whether or not they are then asked for.
    ///
    /// # Panics
    /// If the range ends before it starts, or beyond the length.
    #[track_caller]
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> std::vec::IntoIter<T> {
        let range = bounds(range, self.len());
        let drained: Vec<_> = self.items.drain(range.clone()).collect();
        self.roster.remove_range(range);
        drained.into_iter()
    }

    /// Keeps the items for which `keep` says so, in their order; those that it writes to are marked.
    pub fn retain_mut(&mut self, mut keep: impl FnMut(&mut ItemMut<'_, T>) -> bool) {
        let mut sieve = Sieve { array: self, kept: 0, seen: 0 };
        while sieve.seen < sieve.array.items.len() {
            let at = sieve.seen;
            let stays = sieve.array.get_mut(at).is_some_and(|mut item| keep(&mut item));
            sieve.seen += 1;
            if stays {
                sieve.array.items.swap(sieve.kept, at);
                sieve.array.roster.ids.swap(sieve.kept, at);
                sieve.kept += 1;
            }
        }
    }

    /// Makes room for `additional` more items, if there is memory.
    ///
    /// # Errors
    /// If there is none.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        self.items.try_reserve(additional)?;
        self.roster.ids.try_reserve(additional)
    }

    /// The id that the first item of a copy gets.
    pub(crate) fn next_id_of_copies(&self) -> ItemId {
        self.roster.next_for_copies()
    }

    /// Appends an item under an id that no other item here has.
    fn push_as(&mut self, id: ItemId, item: T) {
        self.items.push(item);
        self.roster.push(id);
    }
}

/// Items before `kept` stay, those from there to `seen` go, and the others have not been looked at. They go when this is dropped, even if the
/// user's code panics, so that items and roster agree.
struct Sieve<'a, T> {
    array: &'a mut FastArray<T>,
    kept: usize,
    seen: usize,
}

impl<T> Drop for Sieve<'_, T> {
    fn drop(&mut self) {
        if self.kept < self.seen {
            self.array.roster.shifted(self.seen - self.kept);
            self.array.roster.remove_range(self.kept..self.seen);
            self.array.items.drain(self.kept..self.seen);
        }
    }
}

const _: () = assert!(size_of::<FastArray<u64>>() <= 200, "many arrays stand in items of others");
