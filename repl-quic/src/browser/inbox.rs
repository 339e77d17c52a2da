//! The datagrams that have arrived and that the client has not received yet.
//!
//! *Invariant:* the number and the bytes of the stored datagrams are limited.

use std::collections::VecDeque;

/// The greatest number of datagrams. A hidden page runs its loop only once a second, so this has to be enough
/// for about two seconds.
const MOST_DATAGRAMS: usize = 1_024;

/// The greatest number of bytes of all datagrams.
const MOST_BYTES: usize = 1 << 20;

/// A queue of datagrams. If it is full, it drops the oldest ones.
#[derive(Default)]
pub(crate) struct Inbox {
    datagrams: VecDeque<Vec<u8>>,
    bytes: usize,
}

impl Inbox {
    /// Appends a datagram.
    pub(crate) fn push(&mut self, datagram: Vec<u8>) {
        self.bytes = self.bytes.saturating_add(datagram.len());
        self.datagrams.push_back(datagram);
        while self.datagrams.len() > MOST_DATAGRAMS || self.bytes > MOST_BYTES {
            self.pop();
        }
    }

    /// Removes and returns the oldest datagram.
    pub(crate) fn pop(&mut self) -> Option<Vec<u8>> {
        let datagram = self.datagrams.pop_front()?;
        self.bytes = self.bytes.saturating_sub(datagram.len());
        Some(datagram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(inbox: &mut Inbox) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| inbox.pop()).collect()
    }

    #[test]
    fn datagrams_keep_their_order() {
        let mut inbox = Inbox::default();
        for datagram in [vec![1], vec![], vec![2, 3]] {
            inbox.push(datagram);
        }
        assert_eq!(drain(&mut inbox), [vec![1], vec![], vec![2, 3]]);
        assert_eq!(inbox.bytes, 0);
    }

    #[test]
    fn a_full_queue_drops_the_oldest() {
        let mut inbox = Inbox::default();
        for number in 0..2_000_u16 {
            inbox.push(number.to_le_bytes().to_vec());
        }
        let kept = drain(&mut inbox);
        assert_eq!(kept.len(), MOST_DATAGRAMS);
        assert_eq!(kept[0], 976_u16.to_le_bytes());
        assert_eq!(kept[MOST_DATAGRAMS - 1], 1_999_u16.to_le_bytes());
    }

    #[test]
    fn the_bytes_are_limited() {
        let mut inbox = Inbox::default();
        for first in 0..30 {
            inbox.push(vec![first; 60_000]);
        }
        assert!(inbox.bytes <= MOST_BYTES);
        let kept = drain(&mut inbox);
        assert_eq!((kept.len(), kept[0][0]), (17, 13));
        inbox.push(vec![0; MOST_BYTES + 1]);
        assert_eq!(drain(&mut inbox), [[0; 0]; 0]);
    }
}
