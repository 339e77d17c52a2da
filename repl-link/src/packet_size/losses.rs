//! Detects that a path may drop large packets: several packets in a row were lost, no packet of their size
//! arrived, and the other side still answers. The link then *doubts* its packet size, and tests it with
//! probes.
//!
//! *Invariant:* the ack of a packet removes all recorded losses of packets of the same or a smaller size. So
//! if the path carries every size, the next large packet that arrives removes the recorded losses.

use crate::frame::packet::MTU_BYTES;

/// After this many losses in a row, the next loss raises doubts whether the path carries packets of these
/// sizes.
const DOUBTFUL: usize = 8;

/// The sizes of packets that were lost in a row.
#[derive(Debug)]
pub(crate) struct LossesInRow {
    /// The sizes in bytes, in ascending order. Only the first `len` entries are used.
    sizes: [u16; DOUBTFUL],
    len: u8,
    /// Whether a packet from the other side has arrived since the last loss.
    has_heard: bool,
    /// Whether a loss has raised doubts, and [`take_doubts`](Self::take_doubts) was not called since.
    is_doubtful: bool,
    /// The size of the largest packet that has arrived since the first loss in the row.
    arrived: u16,
    /// The size that is tested now, and whether a packet of at least this size has arrived. Used only during
    /// a test.
    tested: u16,
    has_carried: bool,
}

impl Default for LossesInRow {
    fn default() -> Self {
        Self {
            sizes: [0; DOUBTFUL],
            len: 0,
            has_heard: false,
            is_doubtful: false,
            arrived: 0,
            tested: u16::MAX,
            has_carried: false,
        }
    }
}

impl LossesInRow {
    /// Records that a packet has arrived at the other side.
    #[inline]
    pub(crate) fn arrived(&mut self, bytes: usize) {
        let bytes = bytes as u16;
        self.has_carried |= bytes >= self.tested;
        if self.len > 0 {
            self.arrived_in_row(bytes);
        }
    }

    /// Removes the losses of packets that are not larger than the packet that arrived.
    fn arrived_in_row(&mut self, bytes: u16) {
        let row = self.sizes.get(..usize::from(self.len)).unwrap_or_default();
        let disproved = row.partition_point(|&lost| lost <= bytes);
        self.sizes.copy_within(disproved.., 0);
        self.len = self.len.saturating_sub(disproved as u8);
        self.arrived = if self.len == 0 { 0 } else { self.arrived.max(bytes) };
        self.is_doubtful &= disproved == 0;
    }

    /// Records that a packet was declared lost.
    pub(crate) fn lost(&mut self, bytes: usize) {
        let (bytes, len) = (bytes as u16, usize::from(self.len));
        let has_heard = std::mem::take(&mut self.has_heard);
        // Every path carries packets of the least size that can be configured.
        if bytes <= self.arrived || usize::from(bytes) < *MTU_BYTES.start() {
            return;
        }
        if len == DOUBTFUL {
            self.is_doubtful |= has_heard;
            return;
        }
        let at = self.sizes.get(..len).unwrap_or_default().partition_point(|&lost| lost <= bytes);
        self.sizes.copy_within(at..len, at.saturating_add(1));
        self.sizes.get_mut(at).into_iter().for_each(|size| *size = bytes);
        self.len = self.len.saturating_add(1);
    }

    /// Records that a packet of the other side has arrived.
    #[inline]
    pub(crate) fn heard(&mut self) {
        self.has_heard = true;
    }

    #[inline]
    pub(crate) fn are_doubtful(&self) -> bool {
        self.is_doubtful
    }

    /// Returns whether there are doubts, and clears them. Only another loss raises them again, so there are
    /// no doubts after everything has arrived.
    pub(crate) fn take_doubts(&mut self) -> bool {
        std::mem::take(&mut self.is_doubtful)
    }

    /// Clears the recorded losses, because the size `bytes` is tested from now on. Returns the size of the
    /// largest packet that has arrived since the first of these losses.
    pub(crate) fn begin_test(&mut self, bytes: usize) -> usize {
        let arrived = usize::from(self.arrived);
        *self = Self { tested: bytes as u16, ..Self::default() };
        arrived
    }

    /// Returns whether a packet of the tested size has arrived since the test began.
    pub(crate) fn has_carried(&self) -> bool {
        self.has_carried
    }

    pub(crate) fn end_test(&mut self) {
        *self = Self::default();
    }

    /// Forgets from time to time which sizes have arrived, because the path may have changed since then.
    pub(crate) fn end_round(&mut self) {
        self.arrived = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(losses: &LossesInRow) -> &[u16] {
        &losses.sizes[..usize::from(losses.len)]
    }

    #[test]
    fn an_ack_removes_the_losses_of_packets_that_are_not_larger() {
        let mut losses = LossesInRow::default();
        [900, 140, 1_200, 1_100, 140, 127].into_iter().for_each(|bytes| losses.lost(bytes));
        assert_eq!(row(&losses), [140, 140, 900, 1_100, 1_200]);
        losses.arrived(1_050);
        assert_eq!(row(&losses), [1_100, 1_200]);
        losses.lost(1_000);
        assert_eq!(row(&losses), [1_100, 1_200], "larger packets arrive");
        losses.arrived(1_200);
        losses.lost(130);
        assert_eq!(row(&losses), [130], "a new row knows of no earlier ack");
    }

    #[test]
    fn there_are_doubts_when_the_other_side_is_there() {
        let mut losses = LossesInRow::default();
        (0..20).for_each(|_| losses.lost(1_200));
        assert!(!losses.are_doubtful(), "as in an outage");
        losses.heard();
        assert!(!losses.are_doubtful(), "nothing was lost since then");
        losses.lost(1_200);
        losses.arrived(1_199);
        assert!(losses.are_doubtful() && losses.take_doubts() && !losses.take_doubts());
        losses.heard();
        losses.lost(1_190);
        assert!(!losses.are_doubtful(), "larger packets arrive");
        losses.lost(1_200);
        losses.heard();
        losses.lost(1_200);
        assert!(losses.are_doubtful());
        assert_eq!(losses.begin_test(1_200), 1_199);
        assert!(!losses.are_doubtful() && !losses.has_carried());
        losses.arrived(1_199);
        assert!(!losses.has_carried());
        losses.arrived(1_200);
        assert!(losses.has_carried());
    }
}
