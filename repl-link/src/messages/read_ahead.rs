//! Values that were read when their packet was checked. They are kept until their messages are delivered, so
//! that most messages are read only once.
//!
//! *Invariant:* a value is taken only for the message from which it was read. A value that depends on the
//! objects that exist is not kept, because the rest of the packet may create or remove objects.

use std::collections::VecDeque;

/// How many bytes the waiting values may occupy. The heap memory that they own does not count. Messages
/// beyond this limit are read again when they are delivered.
const MAX_BYTES: usize = 16 << 10;

/// Identifies a message of a packet that is checked. Tickets are in the order of the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    /// The number of the packet. A mailbox numbers the packets that it checks.
    pub packet: u64,
    /// The index of the message in its packet.
    pub index: usize,
}

/// The values of one type of messages that wait for their delivery.
pub struct ReadAhead<V> {
    /// The values, in the order of their messages. All of them are from one packet.
    values: VecDeque<(Ticket, V)>,
}

impl<V> Default for ReadAhead<V> {
    fn default() -> Self {
        Self { values: VecDeque::new() }
    }
}

impl<V> ReadAhead<V> {
    const MAX: usize = MAX_BYTES / size_of::<(Ticket, V)>();

    /// Keeps the value of a message, if there is room. Drops the values of earlier packets, because their
    /// messages were not delivered.
    pub fn keep(&mut self, ticket: Ticket, value: V) {
        if self.values.front().is_some_and(|(first, _)| first.packet != ticket.packet) {
            self.values.clear();
        }
        if self.values.len() < Self::MAX {
            self.values.push_back((ticket, value));
        }
    }

    /// Returns the value of a message, if it was stored. Drops the values of earlier messages.
    pub fn take(&mut self, ticket: Ticket) -> Option<V> {
        while self.values.front().is_some_and(|(first, _)| *first < ticket) {
            self.values.pop_front();
        }
        let is_first = self.values.front().is_some_and(|(first, _)| *first == ticket);
        if is_first { self.values.pop_front().map(|(_, value)| value) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ticket(packet: u64, index: usize) -> Ticket {
        Ticket { packet, index }
    }

    #[test]
    fn a_value_is_taken_once_and_for_its_own_message() {
        let mut values = ReadAhead::default();
        [0, 2, 3, 5].into_iter().for_each(|index| values.keep(ticket(1, index), index));
        assert_eq!(values.take(ticket(1, 0)), Some(0));
        assert_eq!(values.take(ticket(1, 0)), None);
        assert_eq!(values.take(ticket(1, 1)), None, "it was not kept");
        assert_eq!(values.take(ticket(1, 3)), Some(3), "the second message is not delivered");
        assert_eq!(values.take(ticket(2, 5)), None, "another packet");
        values.keep(ticket(3, 0), 0);
        values.keep(ticket(4, 1), 1);
        assert_eq!(values.take(ticket(4, 1)), Some(1));
        assert_eq!(values.values.len(), 0);
    }

    #[test]
    fn values_beyond_the_limit_are_not_kept() {
        let mut values = ReadAhead::default();
        (0..10).for_each(|index| values.keep(ticket(1, index), [0_u8; 5_000]));
        assert_eq!(values.values.len(), 3);
        assert!(values.values.capacity() * size_of::<(Ticket, [u8; 5_000])>() <= 2 * MAX_BYTES);
        let mut large = ReadAhead::default();
        large.keep(ticket(1, 0), [0_u8; 20_000]);
        assert!(large.take(ticket(1, 0)).is_none());
    }
}
