//! A change log: which elements of a collection were written to or removed since shadows were last updated
//! from the collection. A *shadow* is the server's copy of a collection, with the values that the server
//! compared last.
//!
//! *Invariant:* each entry of the log belongs to one revision. The log contains the entries of the last
//! revisions up to `revision`, without gaps, and no shadow was updated from a later revision.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The bit of a log that belongs to a shadow: its lineage and its revision are those of the live log.
const FOLLOWS: u64 = 1 << 63;
/// The bit of a log whose collection must be renumbered: its revision is 0, and the first new id is stored in
/// place of the revision.
const WAITS: u64 = 1 << 62;

/// The changes of a collection since shadows were last updated from it. An entry `E` says which element
/// changed. If no shadow was ever updated from the collection, the log records no changes.
///
/// The log of a shadow records no changes. It stores the revision from which the shadow was last updated, in
/// place of its own revision. So a log takes 24 bytes, and no heap memory until it has an entry.
#[derive(Debug)]
pub(crate) struct Log<E> {
    /// Identifies this log among all logs of the process. The number of a log is zero until a shadow is first
    /// updated from the collection. A shadow compares the number of the log with the number that it stored
    /// earlier to find out whether the live collection was replaced. The bits [`FOLLOWS`] and [`WAITS`] are
    /// not part of the number.
    lineage: AtomicU64,
    revision: AtomicU64,
    recorded: Option<Box<Recorded<E>>>,
}

/// The entries of a log. A log without entries needs no such record.
#[derive(Debug)]
struct Recorded<E> {
    /// Whether a shadow has read all entries. Then the next change of the collection drops them.
    is_read: AtomicBool,
    entries: Vec<E>,
    /// How far an element may be from the position that its entry records, if entries record positions. The
    /// number is `u32::MAX` if elements may be anywhere.
    drift: u32,
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
        Self { lineage: AtomicU64::new(0), revision: AtomicU64::new(0), recorded: None }
    }
}

impl<E> Default for Recorded<E> {
    fn default() -> Self {
        Self { is_read: AtomicBool::new(false), entries: Vec::new(), drift: 0 }
    }
}

impl<E> Recorded<E> {
    /// Drops the entries that a shadow has read.
    fn drop_read(&mut self) {
        if std::mem::take(self.is_read.get_mut()) {
            self.clear();
        }
    }

    /// Drops all entries. Resets the drift, because later entries record the current positions.
    fn clear(&mut self) {
        self.entries.clear();
        self.drift = 0;
    }
}

impl<E> Log<E> {
    /// Returns the lineage of this log, which is the number that identifies it. From the first call of
    /// `lineage` on, the log records changes.
    fn lineage(&self) -> NonZeroU64 {
        let known = self.lineage.load(Ordering::Relaxed);
        if let Some(own) = NonZeroU64::new(known & !WAITS).filter(|_| known & FOLLOWS == 0) {
            return own;
        }
        let new = new_lineage();
        match self.lineage.compare_exchange(known, new.get(), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => new,
            Err(other) => NonZeroU64::new(other).unwrap_or(new),
        }
    }

    /// Begins a new lineage at revision 0, so that each shadow notices that it has not read this log before.
    /// Until [`take_first`](Self::take_first) is called, the log stores `first` and records no changes.
    pub(super) fn begin_lineage(&self, first: u32) {
        self.revision.store(first.into(), Ordering::Relaxed);
        self.lineage.store(new_lineage().get() | WAITS, Ordering::Relaxed);
    }

    /// Returns whether [`take_first`](Self::take_first) has a number to return.
    pub(super) fn waits(&self) -> bool {
        self.lineage.load(Ordering::Relaxed) & WAITS != 0
    }

    /// Returns the number that was passed to [`begin_lineage`](Self::begin_lineage), and drops all entries
    /// that are older than the lineage.
    pub(super) fn take_first(&mut self) -> Option<u32> {
        if !self.waits() {
            return None;
        }
        *self.lineage.get_mut() &= !WAITS;
        self.recorded = None;
        Some(std::mem::take(self.revision.get_mut()) as u32)
    }

    fn revision(&self) -> u64 {
        if self.waits() { 0 } else { self.revision.load(Ordering::Relaxed) }
    }

    /// Returns whether the log records changes, because a shadow was updated from the collection.
    #[inline]
    pub(crate) fn records(&mut self) -> bool {
        (1..WAITS).contains(self.lineage.get_mut())
    }

    /// Returns the revision from which the collection of this log, a shadow, was last updated. Returns `None`
    /// for a collection that is not a shadow.
    #[inline]
    pub(crate) fn followed(&self) -> Option<FollowedRevision> {
        let lineage = self.lineage.load(Ordering::Relaxed);
        let lineage = NonZeroU64::new(lineage ^ FOLLOWS).filter(|_| lineage & FOLLOWS != 0)?;
        Some(FollowedRevision { lineage, revision: self.revision.load(Ordering::Relaxed) })
    }

    /// Makes this log the log of a shadow, which was updated from the revision `followed`. The log drops its
    /// entries, and records no changes.
    #[inline]
    pub(crate) fn set_followed(&mut self, followed: FollowedRevision) {
        let FollowedRevision { lineage, revision } = followed;
        self.lineage = AtomicU64::new(lineage.get() | FOLLOWS);
        self.revision = AtomicU64::new(revision);
        self.recorded = None;
    }

    /// Copies the [followed](Self::followed) revision of `other`, unless this log records changes for shadows
    /// of its own.
    pub(crate) fn copy_followed(&mut self, other: &Self) {
        if self.records() {
            return;
        }
        match other.followed() {
            Some(followed) => self.set_followed(followed),
            None => *self = Self::default(),
        }
    }

    /// Returns whether a shadow that was updated from `followed` has all changes of the collection.
    pub(crate) fn is_at(&self, followed: FollowedRevision) -> bool {
        let lineage = self.lineage.load(Ordering::Relaxed) & !WAITS;
        followed.revision == self.revision() && followed.lineage.get() == lineage
    }

    /// Returns whether a shadow with the revision `followed` was updated from the collection of this log.
    pub(crate) fn continues(&self, followed: FollowedRevision) -> bool {
        followed.lineage.get() == self.lineage.load(Ordering::Relaxed)
    }

    pub(super) fn entries(&self) -> &[E] {
        self.recorded.as_ref().map_or(&[], |recorded| &recorded.entries)
    }

    /// Returns the last revision before the revision of the first entry.
    fn base(&self) -> u64 {
        self.revision.load(Ordering::Relaxed).saturating_sub(self.entries().len() as u64)
    }

    /// Returns the entries after `followed`, or `None` if some of them were dropped, or if `followed` is a
    /// revision of another collection. Several entries may be about the same element.
    pub(crate) fn since(&self, followed: FollowedRevision) -> Option<&[E]> {
        let lacking = followed.revision.checked_sub(self.base()).filter(|_| self.continues(followed))?;
        self.entries().get(lacking as usize..)
    }

    /// Records that a shadow was updated from the collection at the current revision, and returns that
    /// revision.
    #[inline]
    pub(crate) fn follow(&self) -> FollowedRevision {
        if let Some(recorded) = &self.recorded {
            recorded.is_read.store(true, Ordering::Relaxed);
        }
        FollowedRevision { lineage: self.lineage(), revision: self.revision() }
    }

    /// Appends an entry to a log that [records](Self::records) changes. `len` is the number of elements
    /// in the collection.
    pub(crate) fn append(&mut self, entry: E, len: usize)
    where
        E: PartialEq,
    {
        let recorded = self.recorded.get_or_insert_default();
        recorded.drop_read();
        // An element is often written to several times in a row, and one entry is enough.
        if recorded.entries.last() == Some(&entry) {
            return;
        }
        recorded.entries.push(entry);
        *self.revision.get_mut() += 1;
        if recorded.entries.len() > 2 * len + 64 {
            // A shadow for which these entries are missing compares all elements, which costs less than
            // reading so many log entries.
            recorded.clear();
        }
    }

    /// Records that any element may have changed, so that all shadows compare all elements.
    pub(crate) fn skip(&mut self) {
        if self.records() {
            *self.revision.get_mut() += 1;
            if let Some(recorded) = &mut self.recorded {
                recorded.clear();
            }
        }
    }

    /// Returns how far elements may be from the recorded positions. Returns `None` if this distance is
    /// unknown.
    pub(super) fn drift(&self) -> Option<usize> {
        let drift = self.recorded.as_ref().map_or(0, |recorded| recorded.drift);
        (drift != u32::MAX).then_some(drift as usize)
    }

    /// Records that all elements after some position have moved by `distance` positions.
    pub(super) fn shifted(&mut self, distance: usize) {
        if let Some(recorded) = &mut self.recorded {
            recorded.drop_read();
            if !recorded.entries.is_empty() {
                recorded.drift = recorded.drift.saturating_add(u32::try_from(distance).unwrap_or(u32::MAX));
            }
        }
    }
}

fn new_lineage() -> NonZeroU64 {
    NonZeroU64::MIN.saturating_add(LINEAGES.fetch_add(1, Ordering::Relaxed))
}
