//! Operations on all collections of an object: on its own collections, and on collections inside elements at
//! any depth.
//!
//! *Invariant:* [`Conclude`] visits the collections inside an element before the collection that contains the
//! element.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::ids::identity::Identity;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::object::level::{ElementsMut, LevelMut, Slot};

/// An operation that is run on each collection of an object.
pub(crate) trait VisitCollections: Sized {
    fn collection<I: Identity>(&mut self, elements: &mut ElementsMut<'_, I>);

    fn visit_elements<I: Identity>(&mut self, elements: &mut ElementsMut<'_, I>) {
        if elements.as_elements().nests() {
            elements.each(&mut |element| self.visit(element));
        }
    }

    /// Visits all collections inside an object or element, at any depth.
    fn visit(&mut self, level: &mut LevelMut<'_>) {
        for handle in 1..=level.as_level().handles() {
            self.visit_slot(level, handle);
        }
    }

    fn visit_slot(&mut self, level: &mut LevelMut<'_>, handle: u32) {
        match level.as_level().slot(handle) {
            Some(Slot::Array(array)) if array.nests() => {
                for index in 0..array.len() {
                    if let Some(mut element) = level.element(handle, index) {
                        self.visit(&mut element);
                    }
                }
            }
            Some(Slot::Items(_)) => {
                level.elements::<ItemId>(handle).iter_mut().for_each(|items| self.collection(items));
            }
            Some(Slot::Entries(_)) => {
                level.elements::<KeyBits>(handle).iter_mut().for_each(|entries| self.collection(entries));
            }
            _ => {}
        }
    }
}

/// Gives the items of all collections the ids that the items have in the shadows.
pub(crate) struct Renumber;

impl VisitCollections for Renumber {
    fn collection<I: Identity>(&mut self, elements: &mut ElementsMut<'_, I>) {
        elements.collection.renumber();
        self.visit_elements(elements);
    }
}

/// Marks all collections as replicas, which belong to a client.
pub(crate) struct BecomeReplica;

impl VisitCollections for BecomeReplica {
    fn collection<I: Identity>(&mut self, elements: &mut ElementsMut<'_, I>) {
        elements.collection.become_replica();
        self.visit_elements(elements);
    }
}

/// Ends an update of all collections: runs the callbacks of each collection, and removes the items that are
/// marked for removal (S178).
#[derive(Clone, Copy)]
pub(crate) struct Conclude {
    pub(crate) with_callbacks: bool,
}

impl VisitCollections for Conclude {
    fn collection<I: Identity>(&mut self, elements: &mut ElementsMut<'_, I>) {
        if elements.as_elements().nests() {
            elements.received(&mut |element| self.visit(element));
        }
        elements.collection.conclude(self.with_callbacks);
    }
}
