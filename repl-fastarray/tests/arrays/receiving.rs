//! Tests of replicas (a client's copies of arrays): how they apply an update, and which callbacks run.
//!
//! *Invariant:* a replica equals the model. If the changes in the callbacks are applied to the old items, the
//! result is the new items.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use repl_core::{HandleSet, ItemId, Keyed, KeyedReplica, KeyedShadow, ReceivedChange};
use repl_fastarray::{FastArray, OrderedFastArray};

use crate::support::{Call, Told, View, calls, contents, id};

fn told(name: u32, count: u64) -> Told {
    Told { name, place: [0, 0], count }
}

fn handles(of: &[u32]) -> HandleSet {
    let mut set = HandleSet::new();
    of.iter().for_each(|&handle| set.insert(handle));
    set
}

/// Returns a replica of these items. The names of the items are their ids, and no callback is recorded yet.
fn replica(items: &[u32]) -> FastArray<Told> {
    let mut array = FastArray::new();
    array.become_replica();
    for &item in items {
        *array.received_whole(id(item)) = told(item, 0);
    }
    array.conclude(false);
    assert_eq!(calls(), []);
    array
}

fn change(array: &mut FastArray<Told>, item: u32, count: u64) {
    array.item_mut(id(item)).expect("an item").count = count;
    array.receive(id(item), ReceivedChange::Changed(&handles(&[4])));
}

fn names(array: &FastArray<Told>) -> Vec<u32> {
    array.iter().map(|item| item.name).collect()
}

/// Returns a short text for a call, without the items.
fn outline(call: &Call) -> String {
    let of = |what: &str, view: &View| {
        format!("{what} {:?} of {} → {}", view.indices, view.items.len(), view.final_len)
    };
    match call {
        Call::Remove(item) => format!("remove {}", item.name),
        Call::Add(item) => format!("add {}", item.name),
        Call::Change(item, changed) => format!("change {} {changed:?}", item.name),
        Call::Removes(view) => of("removes", view),
        Call::Adds(view) => of("adds", view),
        Call::Changes(view) => of("changes", view),
        Call::Receive(view) => format!("{} was {}", of("receive", view), view.old_len),
    }
}

fn outlines() -> Vec<String> {
    calls().iter().map(outline).collect()
}

#[test]
fn s176_unknown_ids_are_added_and_known_ones_kept() {
    let mut array = replica(&[5, 9]);
    *array.received_whole(id(7)) = told(7, 1);
    array.received_whole(id(5)).count = 2;
    array.receive(id(5), ReceivedChange::Changed(&handles(&[4])));
    array.receive(id(6), ReceivedChange::Changed(&handles(&[4])));
    array.receive(id(8), ReceivedChange::Removed);
    array.conclude(true);
    assert_eq!(
        contents(&array),
        BTreeMap::from([(id(5), told(5, 2)), (id(7), told(7, 1)), (id(9), told(9, 0))])
    );
    assert_eq!(
        outlines(),
        [
            "removes [] of 3 → 3",
            "add 7",
            "adds [2] of 3 → 3",
            "change 5 [\"count\"]",
            "changes [0] of 3 → 3",
            "receive [] of 3 → 3 was 2"
        ]
    );
}

#[test]
fn s178_callbacks_come_in_their_order() {
    let mut array = replica(&[1, 2, 3, 4, 5, 6]);
    change(&mut array, 4, 9);
    *array.received_whole(id(8)) = told(8, 0);
    array.receive(id(5), ReceivedChange::Removed);
    array.receive(id(1), ReceivedChange::Removed);
    *array.received_whole(id(7)) = told(7, 0);
    array.receive(id(2), ReceivedChange::Changed(&handles(&[1, 3])));
    array.conclude(true);
    assert_eq!(
        outlines(),
        [
            "remove 5",
            "remove 1",
            "removes [4, 0] of 8 → 6",
            "add 8",
            "add 7",
            "adds [6, 7] of 8 → 6",
            "change 4 [\"count\"]",
            "change 2 [\"name\", \"place\"]",
            "changes [3, 1] of 8 → 6",
            "receive [] of 6 → 6 was 6"
        ]
    );
}

#[test]
fn s172_s178_implicit_removals_run_after_listed_removals_by_index() {
    let mut array = replica(&[1, 2, 3, 4, 5, 6]);
    array.receive(id(4), ReceivedChange::Removed);
    array.received_sweep();
    array.receive(id(5), ReceivedChange::Spared);
    change(&mut array, 2, 1);
    array.received_whole(id(3));
    *array.received_whole(id(7)) = told(7, 0);
    array.conclude(true);
    assert_eq!(
        outlines(),
        [
            "remove 4",
            "remove 1",
            "remove 6",
            "removes [3, 0, 5] of 7 → 4",
            "add 7",
            "adds [6] of 7 → 4",
            "change 2 [\"count\"]",
            "changes [1] of 7 → 4",
            "receive [] of 4 → 4 was 6"
        ]
    );
    assert_eq!(contents(&array).into_keys().collect::<Vec<_>>(), [id(2), id(3), id(5), id(7)]);
}

#[test]
fn s179_doomed_items_are_there_while_callbacks_run() {
    let mut array = replica(&[1, 2, 3]);
    array.receive(id(1), ReceivedChange::Removed);
    *array.received_whole(id(4)) = told(4, 0);
    array.conclude(true);
    for call in calls() {
        let (view, there): (_, &[u32]) = match &call {
            Call::Removes(view) | Call::Adds(view) | Call::Changes(view) => (view, &[1, 2, 3, 4]),
            Call::Receive(view) => (view, &[4, 2, 3]),
            _ => continue,
        };
        assert_eq!(view.items.iter().map(|item| item.name).collect::<Vec<_>>(), there);
        assert_eq!(view.ids.iter().map(|id| id.number()).collect::<Vec<_>>(), there);
        assert_eq!((view.old_len, view.final_len), (3, 3));
    }
}

#[test]
fn s180_the_last_items_take_the_places_of_removed_items() {
    let mut array = replica(&[1, 2, 3, 4, 5, 6]);
    for gone in [1, 5, 2] {
        array.receive(id(gone), ReceivedChange::Removed);
    }
    array.conclude(true);
    assert_eq!(names(&array), [4, 6, 3]);
    calls();
}

#[test]
fn s173_spared_and_resent_items_remain() {
    let mut array = replica(&[1, 2, 3]);
    array.received_sweep();
    array.receive(id(1), ReceivedChange::Spared);
    array.received_whole(id(2));
    array.receive(id(3), ReceivedChange::Changed(&handles(&[4])));
    array.conclude(true);
    assert_eq!(names(&array), [1, 2, 3]);
    calls();
    array.received_sweep();
    array.conclude(true);
    assert!(names(&array).is_empty());
    assert_eq!(calls().len(), 3 + 4, "what was spared before is not spared now");
}

#[test]
fn s171_an_item_sent_again_as_it_is_calls_nothing() {
    let mut array = replica(&[1, 2]);
    array.received_whole(id(2));
    array.receive(id(2), ReceivedChange::Changed(&HandleSet::new()));
    array.receive(id(1), ReceivedChange::Spared);
    array.receive(id(3), ReceivedChange::Removed);
    array.conclude(true);
    assert_eq!(outlines(), [""; 0]);
}

#[test]
fn r05_repeated_changes_count_once() {
    let mut array = replica(&[1, 2, 3]);
    for _ in 0..2 {
        array.receive(id(1), ReceivedChange::Removed);
        change(&mut array, 2, 5);
        array.receive(id(2), ReceivedChange::Changed(&handles(&[1])));
        *array.received_whole(id(4)) = told(4, 4);
    }
    array.conclude(true);
    assert_eq!(
        outlines(),
        [
            "remove 1",
            "removes [0] of 4 → 3",
            "add 4",
            "adds [3] of 4 → 3",
            "change 2 [\"name\", \"count\"]",
            "changes [1] of 4 → 3",
            "receive [] of 3 → 3 was 3"
        ]
    );
    array.conclude(true);
    assert_eq!(outlines(), [""; 0]);
}

#[test]
fn items_that_were_added_and_removed_in_one_update_are_not_reported() {
    let mut array = replica(&[1]);
    *array.received_whole(id(2)) = told(2, 0);
    array.receive(id(2), ReceivedChange::Removed);
    *array.received_whole(id(3)) = told(3, 0);
    array.received_sweep();
    array.receive(id(1), ReceivedChange::Spared);
    array.conclude(true);
    assert_eq!(outlines(), [""; 0]);
    assert_eq!(names(&array), [1]);
}

#[test]
fn an_item_that_comes_back_after_its_removal_stays() {
    let mut array = replica(&[1, 2]);
    array.receive(id(1), ReceivedChange::Removed);
    array.received_whole(id(1)).count = 7;
    array.receive(id(1), ReceivedChange::Changed(&handles(&[4])));
    array.conclude(true);
    assert_eq!(contents(&array)[&id(1)], told(1, 7));
    assert_eq!(outlines()[1..3], ["adds [] of 2 → 2", "change 1 [\"count\"]"]);
}

#[test]
fn an_item_that_changes_after_its_removal_in_one_update_is_removed() {
    let mut array = replica(&[1, 2]);
    array.receive(id(1), ReceivedChange::Removed);
    array.receive(id(1), ReceivedChange::Changed(&handles(&[4])));
    array.receive(id(1), ReceivedChange::Spared);
    array.conclude(true);
    assert_eq!(names(&array), [2]);
    assert_eq!(outlines()[..2], ["remove 1", "removes [0] of 2 → 1"]);
}

#[test]
fn an_item_that_changed_and_was_removed_and_added_again_in_one_update_changed_once() {
    let mut array = replica(&[1]);
    change(&mut array, 1, 1);
    array.receive(id(1), ReceivedChange::Removed);
    array.received_whole(id(1)).count = 2;
    array.receive(id(1), ReceivedChange::Changed(&handles(&[4])));
    array.conclude(true);
    assert_eq!(outlines()[2..4], ["change 1 [\"count\"]", "changes [0] of 1 → 1"]);
}

#[test]
fn s183_local_items_stay_and_are_taken_for_no_other() {
    let mut array = replica(&[1, 2]);
    let local = array.push(told(100, 0));
    assert_eq!(local, ItemId::FIRST_LOCAL);
    array.received_sweep();
    array.receive(local, ReceivedChange::Spared);
    array.receive(local, ReceivedChange::Removed);
    array.receive(local, ReceivedChange::Changed(&handles(&[4])));
    *array.received_whole(id(3)) = told(3, 0);
    array.conclude(true);
    assert_eq!(contents(&array), BTreeMap::from([(id(3), told(3, 0)), (local, told(100, 0))]));
    assert_eq!(array.insert(0, told(101, 0)), local.next());
    assert_eq!(array.index_of(local), Some(1));
    assert_eq!(outlines()[..4], ["remove 1", "remove 2", "removes [0, 1] of 4 → 2", "add 3"]);
}

#[test]
fn s183_a_local_removal_lasts_until_the_item_comes_again() {
    let mut array = replica(&[1, 2, 3]);
    array.remove(1);
    array.receive(id(2), ReceivedChange::Changed(&handles(&[4])));
    array.receive(id(2), ReceivedChange::Removed);
    array.conclude(true);
    assert_eq!((names(&array), outlines()), (vec![1, 3], vec![]));
    *array.received_whole(id(2)) = told(2, 8);
    array.conclude(true);
    assert_eq!(names(&array), [1, 3, 2]);
    assert_eq!(outlines()[1..3], ["add 2", "adds [2] of 3 → 3"]);
}

#[test]
fn s183_an_array_that_a_user_put_there_loses_its_items() {
    for len in [3, 100] {
        let mut array: FastArray<u32> = (0..len).collect();
        // A long array builds an index for its lookups.
        assert_eq!(array.index_of(id(len)), Some(len as usize - 1));
        assert!(!array.is_replica());
        array.own();
        assert!(array.is_replica());
        assert_eq!((array.len(), array.index_of(id(len))), (0, None));
        *array.received_whole(id(2)) = 7;
        array.receive(id(3), ReceivedChange::Removed);
        array.conclude(true);
        assert_eq!(array, [7]);
        array.own();
        assert_eq!(array, [7], "it is a replica already");
    }
}

#[test]
fn s183_items_that_a_user_adds_to_the_users_own_array_have_local_ids() {
    fn has_ids_of_its_own(ids: &[ItemId]) {
        let distinct: BTreeSet<ItemId> = ids.iter().copied().collect();
        assert_eq!(distinct.len(), ids.len(), "{ids:?}");
    }
    let mut array: FastArray<u32> = (0..3).collect();
    array.own();
    *array.received_whole(id(2)) = 7;
    array.conclude(true);
    array.extend([8, 9]);
    has_ids_of_its_own(array.ids());
    let mut array: OrderedFastArray<u32> = (0..3).collect();
    array.own();
    *array.received_whole(id(2)) = 7;
    array.conclude(true);
    array.extend([8, 9]);
    has_ids_of_its_own(&array.ids().collect::<Vec<_>>());
}

#[test]
fn s183_the_items_that_a_user_added_can_be_removed() {
    let mut array = replica(&[1, 2, 3]);
    array.insert(1, told(101, 0));
    array.push(told(102, 0));
    array.remove_local();
    assert_eq!(names(&array).into_iter().collect::<BTreeSet<_>>(), BTreeSet::from([1, 2, 3]));
    let mut array: OrderedFastArray<u32> = (0..3).collect();
    array.become_replica();
    array.insert(1, 101);
    array.remove_local();
    assert_eq!(array, [0, 1, 2]);
}

#[test]
fn what_a_user_edits_is_known_and_updates_are_no_edits() {
    let mut live = replica(&[1, 2, 3, 4]);
    let mut base = FastArray::new();
    assert_eq!(base.edits(&live), None, "it was never followed");
    base.follow_edits(&live);
    assert_eq!(base.edits(&live), Some(vec![]));
    live.edit(id(2), |item| *item = told(9, 9));
    live.remove(0);
    let edits = |base: &FastArray<Told>, live: &FastArray<Told>| {
        base.edits(live).map(|edits| edits.into_iter().collect::<BTreeSet<_>>())
    };
    assert_eq!(edits(&base, &live), Some(BTreeSet::from([id(1), id(2)])));
    base.follow_edits(&live);
    live.receive(id(3), ReceivedChange::Changed(&handles(&[1])));
    assert_eq!(edits(&base, &live), Some(BTreeSet::new()));
    live.conclude(false);
    assert_eq!(edits(&base, &live), Some(BTreeSet::new()));
    assert_eq!(base.edits(&replica(&[1, 2, 3])), None, "another array");
}

#[test]
fn s184_changed_and_added_items_are_visited_to_fill_in_references() {
    let mut array = replica(&[1, 2, 3]);
    change(&mut array, 2, 1);
    *array.received_whole(id(4)) = told(4, 0);
    array.received_whole(id(1));
    let mut seen = BTreeSet::new();
    array.received(&mut |item| assert!(seen.insert(item.name)));
    assert_eq!(seen, BTreeSet::from([2, 4]));
    array.conclude(true);
    array.received(&mut |item| panic!("{item:?} is of the last update"));
    calls();
}

#[test]
fn without_callbacks_nothing_is_called_and_everything_is_applied() {
    let mut array = replica(&[1, 2]);
    array.receive(id(1), ReceivedChange::Removed);
    change(&mut array, 2, 1);
    array.conclude(false);
    assert_eq!((names(&array), outlines()), (vec![2], vec![]));
}

#[test]
fn items_without_callbacks_are_received_all_the_same() {
    let mut array: FastArray<u32> = FastArray::new();
    const { assert!(!<FastArray<u32> as Keyed>::HAS_CALLBACKS && <FastArray<Told> as Keyed>::HAS_CALLBACKS) };
    *array.received_whole(id(1)) = 5;
    *array.received_whole(id(2)) = 6;
    array.conclude(true);
    array.receive(id(1), ReceivedChange::Removed);
    array.receive(id(2), ReceivedChange::Changed(&handles(&[1])));
    array.conclude(true);
    assert_eq!(array, [6]);
}

#[test]
fn s146_items_of_the_archetype_are_the_servers() {
    let mut array = FastArray::from([told(1, 0), told(2, 0)]);
    array.become_replica();
    array.become_replica();
    change(&mut array, 2, 5);
    array.receive(id(1), ReceivedChange::Removed);
    array.conclude(true);
    assert_eq!(contents(&array), BTreeMap::from([(id(2), told(2, 5))]));
    assert_eq!(outlines()[0], "remove 1");
}

/// A change that an update contains, or that a user makes.
#[derive(Clone, Debug)]
enum Op {
    Whole(u32, u64),
    Change(u32, u64),
    Removal(u32),
    Sweep,
    Sparing(u32),
    Conclude,
    PushLocal,
    RemoveLocally(usize),
    Shuffle(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let item = || prop_oneof![4 => 1..30_u32, 1 => 1..300_u32];
    prop_oneof![
        8 => (item(), any::<u64>()).prop_map(|(id, count)| Op::Whole(id, count)),
        6 => (item(), any::<u64>()).prop_map(|(id, count)| Op::Change(id, count)),
        5 => item().prop_map(Op::Removal),
        1 => Just(Op::Sweep),
        3 => item().prop_map(Op::Sparing),
        6 => Just(Op::Conclude),
        1 => Just(Op::PushLocal),
        1 => (0..50_usize).prop_map(Op::RemoveLocally),
        1 => (0..50_usize).prop_map(Op::Shuffle),
    ]
}

#[derive(Default)]
struct Model {
    /// The items by id. Each item also has the effect of the current update on it.
    items: BTreeMap<u32, (Told, Said)>,
    removed: Vec<u32>,
    swept: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Said {
    added: bool,
    changed: bool,
    safe: bool,
    doomed: bool,
}

impl Model {
    fn apply(&mut self, op: &Op, array: &mut FastArray<Told>) {
        match *op {
            Op::Whole(number, count) => {
                let (item, said) = self
                    .items
                    .entry(number)
                    .or_insert_with(|| (told(number, 0), Said { added: true, ..Said::default() }));
                let differs = item.count != count;
                item.count = count;
                said.safe = true;
                said.changed |= differs && !said.added;
                if std::mem::take(&mut said.doomed) {
                    self.removed.retain(|&removed| removed != number);
                }
                *array.received_whole(id(number)) = told(number, count);
                if differs {
                    array.receive(id(number), ReceivedChange::Changed(&handles(&[4])));
                }
            }
            Op::Change(number, count) => {
                if let Some((item, said)) = self.items.get_mut(&number).filter(|(_, said)| !said.doomed) {
                    item.count = count;
                    said.safe = true;
                    said.changed |= !said.added;
                    array.item_mut(id(number)).expect("an item").count = count;
                }
                array.receive(id(number), ReceivedChange::Changed(&handles(&[4])));
            }
            Op::Removal(number) => {
                match self.items.get_mut(&number) {
                    Some((_, said)) if said.added => drop(self.items.remove(&number)),
                    Some((_, said)) if !said.doomed => {
                        said.doomed = true;
                        self.removed.push(number);
                    }
                    _ => {}
                }
                array.receive(id(number), ReceivedChange::Removed);
            }
            Op::Sweep => {
                self.swept = true;
                self.items.values_mut().for_each(|(_, said)| said.safe = false);
                array.received_sweep();
            }
            Op::Sparing(number) => {
                if let Some((_, said)) = self.items.get_mut(&number) {
                    said.safe = true;
                }
                array.receive(id(number), ReceivedChange::Spared);
            }
            // The user changes the array only between updates.
            Op::Conclude | Op::PushLocal | Op::RemoveLocally(_) | Op::Shuffle(_) => self.conclude(array),
        }
        match *op {
            Op::PushLocal => {
                let id = array.push(told(0, 0));
                array.last_mut().expect("an item").name = id.number();
                self.items.insert(id.number(), (told(id.number(), 0), Said::default()));
            }
            Op::RemoveLocally(at) if !array.is_empty() => {
                let item = array.remove(at % array.len());
                self.items.remove(&item.name);
            }
            Op::Shuffle(by) => {
                array.rotate_left(by % (array.len() + 1));
                array.sort_by_key(|item| item.name % 5);
            }
            _ => {}
        }
    }

    fn conclude(&mut self, array: &mut FastArray<Told>) {
        let before: Vec<_> = array.ids().to_vec();
        let goes =
            |number: u32, said: &Said| said.doomed || self.swept && !said.safe && !id(number).is_local();
        let told_first = std::mem::take(&mut self.removed);
        let swept = before.iter().map(|id| id.number()).filter(|number| {
            let (_, said) = &self.items[number];
            goes(*number, said) && !said.doomed && !said.added
        });
        let removed: Vec<_> = told_first.iter().copied().chain(swept).collect();
        let of = |pick: &dyn Fn(&Said) -> bool| {
            let picked = self.items.iter().filter(|(number, (_, said))| pick(said) && !goes(**number, said));
            picked.map(|(number, _)| *number).collect::<BTreeSet<_>>()
        };
        let (added, changed) = (of(&|said| said.added), of(&|said| said.changed));
        let stays: BTreeMap<_, _> = self
            .items
            .iter()
            .filter(|(number, (_, said))| !goes(**number, said))
            .map(|(number, (item, _))| (*number, (item.clone(), Said::default())))
            .collect();
        self.items = stays;
        self.swept = false;

        array.conclude(true);
        let now: BTreeMap<_, _> = contents(array).into_iter().map(|(id, item)| (id.number(), item)).collect();
        assert_eq!(now, self.items.iter().map(|(number, (item, _))| (*number, item.clone())).collect());
        replay(&calls(), array, &removed, &added, &changed);
    }
}

/// Asserts that the calls report these ids, and that applying the calls to the old items results in `array`.
fn replay(
    calls: &[Call],
    array: &FastArray<Told>,
    removed: &[u32],
    added: &BTreeSet<u32>,
    changed: &BTreeSet<u32>,
) {
    if removed.is_empty() && added.is_empty() && changed.is_empty() {
        assert_eq!(calls, []);
        return;
    }
    let mut calls = calls.iter();
    let mut items = |whole: &dyn Fn(&Call) -> Option<View>| {
        let mut singles = Vec::new();
        for call in calls.by_ref() {
            if let Some(view) = whole(call) {
                let by_index: Vec<_> = view.indices.iter().map(|&at| view.ids[at].number()).collect();
                assert_eq!(singles, by_index, "items first, then the array, in the same order");
                return (view, singles);
            }
            let (Call::Remove(item) | Call::Add(item) | Call::Change(item, _)) = call else {
                panic!("{} comes too early", outline(call))
            };
            singles.push(item.name);
        }
        panic!("a callback is missing")
    };
    let (removes, went) =
        items(&|call| if let Call::Removes(view) = call { Some(view.clone()) } else { None });
    assert_eq!(went, removed);
    let (adds, came) = items(&|call| if let Call::Adds(view) = call { Some(view.clone()) } else { None });
    assert_eq!((came.len(), &came.into_iter().collect()), (added.len(), added));
    let (changes, differ) =
        items(&|call| if let Call::Changes(view) = call { Some(view.clone()) } else { None });
    assert_eq!((differ.len(), &differ.into_iter().collect()), (changed.len(), changed));
    let (received, none) =
        items(&|call| if let Call::Receive(view) = call { Some(view.clone()) } else { None });
    assert!(none.is_empty() && calls.next().is_none());

    assert_eq!((&removes.ids, &adds.ids), (&adds.ids, &changes.ids), "indices are those before removal");
    assert_eq!(removes.final_len, received.items.len());
    let mut ids = removes.ids.clone();
    let mut doomed = removes.indices.clone();
    doomed.sort_unstable();
    for &at in doomed.iter().rev() {
        ids.swap_remove(at);
    }
    assert_eq!((ids.as_slice(), &received.ids), (array.ids(), &ids));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn replicas_equal_the_model_and_callbacks_report_their_items(ops in prop::collection::vec(op(), 0..120)) {
        let mut array = replica(&[]);
        let mut model = Model::default();
        for op in ops.iter().chain([&Op::Conclude]) {
            model.apply(op, &mut array);
        }
    }
}
