//! The changes of an object, as sets of handles (numbers of properties), ids and keys. The types of this
//! folder store no values.
//!
//! *Invariant:* a changelist says which properties changed, but not their new values. When a changelist is
//! written, the values are read from the shadow.

pub(crate) mod age_queue;
pub(crate) mod changelist;
pub(crate) mod element_changes;
pub(crate) mod flat;
pub(crate) mod history;
pub(crate) mod portions;
pub(crate) mod prune;
