//! The messages that a client sends to the server and receives from it.
//!
//! *Invariant:* a message that was lost is sent again only if its channel is reliable.

use repl_core::NetSerialize;
use repl_link::{Channel, MessageOptions, SendError};

use super::Client;

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
        self.session.mailbox.register::<M>(channel, options);
        self
    }

    /// Queues a message to the server. The next [`tick`](Self::tick) sends the message.
    ///
    /// References in a message are resolved when the message is delivered. A reference to an object that the
    /// receiver does not have at that time reads as null.
    ///
    /// # Errors
    /// Returns an error if the message cannot be sent. In this case nothing has changed. After
    /// [`SendError::Full`], try the call again later.
    ///
    /// # Panics
    /// Panics if the type is not [registered](Self::register_message).
    #[track_caller]
    pub fn send<M: NetSerialize + Send + Sync>(&mut self, message: &M) -> Result<(), SendError> {
        self.session.send(message)
    }

    /// Returns the next message of a type from the server, in the order in which they were delivered. Returns
    /// `None` if there are no more messages of this type. Poll the messages of all types in each frame. At
    /// most 4,096 messages of a type may wait, and their size together may be at most 1 MiB (plus
    /// [`max_bytes`](MessageOptions::max_bytes), if that is over 64 KiB). If a packet brings more than this,
    /// the connection ends with [`Unread`](crate::DisconnectReason::Unread). If the channel is not reliable,
    /// the client instead drops the oldest waiting messages.
    ///
    /// # Panics
    /// Panics if the type is not [registered](Self::register_message).
    #[track_caller]
    pub fn poll_message<M: NetSerialize + Send + Sync>(&mut self) -> Option<M> {
        self.session.mailbox.poll().map(|((), message)| message)
    }
}
