//! The paths that the client knows, and the closings by which the client learns that static objects are
//! destroyed, even if it does not have them (S200, S212).
//!
//! *Invariant:* only an ack of an opening with a path makes the path known, so a path is repeated after each
//! loss.

use repl_link::parts::Sequence;

use super::ObjectStates;
use super::tracked::{Phase, Tracked};
use crate::body::removal::CloseReason;

impl ObjectStates {
    /// Returns whether the client knows the path of the object in a slot.
    pub(crate) fn knows_path(&self, slot: u32) -> bool {
        self.known_paths.as_ref().is_some_and(|known| known.contains(slot))
    }

    /// Records that an opening (first update) with the path of the object in a slot has arrived.
    pub(crate) fn learn_path(&mut self, slot: u32) {
        self.known_paths.get_or_insert_default().insert(slot);
    }

    /// Forgets that the client knows the path of the object that was in a slot.
    pub(crate) fn forget_path(&mut self, slot: u32) {
        self.known_paths.iter_mut().for_each(|known| known.remove(slot));
    }

    /// Returns whether the packet `sequence` is about the object that the client has or is receiving in a
    /// slot, and not about an earlier object.
    pub(crate) fn is_since(&self, slot: u32, sequence: Sequence) -> bool {
        let is_since = self.tracked.get(slot).is_none_or(|tracked| tracked.since <= sequence);
        self.is_known(slot) && is_since
    }

    /// Begins to tell a client that joins that a static object is destroyed, in the packet `since` or a later
    /// packet. The client counts as joined only after it knows this.
    pub(crate) fn close_for_joiner(&mut self, slot: u32, since: Sequence) {
        self.joining.await_news(slot);
        self.close_for_good(slot, since);
    }

    /// Begins to tell the client that a static object is destroyed, in the packet `since` or a later packet,
    /// whether the client has the object or not. The acks of earlier packets, with closings for other
    /// reasons, do not count.
    pub(crate) fn close_for_good(&mut self, slot: u32, since: Sequence) {
        if !self.is_known(slot) {
            self.standings.remove_there(slot);
            self.tracked.entry(slot, || Tracked {
                phase: Phase::Closing(CloseReason::Destroyed),
                ..Tracked::default()
            });
        }
        let tracked = self.track(slot);
        if tracked.phase == Phase::Closing(CloseReason::Destroyed) {
            tracked.since = since;
            self.must_send(slot);
        }
        self.check(slot);
    }
}
