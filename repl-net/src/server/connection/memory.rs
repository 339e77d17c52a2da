//! Measures the memory that a connection holds for its client, and limits it.
//!
//! *Invariant:* at the configured limit only a few probe packets are sent. So the memory grows only with
//! changes of the world, which are merged for each object.

use std::time::Duration;

use repl_core::Changelist;

use super::Connection;
use crate::server::world::World;
use crate::transport::sequence::Sequence;

/// How many timeouts of a connection the close of an object may stay unacknowledged. At 90 % loss in both
/// directions one try in 12 is acknowledged, and there are four tries a second (R9). So of a million closes
/// two are not acknowledged within 40 s.
const END_TIMEOUTS: u32 = 4;

/// How many round trips it may take if they are long.
const END_ROUND_TRIPS: u32 = 8;

impl Connection {
    /// About how many bytes of memory are stored for what the client has not acknowledged. O(1).
    pub(crate) fn memory_bytes(&self) -> usize {
        self.outbox.memory_bytes()
    }

    /// Called before a pass: measures the memory outside of packets. If there is no room for another packet's
    /// record, it frees the spare buffers, and the records for late acks. What those cover is sent again.
    pub(super) fn limit_memory(&mut self) {
        self.weigh();
        if !self.outbox.has_memory() {
            self.outbox.give_back_spare();
            self.late.clear();
            self.late.end_round();
            self.weigh();
        }
    }

    /// Called after a pass: records since when the memory exceeds its limit.
    pub(super) fn watch_memory(&mut self, now: Duration) {
        self.weigh();
        self.over_since = match self.over_since {
            _ if !self.outbox.is_over_memory() => None,
            None => Some(now),
            since => since,
        };
    }

    fn weigh(&mut self) {
        self.outbox.other_bytes = self.tracked.weigh() + self.late.held_bytes() + self.blobs.held_bytes();
    }

    /// Records the new elements in a list of an object that the packet `sequence` carries.
    pub(super) fn add_births(&mut self, world: &World, slot: u32, sequence: Sequence, births: Changelist) {
        if births.is_empty() {
            return;
        }
        let object = &world.objects[slot as usize];
        let tracked = self.tracked.open(slot, object.generation);
        tracked.add_births(sequence, births);
        if tracked.births_are_many() {
            let column = world.column_of(slot);
            tracked.prune_births(|births| column.prune(object.row, births));
        }
    }

    /// Drops records of new elements that were removed. Called when no packet in flight could show that they
    /// arrived.
    pub(super) fn forget_births(&mut self, world: &World) {
        let young: Vec<u32> = self.young.iter().collect();
        for slot in young {
            let object = &world.objects[slot as usize];
            if let Some(tracked) = self.tracked.get_mut(slot)
                && object.alive
            {
                let column = world.column_of(slot);
                tracked.prune_births(|births| column.prune(object.row, births));
                self.settle(world, slot);
            }
        }
    }

    /// Whether the client left too much unacknowledged for too long: more memory than its limit for a
    /// `timeout`, or the close of an object for several timeouts. A slot cannot be reused before that ack.
    pub(crate) fn is_overdue(&mut self, timeout: Duration, now: Duration) -> bool {
        if !self.is_live {
            return false;
        }
        if self.over_since.is_some_and(|since| now.saturating_sub(since) >= timeout) {
            return true;
        }
        if self.tracked.is_empty() {
            return false;
        }
        let round_trips = self.round_trip.smoothed().saturating_mul(END_ROUND_TRIPS);
        let end_timeout = timeout.saturating_mul(END_TIMEOUTS).max(round_trips);
        now.checked_sub(end_timeout).is_some_and(|start| self.tracked.has_overdue_end(start))
    }
}
