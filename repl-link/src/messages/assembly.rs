//! Large messages that have arrived only in part.
//!
//! *Invariant:* at most [`MAX_UNFINISHED`] messages are unfinished. The memory depends on the parts that have
//! arrived, and not on the size that a peer claims.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::time::Duration;

use repl_core::{BitSlice, BitWriter};

use crate::frame::cut::{Cut, Partial};
use crate::messages::channel::{MAX_UNFINISHED, held_bytes};

/// An unreliable message is dropped after this time without a new part.
const EXPIRY: Duration = Duration::from_secs(5);

/// The unfinished messages of a connection.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// By channel and number.
    unfinished: BTreeMap<(u16, u64), Unfinished>,
    bytes: usize,
}

#[derive(Debug)]
struct Unfinished {
    partial: Partial,
    is_reliable: bool,
    /// When the last part arrived.
    since: Duration,
    bytes: usize,
}

impl Assembly {
    /// Returns how many bytes the unfinished messages count for.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns how a message is cut, if it is unfinished. Its key is its channel and number.
    pub(super) fn cut(&self, key: (u16, u64)) -> Option<Cut> {
        Some(self.unfinished.get(&key)?.partial.cut)
    }

    /// Returns the content of a message if `parts` are all of its parts that have not arrived, by their
    /// indexes. Stores nothing.
    pub(super) fn whole_with(
        &self,
        key: (u16, u64),
        cut: Cut,
        parts: &BTreeMap<usize, BitSlice<'_>>,
    ) -> Option<BitWriter> {
        match self.unfinished.get(&key).filter(|unfinished| unfinished.partial.cut == cut) {
            Some(unfinished) => unfinished.partial.whole_with(parts),
            None => Partial::new(cut).whole_with(parts),
        }
    }

    /// Returns how many unfinished messages are reliable.
    pub(super) fn reliable(&self) -> usize {
        self.unfinished.values().filter(|unfinished| unfinished.is_reliable).count()
    }

    /// Stores a part of the message with the channel and number `key`. Returns the content of the message if
    /// no part is missing any more. `room` is how many bytes all unfinished messages may count for. If there
    /// is no room, drops unreliable messages, beginning with the message that has waited longest for a new
    /// part.
    pub(super) fn take(
        &mut self,
        key: (u16, u64),
        (cut, index): (Cut, usize),
        content: BitSlice<'_>,
        (is_reliable, room): (bool, usize),
        now: Duration,
    ) -> Option<BitWriter> {
        if self.cut(key).is_some_and(|known| cut.compare(known) == Ok(Ordering::Less)) {
            // The sender has cut the message anew, because its packets have become smaller.
            self.drop_message(key);
        }
        let is_new = !self.unfinished.contains_key(&key);
        let more = if is_new { held_bytes(content.len() / 8) } else { content.len() / 8 };
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
        let new = || Unfinished { partial: Partial::new(cut), is_reliable, since: now, bytes: 0 };
        let unfinished = self.unfinished.entry(key).or_insert_with(new);
        let mut bits = BitWriter::new();
        bits.append(content);
        if unfinished.partial.cut != cut || !unfinished.partial.insert(index, &mut bits) {
            return None;
        }
        unfinished.since = now;
        unfinished.bytes = unfinished.bytes.saturating_add(more);
        self.bytes = self.bytes.saturating_add(more);
        if !unfinished.partial.is_whole() {
            return None;
        }
        let whole = unfinished.partial.whole();
        self.drop_message(key);
        Some(whole)
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

    /// Drops unreliable messages that have waited too long. Returns the channel of a reliable message of
    /// which no part has arrived since `start`, if there is one.
    pub(super) fn expire(&mut self, start: Option<Duration>, now: Duration) -> Option<u16> {
        let is_old = |of: &Unfinished| !of.is_reliable && now.saturating_sub(of.since) >= EXPIRY;
        while let Some((&key, _)) = self.unfinished.iter().find(|(_, of)| is_old(of)) {
            self.drop_message(key);
        }
        let mut stalled = self.unfinished.iter().filter(|(_, of)| of.is_reliable && Some(of.since) <= start);
        stalled.next().map(|((channel, _), _)| *channel)
    }

    /// Drops an unfinished message with this channel and number, if there is one.
    pub(super) fn drop_message(&mut self, key: (u16, u64)) {
        if let Some(unfinished) = self.unfinished.remove(&key) {
            self.bytes = self.bytes.saturating_sub(unfinished.bytes);
        }
    }
}
