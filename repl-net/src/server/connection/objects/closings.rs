//! Closings: how the connection removes objects from its client.
//!
//! *Invariant:* an object that is closing stays known until the client has acknowledged the closing. If
//! nothing of the object was ever sent, it is forgotten at once.

use std::time::Duration;

use repl_link::parts::Sequence;

use super::standings::Standings;
use super::tracked::AfterClosing;
use super::tracked_objects::TrackedObjects;
use super::{ObjectStates, Phase, SparseSlots};
use crate::body::removal::CloseReason;
use crate::body::slot_set::{bit_of, word_of};
use crate::server::out_of_sight::OutOfSight;
use crate::server::world::World;

/// What the connection must still do after it has begun to close an object (to remove it from the client).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    /// The connection's position in the history of the object, which the caller must release.
    pub(crate) position: Option<u64>,
    /// The id of the blob (data in several parts) with an update of the object, which must not be sent any
    /// more.
    pub(crate) blob: Option<u32>,
    /// Whether nothing of the object was ever sent. If so, the state of the object is deleted already.
    pub(crate) is_forgotten: bool,
}

impl ObjectStates {
    /// Returns whether the packet `sequence` belongs to the current closing (removal) of the object. An
    /// earlier packet may belong to an earlier closing of the same object.
    pub(crate) fn is_closing(&self, slot: u32, sequence: Sequence) -> bool {
        self.tracked.get(slot).is_some_and(|tracked| tracked.is_closing() && tracked.since <= sequence)
    }

    /// Returns why an object is being closed.
    pub(crate) fn close_reason(&self, slot: u32) -> CloseReason {
        match self.tracked.get(slot).map(|tracked| tracked.phase) {
            Some(Phase::Closing(reason)) => reason,
            _ => CloseReason::Relevancy,
        }
    }

    /// Returns whether the closing of an object also removes its subobjects, which then have no closings of
    /// their own.
    pub(crate) fn closes_family(&self, slot: u32) -> bool {
        self.tracked.get(slot).is_some_and(|tracked| tracked.after_closing == AfterClosing::FamilyIsGone)
    }

    /// Returns an object that is being closed and its subobjects that are being closed. Each object comes
    /// after the objects below it.
    pub(crate) fn closing_below(&self, world: &World, slot: u32) -> Vec<u32> {
        let mut family = world.subobjects.with_descendants(slot);
        family.retain(|&slot| self.is_closed(slot));
        family.reverse();
        family
    }

    /// Returns the top object of the family (an object with its subobjects) with which an object is being
    /// closed. This family consists of the objects [below](Self::closing_below) the top.
    pub(crate) fn closing_top(&self, world: &World, slot: u32) -> u32 {
        let parent = |slot: &u32| world.subobjects.parent(*slot).filter(|&parent| self.is_closed(parent));
        std::iter::successors(Some(slot), parent).last().unwrap_or(slot)
    }

    fn is_closed(&self, slot: u32) -> bool {
        self.tracked.get(slot).is_some_and(|tracked| tracked.is_closing())
    }

    /// Returns whether the closing of any object was first sent before `start`, has made no progress since
    /// and is not acknowledged yet. Each call examines only some of the objects, so an overdue closing may be
    /// found only after a few hundred calls.
    pub(crate) fn has_overdue_close(&mut self, start: Duration, now: Duration) -> bool {
        self.tracked.has_overdue_close(start, now)
    }

    /// Records that a part of the closing of an object, which is larger than a packet, has arrived.
    pub(crate) fn close_progressed(&mut self, slot: u32) {
        self.tracked.close_progressed(slot);
    }

    /// Records that an object is now hidden from the client. After this call, the caller must let it
    /// [leave](Self::leave).
    pub(crate) fn hide(&mut self, slot: u32) {
        self.view.hidden.insert(slot);
    }

    /// Records that the client does not see an object now, and begins to close it (to remove it from the
    /// client). `keeping` is the setting with which the client keeps the object, if it does.
    pub(crate) fn conceal(
        &mut self,
        slot: u32,
        keeping: Option<OutOfSight>,
        since: Sequence,
    ) -> Option<Closed> {
        self.view.end_tear_off(slot);
        let reason = keeping.map_or(CloseReason::Relevancy, |_| CloseReason::OutOfSight);
        let closed = self.close(slot, reason, since);
        if keeping.is_some_and(|setting| setting.is_end_told) && self.is_closed_as(slot, reason) {
            self.view.set_end_told(slot, true);
        } else if closed.as_ref().is_some_and(|closed| !closed.is_forgotten) {
            self.view.set_end_told(slot, false);
        }
        closed
    }

    fn is_closed_as(&self, slot: u32, reason: CloseReason) -> bool {
        self.tracked.get(slot).is_some_and(|tracked| tracked.phase == Phase::Closing(reason))
    }

    /// Begins to tell the client that an object out of sight was removed from the server, if the client must
    /// be told.
    fn end_out_of_sight(&mut self, slot: u32, since: Sequence) {
        if !self.view.is_end_told(slot) {
            return;
        }
        self.view.set_end_told(slot, false);
        if let Some(tracked) = self.tracked.get_mut(slot)
            && tracked.phase == Phase::Closing(CloseReason::OutOfSight)
        {
            tracked.phase = Phase::Closing(CloseReason::Destroyed);
        }
        self.close_for_good(slot, since);
    }

    /// Handles the removal of an object from the server, and begins to close it (to remove it from the
    /// client).
    pub(crate) fn destroy(&mut self, slot: u32, since: Sequence) -> Option<Closed> {
        // If the object was torn off, a client that has it keeps it.
        let reason = if self.view.is_tearing_off(slot) && !self.is_leaving(slot) {
            CloseReason::TearOff
        } else {
            CloseReason::Destroyed
        };
        self.view.end_tear_off(slot);
        let closed = self.close(slot, reason, since);
        self.end_out_of_sight(slot, since);
        self.view.forget(slot);
        self.unknown_in_sight.remove(slot);
        self.sleep.iter_mut().for_each(|sleep| sleep.forget_object(slot));
        closed
    }

    /// Handles the removal of an object and its subobjects from the server as a plain removal (a closing
    /// without other data). The object is the first of `family`. Returns `false` and changes nothing if this
    /// is not possible: if the client must receive other data, too, or if it does not see all objects of
    /// `family` in the default view.
    pub(crate) fn remove_plainly(&mut self, family: &[u32]) -> bool {
        // If only a part of the family was in flight, this part could arrive after the rest was removed. It
        // would then not be removed with the rest.
        let is_arriving = |&slot: &u32| self.standings.is_pending(slot);
        let is_alike = family.iter().all(is_arriving) || !family.iter().any(is_arriving);
        let is_removed = is_alike && family.iter().all(|&slot| self.is_removable_plainly(slot));
        if is_removed {
            for (at, &slot) in family.iter().enumerate() {
                self.standings.remove_plainly(slot, at > 0);
                self.view.set_end_told(slot, false);
                self.unknown_in_sight.remove(slot);
                self.check(slot);
            }
        }
        is_removed
    }

    /// Tracks an object from now on, if it is a plain removal that was not sent yet. The object is removed in
    /// the packet `since` or a later packet, together with its family. Otherwise it could be sent after its
    /// parent.
    pub(crate) fn remove_with_family(&mut self, slot: u32, since: Sequence) {
        if self.is_removed_plainly(slot) && self.standings.to_send().contains(slot) {
            let tracked = self.track(slot);
            tracked.since = since;
            tracked.after_closing = AfterClosing::FamilyIsGone;
        }
    }

    fn is_removable_plainly(&self, slot: u32) -> bool {
        self.view.is_plain(slot)
            && self.sleep.is_none()
            && self.tracked.get(slot).is_none()
            && self.standings.is_removable_plainly(slot)
    }

    /// Returns the plain removals that were not sent yet, as indices of words, each with a bit mask.
    pub(crate) fn waiting_removals(&self) -> Vec<(usize, u64)> {
        let waiting = self.standings.plain_removals().masks();
        waiting.map(|(word, mask)| (word, mask & self.standings.to_send().word(word))).collect()
    }

    pub(crate) fn removals_sent(&mut self, word: usize, mask: u64) {
        self.standings.removals_sent(word, mask);
    }

    /// Records that the client has removed the objects in `mask`. Deletes the states of the plain removals
    /// among them, and returns these objects.
    pub(crate) fn plain_removals_arrived(&mut self, word: usize, mask: u64) -> u64 {
        self.standings.plain_removals_arrived(word, mask)
    }

    /// Begins to close an object (to remove it from the client), in the packet `since` or a later packet.
    /// Returns `None` if the client does not have the object or if its closing has already begun.
    pub(super) fn close(&mut self, slot: u32, reason: CloseReason, since: Sequence) -> Option<Closed> {
        if !self.standings.known().contains(slot) || self.is_removed_plainly(slot) {
            return None;
        }
        self.sleep.iter_mut().for_each(|sleep| sleep.forget(slot));
        let tracked = self.track(slot);
        if tracked.after_closing == AfterClosing::Reopen {
            tracked.after_closing = AfterClosing::Nothing;
        }
        if let Phase::Closing(known) = &mut tracked.phase {
            // A destruction takes precedence, because references to the object never become valid again
            // (R18). But a client that was told to keep a torn-off object may have done so already, so that
            // reason remains.
            if reason.is_destruction() && !known.keeps_object() {
                *known = reason;
            }
            return None;
        }
        let is_forgotten = tracked.is_untouched();
        (tracked.phase, tracked.since) = (Phase::Closing(reason), since);
        tracked.pending.clear();
        tracked.portions.clear();
        let closed = Closed { position: tracked.position.take(), blob: tracked.blob.take(), is_forgotten };
        self.must_send(slot);
        if is_forgotten {
            self.forget(slot);
        }
        Some(closed)
    }

    /// Deletes the state of an object that the client has removed. No packet in flight can change this state
    /// any more. Returns whether the object must be [shown](Self::show) again.
    pub(crate) fn forget(&mut self, slot: u32) -> bool {
        let reopen =
            self.tracked.remove(slot).is_some_and(|tracked| tracked.after_closing == AfterClosing::Reopen);
        self.forget_last_state(slot);
        self.standings.forget(word_of(slot), bit_of(slot));
        self.check(slot);
        reopen
    }

    /// Ends the session, so that from now on the client counts as having no objects. Returns the slots that
    /// the connection used, each with the connection's position in the history of the object. The caller must
    /// release these positions.
    pub(crate) fn end(&mut self) -> Vec<(u32, Option<u64>)> {
        let position = |slot| self.tracked.get(slot).and_then(|tracked| tracked.position);
        let known = self.standings.known().iter().map(|slot| (slot, position(slot))).collect();
        self.standings = Standings::default();
        self.unknown_in_sight = SparseSlots::default();
        self.tracked = TrackedObjects::default();
        self.view.verdicts = None;
        self.view.take_tear_offs();
        self.take_leaving();
        self.take_proxies();
        if self.view.last_states().is_some() {
            self.view.change_last_states(std::mem::take);
        }
        self.view.forget_ends_told();
        self.known_paths = None;
        known
    }
}
