//! The messages that a client sends to the server and receives from it.
//!
//! *Invariant:* a message that was lost is sent again only if its channel is reliable.

use repl_core::NetSerialize;
use repl_link::{Channel, MessageOptions, SendError};

use super::Client;

impl Client {
    /// Registers a type of messages, which can then be sent in both directions. The server must register the
    /// same types with the same channels, in any order.
    ///
    /// # Panics
    /// Panics after the first [`tick`](Self::tick), if a type of this name is registered already,
    /// or if a field of the type has a condition.
    #[track_caller]
    pub fn register_message<M: NetSerialize + Send + Sync>(&mut self, channel: Channel) -> &mut Self {
        self.register_message_with::<M>(channel, MessageOptions::default())
    }

    /// Registers a type of messages with its own limits. The server must register the type with the same
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
        self.session.mailbox.register::<M>(channel, options);
        self
    }

    /// Queues a message to the server. The next [`tick`](Self::tick) sends the message.
    ///
    /// The references in a message are resolved when the message is delivered. If the receiver does not have
    /// an object at that time, the reference to it reads as null.
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent. If so, nothing was changed. After [`SendError::Full`],
    /// try again in a later tick.
    ///
    /// # Panics
    /// Panics if the type is not [registered](Self::register_message).
    #[track_caller]
    pub fn send<M: NetSerialize + Send + Sync>(&mut self, message: &M) -> Result<(), SendError> {
        self.session.send(message)
    }

    /// Returns the next message of a type from the server, in the order in which they were delivered. Returns
    /// `None` if there are no more messages of this type. Poll the messages of all types in each frame. At
    /// most 4,096 messages of a type may wait, and their total size may be at most 1 MiB (plus
    /// [`max_bytes`](MessageOptions::max_bytes), if that is more than 64 KiB). If a packet exceeds this, the
    /// connection ends with [`Unread`](crate::DisconnectReason::Unread). If the channel is not reliable, the
    /// client drops the oldest waiting messages instead.
    ///
    /// # Panics
    /// Panics if the type is not [registered](Self::register_message).
    #[track_caller]
    pub fn poll_message<M: NetSerialize + Send + Sync>(&mut self) -> Option<M> {
        self.session.mailbox.poll().map(|((), message)| message)
    }
}
