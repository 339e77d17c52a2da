//! The ticks of the world: which objects may have changed, and which changes are due.
//!
//! *Invariant:* an object that may have changed is compared in this tick, waits in the schedule until it is
//! due, or waits for the end of its pause.

use std::time::Duration;

use repl_link::parts::ROUND_TICKS;

use super::{Marks, World};
use crate::server::cells::sight::SightScratch;
use crate::server::changes::Changes;

impl World {
    /// Begins a tick at the time `now`: finds out which objects may have changed and are due.
    pub(crate) fn begin_tick(&mut self, now: Duration) {
        self.frame += 1;
        self.changes.begin_tick(now);
        if self.ends_round() {
            let slots = self.store.end_round();
            self.cells.end_round(slots);
            self.changes.end_round(slots);
            #[cfg(feature = "rayon")]
            self.marks.by_class.end_round();
            self.marks.queue.shrink_to(std::mem::take(&mut self.marks.most_queued));
            self.sight_scratch = SightScratch::default();
        }
        std::mem::swap(&mut self.changes.view_changed, &mut self.marks.view_changed);
        for (word, mask) in self.marks.newborn.masks() {
            let mask = mask & self.store.alive.word(word);
            self.marks.dirty.insert_mask(word, mask);
            self.schedule.force_mask(word, mask);
        }
        std::mem::swap(&mut self.changes.newborn, &mut self.marks.newborn);
        // A refused value may have been set back to the value of its shadow. The scan below does not find
        // such an object, but its refusal must be cleared.
        for slot in self.marks.refusing.iter() {
            if self.marks.polled[usize::from(self.store.occupants[slot as usize].class)] {
                self.marks.dirty.insert(slot);
            }
        }
        for (class, polled) in self.marks.polled.iter_mut().enumerate() {
            if std::mem::take(polled) {
                let dirty = &mut self.marks.dirty;
                self.store.columns[class].scan(&mut |slot| dirty.insert(slot));
            }
        }
        self.schedule.release(&mut self.marks.dirty, &self.marks.opening, now);
        if !self.paused.is_empty() {
            self.hold_paused();
        }
    }

    // Not inlined, because in most ticks nothing is paused.
    #[inline(never)]
    fn hold_paused(&mut self) {
        let Marks { dirty, left_over, opening, .. } = &mut self.marks;
        let [round, next] = left_over.sets_mut();
        self.paused.hold([dirty, round, next], [opening, &self.changes.newborn]);
    }

    /// Returns whether this tick is the last one of a round, after which unused memory is freed.
    pub(crate) fn ends_round(&self) -> bool {
        self.frame.is_multiple_of(ROUND_TICKS)
    }

    /// Stores the changes of this tick that far connections receive later, and finds those that are due now.
    /// Also finds the objects that have changes and may sleep.
    pub(crate) fn find_due(&mut self) {
        let mut later = std::mem::take(&mut self.later);
        later.advance(self.frame, self.changes.as_slice(), &self.cells, |slot, list| {
            self.store.column_of(slot).extend_waiting(self.store.occupant(slot).row, list);
            self.store.prune(slot, list)
        });
        self.later = later;
        self.dormancies.find_changed(self.later.slots().chain([&self.changes.slots]));
    }

    /// Returns whether this tick has changes or new objects that connections may have to send.
    pub(crate) fn has_changes(&self) -> bool {
        let Changes { newborn, .. } = &self.changes;
        !self.changes.as_slice().is_empty()
            || !newborn.is_empty()
            || self.later.due().any(|(_, due)| !due.is_empty())
    }
}
