//! The beginning and the end of a connection's session.
//!
//! *Invariant:* after the end of its session, a connection uses no slots.

use std::time::Duration;

use super::Connection;
use crate::messages::mailbox::Mailbox;
use crate::server::world::{Unneeded, World};
use crate::session::connection_id::ConnectionId;
use crate::transport::outbox::PACKETS_PER_SECOND;
use crate::transport::rate_limit::RateLimit;
use crate::transport::slot_set::slots_of;

impl Connection {
    /// Begins the session of the connection. The checksums of the session's packets of state cover `binding`.
    /// From now on, the client receives the objects that it sees.
    pub(crate) fn begin(
        &mut self,
        binding: u64,
        mailbox: &Mailbox<ConnectionId>,
        timeout: Duration,
        world: &mut World,
    ) {
        self.is_live = true;
        self.exchange.begin(mailbox, timeout);
        self.packet_limit = RateLimit::receiving(PACKETS_PER_SECOND, 0, timeout);
        self.outbox.binding = binding;
        self.outbox.enable_status();
        for slot in self.view().in_far_cells(world) {
            let is_far = self.view().is_far_now(world, slot);
            self.objects.set_far(slot, is_far);
        }
        for slot in self.view().carried(world) {
            let ring = self.view().ring_of(world, slot);
            self.update_view(world, slot, ring);
        }
        let (alive, seen) = (std::mem::take(&mut world.alive), self.view().seen(world));
        for (word, mask) in alive.masks() {
            let (spawns, others) =
                self.objects.begin(word, mask, seen.word(word), world.opened_alone_in(word));
            world.compare_mask_for_open(word, spawns);
            self.stir_opened(world, word, spawns);
            for slot in slots_of(word, others) {
                let ring = self.view().ring_of(world, slot);
                self.show(world, slot, ring);
            }
        }
        world.alive = alive;
        self.objects.find_unknown_in_sight(world);
        self.tell_all_destroyed(world);
    }

    /// Ends the session of the connection. After the end of the session, the connection uses no slots.
    pub(crate) fn end(&mut self, world: &mut World) {
        self.is_live = false;
        self.exchange.end();
        self.held_calls = None;
        self.unacked_calls = None;
        self.last_rights.clear();
        if let Some(sight) = self.objects.take_sight() {
            sight.end(self.id, &mut world.cells);
        }
        for (slot, position) in self.objects.end() {
            let unneeded = Self::release_position(world, slot, position, None);
            unneeded.into_iter().chain([Unneeded::Slot]).for_each(|what| world.free(slot, what));
        }
    }
}
