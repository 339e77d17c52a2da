//! How much may be sent, and when: limits, congestion control, round trips, and times between packets.
//!
//! *Invariant:* nothing here sends anything. It answers questions about times and bytes.

pub mod ack_pace;
pub mod allowance;
pub mod byte_budget;
pub mod congestion;
pub mod health;
pub mod jitter;
pub mod keep_alive;
pub mod rate_limit;
pub mod rtt;
mod trial;
