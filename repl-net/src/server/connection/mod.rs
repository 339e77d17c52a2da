//! A connection of the server: what one client has, what it lacks, and what is being sent to it.
//!
//! *Invariant:* each object is in exactly one of three states: unknown to the client, in step, or apart
//! because something is unacknowledged or unsent or its view is not the default. `apart` includes all unknown
//! objects, so this set alone says which objects are not in step.

mod context;
mod joining;
mod large;
mod lost_list;
mod memory;
mod newcomer_runs;
mod newcomers;
mod news;
mod pass;
mod proxies;
mod resolve;

use std::collections::BTreeMap;
use std::time::Duration;

use repl_core::{BitReader, Changelist, HandleSet, PropertyIndex, ReadError, ViewFlags};

pub(crate) use context::{PassContext, PassScratch};
use joining::Joining;
use lost_list::LostList;
use newcomers::Newcomers;

use crate::server::object::Object;
use crate::server::tracked::{Phase, Tracked, TrackedObjects};
use crate::server::world::World;
use crate::session::connection_id::ConnectionId;
use crate::session::events::CloseReason;
use crate::transport::acks::{Arrival, Received};
use crate::transport::blob::Blobs;
use crate::transport::late::LateAcks;
use crate::transport::outbox::{Limits, Outbox};
use crate::transport::packet::{Header, read_end};
use crate::transport::rtt::RoundTrip;
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::{SlotSet, slots_of};

/// The server's state for one client.
pub(crate) struct Connection {
    pub(crate) id: ConnectionId,
    /// Whether state is sent: the session has begun and not ended.
    is_live: bool,
    pub(crate) is_replay: bool,
    pub(crate) outbox: Outbox,
    /// The number of the first packet, in both directions.
    first: Sequence,
    /// Which of the client's packets arrived. They need no acks; this only detects repeated and late packets.
    heard: Received,
    pub(crate) round_trip: RoundTrip,
    /// Timeouts since the last ack (R9).
    timeouts: u32,
    /// When unanswered packets were last retried before their timeout (R9).
    last_retry: Duration,
    /// The newest packet that the client acked.
    newest_acked: Option<Sequence>,
    pub(crate) last_sent: Duration,
    /// Objects that the client has, is receiving, or will lose.
    known: SlotSet,
    /// Objects that are not in step: something is unsent or unacknowledged, or the view is not the default,
    /// or the client does not have them.
    apart: SlotSet,
    /// Objects with something to send to this client alone.
    needs: SlotSet,
    newcomers: Newcomers,
    tracked: TrackedObjects,
    /// Objects for which this client's view is not the default, whether it has them or not.
    own_view: SlotSet,
    /// Objects that the client owns, whether it has them or not. Their openings cannot be shared.
    owned: SlotSet,
    joining: Joining,
    /// Objects with new elements that are not acked.
    young: SlotSet,
    /// Objects that the client must not have, also before it said hello.
    hidden: SlotSet,
    /// By slot, the handles of custom properties whose switch for this connection differs from their
    /// declaration.
    switched: BTreeMap<u32, HandleSet>,
    blobs: Blobs,
    /// What packets that counted as lost carried, without updates, in the order in which they were given up.
    late: LateAcks,
    /// Since when the memory has exceeded its limit.
    over_since: Option<Duration>,
    /// The object that was last sent to this client alone.
    last_private: u32,
    /// The object that last began a blob.
    last_blob: u32,
    /// Whether an object waits for room for its blob.
    blob_waits: bool,
    /// Lost lists that are not pending yet, in the order of loss. Empty between calls.
    lost: Vec<LostList>,
    /// Packets that counted as lost so far.
    pub(crate) packets_lost: u64,
}

impl Connection {
    pub(crate) fn new(
        id: ConnectionId,
        is_replay: bool,
        first: Sequence,
        limits: Limits,
        now: Duration,
    ) -> Self {
        Self {
            id,
            is_live: false,
            is_replay,
            outbox: Outbox::new(first, limits),
            first,
            heard: Received::default(),
            round_trip: RoundTrip::default(),
            timeouts: 0,
            last_retry: now,
            newest_acked: None,
            last_sent: now,
            known: SlotSet::default(),
            apart: SlotSet::default(),
            needs: SlotSet::default(),
            newcomers: Newcomers::default(),
            tracked: TrackedObjects::default(),
            own_view: SlotSet::default(),
            owned: SlotSet::default(),
            joining: Joining::default(),
            young: SlotSet::default(),
            hidden: SlotSet::default(),
            switched: BTreeMap::new(),
            blobs: Blobs::default(),
            late: LateAcks::default(),
            over_since: None,
            last_private: 0,
            last_blob: 0,
            blob_waits: false,
            lost: Vec::new(),
            packets_lost: 0,
        }
    }

    /// The view flags of this connection for an object (S36).
    fn flags(&self, object: &Object) -> ViewFlags {
        object.flags(object.owner == Some(self.id), self.is_replay)
    }

    /// The handles of an object that this connection may see now.
    pub(crate) fn mask(&self, world: &World, slot: u32) -> HandleSet {
        let object = &world.objects[slot as usize];
        object.mask(world.lifetime(slot), self.flags(object), self.switched.get(&slot))
    }

    /// The handles of an object that an opening for this connection would contain now.
    fn opening_mask(&self, world: &World, slot: u32) -> HandleSet {
        let object = &world.objects[slot as usize];
        let flags = self.flags(object).with(ViewFlags::INITIAL);
        object.mask(world.lifetime(slot), flags, self.switched.get(&slot))
    }

    /// Whether the connection has the default view of an object, so that it can use the broadcast.
    fn has_common_view(&self, world: &World, slot: u32) -> bool {
        let object = &world.objects[slot as usize];
        !self.switched.contains_key(&slot)
            && (!world.lifetime(slot).is_conditional() || self.flags(object) == object.common_flags())
    }

    /// Whether the client has everything of an object and the default view, so that it uses the broadcast.
    fn is_in_step(&self, slot: u32) -> bool {
        self.known.contains(slot) && !self.apart.contains(slot)
    }

    /// Switches a custom condition for this connection alone.
    pub(crate) fn switch_custom(
        &mut self,
        world: &mut World,
        slot: u32,
        property: PropertyIndex,
        active: bool,
    ) {
        let before = self.mask(world, slot);
        let handles = world.lifetime(slot).handles_of(property);
        let is_as_declared = active != handles.intersects(world.lifetime(slot).starts_off());
        let switched = self.switched.entry(slot).or_default();
        if is_as_declared {
            switched.difference(&handles)
        } else {
            switched.union(&handles)
        }
        if switched.is_empty() {
            self.switched.remove(&slot);
        }
        self.review(world, slot, &before);
    }

    /// Sets whether the client may have an object.
    pub(crate) fn set_visible(&mut self, world: &mut World, slot: u32, visible: bool) {
        if visible {
            self.hidden.remove(slot);
            if self.is_live {
                self.show(world, slot);
            }
        } else {
            self.hidden.insert(slot);
            self.apart.insert(slot);
            self.hide(world, slot, CloseReason::Relevancy);
        }
    }

    /// Begins the session. Packets of state are bound to `binding`. The client receives all objects that are
    /// not hidden from it.
    pub(crate) fn begin(&mut self, binding: u64, world: &mut World) {
        self.is_live = true;
        self.outbox.binding = binding;
        self.outbox.enable_status();
        let alive = std::mem::take(&mut world.alive);
        for (word, mask) in alive.masks() {
            let shown = mask & !self.hidden.word(word);
            self.joining.begin(word, shown);
            let own = self.own_view.word(word) | self.owned.word(word);
            let newcomers = if self.is_replay { 0 } else { shown & !own };
            self.known.insert_mask(word, newcomers);
            self.apart.insert_mask(word, newcomers);
            self.newcomers.welcome_mask(word, newcomers);
            world.compare_mask_for_open(word, newcomers);
            slots_of(word, shown & !newcomers).for_each(|slot| self.show(world, slot));
        }
        world.alive = alive;
    }

    /// Handles the end of an object. Drops all its settings, so they do not apply to the next object in the
    /// slot. Returns whether the client must still be told.
    pub(crate) fn destroy(&mut self, world: &mut World, slot: u32) -> bool {
        self.hide(world, slot, CloseReason::Destroyed);
        self.hidden.remove(slot);
        self.own_view.remove(slot);
        self.owned.remove(slot);
        self.switched.remove(&slot);
        self.known.contains(slot)
    }

    /// Begins to send an object that the client may have.
    pub(crate) fn show(&mut self, world: &mut World, slot: u32) {
        if let Some(tracked) = self.tracked.get_mut(slot)
            && let Phase::Closing(_) = tracked.phase
        {
            tracked.reopen = true;
            return;
        }
        if self.known.contains(slot) {
            return;
        }
        world.compare_for_open(slot);
        self.known.insert(slot);
        self.apart.insert(slot);
        let opens_as_most_do = !self.is_replay && !self.own_view.contains(slot) && !self.owned.contains(slot);
        if opens_as_most_do && self.newcomers.welcome(slot) {
            return;
        }
        self.needs.insert(slot);
        let generation = world.objects[slot as usize].generation;
        let since = self.outbox.next();
        self.tracked.entry(slot, || Tracked::unsent(slot, generation, since));
    }

    /// Begins to close an object on the client.
    fn hide(&mut self, world: &mut World, slot: u32, reason: CloseReason) {
        if !self.known.contains(slot) {
            return;
        }
        let since = self.outbox.next();
        let tracked = self.track(world, slot);
        tracked.reopen = false;
        if let Phase::Closing(known) = &mut tracked.phase {
            // The reason `Destroyed` wins: references to the object never become valid again (R18).
            if reason == CloseReason::Destroyed {
                *known = reason;
            }
            return;
        }
        let never_sent = tracked.phase == Phase::Unsent && tracked.open_bits == 0;
        (tracked.phase, tracked.since) = (Phase::Closing(reason), since);
        Self::catch_up(world, tracked, None);
        tracked.pending.clear();
        tracked.waiting.clear();
        if let Some(blob) = tracked.blob.take() {
            self.blobs.abandon(blob);
        }
        self.apart.insert(slot);
        self.needs.insert(slot);
        if never_sent {
            self.forget(world, slot);
        }
    }

    /// Removes an object that the client no longer has. Nothing in flight can change that.
    fn forget(&mut self, world: &mut World, slot: u32) {
        self.newcomers.retire(slot);
        let reopen = self.tracked.remove(slot).is_some_and(|tracked| tracked.reopen);
        self.known.remove(slot);
        self.young.remove(slot);
        self.apart.insert(slot);
        self.needs.remove(slot);
        let is_alive = world.objects[slot as usize].alive;
        world.release(slot);
        if reopen && is_alive {
            self.show(world, slot);
        }
    }

    /// Ends the session: the connection uses no slot any more.
    pub(crate) fn end(&mut self, world: &mut World) {
        self.is_live = false;
        let slots: Vec<u32> = self.known.iter().collect();
        for slot in slots {
            if let Some(tracked) = self.tracked.get_mut(slot) {
                tracked.reopen = false;
                Self::catch_up(world, tracked, None);
            }
            self.forget(world, slot);
        }
    }

    /// Drops the connection's position in an object's history. If `missed` is given, what the connection
    /// missed is added to it. Returns whether there was a position. If this was the last connection with one,
    /// the history is emptied.
    fn catch_up(world: &mut World, tracked: &mut Tracked, missed: Option<&mut Changelist>) -> bool {
        let Some(position) = tracked.position.take() else { return false };
        let object = &mut world.objects[tracked.slot as usize];
        if let Some(missed) = missed {
            object.history.gather(position, missed);
        }
        object.laggards -= 1;
        if object.laggards == 0 {
            object.history.release();
        }
        true
    }

    /// Stores the position in the history: the changes of this tick are not sent now.
    fn fall_behind(&mut self, world: &mut World, slot: u32) {
        let mask = self.mask(world, slot);
        let tracked = self.track(world, slot);
        if tracked.position.is_none() {
            if let Some(list) = world.changes.list(slot) {
                tracked.pending.merge(list);
                tracked.pending.retain(&mask);
            }
            let object = &mut world.objects[slot as usize];
            tracked.position = Some(object.history.end());
            object.laggards += 1;
        }
        self.apart.insert(slot);
        self.needs.insert(slot);
    }

    /// Adds lists that were dropped from full histories to the pending changes, if the connection has not
    /// sent them (R10).
    pub(crate) fn take_evicted(&mut self, world: &World) {
        for (slot, place, list) in &world.changes.evicted {
            if let Some(tracked) = self.tracked.get_mut(*slot)
                && let Some(position) = &mut tracked.position
                && *position <= *place
            {
                *position = place + 1;
                tracked.pending.merge(list);
            }
        }
    }

    /// Updates whether an object is in step, and stops tracking it if possible.
    fn settle(&mut self, world: &World, slot: u32) {
        let (settled, plain) = match self.tracked.get(slot) {
            Some(tracked) => (tracked.is_settled(), tracked.is_plain()),
            None => (self.known.contains(slot) && !self.newcomers.contains(slot), false),
        };
        if self.tracked.get(slot).is_some_and(Tracked::has_births) {
            self.young.insert(slot)
        } else {
            self.young.remove(slot)
        }
        if settled && self.has_common_view(world, slot) {
            self.apart.remove(slot);
            // The broadcast carries it from now on. Sent both ways, it would be in one packet twice.
            self.needs.remove(slot);
        } else {
            self.apart.insert(slot);
        }
        if settled && plain {
            self.tracked.remove(slot);
        }
    }

    /// Handles a change of an object's conditions for this connection. `before` is the old mask (S42).
    pub(crate) fn review(&mut self, world: &mut World, slot: u32, before: &HandleSet) {
        let is_own = !self.has_common_view(world, slot);
        if is_own {
            self.own_view.insert(slot)
        } else {
            self.own_view.remove(slot)
        }
        if !self.known.contains(slot) {
            return;
        }
        if self.newcomers.is_waiting(slot) {
            // Nothing was sent. With the default view the shared opening is still right.
            if !is_own {
                return;
            }
            self.track(world, slot);
        }
        let after = self.mask(world, slot);
        if *before != after {
            self.change_view(world, slot, before, &after);
        } else {
            self.review_opening(world, slot, &after);
        }
        self.settle(world, slot);
    }

    /// Drops a blob that opens an object if it contains what the connection may no longer see. Properties
    /// that only openings contain are in no mask of an open object, so comparing masks does not find this
    /// (R15).
    fn review_opening(&mut self, world: &mut World, slot: u32, mask: &HandleSet) {
        let Some(id) = self.tracked.get(slot).and_then(|tracked| tracked.blob) else { return };
        let visible = self.opening_mask(world, slot);
        if self.blobs.opens_with(id).is_none_or(|handles| handles.is_subset(&visible)) {
            return;
        }
        if let Some(blob) = self.blobs.abandon(id) {
            self.tracked.get_mut(slot).into_iter().for_each(|tracked| tracked.blob = None);
            self.take_back(world, slot, blob.content, mask);
        }
    }

    fn change_view(&mut self, world: &mut World, slot: u32, before: &HandleSet, after: &HandleSet) {
        let frame = world.frame;
        let tracked = self.track(world, slot);
        if matches!(tracked.phase, Phase::Closing(_) | Phase::Unsent) {
            return;
        }
        let is_behind =
            tracked.position.is_some() || tracked.phase == Phase::Opening || tracked.blob.is_some();
        let mut gained = HandleSet::new();
        for property in (0..world.column_of(slot).program().layout().properties()).map(PropertyIndex::new) {
            let handles = world.lifetime(slot).handles_of(property);
            let Some(first) = handles.iter().next() else { continue };
            match (before.contains(first), after.contains(first)) {
                (true, false) => {
                    let lacks = is_behind
                        || tracked.pending.handles().intersects(&handles)
                        || tracked.waiting.iter().any(|portions| portions.is_in(&handles));
                    tracked.set_left(property, if lacks { 0 } else { frame });
                    tracked.drop_pending(&handles);
                }
                (false, true) => {
                    let changed = world.objects[slot as usize].changed_at(property);
                    if changed.is_some_and(|changed| changed > tracked.left_at(property)) {
                        gained.union(&handles);
                    }
                    tracked.left.retain(|(left, _)| *left != property);
                }
                _ => {}
            }
        }
        tracked.pending.merge(&world.whole(slot, &gained));
        // Its old bytes would leak what the client may no longer see (R15).
        if let Some(blob) = tracked.blob.take().and_then(|id| self.blobs.abandon(id)) {
            self.take_back(world, slot, blob.content, after);
        }
        self.apart.insert(slot);
        self.needs.insert(slot);
    }

    /// The newest packet of state from the client. Packet numbers are read relative to it.
    pub(crate) fn newest_received(&self) -> Sequence {
        self.heard.newest().unwrap_or(self.first)
    }

    /// Reads the packet of state `sequence` from the client, from behind its number: only acks. Returns
    /// whether it is new.
    ///
    /// # Errors
    /// If it is malformed. Then the connection must be closed.
    #[cfg_attr(
        not(test),
        deny(
            clippy::unwrap_used,
            clippy::expect_used,
            clippy::indexing_slicing,
            clippy::arithmetic_side_effects
        )
    )]
    pub(crate) fn receive(
        &mut self,
        world: &mut World,
        sequence: Sequence,
        reader: &mut BitReader<'_>,
        now: Duration,
    ) -> Result<bool, ReadError> {
        // Before its acks are read: a packet that is too old must have no effect.
        if self.heard.check(sequence) != Arrival::New {
            return Ok(false);
        }
        let (_, acks) = Header::read(reader, sequence, self.outbox.next(), false)?;
        // A client sends no state (S106): its packets end after the header.
        if reader.read_flag()? {
            return Err(ReadError::OutOfRange);
        }
        read_end(reader)?;
        self.heard.insert(sequence);
        self.acked(world, acks, now);
        Ok(true)
    }
}
