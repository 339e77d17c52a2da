//! Detects that larger packets arrive truncated, because the program receives them into a buffer that is too
//! small. The checksums of such packets are wrong, and they all have the same length.
//!
//! *Invariant:* nothing is reported after a larger packet has arrived intact.

/// How many damaged packets in a row must have the same length.
const LEAST_DAMAGED: u32 = 8;
/// Shorter damaged packets do not count as truncated, because they are often packets of other sessions.
const LEAST_BYTES: usize = 256;

/// The lengths of intact and damaged packets.
#[derive(Debug, Default)]
pub(crate) struct Truncation {
    /// The length of the longest packet that arrived intact.
    longest: usize,
    /// The length of the last damaged packet, and how many damaged packets in a row had this length.
    damaged: (usize, u32),
    /// The length to which packets are truncated, until [`take`](Self::take) returns it.
    found: Option<usize>,
    is_told: bool,
}

impl Truncation {
    /// Records that a packet of this many bytes has arrived intact.
    pub(crate) fn arrived(&mut self, bytes: usize) {
        self.longest = self.longest.max(bytes);
    }

    /// Records that a packet of this many bytes was damaged. Packets may have up to `most` bytes.
    pub(crate) fn damaged(&mut self, bytes: usize, most: usize) {
        if bytes < self.longest.max(LEAST_BYTES) || bytes >= most {
            return;
        }
        let (last, count) = self.damaged;
        self.damaged = (bytes, if last == bytes { count.saturating_add(1) } else { 1 });
        if self.damaged.1 >= LEAST_DAMAGED && !self.is_told {
            (self.found, self.is_told) = (Some(bytes), true);
        }
    }

    /// If larger packets seem to be truncated, returns the length to which they are truncated, in bytes.
    /// Returns each length only once.
    pub(crate) fn take(&mut self) -> Option<usize> {
        let longest = self.longest;
        self.found.take().filter(|&bytes| longest <= bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the detected length after these packets. Each packet is its length, and whether it is intact.
    fn found(packets: impl IntoIterator<Item = (usize, bool)>) -> Option<usize> {
        let mut truncation = Truncation::default();
        for (bytes, is_intact) in packets {
            if is_intact { truncation.arrived(bytes) } else { truncation.damaged(bytes, 1_200) }
        }
        let found = truncation.take();
        assert_eq!(truncation.take(), None, "it is told once");
        found
    }

    #[test]
    fn packets_that_are_damaged_at_one_length_are_truncated() {
        assert_eq!(found([(1_024, false); 8]), Some(1_024));
        let mixed = [(60, true), (1_024, false), (300, true), (12, false), (1_024, true)];
        assert_eq!(found(mixed.repeat(8)), Some(1_024), "shorter packets arrive");
        assert_eq!(found([(1_024, false); 7]), None, "they are too few");
    }

    #[test]
    fn packets_that_are_damaged_for_other_reasons_are_not_truncated() {
        assert_eq!(found((0..100).map(|at| (1_000 + at, false))), None, "at any length");
        assert_eq!(found([[(1_024, false); 100].as_slice(), &[(1_025, true)]].concat()), None);
        assert_eq!(found([[(1_025, true)].as_slice(), &[(1_024, false); 100]].concat()), None);
        assert_eq!(found([(12, false); 100]), None, "packets of another session");
        assert_eq!(found([(1_200, false); 100]), None, "packets of the full size");
    }
}
