//! What is in a packet, bit by bit: its checksum, its header with acks, and its messages.
//!
//! *Invariant:* bytes of a peer never panic, and never decide how much is allocated (R20).

pub mod acks;
pub mod header;
pub mod message;
pub mod packet;
pub mod parts;
pub mod sequence;
