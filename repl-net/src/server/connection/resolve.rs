//! Handles acks and losses of packets (R4, R9).
//!
//! *Invariant:* a loss makes pending only what was lost and not sent since. Values are read when they are
//! sent again (S79).

use std::num::NonZeroU32;
use std::time::Duration;

use repl_core::{Changelist, HandleSet};

use super::Connection;
use super::lost_list::LostList;
use crate::server::tracked::Phase;
use crate::server::world::World;
use crate::transport::acks::{AckRange, AckRanges};
use crate::transport::in_flight::{Content, Contents, Delivery, LostObject, Sent};
use crate::transport::late::Late;
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::slots_of;

/// The least time to wait for a packet after a later one was acked. Packets of neighbouring ticks are often
/// reordered.
const LEAST_REORDER_WAIT: Duration = Duration::from_millis(10);

/// How often a link that does not answer is retried (R9).
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

impl Connection {
    /// Processes the acks of a packet.
    pub(super) fn acked(&mut self, world: &mut World, acks: AckRanges<'_>, now: Duration) {
        let mut newest = None;
        for range in acks {
            newest = newest.max(Some(range.last));
            self.acked_late(world, range);
            let mut sequence = range.first.max(self.outbox.in_flight.floor());
            while sequence <= range.last {
                if let Some(bytes) = self.outbox.in_flight.resolve(sequence, Delivery::Arrived) {
                    if let Some(congestion) = &mut self.outbox.congestion {
                        congestion.arrived(sequence, bytes);
                    }
                    self.timeouts = 0;
                    self.arrived(world, sequence);
                }
                sequence = sequence.next();
            }
        }
        let Some(newest) = newest else { return };
        if let Some(congestion) = &mut self.outbox.congestion {
            congestion.acked(newest, now);
        }
        if let Some(elapsed) = self.outbox.send_times.take(newest, now) {
            self.round_trip.sample(elapsed);
        }
        self.newest_acked = self.newest_acked.max(Some(newest));
        self.outbox.in_flight.trim();
    }

    /// Processes acks of packets that counted as lost. They still show which objects were opened or closed,
    /// and which part of a blob arrived (R4). Otherwise nothing that takes a round trip would end where round
    /// trips are longer than the timeout. Packets are given up in ascending order, so the entries of a range
    /// are contiguous: O(log entries) if there are none.
    fn acked_late(&mut self, world: &mut World, range: AckRange) {
        for (sequence, late) in self.late.take(range) {
            match late {
                Late::Sent(sent) => {
                    self.proxy_arrived(world, sequence, &sent);
                    self.content_arrived(world, sequence, sent.slot, sent.generation, &sent.content);
                }
                Late::Opened(word, mask) => self.newcomers_arrived(world, sequence, word, mask),
                Late::Closed(word, mask) => self.closings_arrived(world, sequence, word, mask),
            }
        }
    }

    fn arrived(&mut self, world: &mut World, sequence: Sequence) {
        let Some(contents) = self.outbox.in_flight.take_contents(sequence) else { return };
        for segment in contents.shared.iter().filter(|segment| segment.has_births) {
            for entry in segment.entries.iter().filter(|entry| entry.list.has_births()) {
                self.list_arrived(world, sequence, entry.slot, entry.generation, &entry.list);
            }
        }
        contents.opened.iter().for_each(|(word, mask)| self.newcomers_arrived(world, sequence, *word, *mask));
        for sent in &contents.sent {
            self.proxy_arrived(world, sequence, sent);
            self.content_arrived(world, sequence, sent.slot, sent.generation, &sent.content);
        }
        contents.closed.iter().for_each(|(word, mask)| self.closings_arrived(world, sequence, *word, *mask));
        self.outbox.in_flight.put_contents(sequence, contents);
    }

    /// Whether the packet closes the object in its current phase, and not when it was open before.
    fn is_closing(&self, sequence: Sequence, slot: u32) -> bool {
        self.tracked
            .get(slot)
            .is_some_and(|tracked| matches!(tracked.phase, Phase::Closing(_)) && tracked.since <= sequence)
    }

    /// Notes that a packet with closes arrived: the client has removed the objects.
    fn closings_arrived(&mut self, world: &mut World, sequence: Sequence, word: usize, mask: u64) {
        for slot in slots_of(word, mask & self.known.word(word)) {
            if self.is_closing(sequence, slot) {
                debug_assert!(
                    self.tracked.get(slot).map(|tracked| tracked.generation)
                        == world.objects.get(slot as usize).map(|object| object.generation),
                    "a slot is not used again before the end of its object is acknowledged (R17)"
                );
                self.forget(world, slot);
            }
        }
    }

    /// Notes that a packet with closes was lost: objects that no later packet closes must be closed again.
    fn closings_lost(&mut self, sequence: Sequence, word: usize, mask: u64) {
        for slot in slots_of(word, mask & self.known.word(word)) {
            if self.is_closing(sequence, slot) && !self.is_carried_later(sequence, slot) {
                self.needs.insert(slot);
            }
        }
    }

    /// Whether a packet after `sequence` also carries the opening or close of the object. O(1).
    fn is_carried_later(&self, sequence: Sequence, slot: u32) -> bool {
        self.tracked.get(slot).is_some_and(|tracked| tracked.carried > sequence)
    }

    pub(super) fn is_current(&self, world: &World, slot: u32, generation: NonZeroU32) -> bool {
        self.known.contains(slot)
            && world.objects.get(slot as usize).is_some_and(|object| object.generation == generation)
    }

    fn list_arrived(
        &mut self,
        world: &World,
        sequence: Sequence,
        slot: u32,
        generation: NonZeroU32,
        list: &Changelist,
    ) {
        if !self.is_current(world, slot, generation) {
            return;
        }
        if let Some(tracked) = self.tracked.get_mut(slot) {
            tracked.births_arrived(sequence, list);
            self.settle(world, slot);
        }
    }

    pub(super) fn content_arrived(
        &mut self,
        world: &mut World,
        sequence: Sequence,
        slot: u32,
        generation: NonZeroU32,
        content: &Content,
    ) {
        match content {
            Content::Update(list) => self.list_arrived(world, sequence, slot, generation, list),
            Content::Proxy => {
                if self.is_current(world, slot, generation) && self.tracked.get(slot).is_some() {
                    self.settle(world, slot);
                }
            }
            Content::Open(list) => {
                if !self.is_current(world, slot, generation) {
                    return;
                }
                if let Some(tracked) = self.tracked.get_mut(slot)
                    && tracked.phase == Phase::Opening
                    && tracked.since <= sequence
                {
                    tracked.phase = Phase::Open;
                    if tracked.lacks_something() {
                        self.needs.insert(slot);
                    }
                }
                self.list_arrived(world, sequence, slot, generation, list);
            }
            Content::Fragment { blob, index } => {
                let Some(blob) = self.blobs.arrived(*blob, *index) else { return };
                if let Some(tracked) = self.tracked.get_mut(slot)
                    && tracked.blob == Some(blob.id)
                {
                    tracked.blob = None;
                    if tracked.lacks_something() {
                        self.needs.insert(slot);
                    }
                }
                // All that was sent of the object before is older than the blob, or part of it.
                self.content_arrived(world, self.outbox.next(), slot, generation, &blob.content);
            }
        }
    }

    /// Gives up packets that took too long: those overtaken by an acked packet for longer than reordering
    /// takes, and all that are older than the timeout (R9).
    ///
    /// Called before a comparison, so that an object whose opening was lost is compared for the next one
    /// (S40).
    pub(crate) fn give_up_lost(&mut self, world: &mut World, now: Duration) {
        if !self.is_live {
            return;
        }
        if self.outbox.in_flight.unresolved() == 0 && self.timeouts < 2 {
            // No packet can be late, and no silent link must be retried.
            return;
        }
        let timeout = self.round_trip.retry_timeout(self.timeouts);
        let reorder_wait = self.round_trip.smoothed()
            + (self.round_trip.deviation() * 2).max(LEAST_REORDER_WAIT).min(timeout);
        let mut timed_out = false;
        let mut overdue = Vec::new();
        for (sequence, sent_at) in self.outbox.in_flight.unknown() {
            let age = now.saturating_sub(sent_at);
            let is_overtaken = self.newest_acked.is_some_and(|newest| newest > sequence);
            let is_late = age >= timeout;
            if !(is_late || is_overtaken && age >= reorder_wait) {
                break;
            }
            timed_out |= is_late && !is_overtaken;
            overdue.push(sequence);
        }
        overdue.into_iter().for_each(|sequence| self.lost(world, sequence));
        self.fold_lost(world);
        // Not earlier: lost lists are compared with all packets sent since.
        self.outbox.in_flight.trim();
        if timed_out {
            self.timeouts += 1;
        }
        self.retry(world, now);
    }

    /// On a link that has not answered for long, sends again what has been in flight for long, even before
    /// its timeout (R9). It repeats only what the next step waits for and what any of several acks confirms.
    /// Changes are not repeated: each copy would need its own ack.
    fn retry(&mut self, world: &mut World, now: Duration) {
        if self.timeouts < 2 || now.saturating_sub(self.last_retry) < RETRY_INTERVAL {
            return;
        }
        self.last_retry = now;
        let start = now.saturating_sub(RETRY_INTERVAL);
        let unknown = self.outbox.in_flight.unknown();
        let old: Vec<Sequence> =
            unknown.filter(|(_, sent_at)| *sent_at <= start).map(|(sequence, _)| sequence).collect();
        for sequence in old {
            let Some(contents) = self.outbox.in_flight.take_contents(sequence) else { continue };
            for sent in &contents.sent {
                if matches!(sent.content, Content::Fragment { .. }) {
                    self.content_lost(world, sequence, sent.slot, sent.generation, &sent.content);
                }
            }
            contents.closed.iter().for_each(|(word, mask)| self.closings_lost(sequence, *word, *mask));
            self.outbox.in_flight.put_contents(sequence, contents);
        }
    }

    fn lost(&mut self, world: &mut World, sequence: Sequence) {
        let Some(bytes) = self.outbox.in_flight.resolve(sequence, Delivery::Lost) else { return };
        if let Some(congestion) = &mut self.outbox.congestion {
            congestion.lost(sequence, bytes);
        }
        self.packets_lost += 1;
        let Some(mut contents) = self.outbox.in_flight.take_contents(sequence) else { return };
        self.contents_lost(world, sequence, &mut contents);
        self.late.add(sequence, &contents);
        self.outbox.in_flight.put_contents(sequence, contents);
    }

    /// Makes what a packet carried pending, except for what a later packet carries. The packet's own update
    /// lists are moved out.
    fn contents_lost(&mut self, world: &mut World, sequence: Sequence, contents: &mut Contents) {
        for entry in contents.shared.iter().flat_map(|segment| &segment.entries) {
            self.list_lost(world, sequence, entry.slot, entry.generation, entry.list.clone());
        }
        contents.opened.iter().for_each(|(word, mask)| self.newcomers_lost(world, sequence, *word, *mask));
        contents.closed.iter().for_each(|(word, mask)| self.closings_lost(sequence, *word, *mask));
        for Sent { slot, generation, content } in &mut contents.sent {
            match content {
                Content::Update(list) => {
                    self.list_lost(world, sequence, *slot, *generation, std::mem::take(list));
                }
                content => self.content_lost(world, sequence, *slot, *generation, content),
            }
        }
    }

    pub(super) fn content_lost(
        &mut self,
        world: &mut World,
        sequence: Sequence,
        slot: u32,
        generation: NonZeroU32,
        content: &Content,
    ) {
        match content {
            Content::Update(list) => self.list_lost(world, sequence, slot, generation, list.clone()),
            Content::Open(list) => {
                if !self.is_current(world, slot, generation) {
                    return;
                }
                let since = self.tracked.get(slot).map(|tracked| (tracked.phase, tracked.since));
                if let Some((Phase::Opening, since)) = since {
                    if sequence < since {
                        return;
                    }
                    // A blob contains it too, but the blob may be dropped while the client has the object by
                    // an earlier opening.
                    self.proxy_lost(world, sequence, slot, generation);
                } else {
                    self.list_lost(world, sequence, slot, generation, list.clone());
                    self.proxy_lost(world, sequence, slot, generation);
                    return;
                }
                // A blob may have begun without room for any of its parts. It still counts as an opening in
                // flight.
                let has_blob = self.tracked.get(slot).is_some_and(|tracked| tracked.blob.is_some());
                if !has_blob && !self.is_carried_later(sequence, slot) {
                    let tracked = self.tracked.open(slot, generation);
                    tracked.phase = Phase::Unsent;
                    self.needs.insert(slot);
                    world.compare_for_open(slot);
                }
            }
            Content::Proxy => self.proxy_lost(world, sequence, slot, generation),
            Content::Fragment { blob, index } => self.blobs.lost(*blob, *index),
        }
    }

    /// Collects a lost list for the next [fold](Self::fold_lost), which makes pending what was not sent
    /// since.
    fn list_lost(
        &mut self,
        world: &World,
        sequence: Sequence,
        slot: u32,
        generation: NonZeroU32,
        list: Changelist,
    ) {
        let phase = self.tracked.get(slot).map_or(Phase::Open, |tracked| tracked.phase);
        if self.is_current(world, slot, generation) && matches!(phase, Phase::Open | Phase::Opening) {
            self.lost.push(LostList { sequence, slot, list });
        }
    }

    /// Makes lost lists pending. All packets that were given up together are handled at once, so the packets
    /// sent since and the pending lists are searched only once.
    fn fold_lost(&mut self, world: &World) {
        let mut lost = std::mem::take(&mut self.lost);
        if lost.is_empty() {
            return;
        }
        // The sort is stable: the lists of one object stay in the order of loss.
        lost.sort_by_key(|lost| lost.slot);
        let mut objects: Vec<LostObject> = Vec::new();
        for LostList { sequence, slot, list } in lost {
            if objects.last().is_none_or(|last| last.slot != slot) {
                objects.push(LostObject::new(slot, world.objects[slot as usize].generation));
            }
            if let Some(object) = objects.last_mut() {
                object.lists.push_back((sequence, list));
            }
        }
        self.outbox.in_flight.set_off(&mut objects);
        for object in objects {
            let slot = object.slot;
            let list = object.into_list();
            if !list.is_empty() {
                let mask = self.mask(world, slot);
                self.put_back(world, slot, list, &mask);
            }
        }
    }

    /// Makes a list pending, as far as the connection may see it. The rest is noted as lacking, for when it
    /// may see it again.
    fn put_back(&mut self, world: &World, slot: u32, mut list: Changelist, mask: &HandleSet) {
        let object = &world.objects[slot as usize];
        let tracked = self.tracked.open(slot, object.generation);
        // The client has the object, so its collections were reset already and may have items. Do not reset
        // them again.
        list.soften();
        let mut hidden = Changelist::new();
        list.split(mask, &mut hidden);
        for handle in hidden.handles().iter() {
            if let Some(property) = world.lifetime(slot).property_of(handle) {
                tracked.set_left(property, 0);
            }
        }
        let column = world.column_of(slot);
        column.prune(object.row, &mut list);
        column.prune(object.row, &mut tracked.pending);
        // The pending list is newer, so it wins.
        list.merge(&tracked.pending);
        tracked.pending = list;
        self.apart.insert(slot);
        self.needs.insert(slot);
    }

    /// Handles a blob that was dropped: its content is pending again, or the object unsent.
    pub(super) fn take_back(&mut self, world: &mut World, slot: u32, content: Content, mask: &HandleSet) {
        match content {
            Content::Update(list) => {
                self.put_back(world, slot, list, mask);
            }
            // The client has the object by an earlier opening.
            Content::Open(list)
                if self.tracked.get(slot).is_none_or(|tracked| tracked.phase == Phase::Open) =>
            {
                self.put_back(world, slot, list, mask);
            }
            Content::Open(_) => {
                if let Some(tracked) = self.tracked.get_mut(slot) {
                    tracked.phase = Phase::Unsent;
                }
                self.needs.insert(slot);
                world.compare_for_open(slot);
            }
            Content::Proxy | Content::Fragment { .. } => {}
        }
    }
}
