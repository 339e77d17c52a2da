//! The reliable messages of packets that counted as lost, for acks that come late.
//!
//! *Invariant:* packets are added in ascending order, and at most [`MAX_MESSAGES`] messages are stored.

use std::collections::VecDeque;

use super::channel::MAX_MESSAGES;
use crate::transport::acks::AckRange;
use crate::transport::message::SentMessage;
use crate::transport::sequence::Sequence;

/// The messages of packets that counted as lost, each with its packet.
#[derive(Debug, Default)]
pub(super) struct GivenUp {
    messages: VecDeque<(Sequence, SentMessage)>,
}

impl GivenUp {
    /// Adds the messages of a packet. Drops the oldest messages if there are too many.
    pub(super) fn add(&mut self, sequence: Sequence, messages: impl Iterator<Item = SentMessage>) {
        self.messages.extend(messages.map(|message| (sequence, message)));
        let surplus = self.messages.len().saturating_sub(MAX_MESSAGES);
        self.messages.drain(..surplus);
    }

    /// Removes and returns the messages of the packets in a range. O(log messages) if there are none.
    pub(super) fn take(&mut self, range: AckRange) -> Vec<SentMessage> {
        let start = self.messages.partition_point(|(sequence, _)| *sequence < range.first);
        let end = self.messages.partition_point(|(sequence, _)| *sequence <= range.last);
        self.messages.drain(start..end.max(start)).map(|(_, message)| message).collect()
    }
}
