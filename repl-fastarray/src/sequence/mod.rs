//! [`Sequence`]: a list that never moves an item in memory. Items are stored in slots, and a tree stores the
//! order of the slots.
//!
//! *Invariant:* a slot holds an item if and only if the tree contains the number of the slot as a key.

mod tree;

use std::cmp::Ordering;
use std::ops::Range;

use tree::{Keys, Order};

/// If more than 1/`SORT_SHARE` of the items have moved, sorting all items is faster than moving each item
/// separately.
const SORT_SHARE: usize = 8;

/// Identifies an item of a [`Sequence`] as long as the item is in the sequence. The key of an item does not
/// change when the item moves. After the item was removed, a new item may get the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key(u32);

impl Key {
    /// Returns the number that a log stores for the item.
    pub(crate) const fn number(self) -> usize {
        self.0 as usize
    }

    /// Returns the key with this [number](Self::number).
    pub(crate) const fn of(number: usize) -> Self {
        Self(number as u32)
    }
}

/// A list of items in order. Each item in a [`Sequence`] can be found by its index or by its key.
///
/// Inserting, removing, moving and finding an item cost O(log n) at any index. An item occupies the memory of
/// an `Option` of its type, plus about 16 bytes.
/// A sequence that never had items takes 8 bytes.
#[derive(Clone)]
pub(crate) struct Sequence<T>(Option<Box<Parts<T>>>);

/// The tree and the slots of a sequence.
#[derive(Clone)]
struct Parts<T> {
    order: Order,
    slots: Vec<Option<T>>,
}

impl<T> Parts<T> {
    const fn new() -> Self {
        Self { order: Order::new(), slots: Vec::new() }
    }
}

impl<T> Default for Sequence<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Sequence<T> {
    /// Returns an empty sequence. `new` allocates no memory.
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    const fn parts(&self) -> &Parts<T> {
        match &self.0 {
            Some(parts) => parts,
            None => const { &Parts::new() },
        }
    }

    fn parts_mut(&mut self) -> &mut Parts<T> {
        self.0.get_or_insert_with(|| Box::new(Parts::new()))
    }

    /// Returns the number of items. Costs O(1).
    pub(crate) const fn len(&self) -> usize {
        self.parts().order.len()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many items fit without another allocation for slots.
    pub(crate) fn capacity(&self) -> usize {
        self.parts().slots.capacity()
    }

    /// Reserves memory for `additional` more items. `reserve` reserves no memory for the tree, which grows
    /// with the items.
    pub(crate) fn reserve(&mut self, additional: usize) {
        let unused = self.parts().slots.len() - self.len();
        let new = additional.saturating_sub(unused);
        if new > 0 {
            let Parts { order, slots } = self.parts_mut();
            slots.reserve(new);
            order.reserve(new);
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        self.by_key(self.key_at(index)?)
    }

    pub(crate) fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let key = self.key_at(index)?;
        self.by_key_mut(key)
    }

    pub(crate) fn key_at(&self, index: usize) -> Option<Key> {
        self.parts().order.key_at(index).map(Key)
    }

    /// Returns the item with this key. Costs O(1).
    pub(crate) fn by_key(&self, key: Key) -> Option<&T> {
        self.0.as_ref()?.slots.get(key.0 as usize)?.as_ref()
    }

    /// Returns a mutable reference to the item with this key. Costs O(1).
    pub(crate) fn by_key_mut(&mut self, key: Key) -> Option<&mut T> {
        self.0.as_mut()?.slots.get_mut(key.0 as usize)?.as_mut()
    }

    /// Returns the index of the item with this key.
    pub(crate) fn index_of(&self, key: Key) -> Option<usize> {
        self.parts().order.index_of(key.0)
    }

    /// Inserts an item before the item at `index`, or at the end if `index` is the length. Returns the key of
    /// the item.
    ///
    /// # Panics
    /// Panics if `index` is greater than the length, or if the sequence has 2³² − 1 items.
    pub(crate) fn insert(&mut self, index: usize, item: T) -> Key {
        let Parts { order, slots } = self.parts_mut();
        let key = order.insert(index);
        match slots.get_mut(key as usize) {
            Some(slot) => *slot = Some(item),
            None => slots.push(Some(item)),
        }
        Key(key)
    }

    /// Removes the item with this key, if there is one, and returns it.
    pub(crate) fn remove_key(&mut self, key: Key) -> Option<T> {
        let Parts { order, slots } = &mut **self.0.as_mut()?;
        order.remove(key.0);
        slots.get_mut(key.0 as usize)?.take()
    }

    /// Moves the item with this key, so that it is at `index` afterwards. The moved item keeps its key.
    /// Returns false if the sequence has no item with this key.
    ///
    /// # Panics
    /// Panics if the item exists and `index` is not less than the length.
    pub(crate) fn move_to(&mut self, key: Key, index: usize) -> bool {
        let Some(Parts { order, .. }) = self.0.as_deref_mut() else { return false };
        let known = order.detach(key.0);
        if known {
            order.attach(key.0, index);
        }
        known
    }

    /// Removes all items, but does not free the memory. Costs O(n).
    pub(crate) fn clear(&mut self) {
        if let Some(Parts { order, slots }) = self.0.as_deref_mut() {
            order.clear();
            slots.clear();
        }
    }

    /// Returns how many items at the start satisfy the condition `is_before`. All items that satisfy the
    /// condition must come before all other items.
    pub(crate) fn partition_point(&self, mut is_before: impl FnMut(&T) -> bool) -> usize {
        let Parts { order, slots } = self.parts();
        order.partition_point(|key| slots[key as usize].as_ref().is_some_and(&mut is_before))
    }

    pub(crate) fn iter(&self) -> Iter<'_, T> {
        self.iter_from(0)
    }

    /// Returns an iterator over the items from `index` on. The iterator is empty if `index` is greater than
    /// the length. Costs O(log n), and then O(1) for each item on average.
    pub(crate) fn iter_from(&self, index: usize) -> Iter<'_, T> {
        let Parts { order, slots } = self.parts();
        Iter { keys: order.iter_from(index), slots }
    }

    /// Returns an iterator over a range of the items, which must be within the length. Costs O(log n), and
    /// then O(1) for each item on average.
    pub(crate) fn iter_range(&self, range: Range<usize>) -> Iter<'_, T> {
        let Parts { order, slots } = self.parts();
        Iter { keys: order.iter_range(range), slots }
    }

    /// Returns an iterator over the keys of the items from `index` on.
    pub(crate) fn keys_from(&self, index: usize) -> impl DoubleEndedIterator<Item = Key> + ExactSizeIterator {
        self.parts().order.iter_from(index).map(Key)
    }

    /// Returns an iterator over mutable references to the items. `iter_mut` allocates a pointer for each
    /// item, because the slots are in another order.
    pub(crate) fn iter_mut(&mut self) -> IterMut<'_, T> {
        let (order, slots): (&Order, &mut [Option<T>]) = match &mut self.0 {
            Some(parts) => (&parts.order, &mut parts.slots),
            None => (const { &Order::new() }, &mut []),
        };
        IterMut { keys: order.iter_from(0), slots: slots.iter_mut().map(Option::as_mut).collect() }
    }

    /// Sorts the items in the order of `compare`. Equal items keep their order, and all items keep their
    /// keys. Costs O(n log n).
    pub(crate) fn sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let Some(Parts { order, slots }) = self.0.as_deref_mut() else { return };
        let mut keys: Vec<u32> = order.iter_from(0).collect();
        keys.sort_by(|&a, &b| match (&slots[a as usize], &slots[b as usize]) {
            (Some(a), Some(b)) => compare(a, b),
            _ => Ordering::Equal,
        });
        order.arrange(&keys);
    }

    /// Moves the items with keys in `moved` to their positions in the order of `compare`. All items that are
    /// not in `moved` must already be in the order of `compare`. Sorting does not change the keys of items.
    /// Costs O(log² n) for each moved item, and never more than the cost of [`sort_by`](Self::sort_by).
    pub(crate) fn sort_moved(&mut self, moved: &[Key], mut compare: impl FnMut(&T, &T) -> Ordering) {
        if moved.len() > self.len() / SORT_SHARE {
            self.sort_by(compare);
            return;
        }
        // First all moved items are taken out of the order, and then they are inserted again one by one,
        // because a binary search needs the other items to be in order.
        let Some(Parts { order, .. }) = self.0.as_deref_mut() else { return };
        let moved: Vec<Key> = moved.iter().copied().filter(|key| order.detach(key.0)).collect();
        for key in moved {
            if let Some(item) = self.by_key(key) {
                let index = self.partition_point(|other| compare(other, item) == Ordering::Less);
                self.parts_mut().order.attach(key.0, index);
            }
        }
    }

    /// Puts the items into the order of their keys in `keys`, which contains each key once. Costs O(n).
    pub(crate) fn arrange(&mut self, keys: &[Key]) {
        let keys: Vec<u32> = keys.iter().map(|key| key.0).collect();
        self.parts_mut().order.arrange(&keys);
    }
}

/// Collects the items of an iterator. Costs O(n).
impl<T> FromIterator<T> for Sequence<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let slots: Vec<Option<T>> = items.into_iter().map(Some).collect();
        let mut order = Order::new();
        order.fill(slots.len());
        Self(Some(Box::new(Parts { order, slots })))
    }
}

impl<T> IntoIterator for Sequence<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    /// Moves all items into an iterator. Costs O(n).
    fn into_iter(mut self) -> Self::IntoIter {
        let Some(Parts { order, slots }) = self.0.as_deref_mut() else { return Vec::new().into_iter() };
        let items = order.iter_from(0).filter_map(|key| slots.get_mut(key as usize)?.take());
        items.collect::<Vec<_>>().into_iter()
    }
}

/// An iterator over the items of a [`Sequence`] in order, which can take items from both ends.
pub(crate) struct Iter<'a, T> {
    keys: Keys<'a>,
    slots: &'a [Option<T>],
}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self { keys: self.keys.clone(), slots: self.slots }
    }
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        self.slots[self.keys.next()? as usize].as_ref()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.keys.size_hint()
    }
}

impl<T> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.slots[self.keys.next_back()? as usize].as_ref()
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

/// An iterator over mutable references to the items of a [`Sequence`], in order.
pub(crate) struct IterMut<'a, T> {
    keys: Keys<'a>,
    slots: Vec<Option<&'a mut T>>,
}

impl<'a, T> Iterator for IterMut<'a, T> {
    type Item = (Key, &'a mut T);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.keys.next()?;
        Some((Key(key), self.slots[key as usize].take()?))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.keys.size_hint()
    }
}

impl<T> DoubleEndedIterator for IterMut<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let key = self.keys.next_back()?;
        Some((Key(key), self.slots[key as usize].take()?))
    }
}

impl<T> ExactSizeIterator for IterMut<'_, T> {}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    #[derive(Clone, Debug)]
    enum Op {
        Insert(Index),
        InsertRun(Index, u8),
        Remove(Index),
        RemoveRun(Index, u8),
        Change(Index),
        Move(Index, Index),
        Sort,
        Settle(Vec<Index>),
        Clear,
    }

    fn op() -> impl Strategy<Value = Op> {
        prop_oneof![
            8 => any::<Index>().prop_map(Op::Insert),
            6 => any::<(Index, u8)>().prop_map(|(at, len)| Op::InsertRun(at, len)),
            8 => any::<Index>().prop_map(Op::Remove),
            5 => any::<(Index, u8)>().prop_map(|(at, len)| Op::RemoveRun(at, len)),
            2 => any::<Index>().prop_map(Op::Change),
            4 => any::<(Index, Index)>().prop_map(|(from, to)| Op::Move(from, to)),
            1 => Just(Op::Sort),
            3 => prop::collection::vec(any::<Index>(), 0..30).prop_map(Op::Settle),
            1 => Just(Op::Clear),
        ]
    }

    /// A sequence, and a vector of keys and items as its naive model.
    #[derive(Default)]
    struct Pair {
        sequence: Sequence<u32>,
        model: Vec<(Key, u32)>,
        next: u32,
    }

    impl Pair {
        fn insert(&mut self, at: usize) {
            // The numbers only have to be different. The added constant is large, so that the items are not
            // already sorted.
            self.next = self.next.wrapping_add(0x9e37_79b9);
            let key = self.sequence.insert(at, self.next);
            self.model.insert(at, (key, self.next));
        }

        fn remove(&mut self, at: usize, by_key: bool) {
            let (key, item) = self.model.remove(at);
            let removed = if by_key {
                self.sequence.remove_key(key)
            } else {
                self.sequence.remove_key(self.sequence.key_at(at).unwrap())
            };
            assert_eq!(removed, Some(item));
            assert_eq!(self.sequence.index_of(key), None);
            assert_eq!(self.sequence.by_key(key), None);
            assert_eq!(self.sequence.remove_key(key), None);
        }

        fn apply(&mut self, op: &Op) {
            let len = self.model.len();
            match op {
                Op::Insert(at) => self.insert(at.index(len + 1)),
                Op::InsertRun(at, count) => {
                    let at = at.index(len + 1);
                    (0..usize::from(*count)).for_each(|step| self.insert(at + step));
                }
                Op::Remove(at) if len > 0 => self.remove(at.index(len), false),
                Op::RemoveRun(at, count) if len > 0 => {
                    let at = at.index(len);
                    let count = usize::from(*count).min(len - at);
                    (0..count).for_each(|_| self.remove(at, true));
                }
                Op::Change(at) if len > 0 => {
                    let at = at.index(len);
                    *self.sequence.get_mut(at).unwrap() ^= 1;
                    self.model[at].1 ^= 1;
                }
                Op::Move(from, to) if len > 0 => {
                    let moved = self.model.remove(from.index(len));
                    assert!(self.sequence.move_to(moved.0, to.index(len)));
                    self.model.insert(to.index(len), moved);
                }
                Op::Sort => {
                    self.sequence.sort_by(|a, b| (a >> 4).cmp(&(b >> 4)));
                    self.model.sort_by_key(|(_, item)| item >> 4);
                }
                Op::Settle(indices) if len > 0 => self.sort_moved(indices),
                Op::Clear => {
                    self.sequence.clear();
                    self.model.clear();
                }
                _ => {}
            }
        }

        fn sort_moved(&mut self, indices: &[Index]) {
            self.sequence.sort_by(u32::cmp);
            self.model.sort_by_key(|(_, item)| *item);
            let mut moved = Vec::new();
            for index in indices {
                let at = index.index(self.model.len());
                let (key, item) = &mut self.model[at];
                *item = item.wrapping_mul(3);
                *self.sequence.by_key_mut(*key).unwrap() = *item;
                moved.push(*key);
            }
            self.sequence.sort_moved(&moved, u32::cmp);
            self.model.sort_by_key(|(_, item)| *item);
            // The order of equal items is not specified.
            let items: HashMap<Key, u32> = self.model.iter().copied().collect();
            self.model = self.sequence.keys_from(0).map(|key| (key, items[&key])).collect();
            assert!(self.model.is_sorted_by_key(|(_, item)| *item) && items.len() == self.model.len());
        }

        fn check(&self) {
            self.sequence.parts().order.check();
            assert_eq!(self.sequence.len(), self.model.len());
            assert!(self.sequence.iter().copied().eq(self.model.iter().map(|(_, item)| *item)));
            assert!(self.sequence.keys_from(0).eq(self.model.iter().map(|(key, _)| *key)));
            assert!(self.sequence.keys_from(0).rev().eq(self.model.iter().rev().map(|(key, _)| *key)));
        }

        fn check_places(&self) {
            for (at, (key, item)) in self.model.iter().enumerate() {
                assert_eq!(self.sequence.index_of(*key), Some(at));
                assert_eq!(self.sequence.key_at(at), Some(*key));
                assert_eq!(self.sequence.get(at), Some(item));
                assert_eq!(self.sequence.by_key(*key), Some(item));
            }
            assert_eq!(self.sequence.get(self.model.len()), None);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_sequence_equals_a_vector(ops in prop::collection::vec(op(), 0..120)) {
            let mut pair = Pair::default();
            for op in &ops {
                pair.apply(op);
                pair.check();
            }
            pair.check_places();
        }

        #[test]
        fn walking_from_both_ends_meets_in_the_middle(
            len in 0..3000_usize, from in any::<Index>(), turns in prop::collection::vec(any::<bool>(), 3000)
        ) {
            let sequence: Sequence<usize> = (0..len).collect();
            let from = from.index(len + 1);
            let (mut items, mut model) = (sequence.iter_from(from), from..len);
            for forward in turns {
                prop_assert_eq!(items.len(), model.len());
                let (item, expected) =
                    if forward { (items.next(), model.next()) } else { (items.next_back(), model.next_back()) };
                prop_assert_eq!(item.copied(), expected);
            }
        }

        #[test]
        fn partition_point_finds_the_same_index_as_in_a_vector(len in 0..3000_usize, bound in 0..3100_usize) {
            let sequence: Sequence<usize> = (0..len).collect();
            prop_assert_eq!(sequence.partition_point(|&item| item < bound), bound.min(len));
        }
    }

    #[test]
    fn a_sequence_built_at_once_is_as_good_as_one_built_piece_by_piece() {
        for len in [0, 1, 23, 24, 25, 47, 48, 49, 575, 576, 577, 1000, 20_000] {
            let mut sequence: Sequence<usize> = (0..len).collect();
            sequence.parts().order.check();
            assert!(sequence.iter().copied().eq(0..len));
            let key = sequence.insert(len / 2, len);
            sequence.parts().order.check();
            assert_eq!(sequence.index_of(key), Some(len / 2));
        }
    }

    #[test]
    fn growing_at_either_end_and_shrinking_to_nothing_keeps_the_balance() {
        for front in [false, true] {
            let mut sequence = Sequence::new();
            for item in 0..5000 {
                sequence.insert(if front { 0 } else { item }, item);
            }
            sequence.parts().order.check();
            while let Some(item) = sequence.key_at(0).and_then(|key| sequence.remove_key(key)) {
                assert_eq!(item, if front { sequence.len() } else { 4999 - sequence.len() });
            }
            sequence.parts().order.check();
            assert!(sequence.is_empty() && sequence.iter().next().is_none());
        }
    }

    #[test]
    fn items_are_changed_in_order() {
        let mut sequence: Sequence<u32> = [5, 3, 4].into_iter().collect();
        sequence.sort_by(u32::cmp);
        sequence.iter_mut().for_each(|(_, item)| *item += 10);
        assert_eq!(sequence.iter().copied().collect::<Vec<_>>(), [13, 14, 15]);
        sequence.iter_mut().rev().zip(1..).for_each(|((_, item), factor)| *item *= factor);
        assert_eq!(sequence.iter().copied().collect::<Vec<_>>(), [39, 28, 15]);
    }

    #[test]
    #[should_panic(expected = "beyond the end")]
    fn inserting_beyond_the_end_panics() {
        Sequence::new().insert(1, ());
    }
}
