//! The parts of an outgoing message that is larger than a packet: which parts must be sent, which are in
//! flight, and which are acknowledged.
//!
//! *Invariant:* sending, acknowledging or losing a part costs amortised O(log parts in flight), however many
//! parts the message has.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use repl_core::BitSlice;

use crate::frame::cut::{Cut, LEAST_PART_BITS};
use crate::frame::message::{MESSAGE_HEAD_BITS, NEXT_PART_BITS, PART_HEAD_BITS};
use crate::frame::sequence::Sequence;
use crate::messages::progress::Progress;
use crate::outbox::SEGMENT_BITS;

/// How many parts of a large message fit into a packet. With several parts in a packet, a part can also use
/// the room that other content leaves unused.
const PARTS_IN_PACKET: usize = 4;

/// Returns how a message of `bit_len` bits is cut, if a packet has room for `max_bits` bits.
pub(super) fn cut_for(bit_len: usize, max_bits: usize) -> Cut {
    if bit_len.saturating_add(MESSAGE_HEAD_BITS) <= max_bits {
        return Cut::whole(bit_len);
    }
    let head_bits = PART_HEAD_BITS + (PARTS_IN_PACKET - 1) * NEXT_PART_BITS + 2 * SEGMENT_BITS;
    let part_bits = max_bits.saturating_sub(head_bits) / PARTS_IN_PACKET;
    // A part of whole bytes is copied faster.
    let part_bits = part_bits.saturating_sub(part_bits % 8);
    Cut { bit_len, part_bits: part_bits.max(LEAST_PART_BITS) }
}

#[derive(Debug)]
pub(super) struct Parts {
    cut: Cut,
    content: Arc<Vec<u8>>,
    /// All parts before this one are acknowledged.
    first: u32,
    /// The states of the parts from `first` on that were sent at least one time.
    states: VecDeque<State>,
    /// The first part that must still be sent in this round. All later parts must also be sent, except those
    /// that are acknowledged.
    next: u32,
    /// How many rounds remain, including the current round. Each round sends all parts that are not
    /// acknowledged. A sequenced message has one round for each copy, and all other messages have one round.
    rounds: u8,
    lost: BTreeSet<u32>,
    acked_bits: usize,
    /// Whether no part is sent yet, because the other side does not accept parts of one more message.
    pub is_held: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The part was lost.
    Waiting,
    /// The part was sent in this packet, which may still arrive.
    InFlight(Sequence),
    Acked,
}

impl Parts {
    /// Returns the parts of a message that is cut into at least two parts. No part was sent yet.
    pub(super) fn new(cut: Cut, content: Arc<Vec<u8>>, rounds: u8) -> Self {
        Self {
            cut,
            content,
            first: 0,
            states: VecDeque::new(),
            next: 0,
            rounds,
            lost: BTreeSet::new(),
            acked_bits: 0,
            is_held: false,
        }
    }

    /// Returns the bytes of the whole message.
    pub(super) fn content(&self) -> &[u8] {
        &self.content
    }

    /// Returns the shared buffer with the bytes of the whole message.
    pub(super) fn shared(&self) -> Arc<Vec<u8>> {
        self.content.clone()
    }

    /// Returns whether each part fits into a packet with room for `max_bits`.
    pub(super) fn fit(&self, max_bits: usize) -> bool {
        self.cut.bits_of(0).saturating_add(PART_HEAD_BITS) <= max_bits
    }

    /// Returns how the message is cut, and the bits of a part.
    pub(super) fn part(&self, part: u32) -> (Cut, BitSlice<'_>) {
        (self.cut, self.cut.part(part as usize, &self.content))
    }

    fn end(&self) -> u32 {
        u32::try_from(self.cut.parts()).unwrap_or(u32::MAX)
    }

    /// Returns the part that must be sent next. Lost parts come first.
    pub(super) fn next(&self) -> Option<u32> {
        let next = || self.lost.first().copied().or((self.next < self.end()).then_some(self.next));
        if self.is_held { None } else { next() }
    }

    /// Records that the [next](Self::next) part was sent in a packet. Returns whether its round is over.
    pub(super) fn sent(&mut self, sequence: Sequence) -> bool {
        if let Some(part) = self.lost.pop_first() {
            self.state_mut(part).into_iter().for_each(|state| *state = State::InFlight(sequence));
        } else {
            match self.state_mut(self.next) {
                Some(state) => *state = State::InFlight(sequence),
                None => self.states.push_back(State::InFlight(sequence)),
            }
            self.next = self.next.saturating_add(1);
        }
        self.skip_acked();
        let is_over = self.next().is_none();
        if is_over && self.rounds > 1 {
            (self.rounds, self.next) = (self.rounds.saturating_sub(1), self.first);
            self.skip_acked();
        }
        is_over
    }

    /// Records that a part has arrived.
    pub(super) fn arrived(&mut self, part: u32) {
        let Some(state) = self.state_mut(part) else { return };
        if std::mem::replace(state, State::Acked) == State::Acked {
            return;
        }
        self.lost.remove(&part);
        self.acked_bits = self.acked_bits.saturating_add(self.cut.bits_of(part as usize));
        while self.states.front() == Some(&State::Acked) {
            self.states.pop_front();
            self.first = self.first.saturating_add(1);
        }
        self.skip_acked();
    }

    /// Records that the packet `sequence` with a part of a reliable message was lost. The part is sent again,
    /// unless a later packet contains it. Returns whether the part is not acknowledged.
    pub(super) fn lost(&mut self, sequence: Sequence, part: u32) -> bool {
        let Some(state) = self.state_mut(part) else { return false };
        if *state == State::InFlight(sequence) {
            *state = State::Waiting;
            self.lost.insert(part);
            return true;
        }
        *state != State::Acked
    }

    /// Returns whether the message needs no more work: all parts are acknowledged, or the message is
    /// unreliable and all its rounds were sent.
    pub(super) fn is_done(&self, is_reliable: bool) -> bool {
        self.first == self.end() || !is_reliable && self.next().is_none()
    }

    pub(super) fn progress(&self) -> Progress {
        Progress::of_bits(self.acked_bits, self.cut.bit_len)
    }

    /// Moves `next` to a part that is not acknowledged.
    fn skip_acked(&mut self) {
        self.next = self.next.max(self.first);
        while self.state_mut(self.next).is_some_and(|state| *state == State::Acked) {
            self.next = self.next.saturating_add(1);
        }
    }

    /// Returns the state of a part that was sent. All parts before `first` are acknowledged.
    fn state_mut(&mut self, part: u32) -> Option<&mut State> {
        self.states.get_mut(part.checked_sub(self.first)? as usize)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a message of ten parts.
    fn ten(rounds: u8) -> Parts {
        Parts::new(Cut { bit_len: 3_000, part_bits: 300 }, Arc::new(vec![0; 375]), rounds)
    }

    /// Sends up to `count` parts of a round, and returns them.
    fn send(parts: &mut Parts, count: usize, packet: u64) -> Vec<u32> {
        let mut sent = Vec::new();
        while sent.len() < count
            && let Some(part) = parts.next()
        {
            sent.push(part);
            if parts.sent(Sequence::new(packet)) {
                break;
            }
        }
        sent
    }

    #[test]
    fn lost_parts_go_first_and_only_they_are_sent_again() {
        let mut parts = ten(1);
        assert_eq!(send(&mut parts, 4, 0), [0, 1, 2, 3]);
        assert_eq!(send(&mut parts, 2, 1), [4, 5]);
        assert!((0..4).all(|part| parts.lost(Sequence::new(0), part)));
        parts.arrived(2);
        assert_eq!(send(&mut parts, 2, 2), [0, 1]);
        assert!(parts.lost(Sequence::new(0), 0), "a later packet has it");
        assert_eq!(send(&mut parts, 99, 3), [3, 6, 7, 8, 9]);
        assert!(!parts.lost(Sequence::new(0), 2), "it has arrived");
        assert_eq!(send(&mut parts, 99, 4), []);
        assert_eq!(parts.progress(), Progress { done_bytes: 37, total_bytes: 375 });
        (0..10).for_each(|part| parts.arrived(part));
        assert!(parts.is_done(true) && parts.states.is_empty());
        assert_eq!(parts.progress(), Progress { done_bytes: 375, total_bytes: 375 });
    }

    #[test]
    fn copies_are_sent_in_rounds_without_what_has_arrived() {
        let mut parts = ten(3);
        assert_eq!(send(&mut parts, 99, 0).len(), 10);
        parts.arrived(0);
        parts.arrived(5);
        assert_eq!(send(&mut parts, 99, 1), [1, 2, 3, 4, 6, 7, 8, 9]);
        assert!(!parts.is_done(false));
        (1..9).for_each(|part| parts.arrived(part));
        assert_eq!(send(&mut parts, 99, 2), [9]);
        assert!(parts.is_done(false) && !parts.is_done(true));
    }

    proptest! {
        #[test]
        fn each_part_is_sent_until_it_has_arrived(
            losses in proptest::collection::vec((any::<bool>(), 1..5_usize), 1..200),
        ) {
            let (mut parts, mut arrived) = (ten(1), BTreeSet::new());
            for (packet, (is_lost, count)) in losses.into_iter().enumerate() {
                let sequence = Sequence::new(packet as u64);
                for part in send(&mut parts, count, packet as u64) {
                    prop_assert!(!arrived.contains(&part));
                    if is_lost {
                        prop_assert!(parts.lost(sequence, part));
                    } else {
                        parts.arrived(part);
                        arrived.insert(part);
                    }
                }
                prop_assert_eq!(parts.is_done(true), arrived.len() == 10);
                prop_assert_eq!(parts.next().is_none(), arrived.len() == 10);
                prop_assert_eq!(parts.acked_bits, arrived.len() * 300);
            }
        }
    }
}
