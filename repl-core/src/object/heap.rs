//! Counts the memory of the elements of an object, outside the object itself.
//!
//! *Invariant:* only elements count. Spare capacity and other data of collections do not count.

use crate::ids::identity::Identity;
use crate::object::level::{Array, Elements, Level, Slot};

/// Returns how many bytes the elements of arrays, collections and texts inside an object or element take, at
/// any depth. Keys count with their bytes on the wire.
pub(crate) fn element_bytes(level: Level<'_>) -> usize {
    let bytes = level.slots().map(|slot| match slot {
        Slot::Leaf(leaf) => leaf.text_bytes(),
        Slot::Array(array) => of_array(array),
        Slot::Items(items) => of_collection(items),
        Slot::Entries(entries) => of_collection(entries),
    });
    bytes.sum()
}

fn of_array(array: Array<'_>) -> usize {
    let elements = (0..array.len()).filter_map(|index| array.element(index));
    array.own_bytes() + elements.map(element_bytes).sum::<usize>()
}

fn of_collection<I: Identity>(elements: Elements<'_, I>) -> usize {
    let ids = elements.collection.ids();
    let keys = ids.iter().filter_map(I::as_bits).map(|key| key.len().div_ceil(8)).sum::<usize>();
    let inner = ids.iter().filter_map(|id| elements.element(id)).map(element_bytes).sum::<usize>();
    ids.len() * elements.element_size() + keys + inner
}
