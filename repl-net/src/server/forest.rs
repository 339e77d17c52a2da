//! Objects below other objects: which objects own which (S204), and which are subobjects of which (S202).
//!
//! *Invariant:* no object is below itself, directly or through other objects.

use std::collections::{BTreeMap, BTreeSet};

/// Which objects are below which objects, by their slots.
#[derive(Debug, Default)]
pub(crate) struct Forest {
    parents: BTreeMap<u32, u32>,
    /// Each object that is above another one, with the object directly below it.
    children: BTreeSet<(u32, u32)>,
}

impl Forest {
    /// Returns the object directly above an object.
    pub(crate) fn parent(&self, slot: u32) -> Option<u32> {
        if self.parents.is_empty() { None } else { self.parents.get(&slot).copied() }
    }

    /// Returns which objects in a word are below another object, as a mask.
    pub(crate) fn below_in(&self, word: usize) -> u64 {
        let first = word as u32 * 64;
        self.parents.range(first..=first | 63).fold(0, |mask, (slot, _)| mask | 1 << (slot % 64))
    }

    /// Returns whether an object is below none, and none is below it.
    pub(crate) fn is_alone(&self, slot: u32) -> bool {
        self.parents.is_empty() || self.parent(slot).is_none() && self.children(slot).next().is_none()
    }

    /// Returns the objects directly below an object, in ascending order of their slots.
    pub(crate) fn children(&self, slot: u32) -> impl Iterator<Item = u32> {
        self.children.range((slot, 0)..=(slot, u32::MAX)).map(|(_, child)| *child)
    }

    /// Puts an object below another one, or below none. The other one must not be below the object. Costs
    /// O(log objects), however many objects are below the same one.
    pub(crate) fn set(&mut self, slot: u32, parent: Option<u32>) {
        let before = match parent {
            Some(parent) => self.parents.insert(slot, parent),
            None => self.parents.remove(&slot),
        };
        before.into_iter().for_each(|before| _ = self.children.remove(&(before, slot)));
        self.children.extend(parent.map(|parent| (parent, slot)));
    }

    /// Returns an object and all objects below it. Each object comes before those below it.
    pub(crate) fn with_descendants(&self, slot: u32) -> Vec<u32> {
        let (mut all, mut next) = (vec![slot], 0);
        while let Some(&slot) = all.get(next) {
            all.extend(self.children(slot));
            next += 1;
        }
        all
    }

    /// Removes an object. Returns the objects that were directly below it, and now are below none.
    pub(crate) fn remove(&mut self, slot: u32) -> Vec<u32> {
        self.set(slot, None);
        let orphans: Vec<u32> = self.children(slot).collect();
        orphans.iter().for_each(|&orphan| self.set(orphan, None));
        orphans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_objects_directly_below_one_are_in_the_order_of_their_slots() {
        let mut forest = Forest::default();
        [7, 3, 9, 5].into_iter().for_each(|slot| forest.set(slot, Some(1)));
        forest.set(4, Some(3));
        forest.set(9, None);
        assert!(forest.children(1).eq([3, 5, 7]) && forest.children(3).eq([4]));
        assert_eq!((forest.remove(1), forest.children(1).count()), (vec![3, 5, 7], 0));
    }

    #[test]
    fn nothing_is_kept_of_objects_that_are_above_and_below_none() {
        let mut forest = Forest::default();
        for (slot, parent) in [(2, 1), (3, 2), (4, 2), (3, 1), (5, 3)] {
            forest.set(slot, Some(parent));
        }
        assert_eq!(forest.with_descendants(1), [1, 2, 3, 4, 5]);
        assert_eq!((forest.remove(2), forest.parent(4)), (vec![4], None));
        assert_eq!(forest.with_descendants(1), [1, 3, 5]);
        forest.set(5, None);
        assert_eq!((forest.remove(3), forest.remove(1)), (vec![], vec![]));
        assert!(forest.parents.is_empty() && forest.children.is_empty());
    }
}
