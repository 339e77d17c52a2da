//! Large messages whose parts have not all arrived yet.
//!
//! *Invariant:* at most [`MAX_UNFINISHED`] messages are unfinished. The memory depends on the parts that have
//! arrived, and not on the size that a peer claims. The size that a bulk message (more than 64 KiB) claims is
//! limited by its type.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

use repl_core::{BitSlice, BitWriter, ReadError};

use crate::frame::cut::{Cut, Partial};
use crate::messages::bulk_content::BulkContent;
use crate::messages::channel::{MAX_UNFINISHED, held_bytes, is_bulk};
use crate::messages::progress::Progress;

/// An unreliable message is dropped after this time without a new part.
const EXPIRY: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// The unfinished messages, by channel and number.
    unfinished: BTreeMap<(u16, u64), Unfinished>,
    /// The bytes of the stored parts, plus 64 bytes for each message. Bulk messages do not count.
    bytes: usize,
}

/// The content of a message whose parts have all arrived.
#[derive(Debug)]
pub(super) struct Whole {
    pub bytes: Vec<u8>,
    pub bits: usize,
}

impl Whole {
    /// Returns a copy of `content`.
    pub(super) fn copied(content: BitSlice<'_>) -> Self {
        let mut bits = BitWriter::new();
        bits.append(content);
        Self { bytes: bits.into_bytes(), bits: content.len() }
    }

    pub(super) fn as_slice(&self) -> BitSlice<'_> {
        BitSlice::new(&self.bytes, 0, self.bits).unwrap_or_default()
    }

    pub(super) fn is_bulk(&self) -> bool {
        is_bulk(self.bits)
    }
}

#[derive(Debug)]
struct Unfinished {
    content: Content,
    is_reliable: bool,
    /// When the last part arrived.
    since: Duration,
    bytes: usize,
}

#[derive(Debug)]
enum Content {
    Usual(Partial),
    Bulk(Box<BulkContent>),
}

impl Content {
    fn new(cut: Cut) -> Self {
        match is_bulk(cut.bit_len) {
            true => Self::Bulk(Box::new(BulkContent::new(cut))),
            false => Self::Usual(Partial::new(cut)),
        }
    }

    fn cut(&self) -> Cut {
        match self {
            Self::Usual(partial) => partial.cut,
            Self::Bulk(bulk) => bulk.cut,
        }
    }

    /// Stores a part. Returns `false` if the part has arrived before.
    fn insert(&mut self, index: usize, part: BitSlice<'_>) -> bool {
        match self {
            Self::Usual(partial) => {
                let mut bits = BitWriter::new();
                bits.append(part);
                partial.insert(index, &mut bits)
            }
            Self::Bulk(bulk) => bulk.insert(index, part),
        }
    }

    fn is_whole(&self) -> bool {
        match self {
            Self::Usual(partial) => partial.is_whole(),
            Self::Bulk(bulk) => bulk.whole().is_some(),
        }
    }

    /// Returns the content if it is not bulk and `parts` contains all its missing parts.
    fn whole_with(&self, parts: &[(usize, BitSlice<'_>)]) -> Option<BitWriter> {
        match self {
            Self::Usual(partial) => partial.whole_with(parts),
            Self::Bulk(_) => None,
        }
    }

    fn into_whole(self) -> Whole {
        let bits = self.cut().bit_len;
        let bytes = match self {
            Self::Usual(partial) => partial.whole().into_bytes(),
            Self::Bulk(bulk) => bulk.into_bytes(),
        };
        Whole { bytes, bits }
    }
}

impl Assembly {
    pub(super) fn is_empty(&self) -> bool {
        self.unfinished.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns how a message is cut, if it is unfinished. Its key is its channel and number.
    pub(super) fn cut(&self, key: (u16, u64)) -> Option<Cut> {
        Some(self.unfinished.get(&key)?.content.cut())
    }

    /// Returns whether the parts of an unfinished message that have arrived are smaller than the parts of
    /// `cut`. Then `cut` is outdated: the sender has since cut the message again, into smaller parts.
    ///
    /// # Errors
    /// Returns an error if the message has another length.
    pub(super) fn is_outdated(&self, key: (u16, u64), cut: Cut) -> Result<bool, ReadError> {
        self.cut(key).map_or(Ok(false), |known| Ok(cut.compare(known)? == Ordering::Greater))
    }

    /// Returns the content of a message that is not bulk, if `parts` contains all its missing parts: the
    /// index and the bits of each part, in ascending order. Does not store the parts.
    pub(super) fn whole_with(
        &self,
        key: (u16, u64),
        cut: Cut,
        parts: &[(usize, BitSlice<'_>)],
    ) -> Option<BitWriter> {
        match self.unfinished.get(&key).filter(|unfinished| unfinished.content.cut() == cut) {
            Some(unfinished) => unfinished.content.whole_with(parts),
            None => Partial::new(cut).whole_with(parts),
        }
    }

    /// Stores `parts`, each with its index, if these are all the missing parts of a bulk message. Then
    /// returns the content of the message, without copying it. The message stays unfinished until one of
    /// these parts is [taken](Self::take).
    pub(super) fn complete_bulk(
        &mut self,
        key: (u16, u64),
        cut: Cut,
        parts: &[(usize, BitSlice<'_>)],
    ) -> Option<BitSlice<'_>> {
        let Content::Bulk(bulk) = &mut self.unfinished.get_mut(&key)?.content else { return None };
        if bulk.cut != cut || !bulk.lacks_only(parts) {
            return None;
        }
        parts.iter().for_each(|&(index, part)| _ = bulk.insert(index, part));
        bulk.whole()
    }

    /// Returns how many bytes the unfinished bulk messages of a channel claim. Costs O(unfinished messages).
    pub(super) fn claimed_bulk_bytes(&self, channel: u16) -> usize {
        let cuts = self.of_channel(channel).map(|unfinished| unfinished.content.cut());
        let bulk = cuts.filter(|cut| is_bulk(cut.bit_len));
        bulk.fold(0, |bytes, cut| bytes.saturating_add(cut.bit_len.div_ceil(8)))
    }

    /// Returns how much has arrived of the oldest unfinished message of a channel.
    pub(super) fn progress(&self, channel: u16) -> Option<Progress> {
        self.of_channel(channel).next().map(|unfinished| match &unfinished.content {
            Content::Usual(partial) => {
                Progress::of_bits(partial.size().saturating_mul(8), partial.cut.bit_len)
            }
            Content::Bulk(bulk) => bulk.progress(),
        })
    }

    /// Returns the unfinished messages of a channel, the oldest first.
    fn of_channel(&self, channel: u16) -> impl Iterator<Item = &Unfinished> {
        self.unfinished.range((channel, 0)..=(channel, u64::MAX)).map(|(_, unfinished)| unfinished)
    }

    pub(super) fn reliable(&self) -> usize {
        self.unfinished.values().filter(|unfinished| unfinished.is_reliable).count()
    }

    /// Stores a part of the message with the channel and number `key`. Returns the content of the message if
    /// all its parts have arrived. `room` is the limit on [`bytes`](Self::bytes). If there is no room, drops
    /// unreliable messages, beginning with the message that has waited longest for a new part.
    pub(super) fn take(
        &mut self,
        key: (u16, u64),
        (cut, index): (Cut, usize),
        content: BitSlice<'_>,
        (is_reliable, room): (bool, usize),
        now: Duration,
    ) -> Option<Whole> {
        if self.cut(key).is_some_and(|known| cut.compare(known) == Ok(Ordering::Less)) {
            // The sender has cut the message again, because its packets have become smaller.
            self.drop_message(key);
        }
        let is_new = !self.unfinished.contains_key(&key);
        let more = match is_new {
            _ if is_bulk(cut.bit_len) => 0,
            true => held_bytes(content.len() / 8),
            false => content.len() / 8,
        };
        let is_full = |assembly: &Self| {
            is_new && assembly.unfinished.len() >= MAX_UNFINISHED
                || assembly.bytes.saturating_add(more) > room
        };
        while is_full(self) {
            let Some(oldest) = self.oldest_unreliable(Some(key)) else { break };
            self.drop_message(oldest);
        }
        if !is_reliable && is_full(self) {
            return None;
        }
        let new = || Unfinished { content: Content::new(cut), is_reliable, since: now, bytes: 0 };
        let unfinished = self.unfinished.entry(key).or_insert_with(new);
        if unfinished.content.cut() != cut {
            return None;
        }
        if unfinished.content.insert(index, content) {
            unfinished.since = now;
            unfinished.bytes = unfinished.bytes.saturating_add(more);
            self.bytes = self.bytes.saturating_add(more);
        }
        // The last parts of a bulk message were stored when their packet was checked.
        if !unfinished.content.is_whole() {
            return None;
        }
        self.remove(key).map(|unfinished| unfinished.content.into_whole())
    }

    /// Drops unreliable messages, beginning with the message that has waited longest for a new part, until
    /// all unfinished messages count for at most `room` bytes.
    pub(super) fn make_room(&mut self, room: usize) {
        while self.bytes > room {
            let Some(oldest) = self.oldest_unreliable(None) else { return };
            self.drop_message(oldest);
        }
    }

    /// Returns the unreliable message, except `key`, that has waited longest for a new part.
    fn oldest_unreliable(&self, key: Option<(u16, u64)>) -> Option<(u16, u64)> {
        let others = self.unfinished.iter().filter(|(other, of)| !of.is_reliable && Some(**other) != key);
        others.min_by_key(|(_, of)| of.since).map(|(&oldest, _)| oldest)
    }

    /// Drops the unfinished messages of a channel with numbers below `number`.
    pub(super) fn drop_before(&mut self, channel: u16, number: u64) {
        let old = self.unfinished.range((channel, 0)..(channel, number));
        let old: Vec<_> = old.map(|(&key, _)| key).collect();
        old.into_iter().for_each(|key| self.drop_message(key));
    }

    /// Drops unreliable messages that have waited too long. Returns the channel of a reliable message that
    /// has received no part since `start`, if there is one.
    pub(super) fn expire(&mut self, start: Option<Duration>, now: Duration) -> Option<u16> {
        let is_old = |of: &Unfinished| !of.is_reliable && now.saturating_sub(of.since) >= EXPIRY;
        while let Some((&key, _)) = self.unfinished.iter().find(|(_, of)| is_old(of)) {
            self.drop_message(key);
        }
        let mut stalled = self.unfinished.iter().filter(|(_, of)| of.is_reliable && Some(of.since) <= start);
        stalled.next().map(|((channel, _), _)| *channel)
    }

    pub(super) fn drop_message(&mut self, key: (u16, u64)) {
        self.remove(key);
    }

    fn remove(&mut self, key: (u16, u64)) -> Option<Unfinished> {
        let unfinished = self.unfinished.remove(&key)?;
        self.bytes = self.bytes.saturating_sub(unfinished.bytes);
        Some(unfinished)
    }
}
