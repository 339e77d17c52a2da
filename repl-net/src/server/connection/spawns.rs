//! Sends the pending spawns of a connection: objects that are new to the client.
//!
//! *Invariant:* all connections share the encoded openings of pending spawns. An object that does not fit
//! into a run of openings is sent separately.

use super::Connection;
use super::context::PassContext;
use crate::body::slot_set::masks_between;
use crate::body::writing::WriteState;
use crate::server::openings::SMALL_OPEN_BITS;
use crate::server::world::World;

impl Connection {
    /// Marks the objects whose openings (first updates) are sent again with each change until the ack. For
    /// these objects, the comparison includes the properties that only openings contain (S40). Must be called
    /// before the objects are compared. Costs O(objects out of step) if any class has properties that only
    /// openings contain.
    pub(crate) fn note_repeated_openings(&self, world: &mut World) {
        if world.asks_at_open() {
            self.copies.objects.repeated_openings().for_each(|slot| world.compare_for_repeated_open(slot));
        }
    }

    /// Sends the pending spawns (objects new to the client) in `slots`, which are in ascending order. Objects
    /// with parents or subobjects are sent after all other objects, because they would interrupt the runs of
    /// the other objects.
    pub(super) fn send_openings(&mut self, slots: &[u32], context: &mut PassContext<'_>) {
        let subobjects = &context.world.subobjects;
        if subobjects.is_flat() {
            return self.send_openings_in_runs(slots, context);
        }
        let (alone, related): (Vec<u32>, Vec<u32>) =
            slots.iter().partition(|&&slot| subobjects.is_alone(slot));
        self.send_openings_in_runs(&alone, context);
        self.send_new_families(&related, context);
    }

    fn send_openings_in_runs(&mut self, slots: &[u32], context: &mut PassContext<'_>) {
        if !self.copies.view().is_far_from_any() {
            self.send_openings_at(slots, false, context);
            return;
        }
        let (far, near): (Vec<u32>, Vec<u32>) =
            slots.iter().partition(|&&slot| self.copies.view().is_far(slot));
        self.send_openings_at(&near, false, context);
        self.send_openings_at(&far, true, context);
    }

    /// Sends pending spawns. The client is far from all of them if `is_far` is true, and otherwise from none
    /// of them.
    fn send_openings_at(&mut self, slots: &[u32], is_far: bool, context: &mut PassContext<'_>) {
        let classes = context.classes;
        let openings = context.broadcast.openings(slots, is_far, context.world, classes);
        let (written, values) = openings.lend();
        let mut at = 0;
        while at < slots.len() && !self.link.outbox.is_exhausted() {
            let (left, most) = (slots[at..].iter().copied(), self.link.outbox.capacity());
            let Some(run) = written.run(left, most, SMALL_OPEN_BITS) else {
                self.copies.objects.leave_spawns(slots[at]);
                at += 1;
                continue;
            };
            let run_header = run.run_header(context.world, classes);
            let Some(sent) = self.link.outbox.run(run.first, &run_header, run.sizes(), context.now) else {
                break;
            };
            if sent == 0 {
                self.copies.objects.leave_spawns(run.first);
                at += 1;
                continue;
            }
            self.append_openings(&run, sent, written, values, context);
            for (word, mask) in masks_between(run.first, run.first + sent) {
                self.copies.objects.spawns_sent(word, mask);
            }
            at += sent as usize;
        }
    }
}
