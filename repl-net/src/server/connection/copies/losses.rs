//! Handles lost packets: their content becomes pending (R4, R9).
//!
//! *Invariant:* after a loss, a change becomes pending only if all later packets that contain it were
//! declared lost, too. When a change is sent again, its value is read from the shadow again (S79).

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use repl_core::Changelist;
use repl_link::parts::{InFlight, Sequence};

use super::super::objects::LostOpening;
use super::Copies;
use super::bases::Carrier;
use crate::body::contents::{Cohort, Content, Contents, Sent};
use crate::body::entry_lists::EncodedEntry;
use crate::body::losses::{LostObject, subtract_later};
use crate::body::slot_set::slots_of;
use crate::server::world::World;

/// The packets that are declared lost together.
pub(crate) struct Losses<'a> {
    world: &'a mut World,
    /// The number of the packet that is being declared lost.
    pub(crate) sequence: Sequence,
    /// The lost changes of each object.
    objects: BTreeMap<u32, LostObject>,
}

impl<'a> Losses<'a> {
    pub(crate) fn new(world: &'a mut World) -> Self {
        Self { world, sequence: Sequence::default(), objects: BTreeMap::new() }
    }
}

impl Copies {
    /// Sends the content of the packet `sequence` again before its timeout, although the packet may still
    /// arrive (R9). This function is called if the link has not answered for a long time. It repeats only
    /// parts of blobs, and closings: other data waits for them, and the ack of any copy is enough. Changes
    /// are not repeated, because each copy would need its own ack.
    pub(crate) fn retry(&mut self, world: &World, sequence: Sequence, contents: &Contents) {
        for sent in &contents.sent {
            if let Content::Fragment { blob, index } = sent.content {
                self.blobs.lost(blob, index, sequence);
            }
        }
        contents.closed.iter().for_each(|closed| self.closes_lost(world, sequence, *closed));
    }

    /// Makes the content of a lost packet pending, except for content that a later packet also contains. The
    /// changelists of updates that were encoded separately for this connection are moved out of `contents`.
    /// Other changelists are copied.
    pub(crate) fn lost(&mut self, losses: &mut Losses<'_>, contents: &mut Contents) {
        self.bases.lost(Carrier::Packet(losses.sequence), &losses.world.revisions);
        let shared = contents.shared.iter().flat_map(|segment| segment.entries());
        for EncodedEntry { slot, generation, list } in shared.chain(contents.copied.entries()) {
            self.list_lost(losses, slot, generation, list.clone());
        }
        contents.opened.iter().for_each(|opened| self.spawns_lost(losses, *opened));
        contents.closed.iter().for_each(|closed| self.closes_lost(losses.world, losses.sequence, *closed));
        for Sent { slot, generation, content } in &mut contents.sent {
            match content {
                Content::Update(list) => self.list_lost(losses, *slot, *generation, std::mem::take(list)),
                Content::Fragment { blob, index } => self.blobs.lost(*blob, *index, losses.sequence),
                _ if !self.is_current(losses.world, *slot, *generation) => {}
                Content::Proxy => self.objects.proxy_lost(*slot, losses.sequence),
                Content::Open(list) if self.opening_lost(losses, *slot) => {
                    self.list_lost(losses, *slot, *generation, list.clone());
                }
                Content::Open(_) | Content::Close => {}
            }
        }
    }

    fn closes_lost(&mut self, world: &World, sequence: Sequence, closed: Cohort) {
        self.objects.closes_lost(sequence, closed.word, world.store.still_there(closed));
    }

    /// Records that a packet with the openings of pending spawns (objects new to the client) was lost. From
    /// now on the objects of the lost openings are tracked objects.
    fn spawns_lost(&mut self, losses: &mut Losses<'_>, opened: Cohort) {
        let (word, mask) = (opened.word, losses.world.store.still_there(opened));
        for slot in slots_of(word, self.objects.spawns_in(word, mask)) {
            self.objects.leave_spawns(slot);
            if self.opening_lost(losses, slot) {
                let (world, object) = (&*losses.world, &losses.world.store.objects[slot as usize]);
                // The lost opening may have been the smaller one for far connections. Then this list has a
                // few more values than the opening.
                let handles = object.shared_opening(world.store.conditions(slot), false);
                let (generation, list) =
                    (world.store.occupant(slot).generation, world.store.whole(slot, &handles));
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
    pub(crate) fn fold_lost(&mut self, losses: Losses<'_>, in_flight: &InFlight<Contents>) {
        let Losses { world, objects, .. } = losses;
        let mut objects: Vec<LostObject> = objects.into_values().collect();
        subtract_later(in_flight, &mut objects);
        for object in objects {
            let slot = object.slot;
            let list = object.into_list();
            if !list.is_empty() {
                self.make_pending(world, slot, list);
            }
        }
    }
}
