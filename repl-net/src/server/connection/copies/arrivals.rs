//! Handles acks of packets: records which data of objects the client has received (R4).
//!
//! *Invariant:* the ack of a packet changes no state of an object if the packet was about an earlier object
//! in the same slot (R18).

use repl_link::parts::{Acked, Sequence};

use super::Copies;
use super::bases::Carrier;
use crate::body::State;
use crate::body::contents::{Cohort, Content, Contents, Late, Sent};
use crate::body::entry_lists::EncodedEntry;
use crate::body::slot_set::{bit_of, slots_of, word_of};
use crate::server::world::World;

impl Copies {
    pub(crate) fn acked(&mut self, world: &mut World, acked: Acked<'_, State>) {
        match acked {
            Acked::Arrived(sequence, contents) => self.arrived(world, sequence, contents),
            Acked::Late(sequence, late) => self.arrived_late(world, sequence, late),
        }
    }

    fn arrived(&mut self, world: &mut World, sequence: Sequence, contents: &Contents) {
        self.bases.arrived(Carrier::Packet(sequence), &world.revisions);
        let shared = contents.shared.iter().filter(|segment| segment.has_new_elements());
        let copied = contents.copied.has_new_elements().then(|| contents.copied.entries());
        let entries = shared.flat_map(|segment| segment.entries()).chain(copied.into_iter().flatten());
        for EncodedEntry { slot, generation, list } in entries.filter(|entry| entry.list.has_new_elements()) {
            if self.is_current(world, slot, generation) {
                self.objects.list_arrived(slot, sequence, list);
            }
        }
        for opened in &contents.opened {
            self.note_openings(world, *opened);
            self.objects.openings_arrived(sequence, opened.word, world.store.still_there(*opened));
        }
        contents.sent.iter().for_each(|sent| self.sent_arrived(world, sequence, sent));
        contents.closed.iter().for_each(|closed| self.closes_arrived(world, sequence, *closed));
    }

    /// Handles the ack of a packet that counted as lost. The ack still shows which objects the client has
    /// created or removed, and which part of a blob arrived.
    fn arrived_late(&mut self, world: &mut World, sequence: Sequence, late: Late) {
        match late {
            Late::Sent(sent) => self.sent_arrived(world, sequence, &sent),
            Late::Opened(opened) => {
                self.note_openings(world, opened);
                let (word, mask) = (opened.word, world.store.still_there(opened));
                self.objects.openings_arrived(sequence, word, mask);
                let statics = mask & world.paths.in_word(word);
                slots_of(word, statics).for_each(|slot| self.path_arrived_late(world, slot, sequence));
            }
            Late::Closed(closed) => self.closes_arrived(world, sequence, closed),
        }
    }

    /// Records that a packet with closings has arrived, so that the client has removed the objects of
    /// `closed`.
    fn closes_arrived(&mut self, world: &mut World, sequence: Sequence, closed: Cohort) {
        let (word, mask) = (closed.word, world.store.still_there(closed));
        self.note_removals(world, sequence, closed);
        let removed = self.objects.plain_removals_arrived(word, mask);
        for slot in slots_of(word, removed) {
            let below = self.removals_below(world, slot);
            self.last_rights.forget(slot);
            world.release(slot);
            below.into_iter().for_each(|closed| self.closes_arrived(world, sequence, closed));
        }
        for slot in slots_of(word, mask & !removed) {
            if self.objects.is_closing(slot, sequence) {
                let has_family = self.objects.closes_family(slot);
                let below = if has_family { self.removals_below(world, slot) } else { Vec::new() };
                self.forget(world, slot);
                below.into_iter().for_each(|closed| self.closes_arrived(world, sequence, closed));
            }
        }
    }

    /// Returns the plain removals (closings without other data) directly below an object.
    fn removals_below(&self, world: &World, slot: u32) -> Vec<Cohort> {
        let below = world.subobjects.children(slot).filter(|&slot| self.objects.is_removed_plainly(slot));
        let cohort = |slot| {
            let generation = world.store.occupant(slot).generation;
            Cohort { word: word_of(slot), mask: bit_of(slot), generation }
        };
        below.map(cohort).collect()
    }

    /// Records that a packet with content about one object has arrived, or was acked late.
    fn sent_arrived(&mut self, world: &mut World, sequence: Sequence, sent: &Sent) {
        if let Content::Proxy | Content::Open(_) = sent.content
            && self.is_current(world, sent.slot, sent.generation)
        {
            self.objects.proxy_arrived(sent.slot, sequence);
        }
        self.content_arrived(world, sequence, sent);
    }

    fn content_arrived(&mut self, world: &mut World, sequence: Sequence, sent: &Sent) {
        let slot = sent.slot;
        match &sent.content {
            Content::Fragment { blob, index } => {
                if self.is_current(world, slot, sent.generation) {
                    self.objects.close_progressed(slot);
                }
                let Some(blob) = self.blobs.arrived(*blob, *index) else { return };
                self.bases.arrived(Carrier::Blob(blob.id), &world.revisions);
                self.objects.blob_arrived(slot, blob.id);
                // The ack applies like that of the next packet: all earlier packets about the object are
                // older than the blob or contain a part of it.
                self.content_arrived(world, self.next, &blob.sent);
            }
            _ if !self.is_current(world, slot, sent.generation) => {}
            Content::Close => {
                let (word, mask, generation) = (word_of(slot), bit_of(slot), sent.generation);
                self.closes_arrived(world, sequence, Cohort { word, mask, generation });
            }
            Content::Update(list) => self.objects.list_arrived(slot, sequence, list),
            Content::Proxy => self.objects.update_step(slot),
            Content::Open(list) => {
                let (word, mask, generation) = (word_of(slot), bit_of(slot), sent.generation);
                self.note_openings(world, Cohort { word, mask, generation });
                self.objects.opening_arrived(slot, sequence, list);
                self.path_arrived(world, slot);
            }
        }
    }
}
