//! Packets that wait until the user polls them, and memory that is used again.

pub(crate) mod packet_pages;
pub(crate) mod send_queue;
pub(crate) mod spare;
