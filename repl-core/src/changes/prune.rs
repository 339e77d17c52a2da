//! Pruning: drops the changes in a changelist that no longer apply (S72).
//!
//! *Invariant:* the handle of an array or collection stays in the changelist, even if all changes inside it
//! are dropped.

use crate::changes::changelist::{ArrayChanges, Changelist, ElementChanges, Nested};
use crate::ids::identity::{IdSet, Identity};
use crate::object::level::{Array, Elements, Level, Slot};

/// Drops three kinds of changes of a level (an object or an element): changes of elements past the end of an
/// array or of another variant of an enum, changes of items and entries that do not exist, and removals of
/// items and entries that exist again. Another changelist adds the elements that exist again.
pub(crate) fn prune(level: Level<'_>, changes: &mut Changelist) {
    changes.nested.prune_each(|handle, nested| {
        if let Some(slot) = level.slot(handle) {
            prune_nested(slot, nested);
        }
    });
}

fn prune_nested(slot: Slot<'_>, nested: &mut Nested) {
    match (slot, nested) {
        (Slot::Array(array), Nested::Array(changes)) => prune_array(array, changes),
        (Slot::Items(items), Nested::Items(changes)) => prune_elements(items, changes),
        (Slot::Entries(entries), Nested::Entries(changes)) => prune_elements(entries, changes),
        _ => debug_assert!(false, "a list speaks of arrays, collections and maps as its object has them"),
    }
}

fn prune_array(array: Array<'_>, changes: &mut ArrayChanges) {
    changes.prune(array.len() as u32, array.steps_before(changes.tail));
    changes.nested.prune_each(|step, nested| {
        if let Some(slot) = array.slot(step) {
            prune_nested(slot, nested);
        }
    });
}

fn prune_elements<I: Identity>(elements: Elements<'_, I>, changes: &mut ElementChanges<I>) {
    changes.changed.retain_mut(|change| {
        let element = elements.element(&change.id);
        element.into_iter().for_each(|element| prune(element, &mut change.list));
        element.is_some()
    });
    if !changes.added.is_empty() {
        changes.added = there(elements, &changes.added);
    }
    if !changes.removed.is_empty() {
        let back = there(elements, &changes.removed);
        changes.removed.subtract(&back);
    }
}

/// Returns the ids or keys in a set for which an element exists.
fn there<I: Identity>(elements: Elements<'_, I>, set: &I::Set) -> I::Set {
    if set.is_all() || set.count() > elements.collection.len() {
        I::Set::of(elements.collection.ids().into_iter().filter(|id| set.contains(id)))
    } else {
        I::Set::of(set.iter().filter(|id| elements.has(id)))
    }
}
