//! Converts a changelist into a flat list of numbers (S58), for tests and for debugging.
//!
//! *Invariant:* every flat list ends with 0. The length of each nested list precedes the list, and includes
//! the entries of the lists nested in it.

use crate::changes::changelist::{ArrayChanges, Changelist, ElementChanges, Nested};
use crate::ids::identity::{IdSet, Identity};
use crate::object::level::{Array, Level, Slot};

/// Appends the changes of one object or element to the flat list, and a 0.
pub(crate) fn flatten(level: Level<'_>, changes: &Changelist, flat: &mut Vec<u32>) {
    for handle in changes.handles.iter() {
        flat.push(handle);
        flatten_slot(level.slot(handle), changes.nested.get(handle), flat);
    }
    flat.push(0);
}

fn flatten_slot(slot: Option<Slot<'_>>, nested: Option<&Nested>, flat: &mut Vec<u32>) {
    match (slot, nested) {
        (Some(Slot::Array(array)), Some(Nested::Array(changes))) => flatten_array(array, changes, flat),
        (Some(Slot::Array(array)), _) => flatten_array(array, &ArrayChanges::count_only(), flat),
        (Some(Slot::Items(_)), Some(Nested::Items(changes))) => flatten_elements(changes, flat),
        (Some(Slot::Entries(_)), Some(Nested::Entries(changes))) => flatten_elements(changes, flat),
        (Some(Slot::Items(_) | Slot::Entries(_)), _) => flat.extend([0, 0]),
        _ => {}
    }
}

fn flatten_array(array: Array<'_>, changes: &ArrayChanges, flat: &mut Vec<u32>) {
    let (old, all) = (array.steps_before(changes.tail), array.steps_before(u32::MAX));
    let count_at = flat.len();
    flat.push(0);
    let edits = changes.edits.iter().filter(|edit| old.contains(edit));
    for element_handle in edits.chain(old.end..all.end) {
        flat.push(element_handle + 1);
        let whole = Nested::Array(ArrayChanges::whole());
        let is_old = old.contains(&element_handle);
        let nested = if is_old { changes.nested.get(element_handle) } else { Some(&whole) };
        flatten_slot(array.slot(element_handle), nested, flat);
    }
    flat[count_at] = (flat.len() - count_at - 1) as u32;
    flat.push(0);
}

/// Appends the ids of changed items to the flat list. Keys are not numbers, so entries of maps are numbered
/// from one.
fn flatten_elements<I: Identity>(changes: &ElementChanges<I>, flat: &mut Vec<u32>) {
    let changed = changes.changed.iter().map(|change| change.id.clone());
    let mut ids: Vec<I> = changes.removed.iter().chain(changes.added.iter()).chain(changed).collect();
    ids.sort_unstable();
    let count = if I::IS_KEY { changes.count() } else { ids.len() } as u32;
    let mut numbers = ids.iter().map(I::number_of);
    flat.push(count);
    flat.extend((1..=count).map(|place| numbers.next().flatten().unwrap_or(place)));
    flat.push(0);
}
