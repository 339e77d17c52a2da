//! Changelists (lists of changed handles): merging, pruning and subtracting them, compared with plain sets of
//! paths (S21, S72, S73, R2, R4).

use std::collections::{BTreeSet, VecDeque};

use crate::pair::world::{Change, World, changes};
use crate::pair::{Pair, handles};
use proptest::prelude::*;
use repl::tools::Changelist;
use repl::{BitWriter, NetSerialize, Replicated};

#[derive(Replicated, Default)]
#[replicated(all)]
struct Lists {
    first: u8,
    list: Vec<u8>,
    grid: Vec<Vec<u8>>,
}

fn lists() -> Pair<Lists> {
    Pair::from(|| Lists { first: 0, list: vec![0; 4], grid: vec![vec![0; 2]; 2] })
}

#[test]
fn s72_merging_is_the_ordered_union_of_handles_at_every_level() {
    let mut pair = lists();
    let mut merged = pair.edit(|object| {
        object.list[2] = 1;
        object.grid[1][0] = 1;
    });
    merged.merge(&pair.edit(|object| {
        object.first = 1;
        object.list[0] = 1;
        object.grid[0][1] = 1;
        object.grid[1][1] = 1;
    }));
    let expected = [1, 2, 2, 1, 3, 0, 3, 9, 1, 1, 2, 0, 2, 2, 1, 2, 0, 0, 0];
    assert_eq!(pair.flat(&merged), expected);
}

#[test]
fn s72_merging_twice_or_with_nothing_changes_nothing() {
    let mut pair = lists();
    let list = pair.edit(|object| object.grid[1].push(1));
    let mut merged = list.clone();
    merged.merge(&list);
    merged.merge(&Changelist::new());
    assert_eq!(merged, list);
}

#[test]
fn s21_s72_pruning_drops_elements_past_the_end_and_keeps_the_array() {
    let mut pair = lists();
    let mut merged = pair.edit(|object| {
        object.list[3] = 1;
        object.list.push(1);
        object.grid[1][1] = 1;
    });
    merged.merge(&pair.edit(|object| {
        object.list.truncate(3);
        object.grid.truncate(1);
    }));
    pair.class.prune(&pair.shadow, &mut merged);
    assert_eq!(pair.flat(&merged), [2, 0, 0, 3, 0, 0, 0]);
    assert!(!merged.has_new_elements());

    let mut counts = Changelist::new();
    counts.insert(2);
    counts.insert(3);
    assert_eq!(merged, counts, "what is left is the counts alone");
}

#[test]
fn s21_stale_entries_are_dropped_when_they_are_sent_though_never_pruned() {
    let mut pair = lists();
    let mut merged = pair.edit(|object| object.list[3] = 1);
    merged.merge(&pair.edit(|object| object.list.truncate(1)));
    pair.receive(&pair.encode(&merged)).unwrap();
    assert_eq!(pair.replica.list, [0]);
}

#[test]
fn s21_changes_of_elements_before_and_behind_the_new_end_are_cut_at_it() {
    let mut pair = lists();
    let mut merged = pair.edit(|object| object.list.fill(1));
    merged.merge(&pair.edit(|object| object.list.truncate(2)));
    pair.receive(&pair.encode(&merged)).unwrap();
    assert_eq!(pair.replica.list, [1, 1]);
}

#[test]
fn r02_the_tail_of_a_merged_list_begins_where_the_shortest_array_ended() {
    let mut pair = lists();
    let mut merged = pair.edit(|object| object.list.push(1));
    merged.merge(&pair.edit(|object| object.list.truncate(1)));
    merged.merge(&pair.edit(|object| object.list.extend([5, 6])));
    assert_eq!(pair.flat(&merged), [2, 2, 2, 3, 0, 0]);
    pair.receive(&pair.encode(&merged)).unwrap();
    assert_eq!(pair.replica.list, [0, 5, 6]);
}

#[test]
fn r02_later_changes_of_an_array_carry_its_new_elements_along() {
    let mut pair = lists();
    let new_elements = pair.edit(|object| object.list.extend([7, 8])).new_elements();
    assert!(new_elements.has_new_elements());
    let mut later = pair.edit(|object| object.list[0] = 1);
    assert!(!later.has_new_elements());
    later.extend_new_elements(&new_elements);
    assert_eq!(pair.flat(&later), [2, 3, 1, 5, 6, 0, 0]);

    let mut elsewhere = pair.edit(|object| object.first = 1);
    elsewhere.extend_new_elements(&new_elements);
    assert_eq!(pair.flat(&elsewhere), [1, 0]);
}

#[test]
fn r04_content_of_later_packets_is_not_lost() {
    let mut pair = lists();
    let mut lost = pair.edit(|object| {
        object.first = 1;
        object.list[1] = 1;
        object.list[2] = 1;
        object.grid[0][0] = 1;
        object.grid[1][1] = 1;
    });
    let later = pair.edit(|object| {
        object.list[2] = 2;
        object.grid[1][1] = 2;
    });
    lost.subtract(&later);
    assert_eq!(pair.flat(&lost), [1, 2, 1, 2, 0, 3, 4, 1, 1, 1, 0, 0, 0]);
    let all = lost.clone();
    lost.subtract(&all);
    assert!(lost.is_empty());
}

#[test]
fn r04_new_elements_stay_lost_unless_a_later_packet_holds_all_of_them() {
    let mut pair = lists();
    let lost = pair.edit(|object| object.list.extend([7, 8]));
    let edit = pair.edit(|object| object.list[5] = 9);
    let mut left = lost.clone();
    left.subtract(&edit);
    assert_eq!(pair.flat(&left), [2, 2, 5, 6, 0, 0]);

    let mut with_new_elements = edit;
    with_new_elements.extend_new_elements(&lost.new_elements());
    left.subtract(&with_new_elements);
    assert!(left.is_empty());
}

#[test]
fn s73_whole_properties_are_kept_or_dropped() {
    let mut pair = lists();
    let mut list = Changelist::new();
    pair.class.insert_whole(&handles([1, 2, 3]), &mut list);
    assert_eq!(pair.flat(&list), [1, 2, 4, 1, 2, 3, 4, 0, 3, 10, 1, 2, 1, 2, 0, 2, 2, 1, 2, 0, 0, 0]);
    list.retain(&handles([3]));
    assert_eq!(list.handles(), &handles([3]));
    pair.edit(|object| object.grid.clear());
    assert_eq!(pair.flat(&list), [3, 0, 0, 0]);
}

/// Returns, for each entry of a flat list, the handles that lead to it, outermost first.
fn paths(flat: &[u32], layout: &Layout) -> BTreeSet<Vec<u32>> {
    let mut paths = BTreeSet::new();
    let rest = level(flat, layout, &mut Vec::new(), &mut paths);
    assert_eq!(rest, [], "a list ends with its terminator");
    paths
}

/// The handles of a level: how many there are, which of them are arrays, and the layout of the elements of
/// these arrays.
struct Layout {
    handles: u32,
    arrays: Vec<(u32, Self)>,
}

fn level<'f>(
    flat: &'f [u32],
    layout: &Layout,
    path: &mut Vec<u32>,
    into: &mut BTreeSet<Vec<u32>>,
) -> &'f [u32] {
    let mut rest = flat;
    let mut last = 0;
    loop {
        let (&handle, after) = rest.split_first().unwrap();
        rest = after;
        if handle == 0 {
            return rest;
        }
        assert!(handle > last, "handles ascend");
        last = handle;
        path.push(handle);
        into.insert(path.clone());
        let inner = (handle - 1) % layout.handles + 1;
        if let Some((_, element)) = layout.arrays.iter().find(|(array, _)| *array == inner) {
            let (&count, after) = rest.split_first().unwrap();
            rest = level(after, element, path, into);
            assert_eq!(count as usize, after.len() - rest.len() - 1, "the count is that of the entries");
        }
        path.pop();
    }
}

fn world() -> Layout {
    let leaf = |handles| Layout { handles, arrays: Vec::new() };
    let array = |element| Layout { handles: 1, arrays: vec![(1, element)] };
    let limb = || Layout { handles: 3, arrays: vec![(2, leaf(1)), (3, leaf(1))] };
    let arrays = vec![
        (5, leaf(1)),
        (6, leaf(1)),
        (8, leaf(1)),
        (9, limb()),
        (10, array(leaf(2))),
        (11, array(limb())),
        (12, leaf(1)),
        (13, leaf(1)),
        (16, leaf(1)),
    ];
    Layout { handles: 18, arrays }
}

fn bits(object: &World) -> Vec<u8> {
    let mut writer = BitWriter::new();
    object.write(&mut writer).unwrap();
    writer.into_bytes()
}

/// A minimal connection. Its link loses packets but keeps their order.
struct Connection {
    pair: Pair<World>,
    pending: Changelist,
    in_flight: VecDeque<(Changelist, bool)>,
}

impl Connection {
    fn send(&mut self, arrives: bool) {
        let mut list = std::mem::take(&mut self.pending);
        if list.is_empty() {
            return;
        }
        self.in_flight.iter().for_each(|(earlier, _)| list.extend_new_elements(&earlier.new_elements()));
        self.pair.class.prune(&self.pair.shadow, &mut list);
        if arrives {
            self.pair.receive(&self.pair.encode(&list)).unwrap();
        }
        self.in_flight.push_back((list, arrives));
    }

    fn resolve(&mut self) {
        if let Some((mut list, false)) = self.in_flight.pop_front() {
            self.in_flight.iter().for_each(|(later, _)| list.subtract(later));
            self.pending.merge(&list);
        }
    }
}

proptest! {
    #[test]
    fn s72_merging_equals_the_union_of_paths(first in changes(8), second in changes(8)) {
        let mut pair = Pair::<World>::new();
        pair.edit(|world| (0..15).for_each(|property| world.change((property, 11, 0x0b0b))));
        let one = pair.edit(|world| first.iter().for_each(|&change| world.change(change)));
        let other = pair.edit(|world| second.iter().for_each(|&change| world.change(change)));
        let of = |list: &Changelist| paths(&pair.flat(list), &world());
        let mut merged = one.clone();
        merged.merge(&other);
        prop_assert_eq!(of(&merged), &of(&one) | &of(&other));
        let mut pruned = merged.clone();
        pair.class.prune(&pair.shadow, &mut pruned);
        prop_assert_eq!(of(&pruned), of(&merged), "pruning drops only what is not there");
    }

    #[test]
    fn r04_subtracting_leaves_at_least_what_later_lists_lack_and_at_most_what_was_lost(
        first in changes(8),
        second in changes(8),
    ) {
        let mut pair = Pair::<World>::new();
        pair.edit(|world| (0..15).for_each(|property| world.change((property, 11, 0x0b0b))));
        let lost = pair.edit(|world| first.iter().for_each(|&change| world.change(change)));
        let later = pair.edit(|world| second.iter().for_each(|&change| world.change(change)));
        let of = |list: &Changelist| paths(&pair.flat(list), &world());
        let mut left = lost.clone();
        left.subtract(&later);
        prop_assert!(of(&left).is_superset(&(&of(&lost) - &of(&later))));
        prop_assert!(of(&left).is_subset(&of(&lost)));
        left.merge(&later);
        prop_assert_eq!(of(&left), &of(&lost) | &of(&later));
    }

    #[test]
    fn r02_r04_a_replica_converges_whatever_packets_are_lost(
        steps in prop::collection::vec((changes(3), any::<bool>(), any::<bool>(), 0..3_u8), 1..40),
    ) {
        let mut connection =
            Connection { pair: Pair::new(), pending: Changelist::new(), in_flight: VecDeque::new() };
        for (edits, sends, arrives, resolved) in steps {
            let list = connection.pair.edit(|world| edits.iter().for_each(|&change: &Change| world.change(change)));
            connection.pending.merge(&list);
            if sends {
                connection.send(arrives);
            }
            (0..resolved).for_each(|_| connection.resolve());
        }
        while !connection.in_flight.is_empty() || !connection.pending.is_empty() {
            connection.resolve();
            connection.send(true);
        }
        prop_assert_eq!(bits(&connection.pair.replica), bits(&connection.pair.shadow));
    }
}
