//! The paths of static objects (S199). Destroyed objects keep their paths here until clients know that the
//! paths are destroyed (S212).
//!
//! *Invariant:* a slot keeps its path until the slot is free, so no client connects the path with another
//! object.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::body::slot_set::SlotSet;

#[derive(Debug, Default)]
pub(crate) struct Paths {
    by_slot: BTreeMap<u32, Arc<str>>,
    /// The slots of each path, in the order of the spawns. Only the last slot can have an object. The earlier
    /// slots had objects of which some clients do not know yet that they were removed.
    by_path: BTreeMap<Arc<str>, Vec<u32>>,
    slots: SlotSet,
    /// The slots of destroyed objects. Clients that join are told that the paths of these objects are
    /// destroyed.
    destroyed: SlotSet,
}

impl Paths {
    /// Sets the path of an object. If a destroyed object had the same path, returns the slot of the destroyed
    /// object, and clients that join from now on are no longer told that the path is destroyed.
    pub(crate) fn insert(&mut self, slot: u32, path: Arc<str>) -> Option<u32> {
        let slots = self.by_path.entry(path.clone()).or_default();
        let before = slots.last().copied().filter(|&before| self.destroyed.contains(before));
        slots.push(slot);
        self.by_slot.insert(slot, path);
        self.slots.insert(slot);
        before.into_iter().for_each(|before| self.destroyed.remove(before));
        before
    }

    /// Returns the path of the object in a slot, or of the last object there.
    pub(crate) fn path(&self, slot: u32) -> Option<&Arc<str>> {
        self.by_slot.get(&slot)
    }

    pub(crate) fn is_static(&self, slot: u32) -> bool {
        self.slots.contains(slot)
    }

    /// Returns the slot of the last object with a path.
    pub(crate) fn slot_of(&self, path: &str) -> Option<u32> {
        self.by_path.get(path)?.last().copied()
    }

    /// Returns the slots of earlier objects with the same path as an object. Some client does not know yet
    /// that they were removed.
    pub(crate) fn earlier(&self, slot: u32) -> &[u32] {
        let slots = self.by_slot.get(&slot).and_then(|path| self.by_path.get(path));
        let slots = slots.map_or(&[][..], Vec::as_slice);
        slots.split(|&other| other == slot).next().unwrap_or_default()
    }

    /// Returns the static objects among the 64 slots of a word, as a bit mask.
    pub(crate) fn in_word(&self, word: usize) -> u64 {
        self.slots.word(word)
    }

    /// Records that an object is destroyed. Returns whether it was static.
    pub(crate) fn destroy(&mut self, slot: u32) -> bool {
        let is_static = self.is_static(slot);
        if is_static {
            self.destroyed.insert(slot);
        }
        is_static
    }

    /// Returns the slots of the destroyed objects. Clients that join are told that their paths are destroyed.
    pub(crate) fn destroyed(&self) -> impl Iterator<Item = u32> {
        self.destroyed.iter()
    }

    /// Removes and returns the slots of the destroyed objects. Clients that join from now on are not told of
    /// them.
    pub(crate) fn forget_destroyed(&mut self) -> SlotSet {
        std::mem::take(&mut self.destroyed)
    }

    pub(crate) fn remove(&mut self, slot: u32) {
        let Some(path) = self.by_slot.remove(&slot) else { return };
        self.slots.remove(slot);
        self.destroyed.remove(slot);
        if let Some(slots) = self.by_path.get_mut(&path) {
            slots.retain(|other| *other != slot);
            if slots.is_empty() {
                self.by_path.remove(&path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s212_a_path_is_told_as_destroyed_until_it_has_an_object_again() {
        let mut paths = Paths::default();
        let door: Arc<str> = Arc::from("door");
        assert_eq!(paths.insert(3, door.clone()), None);
        assert!(paths.destroy(3) && !paths.destroy(4));
        assert_eq!(paths.destroyed().collect::<Vec<_>>(), [3]);
        assert_eq!(paths.insert(5, door.clone()), Some(3));
        assert_eq!((paths.destroyed().count(), paths.slot_of("door")), (0, Some(5)));
        assert_eq!((paths.earlier(5), paths.earlier(3)), (&[3][..], &[][..]));
        paths.remove(3);
        assert!(paths.earlier(5).is_empty() && paths.path(3).is_none());
        assert!(paths.destroy(5));
        assert_eq!(paths.forget_destroyed().iter().collect::<Vec<_>>(), [5]);
        paths.remove(5);
        assert!(paths.by_slot.is_empty() && paths.by_path.is_empty() && paths.slots.is_empty());
    }
}
