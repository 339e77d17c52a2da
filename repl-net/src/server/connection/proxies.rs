//! Sends the owner and role of an object to a client when they change after the object was sent to the
//! client, and tells the client which objects sleep.
//!
//! The opening (first update) of an object contains its owner and its role. For most objects the owner and
//! the role take one bit, so that connections can share the opening. When the owner or the role changes, the
//! server sends this client an opening without properties, which is not shared. The server repeats such
//! openings until a packet that was made after the change has arrived.
//!
//! *Invariant:* each packet that reports a change of the owner or the role contains both. The ack of a packet
//! that was sent before the change does not show that the client knows the new owner and role (R4, R5).

use repl_core::HandleSet;

use super::Connection;
use super::context::{OPEN_BITS, PassContext};
use super::objects::ProxyState;
use crate::body::contents::{Content, Sent};
use crate::body::segment::{ENTRY_BITS, Origin, RunHeader, SegmentKind, gap_order, handles_bits};
use crate::body::writing::WriteState;
use crate::server::occupant::Occupant;

impl Connection {
    /// Returns the origin of an object for this client, which is the header of the object's opening (first
    /// update).
    pub(super) fn origin(&self, slot: u32, context: &PassContext<'_>) -> Origin {
        let object = &context.world.store.objects[slot as usize];
        let Occupant { generation, class, .. } = context.world.store.occupant(slot);
        let is_static = context.world.paths.is_static(slot);
        let archetypes = || context.world.store.column(class).archetypes();
        Origin {
            generation,
            class: context.classes.wire(class.into()),
            archetype: if is_static { archetypes() } else { object.archetype() },
            proxy: self.copies.view().proxy(object),
            parent: self.copies.parent_gap(slot, context.world),
        }
    }

    /// Sends the owner and role of an object if the client does not know them. `send_proxy` returns `false`
    /// if there is no room in a packet.
    pub(super) fn send_proxy(&mut self, slot: u32, context: &mut PassContext<'_>) -> bool {
        let Some(tracked) = self.copies.objects.get(slot) else { return true };
        if !matches!(tracked.proxy, ProxyState::Unsent(_)) {
            return true;
        }
        let more = tracked.lacks_values() || context.world.changes.list(slot).is_some();
        let mut origin = self.origin(slot, context);
        origin.proxy.is_asleep = self.copies.is_asleep(slot);
        let run_header = RunHeader {
            origin,
            handles: &HandleSet::new(),
            count: context.world.store.column_of(slot).program().handles(),
            classes: context.classes.len(),
            name: self.copies.name_of(slot, context.world.paths.path(slot).map(|path| &**path)),
        };
        let estimate = ENTRY_BITS + OPEN_BITS + run_header.name_bits() + handles_bits(run_header.count);
        if !self.link.outbox.make_room(estimate, context.now) {
            return false;
        }
        let sent = Sent { slot, generation: run_header.origin.generation, content: Content::Proxy };
        self.link.outbox.entry(SegmentKind::Open, gap_order(slot, 1), sent, |segment, writer| {
            segment.run(slot, 1, &run_header, writer);
        });
        self.copies.objects.proxy_sent(slot, self.link.outbox.sequence());
        if more {
            // The object must go into another packet, because a packet may contain each object only once.
            self.link.outbox.flush(context.now);
        }
        true
    }

    /// Tells the client which objects sleep from now on.
    pub(super) fn send_sleep(&mut self, context: &mut PassContext<'_>) {
        let floor = self.link.outbox.in_flight.floor();
        while let Some(slot) = self.copies.objects.next_quiet(floor) {
            let sleepers =
                context.world.dormancies.sleepers_in(slot as usize / 64, self.copies.objects.chosen());
            if !self.copies.uses(slot) || sleepers >> (slot % 64) & 1 == 0 {
                continue;
            }
            if !self.copies.objects.is_quiet(slot) {
                self.copies.objects.stay_awake(slot);
                continue;
            }
            self.copies.objects.fall_asleep(slot, self.link.outbox.sequence());
            if !self.send_proxy(slot, context) {
                self.copies.objects.must_send(slot);
            }
        }
    }
}
