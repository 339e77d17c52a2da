//! The connections of each origin: of strangers, of clients, and those that are closed but not gone.
//!
//! *Invariant:* a connection counts for the origin from which it came, from its first packet until nothing of
//! it is stored.

use std::collections::BTreeMap;

use quinn_proto::ConnectionHandle;
use repl_link::Origin;

/// The connections of each origin.
#[derive(Default)]
pub(super) struct Places {
    origins: BTreeMap<ConnectionHandle, Origin>,
    by_origin: BTreeMap<Origin, usize>,
}

impl Places {
    /// Returns how many connections an origin has.
    pub(super) fn of(&self, origin: Origin) -> usize {
        self.by_origin.get(&origin).copied().unwrap_or(0)
    }

    pub(super) fn add(&mut self, handle: ConnectionHandle, origin: Origin) {
        self.remove(handle);
        self.origins.insert(handle, origin);
        let count = self.by_origin.entry(origin).or_default();
        *count = count.saturating_add(1);
    }

    /// Removes a connection of which nothing is stored any more.
    pub(super) fn remove(&mut self, handle: ConnectionHandle) {
        let Some(origin) = self.origins.remove(&handle) else { return };
        if let Some(count) = self.by_origin.get_mut(&origin) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_origin.remove(&origin);
            }
        }
    }
}
