//! Decides whether a property has the same value in two objects of one type.
//!
//! *Invariant:* only replicated values are compared. All callers use the same comparison. The only exceptions
//! are collections that know without a comparison whether they changed.

use crate::ids::identity::Identity;
use crate::object::level::{Elements, Level, Slot};

/// Tells which of two collections, if any, knows whether the two differ. If one of them knows, their elements
/// are not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The second collection is a shadow, and knows whether it has all changes of the first collection.
    Shadow,
    /// The first collection is a replica, and knows whether the current update has changed it.
    Replica,
    /// The first collection belongs to a base (a client's second copy of an object, with the values that the
    /// server sent), and the second one to the object that the user may have edited. Neither knows whether
    /// they differ, so all elements and their labels are compared. A collection that the user has assigned
    /// always differs.
    Base,
}

/// Returns whether the value at `handle` differs between two objects or two elements of one type.
pub(crate) fn differs(one: Level<'_>, other: Level<'_>, handle: u32, answer: Answer) -> bool {
    match (one.slot(handle), other.slot(handle)) {
        (Some(one), Some(other)) => !same_slot(one, other, answer),
        _ => false,
    }
}

/// Returns whether two slots (the same property of two objects or elements) have the same value.
fn same_slot(one: Slot<'_>, other: Slot<'_>, answer: Answer) -> bool {
    match (one, other) {
        (Slot::Leaf(one), Slot::Leaf(other)) => one.identical(&other),
        (Slot::Array(one), Slot::Array(other)) => {
            one.count() == other.count()
                && (one.same_bytes(&other)
                    || (0..one.len()).all(|index| match (one.element(index), other.element(index)) {
                        (Some(one), Some(other)) => same_level(one, other, answer),
                        _ => false,
                    }))
        }
        (Slot::Items(one), Slot::Items(other)) => same_elements(one, other, answer),
        (Slot::Entries(one), Slot::Entries(other)) => same_elements(one, other, answer),
        _ => false,
    }
}

/// Returns whether two objects, or two elements, of one type have the same values.
pub(crate) fn same_level(one: Level<'_>, other: Level<'_>, answer: Answer) -> bool {
    one.slots().zip(other.slots()).all(|(one, other)| same_slot(one, other, answer))
}

/// Returns whether two collections of one type have the same elements.
pub(crate) fn same_elements<I: Identity>(
    one: Elements<'_, I>,
    other: Elements<'_, I>,
    answer: Answer,
) -> bool {
    let known = match answer {
        Answer::Shadow => other.collection.is_up_to_date(one.collection),
        Answer::Replica => {
            one.collection.has_received_changes().map(|has_received_changes| !has_received_changes)
        }
        Answer::Base => {
            let is_assigned = !other.collection.is_replica();
            (is_assigned || !has_same_labels(one, other)).then_some(false)
        }
    };
    known.unwrap_or_else(|| one.is_same(&other, &mut |one, other| same_level(one, other, answer)))
}

/// Returns whether the elements of `one` have the same labels in `other`. Costs O(1) if the elements have no
/// labels, and otherwise O(elements).
fn has_same_labels<I: Identity>(one: Elements<'_, I>, other: Elements<'_, I>) -> bool {
    let (labels, others) = (one.collection, other.collection);
    !one.is_ordered() || labels.ids().iter().all(|id| labels.label(id) == others.label(id))
}
