//! The wire format of a packet: its checksum, its header with acks, and its messages.
//!
//! *Invariant:* bytes from a peer never cause a panic, and never decide how much memory is allocated (R20).

pub(crate) mod acks;
pub(crate) mod cut;
pub(crate) mod header;
pub(crate) mod message;
pub(crate) mod packet;
pub(crate) mod sealed;
pub(crate) mod sequence;
