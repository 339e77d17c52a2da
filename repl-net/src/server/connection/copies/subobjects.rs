//! Objects and their subobjects, as one client has them (R22).
//!
//! *Invariant:* a client never has a subobject without its parent.

use super::Copies;
use crate::body::parent::ParentGap;
use crate::body::sparse_slots::SparseSlots;
use crate::server::world::World;

/// An object of a family (an object with its subobjects), and the difference between its slot and its
/// parent's slot.
pub(crate) type Member = (u32, Option<ParentGap>);

/// Families of objects. In each family, every object comes before the objects below it.
#[derive(Debug, Default)]
pub(crate) struct Families {
    members: Vec<Member>,
    /// For each family, the end (exclusive) of its members in `members`.
    ends: Vec<usize>,
}

impl Copies {
    /// Returns the parent of an object, if the client has it or will have it. An object that is torn off may
    /// remain on the client without its parent.
    pub(crate) fn parent(&self, slot: u32, world: &World) -> Option<u32> {
        world.subobjects.parent(slot).filter(|&parent| self.objects.is_expected(parent))
    }

    /// Returns the gap between the slots of an object and its [parent](Self::parent).
    pub(crate) fn parent_gap(&self, slot: u32, world: &World) -> Option<ParentGap> {
        self.parent(slot, world).and_then(|parent| ParentGap::between(parent, slot))
    }

    /// Returns whether the parent of an object is being sent to the client and has not been acknowledged yet.
    pub(crate) fn waits_for_parent(&self, slot: u32, world: &World) -> bool {
        self.parent(slot, world).is_some_and(|parent| !self.objects.has_arrived(parent))
    }

    /// Returns the top object of the family that is sent together with an object. The top object has no
    /// parent, or the client has its parent already.
    pub(crate) fn arriving_top(&self, slot: u32, world: &World) -> u32 {
        let parent =
            |slot: &u32| self.parent(*slot, world).filter(|&parent| !self.objects.has_arrived(parent));
        std::iter::successors(Some(slot), parent).last().unwrap_or(slot)
    }

    /// Appends the family that is sent together with the object `top`. Each object comes before the objects
    /// below it. The family does not contain objects that are paused or that the client must first remove,
    /// nor the objects below them.
    pub(crate) fn arriving_family(&self, top: u32, world: &World, family: &mut Vec<Member>) {
        let may_arrive = |slot: u32| self.objects.is_to_arrive(slot) && !self.view().is_paused(world, slot);
        if !may_arrive(top) {
            return;
        }
        let mut next = family.len();
        family.push((top, self.parent_gap(top, world)));
        while let Some(&(parent, _)) = family.get(next) {
            let children = world.subobjects.children(parent).filter(|&child| may_arrive(child));
            family.extend(children.map(|child| (child, ParentGap::between(parent, child))));
            next += 1;
        }
    }

    /// Returns the families of the pending spawns (objects new to the client) in `slots`, each family once,
    /// if all of their objects are pending spawns that were not sent yet, and the client is near all of them.
    /// Also returns the pending spawns in `slots` whose families do not meet these conditions.
    pub(crate) fn new_families(&self, slots: &[u32], world: &World) -> (Families, Vec<u32>) {
        let (mut families, mut others, mut found) = (Families::default(), Vec::new(), SparseSlots::default());
        let is_new = |slot: u32| self.objects.is_waiting_spawn(slot) && !self.view().is_far(slot);
        for &slot in slots {
            if found.contains(slot) || !self.objects.is_waiting_spawn(slot) {
                // The object is in a family that was found already, or it was sent with another object.
                continue;
            }
            let start = families.members.len();
            self.arriving_family(self.arriving_top(slot, world), world, &mut families.members);
            let family = &families.members[start..];
            let has_it = family.iter().any(|&(member, _)| member == slot);
            if has_it && family.iter().all(|&(member, _)| is_new(member)) {
                family.iter().for_each(|&(member, _)| found.insert(member));
                families.ends.push(families.members.len());
            } else {
                families.members.truncate(start);
                others.push(slot);
            }
        }
        (families, others)
    }
}

impl Families {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[Member]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.members[start..end])
    }

    /// Returns the objects in the order in which a packet has them: the first object of each family (an
    /// object with its subobjects), then the second object of each family, and so on.
    pub(crate) fn slots(&self) -> Vec<u32> {
        let places = self.iter().flat_map(|family| (0..).zip(family));
        let mut slots: Vec<(u32, u32)> = places.map(|(place, &(slot, _))| (place, slot)).collect();
        slots.sort_by_key(|(place, _)| *place);
        slots.into_iter().map(|(_, slot)| slot).collect()
    }
}
