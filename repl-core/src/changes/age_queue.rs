//! A queue of changed elements that wait to be sent. The elements with the oldest changes are sent first.
//!
//! *Invariant:* no element is in the queue twice. The age of an element in the queue is the age of its oldest
//! change. Between entering the queue and being sent, an element is visited only if it changes again.

use std::collections::{BTreeMap, VecDeque};

use crate::changes::changelist::ElementChange;

/// Changed elements in the order of the ages of their changes. Elements with changes of the same age are in
/// the order of their ids or keys.
#[derive(Clone, Debug)]
pub(crate) struct AgeQueue<I> {
    waiting: VecDeque<ElementChange<I>>,
    /// The age of each element in the queue. This map is built when it is first needed. Most queues never
    /// need it, because they become empty in the same tick.
    ages: Option<BTreeMap<I, u64>>,
}

impl<I: Ord + Clone> AgeQueue<I> {
    /// Makes a queue of changed elements. No element may occur twice in `changes`. Costs O(changes), and
    /// O(changes × log changes) if the changes have several ages.
    pub(crate) fn new(mut changes: Vec<ElementChange<I>>) -> Self {
        sort(&mut changes);
        Self { waiting: changes.into(), ages: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the changes in the queue, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ElementChange<I>> {
        self.waiting.iter()
    }

    /// Removes the oldest `count` changes from the queue.
    pub(crate) fn skip(&mut self, count: usize) {
        for change in self.waiting.drain(..count) {
            if let Some(ages) = &mut self.ages {
                ages.remove(&change.id);
            }
        }
    }

    /// Removes the changes of the elements `ids` from the queue. Costs O(ids × log queue length), and O(queue
    /// length) only if an element of `ids` is in the queue.
    pub(crate) fn remove(&mut self, ids: impl Iterator<Item = I>) {
        let mut indices: Vec<usize> = ids.filter_map(|id| self.take_index(&id)).collect();
        self.take_out(&mut indices);
    }

    /// Removes the changes of the elements for which `is_over` returns true. Costs O(queue length).
    pub(crate) fn remove_where(&mut self, mut is_over: impl FnMut(&I) -> bool) {
        let Self { waiting, ages } = self;
        waiting.retain(|change| {
            let goes = is_over(&change.id);
            if goes && let Some(ages) = ages {
                ages.remove(&change.id);
            }
            !goes
        });
    }

    /// Adds later changes to the queue. No element may occur twice in `later`. If the queue contains a change
    /// of the same element, the later change is merged with it. If the queue has no change of the element,
    /// the later change is inserted into the queue at its age. Costs O(`later` × log queue length). Costs
    /// O(queue length) only if a later change is older than a change in the queue.
    pub(crate) fn add(&mut self, later: Vec<ElementChange<I>>) {
        let (mut found, mut indices) = (Vec::new(), Vec::new());
        for change in later {
            match self.index_of(&change.id).and_then(|at| Some((at, self.waiting.get_mut(at)?))) {
                Some((at, ours)) if change.age < ours.age => {
                    let mut merged = ours.clone();
                    merged.merge(&change);
                    found.push(merged);
                    indices.push(at);
                }
                Some((_, ours)) => ours.merge(&change),
                None => found.push(change),
            }
        }
        self.take_out(&mut indices);
        sort(&mut found);
        let is_behind =
            self.waiting.back().zip(found.first()).is_none_or(|(last, first)| last.age < first.age);
        if let Some(ages) = &mut self.ages {
            ages.extend(found.iter().map(|change| (change.id.clone(), change.age)));
        }
        self.waiting.extend(found);
        if !is_behind {
            sort(self.waiting.make_contiguous());
        }
    }

    /// Returns the index of an element's change in the queue. Costs O(log queue length), and O(queue length ×
    /// log queue length) for the call that builds `ages`.
    fn index_of(&mut self, id: &I) -> Option<usize> {
        let Self { waiting, ages } = self;
        let ages = ages
            .get_or_insert_with(|| waiting.iter().map(|change| (change.id.clone(), change.age)).collect());
        let age = *ages.get(id)?;
        waiting.binary_search_by(|change| (change.age, &change.id).cmp(&(age, id))).ok()
    }

    /// Returns the index of an element's change in the queue, and removes the element from `ages`.
    fn take_index(&mut self, id: &I) -> Option<usize> {
        let at = self.index_of(id)?;
        self.ages.as_mut()?.remove(id);
        Some(at)
    }

    fn take_out(&mut self, indices: &mut [usize]) {
        if indices.is_empty() {
            return;
        }
        indices.sort_unstable();
        let (mut at, mut indices) = (0, indices.iter().peekable());
        self.waiting.retain(|_| {
            let goes = indices.next_if_eq(&&at).is_some();
            at += 1;
            !goes
        });
    }
}

fn sort<I: Ord>(changes: &mut [ElementChange<I>]) {
    changes.sort_by(|one, other| (one.age, &one.id).cmp(&(other.age, &other.id)));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::changes::changelist::Changelist;

    /// The naive model of the queue: for each element, the age of its oldest change and its changed handles
    /// as bits.
    type Model = BTreeMap<u8, (u64, u8)>;

    #[derive(Clone, Debug)]
    enum Action {
        Add(Model),
        Remove(Vec<u8>),
        RemoveMultiples(u8),
        Skip(usize),
    }

    fn model() -> impl Strategy<Value = Model> {
        prop::collection::btree_map(0..12_u8, (0..5_u64, 1..8_u8), 0..8)
    }

    fn action() -> impl Strategy<Value = Action> {
        prop_oneof![
            model().prop_map(Action::Add),
            prop::collection::btree_set(0..14_u8, 0..4)
                .prop_map(|ids| Action::Remove(ids.into_iter().collect())),
            (2..5_u8).prop_map(Action::RemoveMultiples),
            (0..6_usize).prop_map(Action::Skip),
        ]
    }

    fn changes(model: &Model) -> Vec<ElementChange<u8>> {
        let change = |(&id, &(age, bits)): (&u8, &(u64, u8))| {
            let mut list = Changelist::new();
            (0..3).filter(|bit| bits >> bit & 1 == 1).for_each(|bit| list.insert(bit + 1));
            ElementChange { id, age, moved: bits & 1 == 1, list }
        };
        model.iter().map(change).collect()
    }

    proptest! {
        #[test]
        fn a_queue_equals_the_naive_one_and_indexes_only_what_waits(
            mut waiting in model(), actions in prop::collection::vec(action(), 0..12),
        ) {
            let mut queue = AgeQueue::new(changes(&waiting));
            for action in actions {
                match action {
                    Action::Add(later) => {
                        queue.add(changes(&later));
                        for (id, (age, bits)) in later {
                            let known = waiting.entry(id).or_insert((age, 0));
                            *known = (known.0.min(age), known.1 | bits);
                        }
                    }
                    Action::Remove(ids) => {
                        queue.remove(ids.iter().copied());
                        waiting.retain(|id, _| !ids.contains(id));
                    }
                    Action::RemoveMultiples(of) => {
                        queue.remove_where(|id| id.is_multiple_of(of));
                        waiting.retain(|id, _| !id.is_multiple_of(of));
                    }
                    Action::Skip(count) => {
                        let count = count.min(waiting.len());
                        queue.skip(count);
                        let mut ages: Vec<_> = waiting.iter().map(|(&id, &(age, _))| (age, id)).collect();
                        ages.sort_unstable();
                        ages.into_iter().take(count).for_each(|(_, id)| _ = waiting.remove(&id));
                    }
                }
                let mut expected = changes(&waiting);
                sort(&mut expected);
                prop_assert_eq!(queue.iter().cloned().collect::<Vec<_>>(), expected);
                prop_assert_eq!(queue.len(), waiting.len());
                if let Some(ages) = queue.ages.clone() {
                    prop_assert_eq!(ages, waiting.iter().map(|(&id, &(age, _))| (id, age)).collect());
                }
            }
        }
    }
}
