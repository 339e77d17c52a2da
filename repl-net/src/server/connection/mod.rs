//! A connection of the server: the state of the objects for its client, and the packets that are sent to the
//! client.
//!
//! *Invariant:* the state of an object for the client changes only through [`ObjectStates`], and packets are
//! sent only through the outbox.

mod alone;
mod backlog;
mod broadcast;
mod call_rights;
mod calls;
mod context;
mod held_calls;
mod large;
mod last_rights;
mod memory;
mod not_sent;
mod objects;
mod pass;
mod pauses;
mod priorities;
mod proxies;
mod resolve;
mod rest;
mod shares;
mod sleeping;
mod spawns;
mod statics;
mod subobjects;
mod tear_off;
mod unacked_calls;

use std::time::Duration;

use repl_core::__private::{preload, preload_all};
use repl_core::{BitReader, Changelist, HandleSet, PropertyIndex, ReadError};

use backlog::Backlog;
pub(crate) use context::{PassContext, PassScratch};
pub(crate) use held_calls::CallRoute;
use held_calls::HeldCalls;
use last_rights::LastRights;
use objects::{Closed, ObjectStates, View};
use shares::Shares;
use unacked_calls::UnackedCalls;

use crate::messages::exchange::{CheckedMessages, Exchange};
use crate::messages::mailbox::Mailbox;
use crate::server::cells::Group;
use crate::server::cells::area::{Position, Ring};
use crate::server::world::{Unneeded, World};
use crate::session::connection_id::ConnectionId;
use crate::session::disconnect::DisconnectReason;
use crate::session::time_budget::TimeBudget;
use crate::transport::ack_pace::AckPace;
use crate::transport::acks::{Arrival, Received};
use crate::transport::blob::Blobs;
use crate::transport::late::LateAcks;
use crate::transport::link::LinkHealth;
use crate::transport::message::{asks_for_ack, is_at_end, read_messages};
use crate::transport::outbox::{Limits, Outbox, PACKETS_PER_SECOND};
use crate::transport::packet::Header;
use crate::transport::rate_limit::RateLimit;
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::slots_of;

/// Everything that the server stores about one client.
pub(crate) struct Connection {
    id: ConnectionId,
    /// Whether a session has begun and has not ended, so that state is sent.
    is_live: bool,
    pub(crate) outbox: Outbox,
    /// The number of the first packet of this session. It is the same in both directions.
    first: Sequence,
    /// The client's packets that have arrived. The record of arrived packets is used to detect repeated and
    /// late packets, and to ack packets with messages.
    received: Received,
    pub(crate) link: LinkHealth,
    objects: ObjectStates,
    /// What waits because of the limits. `None` if everything fits, as on most connections.
    backlog: Option<Box<Backlog>>,
    blobs: Blobs,
    /// The content of packets that count as lost but may still be acked, without the values of updates.
    late: LateAcks,
    pub(crate) exchange: Exchange,
    /// The limit on the number of packets that the client may send in a second.
    packet_limit: RateLimit,
    /// The shares of messages and state in what is sent in each tick.
    shares: Shares,
    /// The remote calls that wait for their objects. `None` if no call waits.
    held_calls: Option<Box<HeldCalls>>,
    /// The remote calls for which removals wait. `None` before the first remote call.
    unacked_calls: Option<Box<UnackedCalls>>,
    /// The rights to calls on objects that were removed or torn off.
    last_rights: LastRights,
    /// The number of remote calls of the client that were ignored.
    pub(crate) ignored_calls: u32,
    /// For how long the client's remote calls may still run.
    pub(crate) call_time: TimeBudget,
    /// Decides in which ticks the client's messages are acked.
    ack_pace: AckPace,
}

impl Connection {
    pub(crate) fn new(
        id: ConnectionId,
        is_replay: bool,
        first: Sequence,
        limits: Limits,
        message_percent: u8,
        now: Duration,
    ) -> Self {
        Self {
            id,
            is_live: false,
            outbox: Outbox::new(first, limits),
            first,
            received: Received::default(),
            link: LinkHealth::new(now),
            objects: ObjectStates::new(id, is_replay),
            backlog: None,
            blobs: Blobs::default(),
            late: LateAcks::default(),
            exchange: Exchange::default(),
            packet_limit: RateLimit::receiving(PACKETS_PER_SECOND, 0, Duration::ZERO),
            shares: Shares::new(message_percent),
            held_calls: None,
            unacked_calls: None,
            last_rights: LastRights::default(),
            ignored_calls: 0,
            call_time: TimeBudget::default(),
            ack_pace: AckPace::default(),
        }
    }

    /// Preloads what the server reads and writes when a packet with acks arrives. Does not follow pointers to
    /// the heap.
    #[inline]
    pub(crate) fn preload_packet(&self) {
        preload(&self.first);
        preload_all(&self.received);
        preload_all(&self.link);
        preload_all(&self.exchange);
        preload_all(&self.packet_limit);
        preload_all(&self.ack_pace);
        self.outbox.preload_packet();
    }

    /// Preloads what [`declare_lost`](Self::declare_lost) reads if no packet is in flight.
    pub(crate) fn preload_losses(&self) {
        preload(&self.is_live);
        preload_all(&self.outbox.in_flight);
        preload_all(&self.link);
        self.objects.preload_sets();
    }

    /// Preloads what every pass reads, but no memory behind pointers.
    pub(crate) fn preload_pass(&self) {
        preload(&self.id);
        preload(&self.backlog);
        preload_all(&self.outbox);
        preload_all(&self.link);
        preload_all(&self.exchange);
        preload(&self.blobs);
        preload(&self.late);
        preload(&self.ack_pace);
        self.objects.preload_pass();
    }

    /// Preloads the lists that the next pass reads. The argument `reads_known` says whether it reads which
    /// objects are known. A client without a session is sent no objects, so that its lists are not read.
    pub(crate) fn preload_lists(&self, reads_known: bool) {
        if !self.is_live {
            return;
        }
        self.objects.preload_lists(reads_known);
        self.outbox.preload_lists();
        self.backlog.iter().for_each(|backlog| preload_all(&**backlog));
    }

    /// Preloads what the lists lead to. Call it some time after [`preload_lists`](Self::preload_lists).
    pub(crate) fn preload_next(&self) {
        if !self.is_live {
            return;
        }
        self.objects.preload_next();
        self.outbox.preload_next();
    }

    /// Returns how the client sees the objects.
    pub(crate) fn view(&self) -> &View {
        self.objects.view()
    }

    /// Returns whether the session has begun and not ended.
    pub(crate) fn is_live(&self) -> bool {
        self.is_live
    }

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

    /// Sets whether an object is hidden from the client, together with the objects that are attached to it.
    pub(crate) fn set_visible(&mut self, world: &mut World, slot: u32, visible: bool) {
        if visible {
            self.objects.unhide(slot);
        } else {
            let closed = self.objects.hide(slot, self.outbox.sequence());
            self.begin_close(world, slot, closed);
        }
        // Subobjects that are being torn off are not attached any more.
        let below = world.subobjects.with_descendants(slot);
        for slot in world.cells.with_attached(slot).into_iter().chain(below) {
            self.reconsider(world, slot);
        }
    }

    /// Sets the points from which the client sees. Returns whether it may have other objects in sight now.
    pub(crate) fn set_viewpoints(&mut self, world: &mut World, viewpoints: &[Position]) -> bool {
        let is_changed = self.objects.sight_mut().set_viewpoints(viewpoints, world.cells.tolerance());
        if is_changed {
            self.update_sight(world);
        }
        is_changed
    }

    /// Sets whether the client sees the objects of a group.
    pub(crate) fn set_member(&mut self, world: &mut World, group: Group, is_member: bool) {
        if !self.objects.sight_mut().set_member(group, is_member) {
            return;
        }
        self.update_sight(world);
        for slot in world.seen_by_group(group) {
            self.reconsider(world, slot);
        }
    }

    /// Returns whether the connection is in a group.
    pub(crate) fn is_member(&self, group: Group) -> bool {
        self.objects.is_in(group)
    }

    fn update_sight(&mut self, world: &mut World) {
        let World { cells, sight_scratch, .. } = world;
        let affected = self.objects.sight_mut().update(self.id, cells, sight_scratch);
        affected.into_iter().for_each(|slot| self.reconsider(world, slot));
    }

    /// Returns whether the client may have an object now.
    pub(crate) fn sees(&self, world: &World, slot: u32) -> bool {
        self.objects.sees(world, slot, self.view().ring_of(world, slot))
    }

    /// Shows an object to the client or removes it from the client. Called after a change that may decide
    /// whether the client sees the object.
    pub(crate) fn reconsider(&mut self, world: &mut World, slot: u32) {
        if !self.is_live {
            return;
        }
        let ring = self.view().ring_of(world, slot);
        if self.objects.sees(world, slot, ring) {
            self.pend_later(world, slot);
            self.show(world, slot, ring);
        } else {
            let closed = self.objects.conceal(slot, self.outbox.sequence());
            self.begin_close(world, slot, closed);
            let is_in_sight = ring == Some(Ring::InSight) && world.occupant(slot).alive;
            self.objects.set_unknown_in_sight(slot, is_in_sight);
        }
    }

    /// Makes the changes of an object pending that far connections receive later. They may be older than
    /// other changes that are pending, so elements in them may exist no more, or again: without these, the
    /// order in which the changes are merged makes no difference.
    fn pend_later(&mut self, world: &World, slot: u32) {
        if !self.objects.has_arrived(slot) {
            return;
        }
        for list in world.later.waiting(slot) {
            let mut list = list.clone();
            world.prune(slot, &mut list);
            self.pend_due(slot, &list);
        }
    }

    /// Decides whether the client takes the shared data of an object in a ring, and stores this. Returns
    /// `false` if the client does not receive the object, or if nothing of it was sent yet and the shared
    /// opening is still right.
    fn update_view(&mut self, world: &World, slot: u32, ring: Option<Ring>) -> bool {
        let is_shared = self.view().is_shared_now(world, slot, ring);
        if !is_shared && self.view().is_shared(slot) {
            // Bands do not delay the changes for a view of its own, so those that wait are sent now.
            self.pend_later(world, slot);
        }
        if is_shared && ring != Some(Ring::InSight) {
            self.objects.open_cell(world, slot);
        }
        self.objects.set_view(slot, is_shared)
    }

    /// Begins to send an object in `slot`, which is in a ring, to the client, which may have the object.
    fn show(&mut self, world: &mut World, slot: u32, ring: Option<Ring>) {
        self.review_distance(world, slot);
        self.update_view(world, slot, ring);
        let is_alone = world.opened_alone_in(slot as usize / 64) >> (slot % 64) & 1 == 1;
        if self.objects.show(slot, self.outbox.sequence(), is_alone) {
            world.compare_for_open(slot);
            self.stir_opened(world, slot as usize / 64, 1 << (slot % 64));
        }
    }

    /// Updates what the client may see of an object if the client has come near it or gone away. The last
    /// state of an object that is torn off is sent as the client saw the object before.
    fn review_distance(&mut self, world: &mut World, slot: u32) {
        let is_far = self.view().is_far_now(world, slot);
        if is_far != self.view().is_far(slot) && !self.view().is_tearing_off(slot) {
            let before = self.view().mask(world, slot);
            self.objects.set_far(slot, is_far);
            self.review(world, slot, &before);
        }
    }

    /// Handles the removal of an object from the server. Returns whether the client must still be told to
    /// remove the object.
    pub(crate) fn destroy(&mut self, world: &mut World, slot: u32) -> bool {
        let closed = self.objects.destroy(slot, self.outbox.sequence());
        self.begin_close(world, slot, closed);
        if world.paths.is_static(slot) {
            self.tell_destroyed(slot);
        }
        self.uses(slot)
    }

    /// Returns whether the client has an object in a slot, or will receive one.
    pub(crate) fn uses(&self, slot: u32) -> bool {
        self.objects.is_known(slot)
    }

    /// Begins to remove an object from the client, and frees what the connection no longer needs of it.
    fn begin_close(&mut self, world: &mut World, slot: u32, closed: Option<Closed>) {
        let unneeded = closed.map(|closed| self.stop_sending(world, slot, closed));
        unneeded.into_iter().flatten().for_each(|what| world.free(slot, what));
    }

    /// Releases the connection's position in the history of an object that is being closed, and stops sending
    /// the blob with this object. Returns what is no longer needed of the object.
    fn stop_sending(
        &mut self,
        world: &World,
        slot: u32,
        closed: Closed,
    ) -> impl Iterator<Item = Unneeded> + use<> {
        let Closed { position, blob, is_forgotten } = closed;
        if let Some(blob) = blob {
            self.blobs.abandon(blob);
        }
        let history = Self::release_position(world, slot, position, None);
        history.into_iter().chain(is_forgotten.then_some(Unneeded::Slot))
    }

    /// Deletes the state of an object that the client no longer has. No packet in flight can change the state
    /// of an object that the client has removed.
    fn forget(&mut self, world: &mut World, slot: u32) {
        let reopen = self.objects.forget(slot);
        let is_alive = world.occupant(slot).alive;
        if !is_alive {
            self.objects.forget_path(slot);
        }
        self.last_rights.forget(slot);
        world.release(slot);
        if reopen && is_alive {
            let ring = self.view().ring_of(world, slot);
            self.show(world, slot, ring);
        }
    }

    /// Releases the connection's `position` in the history of an object, if the connection has one. If
    /// `missed` is given, adds to it the changes that the connection has not sent yet. If this was the last
    /// connection with a position in the history of the object, returns that the history is not needed.
    fn release_position(
        world: &World,
        slot: u32,
        position: Option<u64>,
        missed: Option<&mut Changelist>,
    ) -> Option<Unneeded> {
        let (position, object) = (position?, &world.objects[slot as usize]);
        if let Some(missed) = missed {
            object.history.gather(position, missed);
        }
        object.remove_laggard().then_some(Unneeded::History)
    }

    /// Postpones the changes of this tick of an object: stores the connection's position in the history of
    /// the object, if the client has or receives the object.
    fn postpone(&mut self, slot: u32, world: &World) {
        if self.objects.is_behind(slot) {
            self.objects.must_send(slot);
            return;
        }
        if !self.objects.takes_changes(slot) {
            return;
        }
        let mut changed = world.changes.list(slot).cloned().unwrap_or_default();
        if world.conditions(slot).is_conditional() {
            changed.retain(&self.view().mask(world, slot));
        }
        let object = &world.objects[slot as usize];
        self.objects.fall_behind(slot, object.history.end(), changed);
        object.add_laggard();
    }

    /// Switches a property with a custom condition on or off for this connection alone.
    pub(crate) fn switch_custom(
        &mut self,
        world: &mut World,
        slot: u32,
        property: PropertyIndex,
        active: bool,
    ) {
        let before = self.view().mask(world, slot);
        self.objects.switch(world.conditions(slot), slot, property, active);
        self.review(world, slot, &before);
    }

    /// Updates what this connection may see of an object, after conditions of the object have changed. The
    /// argument `before` is the mask of the properties that the connection could see before (S42).
    pub(crate) fn review(&mut self, world: &mut World, slot: u32, before: &HandleSet) {
        let ring = self.view().ring_of(world, slot);
        if !self.update_view(world, slot, ring) {
            return;
        }
        if self.objects.cancel_owed(world, slot) {
            self.withdraw_blob(world, slot);
        }
        let after = self.view().mask(world, slot);
        if *before != after {
            self.change_view(world, slot, before, &after);
        } else {
            self.review_opening(world, slot);
        }
        self.objects.update_step(slot);
    }

    /// Drops a blob with the opening of an object if the connection may no longer see some of the properties
    /// in the blob. A mask for an object that the client already has never contains the properties that are
    /// only in openings, so a comparison of masks does not find them (R15).
    fn review_opening(&mut self, world: &mut World, slot: u32) {
        let Some(id) = self.objects.get(slot).and_then(|tracked| tracked.blob) else { return };
        let visible = self.objects.opening_mask(world, slot);
        if self.blobs.opens_with(id).is_some_and(|handles| !handles.is_subset(&visible)) {
            self.withdraw_blob(world, slot);
        }
    }

    fn change_view(&mut self, world: &mut World, slot: u32, before: &HandleSet, after: &HandleSet) {
        // The client lacks what waits for its band, so it does not count as seen.
        self.pend_later(world, slot);
        let conditions = world.conditions(slot);
        let properties = (0..world.column_of(slot).program().layout().properties()).map(PropertyIndex::new);
        let changed = properties.filter_map(|property| {
            let handles = conditions.handles_of(property);
            let first = handles.iter().next()?;
            let is_gained = after.contains(first);
            (before.contains(first) != is_gained).then_some((property, handles.clone(), is_gained))
        });
        let changed_at = |property| world.objects[slot as usize].changed_at(property);
        let Some(lacking) = self.objects.change_view(slot, world.frame, changed, changed_at) else { return };
        self.objects.add_pending(slot, &world.whole(slot, &lacking));
        // The old bytes of the blob would reveal values that the client may no longer see (R15).
        self.withdraw_blob(world, slot);
    }

    /// Returns the newest packet of state from the client. The 16-bit numbers of packets are read relative to
    /// the number of the newest received packet.
    pub(crate) fn newest_received(&self) -> Sequence {
        self.received.newest().unwrap_or(self.first)
    }

    /// Reads the rest of the packet of state `sequence` from the client, which follows the packet's number. A
    /// packet of state from a client contains only acks and messages. Returns whether the packet is new.
    ///
    /// # Errors
    /// Returns an error if the packet is malformed. After an error, the caller must end the connection.
    #[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
    pub(crate) fn receive(
        &mut self,
        world: &mut World,
        mailbox: &mut Mailbox<ConnectionId>,
        sequence: Sequence,
        reader: &mut BitReader<'_>,
        now: Duration,
    ) -> Result<bool, DisconnectReason> {
        // A packet that is too old must have no effect, so its age is checked before its acks are read.
        let arrival = self.received.check(sequence);
        if arrival == Arrival::TooOld {
            return Ok(false);
        }
        if arrival == Arrival::New && !self.packet_limit.take(now) {
            return Err(DisconnectReason::TooFast("packets".to_owned()));
        }
        let protocol = |error: ReadError| DisconnectReason::Protocol(error.to_string());
        let (header, acks) =
            Header::read(reader, sequence, self.outbox.sequence(), false).map_err(protocol)?;
        if arrival == Arrival::Duplicate {
            if asks_for_ack(reader).map_err(protocol)? {
                self.ack_pace.schedule_acks();
            }
            return Ok(false);
        }
        if let Some(floor) = header.floor {
            self.received.forget_below(floor);
        }
        let messages = self.read_messages(mailbox, reader).map_err(protocol)?;
        self.received.insert(sequence);
        self.ack_pace.arrived(sequence);
        self.acked(world, acks, now);
        self.unsettle_calls();
        if !messages.is_empty() {
            self.ack_pace.schedule_acks();
            self.exchange.deliver(messages, self.id, mailbox, world, now)?;
        }
        Ok(true)
    }

    /// Reads and checks the messages of a packet of the client. A client sends no state (S106).
    #[cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]
    fn read_messages<'b>(
        &self,
        mailbox: &mut Mailbox<ConnectionId>,
        reader: &mut BitReader<'b>,
    ) -> Result<CheckedMessages<'b>, ReadError> {
        if reader.read_flag()? {
            return Err(ReadError::OutOfRange);
        }
        if is_at_end(reader) {
            // Most packets have only acks.
            return Ok(CheckedMessages::default());
        }
        self.exchange.check(read_messages(reader, mailbox.len())?, mailbox)
    }
}
