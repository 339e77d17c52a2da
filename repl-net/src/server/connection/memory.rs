//! What is kept for a connection, and when it is too much.
//!
//! *Invariant:* at the configured limit no packet is sent but a few probes, so what is kept grows no further but by what changes of the world:
//! that is merged, object by object.

use std::time::Duration;

use repl_core::Changelist;

use super::Connection;
use crate::server::world::World;
use crate::transport::sequence::Sequence;

/// How many timeouts of a connection the end of an object may stay unacknowledged. At a loss of 90 % in both directions one try in 12 is
/// acknowledged and there are four a second (R9), so of a million ends two are not in 40 s.
const END_TIMEOUTS: u32 = 4;

/// How many round trips the same may take, where those are long.
const END_ROUND_TRIPS: u32 = 8;

impl Connection {
    /// About how many bytes of memory are kept for what the client has not acknowledged. O(1).
    pub(crate) fn memory_bytes(&self) -> usize {
        self.outbox.memory_bytes()
    }

    /// Before a pass: takes stock of what is kept beside packets. If there is no room for another packet it gives back what is kept only to
    /// be used again, and forgets what late acks could settle: it is sent again.
    pub(super) fn limit_memory(&mut self) {
        self.weigh();
        if !self.outbox.has_memory() {
            self.outbox.give_back_spare();
            self.late.clear();
            self.late.end_round();
            self.weigh();
        }
    }

    /// After a pass: notes since when there has been too much.
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

    /// Remembers what came into being in a list of an object that the packet `sequence` carries.
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

    /// Forgets new elements that are gone again, where nothing is in flight that could tell that they arrived.
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

    /// Whether the client has left too much unacknowledged for too long: more than the memory that it may cost for a `timeout`, or the end of an
    /// object for several, which keeps the slot from being used again.
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
