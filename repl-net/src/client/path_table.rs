//! The paths of static objects that a server has sent: which path belongs to which slot, and which paths are
//! destroyed (S199, S212).
//!
//! *Invariant:* a path belongs to at most one slot, and a slot has at most one path. Therefore a server can
//! make a client store at most one path for each slot.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;
use std::sync::Arc;

use crate::body::path::StaticName;

/// The paths of static objects, by the slots of the objects.
#[derive(Debug, Default)]
pub(crate) struct PathTable {
    by_slot: BTreeMap<u32, NamedPath>,
    by_path: HashMap<Arc<str>, u32>,
}

/// The path of one slot.
#[derive(Debug)]
struct NamedPath {
    path: Arc<str>,
    /// The generation of the object with the path, or `None` if the server has destroyed the object.
    generation: Option<NonZeroU32>,
    /// Whether the object in the slot is one that the user has placed under the path.
    is_bound: bool,
}

impl PathTable {
    /// Returns the path in an opening, or the known path if the opening contains none. Returns `None` if a
    /// correct server cannot have sent this opening: the client does not know the path of the object or knows
    /// another path, or the path belongs to another object.
    pub(crate) fn resolve<'a>(
        &'a self,
        slot: u32,
        generation: NonZeroU32,
        name: StaticName<&'a str>,
    ) -> Option<&'a str> {
        let own = self.by_slot.get(&slot).filter(|entry| entry.generation == Some(generation));
        let StaticName::Path(path) = name else { return own.map(|entry| &*entry.path) };
        let holder = self.by_path.get(path);
        let is_taken = holder.is_some_and(|&holder| holder != slot && !self.is_destroyed_in(holder));
        let is_other = own.is_some_and(|entry| *entry.path != *path);
        (!is_taken && !is_other).then_some(path)
    }

    /// Returns the path of the object in a slot, if it is static and has this generation.
    pub(crate) fn path(&self, slot: u32, generation: NonZeroU32) -> Option<&Arc<str>> {
        let entry = self.by_slot.get(&slot)?;
        (entry.generation == Some(generation)).then_some(&entry.path)
    }

    /// Returns the path of a slot, if its object is one that the user has placed.
    pub(crate) fn bound_path(&self, slot: u32) -> Option<&Arc<str>> {
        self.by_slot.get(&slot).filter(|entry| entry.is_bound).map(|entry| &entry.path)
    }

    pub(crate) fn find(&self, path: &str) -> Option<(u32, NonZeroU32)> {
        let slot = *self.by_path.get(path)?;
        Some((slot, self.by_slot.get(&slot)?.generation?))
    }

    /// Returns whether the server has destroyed the object with a path.
    pub(crate) fn is_destroyed(&self, path: &str) -> bool {
        self.by_path.get(path).is_some_and(|&slot| self.is_destroyed_in(slot))
    }

    fn is_destroyed_in(&self, slot: u32) -> bool {
        self.by_slot.get(&slot).is_some_and(|entry| entry.generation.is_none())
    }

    /// Records that a static object with a path was opened in an empty slot.
    pub(crate) fn open(&mut self, slot: u32, generation: NonZeroU32, path: Arc<str>, is_bound: bool) {
        if let Some(&holder) = self.by_path.get(&path) {
            self.remove(holder);
        }
        self.insert(slot, NamedPath { path, generation: Some(generation), is_bound });
    }

    fn insert(&mut self, slot: u32, entry: NamedPath) {
        self.remove(slot);
        self.by_path.insert(entry.path.clone(), slot);
        self.by_slot.insert(slot, entry);
    }

    /// Forgets the path of a slot. This is called when an object without a path is opened in the slot, and
    /// when the object in the slot was torn off.
    pub(crate) fn remove(&mut self, slot: u32) {
        if let Some(entry) = self.by_slot.remove(&slot) {
            self.by_path.remove(&entry.path);
        }
    }

    /// Sets whether the object in a slot is one that the user has placed.
    pub(crate) fn set_bound(&mut self, slot: u32, is_bound: bool) {
        if let Some(entry) = self.by_slot.get_mut(&slot) {
            entry.is_bound = is_bound;
        }
    }

    /// Records that the server has destroyed the object of a slot. `named` is the path in the closing (the
    /// removal in the packet), which is there only if the client may not know it. Returns the path if the
    /// client did not know yet that it is destroyed.
    pub(crate) fn destroy(&mut self, slot: u32, named: Option<&str>) -> Option<Arc<str>> {
        if let Some(entry) = self.by_slot.get_mut(&slot)
            && entry.generation.is_some()
        {
            (entry.generation, entry.is_bound) = (None, false);
            return Some(entry.path.clone());
        }
        let path = named?;
        let holder = self.by_path.get(path).copied();
        if holder.is_some_and(|holder| !self.is_destroyed_in(holder)) {
            // If a closing arrives late, it must not remove another object that has this path now.
            return None;
        }
        // The path moves to the slot of the newest closing, because the server may reuse the earlier slot.
        holder.into_iter().for_each(|holder| self.remove(holder));
        let path: Arc<str> = Arc::from(path);
        self.insert(slot, NamedPath { path: path.clone(), generation: None, is_bound: false });
        holder.is_none().then_some(path)
    }

    /// Returns the paths whose objects the server has destroyed.
    pub(crate) fn destroyed(&self) -> impl Iterator<Item = &Arc<str>> {
        self.by_slot.values().filter(|entry| entry.generation.is_none()).map(|entry| &entry.path)
    }

    pub(crate) fn forget_destroyed(&mut self) {
        let Self { by_slot, by_path } = self;
        by_slot.retain(|_, entry| {
            let is_alive = entry.generation.is_some();
            if !is_alive {
                by_path.remove(&entry.path);
            }
            is_alive
        });
    }

    pub(crate) fn clear(&mut self) {
        self.by_slot.clear();
        self.by_path.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: NonZeroU32 = NonZeroU32::MIN;

    fn resolves(table: &PathTable, slot: u32, generation: u32, name: StaticName<&str>) -> bool {
        table.resolve(slot, NonZeroU32::new(generation).expect("not zero"), name).is_some()
    }

    #[test]
    fn s199_a_path_belongs_to_one_object_until_it_is_destroyed() {
        let mut table = PathTable::default();
        assert!(!resolves(&table, 3, 1, StaticName::Known));
        assert!(resolves(&table, 3, 1, StaticName::Path("a")));
        table.open(3, FIRST, Arc::from("a"), true);
        assert!(resolves(&table, 3, 1, StaticName::Known) && resolves(&table, 3, 1, StaticName::Path("a")));
        assert!(!resolves(&table, 3, 2, StaticName::Known) && !resolves(&table, 3, 1, StaticName::Path("b")));
        assert!(!resolves(&table, 4, 1, StaticName::Path("a")), "it belongs to another object");
        assert_eq!((table.find("a"), table.is_destroyed("a")), (Some((3, FIRST)), false));
        assert_eq!(table.destroy(3, None).as_deref(), Some("a"));
        assert_eq!((table.destroy(3, None), table.destroy(3, Some("a"))), (None, None), "it is known");
        assert_eq!((table.find("a"), table.is_destroyed("a")), (None, true));
        assert!(!resolves(&table, 3, 1, StaticName::Known));
        assert!(resolves(&table, 4, 1, StaticName::Path("a")));
        table.open(4, FIRST, Arc::from("a"), false);
        assert_eq!((table.find("a"), table.is_destroyed("a")), (Some((4, FIRST)), false));
        assert_eq!(table.destroy(3, Some("a")), None, "the closing is late");
        assert_eq!(table.find("a"), Some((4, FIRST)));
        assert_eq!((table.by_slot.len(), table.by_path.len()), (1, 1));
    }

    #[test]
    fn s212_destroyed_paths_take_no_more_than_a_slot_each() {
        let mut table = PathTable::default();
        for number in 0..1_000 {
            assert!(table.destroy(number % 7, Some(&format!("door {number}"))).is_some());
            assert!(table.by_slot.len() <= 7 && table.by_path.len() == table.by_slot.len());
        }
        assert!(table.is_destroyed("door 999") && !table.is_destroyed("door 0"));
        // The server has forgotten the path and reused its slot. Then it destroys another object with this
        // path.
        assert_eq!(table.destroy(6, Some("door 999")), None);
        table.open(5, FIRST, Arc::from("hatch"), false);
        assert!(table.is_destroyed("door 999"));
        assert_eq!(table.destroy(5, None).as_deref(), Some("hatch"));
        table.open(1, FIRST, Arc::from("gate"), false);
        table.forget_destroyed();
        assert!(!table.is_destroyed("door 999"));
        assert_eq!((table.find("gate"), table.by_slot.len(), table.by_path.len()), (Some((1, FIRST)), 1, 1));
    }
}
