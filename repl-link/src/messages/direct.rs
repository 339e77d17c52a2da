//! The messages of a connection inside one process, which sends no packets. A message is written and its bits
//! are delivered at once, so the receiver reads the same values as over a link.
//!
//! *Invariant:* the limits of a type of messages are the same as on a connection with packets.

use std::time::Duration;

use repl_core::{BitWriter, Objects};

use crate::messages::channel::SendError;
use crate::messages::mailbox::{Arrival, Mailbox};
use crate::messages::sender::Sender;
use crate::rate::rate_limit::RateLimit;
use crate::session::disconnect::DisconnectReason;

/// How many messages of each kind one side of a connection without packets may send, for each channel.
#[derive(Debug, Default)]
pub struct DirectLimits {
    limits: Vec<Vec<RateLimit>>,
}

impl DirectLimits {
    /// Returns the limits that a client must obey for the channels of a mailbox.
    pub fn of<F: Sender>(mailbox: &Mailbox<F>) -> Self {
        let of_channel = |rates: Vec<u32>| rates.into_iter().map(RateLimit::sending).collect();
        Self { limits: mailbox.rates().map(of_channel).collect() }
    }

    /// Counts a message of a kind.
    ///
    /// # Errors
    /// Returns an error, and counts nothing, if too many messages of this kind were sent.
    pub fn take(&mut self, (channel, kind): (u16, usize), now: Duration) -> Result<(), SendError> {
        let limit = self.limits.get_mut(channel as usize).and_then(|limits| limits.get_mut(kind));
        let limit = limit.ok_or(SendError::NotConnected)?;
        let per_second = limit.per_second();
        if limit.take(now) { Ok(()) } else { Err(SendError::TooFast { per_second }) }
    }
}

/// A message that was written and is delivered without a packet.
pub struct DirectMessage<'a, F> {
    /// The sender of the message.
    pub from: F,
    /// The message.
    pub writer: &'a mut BitWriter,
    /// Tells which objects exist.
    pub objects: &'a dyn Objects,
    /// The time at which the message is sent.
    pub now: Duration,
}

impl<F: Sender> DirectMessage<'_, F> {
    /// Delivers the message.
    ///
    /// # Errors
    /// Returns an error if the connection must end, because too many messages wait to be polled.
    pub fn deliver(self, mailbox: &mut Mailbox<F>, channel: u16) -> Result<(), DisconnectReason> {
        let Self { from, writer, objects, now } = self;
        let content = writer.as_slice();
        mailbox.deliver(
            channel,
            Arrival { from, number: 0, content, ticket: None, objects, limits: &mut [], now },
        )
    }
}
