//! The two lanes of messages: usual messages are sent first, and bulk messages (more than 64 KiB) use the
//! room that then remains.
//!
//! *Invariant:* while bulk messages wait, at least one of every [`SHARE`] bits that are sent belongs to bulk
//! messages.

/// Even if state and other messages could use the whole link, one of this many bits is reserved for bulk
/// messages. This slows other data by at most 3 %.
const SHARE: usize = 32;

/// By how many bits bulk messages can be behind their share, or ahead of it.
const MOST_OWED_BITS: i64 = 16_384;

/// The kind of the messages that are sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Usual,
    /// Messages of more than 64 KiB.
    Bulk,
}

/// A value for each lane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ByLane<T> {
    usual: T,
    bulk: T,
}

impl<T> ByLane<T> {
    pub(super) fn of(&mut self, lane: Lane) -> &mut T {
        match lane {
            Lane::Usual => &mut self.usual,
            Lane::Bulk => &mut self.bulk,
        }
    }
}

/// The guaranteed share of bulk messages in the bits that are sent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BulkShare {
    /// By how many bits bulk messages are behind their share.
    owed_bits: i64,
}

impl BulkShare {
    /// Returns how many bits of bulk messages must be sent in this tick before anything else.
    pub(super) fn bits(self) -> usize {
        usize::try_from(self.owed_bits).unwrap_or(0)
    }

    pub(super) fn spend(&mut self, bits: usize) {
        self.owed_bits = self.owed_bits.saturating_sub_unsigned(bits as u64).max(-MOST_OWED_BITS);
    }

    /// Records how many bits a tick has sent in total, while bulk messages were waiting.
    pub(super) fn earn(&mut self, sent_bits: usize) {
        self.owed_bits =
            self.owed_bits.saturating_add_unsigned((sent_bits / SHARE) as u64).min(MOST_OWED_BITS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_gets_a_thirty_second_of_what_is_sent_and_saves_little() {
        let mut share = BulkShare::default();
        assert_eq!(share.bits(), 0);
        share.earn(32_000);
        assert_eq!(share.bits(), 1_000);
        share.spend(2_320);
        assert_eq!(share.bits(), 0);
        share.earn(64_000);
        assert_eq!(share.bits(), 680);
        (0..999).for_each(|_| share.earn(1_000_000));
        assert_eq!(share.bits(), MOST_OWED_BITS as usize);
        (0..999).for_each(|_| share.spend(1_000_000));
        share.earn(2 * SHARE * MOST_OWED_BITS as usize);
        assert_eq!(share.bits(), MOST_OWED_BITS as usize);
    }
}
