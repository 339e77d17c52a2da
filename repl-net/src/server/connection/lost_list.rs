//! A list of what a lost packet carried of an object.
//!
//! *Invariant:* it contains handles and keys, never values.

use repl_core::Changelist;

use crate::transport::sequence::Sequence;

/// What a lost packet carried of an object.
pub(super) struct LostList {
    pub(super) sequence: Sequence,
    pub(super) slot: u32,
    pub(super) list: Changelist,
}
