//! The slots of a client: which object each slot contains, where that object is stored, and when it was last
//! updated.
//!
//! *Invariant:* while a packet is applied, references resolve to the objects that exist after the whole
//! packet was applied.

use std::num::NonZeroU32;

use repl_core::{Epoch, Guid, Objects};

use super::outcome::Outcome;
use super::torn_off::TornOff;
use crate::transport::role::Proxy;
use crate::transport::sequence::Sequence;
use crate::transport::slot_set::SlotSet;

/// The table of the slots of a client. The number of slots is fixed when the client is made.
#[derive(Debug)]
pub(super) struct SlotTable {
    /// For each slot, the stamp of the last update of its object, plus one. `stamps` is zero if there was no
    /// update. The stamp of an update is the number of the first packet of its tick.
    stamps: Vec<u64>,
    /// For each slot, the generation of its object. `generations` is zero if the slot is empty.
    generations: Vec<u32>,
    classes: Vec<u16>,
    rows: Vec<u32>,
    /// For each slot, whether this client owns the object, and the client's role for it.
    pub(super) proxies: Vec<Proxy>,
    /// The objects that sleep.
    pub(super) asleep: SlotSet,
    /// The objects that the current packet creates and removes. While a packet is applied, references resolve
    /// as if the whole packet had been applied, so the order of the entries in the packet does not matter.
    pub(super) outcome: Outcome,
    /// The objects that were torn off, which are in no slot any more, by the guids that the user knows.
    pub(super) torn_off: TornOff,
    /// The epoch of the references that the user has.
    pub(super) epoch: Epoch,
    /// The greatest generation of an object that the user has known, in any epoch.
    newest_generation: u32,
}

impl SlotTable {
    pub(super) fn new(slots: usize) -> Self {
        Self {
            stamps: vec![0; slots],
            generations: vec![0; slots],
            classes: vec![0; slots],
            rows: vec![0; slots],
            proxies: vec![Proxy::default(); slots],
            asleep: SlotSet::default(),
            outcome: Outcome::new(slots),
            torn_off: TornOff::default(),
            epoch: Epoch::default(),
            newest_generation: 0,
        }
    }

    /// Returns the number of slots of the client.
    pub(super) fn len(&self) -> usize {
        self.stamps.len()
    }

    pub(super) fn generation(&self, slot: u32) -> Option<NonZeroU32> {
        self.generations.get(slot as usize).copied().and_then(NonZeroU32::new)
    }

    /// Returns the number of the class of the object in a slot, and the row of the object in the column of
    /// this class.
    pub(super) fn class_and_row(&self, slot: u32) -> Option<(u16, u32)> {
        self.generation(slot)?;
        Some((*self.classes.get(slot as usize)?, *self.rows.get(slot as usize)?))
    }

    pub(super) fn is_stale(&self, slot: u32, stamp: Sequence) -> bool {
        self.stamps.get(slot as usize).is_some_and(|&known| known > stamp.number().saturating_add(1))
    }

    pub(super) fn stamp(&mut self, slot: u32, stamp: Sequence) {
        if let Some(known) = self.stamps.get_mut(slot as usize) {
            *known = stamp.number().saturating_add(1);
        }
    }

    pub(super) fn set(&mut self, slot: u32, generation: u32, class: u16, row: u32) {
        let known = generation.saturating_add(self.epoch.offset());
        self.newest_generation = self.newest_generation.max(known);
        let at = slot as usize;
        if let (Some(g), Some(c), Some(r)) =
            (self.generations.get_mut(at), self.classes.get_mut(at), self.rows.get_mut(at))
        {
            (*g, *c, *r) = (generation, class, row);
        }
    }

    /// Sets the owner flag and the role of this client for an object. Returns whether the owner or the role
    /// has changed.
    pub(super) fn set_proxy(&mut self, slot: u32, proxy: Proxy) -> bool {
        let known = self.proxies.get_mut(slot as usize);
        known.is_some_and(|known| std::mem::replace(known, proxy) != proxy)
    }

    pub(super) fn set_row(&mut self, slot: u32, row: u32) {
        if let Some(known) = self.rows.get_mut(slot as usize) {
            *known = row;
        }
    }
}

impl SlotTable {
    /// Forgets when objects were last updated, because the packet numbers of a new session begin again. If
    /// the server is another one, also begins an epoch.
    pub(super) fn begin_session(&mut self, is_other_server: bool) {
        self.stamps.fill(0);
        if is_other_server {
            self.epoch = Epoch::after(self.newest_generation);
        }
    }

    /// Returns the guid by which the user knows an object, from its guid on the wire.
    pub(super) fn known(&self, guid: Guid) -> Guid {
        // A generation that is too great for the epoch was refused when the object was opened.
        self.epoch.from_wire(guid).unwrap_or(guid)
    }
}

impl Objects for SlotTable {
    fn epoch(&self) -> Epoch {
        self.epoch
    }

    fn contains(&self, guid: Guid) -> bool {
        match self.generation(guid.slot()) {
            Some(generation) if generation == guid.generation() => !self.outcome.closes(guid.slot()),
            Some(_) => self.torn_off.contains(self.known(guid)),
            None => self.outcome.opens(guid) || self.torn_off.contains(self.known(guid)),
        }
    }
}
