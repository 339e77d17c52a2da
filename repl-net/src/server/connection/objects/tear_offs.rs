//! Objects that are torn off, while the client does not have all of their last state (S210).
//!
//! *Invariant:* an object that is being torn off for a client is known to the connection. It is not being
//! closed, unless it is sent again after the closing.

use std::collections::BTreeSet;

use repl_link::parts::Sequence;

use super::{Closed, ObjectStates, Phase, Tracked};
use crate::body::removal::CloseReason;
use crate::server::world::World;

impl ObjectStates {
    /// Begins to tear off an object that the client sees.
    pub(crate) fn begin_tear_off(&mut self, slot: u32) {
        debug_assert!(self.is_expected(slot), "what a client sees is sent to it");
        self.view.begin_tear_off(slot);
    }

    /// Returns the objects that are torn off and whose last state has arrived. `has_calls` says whether
    /// reliable calls on an object have not arrived yet: such an object is not returned. The caller states
    /// that all packets before `floor` were acknowledged or counted as lost, and that `next` is the next
    /// packet to send. Costs O(objects that are being torn off).
    pub(crate) fn arrived_tear_offs(
        &mut self,
        world: &World,
        has_calls: impl Fn(u32) -> bool,
        floor: Sequence,
        next: Sequence,
    ) -> Vec<u32> {
        let mut arrived = Vec::new();
        let mut tear_offs = self.view.take_tear_offs();
        if tear_offs.is_empty() {
            return Vec::new();
        }
        // The tear-off of an object waits until the client knows the tear-offs of its subobjects.
        let is_untold = |child: u32| {
            let phase = self.tracked.get(child).map(|tracked| tracked.phase);
            tear_offs.contains_key(&child) || phase == Some(Phase::Closing(CloseReason::TearOff))
        };
        let waits = |slot: &&u32| world.subobjects.children(**slot).any(is_untold);
        let waiting: BTreeSet<u32> = tear_offs.keys().filter(waits).copied().collect();
        for (&slot, end) in &mut tear_offs {
            let has_all_in_flight = self.has_arrived(slot)
                && self.get(slot).is_none_or(Tracked::has_nothing_to_send)
                && !self.standings.to_send().contains(slot)
                && !waiting.contains(&slot)
                && !has_calls(slot);
            if !has_all_in_flight || !world.store.has_last_state(slot) || world.changes.slots.contains(slot) {
                *end = None;
            } else if *end.get_or_insert(next) <= floor {
                arrived.push(slot);
            }
        }
        self.view.put_tear_offs(tear_offs);
        arrived
    }

    /// Begins to close an object whose last state has arrived, so that the client keeps it.
    pub(crate) fn finish_tear_off(&mut self, slot: u32, since: Sequence) -> Option<Closed> {
        self.view.end_tear_off(slot);
        self.close(slot, CloseReason::TearOff, since)
    }
}
