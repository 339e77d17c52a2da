//! Lets objects fall asleep for a client, and wakes them (S207, W15).
//!
//! *Invariant:* the client is told that an object sleeps only after it has acknowledged everything of the
//! object. Any later update of the object wakes it on the client too.

use super::Copies;
use crate::body::slot_set::slots_of;
use crate::server::world::World;

impl Copies {
    /// Returns whether an object sleeps for this client.
    pub(crate) fn is_asleep(&self, slot: u32) -> bool {
        self.objects.is_asleep(slot)
    }

    /// Wakes an object. If the object may sleep, it falls asleep again when no packet in flight contains
    /// anything of it.
    pub(crate) fn wake(&mut self, slot: u32) {
        if self.is_live && self.uses(slot) {
            self.objects.wake(slot, self.next);
        }
    }

    /// Sets whether an object with partial dormancy may sleep for this client.
    pub(crate) fn set_may_sleep(&mut self, world: &World, slot: u32, may_sleep: bool) {
        if self.objects.set_may_sleep(slot, may_sleep) && world.dormancies.is_used() {
            self.wake(slot);
        }
    }

    /// Records that openings (first updates) of the objects of `mask` are sent. The objects of `mask` that
    /// may sleep fall asleep when the client has acknowledged them.
    pub(crate) fn stir_opened(&mut self, world: &World, word: usize, mask: u64) {
        if world.dormancies.is_used() {
            let sleepers = mask & world.dormancies.sleepers_in(word, self.objects.chosen());
            slots_of(word, sleepers).for_each(|slot| self.objects.stay_awake(slot));
        }
    }
}
