//! The changes of an object, as sets of handles, ids and keys. No values are stored here.
//!
//! *Invariant:* a list says what changed, but not the new value. The value that is sent is the one in the
//! shadow when the list is written.

pub(crate) mod age_queue;
pub(crate) mod changelist;
pub(crate) mod element_changes;
pub(crate) mod flat;
pub(crate) mod history;
pub(crate) mod portions;
pub(crate) mod prune;
