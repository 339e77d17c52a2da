//! The messages that a client sends to the server and receives from it.
//!
//! *Invariant:* a message that was lost is sent again only if its channel is reliable.

use std::time::Duration;

use repl_core::NetSerialize;

use super::Client;
use crate::messages::channel::{Channel, MessageOptions, SendError};
use crate::transport::acks::AckRanges;
use crate::transport::sequence::Sequence;

impl Client {
    /// Registers a type of messages, which can then be sent in both directions. Register the same types with
    /// the same channels as on the server, in any order.
    ///
    /// # Panics
    /// Panics after the first [`tick`](Self::tick), if a type of this name is registered already,
    /// or if a field of the type has a condition.
    #[track_caller]
    pub fn register_message<M: NetSerialize + Send + Sync>(&mut self, channel: Channel) -> &mut Self {
        self.register_message_with::<M>(channel, MessageOptions::default())
    }

    /// Registers a type of messages with its own limits. The server must register messages with the same
    /// limits.
    ///
    /// # Panics
    /// Panics in the same cases as [`register_message`](Self::register_message), or if a limit is out of the
    /// range in its description.
    #[track_caller]
    pub fn register_message_with<M: NetSerialize + Send + Sync>(
        &mut self,
        channel: Channel,
        options: MessageOptions,
    ) -> &mut Self {
        self.assert_registers("the messages", M::WIRE_NAME);
        self.mailbox.register::<M>(channel, options);
        self
    }

    /// Queues a message to the server, which is sent in the next [`tick`](Self::tick).
    ///
    /// References in a message are resolved when the message is delivered. A reference to an object that the
    /// other side does not have at that time reads as null.
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent. If the message cannot be sent, nothing has changed.
    /// After [`SendError::Full`], the call can be tried again later.
    ///
    /// # Panics
    /// Panics if the type is not [registered](Self::register_message).
    #[track_caller]
    pub fn send<M: NetSerialize + Send + Sync>(&mut self, message: &M) -> Result<(), SendError> {
        let max_bits = self.outbox.capacity();
        let (channel, writer) = self.mailbox.write(message)?;
        if !self.handshake.is_connected() {
            return Err(SendError::NotConnected);
        }
        self.exchange.add_limited((channel, 0), writer, max_bits, self.last_tick)
    }

    /// Returns the next message of a type from the server, in the order in which they were delivered. Returns
    /// `None` if there are no more messages of this type. Poll the messages of all types in each frame. If
    /// more than 4,096 messages of a type wait, or if they have more than 1 MiB together, the connection ends
    /// with [`Unread`](crate::DisconnectReason::Unread) after the packet that brought them. If the channel is
    /// not reliable, the client instead drops the oldest waiting messages.
    ///
    /// # Panics
    /// Panics if the type is not [registered](Self::register_message).
    #[track_caller]
    pub fn poll_message<M: NetSerialize + Send + Sync>(&mut self) -> Option<M> {
        self.mailbox.poll().map(|((), message)| message)
    }

    /// Handles acks of packets that this client has sent.
    pub(super) fn acked(&mut self, acks: AckRanges<'_>, now: Duration) {
        let mut newest = None;
        for range in acks {
            newest = newest.max(Some(range.last));
            if let Some(elapsed) = self.outbox.arrived_late(range, now) {
                self.link.acked_late(elapsed);
            }
            self.exchange.outgoing.arrived_late(range);
            let mut sequence = range.first.max(self.outbox.in_flight.floor());
            while sequence <= range.last {
                self.arrived(sequence);
                sequence = sequence.next();
            }
        }
        if let Some(newest) = newest {
            self.link.acked(newest, self.outbox.acked(newest, now));
        }
    }

    fn arrived(&mut self, sequence: Sequence) {
        if !self.outbox.arrived(sequence) {
            return;
        }
        self.link.timeouts = 0;
        if let Some(contents) = self.outbox.in_flight.take_contents(sequence) {
            self.exchange.outgoing.arrived(&contents.messages);
        }
    }

    /// Declares those packets lost that should have been acked by now. The reliable messages in lost packets
    /// are sent again. If the server has not answered for a long time, other reliable messages are sent again
    /// too.
    fn declare_lost(&mut self, now: Duration) {
        let (overdue, has_timed_out) =
            self.link.overdue(self.outbox.in_flight.unknown(), self.handshake.binding(), now);
        for sequence in overdue {
            if self.outbox.lost(sequence)
                && let Some(contents) = self.outbox.in_flight.take_contents(sequence)
            {
                self.exchange.outgoing.lost(sequence, &contents.messages);
            }
        }
        self.outbox.in_flight.trim();
        self.link.timeouts = self.link.timeouts.saturating_add(u32::from(has_timed_out));
        if let Some(sent_by) = self.link.begin_retry(self.handshake.binding(), now) {
            self.exchange.outgoing.retry(&self.outbox.in_flight, sent_by);
        }
    }

    /// Sends the messages of this tick, together with the acks if acks are due. Returns whether a packet was
    /// sent that contains all acks.
    pub(super) fn send_messages(&mut self, owes_ack: bool, now: Duration) -> bool {
        self.declare_lost(now);
        self.outbox.set_received(owes_ack.then_some(&self.received));
        self.outbox.pace(now, self.link.timeouts);
        self.outbox.begin_pass();
        self.exchange.outgoing.begin_pass();
        self.exchange.outgoing.send(&mut self.outbox, usize::MAX, &|_, _| true, now);
        self.outbox.end_pass(now);
        self.outbox.has_acked_all()
    }
}
