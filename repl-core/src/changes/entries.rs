//! What changed of the entries of one map, by the forms of their keys.
//!
//! Invariant: no key is in both sets; what happened last to an entry is what counts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::changes::changelist::Changelist;
use crate::changes::items::Sweep;
use crate::ids::key::KeyBits;

/// Removed keys that a list holds; beyond that it says which entries there are (R12).
pub(crate) const MAX_REMOVED: usize = 1_024;

/// Entries that came, changed and went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EntryChanges {
    /// What of the receiver's other entries is to go.
    pub(crate) sweep: Sweep,
    /// Whether all entries that there are go whole: a list does not know them before it is pruned.
    pub(crate) whole: bool,
    /// Keys of entries that are no more.
    pub(crate) removed: BTreeSet<KeyBits>,
    pub(crate) entries: BTreeMap<KeyBits, EntryChange>,
}

/// About what an entry of a map of keys takes, with a short key and the room that the map leaves free.
pub(crate) const ENTRY_HEAP_BYTES: usize = 2 * size_of::<(KeyBits, EntryChange)>();

/// What is to be told of an entry that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum EntryChange {
    /// It came into being and goes whole until acked (R2).
    Born,
    /// Some properties of its value changed.
    Changed {
        /// Grows with time: when the oldest of the changes was found.
        age: u64,
        /// The properties, with handles of the value's own level.
        list: Changelist,
    },
}

impl EntryChange {
    fn list(&self) -> Option<&Changelist> {
        match self {
            Self::Born => None,
            Self::Changed { list, .. } => Some(list),
        }
    }

    /// Removes what `later` says of the same entry too; gives whether anything is left.
    fn outlasts(&mut self, later: &Self) -> bool {
        match (self, later) {
            (_, Self::Born) => false,
            (Self::Changed { list, .. }, Self::Changed { list: later, .. }) => {
                list.subtract(later);
                !list.is_empty()
            }
            (Self::Born, Self::Changed { .. }) => true,
        }
    }
}

impl EntryChanges {
    /// About how many bytes this holds on the heap, in a box of its own; keys count as short. O(1).
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Self>() + (self.removed.len() + self.entries.len()) * ENTRY_HEAP_BYTES
    }

    /// All entries that there are.
    pub(crate) fn whole() -> Self {
        Self { sweep: Sweep::All, whole: true, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sweep == Sweep::None && !self.whole && self.removed.is_empty() && self.entries.is_empty()
    }

    pub(crate) fn has_births(&self) -> bool {
        self.whole || self.entries.values().any(|change| change.list().is_none_or(Changelist::has_births))
    }

    /// Whether the entry with this key goes whole.
    fn is_born(&self, key: &KeyBits) -> bool {
        self.whole || matches!(self.entries.get(key), Some(EntryChange::Born))
    }

    /// Adds what happened later.
    pub(crate) fn merge(&mut self, later: &Self) {
        self.sweep = self.sweep.max(later.sweep);
        if later.whole {
            self.whole = true;
            self.entries.clear();
            if later.sweep != Sweep::None {
                self.removed.clear();
            }
        }
        for key in &later.removed {
            self.entries.remove(key);
            self.removed.insert(key.clone());
        }
        for (key, change) in &later.entries {
            match (self.entries.get_mut(key), change) {
                (_, EntryChange::Born) => {
                    self.removed.remove(key);
                    self.entries.insert(key.clone(), EntryChange::Born);
                }
                (Some(EntryChange::Born), EntryChange::Changed { .. }) => {}
                (
                    Some(EntryChange::Changed { age, list }),
                    EntryChange::Changed { age: later_age, list: later },
                ) => {
                    list.merge(later);
                    *age = (*age).min(*later_age);
                }
                // Here an entry that goes whole, or is gone, stays so whatever changed of it later.
                (None, EntryChange::Changed { .. }) => {
                    if !self.whole && !self.removed.contains(key) {
                        self.entries.insert(key.clone(), change.clone());
                    }
                }
            }
        }
        if self.removed.len() > MAX_REMOVED {
            self.removed.clear();
            self.sweep = self.sweep.max(Sweep::Dead);
        }
    }

    /// The first and the last key that this names. O(log entries).
    fn span(&self) -> Option<(&KeyBits, &KeyBits)> {
        let removed = self.removed.first().zip(self.removed.last());
        let named = self.entries.first_key_value().zip(self.entries.last_key_value());
        let named = named.map(|((first, _), (last, _))| (first, last));
        [removed, named].into_iter().flatten().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Whether the two may name the same entries: the parts of a long list mostly do not. O(log entries).
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        let spans = self.span().zip(other.span());
        self.whole || other.whole || spans.is_some_and(|(one, other)| one.0 <= other.1 && other.0 <= one.1)
    }

    /// Removes what `later` says too, or has overtaken (R4). O(the shorter of the two), times the logarithm of the other.
    pub(crate) fn subtract(&mut self, later: &Self) {
        if later.sweep == Sweep::None && !self.may_meet(later) {
            return;
        }
        if later.sweep != Sweep::None {
            self.sweep = Sweep::None;
            self.removed.clear();
        }
        if later.whole {
            *self = Self { sweep: self.sweep, ..Self::default() };
            return;
        }
        if later.items() < self.items() {
            self.subtract_few(later);
            return;
        }
        self.removed.retain(|key| !later.removed.contains(key) && !later.is_born(key));
        self.entries.retain(|key, change| {
            !later.removed.contains(key) && later.entries.get(key).is_none_or(|later| change.outlasts(later))
        });
    }

    /// The same where `later` says less: one by one what that names. O(what `later` says × log entries).
    fn subtract_few(&mut self, later: &Self) {
        for key in &later.removed {
            self.removed.remove(key);
            self.entries.remove(key);
        }
        for (key, change) in &later.entries {
            if matches!(change, EntryChange::Born) {
                self.removed.remove(key);
            }
            if let Entry::Occupied(mut earlier) = self.entries.entry(key.clone())
                && !earlier.get_mut().outlasts(change)
            {
                earlier.remove();
            }
        }
    }

    /// The births alone, and those within changed entries.
    pub(crate) fn births(&self) -> Option<Self> {
        let births = self.entries.iter().filter_map(|(key, change)| match change {
            EntryChange::Born => Some((key.clone(), EntryChange::Born)),
            EntryChange::Changed { age, list } if list.has_births() => {
                Some((key.clone(), EntryChange::Changed { age: *age, list: list.births() }))
            }
            EntryChange::Changed { .. } => None,
        });
        let births = Self { whole: self.whole, entries: births.collect(), ..Self::default() };
        (!births.is_empty()).then_some(births)
    }

    /// Changed entries of which `births` says that they came into being and may not have arrived go whole again, and with the others go new
    /// elements of the arrays that changed (R2).
    pub(crate) fn extend_births(&mut self, births: &Self) {
        if !self.touches_births(births) {
            return;
        }
        for (key, change) in &mut self.entries {
            if births.is_born(key) {
                *change = EntryChange::Born;
            } else if let EntryChange::Changed { list, .. } = change
                && let Some(births) = births.entries.get(key).and_then(EntryChange::list)
            {
                list.extend_births(births);
            }
        }
    }

    /// What arrived with `list` need not be remembered as births; gives whether any are left.
    pub(crate) fn births_arrived(&mut self, list: &Self) -> bool {
        if list.whole || list.sweep == Sweep::All {
            // The map began anew with that list.
            *self = Self::default();
            return false;
        }
        if !self.may_meet(list) {
            return self.whole || !self.entries.is_empty();
        }
        self.entries.retain(|key, change| {
            if list.removed.contains(key) || list.is_born(key) {
                return false;
            }
            let arrived = list.entries.get(key).and_then(EntryChange::list);
            match (change, arrived) {
                (EntryChange::Changed { list, .. }, Some(arrived)) => {
                    list.births_arrived(arrived);
                    !list.is_empty()
                }
                _ => true,
            }
        });
        self.whole || !self.entries.is_empty()
    }

    /// Whether a change of `self` concerns an entry of which a birth is in `births`. O(the shorter of the two), times the logarithm of the other.
    pub(crate) fn touches_births(&self, births: &Self) -> bool {
        if !self.may_meet(births) {
            return false;
        }
        let is_change = |change: &EntryChange| change.list().is_some();
        if births.whole || self.entries.len() < births.entries.len() {
            let mut changed = self.entries.iter().filter(|(_, change)| is_change(change));
            return changed.any(|(key, _)| births.whole || births.entries.contains_key(key));
        }
        births.entries.keys().any(|key| self.entries.get(key).is_some_and(is_change))
    }

    /// What began a map anew must not do so again where the receiver has some of it by now.
    pub(crate) fn soften(&mut self) {
        self.sweep = self.sweep.min(Sweep::Dead);
    }

    /// How many entries are named.
    pub(crate) fn items(&self) -> usize {
        self.removed.len() + self.entries.len() + usize::from(self.whole)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::bits::BitSlice;
    use crate::changes::portions::EntryQueue;

    /// What a list says of one entry.
    #[derive(Clone, Debug, PartialEq)]
    enum Said {
        Removed,
        Born,
        Changed(u32),
    }

    /// A list as a map: the naive model of [`EntryChanges`].
    type Model = BTreeMap<u8, Said>;

    fn model() -> impl Strategy<Value = Model> {
        let said = prop_oneof![Just(Said::Removed), Just(Said::Born), (1..8_u32).prop_map(Said::Changed)];
        prop::collection::btree_map(1..24_u8, said, 0..16)
    }

    fn list(bits: u32) -> Changelist {
        let mut list = Changelist::new();
        (0..3).filter(|bit| bits >> bit & 1 == 1).for_each(|bit| list.insert(bit + 1));
        list
    }

    fn key(number: u8) -> KeyBits {
        KeyBits::new(BitSlice::from(&[number][..]))
    }

    fn changes(model: &Model, age: u64) -> EntryChanges {
        let mut changes = EntryChanges::default();
        for (number, said) in model {
            match said {
                Said::Removed => {
                    changes.removed.insert(key(*number));
                }
                Said::Born => {
                    changes.entries.insert(key(*number), EntryChange::Born);
                }
                Said::Changed(bits) => {
                    changes.entries.insert(key(*number), EntryChange::Changed { age, list: list(*bits) });
                }
            }
        }
        changes
    }

    fn told(changes: &EntryChanges) -> Model {
        let mut model = Model::new();
        let number = |key: &KeyBits| key.as_slice().reader().read_bits(8).unwrap() as u8;
        model.extend(changes.removed.iter().map(|key| (number(key), Said::Removed)));
        for (key, change) in &changes.entries {
            let said = match change {
                EntryChange::Born => Said::Born,
                EntryChange::Changed { list, .. } => {
                    Said::Changed(list.handles().iter().map(|handle| 1 << (handle - 1)).sum())
                }
            };
            assert_eq!(model.insert(number(key), said), None, "entry {key:?} twice");
        }
        model
    }

    fn merged(mut one: Model, later: &Model) -> Model {
        for (key, said) in later {
            let said = match (one.get(key), said) {
                (Some(Said::Changed(bits)), Said::Changed(more)) => Said::Changed(bits | more),
                (Some(before @ (Said::Born | Said::Removed)), Said::Changed(_)) => before.clone(),
                (_, said) => said.clone(),
            };
            one.insert(*key, said);
        }
        one
    }

    fn subtracted(one: &Model, later: &Model) -> Model {
        let left = one.iter().filter_map(|(key, said)| {
            let left = match (said, later.get(key)) {
                (said, None) | (said @ (Said::Born | Said::Removed), Some(Said::Changed(_))) => said.clone(),
                (Said::Changed(bits), Some(Said::Changed(more))) if bits & !more > 0 => {
                    Said::Changed(bits & !more)
                }
                _ => return None,
            };
            Some((*key, left))
        });
        left.collect()
    }

    fn age(change: &EntryChange) -> Option<u64> {
        match change {
            EntryChange::Born => None,
            EntryChange::Changed { age, .. } => Some(*age),
        }
    }

    proptest! {
        #[test]
        fn s72_merging_is_what_happened_last(one in model(), later in model()) {
            let mut merging = changes(&one, 1);
            merging.merge(&changes(&later, 2));
            prop_assert_eq!(told(&merging), merged(one.clone(), &later));
            for (key, change) in &merging.entries {
                let number = key.as_slice().reader().read_bits(8).unwrap() as u8;
                let is_old = matches!(one.get(&number), Some(Said::Changed(_)));
                let expected = if is_old { 1 } else { 2 };
                prop_assert!(age(change).is_none_or(|age| age == expected));
            }
        }

        #[test]
        fn r04_what_was_sent_again_is_not_lost(one in model(), later in model()) {
            let mut lost = changes(&one, 1);
            lost.subtract(&changes(&later, 2));
            prop_assert_eq!(told(&lost), subtracted(&one, &later));
        }

        #[test]
        fn w08_splitting_loses_nothing_and_takes_the_oldest_first(
            old in model(),
            new in model(),
            newer in any::<bool>(),
            waits in any::<bool>(),
            count in 1..12_usize,
        ) {
            let (mut left, later) = (changes(&old, 1), changes(&new, if newer { 2 } else { 0 }));
            let mut queue = EntryQueue::new(left.clone());
            left.merge(&later);
            let (all, mut seen) = (told(&left), Model::new());
            if waits {
                queue.add(later);
            } else {
                queue = EntryQueue::new(left);
            }
            while !queue.is_empty() {
                let part = queue.part(count);
                queue.skip(count);
                prop_assert_eq!(part.items(), count.min(all.len() - seen.len()));
                let newest = part.entries.values().filter_map(age).max().unwrap_or(0);
                let left = queue.part(queue.len());
                prop_assert_eq!(left.items(), queue.len());
                prop_assert!(left.entries.values().filter_map(age).all(|age| age >= newest));
                prop_assert!(left.removed.is_empty() || part.entries.is_empty());
                seen.extend(told(&part));
                prop_assert_eq!(merged(seen.clone(), &told(&left)), all.clone());
            }
            prop_assert_eq!(seen, all);
        }

        #[test]
        fn r02_what_is_not_acked_goes_whole_until_it_is(born in model(), changed in model(), arrived in model()) {
            let mut births = changes(&born, 1).births().unwrap_or_default();
            let mut sent = changes(&changed, 2);
            let touches = sent.touches_births(&births);
            sent.extend_births(&births);
            let mut any = false;
            for (key, said) in told(&sent) {
                let whole = born.get(&key) == Some(&Said::Born) && matches!(changed[&key], Said::Changed(_));
                any |= whole;
                prop_assert_eq!(said, if whole { Said::Born } else { changed[&key].clone() });
            }
            prop_assert_eq!(touches, any);
            births.births_arrived(&changes(&arrived, 3));
            for (number, said) in &born {
                let over = matches!(arrived.get(number), Some(Said::Born | Said::Removed));
                prop_assert_eq!(births.entries.contains_key(&key(*number)), *said == Said::Born && !over);
            }
        }
    }

    #[test]
    fn r12_one_who_lags_far_behind_is_told_what_there_is() {
        let removal = |number: u32| {
            let removed = BTreeSet::from([KeyBits::new(BitSlice::from(&number.to_le_bytes()[..]))]);
            EntryChanges { removed, ..EntryChanges::default() }
        };
        let mut pending = EntryChanges::default();
        (0..1_024).for_each(|number| pending.merge(&removal(number)));
        assert_eq!((pending.sweep, pending.removed.len()), (Sweep::None, 1_024));
        pending.merge(&removal(1_024));
        assert_eq!((pending.sweep, pending.removed.len()), (Sweep::Dead, 0));
    }

    #[test]
    fn what_goes_whole_overtakes_what_was_said_of_entries() {
        let mut pending =
            changes(&Model::from([(1, Said::Removed), (2, Said::Changed(1)), (3, Said::Born)]), 1);
        pending.merge(&EntryChanges::whole());
        assert_eq!(pending, EntryChanges::whole());
        pending.merge(&changes(&Model::from([(4, Said::Changed(1))]), 2));
        assert_eq!(pending, EntryChanges::whole());
        let mut births = changes(&Model::from([(5, Said::Born)]), 1);
        assert!(!births.births_arrived(&EntryChanges::whole()));
        pending.subtract(&EntryChanges::whole());
        assert!(pending.is_empty());
    }
}
