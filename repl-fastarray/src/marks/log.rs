//! The log: which items were touched or removed since shadows last followed their array.
//!
//! Invariant: each entry is one revision; the entries are those of the last revisions, up to `revision`, and no shadow has followed beyond that.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use repl_core::ItemId;

/// What happened to an item in one revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: ItemId,
    /// Where it stood then, and [`REMOVED`](Self::REMOVED) if it was taken out there.
    place: u32,
}

impl Entry {
    /// Above all places, for ids do not reach so far.
    const REMOVED: u32 = 1 << 31;

    /// Where the item stood.
    pub(crate) fn place(self) -> usize {
        (self.place & !Self::REMOVED) as usize
    }

    /// Whether the item was taken out, not touched.
    pub(crate) fn is_removal(self) -> bool {
        self.place & Self::REMOVED != 0
    }
}

/// What became of the items of an array since shadows last followed it. Nothing is noted for an array that nobody ever followed.
#[derive(Debug, Default)]
pub(crate) struct Log {
    /// Whose log it is, among all of the process; zero until it is first followed. Shadows tell by it whether it is still the same array.
    lineage: AtomicU64,
    /// The last revision that a shadow has followed; what lies before is dropped with the next change.
    followed: AtomicU64,
    /// The first of the ids that the items get when the array is settled; zero if they keep theirs.
    first: AtomicU32,
    revision: u64,
    entries: Vec<Entry>,
    /// How far items may stand from the places noted in `entries`, if they were not moved elsewhere.
    drift: u32,
}

/// How many lineages were given.
static LINEAGES: AtomicU64 = AtomicU64::new(0);

impl Log {
    /// Whose log it is; from now on changes are noted.
    pub(crate) fn lineage(&self) -> NonZeroU64 {
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

    /// The array takes the place of another: its items get ids from `first` on when it is settled. Returns its lineage from now on.
    pub(crate) fn succeed(&self, first: ItemId) -> NonZeroU64 {
        let new = Self::new_lineage();
        self.first.store(first.number(), Ordering::Relaxed);
        self.lineage.store(new.get(), Ordering::Relaxed);
        new
    }

    /// The first of the ids that the items get now, if they get others: what was noted under the old ones is dropped.
    pub(crate) fn settle(&mut self) -> Option<ItemId> {
        let first = ItemId::new(std::mem::take(self.first.get_mut()))?;
        self.entries.clear();
        self.drift = 0;
        Some(first)
    }

    /// Whether the items have the ids that they will have.
    pub(crate) fn is_settled(&self) -> bool {
        self.first.load(Ordering::Relaxed) == 0
    }

    /// Whether this is the log called `lineage`, at `revision`.
    pub(crate) fn is_at(&self, lineage: NonZeroU64, revision: u64) -> bool {
        revision == self.revision && lineage.get() == self.lineage.load(Ordering::Relaxed)
    }

    /// How many changes were noted.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The revision before that of the first entry.
    fn base(&self) -> u64 {
        self.revision - self.entries.len() as u64
    }

    /// The entries after `revision`, in which an item may be touched again and again; `None` if some of them are gone.
    pub(crate) fn since(&self, revision: u64) -> Option<&[Entry]> {
        self.entries.get(revision.checked_sub(self.base())? as usize..)
    }

    /// How far items may stand from the places noted; `None` if there is no telling.
    pub(crate) fn drift(&self) -> Option<usize> {
        (self.drift != u32::MAX).then_some(self.drift as usize)
    }

    /// A shadow has everything up to the present revision.
    pub(crate) fn follow(&self) {
        // No `fetch_max`, which would wait for everything written so far: if two who follow at once lose one of two numbers, entries are kept longer.
        if self.followed.load(Ordering::Relaxed) < self.revision {
            self.followed.store(self.revision, Ordering::Relaxed);
        }
    }

    /// Whether anybody ever followed, so that changes are noted. Drops what all have followed.
    fn trimmed(&mut self) -> bool {
        if *self.lineage.get_mut() == 0 {
            return false;
        }
        let followed = *self.followed.get_mut();
        let seen_by_all = followed.saturating_sub(self.base());
        self.entries.drain(..seen_by_all as usize);
        if self.entries.is_empty() {
            self.drift = 0;
        }
        true
    }

    /// The item `id` at `place` is touched, one of `len`.
    pub(crate) fn touch(&mut self, id: ItemId, place: usize, len: usize) {
        self.append(Entry { id, place: place as u32 }, len);
    }

    /// The item `id` is gone from `place`; `len` are left.
    pub(crate) fn remove(&mut self, id: ItemId, place: usize, len: usize) {
        self.append(Entry { id, place: place as u32 | Entry::REMOVED }, len);
    }

    fn append(&mut self, entry: Entry, len: usize) {
        // Mostly an item is written to several times in a row.
        if !self.trimmed() || self.entries.last() == Some(&entry) {
            return;
        }
        self.entries.push(entry);
        self.revision += 1;
        if self.entries.len() > 2 * len + 64 {
            // Whoever followed before compares all items: that costs less than what was noted.
            self.entries.clear();
        }
    }

    /// Everything behind some place has moved by `places`.
    pub(crate) fn shifted(&mut self, places: usize) {
        if self.trimmed() && !self.entries.is_empty() {
            self.drift = self.drift.saturating_add(u32::try_from(places).unwrap_or(u32::MAX));
        }
    }

    /// Items have moved to where nobody looks for them.
    pub(crate) fn scattered(&mut self) {
        self.shifted(usize::MAX);
    }
}
