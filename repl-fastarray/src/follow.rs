//! How a shadow is updated from a live array: the shadow receives the same items, and reports which items
//! were written to.
//!
//! A shadow is the server's copy of an array, with the values that the server compared last.
//!
//! *Invariant:* a shadow that was updated from an array at some revision has all changes up to that revision,
//! and no later changes.

use repl_core::{ItemId, Step};

use crate::item::FastArrayItem;
use crate::marks::{ItemChange, ItemLog};

/// A function that is called with each item that was written to or removed.
pub(crate) type Visit<'a, T> = &'a mut dyn FnMut(ItemId, Step<&T, &mut T>);

/// An array of either kind that can be updated from another array of the same type.
pub(crate) trait Following: Sized {
    type Item: FastArrayItem;

    fn log(&self) -> &ItemLog;

    fn log_mut(&mut self) -> &mut ItemLog;

    /// Applies one entry of the log of `live` to this shadow. Does nothing if the log has a later entry for
    /// the same item.
    fn take_step(&mut self, live: &Self, entry: ItemChange, visit: Visit<'_, Self::Item>);

    /// Adds and removes items without using the log, so that this shadow has the same items as `live`. Calls
    /// `visit` with each item. Costs O(n).
    fn match_up(&mut self, live: &Self, visit: Visit<'_, Self::Item>);

    /// Returns the first new id that the items of the live array `live` must get. Returns `None` if the items
    /// can keep their ids. The items of `live` get new ids if `live` has replaced the array from which this
    /// shadow was updated before, and both arrays have used some of the same ids. Costs O(n).
    fn first_for_successor(&self, live: &Self) -> Option<ItemId>;

    /// Removes all items from this shadow and adds the items of `live`, with consecutive ids from `first` on.
    /// Costs O(n).
    fn start_over(&mut self, live: &Self, first: ItemId, visit: Visit<'_, Self::Item>);

    /// From now on, new items of this array receive the same ids as new items of `live`.
    fn continue_as(&mut self, live: &Self);

    /// Adds and removes items, so that this shadow has the same items as the live array `live`. Reads only
    /// the log of `live` if the log reaches back to the last update of this shadow, and otherwise reads all
    /// items. Returns whether the items of `live` must get other ids. Other ids are necessary if `live` has
    /// replaced another array, because its items are new items even if they have the same ids (S137).
    fn catch_up(&mut self, live: &Self, visit: Visit<'_, Self::Item>) -> bool {
        debug_assert!(live.log().has_final_ids(), "an array is renumbered before it is followed again");
        let (log, known) = (live.log(), self.log().changes.followed());
        let is_other = known.is_some_and(|followed| !log.changes.continues(followed));
        let successor = if is_other { self.first_for_successor(live) } else { None };
        match (known.and_then(|followed| log.changes.since(followed)), successor) {
            (Some(entries), _) => entries.iter().for_each(|&entry| self.take_step(live, entry, &mut *visit)),
            (None, Some(first)) => {
                log.succeed(first);
                self.start_over(live, first, visit);
            }
            (None, None) => self.match_up(live, visit),
        }
        if successor.is_none() {
            self.continue_as(live);
        }
        self.log_mut().follow(log);
        successor.is_some()
    }
}
