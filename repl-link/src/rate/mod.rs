//! How much may be sent, and when: limits, congestion control, round trips, and times between packets.
//!
//! *Invariant:* this module sends no packets. It only computes times and numbers of bytes.

pub(crate) mod ack_pace;
pub(crate) mod allowance;
pub(crate) mod bbr;
pub(crate) mod byte_budget;
pub(crate) mod health;
pub(crate) mod jitter;
pub(crate) mod keep_alive;
pub(crate) mod rate_control;
pub(crate) mod rate_limit;
pub(crate) mod rtt;
mod trial;
