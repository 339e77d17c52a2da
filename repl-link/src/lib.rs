//! Reliable sessions over datagrams, without IO: handshakes, acks, congestion control, and typed channels for
//! messages.
//!
//! Most programs need only [`plain`]: a server and a client that exchange messages. A program can also put
//! data of its own into the packets, for example the state of objects. It then implements
//! [`Payload`](parts::Payload) and builds its server and client from the types in [`parts`], such as
//! [`Link`](parts::Link). The crate opens no socket and reads no clock: bytes and times are arguments. It
//! does not encrypt.
//!
//! # Guarantees
//!
//! - A message in a reliable channel arrives once, or the session ends.
//! - The memory that a peer can make this side use is limited by settings or a constant.
//! - Until a client has shown that it receives packets at its address, a server sends to this address at most
//!   three times as many bytes as have arrived from it.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod client;
mod endpoint;
mod frame;
mod link;
mod messages;
mod outbox;
mod packet_size;
pub mod parts;
pub mod plain;
mod queue;
mod rate;
mod sent;
mod server;
mod session;
mod spare;

pub use client::ReceiveError;
pub use client::guest::Guest;
pub use endpoint::{Address, Endpoint, EndpointConfig, Origin};
pub use messages::channel::{Channel, MessageOptions, SendError};
pub use messages::progress::{MessageProgress, Progress};
pub use outbox::Limits;
pub use rate::bbr::Bbr;
pub use rate::rate_control::RateControl;
pub use server::ServerSettings;
pub use server::host::Host;
pub use session::connection_id::ConnectionId;
pub use session::disconnect::DisconnectReason;
pub use session::identity::Session;
pub use session::limits::{Limit, LimitMismatch};
pub use session::mismatch::{Difference, LayoutMismatch, Side};
pub use session::terms::{Capacity, ClientTerms, ServerTerms};
