//! What changed of an object, as sets of handles, ids and keys; never as bytes.
//!
//! *Invariant:* a list says what changed, not to which value; the value is the one in the shadow when it is
//! written.

pub(crate) mod age_queue;
pub(crate) mod changelist;
pub(crate) mod elements;
pub(crate) mod flat;
pub(crate) mod history;
pub(crate) mod portions;
pub(crate) mod prune;
