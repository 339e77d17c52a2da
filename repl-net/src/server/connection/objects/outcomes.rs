//! The outcomes of packets: how arrived and lost packets change the states of objects (R4).
//!
//! *Invariant:* an ack or a loss of a packet changes only the object phase in which the packet was sent.

use repl_core::{Changelist, PropertyIndex};

use super::ObjectStates;
use super::tracked::{Phase, ProxyState};
use crate::server::world::World;
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::slots_of;

/// The consequence of a lost opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LostOpening {
    /// No consequence, because the opening belongs to an earlier object in the slot, or because a later
    /// packet carries the object too.
    Ignored,
    /// The whole object must be sent again.
    Unsent,
    /// The client has the object by another opening, and may lack the values of the lost one.
    Values,
}

impl ObjectStates {
    /// Notes that the packet `sequence` has arrived with openings: of pending spawns, or of any objects if
    /// the packet had been given up. Some of the pending spawns may be tracked by now. Each tracked object
    /// stores the first packet that may have opened it, so earlier packets about the same slot have no
    /// effect.
    pub(crate) fn openings_arrived(&mut self, sequence: Sequence, word: usize, mask: u64) {
        let here = self.pending_spawns.arrived(word, mask);
        self.out_of_step.remove_mask(word, here & !self.view.own.word(word));
        for slot in slots_of(word, mask & !here & self.known.word(word)) {
            self.proxy_arrived(slot, sequence);
            self.opening_arrived(slot, sequence, &Changelist::new());
        }
    }

    /// Returns the objects of `mask` in a word of slots that the client received as the first objects of
    /// their slots.
    pub(crate) fn spawns_in(&self, word: usize, mask: u64) -> u64 {
        mask & self.known.word(word) & !self.pending_spawns.used.word(word)
    }

    /// Notes that the packet `sequence` has arrived with the changes in `list` of an object.
    pub(crate) fn list_arrived(&mut self, slot: u32, sequence: Sequence, list: &Changelist) {
        if let Some(tracked) = self.tracked.get_mut(slot) {
            tracked.new_elements.arrived(sequence, list);
            self.update_step(slot);
        }
    }

    /// Notes that the packet `sequence` has arrived with an object: with the whole object, or with the part
    /// of it in `list`.
    pub(crate) fn opening_arrived(&mut self, slot: u32, sequence: Sequence, list: &Changelist) {
        match self.tracked.get_mut(slot).filter(|tracked| tracked.since <= sequence) {
            Some(tracked) if tracked.phase == Phase::Opening => {
                tracked.phase = Phase::Open;
                if tracked.lacks_something() {
                    self.to_send.insert(slot);
                }
            }
            Some(tracked) if tracked.phase == Phase::Unsent => tracked.has_arrived = true,
            _ => {}
        }
        self.list_arrived(slot, sequence, list);
    }

    /// Handles the loss of a packet with the opening of an object.
    pub(crate) fn opening_lost(&mut self, slot: u32, sequence: Sequence) -> LostOpening {
        let opening = self.tracked.get(slot).filter(|tracked| tracked.phase == Phase::Opening);
        let Some(since) = opening.map(|tracked| tracked.since) else {
            self.proxy_lost(slot, sequence);
            return LostOpening::Values;
        };
        if sequence < since {
            return LostOpening::Ignored;
        }
        // A blob of the object contains owner and role too. But the blob may be dropped while the client has
        // the object by an earlier opening.
        self.proxy_lost(slot, sequence);
        // The object's blob may have begun in a packet that had no room for any part of it. Such a blob still
        // counts as an opening in flight.
        match self.tracked.get_mut(slot) {
            Some(tracked) if tracked.blob.is_none() && tracked.carried <= sequence => {
                tracked.phase = Phase::Unsent;
            }
            _ => return LostOpening::Ignored,
        }
        self.must_send(slot);
        LostOpening::Unsent
    }

    /// Handles the loss of a packet with the closes of objects. An object must be closed again, unless a
    /// later packet closes it too.
    pub(crate) fn closes_lost(&mut self, sequence: Sequence, word: usize, mask: u64) {
        for slot in slots_of(word, mask & self.known.word(word)) {
            let is_carried_later = self.tracked.get(slot).is_some_and(|tracked| tracked.carried > sequence);
            if self.is_closing(slot, sequence) && !is_carried_later {
                self.must_send(slot);
            }
        }
    }

    /// Notes that a packet has arrived that may have contained the owner and role of an object.
    pub(crate) fn proxy_arrived(&mut self, slot: u32, sequence: Sequence) {
        if let Some(tracked) = self.tracked.get_mut(slot)
            && let ProxyState::Unsent(since) | ProxyState::Sent(since, _) = tracked.proxy
            && since <= sequence
        {
            tracked.proxy = ProxyState::UpToDate;
        }
    }

    /// Handles the loss of a packet with the owner and role of an object. If no later packet contains them,
    /// they must be sent again.
    pub(crate) fn proxy_lost(&mut self, slot: u32, sequence: Sequence) {
        if let Some(tracked) = self.tracked.get_mut(slot)
            && let ProxyState::Sent(since, last) = tracked.proxy
            && last <= sequence
        {
            tracked.proxy = ProxyState::Unsent(since);
            self.must_send(slot);
        }
    }

    /// Notes that the blob of an object has arrived. If no other blob of the object has begun since, the
    /// waiting changes of the object may be sent.
    pub(crate) fn blob_arrived(&mut self, slot: u32, blob: u32) {
        if let Some(tracked) = self.tracked.get_mut(slot)
            && tracked.blob == Some(blob)
        {
            tracked.blob = None;
            if tracked.lacks_something() {
                self.must_send(slot);
            }
        }
    }

    /// Makes lost changes pending again, as far as the client may see them. The client lacks the `unseen`
    /// properties. `prune` removes elements from a list that do not exist any more.
    pub(crate) fn return_to_pending(
        &mut self,
        slot: u32,
        mut list: Changelist,
        unseen: impl Iterator<Item = PropertyIndex>,
        prune: impl FnOnce(&mut Changelist),
    ) {
        let tracked = self.track(slot);
        unseen.for_each(|property| tracked.set_left(property, 0));
        prune(&mut tracked.pending);
        // The pending list is newer than the lost list, so its changes replace lost ones.
        list.merge(&tracked.pending);
        tracked.pending = list;
        self.must_send(slot);
    }

    /// Drops new elements that were removed. Call it when no packet in flight can prove any more that they
    /// arrived.
    pub(crate) fn prune_new_elements(&mut self, world: &World) {
        let slots: Vec<u32> = self.with_new_elements.iter().collect();
        for slot in slots {
            if let Some(tracked) = self.tracked.get_mut(slot)
                && !tracked.is_closing()
            {
                tracked.new_elements.prune(|list| world.prune(slot, list));
                self.update_step(slot);
            }
        }
    }
}
