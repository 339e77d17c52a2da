//! Estimates how many items of a collection fill a packet, from the size of the items that were written last.
//! The exact size of an item is known only after it was written.
//!
//! *Invariant:* after each attempt to fill a packet, the estimate is computed again from the items that this
//! attempt wrote. Therefore few items are written twice, even if a collection needs many packets.

/// The smallest number of bits that an item or entry takes.
pub(crate) const LEAST_ITEM_BITS: usize = 2;

/// The smallest number of bits that a new item or entry takes. Smaller new items are padded to this size.
pub(crate) const LEAST_NEW_BITS: usize = 8;

/// The number of items that the first attempt writes.
const FIRST_GUESS: usize = 64;

/// An estimate plans with 1/`SLACK` of a packet unused, because items differ in size.
const SLACK: usize = 32;

/// The estimated size of the parts in which items are sent.
#[derive(Debug)]
pub(crate) struct PartSize {
    room_bits: usize,
    /// The number of items for the next attempt.
    count: usize,
    /// Whether an attempt has shown that more items than `count` do not fit into the current part.
    is_bounded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Send the part, because it fits and more items might not fit.
    Send,
    /// Write the part again with another number of items.
    TryAgain,
    /// The part does not fit even with a single item.
    TooLarge,
}

impl PartSize {
    /// Returns an estimate for parts of at most `room_bits` bits.
    pub(crate) fn new(room_bits: usize) -> Self {
        Self { room_bits, count: FIRST_GUESS, is_bounded: false }
    }

    /// Returns how many items the next attempt writes, which is at least one.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Decides what to do after an attempt in which `items` items took `bits` bits. `left` is the number of
    /// unsent items before the attempt.
    pub(crate) fn judge(&mut self, items: usize, bits: usize, left: usize) -> Verdict {
        let scaled = items.saturating_mul(self.room_bits) / bits.max(1);
        let better = (scaled - scaled / SLACK).max(1);
        if bits > self.room_bits {
            self.count = better.min(items.saturating_sub(1)).max(1);
            self.is_bounded = true;
            return if items <= 1 { Verdict::TooLarge } else { Verdict::TryAgain };
        }
        self.count = better;
        let has_room = !self.is_bounded && items < left && better > items + items / 4;
        self.is_bounded = false;
        if has_room { Verdict::TryAgain } else { Verdict::Send }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits items with the sizes `sizes` into parts. Returns the number of parts, and the number of items
    /// that all attempts wrote together.
    fn cut(sizes: &[usize], room_bits: usize) -> (usize, usize) {
        let (mut size, mut at, mut parts, mut written) = (PartSize::new(room_bits), 0, 0, 0);
        while at < sizes.len() {
            let count = size.count().min(sizes.len() - at);
            let bits = 40 + sizes[at..at + count].iter().sum::<usize>();
            written += count;
            match size.judge(count, bits, sizes.len() - at) {
                Verdict::Send => {
                    assert!(bits <= room_bits);
                    (at, parts) = (at + count, parts + 1);
                }
                Verdict::TryAgain => {}
                Verdict::TooLarge => panic!("all of these fit"),
            }
        }
        (parts, written)
    }

    #[test]
    fn parts_are_full_and_items_written_about_once() {
        let uneven: Vec<usize> = (0..20_000).map(|at| 20 + at * 7_919 % 60).collect();
        let rising: Vec<usize> = (0..20_000).map(|at| 20 + at / 200).collect();
        for sizes in [vec![30; 20_000], vec![3_000; 2_000], vec![9_000; 100], uneven, rising] {
            let (parts, written) = cut(&sizes, 9_400);
            let full = sizes.iter().sum::<usize>() / 9_400;
            assert!(parts <= full + full / 10 + 2 || sizes[0] * 2 > 9_400, "{parts} parts, full {full}");
            assert!(written <= sizes.len() + sizes.len() / 4 + 400, "{written} of {}", sizes.len());
        }
    }

    #[test]
    fn an_item_beyond_all_room_is_found() {
        let mut size = PartSize::new(100);
        let mut tried = 0;
        while size.judge(size.count(), size.count() * 101, 64) == Verdict::TryAgain {
            tried += 1;
        }
        assert_eq!(size.count(), 1);
        assert!(tried <= 7);
    }
}
