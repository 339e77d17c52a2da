//! A server and clients over QUIC on a simulated network, and over real sockets.

mod identities;
mod lan;
mod sessions;
