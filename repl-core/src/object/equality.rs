//! Whether two values of one type are the same.
//!
//! *Invariant:* only replicated values are looked at; all who ask go this one way, and differ only in who
//! answers for a collection.

use crate::ids::identity::Identity;
use crate::object::level::{Elements, Level, Slot};

/// Who answers for a collection that can tell without a look at its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The second value, a shadow: whether it lacks nothing of the first.
    Shadow,
    /// The first value, a replica: whether the update under way has brought it anything.
    Replica,
}

/// Whether what stands in two slots of one property is the same.
pub(crate) fn same_slot(one: Slot<'_>, other: Slot<'_>, answer: Answer) -> bool {
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
        Answer::Shadow => (!I::IS_KEY).then(|| other.collection.is_up_to_date(one.collection)),
        Answer::Replica => one.collection.has_news().map(|has_news| !has_news),
    };
    known.unwrap_or_else(|| one.is_same(&other, &mut |one, other| same_level(one, other, answer)))
}

/// Whether what stands at `handle` of an object and its shadow differs.
pub(crate) fn differs(live: Level<'_>, shadow: Level<'_>, handle: u32) -> bool {
    match (live.slot(handle), shadow.slot(handle)) {
        (Some(live), Some(shadow)) => !same_slot(live, shadow, Answer::Shadow),
        _ => false,
    }
}
