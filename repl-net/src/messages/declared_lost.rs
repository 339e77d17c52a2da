//! The reliable messages in packets that counted as lost, for acks that come late.
//!
//! *Invariant:* packets are added in ascending order, and at most [`MAX_MESSAGES`] messages are stored.

use std::collections::VecDeque;

use super::channel::MAX_MESSAGES;
use crate::transport::acks::AckRange;
use crate::transport::message::SentMessage;
use crate::transport::sequence::Sequence;

/// The messages in packets that counted as lost, each with its packet.
#[derive(Debug, Default)]
pub(super) struct DeclaredLost {
    messages: VecDeque<(Sequence, SentMessage)>,
}

impl DeclaredLost {
    /// Adds a message in a packet. If too many messages are stored, drops the oldest.
    pub(super) fn add(&mut self, sequence: Sequence, message: SentMessage) {
        if self.messages.len() >= MAX_MESSAGES {
            self.messages.pop_front();
        }
        self.messages.push_back((sequence, message));
    }

    /// Removes and returns the messages in the packets of a range. Costs O(log messages) if there are none.
    pub(super) fn take(&mut self, range: AckRange) -> Vec<SentMessage> {
        let start = self.messages.partition_point(|(sequence, _)| *sequence < range.first);
        let end = self.messages.partition_point(|(sequence, _)| *sequence <= range.last);
        self.messages.drain(start..end.max(start)).map(|(_, message)| message).collect()
    }

    /// Returns about how many bytes of memory the messages take.
    pub(super) fn held_bytes(&self) -> usize {
        let buffer = self.messages.capacity().saturating_mul(size_of::<(Sequence, SentMessage)>());
        size_of::<Self>().saturating_add(buffer)
    }
}
