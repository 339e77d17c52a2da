//! Whether two values of one type are the same.
//!
//! *Invariant:* only replicated values are looked at.

use super::level::{Level, Slot};

/// Whether two slots of one type hold the same; of collections, whether the second, a shadow, lacks nothing of the first.
pub(crate) fn same_slot(one: Slot<'_>, other: Slot<'_>) -> bool {
    match (one, other) {
        (Slot::Leaf(a), Slot::Leaf(b)) => a.identical(&b),
        (Slot::Array(a), Slot::Array(b)) => {
            a.len() == b.len()
                && (a.same_bytes(&b)
                    || (0..a.len()).all(|index| match (a.element(index), b.element(index)) {
                        (Some(a), Some(b)) => a.slots().zip(b.slots()).all(|(a, b)| same_slot(a, b)),
                        _ => false,
                    }))
        }
        (Slot::Keyed(live), Slot::Keyed(shadow)) => shadow.is_abreast(&live),
        (Slot::Map(a), Slot::Map(b)) => {
            a.is_same(&b, &mut |a, b| a.slots().zip(b.slots()).all(|(a, b)| same_slot(a, b)))
        }
        _ => false,
    }
}

/// Whether what stands here is not what stood here; of collections their receipts know.
pub(crate) fn is_changed(slot: Slot<'_>, old: Slot<'_>) -> bool {
    match (slot, old) {
        (Slot::Leaf(leaf), Slot::Leaf(old)) => !leaf.identical(&old),
        (Slot::Array(array), Slot::Array(old)) => {
            array.len() != old.len()
                || !array.same_bytes(&old)
                    && (0..array.len()).any(|index| match (array.element(index), old.element(index)) {
                        (Some(element), Some(old)) => any_changed(element, old),
                        _ => true,
                    })
        }
        (Slot::Keyed(items), _) => items.collection.has_news(),
        (Slot::Map(entries), Slot::Map(old)) => {
            !entries.is_same(&old, &mut |value, old| !any_changed(value, old))
        }
        _ => true,
    }
}

fn any_changed(level: Level<'_>, old: Level<'_>) -> bool {
    level.slots().zip(old.slots()).any(|(slot, old)| is_changed(slot, old))
}

/// Whether what stands at `handle` of two levels differs, as [`same_slot`] says.
pub(crate) fn differs(live: Level<'_>, shadow: Level<'_>, handle: u32) -> bool {
    match (live.slot(handle), shadow.slot(handle)) {
        (Some(live), Some(shadow)) => !same_slot(live, shadow),
        _ => false,
    }
}
