//! Pruning: what a list says that is true no more (S72).
//!
//! Invariant: the handle of an array or collection stays, whatever goes of its changes.

use crate::changes::changelist::{ArrayChanges, Changelist, Nested};
use crate::changes::entries::{EntryChange, EntryChanges};
use crate::changes::items::ItemChanges;
use crate::ids::item_id::ItemId;
use crate::ids::ranges::Ranges;
use crate::object::level::{Array, KeyedItems, Level, MapEntries, Slot};

/// Drops what lies past the ends of a level's arrays, what changed of items and entries that its collections and maps do not have, and the removal of
/// those that they have again: another list tells, or told, of their coming back.
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
        (Slot::Keyed(items), Nested::Items(changes)) => prune_items(items, changes),
        (Slot::Map(entries), Nested::Entries(changes)) => prune_entries(entries, changes),
        _ => debug_assert!(false, "a list speaks of arrays, collections and maps as its object has them"),
    }
}

fn prune_array(array: Array<'_>, changes: &mut ArrayChanges) {
    changes.prune(array.len() as u32, array.handles());
    changes.nested.prune_each(|handle, nested| {
        let element = array.element((handle / array.handles()) as usize);
        if let Some(slot) = element.and_then(|element| element.slot(handle % array.handles() + 1)) {
            prune_nested(slot, nested);
        }
    });
}

fn prune_items(items: KeyedItems<'_>, changes: &mut ItemChanges) {
    changes.changed.retain_mut(|change| match items.item(change.id) {
        Some(item) => {
            prune(item, &mut change.list);
            true
        }
        None => false,
    });
    if !changes.born.is_empty() {
        changes.born = there(items, &changes.born);
    }
    if !changes.removed.is_empty() {
        let back = there(items, &changes.removed);
        changes.removed.subtract(&back);
    }
}

/// Those of `ids` that are there.
fn there(items: KeyedItems<'_>, ids: &Ranges) -> Ranges {
    let mut there = Ranges::new();
    if ids.count() > items.len() {
        let all = items.ids();
        all.iter().filter(|id| ids.contains(id.number())).for_each(|id| there.insert(id.number()));
    } else {
        let found = ids.iter().filter(|&id| ItemId::new(id).is_some_and(|id| items.item(id).is_some()));
        found.for_each(|id| there.insert(id));
    }
    there
}

fn prune_entries(entries: MapEntries<'_>, changes: &mut EntryChanges) {
    if std::mem::take(&mut changes.whole) {
        let keys = entries.keys();
        changes.removed.retain(|key| keys.binary_search(key).is_err());
        changes.entries = keys.into_iter().map(|key| (key, EntryChange::Born)).collect();
        return;
    }
    changes.removed.retain(|key| entries.value(key).is_none());
    changes.entries.retain(|key, change| match (entries.value(key), change) {
        (Some(value), EntryChange::Changed { list, .. }) => {
            prune(value, list);
            true
        }
        (value, _) => value.is_some(),
    });
}
