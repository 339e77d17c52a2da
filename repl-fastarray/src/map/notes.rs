//! The notes that a map stores in addition to its entries: the keys of entries that were written to, and the
//! map from which it was last updated (which it *followed*).
//!
//! *Invariant:* if the notes say that a map followed another map at some revision, it has the entries of the
//! other map at that revision. Every later write deletes this record, unless the write belongs to an update
//! from the same map.

use crate::marks::{FollowedRevision, Log};

/// The notes of one map on its entries.
#[derive(Debug)]
pub(super) struct Notes<K> {
    /// The keys of the entries that were inserted, written to or removed.
    log: Log<K>,
    /// In a shadow (the server's copy with the values that it compared last) or another copy, the revision of
    /// the map from which it was last updated.
    followed: Option<FollowedRevision>,
}

impl<K> Default for Notes<K> {
    fn default() -> Self {
        Self { log: Log::default(), followed: None }
    }
}

impl<K> Notes<K> {
    /// Records that an entry was written to. `key` returns the key of the entry. The map has `len` entries.
    pub(super) fn touch(&mut self, len: usize, key: impl FnOnce() -> K)
    where
        K: PartialEq,
    {
        self.followed = None;
        if self.log.records() {
            self.log.append(key(), len);
        }
    }

    /// Records that any entry may have been written to.
    pub(super) fn touch_all(&mut self) {
        self.followed = None;
        self.log.skip();
    }

    /// Returns the keys that the notes of `live` have recorded since this map was last updated from `live`.
    /// Returns `None` if some of these keys are missing.
    pub(super) fn since<'l>(&self, live: &'l Self) -> Option<&'l [K]> {
        live.log.since(self.followed?)
    }

    /// Records that the map of these notes now equals the map of `live`.
    pub(super) fn follow(&mut self, live: &Self) {
        self.followed = Some(live.log.follow());
    }
}
