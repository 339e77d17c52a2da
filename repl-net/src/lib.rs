//! Server and client of `repl`, without sockets, clocks or threads, and a seeded network simulator.
//!
//! ```
//! use repl_net::sim::{Clock, LinkConditions, Network, PeerId};
//! use repl_net::{Client, ClientConfig, Server, ServerConfig};
//!
//! let (mut server, mut client) = (Server::new(ServerConfig::default()), Client::new(ClientConfig::default(), 1));
//! let (here, there) = (PeerId(0), PeerId(1));
//! let (mut network, mut clock) = (Network::new(7), Clock::at_hz(60));
//! network.connect(here, there, LinkConditions::mobile());
//! let connection = server.connect(clock.now());
//! while !client.is_connected() {
//!     let now = clock.tick();
//!     client.tick(now);
//!     while let Some(packet) = client.poll_transmit() { network.send(now, there, here, packet); }
//!     server.tick(now);
//!     while let Some(packet) = server.poll_transmit(connection) { network.send(now, here, there, packet); }
//!     while let Some(delivery) = network.deliver(now) {
//!         if delivery.to == here { server.receive(connection, now, delivery.bytes); }
//!         else { client.receive(now, delivery.bytes).expect("the link damages nothing"); }
//!     }
//! }
//! ```
//!
//! Users go through `repl`, which re-exports this crate beside the derives; its front page has objects in it, and says what the numbers S1, R1 and
//! W1 of descriptions mean.
//!
//! # What this crate does not do
//!
//! It opens no socket and reads no clock: `receive` and `tick` take bytes and times, `poll_transmit` and `poll_event` give bytes and events. It
//! tells clients apart by the [`ConnectionId`] that the caller gives their packets, not by address. It neither encrypts nor
//! authenticates, does not choose by distance or priority, and makes no remote calls.
//!
//! # The three types to know
//!
//! - [`Server`] owns objects and makes the packets of each connection.
//! - [`Client`] applies packets, acknowledges them, and calls notifies.
//! - [`sim::Network`] carries packets between any number of peers, as badly as a test wants.
//!
//! # Guarantees
//!
//! - A burst of lost packets of any length costs one resend of what changed: what a client lacks is remembered as handles, and never
//!   forgotten.
//! - Work follows what changed, not how many objects there are.
//! - What a peer can make the other side keep is limited: by [`ServerConfig`], [`ClientConfig`], or a constant.
//! - A packet is applied whole or not at all; a malformed one ends the connection, a damaged one is dropped.
//!
//! Not guaranteed: that objects, or properties of one object, which changed in one tick are seen to change together.
//!
//! *Invariant:* no rule of replication depends on how packets travel.
#![forbid(unsafe_code)]

mod client;
mod server;
mod session;
pub mod sim;
mod transport;

pub use client::{Change, Client, ClientStats, ReceiveError};
pub use server::{ConnectionStats, Server, Transmit};
pub use session::archetype::ArchetypeId;
pub use session::config::{ClientConfig, CongestionControl, ServerConfig};
pub use session::connection_id::ConnectionId;
pub use session::disconnect::DisconnectReason;
pub use session::events::{ClientEvent, CloseReason, ServerEvent, SpawnError};
pub use session::limits::{Limit, LimitMismatch};
pub use session::mismatch::{Difference, LayoutMismatch, Side};
pub use session::traffic::{ClassTraffic, PropertyTraffic};
pub use transport::role::Role;
