//! Reliable sessions over datagrams, without IO: handshakes, acks, congestion control, and typed channels for
//! messages.
//!
//! A [`Link`](link::Link) is one side of a connection. What its packets carry besides acks and messages, such
//! as the state of objects, is the [`Payload`](sent::payload::Payload) of its user.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

pub mod client;
pub mod frame;
pub mod link;
pub mod messages;
pub mod outbox;
pub mod queue;
pub mod rate;
pub mod sent;
pub mod session;
