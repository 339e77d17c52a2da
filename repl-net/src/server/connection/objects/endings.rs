//! The end of objects that are removed from the server: what the client may lack of them at the removal, and
//! their last states, which are stored until the client has removed the objects.
//!
//! *Invariant:* no last state is stored for an object that the client may not see at its removal, or that was
//! never sent.

use std::sync::Arc;

use repl_core::HandleSet;

use super::{ObjectStates, Phase};
use crate::server::cells::Group;
use crate::server::last_state::LastState;

/// What a client may lack of an object that is removed from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastLack {
    /// The client has everything, or it does not have the object.
    Nothing,
    /// The client lacks only the changes in flight, and the changes since the last tick.
    Changes,
    /// The client may lack anything.
    Everything,
}

impl ObjectStates {
    /// Returns what the client may lack of an object that is about to be removed. `has_changed` says whether
    /// the object has changed since it was spawned, and `is_conditional` whether conditions may hide some
    /// of its properties.
    pub(crate) fn last_lack(&self, slot: u32, has_changed: bool, is_conditional: bool) -> LastLack {
        if !self.is_known(slot) || self.standings.unsent().contains(slot) || self.is_leaving(slot) {
            return LastLack::Nothing;
        }
        let phase = match self.tracked.get(slot) {
            None if self.is_pending_spawn(slot) => Phase::Opening,
            // The client has the opening, and nothing has changed since.
            None if !has_changed && !is_conditional => return LastLack::Nothing,
            None => return LastLack::Changes,
            Some(tracked) if tracked.is_untouched() => return LastLack::Nothing,
            Some(tracked) if tracked.phase == Phase::Open && tracked.has_all_but_elements() => {
                return LastLack::Changes;
            }
            Some(tracked) => tracked.phase,
        };
        match phase {
            Phase::Closing(_) => LastLack::Nothing,
            // All openings of the object had the same values, so any of them is enough.
            Phase::Opening | Phase::Unsent if !has_changed && self.left_out(slot).is_empty() => {
                LastLack::Nothing
            }
            Phase::Opening | Phase::Unsent | Phase::Open => LastLack::Everything,
        }
    }

    /// Returns the properties that the client has not been sent yet, or that the opening (first update) of
    /// the object did not contain.
    pub(crate) fn left_out(&self, slot: u32) -> HandleSet {
        let mut handles = HandleSet::default();
        if let Some(tracked) = self.tracked.get(slot) {
            handles.union(tracked.pending.handles());
            tracked.owed.iter().for_each(|owed| handles.union(owed));
            tracked.portions.iter().for_each(|portions| handles.insert(portions.handle()));
        }
        handles
    }

    /// Stores the last state of an object, which is sent with its closing (removal). `is_owner` says whether
    /// the client owned the object or an object to which it was attached.
    pub(crate) fn keep_last_state(&mut self, slot: u32, state: Arc<LastState>, is_owner: bool) {
        debug_assert!(self.tracked.get(slot).is_some_and(|tracked| tracked.is_closing()));
        self.view.change_last_states(|states| states.insert(slot, state, is_owner));
    }

    pub(super) fn forget_last_state(&mut self, slot: u32) {
        if self.last_state(slot).is_some() {
            self.view.change_last_states(|states| states.remove(slot));
        }
    }

    /// Drops the last states that the client may not see any more, because it has left a group.
    /// Returns the slots of their objects, whose closings must be sent again.
    pub(crate) fn drop_last_states(&mut self, group: Group) -> Vec<u32> {
        let is_in = |group| self.is_in(group);
        let slots = self.view.last_states().map_or_else(Vec::new, |states| states.of_group(group, is_in));
        for &slot in &slots {
            self.forget_last_state(slot);
            self.must_send(slot);
        }
        slots
    }
}
