//! Tests of shadows that follow a live array. A shadow is the server's copy of an array. It *follows* when it
//! is updated from the live array.
//!
//! *Invariant:* after a shadow has followed, it has the same items with the same ids as the live array, and
//! has reported exactly the items that were written to.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use repl_core::{ItemId, Keyed, KeyedReplica, KeyedShadow};
use repl_fastarray::{FastArray, ItemMut};

use crate::support::{StepKind, contents, follow, id, numbers};

#[derive(Clone, Debug)]
enum Op {
    Push(u32),
    Insert(usize, u32),
    Remove(usize),
    SwapRemove(usize),
    Truncate(usize),
    Retain(u32),
    Extend(usize),
    Write(usize, u32),
    WriteSome(u32),
    EditById(usize, u32),
    Look(usize),
    Mark(usize),
    MarkAll,
    UnmarkedThenMark(usize, u32),
    SwapValues(usize),
    Swap(usize, usize),
    Sort,
    Rotate(usize),
    Reverse,
    CloneOver,
    Renew(u32),
    Exchange,
    Follow(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let at = 0..1_000_usize;
    prop_oneof![
        6 => any::<u32>().prop_map(Op::Push),
        6 => (at.clone(), any::<u32>()).prop_map(|(at, item)| Op::Insert(at, item)),
        5 => at.clone().prop_map(Op::Remove),
        5 => at.clone().prop_map(Op::SwapRemove),
        1 => at.clone().prop_map(Op::Truncate),
        1 => (2..9_u32).prop_map(Op::Retain),
        2 => (0..300_usize).prop_map(Op::Extend),
        8 => (at.clone(), any::<u32>()).prop_map(|(at, item)| Op::Write(at, item)),
        2 => (2..90_u32).prop_map(Op::WriteSome),
        3 => (at.clone(), any::<u32>()).prop_map(|(at, item)| Op::EditById(at, item)),
        2 => at.clone().prop_map(Op::Look),
        2 => at.clone().prop_map(Op::Mark),
        1 => Just(Op::MarkAll),
        2 => (at.clone(), any::<u32>()).prop_map(|(at, item)| Op::UnmarkedThenMark(at, item)),
        1 => at.clone().prop_map(Op::SwapValues),
        3 => (at.clone(), at.clone()).prop_map(|(one, other)| Op::Swap(one, other)),
        2 => Just(Op::Sort),
        2 => at.prop_map(Op::Rotate),
        1 => Just(Op::Reverse),
        1 => Just(Op::CloneOver),
        1 => (0..5_u32).prop_map(Op::Renew),
        1 => Just(Op::Exchange),
        12 => (0..3_usize).prop_map(Op::Follow),
    ]
}

/// A shadow, and the items that it may report when it follows the next time.
struct Watcher {
    shadow: FastArray<u32>,
    /// The items that were written to since the shadow followed. `None` if the shadow may report every item,
    /// because the array was replaced, or entries of its log were dropped.
    touched: Option<BTreeSet<ItemId>>,
    /// The number of the array that the shadow has followed.
    followed: Option<u32>,
}

struct Room {
    live: FastArray<u32>,
    other: FastArray<u32>,
    /// The numbers of the arrays `live` and `other`. Each new array gets a new number.
    numbers: (u32, u32),
    made: u32,
    watchers: [Watcher; 3],
    /// The greatest number of changes that the log may contain since a shadow last followed.
    noted: usize,
}

impl Room {
    fn new(start: u32) -> Self {
        Self {
            live: (0..start).collect(),
            other: (0..3).collect(),
            numbers: (0, 1),
            made: 2,
            watchers: std::array::from_fn(|_| Watcher {
                shadow: FastArray::new(),
                touched: None,
                followed: None,
            }),
            noted: 0,
        }
    }

    fn touched(&mut self, id: Option<ItemId>) {
        self.noted(1);
        for watcher in &mut self.watchers {
            if let Some(touched) = &mut watcher.touched {
                touched.extend(id);
            }
        }
    }

    fn noted(&mut self, changes: usize) {
        self.noted += changes;
        if self.noted > 2 * self.live.len() + 64 {
            self.replaced();
        }
    }

    /// Records that the array, or all its items, were replaced.
    fn renewed(&mut self) {
        self.numbers.0 = self.made;
        self.made += 1;
        self.replaced();
    }

    fn replaced(&mut self) {
        self.watchers.iter_mut().for_each(|watcher| watcher.touched = None);
    }

    fn apply(&mut self, op: Op) {
        let len = self.live.len();
        let at = |at: usize| at % len.max(1);
        match op {
            Op::Push(item) => {
                let id = self.live.push(item);
                self.touched(Some(id));
            }
            Op::Insert(at, item) => {
                let id = self.live.insert(at % (len + 1), item);
                self.touched(Some(id));
            }
            Op::Extend(count) => {
                self.live.extend(0..count as u32);
                (len..len + count).for_each(|at| self.touched(self.live.id(at)));
            }
            Op::Truncate(to) => {
                self.live.truncate(to);
                self.noted(len.saturating_sub(to));
            }
            Op::Retain(of) => {
                let mut written = Vec::new();
                self.live.retain_mut(|item| {
                    if **item % 11 == 0 {
                        **item += 1;
                        written.push(ItemMut::id(item));
                    }
                    **item % of != 0
                });
                written.into_iter().for_each(|id| self.touched(Some(id)));
                self.noted(len - self.live.len());
            }
            Op::WriteSome(of) => {
                let mut written = Vec::new();
                for mut item in &mut self.live {
                    if *item % of == 0 {
                        *item = item.wrapping_mul(3) ^ 5;
                        written.push(ItemMut::id(&item));
                    }
                }
                written.into_iter().for_each(|id| self.touched(Some(id)));
            }
            Op::MarkAll => {
                self.live.mark_all();
                (0..len).for_each(|at| self.touched(self.live.id(at)));
            }
            Op::Sort => self.live.sort(),
            Op::Rotate(by) => self.live.rotate_left(by % (len + 1)),
            Op::Reverse => self.live.reverse(),
            Op::CloneOver => {
                self.live = self.live.clone();
                self.renewed();
            }
            Op::Renew(count) => {
                self.live = (0..count).collect();
                self.renewed();
            }
            Op::Exchange => {
                std::mem::swap(&mut self.live, &mut self.other);
                std::mem::swap(&mut self.numbers.0, &mut self.numbers.1);
                self.replaced();
            }
            Op::Follow(which) => self.follow(which),
            _ if len == 0 => {}
            Op::Remove(i) => {
                self.live.remove(at(i));
                self.noted(1);
            }
            Op::SwapRemove(i) => {
                self.live.swap_remove(at(i));
                self.noted(1);
            }
            Op::Look(i) => {
                let item = self.live[at(i)];
                assert!(self.live.get_mut(at(i)).is_some_and(|there| *there == item));
                let id = self.live.id(at(i)).expect("an id");
                assert_eq!(self.live.index_of(id), Some(at(i)));
            }
            Op::Swap(one, other) => self.live.swap(at(one), at(other)),
            Op::Write(i, item) => {
                self.live[at(i)] = item;
                self.touched(self.live.id(at(i)));
            }
            Op::EditById(i, item) => {
                let id = self.live.id(at(i)).expect("an id");
                self.live.edit(id, |there| *there = item);
                self.touched(Some(id));
            }
            Op::Mark(i) => {
                self.live.mark(at(i));
                self.touched(self.live.id(at(i)));
            }
            Op::UnmarkedThenMark(i, item) => {
                *self.live.unmarked_mut(at(i)).expect("an item") = item;
                self.live.mark(at(i));
                self.touched(self.live.id(at(i)));
            }
            Op::SwapValues(i) => {
                let mut guards = self.live.iter_mut();
                if let (Some(mut first), Some(mut other)) = (guards.next(), guards.nth(at(i))) {
                    std::mem::swap(&mut *first, &mut *other);
                    let ids = [ItemMut::id(&first), ItemMut::id(&other)];
                    ids.into_iter().for_each(|id| self.touched(Some(id)));
                }
            }
        }
    }

    fn follow(&mut self, which: usize) {
        for other in (0..3).filter(|&other| other != which) {
            // Log entries that one shadow has read are dropped. So the other shadows may have to compare all
            // items.
            if !self.watchers[other].shadow.is_up_to_date(&self.live) {
                self.watchers[other].touched = None;
            }
        }
        self.noted = 0;
        let Watcher { shadow, touched, followed } = &mut self.watchers[which];
        let (before, ids) = (contents(shadow), self.live.ids().to_vec());
        if shadow.is_up_to_date(&self.live) {
            assert_eq!(before, contents(&self.live), "it lacks nothing");
        }
        let steps = follow(shadow, &mut self.live);
        let now = contents(&self.live);
        if followed.is_some_and(|followed| followed != self.numbers.0) {
            let (old, new) = (before.keys().map(|id| id.number()), now.keys().map(|id| id.number()));
            assert!(numbers(&steps, StepKind::Removed).into_iter().eq(old), "all that was there goes");
            assert!(numbers(&steps, StepKind::Added).into_iter().eq(new), "and all that is there comes");
        }
        let mut told = BTreeMap::new();
        for (id, went) in steps {
            let known = told.insert(id, went);
            if let Some(first) = known {
                assert!(first != StepKind::Removed && went == StepKind::Touched, "{id} is told twice");
                told.insert(id, first);
            }
        }
        for (id, went) in &told {
            match went {
                StepKind::Added => assert!(!before.contains_key(id) && now.contains_key(id), "{id} added"),
                StepKind::Removed => {
                    assert!(before.contains_key(id) && !now.contains_key(id), "{id} removed")
                }
                StepKind::Touched => {
                    assert!(before.contains_key(id) && now.contains_key(id), "{id} touched");
                    assert!(
                        touched.as_ref().is_none_or(|touched| touched.contains(id)),
                        "{id} was not touched"
                    );
                }
            }
        }
        for id in touched.iter().flatten().filter(|id| now.contains_key(id)) {
            assert!(told.contains_key(id), "{id} was touched");
        }
        assert_eq!(contents(shadow), now);
        assert!(shadow.is_up_to_date(&self.live));
        *touched = Some(BTreeSet::new());
        let has_other_ids = self.live.ids() != ids;
        if has_other_ids {
            self.renewed();
            self.watchers[which].touched = Some(BTreeSet::new());
        }
        self.watchers[which].followed = Some(self.numbers.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn shadows_equal_the_arrays_that_they_follow_and_report_touched_items(
        start in prop_oneof![0..10_u32, 100..900_u32],
        ops in prop::collection::vec(op(), 0..80),
    ) {
        let mut room = Room::new(start);
        for op in ops {
            room.apply(op);
        }
        (0..3).for_each(|which| room.follow(which));
    }
}

/// Returns an array of `items` items, and a shadow that has followed it.
fn pair(items: u32) -> (FastArray<u32>, FastArray<u32>) {
    let mut live: FastArray<u32> = (0..items).collect();
    let mut shadow = FastArray::new();
    assert_eq!(follow(&mut shadow, &mut live).len(), items as usize);
    (live, shadow)
}

#[test]
fn s136_each_shadow_has_a_place_of_its_own() {
    let (mut live, mut early) = pair(5);
    live[1] = 9;
    let mut late = FastArray::new();
    assert_eq!(numbers(&follow(&mut late, &mut live), StepKind::Added), [1, 2, 3, 4, 5]);
    live.remove(0);
    assert_eq!(follow(&mut late, &mut live), [(id(1), StepKind::Removed)]);
    let steps = follow(&mut early, &mut live);
    assert!(steps.contains(&(id(2), StepKind::Touched)) && steps.contains(&(id(1), StepKind::Removed)));
    for shadow in [&early, &late] {
        assert!(shadow.is_up_to_date(&live));
        assert_eq!(contents(shadow), contents(&live));
    }
}

#[test]
fn s138_writing_through_an_array_marks_the_written_items() {
    let (mut live, mut shadow) = pair(10_000);
    for mut item in live.iter_mut().filter(|item| **item % 4_000 == 7) {
        *item += 1;
        *item += 1;
    }
    assert_eq!(numbers(&follow(&mut shadow, &mut live), StepKind::Touched), [8, 4_008, 8_008]);

    live[5] += 1;
    live.edit(id(7), |item| *item += 1);
    *live.get_mut(7).expect("an item") += 1;
    if let Some(mut item) = live.get_mut(9) {
        ItemMut::mark(&mut item);
    }
    assert_eq!(numbers(&follow(&mut shadow, &mut live), StepKind::Touched), [6, 7, 8, 10]);
}

#[test]
fn s138_each_mark_counts_though_the_item_was_marked_before_and_keeps_its_id() {
    let mut live = FastArray::from([1_u32, 2, 3]);
    assert_eq!(live.ids(), [id(1), id(2), id(3)], "the first id is 1, and each is one more than the last");
    let mut shadow = FastArray::new();
    follow(&mut shadow, &mut live);
    for round in 0..3 {
        live[1] += 1;
        assert!(
            !shadow.is_up_to_date(&live),
            "a mark of an item marks its array, for the {round}th time too"
        );
        assert_eq!(follow(&mut shadow, &mut live), [(id(2), StepKind::Touched)]);
        live.mark(1);
        assert!(!shadow.is_up_to_date(&live));
        assert_eq!(follow(&mut shadow, &mut live), [(id(2), StepKind::Touched)]);
        assert!(shadow.is_up_to_date(&live));
    }
    assert_eq!(live.ids(), [id(1), id(2), id(3)], "an item that has an id keeps it when it is marked");
    live.push(4);
    assert_eq!(live.ids().last(), Some(&id(4)));
}

#[test]
fn s138_reading_marks_nothing() {
    let (mut live, mut shadow) = pair(100);
    assert_eq!(live.iter_mut().map(|item| *item).sum::<u32>(), live.iter().sum::<u32>());
    live.retain_mut(|item| **item < 100);
    assert!(live.get_mut(3).is_some() && live.get_mut_by_id(id(3)).is_some());
    assert!(shadow.is_up_to_date(&live));
    assert_eq!(follow(&mut shadow, &mut live), []);
}

#[test]
fn s138_s141_s142_unmarked_writes_wait_for_a_mark() {
    let (mut live, mut shadow) = pair(3);
    *live.unmarked_mut(1).expect("an item") = 9;
    live.unmarked_slice_mut()[2] = 9;
    if let Some(mut item) = live.get_mut(0) {
        *ItemMut::unmarked(&mut item) = 9;
    }
    assert!(shadow.is_up_to_date(&live));
    live.mark(1);
    assert_eq!(follow(&mut shadow, &mut live), [(id(2), StepKind::Touched)]);
    live.mark_all();
    assert_eq!(numbers(&follow(&mut shadow, &mut live), StepKind::Touched), [1, 2, 3]);
    assert_eq!(shadow, [9, 9, 9]);
}

#[test]
fn s140_s143_adding_and_removing_need_no_mark() {
    let (mut live, mut shadow) = pair(3);
    live.push(9);
    live.insert(0, 8);
    live.remove(1);
    live.swap_remove(1);
    let mut steps = follow(&mut shadow, &mut live);
    steps.sort_unstable();
    assert_eq!(
        steps,
        [
            (id(1), StepKind::Removed),
            (id(2), StepKind::Removed),
            (id(4), StepKind::Added),
            (id(5), StepKind::Added)
        ]
    );
}

#[test]
fn s145_a_new_order_is_nothing_to_follow() {
    let (mut live, mut shadow) = pair(50);
    live.reverse();
    live.rotate_left(7);
    live.swap(3, 30);
    live.sort_by_key(|item| item % 7);
    assert!(shadow.is_up_to_date(&live));
    assert_eq!(follow(&mut shadow, &mut live), []);
}

#[test]
fn s148_a_late_joiner_receives_the_existing_items() {
    let (mut live, _) = pair(5);
    live.remove(0);
    live[0] = 7;
    live.push(8);
    let mut late = FastArray::new();
    let steps = follow(&mut late, &mut live);
    assert_eq!(numbers(&steps, StepKind::Added), [2, 3, 4, 5, 6]);
    assert_eq!(steps.len(), 5, "and of nothing else");
}

#[test]
fn s137_s167_rotations_and_sorts_between_changes_misalign_nothing() {
    let (mut live, mut shadow) = pair(3);
    live.rotate_right(1);
    live[0] = 30;
    live.sort_by(|one, other| other.cmp(one));
    live[2] = 40;
    assert_eq!(numbers(&follow(&mut shadow, &mut live), StepKind::Touched), [1, 3]);
    assert_eq!(contents(&shadow), BTreeMap::from([(id(1), 40), (id(2), 1), (id(3), 30)]));
}

#[test]
fn s147_an_array_that_nobody_marked_is_followed_all_the_same() {
    let mut live = FastArray::from([5_u32, 6]);
    let mut shadow = FastArray::new();
    assert!(!shadow.is_up_to_date(&live));
    assert_eq!(numbers(&follow(&mut shadow, &mut live), StepKind::Added), [1, 2]);
}

#[test]
fn s174_ids_that_wrap_around_are_sent_like_others() {
    let mut live = FastArray::with_next_id(id(ItemId::LAST.number() - 1));
    let mut shadow = FastArray::new();
    for item in 0..50_u32 {
        live.push(item);
        if live.len() > 3 {
            live.remove(0);
        }
        follow(&mut shadow, &mut live);
        assert_eq!(contents(&shadow), contents(&live));
    }
    assert_eq!(live.ids(), [id(46), id(47), id(48)]);
}

#[test]
fn items_that_were_added_and_removed_between_two_calls_are_not_reported() {
    let (mut live, mut shadow) = pair(3);
    live.push(9);
    live.pop();
    assert!(!shadow.is_up_to_date(&live));
    assert_eq!(follow(&mut shadow, &mut live), []);
    assert!(shadow.is_up_to_date(&live));
}

#[test]
fn an_item_that_is_touched_several_times_in_a_row_is_logged_once() {
    let (mut live, mut shadow) = pair(3);
    for round in 0..1_000 {
        live[1] = round;
    }
    assert_eq!(follow(&mut shadow, &mut live), [(id(2), StepKind::Touched)]);
}

#[test]
fn a_long_absence_costs_no_memory_and_ends_with_a_look_at_all_items() {
    let (mut live, mut shadow) = pair(10);
    live[4] = 99;
    for _ in 0..10_000 {
        live.push(0);
        live.pop();
    }
    live[6] = 99;
    live.remove(0);
    live.push(7);
    let mut steps = follow(&mut shadow, &mut live);
    steps.sort_unstable();
    assert_eq!(steps.first(), Some(&(id(1), StepKind::Removed)));
    assert!(steps[1..10].iter().zip(2..).all(|(step, number)| *step == (id(number), StepKind::Touched)));
    assert_eq!(steps[10..], [(id(10_011), StepKind::Added)]);
    assert_eq!(contents(&shadow), contents(&live));
}

#[test]
fn s137_an_array_assigned_over_another_has_new_items_with_ids_of_their_own() {
    let (_, mut shadow) = pair(3);
    let mut live: FastArray<u32> = (10..12).collect();
    live.remove(0);
    live.push(12);
    assert_eq!(live.ids(), [id(2), id(3)], "as if nothing stood there before");
    let steps = follow(&mut shadow, &mut live);
    assert_eq!(numbers(&steps, StepKind::Removed), [1, 2, 3]);
    assert_eq!(numbers(&steps, StepKind::Added), [4, 5]);
    assert_eq!(steps.len(), 5, "nothing changes into another item");
    assert_eq!((live.ids(), live.by_id(id(5))), (&[id(4), id(5)][..], Some(&12)));
    assert_eq!(contents(&shadow), contents(&live));
    assert_eq!(live.push(13), id(6));
    assert_eq!(follow(&mut shadow, &mut live), [(id(6), StepKind::Added)]);
}

#[test]
fn s137_items_of_an_array_assigned_over_another_are_found_by_their_new_ids_alone() {
    let (_, mut shadow) = pair(3);
    // With this many items, lookups use an index.
    let mut live: FastArray<u32> = (0..1_000).collect();
    let old = live.ids().to_vec();
    assert_eq!(live.index_of(old[999]), Some(999));
    follow(&mut shadow, &mut live);
    let new = live.ids().to_vec();
    assert!((0..1_000).all(|at| live.index_of(new[at]) == Some(at)));
    assert!(old.iter().all(|id| new.contains(id) || live.index_of(*id).is_none()));
}

#[test]
fn s137_an_empty_array_assigned_over_another_goes_on_with_its_ids() {
    let (_, mut shadow) = pair(3);
    let mut live = FastArray::new();
    assert_eq!(numbers(&follow(&mut shadow, &mut live), StepKind::Removed), [1, 2, 3]);
    assert_eq!(live.push(7), id(4), "clients may not know yet that the first three are gone");
}

#[test]
fn s137_an_assignment_that_is_undone_before_anybody_looks_changes_nothing() {
    let (mut live, mut shadow) = pair(3);
    let old = std::mem::replace(&mut live, (5..9).collect());
    live = old;
    assert!(shadow.is_up_to_date(&live));
    assert_eq!(follow(&mut shadow, &mut live), []);
}

#[test]
fn s137_arrays_that_change_places_bring_new_items_to_both() {
    let ((mut one, mut shadow), (mut other, mut other_shadow)) = (pair(3), pair(2));
    std::mem::swap(&mut one, &mut other);
    let steps = [follow(&mut shadow, &mut one), follow(&mut other_shadow, &mut other)];
    assert_eq!(steps.each_ref().map(|steps| numbers(steps, StepKind::Removed)), [vec![1, 2, 3], vec![1, 2]]);
    assert_eq!(steps.each_ref().map(|steps| numbers(steps, StepKind::Added)), [vec![4, 5], vec![4, 5, 6]]);
    std::mem::swap(&mut one, &mut other);
    let steps = follow(&mut shadow, &mut one);
    assert_eq!(numbers(&steps, StepKind::Added), [7, 8, 9], "what came back is new too");
}

#[test]
fn s137_s174_new_items_whose_ids_come_round_meet_none_that_is_there() {
    let mut live = FastArray::with_next_id(id(ItemId::LAST.number() - 1));
    live.extend(0..5_u32);
    let mut shadow = FastArray::new();
    follow(&mut shadow, &mut live);
    for round in 0..4 {
        let before = contents(&shadow);
        live = (0..4).collect();
        let steps = follow(&mut shadow, &mut live);
        assert_eq!((steps.len(), numbers(&steps, StepKind::Touched)), (before.len() + 4, vec![]), "{round}");
        assert!(live.ids().iter().all(|id| !before.contains_key(id)), "{round}");
        assert_eq!(contents(&shadow), contents(&live));
    }
}

#[test]
fn a_copy_has_the_ids_and_the_order_of_its_source() {
    let mut source: FastArray<u32> = (0..100).collect();
    let mut copy = FastArray::new();
    for round in 0..40 {
        source.rotate_left(7);
        source.remove(3);
        source.insert(5, round);
        source.swap_remove(9);
        copy.copy_from(&source, &mut |from, to| *to = *from);
        assert_eq!((&copy, copy.ids()), (&source, source.ids()));
        assert!(copy.ids().iter().enumerate().all(|(at, &id)| copy.index_of(id) == Some(at)));
    }
    assert_eq!(copy.push(0), source.push(0));
}

#[test]
fn s183_local_items_of_an_array_stay_when_it_becomes_a_copy_of_another() {
    let source: FastArray<u32> = (0..3).collect();
    let mut copy = FastArray::from([7, 8, 9, 10]);
    copy.become_replica();
    let local = copy.push(100);
    copy.copy_from(&source, &mut |from, to| *to = *from);
    assert_eq!(copy.by_id(local), Some(&100));
    copy.remove_by_id(local);
    assert_eq!((&copy, copy.ids()), (&source, source.ids()));
}

#[test]
fn a_copied_shadow_has_followed_the_same_changes_as_its_source() {
    let (mut live, mut shadow) = pair(5);
    let mut copy = FastArray::new();
    copy.copy_from(&shadow, &mut |from, to| *to = *from);
    assert!(copy.is_up_to_date(&live));
    live[2] = 9;
    for shadow in [&mut shadow, &mut copy] {
        assert_eq!(follow(shadow, &mut live), [(id(3), StepKind::Touched)]);
    }
}

#[test]
fn removing_an_item_that_could_not_be_sent_sends_nothing() {
    let mut live: FastArray<u32> = (0..40).collect();
    let mut shadow = FastArray::new();
    follow(&mut shadow, &mut live);
    for round in 0..3 {
        let unsendable = live.push(round);
        follow(&mut shadow, &mut live);
        // The item contains a value that cannot be sent.
        shadow.remove_unsendable(unsendable);
        assert!(live.remove_by_id(unsendable).is_some());
        assert_eq!(follow(&mut shadow, &mut live), []);
        assert_eq!(Keyed::len(&shadow), 40);
        assert_eq!(contents(&shadow), contents(&live));
    }
}
