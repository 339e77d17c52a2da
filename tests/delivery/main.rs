//! From a change on the server to its arrival: packets, acks, losses, limits, refused values, and what the
//! connections share.

#[path = "../support/ends.rs"]
mod ends;
#[path = "../support/forge.rs"]
#[allow(dead_code, reason = "each test file uses a part")]
mod forge;
#[path = "../support/linked.rs"]
mod linked;
#[path = "../support/mod.rs"]
mod support;

mod clocks;
mod differences;
mod difficult_cases;
mod end_to_end;
mod limits;
mod packet_sizes;
mod rate_control;
mod refusals;
mod repeated_refusals;
mod rests;
mod rules;
mod server_loop;
mod sharing;
mod statistics;
mod traffic;
mod truncated;
mod unpolled;
