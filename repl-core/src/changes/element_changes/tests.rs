//! Tests of [`ElementChanges`] against naive models, for ids of items and for keys of entries.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::Sweep;
use crate::bits::BitSlice;
use crate::changes::changelist::{ArrayChanges, Changelist, ElementChange, ElementChanges, Nested};
use crate::changes::portions::ElementQueue;
use crate::diff::compare::Scratch;
use crate::ids::identity::{IdSet, Identity};
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;

/// The change of one element, as the naive model stores it.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    Removed,
    Added,
    Changed(u32),
}

/// The naive model of [`ElementChanges`]: a map from elements to their changes.
type Model = BTreeMap<u8, Said>;

/// Ids or keys that stand for small numbers.
trait Numbered: Identity {
    fn of(number: u8) -> Self;
    fn number(&self) -> u8;
}

impl Numbered for ItemId {
    fn of(number: u8) -> Self {
        Self::new(number.into()).unwrap()
    }

    fn number(&self) -> u8 {
        Self::number(*self) as u8
    }
}

impl Numbered for KeyBits {
    fn of(number: u8) -> Self {
        Self::new(BitSlice::from(&[number][..]))
    }

    fn number(&self) -> u8 {
        self.as_slice().reader().read_bits(8).unwrap() as u8
    }
}

fn model() -> impl Strategy<Value = Model> {
    let said = prop_oneof![Just(Said::Removed), Just(Said::Added), (1..8_u32).prop_map(Said::Changed)];
    prop::collection::btree_map(1..24_u8, said, 0..16)
}

fn list(bits: u32) -> Changelist {
    let mut list = Changelist::new();
    (0..3).filter(|bit| bits >> bit & 1 == 1).for_each(|bit| list.insert(bit + 1));
    list
}

fn changes<I: Numbered>(model: &Model, age: u64) -> ElementChanges<I> {
    let of = |wanted: &Said| -> Vec<I> {
        model.iter().filter(|(_, said)| *said == wanted).map(|(number, _)| I::of(*number)).collect()
    };
    let changed = model.iter().filter_map(|(number, said)| match said {
        Said::Changed(bits) => {
            Some(ElementChange { id: I::of(*number), age, moved: false, list: list(*bits) })
        }
        _ => None,
    });
    ElementChanges::new(of(&Said::Added), of(&Said::Removed), changed.collect())
}

fn told<I: Numbered>(changes: &ElementChanges<I>) -> Model {
    let mut model = Model::new();
    let mut say = |id: &I, said: Said| assert_eq!(model.insert(id.number(), said), None, "{id:?} twice");
    changes.removed.iter().for_each(|id| say(&id, Said::Removed));
    changes.added.iter().for_each(|id| say(&id, Said::Added));
    assert!(changes.changed.is_sorted_by(|a, b| a.id < b.id));
    for change in &changes.changed {
        let bits = change.list.handles().iter().map(|handle| 1 << (handle - 1)).sum();
        say(&change.id, Said::Changed(bits));
    }
    model
}

fn merged(mut one: Model, later: &Model) -> Model {
    for (id, said) in later {
        let said = match (one.get(id), said) {
            (Some(Said::Changed(bits)), Said::Changed(more)) => Said::Changed(bits | more),
            // An element that is sent whole or was removed keeps this state if its properties change later.
            (Some(before @ (Said::Added | Said::Removed)), Said::Changed(_)) => before.clone(),
            (_, said) => said.clone(),
        };
        one.insert(*id, said);
    }
    one
}

fn subtracted(one: &Model, later: &Model) -> Model {
    let left = one.iter().filter_map(|(id, said)| {
        let left = match (said, later.get(id)) {
            (said, None) | (said @ (Said::Added | Said::Removed), Some(Said::Changed(_))) => said.clone(),
            (Said::Changed(bits), Some(Said::Changed(more))) if bits & !more > 0 => {
                Said::Changed(bits & !more)
            }
            _ => return None,
        };
        Some((*id, left))
    });
    left.collect()
}

fn merging_is_what_happened_last<I: Numbered>(one: &Model, later: &Model) {
    let mut merging = changes::<I>(one, 1);
    merging.merge(&changes(later, 2));
    assert_eq!(told(&merging), merged(one.clone(), later));
    for change in &merging.changed {
        let is_old = matches!(one.get(&change.id.number()), Some(Said::Changed(_)));
        assert_eq!(change.age, if is_old { 1 } else { 2 });
    }
}

fn what_was_sent_again_is_not_lost<I: Numbered>(one: &Model, later: &Model) {
    let mut lost = changes::<I>(one, 1);
    lost.subtract(&changes(later, 2));
    assert_eq!(told(&lost), subtracted(one, later));
}

fn splitting_loses_nothing<I: Numbered>(
    (old, new): (&Model, &Model),
    newer: bool,
    waits: bool,
    count: usize,
) {
    let (mut left, later) = (changes::<I>(old, 1), changes(new, if newer { 2 } else { 0 }));
    let mut queue = ElementQueue::new(left.clone());
    left.merge(&later);
    let (all, mut seen) = (told(&left), Model::new());
    if waits {
        queue.add(later);
    } else {
        queue = ElementQueue::new(left);
    }
    while !queue.is_empty() {
        let part = queue.part(count);
        queue.skip(count);
        assert_eq!(part.count(), count.min(all.len() - seen.len()));
        let newest = part.changed.iter().map(|change| change.age).max().unwrap_or(0);
        let left = queue.part(queue.len());
        assert_eq!(left.count(), queue.len());
        assert!(left.changed.iter().all(|change| change.age >= newest));
        assert!(left.removed.is_empty() || part.changed.is_empty() && part.added.is_empty());
        assert!(left.changed.is_empty() || part.added.is_empty());
        seen.extend(told(&part));
        assert_eq!(merged(seen.clone(), &told(&left)), all);
    }
    assert_eq!(seen, all);
}

fn what_is_not_acked_goes_whole<I: Numbered>(added: &Model, changed: &Model, arrived: &Model) {
    let mut new_elements = changes::<I>(added, 1).new_elements().unwrap_or_default();
    let mut sent = changes(changed, 2);
    let touches = sent.touches_new_elements(&new_elements);
    sent.extend_new_elements(&new_elements);
    let mut any = false;
    for (id, said) in told(&sent) {
        let whole = added.get(&id) == Some(&Said::Added) && matches!(changed[&id], Said::Changed(_));
        any |= whole;
        assert_eq!(said, if whole { Said::Added } else { changed[&id].clone() });
    }
    assert_eq!(touches, any);
    new_elements.new_elements_arrived(&changes(arrived, 3));
    for (number, said) in added {
        let over = matches!(arrived.get(number), Some(Said::Added | Said::Removed));
        assert_eq!(new_elements.added.contains(&I::of(*number)), *said == Said::Added && !over);
    }
}

proptest! {
    #[test]
    fn s72_merging_keeps_the_last_event(one in model(), later in model()) {
        merging_is_what_happened_last::<ItemId>(&one, &later);
        merging_is_what_happened_last::<KeyBits>(&one, &later);
    }

    #[test]
    fn r04_changes_that_were_sent_again_are_not_lost(one in model(), later in model()) {
        what_was_sent_again_is_not_lost::<ItemId>(&one, &later);
        what_was_sent_again_is_not_lost::<KeyBits>(&one, &later);
    }

    #[test]
    fn w08_splitting_loses_nothing_and_takes_the_oldest_first(
        old in model(),
        new in model(),
        newer in any::<bool>(),
        waits in any::<bool>(),
        count in 1..12_usize,
    ) {
        splitting_loses_nothing::<ItemId>((&old, &new), newer, waits, count);
        splitting_loses_nothing::<KeyBits>((&old, &new), newer, waits, count);
    }

    #[test]
    fn r02_unacked_elements_are_sent_whole(added in model(), changed in model(), arrived in model()) {
        what_is_not_acked_goes_whole::<ItemId>(&added, &changed, &arrived);
        what_is_not_acked_goes_whole::<KeyBits>(&added, &changed, &arrived);
    }
}

fn one_who_lags_far_behind_is_told_what_there_is<I: Identity>(of: impl Fn(u32) -> I) {
    let removal = |number| ElementChanges::new(Vec::new(), vec![of(number)], Vec::new());
    let mut pending = ElementChanges::default();
    (0..1_024).for_each(|number| pending.merge(&removal(number)));
    assert_eq!((pending.sweep, pending.removed.count()), (Sweep::None, 1_024));
    pending.merge(&removal(1_024));
    assert_eq!((pending.sweep, pending.removed.count()), (Sweep::Dead, 0));
}

#[test]
fn r12_a_client_far_behind_receives_the_existing_ids() {
    one_who_lags_far_behind_is_told_what_there_is(|number| ItemId::new(2 * number + 2).unwrap());
    one_who_lags_far_behind_is_told_what_there_is(|number| {
        KeyBits::new(BitSlice::from(&number.to_le_bytes()[..]))
    });
}

fn one_for_whom_changes_wait_is_told_what_there_is<I: Identity>(of: impl Fn(u32) -> I) {
    let removal = |number| ElementChanges::new(Vec::new(), vec![of(number)], Vec::new());
    let mut waiting = ElementQueue::new(ElementChanges::<I>::default());
    (0..1_024).for_each(|number| waiting.add(removal(number)));
    let all = waiting.part(waiting.len());
    assert_eq!((all.sweep, all.removed.count()), (Sweep::None, 1_024));
    waiting.add(removal(1_024));
    assert!(!waiting.is_empty(), "the list of what exists is still to be sent");
    let all = waiting.part(waiting.len());
    assert_eq!((all.sweep, all.removed.count()), (Sweep::Dead, 0));
}

#[test]
fn r12_a_client_whose_changes_wait_in_portions_receives_the_existing_ids() {
    one_for_whom_changes_wait_is_told_what_there_is(|number| ItemId::new(2 * number + 2).unwrap());
    one_for_whom_changes_wait_is_told_what_there_is(|number| {
        KeyBits::new(BitSlice::from(&number.to_le_bytes()[..]))
    });
}

#[test]
fn a_whole_collection_replaces_earlier_changes_of_entries() {
    let said = [(1, Said::Removed), (2, Said::Changed(1)), (3, Said::Added)];
    let mut pending = changes::<KeyBits>(&Model::from(said), 1);
    pending.merge(&ElementChanges::whole());
    assert_eq!(pending, ElementChanges::whole());
    pending.merge(&changes(&Model::from([(4, Said::Changed(1))]), 2));
    assert_eq!(pending, ElementChanges::whole());
    let mut new_elements = changes::<KeyBits>(&Model::from([(5, Said::Added)]), 1);
    assert!(!new_elements.new_elements_arrived(&ElementChanges::whole()));
    pending.subtract(&ElementChanges::whole());
    assert!(pending.is_empty());
}

/// Changes inside a fast array, a map and an array. Each of the three may be missing.
fn nested() -> impl Strategy<Value = Changelist> {
    let models = (prop::option::of(model()), prop::option::of(model()), prop::option::of(0..400_u32));
    (models, any::<u64>()).prop_map(|((items, entries, edit), age)| {
        let mut list = list(age as u32);
        if let Some(model) = items {
            let mut changes = changes::<ItemId>(&model, age);
            changes.changed.iter_mut().for_each(|change| change.moved = change.id.number() % 2 == 1);
            list.insert_nested(4, changes);
        }
        if let Some(model) = entries {
            list.insert_nested(5, changes::<KeyBits>(&model, age));
        }
        if let Some(edit) = edit {
            let mut array = ArrayChanges { tail: edit + 1, ..ArrayChanges::count_only() };
            array.edits.insert(edit);
            list.insert_nested(70, Nested::Array(array));
        }
        list
    })
}

proptest! {
    #[test]
    fn a_copy_over_other_changes_equals_the_original(known in nested(), other in nested()) {
        let mut copy = known;
        copy.clone_from(&other);
        prop_assert_eq!(copy, other);
    }

    #[test]
    fn changes_are_empty_when_their_memory_is_used_again(lists in prop::collection::vec(nested(), 1..4)) {
        let mut scratch = Scratch::default();
        for mut list in lists {
            scratch.recycle(&mut list);
            prop_assert_eq!(list, Changelist::new());
        }
        prop_assert!(scratch.spares_are_empty());
        scratch.end_round();
        scratch.end_round();
        prop_assert_eq!(scratch.spares(), 0, "what was idle for a round is freed");
    }
}
