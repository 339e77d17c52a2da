//! How many items of a collection fill a packet: guessed by what the last ones took, since nobody knows before they are written.
//!
//! Invariant: a guess is made better at every attempt, so that an item is written about once, however many packets all of them take.

/// What is said of an item or entry takes no less.
pub(crate) const LEAST_ITEM_BITS: usize = 2;

/// What brings a new item or entry takes no less: it is padded.
pub(crate) const LEAST_NEW_BITS: usize = 8;

/// How many items are tried first.
const FIRST_GUESS: usize = 64;

/// A guess leaves one part in so many free, for items are not alike.
const SLACK: usize = 32;

/// The size of the parts that items are sent in.
#[derive(Debug)]
pub(crate) struct PartSize {
    room_bits: usize,
    /// Items in the next part to be tried.
    count: usize,
    /// Whether more than that were too many for the part at hand.
    is_bounded: bool,
}

/// What is to be done with a part that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It fits, and more of it might not.
    Send,
    /// It is to be written again, with another number of items.
    TryAgain,
    /// Not even a single item fits.
    TooLarge,
}

impl PartSize {
    /// For parts of up to so many bits.
    pub(crate) fn new(room_bits: usize) -> Self {
        Self { room_bits, count: FIRST_GUESS, is_bounded: false }
    }

    /// How many items are to be tried, at least one.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// So many items took so many bits, of `left` that there were.
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

    /// Cuts items of so many bits into parts; gives how many parts there are, and how many items were written for them.
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
