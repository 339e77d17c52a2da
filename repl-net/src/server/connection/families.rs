//! Sends the openings (first updates) of an object and its subobjects (a family) together, so that no client
//! has only some of them (R22).
//!
//! *Invariant:* a subobject is opened in a packet with its parent, or after the client has acknowledged the
//! parent.

use repl_core::BitSlice;
use repl_link::parts::SEGMENT_BITS;

use super::Connection;
use super::context::PassContext;
use super::levels::Levels;
use super::objects::Phase;
use crate::body::slot_set::masks_between;
use crate::body::writing::WriteState;
use crate::server::openings::{SMALL_OPEN_BITS, Written};

enum Together {
    /// All of these objects are sent in one packet. The number is the greatest number of bits that they take.
    Now(Vec<u32>, usize),
    /// The openings are in flight in one packet. They take too many bits to be sent again with each change.
    OnTheirWay,
    /// The openings are sent one by one, because they do not fit into a packet, or because one of them must
    /// wait.
    Never,
}

impl Connection {
    /// Sends pending spawns (objects new to the client) that have parents or subobjects, each with its whole
    /// family. Their values are shared with other clients, and their headers are encoded separately for this
    /// client. If a family cannot be sent in this way, its objects are no longer pending spawns, and are
    /// encoded separately as a whole.
    pub(super) fn send_new_families(&mut self, slots: &[u32], context: &mut PassContext<'_>) {
        let (families, others) = self.copies.new_families(slots, context.world);
        others.into_iter().for_each(|slot| self.copies.objects.leave_spawns(slot));
        let (broadcast, world, classes) = (context.broadcast, context.world, context.classes);
        let openings = broadcast.openings(&families.slots(), false, world, classes);
        let (written, values) = openings.lend();
        let (mut packet, mut room) = (Levels::new(written, world, classes), 0);
        for family in families.iter() {
            let mut bits = packet.bits(family).unwrap_or(usize::MAX);
            if bits > room {
                self.send_levels(&packet, written, values, context);
                packet.clear();
                room = 0;
                bits = packet.bits(family).unwrap_or(usize::MAX);
                if bits > self.link.outbox.capacity() {
                    family.iter().for_each(|&(slot, _)| self.copies.objects.leave_spawns(slot));
                    continue;
                }
                if self.link.outbox.is_exhausted() || !self.link.outbox.make_room(bits, context.now) {
                    return;
                }
                room = self.link.outbox.room();
            }
            room = room.saturating_sub(bits);
            packet.add(family);
        }
        self.send_levels(&packet, written, values, context);
    }

    /// Sends the openings (first updates) of families, for which the caller has made room.
    fn send_levels(
        &mut self,
        families: &Levels<'_>,
        written: Written<'_>,
        values: BitSlice<'_>,
        context: &PassContext<'_>,
    ) {
        for (run, run_header) in families.runs() {
            let objects = run.len() as u32;
            self.link.outbox.openings(run.first, objects, &run_header);
            self.append_openings(&run, objects, written, values, context);
            for (word, mask) in masks_between(run.first, run.first + objects) {
                self.copies.objects.spawns_sent(word, mask);
            }
        }
    }

    /// Sends the opening of an object with the openings of all objects of its family that the client may
    /// lack. If they do not fit into one packet, sends the objects one by one, each after its parent has
    /// arrived.
    pub(super) fn send_open_with_family(&mut self, slot: u32, context: &mut PassContext<'_>) {
        if context.world.subobjects.is_alone(slot) {
            return self.send_open(slot, context);
        }
        let top = self.copies.arriving_top(slot, context.world);
        match self.family_together(top, context) {
            Together::Now(family, bits) if family.contains(&slot) => {
                if !self.link.outbox.make_room(bits, context.now) {
                    return self.copies.objects.must_send(slot);
                }
                for slot in family {
                    self.copies.objects.begin_sending(slot);
                    self.send_opening(slot, true, context);
                }
            }
            Together::Never if !self.copies.waits_for_parent(slot, context.world) => {
                self.send_open(slot, context)
            }
            _ => self.hold_opening(slot, context),
        }
    }

    fn hold_opening(&mut self, slot: u32, context: &PassContext<'_>) {
        if self.copies.objects.is_unsent(slot) {
            self.copies.objects.must_send(slot);
        } else {
            self.copies.postpone(slot, context.world);
        }
    }

    /// Decides how the family (an object with its subobjects) below the object `top` is sent.
    fn family_together(&mut self, top: u32, context: &mut PassContext<'_>) -> Together {
        if context.scratch.large_families.contains(&top) {
            return Together::Never;
        }
        let mut family = Vec::new();
        self.copies.arriving_family(top, context.world, &mut family);
        let family: Vec<u32> = family.into_iter().map(|(slot, _)| slot).collect();
        family.iter().for_each(|&slot| self.copies.objects.leave_spawns(slot));
        let Some(bits) = self.family_bits(&family, context) else {
            context.scratch.large_families.insert(top);
            return Together::Never;
        };
        if bits > SMALL_OPEN_BITS && family.iter().any(|&slot| self.is_on_its_way(slot)) {
            return Together::OnTheirWay;
        }
        Together::Now(family, bits)
    }

    /// Returns how many bits the openings (first updates) of a family take at most, if they fit into a packet
    /// and no opening must wait.
    fn family_bits(&self, family: &[u32], context: &mut PassContext<'_>) -> Option<usize> {
        let most = self.link.outbox.capacity();
        family.iter().try_fold(0_usize, |sum, &slot| {
            // A segment has ascending slots. Parents come before their subobjects, whatever their slots are,
            // so each opening may need a new segment.
            let sum =
                sum.saturating_add(self.whole_opening_bits(slot, context)?.saturating_add(SEGMENT_BITS));
            (sum <= most).then_some(sum)
        })
    }

    fn is_on_its_way(&self, slot: u32) -> bool {
        self.copies.objects.get(slot).is_some_and(|tracked| tracked.phase == Phase::Opening)
    }
}
