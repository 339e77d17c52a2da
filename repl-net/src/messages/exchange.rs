//! The messages of one connection in both directions.
//!
//! *Invariant:* messages of a packet are delivered after all of the packet was checked.

use repl_core::{Objects, ReadError};

use super::incoming::Incoming;
use super::mailbox::Mailbox;
use super::outgoing::Outgoing;
use super::sender::Sender;
use crate::transport::message::ReceivedMessage;

/// The messages that a connection sends and receives.
#[derive(Debug, Default)]
pub(crate) struct Exchange {
    pub(crate) outgoing: Outgoing,
    incoming: Incoming,
}

impl Exchange {
    /// Begins a session with the channels of a mailbox. Messages of an earlier session are dropped.
    pub(crate) fn begin<F: Sender>(&mut self, mailbox: &Mailbox<F>) {
        self.outgoing.begin(mailbox.channels());
        self.incoming.begin(mailbox.channels());
    }

    /// Ends the session. Messages that were not acknowledged are dropped.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }

    /// Returns about how many bytes of memory the messages take.
    pub(crate) fn held_bytes(&self) -> usize {
        self.outgoing.held_bytes().saturating_add(self.incoming.held_bytes())
    }

    /// Checks the messages of a packet.
    ///
    /// # Errors
    /// If an honest peer cannot have sent them.
    pub(crate) fn check<F: Sender>(
        &self,
        messages: &[ReceivedMessage<'_>],
        mailbox: &Mailbox<F>,
    ) -> Result<(), ReadError> {
        self.incoming.check(messages)?;
        messages.iter().try_for_each(|message| mailbox.check(message.channel, message.content))
    }

    /// Delivers the messages of a packet that was checked, as far as their turn has come.
    ///
    /// # Errors
    /// If too many messages wait to be polled. The text says of which type.
    pub(crate) fn deliver<F: Sender>(
        &mut self,
        messages: &[ReceivedMessage<'_>],
        from: F,
        mailbox: &mut Mailbox<F>,
        objects: &dyn Objects,
    ) -> Result<(), String> {
        let mut result = Ok(());
        for message in messages {
            self.incoming.take(message, |content| {
                if let Err(name) = mailbox.deliver(message.channel, from, content, objects) {
                    result = Err(format!("too much waits to be polled of `{name}`"));
                }
            });
        }
        result
    }
}
