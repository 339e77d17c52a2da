//! The history of one object's changes, shared by all connections (S66, R10).
//!
//! *Invariant:* the history keeps changelists while any connection is behind (has not gathered all
//! changelists). At most [`History::MAX_LISTS`] changelists are kept. When a changelist is dropped, its
//! handles remain in `ever`, and the connections that lack the changelist must store it themselves.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::changes::changelist::Changelist;
use crate::ids::handles::HandleSet;

/// The changelists of one object, the oldest first.
///
/// A connection's position in the history is a number that only grows. A connection that has gathered all
/// changelists is at the [`end`](Self::end). The history stores nothing about a connection at the end. Each
/// connection that is not at the end remembers its own position.
#[derive(Debug, Default)]
pub struct History {
    end: u64,
    ever: HandleSet,
    /// Boxed, so that a `History` is small: for most objects all connections are at the end of the history,
    /// and nothing is kept.
    kept: Option<Box<Kept>>,
}

/// The changelists that are kept while some connection has not gathered all of them.
#[derive(Debug, Default)]
struct Kept {
    lists: VecDeque<Changelist>,
    /// The result of the last merge, with the first position and the end of the merged changelists. The next
    /// connection at the same position uses the merged changelist again.
    merged: Mutex<Option<(u64, u64, Changelist)>>,
}

impl History {
    /// The most changelists that an object keeps.
    pub const MAX_LISTS: usize = 64;

    /// Returns the position after the newest changelist. The position at the end of a history grows by one
    /// with each changelist.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns the position of the oldest changelist that is kept.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.end - self.kept.as_ref().map_or(0, |kept| kept.lists.len() as u64)
    }

    /// Returns the properties that ever changed. Clients that join late need these properties. They receive
    /// each property whole, so this set does not contain nested changes.
    #[must_use]
    pub fn ever(&self) -> &HandleSet {
        &self.ever
    }

    /// Counts properties as changed, so that clients that join later receive them.
    pub fn count_as_changed(&mut self, handles: &HandleSet) {
        self.ever.union(handles);
    }

    /// Appends a changelist that is not empty. `keep` is true if some connection is not at the end, so that
    /// the history must keep the changelist.
    ///
    /// If the history is full, the oldest changelist is removed and returned with its position. A connection
    /// that is still at the position of the removed changelist must store the changelist itself.
    #[inline]
    #[must_use = "connections at this position lack the changelist"]
    pub fn push(&mut self, list: &Changelist, keep: bool) -> Option<(u64, Changelist)> {
        debug_assert!(!list.is_empty(), "an empty list is no change");
        self.ever.union(list.handles());
        self.end += 1;
        if keep {
            return self.store(list);
        }
        if self.kept.is_some() {
            self.release();
        }
        None
    }

    /// Stores a changelist. Returns the oldest one if there are too many.
    // This function is not inlined because it is rarely called: most changes are sent to all connections at
    // once.
    #[inline(never)]
    fn store(&mut self, list: &Changelist) -> Option<(u64, Changelist)> {
        let kept = self.kept.get_or_insert_default();
        kept.lists.push_back(list.clone());
        if kept.lists.len() <= Self::MAX_LISTS {
            return None;
        }
        let oldest = kept.lists.pop_front()?;
        Some((self.start() - 1, oldest))
    }

    /// Adds to `into` all changelists from `position` on. Costs O(changelists). The next connections at the
    /// same position use the merged changelist again.
    pub fn gather(&self, position: u64, into: &mut Changelist) {
        debug_assert!(position >= self.start(), "lists before the start have been given away");
        let (start, end) = (self.start(), self.end);
        let Some(kept) = &self.kept else { return };
        let mut last = kept.merged.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(&*last, Some((from, to, _)) if (*from, *to) == (position, end)) {
            let mut merged = Changelist::new();
            let skipped = position.saturating_sub(start) as usize;
            kept.lists.iter().skip(skipped).for_each(|list| merged.merge(list));
            *last = Some((position, end, merged));
        }
        if let Some((.., merged)) = &*last {
            into.merge(merged);
        }
    }

    /// Returns how many bytes of memory the changelists take. Costs O(changelists).
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let kept = self.kept.as_ref().map_or(0, |kept| {
            let lists = kept.lists.iter().map(Changelist::heap_bytes).sum::<usize>();
            let merged = kept.merged.lock().unwrap_or_else(PoisonError::into_inner);
            let merged = merged.as_ref().map_or(0, |(.., list)| list.heap_bytes());
            size_of::<Kept>() + kept.lists.capacity() * size_of::<Changelist>() + lists + merged
        });
        self.ever.heap_bytes() + kept
    }

    /// Drops the changelists, because all connections are at the end of the history.
    pub fn release(&mut self) {
        self.kept = None;
    }
}
