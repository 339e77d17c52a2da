//! Following: how a shadow comes to have the items of a live array, and learns which of them were touched.
//!
//! Invariant: what a shadow has followed it has completely: of the same log, everything up to its revision and nothing after.

use repl_core::{ItemId, Step};

use crate::array::FastArray;
use crate::item::FastArrayItem;
use crate::log::{Entry, Log};

/// How far a shadow has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Followed {
    lineage: u64,
    revision: u64,
}

/// Who is told of the steps.
pub(crate) type Visit<'a, T> = &'a mut dyn FnMut(ItemId, Step<'_, T>);

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

    /// Comes to have what `live` has: by its log, if that reaches back far enough, else by going through all items.
    fn catch_up(&mut self, live: &Self, visit: Visit<'_, Self::Item>) {
        let (log, lineage) = (live.log(), live.log().lineage());
        let known = self.followed().filter(|followed| followed.lineage == lineage);
        match known.and_then(|followed| log.since(followed.revision)) {
            Some(entries) => entries.iter().for_each(|&entry| self.take_step(live, entry, &mut *visit)),
            None => self.match_up(live, visit),
        }
        log.follow();
        *self.followed() = Some(Followed { lineage, revision: log.revision() });
    }
}

impl Followed {
    /// Whether nothing has happened to the array with this log since.
    pub(crate) fn is_abreast(self, log: &Log) -> bool {
        log.is_at(self.lineage, self.revision)
    }
}

impl<T: FastArrayItem> Following for FastArray<T> {
    type Item = T;

    fn log(&self) -> &Log {
        &self.roster.log
    }

    fn followed(&mut self) -> &mut Option<Followed> {
        &mut self.followed
    }

    fn take_step(&mut self, live: &Self, entry: Entry, visit: Visit<'_, T>) {
        if entry.is_removal() {
            if let Some(at) = self.roster.position(entry.id) {
                self.swap_remove(at);
                visit(entry.id, Step::Removed);
            }
        } else if let Some(at) = live.roster.locate(entry.id, entry.place()) {
            self.step(live, at, visit);
        }
    }

    fn match_up(&mut self, live: &Self, visit: Visit<'_, T>) {
        let mut is_there = vec![false; self.items.len()];
        for at in 0..live.items.len() {
            let own = self.step(live, at, visit);
            is_there.resize(self.items.len(), true);
            is_there[own] = true;
        }
        for at in (0..self.items.len()).rev() {
            if !is_there[at] {
                let id = self.roster.ids[at];
                self.swap_remove(at);
                visit(id, Step::Removed);
            }
        }
    }
}

impl<T: FastArrayItem> FastArray<T> {
    /// The item at `at` of `live` was touched; gives where its shadow is.
    fn step(&mut self, live: &Self, at: usize, visit: Visit<'_, T>) -> usize {
        let (id, live) = (live.roster.ids[at], &live.items[at]);
        // A shadow mostly has its items where the live array has them.
        if let Some(at) = self.roster.position_from(id, at) {
            visit(id, Step::Touched { live, shadow: &mut self.items[at], moved: false });
            return at;
        }
        let at = self.append_initial(id);
        visit(id, Step::Added { live, shadow: &mut self.items[at] });
        at
    }

    /// Appends an initial item under an id that no other has; gives where it is.
    pub(crate) fn append_initial(&mut self, id: ItemId) -> usize {
        self.push_as(id, T::initial());
        self.items.len() - 1
    }

    /// Comes to have the items that `other` has, and by `copy` their values; has then followed what `other` has. Local items are neither taken
    /// over nor lost (S183).
    pub(crate) fn copy_items(&mut self, other: &Self, copy: &mut dyn FnMut(&T, &mut T)) {
        for at in (0..self.items.len()).rev() {
            let id = self.roster.ids[at];
            if !id.is_local() && other.roster.position(id).is_none() {
                self.swap_remove(at);
            }
        }
        let items = other.roster.ids.iter().zip(&other.items).filter(|(id, _)| !id.is_local());
        for (place, (&id, item)) in items.enumerate() {
            let at = self.roster.position(id).unwrap_or_else(|| self.append_initial(id));
            self.swap(at, place);
            copy(item, &mut self.items[place]);
        }
        if self.receipt.is_none() {
            self.roster.continue_as(&other.roster);
            self.followed = other.followed;
        }
    }
}
