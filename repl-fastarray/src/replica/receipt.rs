//! The receipt of a client's array: a record of what the current update did to each item. The item callbacks
//! are called according to the receipt.
//!
//! *Invariant:* the receipt refers to items by their ids, so it stays correct when items move. The receipt
//! contains only items that the server added.

use repl_core::{HandleSet, ItemId};

use crate::ids::IdTable;

/// Each list in a receipt keeps its memory for up to this many items from one update to the next.
const MAX_KEPT_ITEMS: usize = 64;

/// What the current update has done to the items of an array so far.
#[derive(Debug, Default)]
pub(crate) struct Receipt {
    /// Whether an update has begun and has not ended yet.
    open: bool,
    /// The number of sweeps in this update. A sweep removes all items that the rest of the update does not
    /// mention.
    sweeps: u32,
    /// The notes on all items that the update has mentioned.
    notes: IdTable<Note>,
    /// The number of items before the update.
    pub(crate) old_len: usize,
    /// The items that the update added, in the order of the update.
    pub(crate) added: Vec<ItemId>,
    /// The items that the update changed, in the order of the update. The changed handles are stored only if
    /// the items have callbacks.
    pub(crate) changed: Vec<(ItemId, HandleSet)>,
    /// The items that the update lists as removed, in the order of the update.
    pub(crate) removed: Vec<ItemId>,
}

/// What the update did to one item.
#[derive(Clone, Copy, Debug)]
struct Note {
    fate: Fate,
    /// The value of `Receipt::sweeps` at the time when the update last mentioned the item.
    sweeps: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kept,
    Added,
    Changed,
    Removed,
}

impl Receipt {
    /// Begins an update of an array of `len` items. Does nothing if an update has already begun.
    pub(crate) fn begin(&mut self, len: usize) {
        if !self.open {
            self.open = true;
            self.old_len = len;
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Records a sweep: all items that the rest of the update does not mention will be removed.
    pub(crate) fn sweep(&mut self) {
        self.sweeps = self.sweeps.saturating_add(1);
    }

    fn fate(&self, id: ItemId) -> Option<Fate> {
        self.notes.get(id).map(|note| note.fate)
    }

    fn note(&mut self, id: ItemId, fate: Fate) {
        self.notes.set(id, Note { fate, sweeps: self.sweeps });
    }

    /// Records that the update added the item.
    pub(crate) fn add(&mut self, id: ItemId) {
        self.note(id, Fate::Added);
        self.added.push(id);
    }

    /// Deletes the record of an item that this update added and then removed again.
    pub(crate) fn cancel_add(&mut self, id: ItemId) {
        self.notes.remove(id);
        self.added.retain(|&added| added != id);
    }

    /// Records that the update has mentioned the item, so that a sweep before this call does not remove it.
    pub(crate) fn keep(&mut self, id: ItemId) {
        let fate = match self.fate(id) {
            Some(Fate::Removed) => {
                // A server never removes an item and sends it again in the same update, so this search may be
                // slow.
                self.removed.retain(|&removed| removed != id);
                let was_changed = self.changed.iter().any(|(changed, _)| *changed == id);
                if was_changed { Fate::Changed } else { Fate::Kept }
            }
            Some(fate) => fate,
            None => Fate::Kept,
        };
        self.note(id, fate);
    }

    /// Returns whether this update added the item.
    pub(crate) fn is_added(&self, id: ItemId) -> bool {
        self.fate(id) == Some(Fate::Added)
    }

    /// Records that the properties `handles` of the item have new values. `handles` is `None` if the items
    /// have no callbacks.
    pub(crate) fn change(&mut self, id: ItemId, handles: Option<&HandleSet>) {
        self.keep(id);
        match self.fate(id) {
            Some(Fate::Added) => {}
            Some(Fate::Changed) => {
                // A server mentions each item at most once in an update. For this reason, an item changes
                // twice in an update only if a reference in it is read again because its object has appeared.
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

    /// Records that the update removes the item, which was in the array before the update.
    pub(crate) fn mark_removed(&mut self, id: ItemId) {
        if !self.is_marked_removed(id) {
            self.note(id, Fate::Removed);
            self.removed.push(id);
        }
    }

    /// Returns whether a sweep removes the item.
    pub(crate) fn is_swept(&self, id: ItemId) -> bool {
        let is_spared = |note: Note| note.fate == Fate::Removed || note.sweeps == self.sweeps;
        self.has_sweep() && !id.is_local() && !self.notes.get(id).is_some_and(is_spared)
    }

    /// Returns whether the update contained a sweep.
    pub(crate) fn has_sweep(&self) -> bool {
        self.sweeps > 0
    }

    /// Returns whether the update lists the item as removed.
    pub(crate) fn is_marked_removed(&self, id: ItemId) -> bool {
        self.fate(id) == Some(Fate::Removed)
    }

    /// Drops the removed items from the lists of added and changed items. Returns the items that were added
    /// and swept in the same update. Callbacks do not report these items.
    pub(crate) fn drop_removed(&mut self) -> Vec<ItemId> {
        let (mut added, mut changed) = (std::mem::take(&mut self.added), std::mem::take(&mut self.changed));
        let mut gone = Vec::new();
        added.retain(|&id| {
            let is_swept = self.is_swept(id);
            if is_swept {
                gone.push(id);
            }
            !is_swept
        });
        changed.retain(|&(id, _)| !self.is_marked_removed(id) && !self.is_swept(id));
        (self.added, self.changed) = (added, changed);
        gone
    }

    /// Ends the update and deletes all notes in the receipt.
    pub(crate) fn close(&mut self) {
        self.open = false;
        self.sweeps = 0;
        self.notes.clear();
        self.added.clear();
        self.changed.clear();
        self.removed.clear();
        self.added.shrink_to(MAX_KEPT_ITEMS);
        self.changed.shrink_to(MAX_KEPT_ITEMS);
        self.removed.shrink_to(MAX_KEPT_ITEMS);
    }
}
