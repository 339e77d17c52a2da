//! Tests of a server and clients over QUIC, on a simulated network and over real sockets.

mod browsers;
mod cheaters;
mod engines;
mod identities;
mod lan;
mod links;
mod mishaps;
mod sessions;
mod sockets;
mod strangers;
mod trust;
