//! Packets that wait until the user polls them.

pub(crate) mod packet_pages;
pub(crate) mod send_queue;
