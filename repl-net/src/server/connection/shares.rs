//! Divides the bytes that may be sent in a tick between messages and state.
//!
//! *Invariant:* if messages do not use their share in a tick, state may use the rest, and the other way
//! round.

/// The greatest recorded number of bytes by which messages or state are behind their share. With a larger
/// limit, one of them could be delayed longer while the other catches up.
const MOST_BEHIND_BYTES: i64 = 8_192;

#[derive(Debug)]
pub(super) struct Shares {
    message_percent: u8,
    /// The number of bytes by which messages are behind their share. `behind_bytes` is negative if state is
    /// behind its share.
    behind_bytes: i32,
}

impl Shares {
    pub(super) const fn new(message_percent: u8) -> Self {
        Self { message_percent, behind_bytes: 0 }
    }

    /// Returns how many bytes of messages may be sent before state, if `budget` bytes may be sent in total.
    pub(super) fn message_bytes(&self, budget: usize) -> usize {
        let share = budget / 100 * usize::from(self.message_percent);
        share.saturating_add_signed(self.behind_bytes as isize)
    }

    /// Stores that a tick has sent `messages` bytes of messages, and `both` bytes in total (messages plus
    /// state). `is_contended` says whether the limits have delayed state. If so, they have also delayed
    /// messages, or no message waits any more, because messages are sent again after state.
    pub(super) fn end_pass(&mut self, messages: usize, both: usize, is_contended: bool) {
        if !is_contended {
            self.behind_bytes = 0;
            return;
        }
        let share = both * usize::from(self.message_percent) / 100;
        let behind = i64::from(self.behind_bytes) + share as i64 - messages as i64;
        self.behind_bytes = behind.clamp(-MOST_BEHIND_BYTES, MOST_BEHIND_BYTES) as i32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_get_their_share_and_what_they_were_behind() {
        let mut shares = Shares::new(25);
        assert_eq!(shares.message_bytes(4_000), 1_000);
        shares.end_pass(400, 4_000, true);
        assert_eq!(shares.message_bytes(4_000), 1_600);
        shares.end_pass(4_000, 4_000, true);
        assert_eq!((shares.message_bytes(4_000), shares.message_bytes(20_000)), (0, 2_600));
        shares.end_pass(0, 4_000, false);
        assert_eq!(shares.message_bytes(4_000), 1_000, "nobody was held back");
        (0..99).for_each(|_| shares.end_pass(0, 4_000, true));
        assert_eq!(shares.message_bytes(0), MOST_BEHIND_BYTES as usize);
    }
}
