//! What was sent and is not acknowledged, packet by packet.

pub(crate) mod in_flight;
pub(crate) mod late;
pub(crate) mod payload;
