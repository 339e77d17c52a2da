//! The endpoint: a server's clients by their addresses, over the simulated network (R21, R25, R26).
//!
//! *Invariant:* the server knows a client only by the address that the network reports.

mod addresses;
mod ends;
mod joining;
mod limits;
mod logins;
mod reconnecting;
mod replays;
mod strangers;
mod world;
