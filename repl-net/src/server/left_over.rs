//! Objects that were due in earlier ticks and were not compared, because the ticks had no time for them. They
//! are compared in rounds: all objects of a round come before the objects that are due later.
//!
//! *Invariant:* an object is in at most one of the two sets. An object that is due during a round is compared
//! at the latest in the next round, so none waits for more than two rounds.

use crate::body::slot_set::{SlotSet, slots_of};

/// The objects that wait until a tick has time to compare them.
#[derive(Debug, Default)]
pub(crate) struct LeftOver {
    round: SlotSet,
    /// The objects of the next round.
    next: SlotSet,
}

impl LeftOver {
    pub(crate) fn contains(&self, slot: u32) -> bool {
        self.round.contains(slot) || self.next.contains(slot)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.round.is_empty() && self.next.is_empty()
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        self.round.remove(slot);
        self.next.remove(slot);
    }

    /// Returns the two sets, so that the caller can remove objects from them.
    pub(crate) fn sets_mut(&mut self) -> [&mut SlotSet; 2] {
        [&mut self.round, &mut self.next]
    }

    /// Moves the objects in `due` to the next round, except those of this round.
    pub(crate) fn add(&mut self, due: &mut SlotSet) {
        let Self { round, next } = self;
        due.masks().for_each(|(word, mask)| next.insert_mask(word, mask & !round.word(word)));
        due.clear();
    }

    /// Moves all objects to `due`.
    pub(crate) fn drain_into(&mut self, due: &mut SlotSet) {
        for set in self.sets_mut() {
            set.masks().for_each(|(word, mask)| due.insert_mask(word, mask));
            set.clear();
        }
    }

    /// Fills the empty list `group` with at most `most` objects that are compared next, in ascending order.
    /// If the round is over, the next one begins.
    pub(crate) fn take_group(&mut self, most: usize, group: &mut Vec<u32>) {
        if self.round.is_empty() {
            std::mem::swap(&mut self.round, &mut self.next);
        }
        group.extend(self.round.masks().flat_map(|(word, mask)| slots_of(word, mask)).take(most));
        group.iter().for_each(|&slot| self.round.remove(slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(left_over: &mut LeftOver, slots: &[u32]) {
        let mut due = SlotSet::default();
        slots.iter().for_each(|&slot| due.insert(slot));
        left_over.add(&mut due);
    }

    fn take(left_over: &mut LeftOver, most: usize) -> Vec<u32> {
        let mut group = Vec::new();
        left_over.take_group(most, &mut group);
        group
    }

    #[test]
    fn s239_the_objects_of_a_round_come_before_those_that_are_due_later() {
        let mut left_over = LeftOver::default();
        add(&mut left_over, &[70, 5, 300]);
        assert_eq!(take(&mut left_over, 2), [5, 70]);
        add(&mut left_over, &[1, 5, 300]);
        assert_eq!(take(&mut left_over, 64), [300], "it is in the round already");
        assert_eq!(take(&mut left_over, 64), [1, 5]);
        assert_eq!(take(&mut left_over, 64), []);
    }
}
