//! The history of one object's changes, shared by all connections (S66, R10).
//!
//! Invariant: a list is kept only while a connection stands before it, and never more than [`History::MAX_LISTS`]; what is dropped is
//! in `ever`, and whoever stood before it has been given it.

use std::collections::VecDeque;

use crate::changelist::Changelist;

/// The changelists of one object, oldest first.
///
/// A place in the history is a number that only grows. A connection that has sent all it gathered stands at the [`end`](Self::end) and is not
/// known here; one that fell behind remembers its place.
#[derive(Debug, Default)]
pub struct History {
    lists: VecDeque<Changelist>,
    end: u64,
    ever: Changelist,
    /// The last merge, for the next connection that stands at the same place.
    merged: Option<(u64, u64, Changelist)>,
}

impl History {
    /// The most changelists an object keeps (S66).
    pub const MAX_LISTS: usize = 64;

    /// The place past the newest list: grows by one with each list (S65).
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The place of the oldest list that is kept.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.end - self.lists.len() as u64
    }

    /// Everything that ever changed: what a late joiner needs (S69, S75).
    #[must_use]
    pub fn ever(&self) -> &Changelist {
        &self.ever
    }

    /// Appends a list that is not empty. With `keep`, because some connection stands before the end, the list is kept.
    ///
    /// Where the ring is full the oldest list leaves it: it is given to `evicted` with its place, and who still stands there must take
    /// it over (R10).
    pub fn push(&mut self, list: &Changelist, keep: bool, evicted: impl FnOnce(u64, &Changelist)) {
        debug_assert!(!list.is_empty(), "an empty list is no change");
        self.ever.merge(list);
        self.end += 1;
        if !keep {
            self.lists.clear();
            self.merged = None;
            return;
        }
        self.lists.push_back(list.clone());
        if self.lists.len() > Self::MAX_LISTS
            && let Some(oldest) = self.lists.pop_front()
        {
            evicted(self.start() - 1, &oldest);
        }
    }

    /// Adds all lists from `place` on to `into`. O(lists), once for each distinct place.
    pub fn gather(&mut self, place: u64, into: &mut Changelist) {
        debug_assert!(place >= self.start(), "lists before the start have been given away");
        if !matches!(&self.merged, Some((from, to, _)) if (*from, *to) == (place, self.end)) {
            let mut merged = Changelist::new();
            let skipped = place.saturating_sub(self.start()) as usize;
            self.lists.iter().skip(skipped).for_each(|list| merged.merge(list));
            self.merged = Some((place, self.end, merged));
        }
        if let Some((.., merged)) = &self.merged {
            into.merge(merged);
        }
    }

    /// Forgets the lists: nobody stands before the end.
    pub fn release(&mut self) {
        self.lists.clear();
        self.merged = None;
    }
}
