//! The messages that one side of a connection receives: puts them in order, and joins their parts.
//!
//! *Invariant:* each message of a reliable channel is delivered exactly once. The memory for messages that
//! wait for earlier messages or for their other parts is limited, whatever the peer sends.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use repl_core::{BitSlice, ReadError};

use crate::frame::cut::Cut;
use crate::frame::message::ReceivedMessage;
use crate::frame::sequence::Sequence;
use crate::messages::assembly::{Assembly, Whole};
use crate::messages::channel::{
    Channel, ChannelConfig, MAX_BYTES, MAX_MESSAGES, MAX_UNFINISHED, held_bytes, is_bulk,
};
use crate::messages::progress::Progress;

#[derive(Debug, Default)]
pub(crate) struct Incoming {
    channels: Vec<ReceivingChannel>,
    /// The bytes of all messages that wait for earlier messages. Bulk messages (more than 64 KiB) do not
    /// count.
    bytes: usize,
    /// The messages that wait for their other parts.
    assembly: Assembly,
}

#[derive(Debug)]
struct ReceivingChannel {
    config: ChannelConfig,
    /// The number of the first message that has not arrived. In an unreliable channel, the number after the
    /// newest message.
    next: u64,
    /// The numbers after `next` that have arrived. An ordered channel also stores their messages.
    early: Early,
    /// The bytes of the bulk messages in `early`.
    early_bulk_bytes: usize,
    /// The last time when the channel made progress: `next` changed, a part of the message `next` arrived, or
    /// no later message was stored.
    since: Duration,
}

#[derive(Debug)]
enum Early {
    Ordered(BTreeMap<u64, Whole>),
    Unordered(BTreeSet<u64>),
    /// The channel is unreliable, so no message waits for another message.
    None,
}

/// The parts of one message that are in the same packet.
struct PacketParts<'a> {
    /// The channel and the number of the message.
    key: (u16, u64),
    cut: Cut,
    /// The index of the first part among the messages of the packet.
    first: usize,
    /// The index of each part in the message, in ascending order, and its content.
    contents: Vec<(usize, BitSlice<'a>)>,
}

impl<'a> PacketParts<'a> {
    /// Adds a part, if no part with its index was added before.
    fn add(&mut self, index: usize, content: BitSlice<'a>) {
        if let Err(at) = self.contents.binary_search_by_key(&index, |(index, _)| *index) {
            self.contents.insert(at, (index, content));
        }
    }
}

impl Incoming {
    /// Begins a connection with these channels.
    pub(crate) fn begin(&mut self, channels: impl Iterator<Item = ChannelConfig>) {
        *self = Self { channels: channels.map(ReceivingChannel::new).collect(), ..Self::default() };
    }

    pub(crate) fn held_bytes(&self) -> usize {
        self.bytes.saturating_add(self.assembly.bytes())
    }

    pub(crate) fn is_at_rest(&self) -> bool {
        self.assembly.is_empty() && self.channels.iter().all(|receiving| receiving.early.is_empty())
    }

    pub(crate) fn progress(&self, channel: u16) -> Option<Progress> {
        self.assembly.progress(channel)
    }

    /// Checks the messages of a packet, before any of its content is applied. Calls `read` with the channel
    /// and the content of each message that is in one piece, or whose last parts are in this packet. If the
    /// message is in one piece, `read` also receives its index in the packet. For a bulk message (of more
    /// than 64 KiB), `read` receives the index of its first part in the packet, because the message will be
    /// delivered with this part.
    ///
    /// The last parts of a bulk message are stored here, so that its content is not copied.
    ///
    /// # Errors
    /// Returns an error if an honest peer cannot have sent these messages. Also returns the errors of `read`.
    pub(crate) fn check(
        &mut self,
        messages: &[ReceivedMessage<'_>],
        mut read: impl FnMut(Option<usize>, u16, BitSlice<'_>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        // An honest peer never exceeds the limit. A dishonest peer can exceed it by at most the messages of
        // one packet.
        if self.held_bytes() > MAX_BYTES {
            return Err(ReadError::TooLong { len: self.held_bytes(), max: MAX_BYTES });
        }
        // In ascending order of their keys.
        let mut parts: Vec<PacketParts<'_>> = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            let receiving = self.channels.get(message.channel as usize).ok_or(ReadError::OutOfRange)?;
            let number = receiving.number_of(message);
            if receiving.is_reliable() && number >= receiving.next.saturating_add(MAX_MESSAGES as u64) {
                return Err(ReadError::OutOfRange);
            }
            let bits = message.part.map_or(message.content.len(), |(cut, _)| cut.bit_len);
            let max = receiving.config.options.max_bytes;
            if bits > max.saturating_mul(8) {
                return Err(ReadError::TooLong { len: bits / 8, max });
            }
            let Some((cut, index)) = message.part else {
                read(Some(at), message.channel, message.content)?;
                continue;
            };
            let key = (message.channel, number);
            // The sender may have cut the message again after it sent this part.
            if self.assembly.is_outdated(key, cut)? {
                continue;
            }
            let place = parts.partition_point(|known| known.key < key);
            if parts.get(place).is_none_or(|known| known.key != key) {
                parts.insert(place, PacketParts { key, cut, first: at, contents: Vec::new() });
            }
            let Some(known) = parts.get_mut(place).filter(|known| known.cut == cut) else {
                return Err(ReadError::OutOfRange);
            };
            known.add(index, message.content);
        }
        parts.retain(|parts| !self.has_arrived(parts.key.0, parts.key.1));
        let is_new =
            |(channel, number)| self.is_reliable(channel) && self.assembly.cut((channel, number)).is_none();
        let begun = parts.iter().filter(|parts| is_new(parts.key)).count();
        let unfinished = self.assembly.reliable().saturating_add(begun);
        // Messages that this packet begins count even if the packet also completes them.
        if begun > 0 && unfinished > MAX_UNFINISHED {
            return Err(ReadError::TooLong { len: unfinished, max: MAX_UNFINISHED });
        }
        let begun = parts.iter().filter(|parts| is_bulk(parts.cut.bit_len) && is_new(parts.key));
        self.check_bulk(begun.map(|parts| (parts.key.0, parts.cut.bit_len.div_ceil(8))))?;
        for PacketParts { key, cut, first, contents } in parts {
            if is_bulk(cut.bit_len) {
                if let Some(whole) = self.assembly.complete_bulk(key, cut, &contents) {
                    read(Some(first), key.0, whole)?;
                }
            } else if let Some(mut whole) = self.assembly.whole_with(key, cut, &contents) {
                read(None, key.0, whole.as_slice())?;
            }
        }
        Ok(())
    }

    /// Checks the bulk messages that a packet begins. Each item of `begun` is the channel of such a message
    /// and its number of bytes, in ascending order of the channels. The bulk messages of a channel that are
    /// unfinished or wait for delivery may together have only as many bytes as the options of the channel
    /// allow.
    fn check_bulk(&self, begun: impl Iterator<Item = (u16, usize)>) -> Result<(), ReadError> {
        let (mut current, mut claimed) = (None, 0_usize);
        for (channel, bytes) in begun {
            let Some(receiving) = self.channels.get(channel as usize) else { continue };
            let max = receiving.config.options.max_bytes;
            if current.replace(channel) != Some(channel) {
                claimed =
                    self.assembly.claimed_bulk_bytes(channel).saturating_add(receiving.early_bulk_bytes);
            }
            claimed = claimed.saturating_add(bytes);
            if claimed > max {
                return Err(ReadError::TooLong { len: claimed, max });
            }
        }
        Ok(())
    }

    fn is_reliable(&self, channel: u16) -> bool {
        self.channels.get(channel as usize).is_some_and(ReceivingChannel::is_reliable)
    }

    fn has_arrived(&self, channel: u16, number: u64) -> bool {
        self.channels.get(channel as usize).is_some_and(|receiving| receiving.has_arrived(number))
    }

    /// Handles a message that was checked. Calls `deliver` with the number and the content of each message
    /// that can be delivered now: `message` itself, and messages that have waited for it. The last argument
    /// of `deliver` says whether `check` has already read this content with the index of this message.
    pub(crate) fn take(
        &mut self,
        message: &ReceivedMessage<'_>,
        now: Duration,
        mut deliver: impl FnMut(u64, BitSlice<'_>, bool),
    ) {
        let Some(receiving) = self.channels.get_mut(message.channel as usize) else { return };
        let number = receiving.number_of(message);
        if receiving.has_arrived(number) {
            return;
        }
        if receiving.early.is_empty() {
            // A message that is stored now begins to wait now, even in the first packet of a connection.
            receiving.since = receiving.since.max(now);
        }
        let assembled = match message.part {
            None => {
                // This message may be empty and replace a message that the sender withdrew after some of its
                // parts were sent.
                self.assembly.drop_message((message.channel, number));
                None
            }
            Some(part) => {
                if number == receiving.next {
                    receiving.since = now;
                }
                let room = (receiving.is_reliable(), MAX_BYTES.saturating_sub(self.bytes));
                let key = (message.channel, number);
                let Some(whole) = self.assembly.take(key, part, message.content, room, now) else { return };
                Some(whole)
            }
        };
        let content = assembled.as_ref().map_or(message.content, Whole::as_slice);
        let (before, is_read) = (receiving.next, assembled.as_ref().is_none_or(Whole::is_bulk));
        match &mut receiving.early {
            Early::None => {
                receiving.next = receiving.next.max(number.saturating_add(1));
                if receiving.config.channel.replaces_older() {
                    self.assembly.drop_before(message.channel, number);
                }
                deliver(number, content, is_read);
            }
            Early::Unordered(early) => {
                early.insert(number);
                deliver(number, content, is_read);
                while early.remove(&receiving.next) {
                    receiving.next = receiving.next.saturating_add(1);
                }
            }
            Early::Ordered(early) if number > receiving.next => {
                let stored = assembled.unwrap_or_else(|| Whole::copied(message.content));
                let bytes = stored.bits.div_ceil(8);
                if stored.is_bulk() {
                    receiving.early_bulk_bytes = receiving.early_bulk_bytes.saturating_add(bytes);
                } else {
                    self.bytes = self.bytes.saturating_add(held_bytes(bytes));
                }
                early.insert(number, stored);
                // Stored parts of unreliable messages must not occupy the room of a reliable message.
                self.assembly.make_room(MAX_BYTES.saturating_sub(self.bytes));
            }
            Early::Ordered(early) => {
                deliver(number, content, is_read);
                receiving.next = receiving.next.saturating_add(1);
                while let Some(stored) = early.remove(&receiving.next) {
                    let bytes = stored.bits.div_ceil(8);
                    if stored.is_bulk() {
                        receiving.early_bulk_bytes = receiving.early_bulk_bytes.saturating_sub(bytes);
                    } else {
                        self.bytes = self.bytes.saturating_sub(held_bytes(bytes));
                    }
                    deliver(receiving.next, stored.as_slice(), false);
                    receiving.next = receiving.next.saturating_add(1);
                }
            }
        }
        if receiving.next > before {
            receiving.since = now;
        }
    }

    /// Drops unreliable messages whose other parts do not arrive. Returns the channel of a reliable message
    /// that has waited since `start` for its other parts or for an earlier message, if there is one.
    pub(crate) fn expire(&mut self, start: Option<Duration>, now: Duration) -> Option<u16> {
        let mut stalled = self.assembly.expire(start, now);
        for (receiving, channel) in self.channels.iter_mut().zip(0..) {
            if receiving.early.is_empty() {
                receiving.since = now;
            } else if Some(receiving.since) <= start {
                stalled = stalled.or(Some(channel));
            }
        }
        stalled
    }
}

impl Early {
    fn is_empty(&self) -> bool {
        match self {
            Self::Ordered(early) => early.is_empty(),
            Self::Unordered(early) => early.is_empty(),
            Self::None => true,
        }
    }
}

impl ReceivingChannel {
    fn new(config: ChannelConfig) -> Self {
        let early = match config.channel {
            Channel::Ordered => Early::Ordered(BTreeMap::new()),
            Channel::Unordered => Early::Unordered(BTreeSet::new()),
            Channel::Sequenced { .. } | Channel::Unreliable | Channel::Inputs => Early::None,
        };
        Self { config, next: 0, early, early_bulk_bytes: 0, since: Duration::ZERO }
    }

    fn is_reliable(&self) -> bool {
        self.config.channel.is_reliable()
    }

    /// Returns whether a message has arrived before, or arrives too late to be delivered. An unreliable
    /// message is in only one packet, and no packet is read twice, so an unreliable message cannot have
    /// arrived before.
    fn has_arrived(&self, number: u64) -> bool {
        let is_before = match self.config.channel {
            Channel::Ordered | Channel::Unordered | Channel::Sequenced { .. } => number < self.next,
            Channel::Unreliable | Channel::Inputs => false,
        };
        is_before
            || match &self.early {
                Early::Ordered(early) => early.contains_key(&number),
                Early::Unordered(early) => early.contains(&number),
                Early::None => false,
            }
    }

    /// Returns the full number of a message: of all numbers with these low 16 bits, the number nearest to the
    /// expected number.
    fn number_of(&self, message: &ReceivedMessage<'_>) -> u64 {
        Sequence::from_wire(message.number, Sequence::new(self.next)).number()
    }
}

#[cfg(test)]
mod tests;
