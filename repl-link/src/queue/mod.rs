//! Packets that wait until the user polls them, and memory that is used again.

pub mod packet_pages;
pub mod send_queue;
pub mod spare;
