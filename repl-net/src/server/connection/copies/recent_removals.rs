//! The objects that the client had until recently. The client may have seen them when it did something that
//! the server receives only now.
//!
//! *Invariant:* [`contains`](RecentRemovals::contains) returns `false` for each removal that is older than
//! `ticks` ticks.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use repl_core::Guid;

/// The objects that the client has removed in the last ticks.
#[derive(Debug, Default)]
pub(crate) struct RecentRemovals {
    /// For how many ticks a removal is kept.
    ticks: u64,
    /// The removals in the order in which the server learnt of them, each with the tick of the server.
    order: VecDeque<(u64, Guid)>,
    /// The last removal of each object.
    ticks_by_object: BTreeMap<Guid, u64>,
    /// The objects that were closed before the client has acknowledged that it has them.
    unopened: BTreeSet<Guid>,
}

impl RecentRemovals {
    /// Returns an empty list, which keeps each removal for `ticks` ticks, or `None` if `ticks` is zero.
    pub(crate) fn new(ticks: u64) -> Option<Box<Self>> {
        (ticks > 0).then(|| Box::new(Self { ticks, ..Self::default() }))
    }

    /// Records that an object is closed that the client has not acknowledged.
    pub(crate) fn add_unopened(&mut self, object: Guid) {
        self.unopened.insert(object);
    }

    /// Records that the client has acknowledged an object, perhaps after it was closed.
    pub(crate) fn opened(&mut self, object: Guid) {
        self.unopened.remove(&object);
    }

    /// Returns whether an object was closed before the client had acknowledged that it has it.
    pub(crate) fn is_unopened(&self, object: Guid) -> bool {
        self.unopened.contains(&object)
    }

    /// Records that the server has learnt in `tick` that the client has removed an object. Does not record it
    /// if the client never had the object.
    pub(crate) fn add(&mut self, tick: u64, object: Guid) {
        if !self.unopened.remove(&object) {
            self.order.push_back((tick, object));
            self.ticks_by_object.insert(object, tick);
        }
    }

    pub(crate) fn expire(&mut self, tick: u64) {
        let ticks = self.ticks;
        let is_old = |(removed, _): &&(u64, Guid)| removed.saturating_add(ticks) < tick;
        while let Some(&(removed, object)) = self.order.front().filter(is_old) {
            self.order.pop_front();
            if self.ticks_by_object.get(&object) == Some(&removed) {
                self.ticks_by_object.remove(&object);
            }
        }
        if self.order.is_empty() {
            self.order.shrink_to(0);
        }
    }

    /// Returns whether the client has removed an object in the last ticks before `tick`.
    pub(crate) fn contains(&self, tick: u64, object: Guid) -> bool {
        let removed = self.ticks_by_object.get(&object);
        removed.is_some_and(|removed| removed.saturating_add(self.ticks) >= tick)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self { ticks: self.ticks, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    fn object(slot: u32) -> Guid {
        Guid::new(slot, NonZeroU32::MIN)
    }

    #[test]
    fn a_removal_is_kept_for_the_ticks_of_the_configuration() {
        let mut removals = RecentRemovals::new(10).expect("it is wanted");
        removals.add(100, object(1));
        assert!(removals.contains(110, object(1)) && !removals.contains(111, object(1)));
        assert!(!removals.contains(100, object(2)));
        removals.add(105, object(1));
        removals.expire(111);
        assert!(removals.contains(115, object(1)), "it was removed again");
        removals.expire(116);
        assert_eq!((removals.order.len(), removals.ticks_by_object.len()), (0, 0));
    }

    #[test]
    fn nothing_is_kept_without_being_asked() {
        assert!(RecentRemovals::new(0).is_none());
    }

    #[test]
    fn what_was_closed_before_it_had_arrived_was_never_there() {
        let mut removals = RecentRemovals::new(10).expect("it is wanted");
        removals.add_unopened(object(1));
        removals.add_unopened(object(2));
        removals.opened(object(2));
        assert!(removals.is_unopened(object(1)) && !removals.is_unopened(object(2)));
        removals.add(5, object(1));
        removals.add(5, object(2));
        assert!(!removals.contains(6, object(1)) && removals.contains(6, object(2)));
        removals.add(7, object(1));
        assert!(removals.contains(8, object(1)), "it has come again");
    }
}
