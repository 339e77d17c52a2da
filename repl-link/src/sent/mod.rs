//! What was sent and is not acknowledged, packet by packet.

pub mod in_flight;
pub mod late;
pub mod payload;
