//! The last states of objects that were removed from the server, until the client has removed them.
//!
//! *Invariant:* an object with a last state is being closed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{ObjectStates, Phase};
use crate::server::cells::Group;
use crate::server::last_state::LastState;

/// What a client may lack of an object that is removed from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LastLack {
    /// The client has everything, or it does not have the object.
    Nothing,
    /// The client lacks what is in flight, and what no tick has found yet.
    Changes,
    /// The client may lack anything.
    Everything,
}

/// The last states, by the slots of their objects.
#[derive(Debug, Default)]
pub(super) struct LastStates(BTreeMap<u32, Arc<LastState>>);

impl LastStates {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.0.values().map(|state| state.held_bytes()).sum()
    }
}

impl ObjectStates {
    /// Returns what the client may lack of an object that is about to be removed. `has_changed` says whether
    /// the object has changed since it was spawned.
    pub(crate) fn last_lack(&self, slot: u32, has_changed: bool) -> LastLack {
        if !self.is_known(slot) || self.standings.unsent().contains(slot) || self.is_leaving(slot) {
            return LastLack::Nothing;
        }
        let phase = match self.tracked.get(slot) {
            None if self.is_pending_spawn(slot) => Phase::Opening,
            None => return LastLack::Changes,
            Some(tracked) if tracked.is_untouched() => return LastLack::Nothing,
            Some(tracked) if tracked.phase == Phase::Open && tracked.has_all_but_elements() => {
                return LastLack::Changes;
            }
            Some(tracked) => tracked.phase,
        };
        match phase {
            Phase::Closing(_) => LastLack::Nothing,
            // All openings of the object had the same values.
            Phase::Opening | Phase::Unsent if !has_changed => LastLack::Nothing,
            Phase::Opening | Phase::Unsent | Phase::Open => LastLack::Everything,
        }
    }

    /// Stores the last state of an object, which is sent with its closing.
    pub(crate) fn keep_last_state(&mut self, slot: u32, state: Arc<LastState>) {
        debug_assert!(self.tracked.get(slot).is_some_and(|tracked| tracked.is_closing()));
        self.view.change_last_states(|states| states.0.insert(slot, state));
    }

    /// Returns the last state of an object.
    pub(crate) fn last_state(&self, slot: u32) -> Option<&Arc<LastState>> {
        self.view.last_states()?.0.get(&slot)
    }

    /// Drops the last state of an object that the client has removed.
    pub(super) fn forget_last_state(&mut self, slot: u32) {
        if self.last_state(slot).is_some() {
            self.view.change_last_states(|states| states.0.remove(&slot));
        }
    }

    /// Drops the last states that only members of a group may see, because the client is no member any more.
    /// Returns the slots of their objects, whose closings must be sent again.
    pub(crate) fn drop_last_states(&mut self, group: Group) -> Vec<u32> {
        let states = self.view.last_states().into_iter().flat_map(|states| &states.0);
        let of_group = states.filter(|(_, state)| state.is_for_group(group));
        let slots: Vec<u32> = of_group.map(|(slot, _)| *slot).collect();
        for &slot in &slots {
            self.forget_last_state(slot);
            self.must_send(slot);
        }
        slots
    }
}
