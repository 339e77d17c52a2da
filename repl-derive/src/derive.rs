//! The derives of this crate.
//!
//! *Invariant:* each is named as users name it.

/// Which derive is at work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Derive {
    Replicated,
    FastArrayItem,
    NetSerialize,
}
