//! Decides how large the packets of a connection may be, and detects paths that silently drop large packets.
//!
//! *Invariant:* this module sends no packets. Sizes that the other side states never decide how much memory
//! is allocated.

pub(crate) mod allowed;
pub(crate) mod losses;
pub(crate) mod probing;
mod size_test;
pub(crate) mod truncation;
