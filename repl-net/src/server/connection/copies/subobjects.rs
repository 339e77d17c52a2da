//! Objects and their subobjects, as one client has them (R22).
//!
//! *Invariant:* a client never has a subobject without its parent.

use super::Copies;
use crate::body::parent::ParentGap;
use crate::body::sparse_slots::SparseSlots;
use crate::server::world::World;

impl Copies {
    /// Returns the parent of an object, if the client has it or will have it. An object that is torn off may
    /// be left without its parent.
    pub(crate) fn parent(&self, slot: u32, world: &World) -> Option<u32> {
        world.subobjects.parent(slot).filter(|&parent| self.objects.is_expected(parent))
    }

    /// Returns where the [parent](Self::parent) of an object is.
    pub(crate) fn parent_gap(&self, slot: u32, world: &World) -> Option<ParentGap> {
        self.parent(slot, world).and_then(|parent| ParentGap::between(parent, slot))
    }

    /// Returns whether the client will have the parent of an object, and may still lack it.
    pub(crate) fn waits_for_parent(&self, slot: u32, world: &World) -> bool {
        self.parent(slot, world).is_some_and(|parent| !self.objects.has_arrived(parent))
    }

    /// Returns the object at the top of the family with which an object comes. The client has the parent of
    /// this object, or it has none.
    pub(crate) fn arriving_top(&self, slot: u32, world: &World) -> u32 {
        let parent =
            |slot: &u32| self.parent(*slot, world).filter(|&parent| !self.objects.has_arrived(parent));
        std::iter::successors(Some(slot), parent).last().unwrap_or(slot)
    }

    /// Returns the family that comes with the object at its top. Each object is before those below it. An
    /// object that the client must first remove does not come with the family, and nothing below it does.
    pub(crate) fn arriving_family(&self, top: u32, world: &World) -> Vec<u32> {
        let mut family = Vec::new();
        for slot in world.subobjects.with_descendants(top) {
            let is_with_parent =
                slot == top || world.subobjects.parent(slot).is_some_and(|up| family.contains(&up));
            if is_with_parent && self.objects.is_to_arrive(slot) {
                family.push(slot);
            }
        }
        family
    }

    /// Returns the families of the pending spawns in `slots`, each family once, if all of their objects are
    /// pending spawns that were not sent yet, and the client is far from none of them. Also returns the
    /// pending spawns in `slots` whose families are not like that.
    pub(crate) fn new_families(&self, slots: &[u32], world: &World) -> (Vec<Vec<u32>>, Vec<u32>) {
        let (mut families, mut others, mut found) = (Vec::new(), Vec::new(), SparseSlots::default());
        for &slot in slots {
            if found.contains(slot) || !self.objects.is_waiting_spawn(slot) {
                // It is found already, or was sent with another one.
                continue;
            }
            let family = self.arriving_family(self.arriving_top(slot, world), world);
            let is_new = |&slot: &u32| self.objects.is_waiting_spawn(slot) && !self.view().is_far(slot);
            if family.contains(&slot) && family.iter().all(is_new) {
                family.iter().for_each(|&slot| found.insert(slot));
                families.push(family);
            } else {
                others.push(slot);
            }
        }
        (families, others)
    }
}
