//! The receipt: what a replica has been told in the update that is being received.
//!
//! Invariant: it names items by id, so that nothing in it depends on where they stand; only items that the server gave are in it.

use repl_core::{HandleSet, ItemId};

/// What came of an update so far.
#[derive(Debug, Default)]
pub(crate) struct Receipt {
    /// Whether an update is under way.
    open: bool,
    /// Counts updates and sweeps. Stamps that have it were received since the last of both.
    epoch: u64,
    /// The epoch in which the update began.
    began: u64,
    /// Whether there was a sweep in it.
    swept: bool,
    /// How many items there were before it.
    pub(crate) old_len: usize,
    /// In the order in which they came.
    pub(crate) added: Vec<ItemId>,
    /// In the order in which they were told, with their handles if somebody will ask.
    pub(crate) changed: Vec<(ItemId, HandleSet)>,
    /// In the order in which they were told.
    pub(crate) removed: Vec<ItemId>,
}

/// What a replica has for each item in the place of a time: an epoch, and these.
const ADDED: u64 = 1;
const CHANGED: u64 = 2;
const FLAGS: u32 = 2;
/// About to go.
const DOOMED: u64 = u64::MAX;

impl Receipt {
    /// Begins an update of an array of `len` items, unless one is under way.
    pub(crate) fn begin(&mut self, len: usize) {
        if !self.open {
            self.open = true;
            self.epoch += 1;
            self.began = self.epoch;
            self.old_len = len;
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// All items go that do not come after this.
    pub(crate) fn sweep(&mut self) {
        self.epoch += 1;
        self.swept = true;
    }

    /// The item with this stamp, new in this update.
    pub(crate) fn add(&mut self, id: ItemId, stamp: &mut u64) {
        *stamp = self.epoch << FLAGS | ADDED;
        self.added.push(id);
    }

    /// The item with this stamp stays.
    pub(crate) fn keep(&mut self, id: ItemId, stamp: &mut u64) {
        let flags = if *stamp == DOOMED {
            // No server tells an item's removal and the item in one update, so this may be slow.
            self.removed.retain(|&removed| removed != id);
            if self.changed.iter().any(|(changed, _)| *changed == id) { CHANGED } else { 0 }
        } else if self.is_recent(*stamp) {
            *stamp & (ADDED | CHANGED)
        } else {
            0
        };
        *stamp = self.epoch << FLAGS | flags;
    }

    /// Whether the stamp is of this update, and not that of a doomed item.
    fn is_recent(&self, stamp: u64) -> bool {
        stamp != DOOMED && stamp >> FLAGS >= self.began
    }

    /// Whether the item with this stamp came in this update.
    pub(crate) fn is_added(&self, stamp: u64) -> bool {
        self.is_recent(stamp) && stamp & ADDED != 0
    }

    /// The item with this stamp has other values in `handles`, if they are to be kept.
    pub(crate) fn change(&mut self, id: ItemId, stamp: &mut u64, handles: Option<&HandleSet>) {
        self.keep(id, stamp);
        if *stamp & ADDED != 0 {
            return;
        }
        if *stamp & CHANGED == 0 {
            *stamp |= CHANGED;
            self.changed.push((id, handles.cloned().unwrap_or_default()));
        } else if let Some(handles) = handles {
            // Each item is told at most once in what a server sends, so this is for references that heal.
            if let Some((_, known)) = self.changed.iter_mut().rfind(|(changed, _)| *changed == id) {
                known.union(handles);
            }
        }
    }

    /// The item with this stamp, which did not come in this update, is to go.
    pub(crate) fn doom(&mut self, id: ItemId, stamp: &mut u64) {
        if *stamp != DOOMED {
            *stamp = DOOMED;
            self.removed.push(id);
        }
    }

    /// Whether the item goes with the sweep.
    pub(crate) fn is_swept(&self, id: ItemId, stamp: u64) -> bool {
        self.swept && !id.is_local() && stamp != DOOMED && stamp >> FLAGS != self.epoch
    }

    /// Whether there was a sweep.
    pub(crate) fn has_sweep(&self) -> bool {
        self.swept
    }

    /// Whether the item with this stamp is about to go.
    pub(crate) fn is_doomed(stamp: u64) -> bool {
        stamp == DOOMED
    }

    /// Ends the update.
    pub(crate) fn close(&mut self) {
        self.open = false;
        self.swept = false;
        self.added.clear();
        self.changed.clear();
        self.removed.clear();
    }
}
