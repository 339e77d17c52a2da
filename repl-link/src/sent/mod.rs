//! The records of packets that were sent and are not acknowledged yet.

pub(crate) mod in_flight;
pub(crate) mod late;
pub(crate) mod payload;
