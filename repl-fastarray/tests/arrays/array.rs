//! Tests of the public methods of [`FastArray`]: it is used like a `Vec`, and finds its items by id.
//!
//! *Invariant:* every operation has the same result as the `Vec` method of the same name, and ids stay with
//! their items.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use repl_core::{ItemId, ObjectRef};
use repl_fastarray::{FastArray, FastArrayItem, ItemMut};

use crate::support::{Told, id};

#[derive(Clone, Debug)]
enum Op {
    Push(u16),
    Insert(usize, u16),
    Remove(usize),
    SwapRemove(usize),
    Pop,
    Truncate(usize),
    Clear,
    Drain(usize, usize),
    Retain(u16),
    Extend(Vec<u16>),
    Write(usize, u16),
    Assign(usize, u16),
    EditById(usize, u16),
    WriteSome(u16),
    Swap(usize, usize),
    SwapValues(usize, usize),
    Reverse,
    Rotate(usize, bool),
    Sort(u8),
    Ask,
}

fn op() -> impl Strategy<Value = Op> {
    let at = 0..400_usize;
    prop_oneof![
        6 => any::<u16>().prop_map(Op::Push),
        4 => (at.clone(), any::<u16>()).prop_map(|(at, item)| Op::Insert(at, item)),
        3 => at.clone().prop_map(Op::Remove),
        3 => at.clone().prop_map(Op::SwapRemove),
        2 => Just(Op::Pop),
        1 => at.clone().prop_map(Op::Truncate),
        1 => Just(Op::Clear),
        1 => (at.clone(), at.clone()).prop_map(|(one, other)| Op::Drain(one, other)),
        1 => (1..9_u16).prop_map(Op::Retain),
        2 => prop::collection::vec(any::<u16>(), 0..300).prop_map(Op::Extend),
        2 => (at.clone(), any::<u16>()).prop_map(|(at, item)| Op::Write(at, item)),
        2 => (at.clone(), any::<u16>()).prop_map(|(at, item)| Op::Assign(at, item)),
        2 => (at.clone(), any::<u16>()).prop_map(|(at, item)| Op::EditById(at, item)),
        1 => (2..40_u16).prop_map(Op::WriteSome),
        2 => (at.clone(), at.clone()).prop_map(|(one, other)| Op::Swap(one, other)),
        1 => (at.clone(), at.clone()).prop_map(|(one, other)| Op::SwapValues(one, other)),
        1 => Just(Op::Reverse),
        1 => (at, any::<bool>()).prop_map(|(by, left)| Op::Rotate(by, left)),
        2 => (0..7_u8).prop_map(Op::Sort),
        4 => Just(Op::Ask),
    ]
}

/// A model of a fast array: the items with their ids in a plain `Vec`. New items get consecutive ids.
struct Model {
    items: Vec<(u32, u16)>,
    next: u32,
}

impl Model {
    fn give_id(&mut self, item: u16) -> (u32, u16) {
        self.next += 1;
        (self.next - 1, item)
    }

    fn apply(&mut self, op: &Op, array: &mut FastArray<u16>) {
        let len = self.items.len();
        let at = |at: usize| at % len.max(1);
        match *op {
            Op::Push(item) => {
                let new = self.give_id(item);
                self.items.push(new);
                assert_eq!(array.push(item).number(), new.0);
            }
            Op::Insert(at, item) => {
                let (at, new) = (at % (len + 1), self.give_id(item));
                self.items.insert(at, new);
                assert_eq!(array.insert(at, item).number(), new.0);
            }
            Op::Extend(ref items) => {
                let new: Vec<_> = items.iter().map(|&item| self.give_id(item)).collect();
                self.items.extend(new);
                array.extend(items.iter().copied());
            }
            Op::Clear => {
                self.items.clear();
                array.clear();
            }
            Op::Truncate(to) => {
                self.items.truncate(to);
                array.truncate(to);
            }
            Op::Pop => assert_eq!(array.pop(), self.items.pop().map(|(_, item)| item)),
            Op::Drain(one, other) => {
                let range = at(one).min(at(other))..at(one).max(at(other));
                let drained: Vec<_> = self.items.drain(range.clone()).map(|(_, item)| item).collect();
                assert_eq!(array.drain(range).collect::<Vec<_>>(), drained);
            }
            Op::Retain(of) => {
                self.items.retain(|(_, item)| item % of == 0);
                array.retain(|item| item % of == 0);
            }
            Op::WriteSome(of) => {
                self.items.iter_mut().filter(|(_, item)| item % of == 0).for_each(|(_, item)| *item ^= 1);
                for mut item in array.iter_mut().filter(|item| **item % of == 0) {
                    *item ^= 1;
                }
            }
            Op::Reverse => {
                self.items.reverse();
                array.reverse();
            }
            Op::Rotate(by, left) => {
                let by = by % (len + 1);
                if left {
                    self.items.rotate_left(by)
                } else {
                    self.items.rotate_right(by)
                }
                if left { array.rotate_left(by) } else { array.rotate_right(by) }
            }
            Op::Sort(how) => self.sort(how, array),
            Op::Ask => self.check(array, true),
            _ if len == 0 => {}
            Op::Remove(i) => assert_eq!(array.remove(at(i)), self.items.remove(at(i)).1),
            Op::SwapRemove(i) => assert_eq!(array.swap_remove(at(i)), self.items.swap_remove(at(i)).1),
            Op::Write(i, item) => {
                self.items[at(i)].1 = item;
                *array.get_mut(at(i)).expect("an item") = item;
            }
            Op::Assign(i, item) => {
                self.items[at(i)].1 = item;
                array[at(i)] = item;
            }
            Op::EditById(i, item) => {
                self.items[at(i)].1 = item;
                let id = id(self.items[at(i)].0);
                assert!(array.edit(id, |there| std::mem::replace(there, item)).is_some());
            }
            Op::Swap(one, other) => {
                self.items.swap(at(one), at(other));
                array.swap(at(one), at(other));
            }
            Op::SwapValues(one, other) => {
                let (one, other) = (at(one).min(at(other)), at(one).max(at(other)));
                let items = (self.items[one].1, self.items[other].1);
                (self.items[other].1, self.items[one].1) = items;
                let mut guards = array.iter_mut().skip(one);
                if let (Some(mut first), Some(mut last)) =
                    (guards.next(), guards.nth((other - one).wrapping_sub(1)))
                {
                    std::mem::swap(&mut *first, &mut *last);
                }
            }
        }
    }

    fn sort(&mut self, how: u8, array: &mut FastArray<u16>) {
        match how {
            0 => array.sort(),
            1 => array.sort_by(|one, other| one.cmp(other)),
            2 => array.sort_by_key(|item| *item),
            3 => array.sort_by_cached_key(|item| *item),
            4 => array.sort_unstable(),
            5 => array.sort_unstable_by(|one, other| one.cmp(other)),
            _ => array.sort_unstable_by_key(|item| *item),
        }
        self.items.sort_by_key(|(_, item)| *item);
        if how >= 4 {
            let ids: BTreeMap<_, _> = self.items.iter().copied().collect();
            assert!(array.ids().iter().zip(array.iter()).all(|(id, item)| ids[&id.number()] == *item));
            self.items = array.ids().iter().map(|id| (id.number(), ids[&id.number()])).collect();
            assert!(self.items.is_sorted_by_key(|(_, item)| *item));
        }
    }

    fn check(&self, array: &FastArray<u16>, by_id: bool) {
        assert!(array.iter().copied().eq(self.items.iter().map(|(_, item)| *item)));
        assert!(array.ids().iter().map(|id| id.number()).eq(self.items.iter().map(|(id, _)| *id)));
        if by_id {
            for (at, (number, item)) in self.items.iter().enumerate() {
                assert_eq!(array.index_of(id(*number)), Some(at));
                assert_eq!(array.by_id(id(*number)), Some(item));
            }
            assert_eq!(array.index_of(id(self.next)), None);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn an_array_is_a_vec_whose_ids_stay_with_their_items(start in 0..600_u16, ops in prop::collection::vec(op(), 0..60)) {
        let mut array = FastArray::new();
        let mut model = Model { items: Vec::new(), next: 1 };
        model.apply(&Op::Extend((0..start).collect()), &mut array);
        for op in &ops {
            model.apply(op, &mut array);
            model.check(&array, false);
        }
        model.check(&array, true);
    }
}

#[test]
fn s134_ids_lie_beside_items_and_count_from_one() {
    let mut array = FastArray::from([7_u8, 8]);
    assert_eq!(size_of_val(array.as_slice()), 2, "an item is what its type is");
    assert_eq!(array.ids(), [id(1), id(2)]);
    assert_eq!(array.push(9), id(3));
    assert_eq!((array.id(2), array.id(3)), (Some(id(3)), None));
}

#[test]
fn s134_s135_items_are_found_by_id_wherever_they_are() {
    let mut array: FastArray<u32> = (1..=1_000).collect();
    array.rotate_left(300);
    array.swap(0, 999);
    array.swap_remove(20);
    array.insert(10, 1_001);
    array.retain(|item| item % 3 != 0);
    for (at, item) in array.iter().enumerate() {
        assert_eq!((array.index_of(id(*item)), array.by_id(id(*item))), (Some(at), Some(item)));
    }
    assert_eq!(array.index_of(id(3)), None);
    assert_eq!(array.remove_by_id(id(5)), Some(5));
    assert_eq!(array.by_id(id(5)), None);
    assert_eq!(array.remove_by_id(id(5)), None);
}

#[test]
fn s135_an_index_that_exists_follows_every_item() {
    let mut array: FastArray<u32> = (1..=100).collect();
    assert_eq!(array.index_of(id(50)), Some(49), "the first lookup builds the index");
    array.swap_remove(20);
    assert_eq!(array.index_of(id(21)), None);
    assert_eq!((array.index_of(id(100)), array.by_id(id(100))), (Some(20), Some(&100)));
    array.swap(5, 70);
    assert_eq!((array.index_of(id(6)), array.index_of(id(71))), (Some(70), Some(5)));
    assert_eq!(array.push(101), id(101));
    assert_eq!(array.index_of(id(101)), Some(99));
    assert_eq!(array.pop(), Some(101));
    assert_eq!(array.index_of(id(101)), None);
}

#[test]
fn s137_a_clone_has_items_of_its_own() {
    let array = FastArray::from([7_u8, 8]);
    let clone = array.clone();
    assert_eq!(clone, array);
    assert_eq!(clone.ids(), [id(3), id(4)]);

    let mut array = array;
    array = array.clone();
    assert_eq!(array.ids(), [id(3), id(4)], "the old ones are gone");
}

#[test]
fn s137_reinserted_items_are_new() {
    let mut array = FastArray::from([7_u8, 8, 9]);
    let item = array.remove(1);
    array.insert(1, item);
    assert_eq!(array.ids(), [id(1), id(4), id(3)]);
}

#[test]
fn s137_moving_an_array_keeps_its_ids() {
    let mut one = FastArray::from([7_u8, 8]);
    let mut other = FastArray::with_next_id(id(100));
    other.push(9);
    std::mem::swap(&mut one, &mut other);
    assert_eq!((one.ids(), other.ids()), (&[id(100)][..], &[id(1), id(2)][..]));
    assert_eq!(std::mem::take(&mut other).ids(), [id(1), id(2)]);
    assert!(other.ids().is_empty());
}

#[test]
fn s139_ids_come_round_and_no_two_items_have_one() {
    let mut array = FastArray::with_next_id(id(ItemId::LAST.number() - 2));
    for item in 0..6_u8 {
        array.push(item);
    }
    let last = ItemId::LAST.number();
    assert_eq!(array.ids(), [id(last - 2), id(last - 1), id(last), id(1), id(2), id(3)]);
    assert_eq!(array.by_id(id(1)), Some(&3));
}

#[test]
fn guards_know_their_items() {
    let mut array = FastArray::from([7_u8, 8, 9]);
    array.rotate_left(1);
    let guards: Vec<_> = array.iter_mut().collect();
    assert_eq!(
        guards
            .iter()
            .map(|item| (ItemMut::id(item).number(), ItemMut::index(item), **item))
            .collect::<Vec<_>>(),
        [(2, 0, 8), (3, 1, 9), (1, 2, 7)]
    );
    assert_eq!(array.iter_mut().rev().map(|item| ItemMut::index(&item)).collect::<Vec<_>>(), [2, 1, 0]);
    assert_eq!(array.last_mut().map(|item| *item), Some(7));
    assert!(array.get_mut(3).is_none() && array.get_mut_by_id(id(4)).is_none());
}

#[test]
fn a_panic_while_retaining_leaves_items_with_their_ids() {
    let mut array: FastArray<u32> = (1..=10).collect();
    array.rotate_left(3);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        array.retain(|item| {
            assert!(*item != 8, "as planned");
            item % 2 == 0
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(array, [4, 6, 8, 9, 10, 1, 2, 3]);
    assert!(array.iter().zip(array.ids()).all(|(item, id)| *item == id.number()));
    assert!(array.iter().enumerate().all(|(at, item)| array.index_of(id(*item)) == Some(at)));
}

#[test]
fn indices_beyond_the_end_change_nothing() {
    let mut array: FastArray<u32> = (1..=3).collect();
    for wrong in [
        (|array| _ = array.remove(3)) as fn(&mut FastArray<u32>),
        |array| _ = array.swap_remove(3),
        |array| _ = array.insert(4, 0),
        |array| array.swap(0, 3),
        |array| array.rotate_left(4),
        |array| array.mark(3),
        |array| array[3] = 1,
        |array| drop(array.drain(2..4)),
    ] {
        assert!(catch_unwind(AssertUnwindSafe(|| wrong(&mut array))).is_err());
        assert_eq!(array, [1, 2, 3]);
        assert_eq!(array.ids(), [id(1), id(2), id(3)]);
    }
}

#[test]
fn arrays_go_wherever_items_go() {
    fn goes<T: Send + Sync>() {}
    goes::<FastArray<Told>>();
}

#[test]
fn layouts_of_items_print() {
    assert_eq!(Told::LAYOUT.name(), "Told");
    let table = format!("{}", Told::LAYOUT);
    assert!(["name", "place[1]", "count"].iter().all(|path| table.contains(path)), "{table}");
    assert_eq!(<u32 as FastArrayItem>::LAYOUT.counts().handles, 1);
    assert_eq!(<ObjectRef<Told> as FastArrayItem>::LAYOUT.counts().handles, 1);
}

#[cfg(feature = "serde")]
#[test]
fn arrays_are_written_as_sequences_and_read_with_new_ids() {
    let mut array = FastArray::from([7_u8, 8, 9]);
    array.remove(0);
    let text = serde_json::to_string(&array).expect("a form");
    assert_eq!(text, "[8,9]");
    let back: FastArray<u8> = serde_json::from_str(&text).expect("an array");
    assert_eq!((back.as_slice(), back.ids()), (&[8, 9][..], &[id(1), id(2)][..]));
    assert!(serde_json::from_str::<FastArray<u8>>("{}").is_err());
}
