//! [`Derive`]: which of the crate's derives is running.
//!
//! *Invariant:* each variant has the name that users write.

/// Which derive is running.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Derive {
    Replicated,
    FastArrayItem,
    NetSerialize,
}
