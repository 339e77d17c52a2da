//! Compares the worlds of a server and its clients, over a simulated network.
#![allow(elided_lifetimes_in_paths, clippy::type_complexity, reason = "systems are written so in Bevy")]

mod both_sides;
mod calls;
mod entities;
mod host;
mod kept;
mod logins;
mod messages;
mod parents;
mod pauses;
mod prediction;
mod random;
mod relevancy;
mod shown;
mod sight;
mod sockets;
mod support;
