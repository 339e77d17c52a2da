//! The endpoint: a server's clients by their addresses, over the simulated network (R21, R25, R26).
//!
//! *Invariant:* the server knows a client only by the address that the network reports.

mod addresses;
mod ends;
mod floods;
mod joining;
mod limits;
mod logins;
mod newcomers;
mod places;
mod reconnecting;
mod regular_losses;
mod replays;
mod round_trips;
mod strangers;
mod world;
