//! Objects that are out of sight and that the client keeps (S241): they are removed from their slots, and
//! kept until they come back into sight, or until another object comes into their slots.
//!
//! *Invariant:* an object out of sight is not in a slot, so no packet can change it. A packet can only
//! replace it or end it.

use std::num::NonZeroU32;
use std::ops::Range;

use repl_core::{Guid, ObjectRef};

use super::Replicas;
use crate::body::removal::CloseReason;
use crate::updates::update::UpdateKind;

impl Replicas {
    /// Removes an object from its slot, because it is out of sight. The object is kept with its last values,
    /// and references to it remain valid.
    pub(super) fn keep_out_of_sight(&mut self, slot: u32) {
        if let (Some(place), Some(known)) = (self.slots.class_and_row(slot), self.slots.known_in(slot)) {
            self.detach(slot, place, known, UpdateKind::OutOfSight);
            self.slots.keep_out_of_sight(slot, known, place.0);
        }
    }

    /// Removes the oldest objects out of sight, so that at most `most` remain.
    pub(super) fn remove_out_of_sight_beyond(&mut self, most: usize, reason: CloseReason) {
        while self.slots.out_of_sight.len() > most
            && let Some(oldest) = self.slots.out_of_sight.oldest()
        {
            let slots = self.slots.out_of_sight_below(oldest.slot());
            self.end_out_of_sight(slots, reason);
        }
    }

    /// Removes the objects out of sight that were in `opened`, with those below them, except those that are
    /// opened again with this generation.
    pub(super) fn end_replaced(&mut self, opened: Range<u32>, generation: NonZeroU32) {
        if self.slots.out_of_sight.is_empty() {
            return;
        }
        for slot in opened {
            if self.slots.is_replaced(Guid::new(slot, generation)) {
                self.end_out_of_sight(self.slots.out_of_sight_below(slot), CloseReason::Destroyed);
            }
        }
    }

    /// Removes the objects out of sight that were in these slots, the last one first.
    pub(super) fn end_out_of_sight(&mut self, slots: Vec<u32>, reason: CloseReason) {
        for slot in slots.into_iter().rev() {
            let Some(known) = self.slots.out_of_sight.in_slot(slot) else { continue };
            let Some(class) = self.slots.out_of_sight.remove(known) else { continue };
            self.depart((known, class), self.parent_of(slot));
            self.slots.families.remove(slot);
            self.created_or_removed.extend(self.slots.epoch.to_wire(known));
            if let Some(column) = self.columns.get_mut(class as usize) {
                column.remove_detached(known);
                let what = UpdateKind::Despawned(reason);
                self.updates.push(ObjectRef::new(known), what, column.program());
            }
        }
    }

    /// Records that objects have arrived in consecutive slots: each is new, or is back in sight.
    pub(super) fn note_opened(&mut self, opened: Range<u32>) {
        if self.slots.out_of_sight.is_empty() {
            return self.note_arrivals(opened);
        }
        for slot in opened {
            match self.slots.out_of_sight.in_slot(slot) {
                Some(_) => self.note_return(slot),
                None => self.note_arrivals(slot..slot.saturating_add(1)),
            }
        }
    }

    fn note_return(&mut self, slot: u32) {
        self.note(slot, UpdateKind::BackInSight);
        if self.slots.proxy(slot).is_owner {
            self.note(slot, UpdateKind::Owner);
        }
    }

    /// Lets the objects in `opened` continue the kept objects with the same guids, after they have received
    /// their values: notifies compare with the values that were kept.
    pub(super) fn take_over(&mut self, opened: Range<u32>) {
        if self.slots.out_of_sight.is_empty() {
            return;
        }
        // If the class is watched, the last entries of `touched` are those of `opened`.
        let first = self.touched.len().saturating_sub(opened.len());
        for (slot, at) in opened.zip(first..) {
            let Some(known) = self.slots.known_in(slot) else { continue };
            let Some((class, row)) = self.slots.class_and_row(slot) else { continue };
            if self.slots.out_of_sight.remove(known).is_none() {
                continue;
            }
            let mut unwatched = Vec::new();
            let touched = self.touched.get_mut(at).filter(|touched| touched.slot == slot);
            let notified = touched.map_or(&mut unwatched, |touched| &mut touched.notified);
            if let Some(column) = self.columns.get_mut(class as usize) {
                column.take_over(row, known, notified);
            }
        }
    }
}
