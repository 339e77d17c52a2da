//! Reliable sessions over datagrams, without IO: handshakes, acks, congestion control, and typed channels for
//! messages.
//!
//! [`plain`] has a server and a client that exchange messages, which is all that many programs need. What the
//! packets of a [`Link`](link::Link) carry besides acks and messages, such as the state of objects, is the
//! [`Payload`](sent::payload::Payload) of its user. The crate opens no socket and reads no clock: bytes and
//! times are arguments. It does not encrypt.
//!
//! # Guarantees
//!
//! - A message in a reliable channel arrives once, or the session ends.
//! - The memory that a peer can make this side use is limited by settings or a constant.
//! - An address gets at most three times as many bytes as it has sent, until it has shown that it receives
//!   packets.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

pub mod client;
pub mod endpoint;
pub mod frame;
pub mod link;
pub mod messages;
pub mod outbox;
pub mod plain;
pub mod queue;
pub mod rate;
pub mod sent;
pub mod server;
pub mod session;

pub use endpoint::{Address, Endpoint, EndpointConfig, Origin};
pub use messages::channel::{Channel, MessageOptions, SendError};
pub use server::ServerSettings;
pub use session::connection_id::ConnectionId;
pub use session::disconnect::DisconnectReason;
pub use session::identity::Session;
pub use session::terms::{Capacity, ClientTerms, ServerTerms};
