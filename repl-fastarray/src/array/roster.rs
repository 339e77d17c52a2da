//! The roster: the ids of an array's items in their order, and what was done to them.
//!
//! Invariant: no id stands twice, and every item has one, at its own place. The ids that have departed from a shadow stand there still, but to whoever
//! asks they are gone.

use std::ops::Range;
use std::sync::OnceLock;

use repl_core::__private::preload;
use repl_core::ItemId;

use super::index::{Index, MAX_DRIFT, near};
use crate::ids::Ids;
use crate::marks::Log;

/// So many ids are looked through as fast as an index is asked.
const FEW: usize = 32;

/// So many that have departed are taken out, or as many as a fourth of all if that is less.
pub(crate) const MOST_DEPARTED: usize = 32;

/// What an array knows of its items beside the items.
pub(crate) struct Roster {
    pub(crate) ids: Vec<ItemId>,
    /// Made when somebody asks; mended by what moves little, dropped by what moves much.
    index: OnceLock<Index>,
    pub(crate) log: Log,
    unused: Ids,
    /// Of a shadow: what is gone for whoever asks, but still to be taken out; at most [`MOST_DEPARTED`].
    pub(crate) departed: Vec<ItemId>,
}

impl Roster {
    /// Nobody, and `next` for the first to come.
    pub(crate) fn starting(next: ItemId) -> Self {
        Self {
            ids: Vec::new(),
            index: OnceLock::new(),
            log: Log::default(),
            unused: Ids::starting(next),
            departed: Vec::new(),
        }
    }

    /// The id that the first item of a copy gets.
    pub(crate) fn next_for_copies(&self) -> ItemId {
        self.unused.next_for_copies()
    }

    /// From now on new items get local ids.
    pub(crate) fn start_locally(&mut self) {
        self.unused.start_locally(self.ids.iter().any(|id| id.is_local()));
    }

    /// All items get local ids, and so do new ones.
    pub(crate) fn rename_locally(&mut self) {
        let mut unused = Ids::starting(ItemId::FIRST_LOCAL);
        self.ids.iter_mut().for_each(|id| *id = unused.fresh(|_| false));
        self.unused = unused;
        self.index.take();
        self.log.scattered();
    }

    /// The items get ids one after another from `first` on, in their order.
    pub(crate) fn rename_from(&mut self, first: ItemId) {
        let mut next = first;
        for id in &mut self.ids {
            *id = next;
            next = next.next();
        }
        self.unused = Ids::after(first, self.ids.len());
        self.index.take();
    }

    /// The first id for the items of `successor`, which takes the place of the array whose shadow has this roster; see
    /// [`Ids::first_for_successor`].
    pub(crate) fn first_for_successor(&self, successor: &Self) -> Option<ItemId> {
        let (least, len) = (successor.ids.iter().min().copied(), successor.ids.len());
        self.unused.first_for_successor(&successor.unused, least, len, |each| {
            self.ids.iter().copied().for_each(each);
        })
    }

    /// New items get the ids that follow a run of `len` from `first` on.
    pub(crate) fn continue_after(&mut self, first: ItemId, len: usize) {
        self.unused.follow(&Ids::after(first, len));
    }

    /// The same for a shadow, which has followed the array with `live`.
    pub(crate) fn follow(&mut self, live: &Self) {
        self.unused.follow(&live.unused);
    }

    /// Whether items of the live array may be missing in this, a shadow, because values in them have no form.
    pub(crate) fn set_gaps(&mut self, has_gaps: bool) {
        self.unused.set_gaps(has_gaps);
    }

    /// New items get the ids that they would get in `other`, whose ids are all that are here.
    pub(crate) fn continue_as(&mut self, other: &Self) {
        self.unused = other.unused;
    }

    /// An id that no item has.
    pub(crate) fn fresh(&mut self) -> ItemId {
        let mut unused = self.unused;
        let id = unused.fresh(|id| self.position(id).is_some());
        self.unused = unused;
        id
    }

    /// Where `id` stands. O(1), but for the first question after much has moved, which is O(n).
    pub(crate) fn position(&self, id: ItemId) -> Option<usize> {
        if self.has_departed(id) {
            return None;
        }
        match self.index.get() {
            Some(index) => index.position(id, &self.ids),
            None if self.ids.len() <= FEW => self.ids.iter().position(|&other| other == id),
            None => self.index.get_or_init(|| Index::of(&self.ids)).position(id, &self.ids),
        }
    }

    /// Where `id` stands, perhaps at `place`.
    pub(crate) fn position_from(&self, id: ItemId, place: usize) -> Option<usize> {
        if self.ids.get(place) == Some(&id) && !self.has_departed(id) {
            // Whoever comes here will mostly ask for the item again.
            self.preload(id);
            return Some(place);
        }
        self.position(id)
    }

    /// Somebody will ask where `id` stands.
    pub(crate) fn preload(&self, id: ItemId) {
        if let Some(index) = self.index.get() {
            index.preload(id);
        }
    }

    /// What stands at `at` will be taken out, and the last put in its place.
    pub(crate) fn preload_removal(&self, at: usize) {
        self.ids.get(at).into_iter().for_each(preload);
        self.ids.last().into_iter().for_each(|&last| self.preload(last));
    }

    /// Where the item stands now that the log has at `place`.
    pub(crate) fn locate(&self, id: ItemId, place: usize) -> Option<usize> {
        match self.log.drift() {
            Some(drift) if drift <= MAX_DRIFT && self.index.get().is_none() => {
                near(id, place, drift, &self.ids)
            }
            _ => self.position_from(id, place),
        }
    }

    /// The item at `at` is touched.
    pub(crate) fn touch(&mut self, at: usize) {
        self.log.touch(self.ids[at], at, self.ids.len());
    }

    pub(crate) fn push(&mut self, id: ItemId) {
        let at = self.ids.len();
        self.ids.push(id);
        if let Some(index) = self.index.get_mut() {
            index.set(id, at);
        }
        self.touch(at);
    }

    pub(crate) fn insert(&mut self, at: usize, id: ItemId) {
        self.ids.insert(at, id);
        if let Some(index) = self.index.get_mut() {
            index.set(id, at);
        }
        if at + 1 < self.ids.len() {
            self.shifted(1);
        }
        self.touch(at);
    }

    pub(crate) fn remove(&mut self, at: usize) {
        let id = self.ids.remove(at);
        self.removed(id, at);
        if at < self.ids.len() {
            self.shifted(1);
        }
    }

    pub(crate) fn swap_remove(&mut self, at: usize) {
        self.take_out(self.ids[at], at);
    }

    /// Takes out `id`, which stands at `at`, and puts the last in its place. Who knows the id need not wait for it to be read.
    pub(crate) fn take_out(&mut self, id: ItemId, at: usize) {
        self.ids.swap_remove(at);
        if let Some(&moved) = self.ids.get(at) {
            self.log.scattered();
            if let Some(index) = self.index.get_mut() {
                index.set(moved, at);
            }
        }
        self.removed(id, at);
    }

    /// Whether a shadow, which last continued as `live` was then, had the item `id` that has gone from `live` since.
    pub(crate) fn had(&self, live: &Self, id: ItemId) -> bool {
        self.unused.had(id, &live.unused).unwrap_or_else(|| self.position(id).is_some())
    }

    /// The item `id` of a shadow departs. Says whether those that have are to be taken out.
    #[must_use]
    pub(crate) fn depart(&mut self, id: ItemId) -> bool {
        self.departed.push(id);
        self.departed.len() >= MOST_DEPARTED.min(self.ids.len() / 4)
    }

    pub(crate) fn has_departed(&self, id: ItemId) -> bool {
        // To the end, whatever is found: several at a time, and nothing for the processor to guess.
        self.departed.iter().fold(false, |found, &departed| found | (departed == id))
    }

    /// Those that have departed will be taken out, and the last put in their places.
    pub(crate) fn preload_departed(&self) {
        let last = self.ids.iter().rev().take(self.departed.len());
        self.departed.iter().chain(last).for_each(|&id| self.preload(id));
    }

    /// Where those stand that have not departed, ascending.
    pub(crate) fn standing(&self) -> impl Iterator<Item = (ItemId, usize)> {
        self.ids.iter().copied().zip(0..).filter(|&(id, _)| !self.has_departed(id))
    }

    /// Takes out a range; the order of the others stays.
    pub(crate) fn remove_range(&mut self, range: Range<usize>) {
        if range.len() > MAX_DRIFT {
            self.index.take();
        }
        let removed: Vec<_> = self.ids.drain(range.clone()).collect();
        removed.iter().for_each(|&id| self.removed(id, range.start));
        if range.start < self.ids.len() {
            self.shifted(removed.len());
        }
    }

    fn removed(&mut self, id: ItemId, at: usize) {
        if let Some(index) = self.index.get_mut() {
            index.remove(id);
        }
        self.log.remove(id, at, self.ids.len());
    }

    /// Everything behind some place has moved by up to `places`.
    pub(crate) fn shifted(&mut self, places: usize) {
        self.log.shifted(places);
        if self.index.get_mut().is_some_and(|index| !index.shifted(places)) {
            self.index.take();
        }
    }

    pub(crate) fn swap(&mut self, one: usize, other: usize) {
        if one == other {
            return;
        }
        self.ids.swap(one, other);
        self.log.scattered();
        if let Some(index) = self.index.get_mut() {
            index.set(self.ids[one], one);
            index.set(self.ids[other], other);
        }
    }

    /// Changes the order of everything at once.
    pub(crate) fn reorder(&mut self, reorder: impl FnOnce(&mut [ItemId])) {
        reorder(&mut self.ids);
        self.index.take();
        self.log.scattered();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u32) -> ItemId {
        ItemId::new(number).expect("not zero")
    }

    #[test]
    fn s139_ids_come_round_and_step_over_those_in_use() {
        for (first, last) in [(ItemId::FIRST, ItemId::LAST), (ItemId::FIRST_LOCAL, id(u32::MAX))] {
            let mut roster = Roster::starting(first);
            for _ in 0..3 {
                let id = roster.fresh();
                roster.push(id);
            }
            roster.remove(1);
            roster.unused = Ids::starting(last);
            let mut given = Vec::new();
            for _ in 0..4 {
                let id = roster.fresh();
                roster.push(id);
                given.push(id.number().wrapping_sub(first.number()));
            }
            assert_eq!(given, [last.number() - first.number(), 1, 3, 4], "{first}");
        }
    }

    #[test]
    fn what_shifted_far_is_found_by_an_index_made_anew() {
        let mut roster = Roster::starting(ItemId::FIRST);
        for _ in 0..1_000 {
            let id = roster.fresh();
            roster.push(id);
        }
        assert_eq!(roster.position(id(1_000)), Some(999));
        for _ in 0..600 {
            let id = roster.fresh();
            roster.insert(0, id);
        }
        assert_eq!(roster.position(id(1_000)), Some(1_599));
        assert_eq!(roster.position(id(1_600)), Some(0));
        assert_eq!(roster.position(id(1_601)), None);
    }
}
