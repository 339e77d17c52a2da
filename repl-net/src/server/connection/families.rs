//! Sends the openings of an object and its subobjects together, so that nobody sees a part of them (R22).
//!
//! *Invariant:* a subobject is opened in a packet with its parent, or after the client has acknowledged the
//! parent.

use repl_link::parts::SEGMENT_BITS;

use super::Connection;
use super::context::PassContext;
use super::objects::Phase;
use super::opening::opening_bits;
use crate::body::segment::RunHeader;
use crate::body::slot_set::{bit_of, word_of};
use crate::body::writing::WriteState;
use crate::server::openings::{OpeningRun, SMALL_OPEN_BITS, Written};

/// How a family is opened.
enum Together {
    /// All of these objects in one packet, with at most so many bits.
    Now(Vec<u32>, usize),
    /// They are on their way in one packet, and take too many bits to be sent again with each change.
    OnTheirWay,
    /// One by one, because they do not fit into a packet, or because one of them must wait.
    Never,
}

impl Connection {
    /// Sends pending spawns that have parents or subobjects, each with its whole family. Their values are
    /// shared with other clients, and their headers are for this client alone. If this is not possible, they
    /// are no pending spawns from now on.
    pub(super) fn send_new_families(&mut self, slots: &[u32], context: &mut PassContext<'_>) {
        let (families, others) = self.copies.new_families(slots, context.world);
        others.into_iter().for_each(|slot| self.copies.objects.leave_spawns(slot));
        let (broadcast, classes) = (context.broadcast, context.classes);
        let openings = broadcast.openings(&families.concat(), false, context.world, classes);
        let (written, values) = openings.lend();
        for family in families {
            let Some((openings, bits)) = self.shared_openings(&family, written, context) else {
                family.iter().for_each(|&slot| self.copies.objects.leave_spawns(slot));
                continue;
            };
            if self.link.outbox.is_exhausted() || !self.link.outbox.make_room(bits, context.now) {
                break;
            }
            for (run_header, run) in openings {
                let slot = run.first;
                self.link.outbox.opening(slot, &run_header);
                self.append_openings(&run, 1, written, values, context);
                self.copies.objects.spawns_sent(word_of(slot), bit_of(slot));
            }
        }
    }

    /// Returns the openings of a family from the cache, and how many bits they take at most. `None` if the
    /// family does not fit into a packet, or if one of them is too large to be sent again with each change.
    fn shared_openings<'a>(
        &self,
        family: &[u32],
        written: Written<'a>,
        context: &PassContext<'_>,
    ) -> Option<(Vec<(RunHeader<'a>, OpeningRun<'a>)>, usize)> {
        let (world, most) = (context.world, self.link.outbox.capacity());
        let (mut openings, mut sum) = (Vec::with_capacity(family.len()), 0);
        for &slot in family {
            let run = written.run(&[slot], most, SMALL_OPEN_BITS)?;
            let mut run_header = run.run_header(world, context.classes);
            run_header.origin.parent = self.copies.parent_gap(slot, world);
            sum += opening_bits(&run_header, run.sizes().sum()) + SEGMENT_BITS;
            openings.push((run_header, run));
        }
        (sum <= most).then_some((openings, sum))
    }

    /// Sends the opening of an object with those of all others of its family that the client may lack. If
    /// they do not fit into one packet, the objects come one by one, each when its parent has arrived.
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

    /// Lets an object wait until the opening of its family has arrived.
    fn hold_opening(&mut self, slot: u32, context: &PassContext<'_>) {
        if self.copies.objects.is_unsent(slot) {
            self.copies.objects.must_send(slot);
        } else {
            self.copies.postpone(slot, context.world);
        }
    }

    /// Decides how the family is opened that comes with the object at its top.
    fn family_together(&mut self, top: u32, context: &mut PassContext<'_>) -> Together {
        if context.scratch.large_families.contains(&top) {
            return Together::Never;
        }
        let family = self.copies.arriving_family(top, context.world);
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

    /// Returns how many bits the openings of a family take at most, if they fit into a packet and none of
    /// them must wait.
    fn family_bits(&self, family: &[u32], context: &mut PassContext<'_>) -> Option<usize> {
        let most = self.link.outbox.capacity();
        family.iter().try_fold(0_usize, |sum, &slot| {
            // Each may begin a segment, because parents come first, whatever their slots are.
            let sum =
                sum.saturating_add(self.whole_opening_bits(slot, context)?.saturating_add(SEGMENT_BITS));
            (sum <= most).then_some(sum)
        })
    }

    fn is_on_its_way(&self, slot: u32) -> bool {
        self.copies.objects.get(slot).is_some_and(|tracked| tracked.phase == Phase::Opening)
    }
}
