//! Memory that is kept to be used again: as much as was needed of late.
//!
//! Invariant: what lay idle for a whole round is given back at its end, so that nobody pays for a burst ever after.

use std::collections::VecDeque;

/// Ticks of a round: some four seconds at 60 Hz. What is needed once in a round is never given back.
pub(crate) const ROUND_TICKS: u64 = 256;

/// Slots that are not worth giving back.
const LEAST_CAPACITY: usize = 8;

/// What is worth keeping because it holds memory.
pub(crate) trait Holds {
    /// Bytes that it holds on the heap. O(1).
    fn held_bytes(&self) -> usize;
}

impl Holds for Vec<u8> {
    fn held_bytes(&self) -> usize {
        self.capacity()
    }
}

/// Things to be used again.
#[derive(Debug, Default)]
pub(crate) struct Spare<T> {
    kept: Vec<T>,
    /// Bytes that they hold.
    held_bytes: usize,
    /// The fewest that there were since the round began.
    idle: usize,
}

impl<T: Default + Holds> Spare<T> {
    /// One of those kept, as it was put, or a new one.
    pub(crate) fn take(&mut self) -> T {
        let taken = self.kept.pop();
        self.idle = self.idle.min(self.kept.len());
        self.held_bytes -= taken.as_ref().map_or(0, T::held_bytes);
        taken.unwrap_or_default()
    }

    /// Keeps one.
    pub(crate) fn put(&mut self, used: T) {
        self.held_bytes += used.held_bytes();
        self.kept.push(used);
    }

    /// Bytes that those kept hold. O(1).
    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Gives back all.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Gives back what nobody took in this round, and begins the next.
    pub(crate) fn end_round(&mut self) {
        self.kept.drain(..self.idle);
        self.held_bytes = self.kept.iter().map(T::held_bytes).sum();
        self.idle = self.kept.len();
        if self.kept.capacity() > LEAST_CAPACITY.max(4 * self.kept.len()) {
            self.kept.shrink_to(2 * self.kept.len());
        }
    }
}

/// Gives back what a queue has of room beyond four times its length.
pub(crate) fn give_back_room<T>(queue: &mut VecDeque<T>) {
    if queue.capacity() > LEAST_CAPACITY.max(4 * queue.len()) {
        queue.shrink_to(2 * queue.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Holds for u32 {
        fn held_bytes(&self) -> usize {
            0
        }
    }

    #[test]
    fn what_is_kept_is_known_in_bytes() {
        let mut spare = Spare::default();
        spare.put(Vec::with_capacity(100));
        spare.put(Vec::with_capacity(50));
        assert_eq!(spare.held_bytes(), 150);
        assert_eq!(spare.take().capacity(), 50);
        assert_eq!(spare.held_bytes(), 100);
        spare.clear();
        assert_eq!((spare.held_bytes(), spare.take().capacity()), (0, 0));
    }

    #[test]
    fn what_is_needed_in_each_round_stays_and_the_rest_goes() {
        let mut spare = Spare::default();
        (0..100).for_each(|number: u32| spare.put(number));
        spare.end_round();
        assert_eq!(spare.kept.len(), 100, "put in this round");
        for _ in 0..3 {
            let taken: Vec<_> = (0..7).map(|_| spare.take()).collect();
            taken.into_iter().for_each(|number| spare.put(number));
            spare.end_round();
            assert_eq!(spare.kept.len(), 7);
        }
        spare.end_round();
        assert_eq!((spare.kept.len(), spare.kept.capacity()), (0, 0));
        assert_eq!(spare.take(), 0);
    }

    #[test]
    fn a_queue_keeps_room_for_what_is_in_it() {
        let mut queue: VecDeque<u8> = (0..200).collect();
        give_back_room(&mut queue);
        assert_eq!(queue.len(), 200);
        queue.truncate(30);
        give_back_room(&mut queue);
        assert!((30..=60).contains(&queue.capacity()), "{}", queue.capacity());
        queue.clear();
        give_back_room(&mut queue);
        assert_eq!(queue.capacity(), 0);
        queue.push_back(1);
        let least = queue.capacity();
        queue.clear();
        give_back_room(&mut queue);
        assert_eq!(queue.capacity(), least, "not worth giving back");
    }
}
