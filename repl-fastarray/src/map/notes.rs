//! What a map stores beside its entries: which of them were written to, and which map it is a copy of.
//!
//! *Invariant:* a map that has followed another one has the entries that the other had at that revision. Any
//! later write to it deletes this record, unless the write is a part of following.

use crate::marks::{FollowedRevision, Log};

/// The notes of one map on its entries.
#[derive(Debug)]
pub(super) struct Notes<K> {
    /// The keys of the entries that were inserted, written to or removed.
    log: Log<K>,
    /// In a shadow or another copy, this is the revision of the map from which it was last updated.
    followed: Option<FollowedRevision>,
}

impl<K> Default for Notes<K> {
    fn default() -> Self {
        Self { log: Log::default(), followed: None }
    }
}

impl<K> Notes<K> {
    /// Records that the entry with the key that `key` returns was written to. The map has `len` entries.
    pub(super) fn touch(&mut self, len: usize, key: impl FnOnce() -> K)
    where
        K: PartialEq,
    {
        self.followed = None;
        if self.log.trim() {
            self.log.append(key(), len);
        }
    }

    /// Records that any entry may have been written to.
    pub(super) fn touch_all(&mut self) {
        self.followed = None;
        self.log.skip();
    }

    /// Returns the keys that the notes of `live` have recorded since this map followed it. Returns `None` if
    /// they do not have all of them.
    pub(super) fn since<'l>(&self, live: &'l Self) -> Option<&'l [K]> {
        live.log.since(self.followed?)
    }

    /// Records that the map of these notes now equals `live`.
    pub(super) fn follow(&mut self, live: &Self) {
        self.followed = Some(live.log.follow());
    }
}
