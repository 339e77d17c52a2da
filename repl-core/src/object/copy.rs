//! Copies the replicated values of one object to another object of the same type.
//!
//! *Invariant:* a copy writes only to the properties of the given handles.

use crate::object::level::{Elements, Level, LevelMut, Slot};
use crate::schema::program::Collected;

/// Copies the properties of `handles` from the level `from` to the level `to`.
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
            Some(Slot::Items(items)) => copy_elements(items, to, handle),
            Some(Slot::Entries(entries)) => copy_elements(entries, to, handle),
            None => {}
        }
    }
}

fn copy_elements<I: Collected>(from: Elements<'_, I>, to: &mut LevelMut<'_>, handle: u32) {
    if let Some(mut to) = to.elements::<I>(handle) {
        to.copy_from(&from, &mut |from, to| copy_slots(from, to, 1..=from.handles()));
    }
}
