//! A change log: which elements of a collection were written to or removed since shadows were last updated
//! from the collection. A *shadow* is the server's copy of a collection, with the values that the server
//! compared last.
//!
//! *Invariant:* each entry of the log belongs to one revision. The log contains the entries of the last
//! revisions up to `revision`, without gaps, and no shadow was updated from a later revision.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// The changes of a collection since shadows were last updated from it. An entry `E` says which element
/// changed. If no shadow was ever updated from the collection, the log records no changes.
#[derive(Debug)]
pub(crate) struct Log<E> {
    /// Identifies this log among all logs of the process. The number of a log is zero until a shadow is first
    /// updated from the collection. A shadow compares the number of the log with the number that it stored
    /// earlier to find out whether the live collection was replaced.
    lineage: AtomicU64,
    /// The last revision from which a shadow was updated. The next change of the collection drops all entries
    /// up to the followed revision.
    followed: AtomicU64,
    revision: u64,
    entries: Vec<E>,
}

/// The revision of a live collection from which a shadow was last updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FollowedRevision {
    lineage: NonZeroU64,
    revision: u64,
}

/// The number of lineages that this process has used.
static LINEAGES: AtomicU64 = AtomicU64::new(0);

impl<E> Default for Log<E> {
    fn default() -> Self {
        Self { lineage: AtomicU64::new(0), followed: AtomicU64::new(0), revision: 0, entries: Vec::new() }
    }
}

impl<E> Log<E> {
    /// Returns the lineage of this log, which is the number that identifies it. From the first call of
    /// `lineage` on, the log records changes.
    fn lineage(&self) -> NonZeroU64 {
        if let Some(known) = NonZeroU64::new(self.lineage.load(Ordering::Relaxed)) {
            return known;
        }
        let new = Self::new_lineage();
        match self.lineage.compare_exchange(0, new.get(), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => new,
            Err(other) => NonZeroU64::new(other).unwrap_or(new),
        }
    }

    fn new_lineage() -> NonZeroU64 {
        NonZeroU64::MIN.saturating_add(LINEAGES.fetch_add(1, Ordering::Relaxed))
    }

    /// Sets a new lineage for this log, so that each shadow notices that it has not read this log before.
    pub(super) fn begin_lineage(&self) {
        self.lineage.store(Self::new_lineage().get(), Ordering::Relaxed);
    }

    /// Returns whether a shadow that was updated from `followed` has all changes of the collection.
    pub(crate) fn is_at(&self, followed: FollowedRevision) -> bool {
        followed.revision == self.revision && self.continues(followed)
    }

    /// Returns whether a shadow with the revision `followed` was updated from the collection of this log.
    pub(crate) fn continues(&self, followed: FollowedRevision) -> bool {
        followed.lineage.get() == self.lineage.load(Ordering::Relaxed)
    }

    /// Returns the last revision before the revision of the first entry.
    fn base(&self) -> u64 {
        self.revision - self.entries.len() as u64
    }

    /// Returns the entries after `followed`, or `None` if some of them were dropped, or if `followed` is a
    /// revision of another collection. Several entries may be about the same element.
    pub(crate) fn since(&self, followed: FollowedRevision) -> Option<&[E]> {
        let lacking = followed.revision.checked_sub(self.base()).filter(|_| self.continues(followed))?;
        self.entries.get(lacking as usize..)
    }

    /// Records that a shadow was updated from the collection at the current revision, and returns that
    /// revision.
    pub(crate) fn follow(&self) -> FollowedRevision {
        // `fetch_max` would wait for all earlier writes, so it is not used. Shadows that are updated from the
        // collection at the same time store the same revision.
        if self.followed.load(Ordering::Relaxed) < self.revision {
            self.followed.store(self.revision, Ordering::Relaxed);
        }
        FollowedRevision { lineage: self.lineage(), revision: self.revision }
    }

    /// Drops the log entries that a shadow has read. Returns false if no shadow was ever updated from the
    /// collection, because the log then records no changes.
    pub(crate) fn trim(&mut self) -> bool {
        if *self.lineage.get_mut() == 0 {
            return false;
        }
        let followed = *self.followed.get_mut();
        let seen = followed.saturating_sub(self.base());
        self.entries.drain(..seen as usize);
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Appends an entry. The caller has [trimmed](Self::trim) the log before. `len` is the number of elements
    /// in the collection.
    pub(crate) fn append(&mut self, entry: E, len: usize)
    where
        E: PartialEq,
    {
        // An element is often written to several times in a row, and one entry is enough.
        if self.entries.last() == Some(&entry) {
            return;
        }
        self.entries.push(entry);
        self.revision += 1;
        if self.entries.len() > 2 * len + 64 {
            // A shadow for which these entries are missing compares all elements, which costs less than
            // reading so many log entries.
            self.forget();
        }
    }

    /// Records that any element may have changed, so that all shadows compare all elements.
    pub(crate) fn skip(&mut self) {
        if self.trim() {
            self.revision += 1;
            self.forget();
        }
    }

    /// Drops all entries. Shadows that lack some of these entries must compare all elements.
    pub(super) fn forget(&mut self) {
        self.entries.clear();
    }
}
