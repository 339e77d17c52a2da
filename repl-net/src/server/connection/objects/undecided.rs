//! The changes of a client's view of objects that the next tick must decide about.
//!
//! *Invariant:* an object that is leaving is known to the connection.

use std::collections::BTreeMap;

use crate::body::role::Proxy;
use crate::body::sparse_slots::SparseSlots;

#[derive(Debug, Default)]
pub(crate) struct Undecided {
    /// The objects that the client may not see now. The next tick begins to remove them from the client.
    pub(super) leaving: SparseSlots,
    /// The objects whose owner or role may have changed for the client, each with the state that the client
    /// was told.
    pub(super) proxies: BTreeMap<u32, Proxy>,
}

impl Undecided {
    pub(super) fn is_empty(&self) -> bool {
        self.leaving.is_empty() && self.proxies.is_empty()
    }

    /// Forgets an object that is removed from the server.
    pub(super) fn forget(&mut self, slot: u32) {
        self.leaving.remove(slot);
        self.proxies.remove(&slot);
    }
}
