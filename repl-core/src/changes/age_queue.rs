//! Changes of items or entries that wait for their turn, the oldest first.
//!
//! Invariant: each key is in the queue once, at the age of the oldest change of it; what has not changed since is not looked at before its turn.

use std::collections::{BTreeMap, VecDeque};

/// Changes by age, and those of one age by key.
#[derive(Clone, Debug)]
pub(crate) struct AgeQueue<K, C> {
    waiting: VecDeque<(u64, K, C)>,
    /// The age at which each key waits; made when it is first asked for, for most queues are emptied at once.
    ages: Option<BTreeMap<K, u64>>,
}

impl<K, C> Default for AgeQueue<K, C> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), ages: None }
    }
}

impl<K: Ord + Clone, C: Default> AgeQueue<K, C> {
    /// Of changes with their ages, each key once. O(changes), times its logarithm where they are of several ages.
    pub(crate) fn new(mut changes: Vec<(u64, K, C)>) -> Self {
        sort(&mut changes);
        Self { waiting: changes.into(), ages: None }
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The oldest changes first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(u64, K, C)> {
        self.waiting.iter()
    }

    /// Goes past the oldest `count` changes.
    pub(crate) fn skip(&mut self, count: usize) {
        for (_, key, _) in self.waiting.drain(..count) {
            if let Some(ages) = &mut self.ages {
                ages.remove(&key);
            }
        }
    }

    /// Drops the changes of these keys. O(keys × log waiting), and O(waiting) only if any is among them.
    pub(crate) fn remove(&mut self, keys: impl Iterator<Item = K>) {
        let mut places: Vec<usize> = keys.filter_map(|key| self.take_place(&key)).collect();
        self.take_out(&mut places);
    }

    /// Drops the changes of which `is_over` says so. O(waiting).
    pub(crate) fn remove_where(&mut self, mut is_over: impl FnMut(&K) -> bool) {
        let Self { waiting, ages } = self;
        waiting.retain(|(_, key, _)| {
            let goes = is_over(key);
            if goes && let Some(ages) = ages {
                ages.remove(key);
            }
            !goes
        });
    }

    /// Adds later findings, each key once: to what waits of the same key by `merge`, and else in the place that its age gives it. O(findings × log waiting), and
    /// O(waiting) only if any is older than what waits.
    pub(crate) fn add(
        &mut self,
        later: impl Iterator<Item = (u64, K, C)>,
        mut merge: impl FnMut(&mut C, &C),
    ) {
        let (mut found, mut places) = (Vec::new(), Vec::new());
        for (age, key, change) in later {
            match self.place(&key).and_then(|at| Some((at, self.waiting.get_mut(at)?))) {
                Some((at, (waits, _, ours))) => {
                    merge(ours, &change);
                    if age < *waits {
                        found.push((age, key, std::mem::take(ours)));
                        places.push(at);
                    }
                }
                None => found.push((age, key, change)),
            }
        }
        self.take_out(&mut places);
        sort(&mut found);
        let is_behind = self.waiting.back().zip(found.first()).is_none_or(|(last, first)| last.0 < first.0);
        if let Some(ages) = &mut self.ages {
            ages.extend(found.iter().map(|(age, key, _)| (key.clone(), *age)));
        }
        self.waiting.extend(found);
        if !is_behind {
            sort(self.waiting.make_contiguous());
        }
    }

    /// Where the change of a key stands. O(log waiting), once the ages are known.
    fn place(&mut self, key: &K) -> Option<usize> {
        let Self { waiting, ages } = self;
        let ages =
            ages.get_or_insert_with(|| waiting.iter().map(|(age, key, _)| (key.clone(), *age)).collect());
        let age = ages.get(key)?;
        waiting.binary_search_by(|(waits, other, _)| (waits, other).cmp(&(age, key))).ok()
    }

    /// The same, of a key that goes.
    fn take_place(&mut self, key: &K) -> Option<usize> {
        let at = self.place(key)?;
        self.ages.as_mut()?.remove(key);
        Some(at)
    }

    /// Takes out what stands in these places.
    fn take_out(&mut self, places: &mut [usize]) {
        if places.is_empty() {
            return;
        }
        places.sort_unstable();
        let (mut at, mut places) = (0, places.iter().peekable());
        self.waiting.retain(|_| {
            let goes = places.next_if_eq(&&at).is_some();
            at += 1;
            !goes
        });
    }
}

fn sort<K: Ord, C>(changes: &mut [(u64, K, C)]) {
    changes.sort_by(|(age, key, _), (other_age, other, _)| (age, key).cmp(&(other_age, other)));
}
