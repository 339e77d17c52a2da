//! Replays callbacks on a model. Beginning with the items that a client had before, they must lead to the
//! items that it has now.
//!
//! *Invariant:* the model is built from callbacks alone. The array itself is only compared with the model.

use std::collections::BTreeMap;

use repl::{Client, ObjectRef};

use super::classes::{Bag, Call, Item, List, Plain, PlainItem, PlainSocket, Socket, Step, View, calls, list};

/// The callbacks of one update of one array.
type Update<F> = Vec<Step<F>>;

/// The model of one object on a client.
#[derive(Default)]
struct Known {
    items: List<PlainItem>,
    spare: List<PlainItem>,
}

/// The models of a client's objects, by the numbers of the objects.
#[derive(Default)]
pub(crate) struct Listener {
    known: BTreeMap<u32, Known>,
    /// The number of array updates that the callbacks reported.
    pub(crate) updates: u64,
}

impl Listener {
    /// Drops the model of an object that the client no longer has.
    pub(crate) fn lose(&mut self, number: u32) {
        self.known.remove(&number);
    }

    /// Applies the callbacks since the last call, object by object. The client has received exactly one
    /// packet since then.
    pub(crate) fn listen(&mut self, client: &Client, objects: &BTreeMap<u32, ObjectRef<Bag>>) {
        let (mut items, mut sockets) = (Vec::new(), Vec::new());
        for call in calls() {
            match call {
                Call::Item(step) => items.push(step),
                Call::Socket(step) => sockets.push(step),
                Call::End(number) => {
                    // The callbacks may be about the last state of an object that the same packet has
                    // removed.
                    let info = client.object_info(objects[&number]);
                    let bag = client.get(objects[&number]).or_else(|| info.departed());
                    let bag = bag.expect("an object that was told is there");
                    let (items, sockets) = (updates(&mut items), updates(&mut sockets));
                    self.updates += (items.len() + sockets.len()) as u64;
                    self.known.entry(number).or_default().take(bag, &items, &sockets);
                }
            }
        }
        assert!(items.is_empty() && sockets.is_empty(), "callbacks of no object: {items:?} {sockets:?}");
    }

    /// Asserts that each object on the client equals its model.
    pub(crate) fn assert_complete(&self, client: &Client, objects: &BTreeMap<u32, ObjectRef<Bag>>) {
        for (number, known) in &self.known {
            let bag = client.get(objects[number]).expect("an object that is known is there");
            assert_eq!(known.items, list(&bag.items), "items of {number}");
            assert_eq!(known.spare, list(&bag.spare), "spare of {number}");
        }
    }
}

/// Splits steps into updates. Each update ends with the last callback, `post_replicated_receive`.
fn updates<F>(steps: &mut Vec<Step<F>>) -> Vec<Update<F>> {
    let mut updates = vec![Vec::new()];
    for step in steps.drain(..) {
        let is_end = matches!(step, Step::Receive(_));
        updates.last_mut().expect("one").push(step);
        if is_end {
            updates.push(Vec::new());
        }
    }
    let rest = updates.pop().expect("one");
    assert!(rest.is_empty(), "an update without an end");
    updates
}

impl Known {
    fn take(&mut self, bag: &Bag, items: &[Update<PlainItem>], sockets: &[Update<PlainSocket>]) {
        let mut expected = Vec::new();
        let mut told = items.iter();
        for (known, array) in [(&mut self.items, &bag.items), (&mut self.spare, &bag.spare)] {
            let now = list(array);
            if *known == now {
                continue;
            }
            let update = told.next().unwrap_or_else(|| panic!("nothing told of {known:?} to {now:?}"));
            for (id, item) in &now {
                let before = known.iter().find(|(known, _)| known == id);
                let before = before.map(|(_, item)| item.sockets.clone()).unwrap_or_default();
                if before != item.sockets {
                    expected.push((before, item.sockets.clone()));
                }
            }
            *known = replay::<Item>(known, update);
            assert_eq!(*known, now, "told {update:?}");
        }
        assert_eq!(told.next(), None, "an update of an array that is as it was");
        check_sockets(expected, sockets);
    }
}

/// Asserts that callbacks reported exactly the inner arrays that changed, each once.
fn check_sockets(mut expected: Vec<(List<PlainSocket>, List<PlainSocket>)>, told: &[Update<PlainSocket>]) {
    for update in told {
        let Some(Step::Receive(end)) = update.last() else { panic!("an update ends") };
        let at = expected.iter().position(|(before, after)| {
            *after == end.items && before.len() == end.old_len && starts(update, before)
        });
        let at = at.unwrap_or_else(|| panic!("told of an inner array that is as it was: {update:?}"));
        let (before, after) = expected.swap_remove(at);
        assert_eq!(replay::<Socket>(&before, update), after);
    }
    assert!(expected.is_empty(), "nothing told of {expected:?}");
}

/// Returns whether an update belongs to an array with the items `before`: only items that it reports as
/// changed may differ.
fn starts<F: PartialEq>(update: &Update<F>, before: &List<F>) -> bool {
    update.iter().any(|step| {
        let Step::Changes(view) = step else { return false };
        before
            .iter()
            .zip(&view.items)
            .enumerate()
            .all(|(at, (was, now))| was.0 == now.0 && (was.1 == now.1) != view.indices.contains(&at))
    })
}

/// Returns the array after an update, computed only from its callbacks. Asserts that the callbacks have the
/// order, the indices and the lengths that S178 and S179 require.
fn replay<T: Plain>(before: &List<T::Form>, update: &Update<T::Form>) -> List<T::Form> {
    let mut steps = update.iter().peekable();
    let mut removed = Vec::new();
    while let Some(Step::Remove(item)) = steps.next_if(|step| matches!(step, Step::Remove(_))) {
        removed.push(item);
    }
    let Some(Step::Removes(removes)) = steps.next() else { panic!("no removals in {update:?}") };
    let mut added = Vec::new();
    while let Some(Step::Add(item)) = steps.next_if(|step| matches!(step, Step::Add(_))) {
        added.push(item);
    }
    let Some(Step::Adds(adds)) = steps.next() else { panic!("no additions in {update:?}") };
    let mut changed = Vec::new();
    while let Some(Step::Change(item, names)) = steps.next_if(|step| matches!(step, Step::Change(..))) {
        changed.push((item, names));
    }
    let Some(Step::Changes(changes)) = steps.next() else { panic!("no changes in {update:?}") };
    let Some(Step::Receive(end)) = steps.next() else { panic!("no end in {update:?}") };
    assert_eq!(steps.next(), None);
    assert!(!(removed.is_empty() && added.is_empty() && changed.is_empty()), "an update of nothing");

    let all = &removes.items;
    for view in [removes, adds, changes] {
        assert_eq!((&view.items, view.old_len), (all, before.len()), "all see the same");
        assert_eq!(view.final_len, all.len() - removed.len());
    }
    let at =
        |view: &View<T::Form>| -> Vec<T::Form> { view.indices.iter().map(|&at| all[at].1.clone()).collect() };
    assert!(at(removes).iter().eq(removed), "removals in the order of the indices");
    assert!(at(adds).iter().eq(added), "additions in the order of the indices");
    assert!(at(changes).iter().eq(changed.iter().map(|(item, _)| *item)), "changes in their order");

    let mut sorted = adds.indices.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(before.len()..all.len()), "what came stands behind what was there");
    for (at, (id, was)) in before.iter().enumerate() {
        assert_eq!(all[at].0, *id, "what was there stands where it stood");
        let names = T::differing(was, &all[at].1);
        assert!(!names.contains(&"kind"), "item {id} was taken for another: {was:?} became {:?}", all[at].1);
        match changes.indices.iter().position(|&changed| changed == at) {
            Some(told) => {
                assert_eq!(*changed[told].1, names, "what changed of item {id}: {was:?} to {:?}", all[at].1);
            }
            None => assert!(names.is_empty(), "nothing told of {names:?} of item {id}"),
        }
    }
    assert!(changed.iter().all(|(_, names)| !names.is_empty()), "a change of nothing");

    let mut after = all.clone();
    let mut doomed = removes.indices.clone();
    doomed.sort_unstable();
    assert!(doomed.is_sorted_by(|a, b| a < b) && doomed.iter().all(|&at| at < before.len()));
    doomed.iter().rev().for_each(|&at| drop(after.swap_remove(at)));
    assert_eq!((&end.items, end.old_len, end.final_len), (&after, before.len(), after.len()));
    assert!(end.indices.is_empty());
    after
}
