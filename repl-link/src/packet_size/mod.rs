//! How large the packets of a connection may be, and how a path is found that swallows large ones.
//!
//! *Invariant:* nothing here sends anything. Sizes that the other side tells decide no allocation.

pub(crate) mod allowed;
pub(crate) mod losses;
pub(crate) mod probing;
mod size_test;
pub(crate) mod truncation;
