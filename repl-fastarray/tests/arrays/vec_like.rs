//! The methods of `Vec` that both kinds of arrays offer.
//!
//! *Invariant:* every operation has the same result as the `Vec` method of the same name, and ids stay with
//! their items.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use repl_core::label::Label;
use repl_core::{HandleSet, Keyed, KeyedShadow};
use repl_fastarray::{ChangedProperties, FastArray, FastArrayItem, ItemMut, OrderedFastArray};

use crate::support::{Told, id};

fn said(panics: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(panics)).expect_err("it panics");
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref().map(|text: &&str| (*text).to_owned())).unwrap_or_default()
}

/// Defines the tests for a kind of array. `$ids` returns the ids of an array as numbers.
macro_rules! tests_of {
    ($($module:ident: $array:ident, $ids:expr;)*) => {$(
        mod $module {
            use super::*;

            type Array = $array<u8>;

            /// Returns the ids and items, in the order of the items.
            fn pairs(array: &Array) -> Vec<(u32, u8)> {
                $ids(array).zip(array.iter().copied()).collect()
            }

            fn some(items: &[u8], turned: usize) -> (Array, Vec<(u32, u8)>) {
                let mut array: Array = items.iter().copied().collect();
                array.rotate_left(turned % (items.len() + 1));
                let model = pairs(&array);
                (array, model)
            }

            proptest! {
                #![proptest_config(ProptestConfig::with_cases(200))]

                #[test]
                fn remaining_items_keep_their_ids(items in prop::collection::vec(0..5_u8, 0..80), turned: usize) {
                    let (mut array, mut model) = some(&items, turned);
                    array.dedup();
                    model.dedup_by_key(|(_, item)| *item);
                    assert_eq!(pairs(&array), model);
                    array.dedup_by_key(|item| *item / 2);
                    model.dedup_by_key(|(_, item)| *item / 2);
                    assert_eq!(pairs(&array), model);
                    array.dedup_by(|one, other| *one == *other + 1);
                    model.dedup_by(|one, other| one.1 == other.1 + 1);
                    assert_eq!(pairs(&array), model);
                    let change = |item: &mut u8| { *item ^= 1; *item != 0 };
                    array.retain_mut(|item| change(item));
                    model.retain_mut(|(_, item)| change(item));
                    assert_eq!(pairs(&array), model);
                    array.retain(|item| *item != 3);
                    model.retain(|(_, item)| *item != 3);
                    assert_eq!(pairs(&array), model);
                }

                #[test]
                fn inserted_items_are_new(items in prop::collection::vec(0..5_u8, 0..80), turned: usize, at in 0..100_usize) {
                    let (mut array, model) = some(&items, turned);
                    array.extend_from_slice(&items);
                    array.resize(2 * items.len() + 3, 7);
                    array.resize_with(2 * items.len() + 5, || 8);
                    let mut all = model.clone();
                    let new = items.iter().copied().chain([7, 7, 7, 8, 8]);
                    all.extend((1 + items.len() as u32..).zip(new));
                    assert_eq!(pairs(&array), all);

                    let at = at % (all.len() + 1);
                    let mut rest = array.split_off(at);
                    let first = all.len() as u32 + 1;
                    let taken: Vec<_> = (first..).zip(all.split_off(at).into_iter().map(|(_, item)| item)).collect();
                    assert_eq!((pairs(&array), pairs(&rest)), (all.clone(), taken.clone()));
                    array.append(&mut rest);
                    all.extend((first..).zip(taken.into_iter().map(|(_, item)| item)));
                    assert_eq!((pairs(&array), rest.len()), (all.clone(), 0));
                    array.resize(at, 0);
                    all.truncate(at);
                    assert_eq!(pairs(&array), all);
                }

                #[test]
                fn sorting_takes_ids_along(items in prop::collection::vec(0..20_u8, 0..80), turned: usize, how in 0..5) {
                    let (mut array, mut model) = some(&items, turned);
                    let key = |item: &u8| item % 7;
                    match how {
                        0 => array.sort(),
                        1 => array.sort_by_key(key),
                        2 => array.sort_by_cached_key(key),
                        3 => array.sort_unstable(),
                        _ => array.sort_unstable_by_key(key),
                    }
                    if how == 0 || how == 3 {
                        model.sort_by_key(|(_, item)| *item);
                    } else {
                        model.sort_by_key(|(_, item)| key(item));
                    }
                    let mut sorted = pairs(&array);
                    if how >= 3 {
                        prop_assert!(sorted.iter().map(|(_, item)| key(item)).eq(model.iter().map(|(_, item)| key(item))));
                        sorted.sort_unstable();
                        model.sort_unstable();
                    }
                    assert_eq!(sorted, model);
                }
            }

            #[test]
            fn ids_tell_who_is_there() {
                let mut array: Array = [7, 8, 9].into();
                array.remove(1);
                let ids = [1, 2, 3, 4].map(|number| array.contains_id(id(number)));
                assert_eq!(ids, [true, false, true, false]);
            }

            #[test]
            fn room_is_made_ahead() {
                let mut array = Array::with_capacity(100);
                let capacity = array.capacity();
                assert!(capacity >= 100);
                array.extend(0..100);
                array.extend(&[1, 2][..0]);
                assert_eq!((array.len(), array.capacity()), (100, capacity));
            }

            #[test]
            fn arrays_are_compared_with_other_containers_of_items() {
                let array: Array = [7, 8][..].into();
                assert!(array == [7, 8] && array == vec![7, 8] && array == &[7, 8][..] && array == [7, 8][..]);
                assert!(array != [7] && array != [7, 9] && array != Array::default());
            }

            #[test]
            fn writing_in_retain_marks_the_written_items() {
                let mut array: Array = (0..10).collect();
                let mut shadow = Array::new();
                shadow.follow(&array, &mut |_, _| {});
                array.retain_mut(|item| {
                    assert_eq!(u32::from(**item) + 1, ItemMut::id(item).number());
                    assert_eq!(usize::from(**item), ItemMut::index(item));
                    if **item == 4 {
                        **item = 40;
                    }
                    **item != 6
                });
                let mut told = Vec::new();
                shadow.follow(&array, &mut |id, _| told.push(id.number()));
                assert_eq!(told, [5, 7]);
            }

            #[test]
            fn places_that_are_not_there_are_named() {
                let mut array: Array = [7, 8].into();
                for text in [
                    said(|| array.mark(2)),
                    said(|| array[2] = 1),
                ] {
                    assert_eq!(text, "there is no item 2 among 2");
                }
                assert_eq!(said(|| array.swap(0, 2)), "items 0 and 2 are not among 2");
                assert_eq!(said(|| drop(array.drain(1..4))), "1..4 is no range of 2 items");
                assert_eq!(said(|| drop(array.split_off(3))), "3..2 is no range of 2 items");
                assert_eq!(array, [7, 8]);
            }
        }
    )*};
}

tests_of! {
    fast_array: FastArray, |array: &Array| array.ids().to_vec().into_iter().map(|id| id.number());
    ordered: OrderedFastArray, |array: &Array| array.ids().collect::<Vec<_>>().into_iter().map(|id| id.number());
}

fn ordered(items: &[u8]) -> OrderedFastArray<u8> {
    let mut array: OrderedFastArray<u8> = items.iter().rev().copied().collect();
    array.reverse();
    array
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn an_ordered_array_is_searched_like_a_slice(mut items in prop::collection::vec(any::<u8>(), 0..200), wanted: u8) {
        items.sort_unstable();
        let array = ordered(&items);
        let first = items.partition_point(|item| *item < wanted);
        assert_eq!(array.partition_point(|item| *item < wanted), first);
        let found = if items.contains(&wanted) { Ok(first) } else { Err(first) };
        assert_eq!(array.contains(&wanted), found.is_ok());
        assert_eq!(array.binary_search(&wanted), found);
        assert_eq!(array.binary_search_by(|item| item.cmp(&wanted)), found);
        assert_eq!(array.binary_search_by_key(&u32::from(wanted), |item| u32::from(*item)), found);
    }

    #[test]
    fn a_range_has_the_items_in_it(items in prop::collection::vec(any::<u8>(), 0..200), one: usize, other: usize) {
        let array = ordered(&items);
        let (one, other) = (one % (items.len() + 1), other % (items.len() + 1));
        let range = one.min(other)..one.max(other);
        assert!(array.range(range.clone()).eq(&items[range.clone()]));
        assert!(array.range(range.clone()).rev().eq(items[range.clone()].iter().rev()));
        assert_eq!(array.range(range.clone()).len(), range.len());
        assert!(array.range(range.start..).eq(array.iter_from(range.start)));
        assert!(array.range(..range.end).eq(&items[..range.end]));
    }

    #[test]
    fn r13_items_come_and_go_beside_their_neighbours(steps in prop::collection::vec(any::<(u8, usize, usize)>(), 1..60)) {
        let mut array: OrderedFastArray<u8> = [0].into();
        let mut model = vec![id(1)];
        for (step, one, other) in steps {
            let len = model.len();
            let (from, neighbour) = (one % len, model[other % len]);
            match step % 4 {
                0 => model.insert(other % len, array.insert_before(neighbour, step).expect("a neighbour")),
                1 => model.insert(other % len + 1, array.insert_after(neighbour, step).expect("a neighbour")),
                // Moving an item next to itself changes nothing.
                _ if from == other % len => {
                    assert!(array.move_before(neighbour, neighbour) && array.move_after(neighbour, neighbour));
                }
                before => {
                    let moved = model.remove(from);
                    let at = model.iter().position(|id| *id == neighbour).expect("a neighbour");
                    let done = if before == 2 { array.move_before(moved, neighbour) } else { array.move_after(moved, neighbour) };
                    assert!(done);
                    model.insert(if before == 2 { at } else { at + 1 }, moved);
                }
            }
            assert!(array.ids().eq(model.iter().copied()));
            let labels: Vec<&Label> = array.ids().filter_map(|id| Keyed::label(&array, id)).collect();
            assert!(labels.is_sorted_by(|one, other| one < other));
        }
    }
}

#[test]
fn nothing_is_inserted_next_to_a_missing_item() {
    let mut array: OrderedFastArray<u8> = [7, 8].into();
    assert_eq!((array.insert_before(id(3), 1), array.insert_after(id(3), 2)), (Err(1), Err(2)));
    assert!(!array.move_before(id(3), id(1)) && !array.move_after(id(1), id(3)));
    assert_eq!(array, [7, 8]);
}

#[test]
fn changed_properties_are_queried_by_path() {
    let mut handles = HandleSet::new();
    [3, 4].into_iter().for_each(|handle| handles.insert(handle));
    let changed = ChangedProperties::new(Told::LAYOUT, &handles);
    let asked = ["name", "place", "place[0]", "place[1]", "count"].map(|path| changed.contains(path));
    assert_eq!(asked, [false, true, false, true, true]);
    assert!(changed.contains_property(Told::LAYOUT.property("count")));
    assert!(changed.iter().eq(["place", "count"]));
    for path in
        ["", ".", "plac", "place.", "place[2]", "place[x]", "place[1", "place[0][0]", "count.x", ".count"]
    {
        let text = said(|| _ = changed.contains(path));
        assert!(text.contains(&format!("`Told` has no property `{path}`")), "{text}");
    }
}

#[cfg(feature = "serde")]
#[test]
fn ids_are_written_as_their_numbers() {
    let text = serde_json::to_string(&[id(1), id(u32::MAX)]).expect("a form");
    assert_eq!(text, "[1,4294967295]");
    assert_eq!(serde_json::from_str::<[repl_core::ItemId; 2]>(&text).expect("ids"), [id(1), id(u32::MAX)]);
    assert!(serde_json::from_str::<repl_core::ItemId>("0").is_err());
}
