//! Handles acks and losses of packets (R4, R9).
//!
//! *Invariant:* after a loss, a change becomes pending only if all later packets that contain it were
//! declared lost, too. When a change is sent again, its value is read from the shadow again (S79).

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use repl_core::Changelist;

use super::Connection;
use super::objects::LostOpening;
use crate::server::world::World;
use crate::transport::acks::{AckRange, AckRanges};
use crate::transport::entry_lists::EncodedEntry;
use crate::transport::in_flight::{Content, Contents, LostObject, Sent};
use crate::transport::late::Late;
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::slots_of;

/// The packets that are declared lost together.
struct Losses<'a> {
    world: &'a mut World,
    /// The number of the packet that is being declared lost.
    sequence: Sequence,
    /// The lost changes of each object.
    objects: BTreeMap<u32, LostObject>,
}

impl Connection {
    /// Processes the acks in a packet from the client.
    pub(super) fn acked(&mut self, world: &mut World, acks: AckRanges<'_>, now: Duration) {
        let mut newest = None;
        for range in acks {
            newest = newest.max(Some(range.last));
            if let Some(elapsed) = self.outbox.arrived_late(range, now) {
                self.link.acked_late(elapsed);
            }
            self.exchange.outgoing.arrived_late(range);
            self.acked_late(world, range);
            let mut sequence = range.first.max(self.outbox.in_flight.floor());
            while sequence <= range.last {
                if self.outbox.arrived(sequence) {
                    self.link.timeouts = 0;
                    self.arrived(world, sequence);
                }
                sequence = sequence.next();
            }
        }
        if let Some(newest) = newest {
            self.link.acked(newest, self.outbox.acked(newest, now));
        }
    }

    /// Processes acks of packets that counted as lost. Late acks still show which objects the client has
    /// created or removed, and which part of a blob arrived (R4). If late acks had no effect, nothing that
    /// takes a round trip could finish on links whose round trips are longer than the timeout. Packets are
    /// declared lost in the order of their numbers, so the recorded contents of a range of packets are
    /// contiguous. If nothing is recorded for a range, the cost is O(log entries).
    fn acked_late(&mut self, world: &mut World, range: AckRange) {
        for (sequence, late) in self.late.take(range) {
            match late {
                Late::Sent(sent) => self.sent_arrived(world, sequence, &sent),
                Late::Opened(word, mask) => {
                    self.objects.openings_arrived(sequence, word, mask);
                    let statics = mask & world.paths.in_word(word);
                    slots_of(word, statics).for_each(|slot| self.path_arrived_late(world, slot, sequence));
                }
                Late::Closed(word, mask) => self.closes_arrived(world, sequence, word, mask),
            }
        }
    }

    /// Records that a packet has arrived. Costs O(1) if nothing waits for its ack, and otherwise O(contents).
    fn arrived(&mut self, world: &mut World, sequence: Sequence) {
        if !self.outbox.in_flight.is_awaited(sequence) {
            return;
        }
        let Some(contents) = self.outbox.in_flight.take_contents(sequence) else { return };
        let shared = contents.shared.iter().filter(|segment| segment.has_new_elements());
        let copied = contents.copied.has_new_elements().then(|| contents.copied.entries());
        let entries = shared.flat_map(|segment| segment.entries()).chain(copied.into_iter().flatten());
        for EncodedEntry { slot, generation, list } in entries.filter(|entry| entry.list.has_new_elements()) {
            if self.is_current(world, slot, generation) {
                self.objects.list_arrived(slot, sequence, list);
            }
        }
        for (word, mask) in &contents.opened {
            self.objects.openings_arrived(sequence, *word, *mask);
        }
        contents.sent.iter().for_each(|sent| self.sent_arrived(world, sequence, sent));
        contents.closed.iter().for_each(|(word, mask)| self.closes_arrived(world, sequence, *word, *mask));
        self.exchange.outgoing.arrived(&contents.messages);
        self.outbox.in_flight.put_contents(sequence, contents);
    }

    /// Records that a packet with closings has arrived, so that the client has removed the objects of `mask`.
    fn closes_arrived(&mut self, world: &mut World, sequence: Sequence, word: usize, mask: u64) {
        for slot in slots_of(word, mask) {
            if self.objects.is_closing(slot, sequence) {
                self.forget(world, slot);
            }
        }
    }

    fn is_current(&self, world: &World, slot: u32, generation: NonZeroU32) -> bool {
        self.objects.is_known(slot)
            && world.occupants().get(slot as usize).is_some_and(|occupant| occupant.generation == generation)
    }

    /// Records that a packet with content about one object has arrived, or was acked late.
    fn sent_arrived(&mut self, world: &World, sequence: Sequence, sent: &Sent) {
        if let Content::Proxy | Content::Open(_) = sent.content
            && self.is_current(world, sent.slot, sent.generation)
        {
            self.objects.proxy_arrived(sent.slot, sequence);
        }
        self.content_arrived(world, sequence, sent);
    }

    fn content_arrived(&mut self, world: &World, sequence: Sequence, sent: &Sent) {
        let slot = sent.slot;
        match &sent.content {
            Content::Fragment { blob, index } => {
                let Some(blob) = self.blobs.arrived(*blob, *index) else { return };
                self.objects.blob_arrived(slot, blob.id);
                // All earlier packets about the object are older than the blob or contain a part of it.
                self.content_arrived(world, self.outbox.sequence(), &blob.sent);
            }
            _ if !self.is_current(world, slot, sent.generation) => {}
            Content::Update(list) => self.objects.list_arrived(slot, sequence, list),
            Content::Proxy => self.objects.update_step(slot),
            Content::Open(list) => {
                self.objects.opening_arrived(slot, sequence, list);
                self.path_arrived(world, slot);
            }
        }
    }

    /// Declares those packets lost that should have been acked by now. These are packets that are older than
    /// the timeout, and packets that were sent so long before an acked packet that reordering on the link
    /// cannot explain the missing ack (R9).
    ///
    /// This function is called before the comparison of a tick, so that an object whose opening was lost is
    /// compared for the next opening (S40).
    pub(crate) fn declare_lost(&mut self, world: &mut World, now: Duration) {
        if !self.is_live || self.outbox.in_flight.unresolved() == 0 && !self.link.is_silent() {
            // If no packet waits for an ack and the link answers, no packet is overdue, and no link must be
            // tried again.
            return;
        }
        let (overdue, has_timed_out) =
            self.link.overdue(self.outbox.in_flight.unknown(), self.outbox.binding, now);
        let mut losses = Losses { world, sequence: Sequence::default(), objects: BTreeMap::new() };
        for sequence in overdue {
            losses.sequence = sequence;
            self.lost(&mut losses);
        }
        self.fold_lost(losses);
        // The records are dropped last, because lost changelists are compared with the records of all later
        // packets.
        self.outbox.in_flight.trim();
        self.link.timeouts += u32::from(has_timed_out);
        if let Some(sent_by) = self.link.begin_retry(self.outbox.binding, now) {
            self.retry(sent_by);
        }
    }

    /// Sends data again that was sent by the time `sent_by` and may still arrive, even before its timeout
    /// (R9). This function is called if the link has not answered for a long time. It repeats only data on
    /// which the next step depends, and for which the ack of any copy is enough. Changes are not repeated,
    /// because each copy would need its own ack.
    fn retry(&mut self, sent_by: Duration) {
        self.exchange.outgoing.retry(&self.outbox.in_flight, sent_by);
        for (sequence, contents) in self.outbox.in_flight.sent_by(sent_by) {
            for sent in &contents.sent {
                if let Content::Fragment { blob, index } = sent.content {
                    self.blobs.lost(blob, index, sequence);
                }
            }
            for (word, mask) in &contents.closed {
                self.objects.closes_lost(sequence, *word, *mask);
            }
        }
    }

    fn lost(&mut self, losses: &mut Losses<'_>) {
        let sequence = losses.sequence;
        if !self.outbox.lost(sequence) {
            return;
        }
        self.link.packets_lost += 1;
        let Some(mut contents) = self.outbox.in_flight.take_contents(sequence) else { return };
        self.contents_lost(losses, &mut contents);
        self.exchange.outgoing.lost(sequence, &contents.messages);
        self.late.add(sequence, &contents);
        self.outbox.in_flight.put_contents(sequence, contents);
    }

    /// Makes the content of a lost packet pending, except for content that a later packet also contains. The
    /// changelists of updates that were sent to this connection alone are moved out of `contents`, and the
    /// others are copied.
    fn contents_lost(&mut self, losses: &mut Losses<'_>, contents: &mut Contents) {
        let shared = contents.shared.iter().flat_map(|segment| segment.entries());
        for EncodedEntry { slot, generation, list } in shared.chain(contents.copied.entries()) {
            self.list_lost(losses, slot, generation, list.clone());
        }
        contents.opened.iter().for_each(|(word, mask)| self.spawns_lost(losses, *word, *mask));
        for (word, mask) in &contents.closed {
            self.objects.closes_lost(losses.sequence, *word, *mask);
        }
        for Sent { slot, generation, content } in &mut contents.sent {
            match content {
                Content::Update(list) => self.list_lost(losses, *slot, *generation, std::mem::take(list)),
                Content::Fragment { blob, index } => self.blobs.lost(*blob, *index, losses.sequence),
                _ if !self.is_current(losses.world, *slot, *generation) => {}
                Content::Proxy => self.objects.proxy_lost(*slot, losses.sequence),
                Content::Open(list) if self.opening_lost(losses, *slot) => {
                    self.list_lost(losses, *slot, *generation, list.clone());
                }
                Content::Open(_) => {}
            }
        }
    }

    /// Records that a packet with the openings of pending spawns was lost. From now on the objects of the
    /// lost openings are tracked objects.
    fn spawns_lost(&mut self, losses: &mut Losses<'_>, word: usize, mask: u64) {
        for slot in slots_of(word, self.objects.spawns_in(word, mask)) {
            self.objects.leave_spawns(slot);
            if self.opening_lost(losses, slot) {
                let (world, object) = (&*losses.world, &losses.world.objects[slot as usize]);
                // If it was the smaller opening for far connections, a few values are sent again.
                let handles = object.shared_opening(world.conditions(slot), false);
                let (generation, list) = (world.occupant(slot).generation, world.whole(slot, &handles));
                self.list_lost(losses, slot, generation, list);
            }
        }
    }

    /// Records that a packet with the opening of an object was lost. Returns whether the client may lack the
    /// values of the opening.
    fn opening_lost(&mut self, losses: &mut Losses<'_>, slot: u32) -> bool {
        let lost = self.objects.opening_lost(slot, losses.sequence);
        if lost == LostOpening::Unsent {
            losses.world.compare_for_open(slot);
        }
        lost == LostOpening::Values
    }

    /// Collects a changelist that was lost with its packet. [`fold_lost`](Self::fold_lost) later makes the
    /// changes pending that no later packet contains.
    fn list_lost(&self, losses: &mut Losses<'_>, slot: u32, generation: NonZeroU32, list: Changelist) {
        if self.is_current(losses.world, slot, generation) && self.objects.takes_changes(slot) {
            let object = losses.objects.entry(slot).or_insert_with(|| LostObject::new(slot, generation));
            object.lists.push_back((losses.sequence, list));
        }
    }

    /// Makes the changes in lost changelists pending. The lost changelists of all packets that were declared
    /// lost together are handled in one step, so later packets and pending changelists are searched only one
    /// time.
    fn fold_lost(&mut self, losses: Losses<'_>) {
        let Losses { world, objects, .. } = losses;
        let mut objects: Vec<LostObject> = objects.into_values().collect();
        self.outbox.in_flight.subtract_later(&mut objects);
        for object in objects {
            let slot = object.slot;
            let list = object.into_list();
            if !list.is_empty() {
                self.make_pending(world, slot, list);
            }
        }
    }
}
