//! Trees of objects: which objects own which objects (S204), and which objects are subobjects of which
//! (S202).
//!
//! *Invariant:* on a server, no object is its own ancestor.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::HashMap;
use std::num::NonZeroU32;

use super::sparse_slots::SparseSlots;

/// The parents and children of objects. A slot is the number of an object. The memory depends on the highest
/// slot that ever had a parent or a child.
#[derive(Debug, Default)]
pub(crate) struct Forest {
    nodes: Vec<Node>,
    /// The number of objects that have a parent.
    below: u32,
}

/// The slots that are related to one slot. A link is `None` if there is no such relative.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    parent: Option<Slot>,
    first_child: Option<Slot>,
    last_child: Option<Slot>,
    /// The previous and the next sibling, in the order in which they were added to the parent.
    previous: Option<Slot>,
    next: Option<Slot>,
}

/// A slot plus one, so that an `Option` of it takes only 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot(NonZeroU32);

impl Slot {
    fn new(slot: u32) -> Option<Self> {
        slot.checked_add(1).and_then(NonZeroU32::new).map(Self)
    }

    fn get(self) -> u32 {
        self.0.get().wrapping_sub(1)
    }
}

const ALONE: Node = Node { parent: None, first_child: None, last_child: None, previous: None, next: None };

impl Forest {
    #[inline]
    fn node(&self, slot: u32) -> &Node {
        self.nodes.get(slot as usize).unwrap_or(&ALONE)
    }

    /// Returns a mutable reference to a node. Adds missing nodes up to this one.
    fn node_mut(&mut self, slot: u32) -> Option<&mut Node> {
        let at = slot as usize;
        if at >= self.nodes.len() {
            self.nodes.resize(at.checked_add(1)?, ALONE);
        }
        self.nodes.get_mut(at)
    }

    #[inline]
    pub(crate) fn parent(&self, slot: u32) -> Option<u32> {
        self.node(slot).parent.map(Slot::get)
    }

    #[inline]
    pub(crate) fn is_alone(&self, slot: u32) -> bool {
        let node = self.node(slot);
        node.parent.is_none() && node.first_child.is_none()
    }

    #[inline]
    pub(crate) fn is_flat(&self) -> bool {
        self.below == 0
    }

    /// Returns the children of an object, in the order in which they were added.
    pub(crate) fn children(&self, slot: u32) -> impl Iterator<Item = u32> {
        let first = self.node(slot).first_child.map(Slot::get);
        std::iter::successors(first, |child| self.node(*child).next.map(Slot::get))
    }

    /// Sets or removes the parent of an object. The new parent must not be a descendant of the object. Costs
    /// O(1), even if the parent has many children.
    pub(crate) fn set(&mut self, slot: u32, parent: Option<u32>) {
        self.take_out(slot);
        if let Some(parent) = parent {
            self.append(slot, parent);
        }
    }

    fn append(&mut self, slot: u32, parent: u32) {
        let last = self.node(parent).last_child;
        if let Some(node) = self.node_mut(parent) {
            node.last_child = Slot::new(slot);
            node.first_child = node.first_child.or(Slot::new(slot));
        }
        if let Some(node) = last.and_then(|last| self.node_mut(last.get())) {
            node.next = Slot::new(slot);
        }
        if let Some(node) = self.node_mut(slot) {
            (node.parent, node.previous) = (Slot::new(parent), last);
            self.below = self.below.saturating_add(1);
        }
    }

    fn take_out(&mut self, slot: u32) {
        let Node { parent: Some(parent), previous, next, .. } = *self.node(slot) else { return };
        match previous.and_then(|previous| self.node_mut(previous.get())) {
            Some(node) => node.next = next,
            None => self.node_mut(parent.get()).into_iter().for_each(|node| node.first_child = next),
        }
        match next.and_then(|next| self.node_mut(next.get())) {
            Some(node) => node.previous = previous,
            None => self.node_mut(parent.get()).into_iter().for_each(|node| node.last_child = previous),
        }
        if let Some(node) = self.node_mut(slot) {
            (node.parent, node.previous, node.next) = (None, None, None);
            self.below = self.below.saturating_sub(1);
        }
    }

    pub(crate) fn with_descendants(&self, slot: u32) -> Vec<u32> {
        let (mut all, mut next) = (vec![slot], 0_usize);
        while let Some(&slot) = all.get(next) {
            all.extend(self.children(slot));
            next = next.saturating_add(1);
        }
        all
    }

    /// Returns the topmost object of a family: the object itself, or its last ancestor.
    pub(crate) fn top(&self, slot: u32) -> u32 {
        std::iter::successors(Some(slot), |&slot| self.parent(slot)).last().unwrap_or(slot)
    }

    /// Removes an object. Returns its children, which no longer have a parent.
    pub(crate) fn remove(&mut self, slot: u32) -> Vec<u32> {
        self.set(slot, None);
        let orphans: Vec<u32> = self.children(slot).collect();
        orphans.iter().for_each(|&orphan| self.set(orphan, None));
        orphans
    }
}

/// Computes how many ancestors each object of a forest has, and caches the results. A peer may have sent
/// parents that form a circle; the depths of the objects in the circle are then meaningless.
pub(crate) struct Depths<'a> {
    forest: &'a Forest,
    /// Only ancestors in this set are counted. If it is `None`, all ancestors are counted.
    among: Option<SparseSlots>,
    /// The known depths of objects that have more than one ancestor, and of their ancestors.
    known: HashMap<u32, u32>,
}

impl<'a> Depths<'a> {
    pub(crate) fn new(forest: &'a Forest) -> Self {
        Self { forest, among: None, known: HashMap::new() }
    }

    /// Counts only ancestors in `among`. The count for an object ends at the first ancestor that is not in
    /// `among`.
    pub(crate) fn among(forest: &'a Forest, among: SparseSlots) -> Self {
        Self { forest, among: Some(among), known: HashMap::new() }
    }

    /// Returns whether an object is counted as an ancestor.
    pub(crate) fn counts(&self, slot: u32) -> bool {
        self.among.as_ref().is_none_or(|among| among.contains(slot))
    }

    /// Returns how many ancestors an object has. Costs O(1) on average, if it is called for all objects.
    pub(crate) fn of(&mut self, slot: u32) -> u32 {
        match self.above(slot).map(|parent| self.above(parent)) {
            None => 0,
            Some(None) => 1,
            Some(Some(_)) => self.count(slot),
        }
    }

    /// Returns the parent of an object, if the parent is counted.
    fn above(&self, slot: u32) -> Option<u32> {
        self.forest.parent(slot).filter(|parent| self.counts(*parent))
    }

    fn count(&mut self, slot: u32) -> u32 {
        let mut path = vec![slot];
        let mut above = None;
        while let Some(&last) = path.last() {
            // While an object is on the current path, its depth is zero, so that the walk ends if the parents
            // form a circle.
            above = self.known.insert(last, 0);
            let Some(parent) = self.above(last).filter(|_| above.is_none()) else { break };
            path.push(parent);
        }
        let mut depth = above.unwrap_or(0);
        for (at, slot) in path.into_iter().rev().enumerate() {
            depth = if at == 0 { depth } else { depth.saturating_add(1) };
            self.known.insert(slot, depth);
        }
        depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_objects_directly_below_one_are_in_the_order_in_which_they_came() {
        let mut forest = Forest::default();
        [7, 3, 9, 5].into_iter().for_each(|slot| forest.set(slot, Some(1)));
        forest.set(4, Some(3));
        forest.set(9, None);
        assert!(forest.children(1).eq([7, 3, 5]) && forest.children(3).eq([4]));
        forest.set(7, Some(1));
        assert!(forest.children(1).eq([3, 5, 7]), "the last to come");
        assert_eq!((forest.remove(1), forest.children(1).count()), (vec![3, 5, 7], 0));
    }

    #[test]
    fn whoever_is_above_or_below_another_is_related() {
        let mut forest = Forest::default();
        forest.set(70, Some(3));
        assert!(forest.is_alone(4) && !forest.is_alone(3) && !forest.is_alone(70) && !forest.is_flat());
        forest.remove(3);
        assert!(forest.is_alone(3) && forest.is_alone(70) && forest.is_flat());
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
        assert!((0..8).all(|slot| forest.is_alone(slot)) && forest.below == 0);
    }

    #[test]
    fn the_depth_of_an_object_is_the_number_of_those_above_it() {
        let mut forest = Forest::default();
        for (slot, parent) in [(3, 9), (9, 4), (1, 3), (2, 9), (20, 21), (21, 22), (22, 20)] {
            forest.set(slot, Some(parent));
        }
        let mut depths = Depths::new(&forest);
        assert_eq!([1, 3, 9, 4, 2, 7, 1].map(|slot| depths.of(slot)), [3, 2, 1, 0, 2, 0, 3]);
        let mut among = SparseSlots::default();
        [1, 3].into_iter().for_each(|slot| among.insert(slot));
        let mut depths = Depths::among(&forest, among);
        assert_eq!([1, 3, 9, 2].map(|slot| depths.of(slot)), [1, 0, 0, 0], "9 was there before");
        let mut depths = Depths::new(&forest);
        // The parents of these objects form a circle, and the walk must end.
        [20, 21, 22, 20].into_iter().for_each(|slot| _ = depths.of(slot));
    }
}
