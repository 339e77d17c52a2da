//! Copying the replicated values of one object to another of its type.
//!
//! *Invariant:* only what stands at the handles that are asked for is written.

use super::level::{Level, LevelMut, Slot};

/// Makes what stands at `handles` in `to` a copy of what stands there in `from`.
pub(crate) fn copy_slots(from: Level<'_>, to: &mut LevelMut<'_>, handles: impl Iterator<Item = u32>) {
    for handle in handles {
        match from.slot(handle) {
            Some(Slot::Leaf(leaf)) => {
                if let Some(mut to) = to.leaf(handle) {
                    to.copy(leaf);
                }
            }
            Some(Slot::Array(array)) => {
                to.resize(handle, array.len());
                for index in 0..array.len() {
                    if let (Some(from), Some(mut to)) = (array.element(index), to.element(handle, index)) {
                        copy_slots(from, &mut to, 1..=from.handles());
                    }
                }
            }
            Some(Slot::Keyed(items)) => {
                if let Some(mut to) = to.keyed(handle) {
                    to.copy_from(&items, &mut |from, to| copy_slots(from, to, 1..=from.handles()));
                }
            }
            Some(Slot::Map(entries)) => {
                if let Some(mut to) = to.map(handle) {
                    to.copy_from(&entries, &mut |from, to| copy_slots(from, to, 1..=from.handles()));
                }
            }
            None => {}
        }
    }
}
