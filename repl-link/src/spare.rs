//! Pools of buffers, which are reused. A pool stores as many buffers as were needed recently.
//!
//! *Invariant:* a buffer that was not used for 512 ticks is freed, so a single burst does not cost memory
//! forever.

use std::collections::VecDeque;

/// Every 256 ticks, which is about every four seconds at 60 Hz, spare buffers are freed if they were not
/// needed since the previous such time. These 256 ticks are called a round.
pub const ROUND_TICKS: u64 = 256;

/// A queue with this capacity or less is never shrunk.
const LEAST_CAPACITY: usize = 8;

/// A value that has memory on the heap.
pub(crate) trait Holds {
    /// Returns how many bytes the value has on the heap. Costs O(1).
    fn held_bytes(&self) -> usize;
}

impl Holds for Vec<u8> {
    fn held_bytes(&self) -> usize {
        self.capacity()
    }
}

/// A pool of values for reuse.
#[derive(Debug, Default)]
pub(crate) struct Spare<T> {
    kept: Vec<T>,
    /// The approximate number of bytes of memory that the values in the pool occupy.
    held_bytes: usize,
    /// The smallest number of values that the pool had at any time in this round (see [`ROUND_TICKS`]). So
    /// this many values were not needed in this round.
    idle: usize,
    /// The greatest number of values that the pool had at any time in this round.
    most: usize,
}

impl<T: Default + Holds> Spare<T> {
    /// Returns a value from the pool, in the state in which it was put into the pool, or a new value.
    pub(crate) fn take(&mut self) -> T {
        let taken = self.kept.pop();
        self.idle = self.idle.min(self.kept.len());
        self.held_bytes -= taken.as_ref().map_or(0, T::held_bytes);
        taken.unwrap_or_default()
    }

    /// Returns the value that [`take`](Self::take) would return, unless the pool is empty.
    pub(crate) fn next(&self) -> Option<&T> {
        self.kept.last()
    }

    /// Puts a value into the pool.
    pub(crate) fn put(&mut self, used: T) {
        self.held_bytes += used.held_bytes();
        self.kept.push(used);
        self.most = self.most.max(self.kept.len());
    }

    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Frees the values that were not needed in this round (see [`ROUND_TICKS`]), and begins the next round.
    pub(crate) fn end_round(&mut self) {
        self.kept.drain(..self.idle);
        self.held_bytes = self.kept.iter().map(T::held_bytes).sum();
        self.idle = self.kept.len();
        // Most values may be in use now, so the list reserves room for the greatest number of values in this
        // round.
        let most = std::mem::replace(&mut self.most, self.kept.len());
        if self.kept.capacity() > LEAST_CAPACITY.max(4 * most) {
            self.kept.shrink_to(2 * most);
        }
    }
}

/// Shrinks a queue if its capacity is more than four times its length.
pub(crate) fn shrink_sparse<T>(queue: &mut VecDeque<T>) {
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
    fn the_size_of_kept_memory_is_known() {
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
    fn memory_that_each_round_needs_is_kept_and_the_rest_is_freed() {
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
        let taken: Vec<_> = (0..7).map(|_| spare.take()).collect();
        spare.end_round();
        assert!(spare.kept.capacity() >= 7, "they come back");
        drop(taken);
        spare.end_round();
        assert_eq!((spare.kept.len(), spare.kept.capacity()), (0, 0));
        assert_eq!(spare.take(), 0);
    }

    #[test]
    fn a_queue_keeps_room_for_what_is_in_it() {
        let mut queue: VecDeque<u8> = (0..200).collect();
        shrink_sparse(&mut queue);
        assert_eq!(queue.len(), 200);
        queue.truncate(30);
        shrink_sparse(&mut queue);
        assert!((30..=60).contains(&queue.capacity()), "{}", queue.capacity());
        queue.clear();
        shrink_sparse(&mut queue);
        assert_eq!(queue.capacity(), 0);
        queue.push_back(1);
        let least = queue.capacity();
        queue.clear();
        shrink_sparse(&mut queue);
        assert_eq!(queue.capacity(), least, "not worth giving back");
    }
}
