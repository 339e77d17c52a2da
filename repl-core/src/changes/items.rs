//! What changed of the items of one keyed collection, by their ids.
//!
//! Invariant: no id is in two of the sets; what happened last to an item is what counts.

use std::ops::Range;

use crate::changes::changelist::Changelist;
use crate::ids::item_id::ItemId;
use crate::ids::ranges::Ranges;

/// Stretches of removed ids that a list holds; beyond that it says which items there are (R12).
pub(crate) const MAX_REMOVED_RANGES: usize = 1_024;

/// Items that came, changed and went.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ItemChanges {
    /// What of the receiver's other items is to go.
    pub(crate) sweep: Sweep,
    /// Items that are no more.
    pub(crate) removed: Ranges,
    /// Items that came into being and go whole until acked (R2); perhaps also ids that no item has.
    pub(crate) born: Ranges,
    /// Items of which some properties changed, ascending by id.
    pub(crate) changed: Vec<ItemChange>,
}

/// What changed of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ItemChange {
    pub(crate) id: ItemId,
    /// Grows with time: when the oldest of the changes was found.
    pub(crate) key: u64,
    /// Whether its label changed.
    pub(crate) moved: bool,
    /// Its properties, with handles of its own level.
    pub(crate) list: Changelist,
}

impl ItemChange {
    fn says_anything(&self) -> bool {
        self.moved || !self.list.is_empty()
    }

    /// Removes what `later` says of the same item too; gives whether anything is left.
    fn outlasts(&mut self, later: &Self) -> bool {
        self.list.subtract(&later.list);
        self.moved &= !later.moved;
        self.says_anything()
    }
}

/// What of the receiver's other items is to go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sweep {
    /// Nothing but what is removed one by one.
    #[default]
    None,
    /// All that are no more: for one who may have missed more removals than anyone remembers (R12).
    Dead,
    /// All that do not come into being here: the collection begins anew.
    All,
}

impl ItemChanges {
    /// What a comparison found, each id once; the first two are sorted.
    pub(crate) fn new(born: &mut [ItemId], removed: &mut [ItemId], mut changed: Vec<ItemChange>) -> Self {
        let ranges = |ids: &mut [ItemId]| {
            ids.sort_unstable();
            let mut ranges = Ranges::new();
            ids.iter().for_each(|id| ranges.insert(id.number()));
            ranges
        };
        changed.sort_unstable_by_key(|item| item.id);
        Self { sweep: Sweep::None, removed: ranges(removed), born: ranges(born), changed }
    }

    /// All items that there are.
    pub(crate) fn whole() -> Self {
        let mut born = Ranges::new();
        born.insert_range(ItemId::FIRST.number()..ItemId::FIRST_LOCAL.number());
        Self { sweep: Sweep::All, born, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sweep == Sweep::None
            && self.removed.is_empty()
            && self.born.is_empty()
            && self.changed.is_empty()
    }

    /// About how many bytes this holds on the heap, in a box of its own. O(1).
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + self.removed.heap_bytes()
            + self.born.heap_bytes()
            + self.changed.capacity() * size_of::<ItemChange>()
    }

    pub(crate) fn has_births(&self) -> bool {
        !self.born.is_empty()
    }

    /// Adds what happened later.
    pub(crate) fn merge(&mut self, later: &Self) {
        self.sweep = self.sweep.max(later.sweep);
        // An id comes back where an array was assigned over another.
        self.removed.subtract(&later.born);
        self.removed.union(&later.removed);
        if self.removed.as_slice().len() > MAX_REMOVED_RANGES {
            self.removed = Ranges::new();
            self.sweep = self.sweep.max(Sweep::Dead);
        }
        self.born.subtract(&later.removed);
        self.born.union(&later.born);
        if !self.removed.is_empty() || !self.born.is_empty() {
            let Self { removed, born, changed, .. } = self;
            changed.retain(|item| !removed.contains(item.id.number()) && !born.contains(item.id.number()));
        }
        if later.changed.is_empty() {
            return;
        }
        let ours = std::mem::take(&mut self.changed);
        self.changed.reserve(ours.len() + later.changed.len());
        let mut ours = ours.into_iter().peekable();
        for item in &later.changed {
            while let Some(before) = ours.next_if(|ours| ours.id < item.id) {
                self.changed.push(before);
            }
            if let Some(mut same) = ours.next_if(|ours| ours.id == item.id) {
                same.list.merge(&item.list);
                same.moved |= item.moved;
                same.key = same.key.min(item.key);
                self.changed.push(same);
            } else if !self.born.contains(item.id.number()) && !self.removed.contains(item.id.number()) {
                self.changed.push(item.clone());
            }
        }
        self.changed.extend(ours);
    }

    /// The first and the last id that this names. O(1).
    fn span(&self) -> Option<(u32, u32)> {
        let of =
            |ranges: &Ranges| Some((ranges.as_slice().first()?.start, ranges.as_slice().last()?.end - 1));
        let changed = self.changed.first().zip(self.changed.last());
        let changed = changed.map(|(first, last)| (first.id.number(), last.id.number()));
        let spans = [of(&self.removed), of(&self.born), changed];
        spans.into_iter().flatten().reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// Whether the two may name the same items: the parts of a long list mostly do not. O(1).
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        let spans = self.span().zip(other.span());
        spans.is_some_and(|(one, other)| one.0 <= other.1 && other.0 <= one.1)
    }

    /// Removes what `later` says too, or has overtaken (R4).
    pub(crate) fn subtract(&mut self, later: &Self) {
        if later.sweep == Sweep::None && !self.may_meet(later) {
            return;
        }
        if later.sweep != Sweep::None {
            self.sweep = Sweep::None;
            self.removed = Ranges::new();
        }
        self.removed.subtract(&later.removed);
        self.removed.subtract(&later.born);
        self.born.subtract(&later.born);
        self.born.subtract(&later.removed);
        if later.changed.len() < self.changed.len() {
            self.subtract_few(later);
            return;
        }
        self.changed.retain_mut(|item| {
            if later.born.contains(item.id.number()) || later.removed.contains(item.id.number()) {
                return false;
            }
            later.changed_item(item.id).is_none_or(|later| item.outlasts(later))
        });
    }

    /// Of the changed items, the same where `later` has fewer: it looks for those, and goes through all only if one of them is to go.
    fn subtract_few(&mut self, later: &Self) {
        let mut is_over =
            later.born.as_slice().iter().chain(later.removed.as_slice()).any(|range| self.changes_in(range));
        for item in &later.changed {
            if let Ok(at) = self.changed.binary_search_by_key(&item.id, |item| item.id)
                && let Some(earlier) = self.changed.get_mut(at)
            {
                is_over |= !earlier.outlasts(item);
            }
        }
        if is_over {
            self.changed.retain(|item| {
                let id = item.id.number();
                item.says_anything() && !later.born.contains(id) && !later.removed.contains(id)
            });
        }
    }

    /// Whether an item with one of these ids changed. O(log items).
    fn changes_in(&self, range: &Range<u32>) -> bool {
        let at = self.changed.partition_point(|item| item.id.number() < range.start);
        self.changed.get(at).is_some_and(|item| item.id.number() < range.end)
    }

    fn changed_item(&self, id: ItemId) -> Option<&ItemChange> {
        let at = self.changed.binary_search_by_key(&id, |item| item.id).ok()?;
        self.changed.get(at)
    }

    /// The births alone, and those within changed items.
    pub(crate) fn births(&self) -> Option<Self> {
        let nested = self.changed.iter().filter(|item| item.list.has_births());
        let changed: Vec<_> =
            nested.map(|item| ItemChange { list: item.list.births(), moved: false, ..*item }).collect();
        let births = Self { born: self.born.clone(), changed, ..Self::default() };
        (!births.is_empty()).then_some(births)
    }

    /// Changed items of which `births` says that they came into being and may not have arrived go whole again, and with the others go new elements
    /// of the arrays that changed (R2).
    pub(crate) fn extend_births(&mut self, births: &Self) {
        if !self.touches_births(births) {
            return;
        }
        let Self { born, changed, .. } = self;
        changed.retain_mut(|item| {
            if births.born.contains(item.id.number()) {
                born.insert_anywhere(item.id.number());
                return false;
            }
            if let Some(births) = births.changed_item(item.id) {
                item.list.extend_births(&births.list);
            }
            true
        });
    }

    /// What arrived with `list` need not be remembered as births; gives whether any are left.
    pub(crate) fn births_arrived(&mut self, list: &Self) -> bool {
        if !self.may_meet(list) {
            return !self.born.is_empty() || !self.changed.is_empty();
        }
        self.born.subtract(&list.born);
        self.born.subtract(&list.removed);
        self.changed.retain_mut(|item| {
            if list.born.contains(item.id.number()) || list.removed.contains(item.id.number()) {
                return false;
            }
            if let Some(arrived) = list.changed_item(item.id) {
                item.list.births_arrived(&arrived.list);
            }
            !item.list.is_empty()
        });
        !self.born.is_empty() || !self.changed.is_empty()
    }

    /// Whether a change of `self` concerns an item of which a birth is in `births`. O(the shorter of the two), times the logarithm of the other.
    pub(crate) fn touches_births(&self, births: &Self) -> bool {
        if !self.may_meet(births) {
            return false;
        }
        let born = births.born.as_slice();
        if self.changed.len() < born.len() + births.changed.len() {
            return self.changed.iter().any(|item| {
                births.born.contains(item.id.number()) || births.changed_item(item.id).is_some()
            });
        }
        born.iter().any(|range| self.changes_in(range))
            || births.changed.iter().any(|item| self.changed_item(item.id).is_some())
    }

    /// What began a collection anew must not do so again where the receiver has some of it by now.
    pub(crate) fn soften(&mut self) {
        self.sweep = self.sweep.min(Sweep::Dead);
    }

    /// How many items are named.
    pub(crate) fn items(&self) -> usize {
        self.removed.count() + self.changed.len() + self.born.count()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::changes::portions::ItemQueue;

    /// What a list says of one item.
    #[derive(Clone, Debug, PartialEq)]
    enum Said {
        Removed,
        Born,
        Changed(u32),
    }

    /// A list as a map: the naive model of [`ItemChanges`].
    type Model = BTreeMap<u32, Said>;

    fn model() -> impl Strategy<Value = Model> {
        let said = prop_oneof![Just(Said::Removed), Just(Said::Born), (1..8_u32).prop_map(Said::Changed)];
        prop::collection::btree_map(1..24_u32, said, 0..16)
    }

    fn list(bits: u32) -> Changelist {
        let mut list = Changelist::new();
        (0..3).filter(|bit| bits >> bit & 1 == 1).for_each(|bit| list.insert(bit + 1));
        list
    }

    fn changes(model: &Model, key: u64) -> ItemChanges {
        let of = |wanted: &Said| -> Vec<ItemId> {
            let ids = model.iter().filter(|(_, said)| *said == wanted);
            ids.filter_map(|(id, _)| ItemId::new(*id)).collect()
        };
        let changed = model.iter().filter_map(|(id, said)| match said {
            Said::Changed(bits) => {
                Some(ItemChange { id: ItemId::new(*id)?, key, moved: false, list: list(*bits) })
            }
            _ => None,
        });
        ItemChanges::new(&mut of(&Said::Born), &mut of(&Said::Removed), changed.collect())
    }

    fn told(changes: &ItemChanges) -> Model {
        let mut model = Model::new();
        let mut say = |id: u32, said: Said| assert_eq!(model.insert(id, said), None, "item {id} twice");
        changes.removed.iter().for_each(|id| say(id, Said::Removed));
        changes.born.iter().for_each(|id| say(id, Said::Born));
        assert!(changes.changed.is_sorted_by(|a, b| a.id < b.id));
        for item in &changes.changed {
            let bits = item.list.handles().iter().map(|handle| 1 << (handle - 1)).sum();
            say(item.id.number(), Said::Changed(bits));
        }
        model
    }

    fn merged(mut one: Model, later: &Model) -> Model {
        for (id, said) in later {
            let said = match (one.get(id), said) {
                (Some(Said::Changed(bits)), Said::Changed(more)) => Said::Changed(bits | more),
                // An item that goes whole, or is gone, stays so whatever changed of it later.
                (Some(before @ (Said::Born | Said::Removed)), Said::Changed(_)) => before.clone(),
                (_, said) => said.clone(),
            };
            one.insert(*id, said);
        }
        one
    }

    fn subtracted(one: &Model, later: &Model) -> Model {
        let left = one.iter().filter_map(|(id, said)| {
            let left = match (said, later.get(id)) {
                (said, None) | (said @ (Said::Born | Said::Removed), Some(Said::Changed(_))) => said.clone(),
                (Said::Changed(bits), Some(Said::Changed(more))) if bits & !more > 0 => {
                    Said::Changed(bits & !more)
                }
                _ => return None,
            };
            Some((*id, left))
        });
        left.collect()
    }

    proptest! {
        #[test]
        fn s72_merging_is_what_happened_last(one in model(), later in model()) {
            let mut merging = changes(&one, 1);
            merging.merge(&changes(&later, 2));
            prop_assert_eq!(told(&merging), merged(one.clone(), &later));
            for item in &merging.changed {
                let is_old = matches!(one.get(&item.id.number()), Some(Said::Changed(_)));
                prop_assert_eq!(item.key, if is_old { 1 } else { 2 });
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
            let mut queue = ItemQueue::new(left.clone());
            left.merge(&later);
            let (all, mut seen) = (told(&left), Model::new());
            if waits {
                queue.add(later);
            } else {
                queue = ItemQueue::new(left);
            }
            while !queue.is_empty() {
                let part = queue.part(count);
                queue.skip(count);
                prop_assert_eq!(part.items(), count.min(all.len() - seen.len()));
                let newest = part.changed.iter().map(|item| item.key).max().unwrap_or(0);
                let left = queue.part(queue.len());
                prop_assert_eq!(left.items(), queue.len());
                prop_assert!(left.changed.iter().all(|item| item.key >= newest));
                prop_assert!(left.removed.is_empty() || part.changed.is_empty() && part.born.is_empty());
                prop_assert!(left.changed.is_empty() || part.born.is_empty());
                seen.extend(told(&part));
                prop_assert_eq!(merged(seen.clone(), &told(&left)), all.clone());
            }
            prop_assert_eq!(seen, all);
        }

        #[test]
        fn r02_what_is_not_acked_goes_whole_until_it_is(born in model(), changed in model(), arrived in model()) {
            let mut births = changes(&born, 1).births().unwrap_or_default();
            let mut sent = changes(&changed, 2);
            sent.extend_births(&births);
            for (id, said) in told(&sent) {
                let whole = born.get(&id) == Some(&Said::Born) && matches!(changed[&id], Said::Changed(_));
                prop_assert_eq!(said, if whole { Said::Born } else { changed[&id].clone() });
            }
            births.births_arrived(&changes(&arrived, 3));
            for (id, said) in &born {
                let over = matches!(arrived.get(id), Some(Said::Born | Said::Removed));
                prop_assert_eq!(births.born.contains(*id), *said == Said::Born && !over);
            }
        }
    }

    #[test]
    fn r12_one_who_lags_far_behind_is_told_what_there_is() {
        let mut pending = ItemChanges::default();
        let every_second =
            |ids: Range<u32>| -> Vec<ItemId> { ids.map(|id| id * 2).filter_map(ItemId::new).collect() };
        pending.merge(&ItemChanges::new(&mut [], &mut every_second(1..1_025), Vec::new()));
        assert_eq!((pending.sweep, pending.removed.count()), (Sweep::None, 1_024));
        pending.merge(&ItemChanges::new(&mut [], &mut every_second(1_025..1_026), Vec::new()));
        assert_eq!((pending.sweep, pending.removed.count()), (Sweep::Dead, 0));
    }
}
