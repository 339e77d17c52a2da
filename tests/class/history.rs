//! The changes that all connections share: positions in the history, the ring of 64 changelists (lists of
//! changed handles), and the changes for a client that joins late (S65, S66, R10).

use repl::tools::{Changelist, HandleSet, History};

fn list(handles: impl IntoIterator<Item = u32>) -> Changelist {
    let mut list = Changelist::new();
    handles.into_iter().for_each(|handle| list.insert(handle));
    list
}

fn members(handles: &HandleSet) -> Vec<u32> {
    handles.iter().collect()
}

/// Appends a changelist, and checks that no older one is removed.
fn push(history: &mut History, list: &Changelist, keep: bool) {
    assert!(history.push(list, keep).is_none(), "a list was evicted");
}

#[test]
fn s65_places_grow_by_one_with_each_list() {
    let mut history = History::default();
    assert_eq!((history.start(), history.end()), (0, 0));
    push(&mut history, &list([1]), true);
    push(&mut history, &list([2]), true);
    assert_eq!((history.start(), history.end()), (0, 2));
    history.release();
    assert_eq!((history.start(), history.end()), (2, 2));
    // Each list increases the end position by one, whether the history stores the list or not.
    push(&mut history, &list([3]), false);
    assert_eq!((history.start(), history.end()), (3, 3));
    push(&mut history, &list([4]), true);
    history.gather(3, &mut list([]));
    assert_eq!((history.start(), history.end()), (3, 4));
    (0..100).for_each(|handle| drop(history.push(&list([1 + handle]), true)));
    assert_eq!((history.start(), history.end()), (104 - History::MAX_LISTS as u64, 104));
}

#[test]
fn s66_s75_no_change_is_ever_forgotten() {
    let mut history = History::default();
    for handle in 1..=200 {
        drop(history.push(&list([handle]), handle % 3 == 0));
    }
    assert_eq!(members(history.ever()), (1..=200).collect::<Vec<_>>());
}

#[test]
fn s75_s76_s133_a_connection_gathers_the_changes_since_its_place() {
    let mut history = History::default();
    for handle in 1..=5 {
        push(&mut history, &list([handle, 10]), true);
    }
    let gathered = |history: &mut History, place| {
        let mut into = list([20]);
        history.gather(place, &mut into);
        members(into.handles())
    };
    assert_eq!(gathered(&mut history, 0), [1, 2, 3, 4, 5, 10, 20]);
    assert_eq!(gathered(&mut history, 3), [4, 5, 10, 20]);
    assert_eq!(gathered(&mut history, 3), [4, 5, 10, 20]);
    push(&mut history, &list([6]), true);
    assert_eq!(gathered(&mut history, 3), [4, 5, 6, 10, 20]);
    assert_eq!(gathered(&mut history, 6), [20]);
}

#[test]
fn s66_r10_the_ring_holds_64_lists_and_gives_the_oldest_away_with_its_place() {
    let mut history = History::default();
    for handle in 1..=64 {
        push(&mut history, &list([handle]), true);
    }
    assert_eq!((history.start(), history.end()), (0, History::MAX_LISTS as u64));
    for handle in 65..=70 {
        let mut evicted = Vec::new();
        let oldest = history.push(&list([handle]), true);
        evicted.extend(oldest.map(|(place, list)| (place, members(list.handles()))));
        let oldest = u64::from(handle) - 65;
        assert_eq!(evicted, [(oldest, vec![oldest as u32 + 1])]);
        assert_eq!((history.start(), history.end()), (oldest + 1, u64::from(handle)));
    }
    let mut rest = Changelist::new();
    history.gather(history.start(), &mut rest);
    assert_eq!(members(rest.handles()), (7..=70).collect::<Vec<_>>());
}

#[test]
fn a_list_that_nobody_waits_for_is_not_kept() {
    let mut history = History::default();
    push(&mut history, &list([1]), false);
    assert_eq!((history.start(), history.end()), (1, 1));
    push(&mut history, &list([2]), true);
    push(&mut history, &list([3]), false);
    assert_eq!((history.start(), history.end()), (3, 3));
    assert_eq!(members(history.ever()), [1, 2, 3]);
}
