//! Tests of [`OrderedFastArray`] as a live array, as a shadow and as a replica.
//!
//! *Invariant:* every operation has the same result as the `Vec` method of the same name, ids stay with their
//! items, and labels ascend.

use std::collections::BTreeMap;

use crate::support::{Call, Told, View, calls, id};
use proptest::prelude::*;
use repl_core::label::Label;
use repl_core::{HandleSet, ItemId, Keyed, KeyedReplica, KeyedShadow, ReceivedChange, Step};
use repl_fastarray::{ItemMut, OrderedFastArray};

#[derive(Clone, Debug)]
enum Op {
    Push(u16),
    Insert(usize, u16),
    /// Inserts items one after another: the first index, the number of items, and whether each item is
    /// inserted after the previous item or before it.
    Type(usize, u8, bool),
    Remove(usize),
    RemoveById(usize),
    Pop,
    Truncate(usize),
    Clear,
    Drain(usize, usize),
    Retain(u16),
    Write(usize, u16),
    Assign(usize, u16),
    Edit(usize, u16),
    WriteSome(u16),
    Swap(usize, usize),
    Move(usize, usize),
    Reverse,
    Rotate(usize, bool),
    Sort(u16),
    Replace,
    Follow,
}

fn op() -> impl Strategy<Value = Op> {
    let at = 0..400_usize;
    let two = (at.clone(), at.clone());
    let write = (at.clone(), any::<u16>());
    prop_oneof![
        4 => any::<u16>().prop_map(Op::Push),
        8 => write.clone().prop_map(|(at, item)| Op::Insert(at, item)),
        6 => (at.clone(), any::<u8>(), any::<bool>()).prop_map(|(at, count, on)| Op::Type(at, count, on)),
        6 => at.clone().prop_map(Op::Remove),
        3 => at.clone().prop_map(Op::RemoveById),
        2 => Just(Op::Pop),
        1 => at.clone().prop_map(Op::Truncate),
        1 => Just(Op::Clear),
        2 => two.clone().prop_map(|(one, other)| Op::Drain(one, other)),
        1 => (2..9_u16).prop_map(Op::Retain),
        2 => write.clone().prop_map(|(at, item)| Op::Write(at, item)),
        2 => write.clone().prop_map(|(at, item)| Op::Assign(at, item)),
        2 => write.prop_map(|(at, item)| Op::Edit(at, item)),
        1 => (2..40_u16).prop_map(Op::WriteSome),
        3 => two.clone().prop_map(|(one, other)| Op::Swap(one, other)),
        6 => two.prop_map(|(from, to)| Op::Move(from, to)),
        1 => Just(Op::Reverse),
        3 => (at, any::<bool>()).prop_map(|(by, left)| Op::Rotate(by, left)),
        2 => (1..40_u16).prop_map(Op::Sort),
        1 => Just(Op::Replace),
        6 => Just(Op::Follow),
    ]
}

/// An array, its model as a vector of ids and items, a shadow, and a replica that receives the shadow's
/// steps.
struct Trio {
    live: OrderedFastArray<u16>,
    model: Vec<(ItemId, u16)>,
    shadow: OrderedFastArray<u16>,
    replica: OrderedFastArray<u16>,
}

impl Trio {
    fn new(start: usize) -> Self {
        let live: OrderedFastArray<u16> = (0..start).map(|item| item as u16).collect();
        let model = live.ids().zip(live.iter().copied()).collect();
        let mut replica = OrderedFastArray::new();
        replica.become_replica();
        Self { live, model, shadow: OrderedFastArray::new(), replica }
    }

    fn insert(&mut self, at: usize, item: u16) {
        let id = self.live.insert(at, item);
        assert!(self.model.iter().all(|(other, _)| *other != id), "{id:?} is on another item");
        self.model.insert(at, (id, item));
    }

    fn apply(&mut self, op: &Op) {
        let len = self.model.len();
        match *op {
            Op::Push(item) => self.insert(len, item),
            Op::Insert(at, item) => self.insert(at % (len + 1), item),
            Op::Type(at, count, forward) => {
                let at = at % (len + 1);
                (0..usize::from(count)).for_each(|step| self.insert(if forward { at + step } else { at }, 7));
            }
            Op::Truncate(at) => {
                self.live.truncate(at);
                self.model.truncate(at);
            }
            Op::Clear => {
                self.live.clear();
                self.model.clear();
            }
            Op::Retain(by) => {
                self.live.retain(|item| item % by != 0);
                self.model.retain(|(_, item)| item % by != 0);
            }
            Op::WriteSome(by) => {
                self.live.iter_mut().filter(|item| **item % by == 0).for_each(|mut item| *item ^= 1);
                self.model.iter_mut().filter(|(_, item)| item % by == 0).for_each(|(_, item)| *item ^= 1);
            }
            Op::Reverse => {
                self.live.reverse();
                self.model.reverse();
            }
            Op::Rotate(by, left) => self.rotate(by % (len + 1), left),
            Op::Sort(by) => {
                self.live.sort_by_key(|item| item % by);
                self.model.sort_by_key(|(_, item)| item % by);
            }
            Op::Replace => {
                self.live = self.live.clone();
                let ids: Vec<ItemId> = self.live.ids().collect();
                self.model.iter_mut().zip(ids).for_each(|((known, _), id)| *known = id);
            }
            Op::Follow => self.follow(),
            _ if len > 0 => self.apply_to_some(op, len),
            _ => {}
        }
    }

    fn rotate(&mut self, by: usize, left: bool) {
        if left {
            self.live.rotate_left(by);
            self.model.rotate_left(by);
        } else {
            self.live.rotate_right(by);
            self.model.rotate_right(by);
        }
    }

    fn apply_to_some(&mut self, op: &Op, len: usize) {
        match *op {
            Op::Remove(at) => assert_eq!(self.live.remove(at % len), self.model.remove(at % len).1),
            Op::RemoveById(at) => {
                let (id, item) = self.model.remove(at % len);
                assert_eq!(self.live.remove_by_id(id), Some(item));
                assert_eq!(self.live.index_of(id), None);
            }
            Op::Pop => assert_eq!(self.live.pop(), self.model.pop().map(|(_, item)| item)),
            Op::Drain(one, other) => {
                let range = one.min(other) % len..(one.max(other) % len).max(one.min(other) % len);
                let drained: Vec<u16> = self.live.drain(range.clone()).collect();
                assert!(self.model.drain(range).map(|(_, item)| item).eq(drained));
            }
            Op::Write(at, item) => {
                *self.live.get_mut(at % len).expect("it is there") = item;
                self.model[at % len].1 = item;
            }
            Op::Assign(at, item) => {
                self.live[at % len] = item;
                self.model[at % len].1 = item;
            }
            Op::Edit(at, item) => {
                let (id, known) = &mut self.model[at % len];
                *known = item;
                assert!(self.live.edit(*id, |edited| *edited = item).is_some());
            }
            Op::Swap(one, other) => {
                self.live.swap(one % len, other % len);
                self.model.swap(one % len, other % len);
            }
            Op::Move(from, to) => {
                self.live.move_item(from % len, to % len);
                let moved = self.model.remove(from % len);
                self.model.insert(to % len, moved);
            }
            _ => unreachable!("the others need no items"),
        }
    }

    /// Updates the shadow from the live array, and applies its steps to the replica.
    fn follow(&mut self) {
        let (mut told, mut known) = (Vec::new(), self.replica.ids().collect::<Vec<_>>());
        known.sort_unstable();
        let must_renumber = self.shadow.follow(&self.live, &mut |id, step| {
            match step {
                Step::Added { live, shadow } => *shadow = *live,
                Step::Touched { live, shadow, .. } => *shadow = *live,
                Step::Removed => {}
            }
            told.push(id);
        });
        if must_renumber {
            self.live.renumber();
            self.model.iter_mut().zip(self.live.ids()).for_each(|((known, _), id)| *known = id);
        }
        assert!(self.shadow.is_up_to_date(&self.live));
        told.sort_unstable();
        told.dedup();
        for id in told {
            match (Keyed::item(&self.shadow, id), Keyed::label(&self.shadow, id)) {
                (Some(&item), Some(label)) => {
                    *self.replica.received_whole(id) = item;
                    self.replica.receive(id, ReceivedChange::Moved(label.clone()));
                }
                _ => self.replica.receive(id, ReceivedChange::Removed),
            }
        }
        self.replica.conclude(true);
        assert!(self.replica.iter().eq(&self.live), "{:?} is not {:?}", self.replica, self.live);
        assert!(self.replica.ids().eq(self.live.ids()));
    }

    fn check(&self) {
        assert!(self.live.iter().eq(self.model.iter().map(|(_, item)| item)));
        assert!(self.live.ids().eq(self.model.iter().map(|(id, _)| *id)));
        let labels: Vec<&Label> = self.live.ids().filter_map(|id| Keyed::label(&self.live, id)).collect();
        assert_eq!(labels.len(), self.model.len());
        assert!(labels.is_sorted_by(|one, other| one < other));
        for (at, (id, item)) in self.model.iter().enumerate().step_by(7) {
            assert_eq!(self.live.index_of(*id), Some(at));
            assert_eq!((self.live.id(at), self.live.get(at)), (Some(*id), Some(item)));
            assert_eq!(self.live.by_id(*id), Some(item));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn r13_an_ordered_array_is_a_vec_whose_order_others_follow(
        start in 0..600_usize,
        ops in prop::collection::vec(op(), 0..60),
    ) {
        let mut trio = Trio::new(start);
        for op in &ops {
            trio.apply(op);
            trio.check();
        }
        trio.follow();
    }
}

/// Returns the steps of a shadow: each id, and whether the label of the item changed. An item without a new
/// label was only visited.
fn told(shadow: &mut OrderedFastArray<u16>, live: &mut OrderedFastArray<u16>) -> BTreeMap<ItemId, bool> {
    let mut told = BTreeMap::new();
    let must_renumber = shadow.follow(live, &mut |id, step| {
        let moved = match step {
            Step::Touched { moved, .. } => moved,
            Step::Added { live, shadow } => {
                *shadow = *live;
                false
            }
            Step::Removed => false,
        };
        told.insert(id, moved);
    });
    if must_renumber {
        live.renumber();
    }
    told
}

fn pair(items: u16) -> (OrderedFastArray<u16>, OrderedFastArray<u16>) {
    let mut live: OrderedFastArray<u16> = (0..items).collect();
    let mut shadow = OrderedFastArray::new();
    assert_eq!(told(&mut shadow, &mut live).len(), usize::from(items));
    (live, shadow)
}

#[test]
fn s145_moves_tell_of_as_few_items_as_need_be() {
    let (mut live, mut shadow) = pair(1_000);
    let mut moved = |change: &dyn Fn(&mut OrderedFastArray<u16>)| {
        change(&mut live);
        let told = told(&mut shadow, &mut live);
        assert!(told.values().all(|&moved| moved), "no item is told of that has its label");
        told.len()
    };
    assert_eq!(moved(&|live| live.move_item(900, 5)), 1);
    assert_eq!(moved(&|live| live.move_item(5, 900)), 1);
    assert_eq!(moved(&|live| live.swap(10, 990)), 2);
    assert_eq!(moved(&|live| live.swap(10, 990)), 2);
    assert_eq!(moved(&|live| live.rotate_left(3)), 3);
    assert_eq!(moved(&|live| live.rotate_left(997)), 3);
    assert_eq!(moved(&|live| live.rotate_right(2)), 2);
    // The two items at the front must move to the end.
    assert_eq!(moved(&|live| live.sort()), 2);
    assert_eq!(moved(&|live| live.sort()), 0);
    assert_eq!(moved(&|live| live.move_item(7, 7)), 0);
    assert!(moved(&|live| live.reverse()) >= 999);
}

#[test]
fn s138_writing_marks_the_written_items() {
    let (mut live, mut shadow) = pair(100);
    for mut item in &mut live {
        if *item % 40 == 0 {
            *item += 1;
        }
    }
    live[7] = 9;
    live.edit(id(9), |item| *item = 10);
    assert!(live.get_mut(11).is_some_and(|item| ItemMut::index(&item) == 11 && ItemMut::id(&item) == id(12)));
    *live.unmarked_mut(50).expect("it is there") = 3;
    let expected = [1, 8, 9, 41, 81].map(|number| (id(number), false));
    assert_eq!(told(&mut shadow, &mut live), BTreeMap::from(expected));
    live.mark(50);
    assert_eq!(told(&mut shadow, &mut live), BTreeMap::from([(id(51), false)]));
    live.mark_all();
    assert_eq!(told(&mut shadow, &mut live).len(), 100);
}

#[test]
fn s137_a_clone_has_new_items_and_reinserted_items_are_new() {
    let mut array = OrderedFastArray::from([1_u16, 2, 3]);
    let clone = array.clone();
    assert_eq!(clone, array);
    assert!(clone.ids().all(|id| array.index_of(id).is_none()));
    let (old, item) = (array.id(1), array.remove(1));
    let new = array.insert(1, item);
    assert_ne!(old, Some(new));
    assert_eq!(array, [1, 2, 3]);
}

#[test]
fn s137_items_of_an_array_assigned_over_another_are_found_by_their_new_ids_alone() {
    let (_, mut shadow) = pair(3);
    let mut live = OrderedFastArray::from([7_u16, 8]);
    assert_eq!([1, 2, 3].map(|number| live.index_of(id(number))), [Some(0), Some(1), None]);
    told(&mut shadow, &mut live);
    assert!(live.ids().eq([id(4), id(5)]));
    assert_eq!([1, 2, 4, 5].map(|number| live.index_of(id(number))), [None, None, Some(0), Some(1)]);
    assert_eq!([1, 2, 4, 5].map(|number| live.by_id(id(number))), [None, None, Some(&7), Some(&8)]);
}

#[test]
fn s137_items_added_to_an_array_that_replaced_another_get_ids_that_neither_has_used() {
    let (_, mut shadow) = pair(3);
    let mut live = OrderedFastArray::from([7_u16, 8]);
    told(&mut shadow, &mut live);
    assert_eq!(live.push(9), id(6));
}

#[test]
fn s137_an_array_that_replaces_a_replacement_has_new_items() {
    let (_, mut shadow) = pair(3);
    told(&mut shadow, &mut OrderedFastArray::from([7, 8]));
    assert!(shadow.ids().eq([id(4), id(5)]));
    let mut live: OrderedFastArray<u16> = (0..5).collect();
    live.retain(|item| *item > 2);
    told(&mut shadow, &mut live);
    assert!(live.ids().eq([id(6), id(7)]));
}

#[test]
fn an_item_in_the_storage_of_a_removed_one_is_reported_once() {
    let (mut live, mut shadow) = pair(3);
    live[1] = 9;
    live.remove(1);
    let new = live.insert(1, 7);
    let mut steps = Vec::new();
    shadow.follow(&live, &mut |id, step| steps.push((id, matches!(step, Step::Removed))));
    assert_eq!(steps, [(id(2), true), (new, false)]);
}

#[test]
fn s135_items_that_were_cleared_are_found_no_more() {
    let mut array = OrderedFastArray::from([1_u16, 2]);
    assert_eq!(array.index_of(id(2)), Some(1));
    array.clear();
    let new = array.push(3);
    assert_eq!([id(1), id(2), new].map(|id| array.index_of(id)), [None, None, Some(0)]);
}

#[test]
fn s139_ids_come_round_and_no_two_items_have_one() {
    let mut array = OrderedFastArray::with_next_id(ItemId::LAST);
    assert_eq!([array.push(1_u16), array.push(2), array.push(3)], [ItemId::LAST, id(1), id(2)]);
    let mut array: OrderedFastArray<u16> = std::mem::replace(&mut array, OrderedFastArray::new());
    assert_eq!(array.insert(0, 0), id(3));
}

fn replica(items: &[(u32, &[u8])]) -> OrderedFastArray<u16> {
    let mut array = OrderedFastArray::new();
    array.become_replica();
    receive(&mut array, items);
    array
}

/// Receives items. The value of each item is its id.
fn receive(array: &mut OrderedFastArray<u16>, items: &[(u32, &[u8])]) {
    for &(number, digits) in items {
        *array.received_whole(id(number)) = number as u16;
        array.receive(id(number), ReceivedChange::Moved(label(digits)));
    }
    array.conclude(true);
}

fn label(digits: &[u8]) -> Label {
    let mut writer = repl_core::BitWriter::new();
    writer.write_bits(0, 2);
    writer.write_exp_golomb(0, 1);
    writer.write_exp_golomb(digits.len() as u64, 1);
    digits.iter().for_each(|&digit| writer.write_bits(digit.into(), 8));
    let bytes = writer.into_bytes();
    Label::read(&Label::START, &mut repl_core::BitReader::new(&bytes)).expect("a label")
}

#[test]
fn r13_a_client_sorts_by_label_and_then_by_id() {
    let mut array = replica(&[(5, &[3]), (4, &[1, 7]), (9, &[3]), (2, &[3, 1])]);
    assert_eq!(array, [4, 5, 9, 2]);
    array.receive(id(2), ReceivedChange::Moved(label(&[1])));
    array.receive(id(77), ReceivedChange::Moved(label(&[1])));
    array.receive(id(5), ReceivedChange::Removed);
    receive(&mut array, &[(3, &[2])]);
    assert_eq!(array, [2, 4, 3, 9]);
    assert_eq!(array.index_of(id(9)), Some(3));
}

fn outline(call: &Call) -> String {
    let of = |what: &str, View { items, indices, old_len, final_len, .. }: &View| {
        let names: Vec<u32> = items.iter().map(|item| item.name).collect();
        format!("{what} {indices:?} of {names:?}, {old_len} to {final_len}")
    };
    match call {
        Call::Remove(item) => format!("remove {}", item.name),
        Call::Add(item) => format!("add {}", item.name),
        Call::Change(item, _) => format!("change {}", item.name),
        Call::Removes(view) => of("removes", view),
        Call::Adds(view) => of("adds", view),
        Call::Changes(view) => of("changes", view),
        Call::Receive(view) => of("receive", view),
    }
}

fn receive_told(array: &mut OrderedFastArray<Told>, name: u32, digits: &[u8]) {
    array.received_whole(id(name)).name = name;
    array.receive(id(name), ReceivedChange::Moved(label(digits)));
}

/// Returns a replica of items with these ids. The digits of neighbouring labels differ by ten.
fn told_replica(names: std::ops::Range<u8>) -> OrderedFastArray<Told> {
    let mut array = OrderedFastArray::new();
    array.become_replica();
    names.for_each(|name| receive_told(&mut array, name.into(), &[name * 10]));
    array.conclude(false);
    array
}

#[test]
fn s178_s179_callbacks_find_items_where_they_belong() {
    let mut array = told_replica(1..5);
    array.receive(id(3), ReceivedChange::Removed);
    array.receive(id(4), ReceivedChange::Changed(&HandleSet::up_to(1)));
    receive_told(&mut array, 9, &[25]);
    receive_told(&mut array, 8, &[5]);
    array.conclude(true);
    let outlines: Vec<String> = calls().iter().map(outline).collect();
    assert_eq!(
        outlines,
        [
            "remove 3",
            "removes [4] of [8, 1, 2, 9, 3, 4], 4 to 5",
            "add 9",
            "add 8",
            "adds [3, 0] of [8, 1, 2, 9, 3, 4], 4 to 5",
            "change 4",
            "changes [5] of [8, 1, 2, 9, 3, 4], 4 to 5",
            "receive [] of [8, 1, 2, 9, 4], 4 to 5",
        ]
    );
}

#[test]
fn s145_a_move_is_not_reported_as_a_change() {
    let mut array = told_replica(1..5);
    array.receive(id(1), ReceivedChange::Moved(label(&[35])));
    array.receive(id(1), ReceivedChange::Changed(&HandleSet::new()));
    array.conclude(true);
    let outlines: Vec<String> = calls().iter().map(outline).collect();
    assert_eq!(
        outlines,
        [
            "removes [] of [2, 3, 1, 4], 4 to 4",
            "adds [] of [2, 3, 1, 4], 4 to 4",
            "changes [] of [2, 3, 1, 4], 4 to 4",
            "receive [] of [2, 3, 1, 4], 4 to 4",
        ]
    );
    array.receive(id(1), ReceivedChange::Moved(label(&[36])));
    array.receive(id(3), ReceivedChange::Moved(label(&[31])));
    array.receive(id(1), ReceivedChange::Changed(&HandleSet::new()));
    array.conclude(true);
    assert_eq!(calls(), [], "labels that change no order are nobody's business");
}

#[test]
fn s183_local_items_stay_where_they_were_put() {
    let mut array = replica(&[(1, &[10]), (2, &[20]), (3, &[30])]);
    let local = array.insert(1, 1_000);
    assert!(local.is_local());
    receive(&mut array, &[(4, &[5]), (5, &[25])]);
    assert_eq!(array, [4, 1, 1_000, 2, 5, 3]);
    array.received_sweep();
    array.receive(id(1), ReceivedChange::Spared);
    array.receive(id(3), ReceivedChange::Spared);
    array.conclude(true);
    assert_eq!(array, [1, 1_000, 3]);
    array.receive(local, ReceivedChange::Removed);
    array.receive(local, ReceivedChange::Moved(label(&[40])));
    array.conclude(true);
    assert_eq!(array, [1, 1_000, 3]);
}

#[test]
fn s183_local_items_find_a_place_where_labels_leave_none() {
    let mut array = replica(&[(1, &[10]), (2, &[10]), (3, &[20])]);
    array.insert(1, 1_000);
    array.insert(1, 1_001);
    // No label fits between equal labels, which no honest server sends. So the new items come after all items
    // with this label.
    assert_eq!(array, [1, 2, 1_000, 1_001, 3]);
    for local in 0..1_000 {
        array.insert(5, local);
    }
    receive(&mut array, &[(4, &[30])]);
    assert_eq!(array.len(), 1_006);
    assert_eq!((array[0], array.last()), (1, Some(&4)));
}

#[test]
fn a_copy_has_the_ids_and_the_order_of_its_source() {
    let mut source = OrderedFastArray::from([1_u16, 2, 3]);
    source.insert(1, 9);
    source.move_item(3, 0);
    let mut copy = replica(&[(2, &[1]), (77, &[2])]);
    let local = copy.push(100);
    copy.copy_from(&source, &mut |from, to| *to = *from);
    assert_eq!(copy.by_id(local), Some(&100));
    copy.remove_by_id(local);
    assert!(copy.iter().eq(&source) && copy.ids().eq(source.ids()));
}

#[test]
fn s172_a_sweep_removes_what_an_update_does_not_name_and_leaves_the_order_of_the_rest() {
    let mut array = replica(&[(1, &[50]), (2, &[40]), (3, &[30]), (4, &[20]), (5, &[10])]);
    array.push(100);
    assert_eq!(array, [5, 4, 3, 2, 1, 100]);
    // The client missed the packets that removed the items 2 and 5, so the server lists all items that still
    // exist.
    array.received_sweep();
    array.receive(id(1), ReceivedChange::Changed(&HandleSet::up_to(1)));
    array.receive(id(3), ReceivedChange::Spared);
    array.receive(id(4), ReceivedChange::Spared);
    array.conclude(false);
    assert_eq!(array, [4, 3, 1, 100]);
    array.receive(id(3), ReceivedChange::Removed);
    array.conclude(false);
    assert_eq!(array, [4, 1, 100], "the sweep was of the update before");
}

#[test]
fn arrays_go_wherever_items_go() {
    fn goes<T: Send + Sync>() {}
    goes::<OrderedFastArray<u16>>();
}

#[cfg(feature = "serde")]
#[test]
fn arrays_are_written_as_sequences_and_read_with_new_ids() {
    let mut array = OrderedFastArray::from([2_u16, 3]);
    array.insert(0, 1);
    let json = serde_json::to_string(&array).expect("written");
    assert_eq!(json, "[1,2,3]");
    let read: OrderedFastArray<u16> = serde_json::from_str(&json).expect("read");
    assert_eq!(read, array);
    assert_eq!(read.id(0), Some(id(1)));
}

#[test]
#[should_panic(expected = "beyond the end")]
fn inserting_beyond_the_end_panics() {
    OrderedFastArray::new().insert(1, 0_u16);
}

#[test]
fn s137_an_array_that_replaces_another_has_new_items_for_a_copy_of_its_shadow_too() {
    let live: OrderedFastArray<u32> = (0..3).collect();
    let mut shadow = OrderedFastArray::new();
    shadow.follow(&live, &mut |_, _| {});
    let mut copy = OrderedFastArray::new();
    copy.copy_from(&shadow, &mut |from, to| *to = *from);
    for shadow in [&mut shadow, &mut copy] {
        let successor: OrderedFastArray<u32> = (7..9).collect();
        let mut steps = Vec::new();
        shadow.follow(&successor, &mut |id, step| {
            steps.push((id.number(), matches!(step, Step::Added { .. }), matches!(step, Step::Removed)));
        });
        let removed: Vec<_> = steps.iter().filter(|step| step.2).map(|step| step.0).collect();
        assert_eq!(removed, [1, 2, 3]);
        assert!(steps.iter().filter(|step| !step.2).all(|step| step.1 && step.0 > 3), "{steps:?}");
    }
}
