//! Decides whether a property has the same value in two objects of one type.
//!
//! *Invariant:* only replicated values are compared. All callers use the same comparison, except that some
//! collections know without a comparison whether they changed.

use crate::ids::identity::Identity;
use crate::object::level::{Elements, Level, Slot};

/// Which of two collections knows whether they differ, so that their elements need no comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The second collection is a shadow, and knows whether it has all changes of the first collection.
    Shadow,
    /// The first collection is a replica, and knows whether the current update has changed it.
    Replica,
}

/// Returns whether the value at `handle` differs between two objects or two elements of one type.
pub(crate) fn differs(one: Level<'_>, other: Level<'_>, handle: u32, answer: Answer) -> bool {
    match (one.slot(handle), other.slot(handle)) {
        (Some(one), Some(other)) => !same_slot(one, other, answer),
        _ => false,
    }
}

/// Returns whether two slots of one property have the same value.
fn same_slot(one: Slot<'_>, other: Slot<'_>, answer: Answer) -> bool {
    match (one, other) {
        (Slot::Leaf(one), Slot::Leaf(other)) => one.identical(&other),
        (Slot::Array(one), Slot::Array(other)) => {
            one.len() == other.len()
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

fn same_level(one: Level<'_>, other: Level<'_>, answer: Answer) -> bool {
    one.slots().zip(other.slots()).all(|(one, other)| same_slot(one, other, answer))
}

fn same_elements<I: Identity>(one: Elements<'_, I>, other: Elements<'_, I>, answer: Answer) -> bool {
    let known = match answer {
        Answer::Shadow => other.collection.is_up_to_date(one.collection),
        Answer::Replica => {
            one.collection.has_received_changes().map(|has_received_changes| !has_received_changes)
        }
    };
    known.unwrap_or_else(|| one.is_same(&other, &mut |one, other| same_level(one, other, answer)))
}
