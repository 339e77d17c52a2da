//! Copies the replicated values of one object to another object of the same type.
//!
//! *Invariant:* a copy writes only to the properties of the given handles.

use crate::object::level::{Elements, Level, LevelMut, Part, Slot};
use crate::schema::command::Collected;

/// Copies the properties of `handles` from one object or element to another of the same type.
pub(crate) fn copy_slots(from: Level<'_>, to: &mut LevelMut<'_>, handles: impl Iterator<Item = u32>) {
    handles.for_each(|handle| copy_between(from, to, handle, handle + 1));
}

/// Copies all properties of one object or element to another of the same type.
pub(crate) fn copy_whole(from: Level<'_>, to: &mut LevelMut<'_>) {
    copy_between(from, to, 1, from.handles() + 1);
}

/// Copies the properties with the handles from `first` to the handle before `end`.
fn copy_between(from: Level<'_>, to: &mut LevelMut<'_>, first: u32, end: u32) {
    let mut next = first;
    while let Some(part) = from.next_part(&mut next, end) {
        match part {
            Part::Joined(handle, leaves) => {
                if let Some(mut to) = to.joined(handle, leaves.leaves()) {
                    to.copy(leaves);
                }
            }
            Part::Slot(handle, Slot::Leaf(leaf)) => {
                if let Some(mut to) = to.leaf(handle) {
                    to.copy(leaf);
                }
            }
            Part::Slot(handle, Slot::Array(array)) => {
                to.resize(handle, array.count());
                for index in 0..array.len() {
                    if let (Some(from), Some(mut to)) = (array.element(index), to.element(handle, index)) {
                        copy_whole(from, &mut to);
                    }
                }
            }
            Part::Slot(handle, Slot::Items(items)) => copy_elements(items, to, handle),
            Part::Slot(handle, Slot::Entries(entries)) => copy_elements(entries, to, handle),
        }
    }
}

fn copy_elements<I: Collected>(from: Elements<'_, I>, to: &mut LevelMut<'_>, handle: u32) {
    if let Some(mut to) = to.elements::<I>(handle) {
        to.copy_from(&from, &mut |from, to| copy_whole(from, to));
    }
}
