//! What is in a packet, bit by bit: its checksum, its header with acks, and its messages.
//!
//! *Invariant:* bytes of a peer never panic, and never decide how much is allocated (R20).

pub(crate) mod acks;
pub(crate) mod cut;
pub(crate) mod header;
pub(crate) mod message;
pub(crate) mod packet;
pub(crate) mod sealed;
pub(crate) mod sequence;
