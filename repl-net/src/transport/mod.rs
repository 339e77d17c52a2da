//! The transport layer: the frames of packets, send rates, acks, and a record of the content of each packet.
//!
//! *Invariant:* this layer uses no types of the handshake. In the transport layer, objects are only slots and
//! bits.

pub(crate) mod ack_pace;
pub(crate) mod acks;
pub(crate) mod allowance;
pub(crate) mod blob;
pub(crate) mod byte_budget;
pub(crate) mod congestion;
pub(crate) mod copied;
pub(crate) mod entry_lists;
pub(crate) mod fragment;
pub(crate) mod growth;
pub(crate) mod in_flight;
pub(crate) mod jitter;
pub(crate) mod keep_alive;
pub(crate) mod late;
pub(crate) mod link;
pub(crate) mod message;
pub(crate) mod outbox;
pub(crate) mod packet;
pub(crate) mod packet_pages;
pub(crate) mod parts;
pub(crate) mod path;
pub(crate) mod rate_limit;
pub(crate) mod reassembly;
pub(crate) mod recycled;
pub(crate) mod removal;
pub(crate) mod role;
pub(crate) mod rtt;
pub(crate) mod segment;
pub(crate) mod send_queue;
pub(crate) mod sequence;
pub(crate) mod slot_set;
pub(crate) mod spare;
pub(crate) mod sparse_slots;
pub(crate) mod status;
pub(crate) mod table;
pub(crate) mod trial;
