//! Links with a rate and a queue: how much of a link is used, how it is shared, and how long its queue
//! becomes (R26).
//!
//! *Invariant:* all packets go through the simulator.

#[path = "../../support/counted.rs"]
mod counted;
#[path = "../../support/linked.rs"]
mod linked;

mod bulk_messages;
mod fair_links;
mod large_turns;
mod large_waits;
mod late_join;
mod link_budget;
mod narrow_links;
mod narrow_paths;
mod shares;
