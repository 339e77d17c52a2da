//! Sends the owner and role of an object to its client when they change after the opening.
//!
//! An opening contains them, in one bit for most objects, so that openings can be shared. When they change,
//! the client is sent an opening without properties, outside shared segments, until a packet made after the
//! change has arrived.
//!
//! *Invariant:* each such packet contains the whole owner and role, and the ack of a packet from before a
//! change does not count (R4, R5).

use std::num::NonZeroU32;

use repl_core::HandleSet;

use super::Connection;
use super::context::{OPEN_BITS, PassContext};
use crate::server::object::Object;
use crate::server::tracked::{Phase, ProxyNews};
use crate::server::world::World;
use crate::transport::in_flight::{Content, Sent};
use crate::transport::role::Proxy;
use crate::transport::segment::{ENTRY_BITS, Origin, RunHead, SegmentKind, gap_order, handles_bits};
use crate::transport::sequence::Sequence;

impl Connection {
    /// What this client is told of an object's owner and role.
    pub(crate) fn proxy(&self, object: &Object) -> Proxy {
        object.proxy(object.owner == Some(self.id))
    }

    /// What this client is told of an object's origin.
    pub(super) fn origin(&self, slot: u32, context: &PassContext<'_>) -> Origin {
        let object = &context.world.objects[slot as usize];
        Origin {
            generation: object.generation,
            class: context.classes.wire(object.class.into()),
            archetype: object.archetype,
            proxy: self.proxy(object),
        }
    }

    /// Checks whether owner or role of an object changed for this client. `before` is the old state.
    pub(crate) fn review_proxy(&mut self, world: &World, slot: u32, before: Proxy) {
        let now = self.proxy(&world.objects[slot as usize]);
        if now.is_owner {
            self.owned.insert(slot)
        } else {
            self.owned.remove(slot)
        }
        if now == before || !self.known.contains(slot) || !now.is_owner && self.newcomers.is_waiting(slot) {
            return;
        }
        let since = self.outbox.next();
        let tracked = self.track(world, slot);
        // An opening that is sent again will contain it. But the client may have the object by an opening
        // from before the change whose ack comes late. Then a lost opening is not sent again, so the news
        // must be tracked.
        if !matches!(tracked.phase, Phase::Closing(_)) {
            tracked.proxy = ProxyNews::Unsent(since);
            self.apart.insert(slot);
            self.needs.insert(slot);
        }
    }

    /// Sends owner and role of an object if necessary. Returns `false` if there is no room.
    pub(super) fn send_proxy(&mut self, slot: u32, context: &mut PassContext<'_>) -> bool {
        let Some(tracked) = self.tracked.get(slot) else { return true };
        if !matches!(tracked.proxy, ProxyNews::Unsent(_)) {
            return true;
        }
        let more = tracked.lacks_values() || context.world.changes.list(slot).is_some();
        let run_head = RunHead {
            origin: self.origin(slot, context),
            handles: &HandleSet::new(),
            count: context.world.column_of(slot).program().handles(),
            classes: context.classes.len(),
        };
        let estimate = ENTRY_BITS + OPEN_BITS + handles_bits(run_head.count);
        if !self.outbox.make_room(estimate, context.now) {
            return false;
        }
        let sent = Sent { slot, generation: run_head.origin.generation, content: Content::Proxy };
        self.outbox.entry(SegmentKind::Open, gap_order(slot, 1), sent, |segment, writer| {
            segment.run(slot, 1, &run_head, writer);
        });
        self.proxy_sent(slot);
        if more {
            // A packet carries each object only once.
            self.outbox.flush(context.now);
        }
        true
    }

    /// Notes that the packet being filled contains owner and role of an object.
    pub(super) fn proxy_sent(&mut self, slot: u32) {
        let sequence = self.outbox.sequence();
        if let Some(tracked) = self.tracked.get_mut(slot)
            && let ProxyNews::Unsent(since) | ProxyNews::Sent(since, _) = tracked.proxy
        {
            tracked.proxy = ProxyNews::Sent(since, sequence);
        }
    }

    /// Notes that a packet arrived that may have contained owner and role of an object.
    pub(super) fn proxy_arrived(&mut self, world: &World, sequence: Sequence, sent: &Sent) {
        if !is_telling(&sent.content) || !self.is_current(world, sent.slot, sent.generation) {
            return;
        }
        if let Some(tracked) = self.tracked.get_mut(sent.slot)
            && let ProxyNews::Unsent(since) | ProxyNews::Sent(since, _) = tracked.proxy
            && since <= sequence
        {
            tracked.proxy = ProxyNews::Settled;
        }
    }

    /// Notes that a packet with owner and role of an object was lost. If no later packet has them, they must
    /// be sent again.
    pub(super) fn proxy_lost(
        &mut self,
        world: &World,
        sequence: Sequence,
        slot: u32,
        generation: NonZeroU32,
    ) {
        if !self.is_current(world, slot, generation) {
            return;
        }
        if let Some(tracked) = self.tracked.get_mut(slot)
            && let ProxyNews::Sent(since, last) = tracked.proxy
            && last <= sequence
        {
            tracked.proxy = ProxyNews::Unsent(since);
            self.needs.insert(slot);
        }
    }
}

fn is_telling(content: &Content) -> bool {
    matches!(content, Content::Proxy | Content::Open(_))
}
