//! The receipt: what a replica has been told in the update that is being received.
//!
//! Invariant: it names items by id, so that nothing in it depends on where they stand; only items that the
//! server gave are in it.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use repl_core::{HandleSet, ItemId};

use crate::ids::IdTable;

/// Room for so many items is kept from one update to the next.
const KEPT: usize = 64;

/// What came of an update so far.
#[derive(Debug, Default)]
pub(crate) struct Receipt {
    /// Whether an update is under way.
    open: bool,
    /// How often all items were to go that would not be told of afterwards.
    sweeps: u32,
    /// Of all items that were told of.
    notes: IdTable<Note>,
    /// How many items there were before the update.
    pub(crate) old_len: usize,
    /// In the order in which they came.
    pub(crate) added: Vec<ItemId>,
    /// In the order in which they were told, with their handles if somebody will ask.
    pub(crate) changed: Vec<(ItemId, HandleSet)>,
    /// In the order in which they were told.
    pub(crate) removed: Vec<ItemId>,
}

/// What was told of an item.
#[derive(Clone, Copy, Debug)]
struct Note {
    fate: Fate,
    /// How many sweeps there had been when it was last told of.
    sweeps: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    Added,
    Changed,
    Doomed,
}

impl Receipt {
    /// Begins an update of an array of `len` items, unless one is under way.
    pub(crate) fn begin(&mut self, len: usize) {
        if !self.open {
            self.open = true;
            self.old_len = len;
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// All items go that do not come after this.
    pub(crate) fn sweep(&mut self) {
        self.sweeps = self.sweeps.saturating_add(1);
    }

    fn fate(&self, id: ItemId) -> Option<Fate> {
        self.notes.get(id).map(|note| note.fate)
    }

    fn note(&mut self, id: ItemId, fate: Fate) {
        self.notes.set(id, Note { fate, sweeps: self.sweeps });
    }

    /// The item is new in this update.
    pub(crate) fn add(&mut self, id: ItemId) {
        self.note(id, Fate::Added);
        self.added.push(id);
    }

    /// The item, which was added, was not there after all.
    pub(crate) fn take_back(&mut self, id: ItemId) {
        self.notes.remove(id);
        self.added.retain(|&added| added != id);
    }

    /// The item stays.
    pub(crate) fn keep(&mut self, id: ItemId) {
        let fate = match self.fate(id) {
            Some(Fate::Doomed) => {
                // No server tells an item's removal and the item in one update, so this may be slow.
                self.removed.retain(|&removed| removed != id);
                let was_changed = self.changed.iter().any(|(changed, _)| *changed == id);
                if was_changed { Fate::Changed } else { Fate::Kept }
            }
            Some(fate) => fate,
            None => Fate::Kept,
        };
        self.note(id, fate);
    }

    /// Whether the item came in this update.
    pub(crate) fn is_added(&self, id: ItemId) -> bool {
        self.fate(id) == Some(Fate::Added)
    }

    /// The item has other values in `handles`, if they are to be kept.
    pub(crate) fn change(&mut self, id: ItemId, handles: Option<&HandleSet>) {
        self.keep(id);
        match self.fate(id) {
            Some(Fate::Added) => {}
            Some(Fate::Changed) => {
                // Each item is told at most once in what a server sends, so this is for references that heal.
                let known = self.changed.iter_mut().rfind(|(changed, _)| *changed == id);
                if let (Some((_, known)), Some(handles)) = (known, handles) {
                    known.union(handles);
                }
            }
            _ => {
                self.note(id, Fate::Changed);
                self.changed.push((id, handles.cloned().unwrap_or_default()));
            }
        }
    }

    /// The item, which did not come in this update, is to go.
    pub(crate) fn doom(&mut self, id: ItemId) {
        if !self.is_doomed(id) {
            self.note(id, Fate::Doomed);
            self.removed.push(id);
        }
    }

    /// Whether the item goes with the sweep.
    pub(crate) fn is_swept(&self, id: ItemId) -> bool {
        let is_spared = |note: Note| note.fate == Fate::Doomed || note.sweeps == self.sweeps;
        self.has_sweep() && !id.is_local() && !self.notes.get(id).is_some_and(is_spared)
    }

    /// Whether there was a sweep.
    pub(crate) fn has_sweep(&self) -> bool {
        self.sweeps > 0
    }

    /// Whether the item is about to go, by its name.
    pub(crate) fn is_doomed(&self, id: ItemId) -> bool {
        self.fate(id) == Some(Fate::Doomed)
    }

    /// Leaves those among the added and the changed that stay; gives those that came and went again, of which
    /// nobody is to hear.
    pub(crate) fn settle(&mut self) -> Vec<ItemId> {
        let (mut added, mut changed) = (std::mem::take(&mut self.added), std::mem::take(&mut self.changed));
        let mut gone = Vec::new();
        added.retain(|&id| {
            let is_swept = self.is_swept(id);
            if is_swept {
                gone.push(id);
            }
            !is_swept
        });
        changed.retain(|&(id, _)| !self.is_doomed(id) && !self.is_swept(id));
        (self.added, self.changed) = (added, changed);
        gone
    }

    /// Ends the update.
    pub(crate) fn close(&mut self) {
        self.open = false;
        self.sweeps = 0;
        self.notes.clear();
        self.added.clear();
        self.changed.clear();
        self.removed.clear();
        self.added.shrink_to(KEPT);
        self.changed.shrink_to(KEPT);
        self.removed.shrink_to(KEPT);
    }
}
