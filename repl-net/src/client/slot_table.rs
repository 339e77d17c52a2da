//! The slots of a client. For each slot, the table has the object in it, where the object is stored, and when
//! it was updated last.
//!
//! *Invariant:* while a packet is applied, references resolve to the objects that exist after the whole
//! packet.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::ops::Range;

use repl_core::{Epoch, Guid, Objects};
use repl_link::parts::Sequence;

use super::asset_table::AssetTable;
use super::detached::Detached;
use super::outcome::Outcome;
use super::validated_entries::LocalOrigin;
use crate::body::forest::Forest;
use crate::body::removal::CloseReason;
use crate::body::role::{Proxy, Role};

/// The state of one slot. It takes less than one cache line.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The stamp of the object's newest update plus one, or zero if there was no update. The stamp of an
    /// update is the number of the first packet of the server's tick in which it was made.
    stamp: u64,
    /// The generation of the object, or zero if the slot is empty.
    generation: u32,
    /// The row of the object in the column of its class. If the slot is empty, this is the lowest generation
    /// of an object that may still arrive in the slot: objects with lower generations never return.
    row: u32,
    class: u16,
    /// The role of the object on this client, whether this client owns it, and whether it sleeps.
    proxy: Proxy,
}

const EMPTY: Slot = Slot {
    stamp: 0,
    generation: 0,
    row: 0,
    class: 0,
    proxy: Proxy { is_owner: false, role: Role::SimulatedProxy, is_asleep: false },
};

/// The table of the slots of a client. The number of slots is fixed when the client is created.
#[derive(Debug)]
pub(super) struct SlotTable {
    /// The slots up to the highest slot that was ever used. Memory for all slots is allocated when the client
    /// is created, so no packet causes an allocation.
    slots: Vec<Slot>,
    /// The number of slots of the client, used or not.
    len: usize,
    /// The parents of all subobjects.
    pub(super) families: Forest,
    /// The objects that the current packet creates and removes. References resolve as if the whole packet had
    /// already been applied, so the order of the entries in the packet does not matter.
    pub(super) outcome: Outcome,
    /// The torn-off objects, which are no longer in a slot. The keys are the guids in the user's references.
    pub(super) torn_off: Detached,
    /// The objects that are out of sight and that the client keeps. There is at most one for each slot, and
    /// none for a slot that has an object. The forest has their parents.
    pub(super) out_of_sight: Detached,
    /// The assets that the server has named, and the assets that the user has added.
    pub(super) assets: AssetTable,
    /// The epoch: it converts guids on the wire to the guids in the user's references, and back.
    pub(super) epoch: Epoch,
    /// The greatest generation that any of the user's references has had, before and after restarts of the
    /// server.
    newest_generation: u32,
}

impl SlotTable {
    pub(super) fn new(slots: usize, max_assets: usize) -> Self {
        Self {
            slots: Vec::with_capacity(slots),
            len: slots,
            families: Forest::default(),
            outcome: Outcome::new(slots),
            torn_off: Detached::default(),
            out_of_sight: Detached::default(),
            assets: AssetTable::new(max_assets),
            epoch: Epoch::default(),
            newest_generation: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn slot(&self, slot: u32) -> &Slot {
        self.slots.get(slot as usize).unwrap_or(&EMPTY)
    }

    /// Returns a mutable reference to a slot. Adds missing slots up to this one. Returns `None` if the client
    /// has no such slot.
    #[inline]
    fn slot_mut(&mut self, slot: u32) -> Option<&mut Slot> {
        let at = slot as usize;
        if at >= self.slots.len() && at < self.len {
            self.slots.resize(at.saturating_add(1), EMPTY);
        }
        self.slots.get_mut(at)
    }

    #[inline]
    pub(super) fn generation(&self, slot: u32) -> Option<NonZeroU32> {
        NonZeroU32::new(self.slot(slot).generation)
    }

    /// Returns how many slots at the beginning of `slots` are empty.
    pub(super) fn count_empty(&self, slots: Range<u32>) -> u32 {
        let all = slots.len() as u32;
        let known = self.slots.get(slots.start as usize..).unwrap_or_default();
        let taken = known.iter().take(all as usize).position(|slot| slot.generation != 0);
        taken.map_or(all, |count| count as u32)
    }

    /// Returns whether these slots exist and were never used.
    pub(super) fn are_unused(&self, slots: &Range<u32>) -> bool {
        slots.start as usize >= self.slots.len() && slots.end as usize <= self.len
    }

    /// Returns the class of the object in a slot, and the object's row in the column of this class.
    #[inline]
    pub(super) fn class_and_row(&self, slot: u32) -> Option<(u16, u32)> {
        let slot = self.slot(slot);
        (slot.generation != 0).then_some((slot.class, slot.row))
    }

    /// Returns whether a packet with a stamp greater than `stamp` has updated the object in a slot, and the
    /// [class and row](Self::class_and_row) of the object.
    #[inline]
    pub(super) fn age_and_place(&self, slot: u32, stamp: Sequence) -> (bool, Option<(u16, u32)>) {
        let slot = self.slot(slot);
        let place = (slot.generation != 0).then_some((slot.class, slot.row));
        (slot.stamp > stamp.number().saturating_add(1), place)
    }

    /// Records an update of the object in a slot, which also wakes the object. Returns the row of the object.
    #[inline]
    pub(super) fn update(&mut self, slot: u32, stamp: Sequence) -> Option<u32> {
        let known = self.slot_mut(slot)?;
        known.stamp = stamp.number().saturating_add(1);
        known.proxy.is_asleep = false;
        Some(known.row)
    }

    /// Records that objects were opened in empty slots. Their rows are consecutive, beginning with `first`.
    pub(super) fn open(&mut self, opened: Range<u32>, origin: &LocalOrigin, first: u32, stamp: Sequence) {
        let LocalOrigin { generation, class, archetype: _, proxy, parent } = *origin;
        let generation = generation.get();
        let known = generation.saturating_add(self.epoch.offset());
        self.newest_generation = self.newest_generation.max(known);
        let stamp = stamp.number().saturating_add(1);
        // This adds all missing slots in one step.
        opened.clone().next_back().and_then(|last| self.slot_mut(last));
        let slots = self.slots.get_mut(opened.start as usize..opened.end as usize).unwrap_or_default();
        for (slot, row) in slots.iter_mut().zip(first..) {
            *slot = Slot { stamp, generation, row, class, proxy };
        }
        if !self.out_of_sight.is_empty() {
            opened.clone().for_each(|slot| self.families.set(slot, None));
        }
        let Some(gap) = parent else { return };
        for slot in opened {
            // A peer may send any slot as the parent, but must not decide how much memory is allocated.
            let parent = gap.parent_of(slot).filter(|&parent| (parent as usize) < self.len);
            self.families.set(slot, parent);
        }
    }

    /// Records that the object in a slot was removed. `may_return` says whether the object may become visible
    /// to this client again.
    pub(super) fn close(&mut self, slot: u32, may_return: bool) {
        if let Some(known) = self.slot_mut(slot).filter(|known| known.generation != 0) {
            let lowest = known.generation.saturating_add((!may_return).into());
            *known = Slot { generation: 0, class: 0, row: lowest, ..*known };
            self.families.remove(slot);
        }
    }

    /// Records that the object in a slot is out of sight, and that the client keeps it.
    pub(super) fn keep_out_of_sight(&mut self, slot: u32, known: Guid, class: u16) {
        let parent = self.families.parent(slot);
        let children: Vec<u32> = self.families.children(slot).collect();
        self.close(slot, true);
        self.families.set(slot, parent);
        children.into_iter().for_each(|child| self.families.set(child, Some(slot)));
        self.out_of_sight.insert(known, class);
    }

    /// Returns the guid of the object that the client has of a slot, whether it is in sight or not.
    pub(super) fn kept_in(&self, slot: u32) -> Option<Guid> {
        self.known_in(slot).or_else(|| self.out_of_sight.in_slot(slot))
    }

    /// Returns whether the slot of `guid` had another object, which is out of sight now. `guid` is the guid
    /// on the wire of an object that is opened.
    pub(super) fn is_replaced(&self, guid: Guid) -> bool {
        self.out_of_sight.in_slot(guid.slot()).is_some_and(|kept| kept != self.known(guid))
    }

    /// Returns the slots of the objects out of sight that end when the object in a slot, or the one that was
    /// in it, is removed for this reason. An object that is only out of sight remains out of sight.
    pub(super) fn ended_by_removal(&self, slot: u32, reason: CloseReason) -> Vec<u32> {
        let is_out_of_sight = self.out_of_sight.in_slot(slot).is_some();
        if is_out_of_sight && !reason.is_destruction() { Vec::new() } else { self.out_of_sight_below(slot) }
    }

    /// Returns a slot, if its object is out of sight, and then the slots of the objects out of sight below
    /// it.
    pub(super) fn out_of_sight_below(&self, top: u32) -> Vec<u32> {
        if self.out_of_sight.is_empty() {
            return Vec::new();
        }
        // A peer may have sent parents that form a circle.
        let (mut all, mut seen, mut next) = (vec![top], BTreeSet::from([top]), 0_usize);
        while let Some(&slot) = all.get(next) {
            let children = self.families.children(slot);
            all.extend(children.filter(|&child| self.is_slot_out_of_sight(child) && seen.insert(child)));
            next = next.saturating_add(1);
        }
        all.retain(|&slot| self.is_slot_out_of_sight(slot));
        all
    }

    fn is_slot_out_of_sight(&self, slot: u32) -> bool {
        self.out_of_sight.in_slot(slot).is_some()
    }

    /// Returns whether the object with a guid, as in the user's references, is out of sight, and the current
    /// packet does not end it.
    fn stays_out_of_sight(&self, known: Guid) -> bool {
        self.out_of_sight.contains(known) && !self.outcome.ends(known.slot())
    }

    /// Returns whether an object that does not exist on this client may still arrive: no newer object has
    /// been in its slot, and the client has not learned that it was destroyed. For an asset, returns whether
    /// its path may still arrive. The argument is the guid on the wire.
    pub(super) fn may_come(&self, guid: Guid) -> bool {
        if let Some(number) = guid.asset_number() {
            return self.assets.path(number).is_none();
        }
        let slot = self.slot(guid.slot());
        let lowest = if slot.generation == 0 { slot.row } else { slot.generation };
        (guid.slot() as usize) < self.len && guid.generation().get() >= lowest
    }

    /// Returns the role of an object on this client, whether this client owns it, and whether it sleeps.
    pub(super) fn proxy(&self, slot: u32) -> Proxy {
        self.slot(slot).proxy
    }

    /// Sets the role of an object on this client, whether this client owns it, and whether it sleeps. Returns
    /// whether the owner flag or the role has changed.
    pub(super) fn set_proxy(&mut self, slot: u32, proxy: Proxy) -> bool {
        let Some(known) = self.slot_mut(slot) else { return false };
        let before = std::mem::replace(&mut known.proxy, proxy);
        (before.is_owner, before.role) != (proxy.is_owner, proxy.role)
    }

    pub(super) fn set_row(&mut self, slot: u32, row: u32) {
        if let Some(known) = self.slot_mut(slot) {
            known.row = row;
        }
    }
}

impl SlotTable {
    /// Begins a session. Forgets when objects were updated, because the packet numbers of the session begin
    /// again. All slots must be empty. If it is another server, also forgets which objects were in the slots.
    /// Begins a new epoch if `begins_epoch` is true.
    pub(super) fn begin_session(&mut self, is_other_server: bool, begins_epoch: bool) {
        self.slots.iter_mut().for_each(|slot| slot.stamp = 0);
        if is_other_server {
            self.slots.iter_mut().for_each(|slot| slot.row = 0);
        }
        if begins_epoch {
            self.epoch = Epoch::after(self.newest_generation.max(self.assets.newest()));
        }
    }

    /// Returns the guid of the object in a slot, as in the user's references.
    #[inline]
    pub(super) fn known_in(&self, slot: u32) -> Option<Guid> {
        Some(self.known(Guid::new(slot, self.generation(slot)?)))
    }

    /// Converts the guid of an object on the wire to the guid in the user's references.
    pub(super) fn known(&self, guid: Guid) -> Guid {
        // This conversion never fails: an opening with a generation that is too great for the epoch was
        // refused.
        self.epoch.from_wire(guid).unwrap_or(guid)
    }
}

impl Objects for SlotTable {
    fn epoch(&self) -> Epoch {
        self.epoch
    }

    fn contains(&self, guid: Guid) -> bool {
        if let Some(number) = guid.asset_number() {
            return self.assets.contains(number);
        }
        match self.generation(guid.slot()) {
            Some(generation) if generation == guid.generation() => !self.outcome.closes(guid.slot()),
            Some(_) => self.torn_off.contains(self.known(guid)),
            None => {
                let known = self.known(guid);
                self.outcome.opens(guid) || self.torn_off.contains(known) || self.stays_out_of_sight(known)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s245_parents_that_form_a_circle_end_together() {
        let mut table = SlotTable::new(4, 1);
        for slot in 0..3 {
            table.out_of_sight.insert(Guid::new(slot, NonZeroU32::MIN), 0);
        }
        table.families.set(0, Some(1));
        table.families.set(1, Some(0));
        table.families.set(2, Some(1));
        let mut below = table.out_of_sight_below(0);
        below.sort_unstable();
        assert_eq!(below, [0, 1, 2]);
        assert_eq!(table.out_of_sight_below(3), []);
    }
}
