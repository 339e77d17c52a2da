//! Updates: the changes of objects that a client or a host (a player in the server's process) reports to its
//! user, in the order of the packets.
//!
//! *Invariant:* a user who polls all updates knows which objects exist.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

mod entry;
mod properties;
pub(crate) mod queue;
#[cfg(test)]
mod tests;
mod thinner;
pub(crate) mod update;
