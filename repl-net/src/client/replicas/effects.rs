//! The effects of a packet after it was applied: references to objects that it created or removed are read
//! again, and callbacks run.
//!
//! *Invariant:* all callbacks run after all references were read again.

use std::collections::{BTreeMap, HashMap};

use repl_core::{HandleSet, ReferenceMap};

use super::{ChangedObject, Replicas};
use crate::client::replica::Callback;

/// An object whose references are being read again, because objects to which they refer were created or
/// removed.
struct Rereading {
    slot: u32,
    class: u16,
    row: u32,
    /// The index of this object in `touched`.
    at: usize,
    /// The handle of the property that is being read again, or zero if there is none.
    handle: u32,
}

impl Replicas {
    /// Reads references again if objects were created or removed, and calls the callbacks.
    pub(super) fn finish(&mut self) {
        self.reread_references();
        self.run_callbacks();
    }

    /// Reads all leaves (values that are sent as a unit) again that refer to objects which the packet created
    /// or removed (S118, S120). They are read from stored bits. Costs O(leaves that are read again).
    fn reread_references(&mut self) {
        let Self { columns, slots, mentions, touched, created_or_removed, updates, .. } = self;
        if created_or_removed.is_empty() {
            return;
        }
        let touched_index = std::cell::OnceCell::new();
        let mut rereading: Option<Rereading> = None;
        let (mut again, mut references) = (HashMap::new(), ReferenceMap::new(&*slots));
        let mut told: BTreeMap<u32, HandleSet> = BTreeMap::new();
        mentions.each_of(created_or_removed, &mut |slot, path, bits| {
            let Some(&handle) = path.first() else { return };
            if slots.outcome.closes(slot) {
                // An object that the packet also removes keeps its last state.
                return;
            }
            if rereading.as_ref().is_none_or(|known| known.slot != slot) {
                let Some((class, row)) = slots.class_and_row(slot) else { return };
                let index_touched =
                    || touched.iter().zip(0..).map(|(touched, at)| (touched.slot, at)).collect();
                let touched_index: &HashMap<u32, usize> = touched_index.get_or_init(index_touched);
                let at = touched_index.get(&slot).or_else(|| again.get(&slot)).copied();
                rereading = Some(Rereading { slot, class, row, at: at.unwrap_or(touched.len()), handle: 0 });
                if at.is_none() {
                    if let Some(column) = columns.get_mut(class as usize) {
                        column.call(row, Callback::PreNetReceive);
                    }
                    touched.push(ChangedObject { slot, is_new: false, notified: Vec::new() });
                }
                again.insert(slot, at.unwrap_or(touched.len().saturating_sub(1)));
            }
            let Some(known) = &mut rereading else { return };
            let Some(column) = columns.get_mut(known.class as usize) else { return };
            if known.handle != handle
                && let Some(touched) = touched.get_mut(known.at)
            {
                column.begin_reread(known.row, handle, &mut touched.notified);
                known.handle = handle;
                if updates.is_recording() {
                    told.entry(slot).or_default().insert(handle);
                }
            }
            column.reread_leaf(known.row, path, bits, &mut references);
        });
        created_or_removed.clear();
        for (slot, handles) in told {
            if let (Some((class, _)), Some(guid)) = (slots.class_and_row(slot), slots.known_in(slot))
                && let Some(column) = columns.get(class as usize)
            {
                updates.reread(guid, column.program(), &handles);
            }
        }
        for (slot, at) in again {
            let Some((class, row)) = slots.class_and_row(slot) else { continue };
            if let (Some(column), Some(touched)) = (columns.get(class as usize), touched.get_mut(at)) {
                column.recheck_changed(row, &mut touched.notified);
            }
        }
    }

    /// Calls the callbacks of the user for all changed objects, in the order of S54.
    fn run_callbacks(&mut self) {
        for mut touched in self.touched.drain(..) {
            let Some((class, row)) = self.slots.class_and_row(touched.slot) else { continue };
            let Some(column) = self.columns.get_mut(class as usize) else { continue };
            if touched.is_new {
                column.call(row, Callback::Opened);
            }
            column.finish_update(row);
            column.call(row, Callback::PostNetReceive);
            touched.notified.sort_unstable_by_key(|notified| notified.property);
            for notified in touched.notified.iter().filter(|notified| notified.is_due) {
                column.call(row, Callback::Notify(notified.property));
            }
            column.call(row, Callback::PostRepNotifies);
            if touched.is_new {
                column.call(row, Callback::PostNetInit);
            }
        }
    }
}
