//! The last states of objects that were removed from the server, until the client has removed them.
//!
//! *Invariant:* an object with a last state is being closed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::server::cells::Group;
use crate::server::last_state::LastState;

/// The last states, by the slots of their objects.
#[derive(Debug, Default)]
pub(super) struct LastStates(BTreeMap<u32, Kept>);

/// A last state that is stored for one client.
#[derive(Debug)]
struct Kept {
    state: Arc<LastState>,
    /// Whether the client owned the object or an object to which it was attached. An owner sees an object
    /// even if it is not in the group of the object's relevancy.
    is_owner: bool,
}

impl LastStates {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, slot: u32) -> Option<&Arc<LastState>> {
        self.0.get(&slot).map(|kept| &kept.state)
    }

    pub(super) fn insert(&mut self, slot: u32, state: Arc<LastState>, is_owner: bool) {
        self.0.insert(slot, Kept { state, is_owner });
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.0.remove(&slot);
    }

    /// Returns the slots of the objects that a client may not see any more, after it has left a group.
    /// `is_in` says in which groups it still is.
    pub(super) fn of_group(&self, group: Group, is_in: impl Fn(Group) -> bool) -> Vec<u32> {
        let needs = |kept: &Kept| kept.state.needs_group(group, &is_in, kept.is_owner);
        self.0.iter().filter(|(_, kept)| needs(kept)).map(|(slot, _)| *slot).collect()
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.0.values().map(|kept| kept.state.held_bytes()).sum()
    }
}
