//! Counts connections by origin (a host or network).
//!
//! *Invariant:* a connection is counted for the origin with which it was added, until it is removed.

use std::collections::BTreeMap;

use quinn_proto::ConnectionHandle;
use repl_link::Origin;

/// Connections, with their number for each origin.
#[derive(Default)]
pub(super) struct Places {
    origins: BTreeMap<ConnectionHandle, Origin>,
    by_origin: BTreeMap<Origin, usize>,
}

impl Places {
    pub(super) fn len(&self) -> usize {
        self.origins.len()
    }

    pub(super) fn of(&self, origin: Origin) -> usize {
        self.by_origin.get(&origin).copied().unwrap_or(0)
    }

    pub(super) fn origin_of(&self, handle: ConnectionHandle) -> Option<Origin> {
        self.origins.get(&handle).copied()
    }

    pub(super) fn add(&mut self, handle: ConnectionHandle, origin: Origin) {
        self.remove(handle);
        self.origins.insert(handle, origin);
        let count = self.by_origin.entry(origin).or_default();
        *count = count.saturating_add(1);
    }

    /// Removes a connection. Returns whether it was counted.
    pub(super) fn remove(&mut self, handle: ConnectionHandle) -> bool {
        let Some(origin) = self.origins.remove(&handle) else { return false };
        if let Some(count) = self.by_origin.get_mut(&origin) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_origin.remove(&origin);
            }
        }
        true
    }
}
