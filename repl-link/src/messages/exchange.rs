//! The messages of one connection in both directions.
//!
//! *Invariant:* the messages of a packet are delivered only after the whole packet was checked.

use std::time::Duration;

use repl_core::{BitReader, BitWriter, Objects, ReadError};

use crate::frame::message::{ReceivedMessage, read_messages};
use crate::messages::channel::{MAX_MESSAGES, SendError};
use crate::messages::incoming::Incoming;
use crate::messages::mailbox::{Arrival, Mailbox};
use crate::messages::outgoing::Outgoing;
use crate::messages::progress::MessageProgress;
use crate::messages::read_ahead::Ticket;
use crate::messages::sender::Sender;
use crate::rate::rate_limit::RateLimit;
use crate::session::disconnect::DisconnectReason;

/// A reliable message makes progress when a part of it arrives. A message that waits for an earlier message
/// makes progress when the earlier message does. The connection ends if a message makes no progress for the
/// longest of three times: 30 s, three timeouts, and 40 round trips. If nine of ten packets are lost in both
/// directions, a message is tried four times a second, and only three of a million messages make no progress
/// for 30 s.
const LONGEST_STALL: Duration = Duration::from_secs(30);
const STALL_TIMEOUTS: u32 = 3;
const STALL_ROUND_TRIPS: u32 = 40;

/// The messages that a connection sends and receives.
#[derive(Debug, Default)]
pub struct Exchange {
    /// The messages that this side sends.
    pub outgoing: Outgoing,
    incoming: Incoming,
    /// For each channel, how many messages of each kind a client may send. The client obeys these limits, and
    /// the server checks them.
    limits: Vec<Vec<RateLimit>>,
}

/// The messages of a packet that was checked.
#[derive(Default)]
pub struct CheckedMessages<'a> {
    messages: Vec<ReceivedMessage<'a>>,
    /// The number that the mailbox gave to the packet when it checked the messages.
    packet: u64,
}

impl CheckedMessages<'_> {
    /// Returns whether there is a message of a channel, or a part of one.
    pub fn has_any_of(&self, channel: u16) -> bool {
        self.messages.iter().any(|message| message.channel == channel)
    }

    /// Returns whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}

impl Exchange {
    /// Begins a session with the channels of a mailbox. Messages of an earlier session are dropped. The
    /// session ends if the other side is silent for `timeout`.
    pub fn begin<F: Sender>(&mut self, mailbox: &Mailbox<F>, timeout: Duration) {
        let limit = |per_second| match F::IS_CLIENT {
            true => RateLimit::receiving(per_second, MAX_MESSAGES as u32, timeout),
            false => RateLimit::sending(per_second),
        };
        self.limits = mailbox.rates().map(|rates| rates.into_iter().map(limit).collect()).collect();
        self.outgoing.begin(mailbox.channels());
        self.incoming.begin(mailbox.channels());
    }

    /// Ends the session. Messages that were not acknowledged are dropped.
    pub fn end(&mut self) {
        *self = Self::default();
    }

    /// Returns how much was transferred of the large messages of a channel, in both directions.
    pub fn progress(&self, channel: u16) -> MessageProgress {
        MessageProgress {
            sending: self.outgoing.progress(channel),
            receiving: self.incoming.progress(channel),
        }
    }

    /// Returns about how many bytes of memory the messages occupy, without bulk messages (of more than 64
    /// KiB).
    pub fn held_bytes(&self) -> usize {
        self.outgoing.held_bytes().saturating_add(self.incoming.held_bytes())
    }

    /// Returns whether no message must be sent, and no received message waits for other messages or parts.
    pub fn is_at_rest(&self) -> bool {
        !self.outgoing.is_waiting() && self.incoming.is_at_rest()
    }

    /// Reads and checks a packet that contains only messages.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`read`](Self::read), or if the packet contains anything else.
    pub fn read_alone<'a, F: Sender>(
        &mut self,
        reader: &mut BitReader<'a>,
        mailbox: &mut Mailbox<F>,
    ) -> Result<CheckedMessages<'a>, ReadError> {
        if reader.read_flag()? { Err(ReadError::OutOfRange) } else { self.read(reader, mailbox) }
    }

    /// Reads the messages of a packet after its body, up to the end of the packet. Checks these messages, and
    /// also the large messages whose last parts are in the packet.
    ///
    /// # Errors
    /// Returns an error if an honest peer cannot have sent these messages, or if a message cannot be read.
    pub fn read<'a, F: Sender>(
        &mut self,
        reader: &mut BitReader<'a>,
        mailbox: &mut Mailbox<F>,
    ) -> Result<CheckedMessages<'a>, ReadError> {
        let messages = read_messages(reader, mailbox.channel_count())?;
        if messages.is_empty() {
            return Ok(CheckedMessages::default());
        }
        let packet = mailbox.begin_packet();
        self.incoming.check(&messages, |index, channel, content| {
            mailbox.check(channel, content, index.map(|index| Ticket { packet, index }))
        })?;
        Ok(CheckedMessages { messages, packet })
    }

    /// Delivers the messages of a packet that was checked, or only its messages of one channel. Messages that
    /// must wait for earlier messages or for other parts are stored. A message is never delivered again.
    ///
    /// # Errors
    /// Returns an error if the connection must end, because a client has sent too many messages, or because
    /// too many messages wait to be polled. In the latter case, all messages of the packet are delivered
    /// first. The reason names the type of the message.
    pub fn deliver<F: Sender>(
        &mut self,
        (checked, only): (&CheckedMessages<'_>, Option<u16>),
        from: F,
        mailbox: &mut Mailbox<F>,
        objects: &dyn Objects,
        now: Duration,
    ) -> Result<(), DisconnectReason> {
        let mut result = Ok(());
        for (index, message) in checked.messages.iter().enumerate() {
            if only.is_some_and(|only| only != message.channel) {
                continue;
            }
            let limits = self.limits.get_mut(message.channel as usize).map_or(&mut [][..], Vec::as_mut_slice);
            self.incoming.take(message, now, |number, content, is_read| {
                if !matches!(result, Err(DisconnectReason::TooFast(_))) {
                    let ticket = is_read.then_some(Ticket { packet: checked.packet, index });
                    let arrival =
                        Arrival { from, number, content, ticket, objects, limits: &mut *limits, now };
                    let delivered = mailbox.deliver(message.channel, arrival);
                    if result.is_ok() || matches!(delivered, Err(DisconnectReason::TooFast(_))) {
                        result = delivered;
                    }
                }
            });
        }
        result
    }

    /// Adds a message of a client, unless the client has sent too many of this kind. `max_bits` is the room
    /// for messages in a packet, in bits.
    pub fn add_limited(
        &mut self,
        (channel, kind): (u16, usize),
        writer: &mut BitWriter,
        max_bits: usize,
        now: Duration,
    ) -> Result<(), SendError> {
        let limits = self.limits.get_mut(channel as usize).ok_or(SendError::NotConnected)?;
        let limit = limits.get_mut(kind).ok_or(SendError::NotConnected)?;
        if !limit.allows(now) {
            return Err(SendError::TooFast { per_second: limit.per_second() });
        }
        self.outgoing.add(channel, writer, max_bits)?;
        limit.spend();
        Ok(())
    }

    /// Drops unreliable messages whose other parts do not arrive.
    ///
    /// # Errors
    /// Returns an error if a reliable message makes no progress. `timeout` is the timeout of the session, and
    /// `round_trip` the smoothed round trip.
    pub fn expire(
        &mut self,
        timeout: Duration,
        round_trip: Duration,
        now: Duration,
    ) -> Result<(), DisconnectReason> {
        let longest = LONGEST_STALL
            .max(timeout.saturating_mul(STALL_TIMEOUTS))
            .max(round_trip.saturating_mul(STALL_ROUND_TRIPS));
        match self.incoming.expire(now.checked_sub(longest), now) {
            Some(_) => Err(DisconnectReason::Stalled),
            None => Ok(()),
        }
    }
}
