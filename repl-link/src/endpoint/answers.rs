//! The answers to clients without a connection, until the user polls them.
//!
//! *Invariant:* an answer is shorter than the packet that it answers (R26). At most [`MAX_ANSWERS`] answers
//! wait, and at most [`MAX_OF_ORIGIN`] of them for one origin (a host or network), so a flood from one host
//! does not block the answers to other hosts.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};

use super::origin::{Address, Origin};

/// The greatest number of answers that wait to be polled. Further answers are dropped. Their clients repeat
/// the hello, the first packet of a handshake.
const MAX_ANSWERS: usize = 1_024;

/// The greatest number of answers that wait for one origin.
const MAX_OF_ORIGIN: usize = 32;

/// The answers that wait, the oldest first.
#[derive(Debug)]
pub(super) struct Answers<A> {
    waiting: VecDeque<(A, Vec<u8>)>,
    of_origin: BTreeMap<Origin, usize>,
}

impl<A: Address> Answers<A> {
    pub(super) const fn new() -> Self {
        Self { waiting: VecDeque::new(), of_origin: BTreeMap::new() }
    }

    /// Adds an answer to a packet of `received_bytes` bytes, unless the answer is too long or too many
    /// answers wait.
    pub(super) fn push(&mut self, to: A, packet: Vec<u8>, received_bytes: usize) {
        let waiting = self.of_origin.get(&to.origin()).copied().unwrap_or(0);
        if packet.len() < received_bytes && waiting < MAX_OF_ORIGIN && self.waiting.len() < MAX_ANSWERS {
            self.of_origin.insert(to.origin(), waiting.saturating_add(1));
            self.waiting.push_back((to, packet));
        }
    }

    pub(super) fn pop(&mut self) -> Option<(A, Vec<u8>)> {
        let (to, packet) = self.waiting.pop_front()?;
        if let Entry::Occupied(mut waiting) = self.of_origin.entry(to.origin()) {
            *waiting.get_mut() = waiting.get().saturating_sub(1);
            if *waiting.get() == 0 {
                waiting.remove();
            }
        }
        Some((to, packet))
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn address(host: usize, port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, (host / 256) as u8, host as u8], port))
    }

    #[test]
    fn r26_one_host_leaves_room_for_the_answers_to_others() {
        let mut answers = Answers::new();
        for round in 0..3 {
            (0..5_000).for_each(|port| answers.push(address(1, port), vec![0; 13], 1_200));
            answers.push(address(2, 1), vec![0; 13], 1_200);
            assert_eq!(answers.waiting.len(), MAX_OF_ORIGIN + 1, "round {round}");
            let polled: Vec<_> = std::iter::from_fn(|| answers.pop()).collect();
            assert_eq!(polled.last().map(|(to, _)| *to), Some(address(2, 1)));
            assert!(answers.of_origin.is_empty() && answers.waiting.is_empty());
        }
    }

    #[test]
    fn r26_no_answer_is_as_long_as_what_it_answers_and_their_number_is_limited() {
        let mut answers = Answers::new();
        answers.push(address(1, 1), vec![0; 13], 13);
        assert_eq!(answers.pop(), None);
        (0..5_000).for_each(|host| answers.push(address(host, 1), vec![0; 13], 14));
        assert_eq!(answers.waiting.len(), MAX_ANSWERS);
    }
}
