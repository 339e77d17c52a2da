//! Following: how a shadow comes to have the items of a live array, and learns which of them were touched.
//!
//! Invariant: what a shadow has followed it has completely: of the same log, everything up to its revision
//! and nothing after.

use std::num::NonZeroU64;

use repl_core::{ItemId, Step};

use crate::item::FastArrayItem;
use crate::marks::{Entry, Log};

/// How far a shadow has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Followed {
    lineage: NonZeroU64,
    revision: u64,
}

/// Who is told of the steps.
pub(crate) type Visit<'a, T> = &'a mut dyn FnMut(ItemId, Step<&T, &mut T>);

/// An array of whatever kind, as a shadow follows it.
pub(crate) trait Following: Sized {
    type Item: FastArrayItem;

    fn log(&self) -> &Log;

    /// How far this, a shadow, has come.
    fn followed(&mut self) -> &mut Option<Followed>;

    /// Takes the step that an entry of the log of `live` is about, if that is not overtaken by a later one.
    fn take_step(&mut self, live: &Self, entry: Entry, visit: Visit<'_, Self::Item>);

    /// Visits all items. O(n).
    fn match_up(&mut self, live: &Self, visit: Visit<'_, Self::Item>);

    /// The first id for the items of `live`, if that has taken the place of the array that this shadow has
    /// followed, and has ids that were given there too. O(n).
    fn first_for_successor(&self, live: &Self) -> Option<ItemId>;

    /// All items go, and those of `live` come, with ids from `first` on in their order. O(n).
    fn start_over(&mut self, live: &Self, first: ItemId, visit: Visit<'_, Self::Item>);

    /// From now on new items would get the ids that they would get in `live`.
    fn continue_as(&mut self, live: &Self);

    /// Comes to have what `live` has: by its log, if that reaches back far enough, else by going through all
    /// items. Returns whether `live` is to be settled: an array that took the place of another has new items,
    /// whatever ids it gave them (S137).
    fn catch_up(&mut self, live: &Self, visit: Visit<'_, Self::Item>) -> bool {
        debug_assert!(live.log().is_settled(), "an array is settled before it is followed again");
        let (log, mut lineage) = (live.log(), live.log().lineage());
        let known = *self.followed();
        let is_other = known.is_some_and(|followed| followed.lineage != lineage);
        let successor = if is_other { self.first_for_successor(live) } else { None };
        match known.filter(|_| !is_other).and_then(|followed| log.since(followed.revision)) {
            Some(entries) => entries.iter().for_each(|&entry| self.take_step(live, entry, &mut *visit)),
            None => match successor {
                Some(first) => {
                    lineage = log.succeed(first);
                    self.start_over(live, first, visit);
                }
                None => self.match_up(live, visit),
            },
        }
        if successor.is_none() {
            self.continue_as(live);
        }
        log.follow();
        *self.followed() = Some(Followed { lineage, revision: log.revision() });
        successor.is_some()
    }
}

impl Followed {
    /// Whether nothing has happened to the array with this log since.
    pub(crate) fn is_abreast(self, log: &Log) -> bool {
        log.is_at(self.lineage, self.revision)
    }
}
