//! What a connection takes back of lost packets.
//!
//! *Invariant:* a list names what one packet carried of one object, never its values.

use repl_core::Changelist;

use crate::transport::sequence::Sequence;

/// What a lost packet carried of an object.
pub(super) struct LostList {
    pub(super) sequence: Sequence,
    pub(super) slot: u32,
    pub(super) list: Changelist,
}
