//! The beginning and the end of a connection's session.
//!
//! *Invariant:* after the end of its session, a connection uses no slots.

use super::Connection;
use super::copies::Copies;
use crate::body::slot_set::slots_of;
use crate::server::world::{Unneeded, World};

impl Connection {
    /// Begins the session of the connection. From now on, the client receives the objects that it sees.
    pub(crate) fn begin(&mut self, world: &mut World) {
        self.copies.is_live = true;
        self.link.outbox.extension.get_or_insert_default();
        for slot in self.copies.view().in_far_cells(world) {
            let is_far = self.copies.view().is_far_now(world, slot);
            self.copies.objects.set_far(slot, is_far);
        }
        for slot in self.copies.view().seen_from_afar(world) {
            let ring = self.copies.view().ring_of(world, slot);
            self.copies.update_view(world, slot, ring);
        }
        let (alive, seen) = (std::mem::take(&mut world.store.alive), self.copies.view().seen(world));
        for (word, mask) in alive.masks() {
            let (spawns, others) =
                self.copies.objects.begin(word, mask, seen.word(word), world.paths.in_word(word));
            world.compare_mask_for_open(word, spawns);
            self.copies.stir_opened(world, word, spawns);
            for slot in slots_of(word, others) {
                let ring = self.copies.view().ring_of(world, slot);
                self.copies.show(world, slot, ring);
            }
        }
        world.store.alive = alive;
        self.copies.objects.find_unknown_in_sight(world);
        self.copies.tell_all_destroyed(world);
    }

    /// Ends the session of the connection. Afterwards, the connection uses no slots.
    pub(crate) fn end(&mut self, world: &mut World) {
        self.copies.is_live = false;
        self.calls.clear();
        self.assets = Default::default();
        self.copies.last_rights.clear();
        self.copies.bases.clear(&world.revisions);
        self.copies.recent_removals.iter_mut().for_each(|removals| removals.clear());
        if let Some(sight) = self.copies.objects.take_sight() {
            sight.end(self.copies.id, &mut world.cells);
        }
        for (slot, position) in self.copies.objects.end() {
            let unneeded = Copies::release_position(world, slot, position, None);
            unneeded.into_iter().chain([Unneeded::Slot]).for_each(|what| world.free(slot, what));
        }
    }
}
