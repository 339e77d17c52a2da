//! Server and client of `repl`, without sockets, clocks or threads, and a seeded network simulator.

mod acks;
mod blob;
mod body;
mod broadcast;
mod classes;
mod client;
mod column;
mod config;
mod connection;
mod events;
mod handshake;
mod in_flight;
mod mentions;
mod object;
mod outbox;
mod packet;
mod reassembly;
mod replica;
mod replicas;
mod role;
mod rtt;
mod segment;
mod sequence;
mod server;
pub mod sim;
mod slot_set;
mod tracked;
mod traffic;
mod world;

pub use classes::LayoutMismatch;
pub use client::{Client, ReceiveError};
pub use config::{ClientConfig, ServerConfig};
pub use events::{ClientEvent, CloseReason, DisconnectReason, ServerEvent};
pub use role::Role;
pub use server::{ArchetypeId, ConnectionId, ConnectionStats, Server};
pub use traffic::{ClassTraffic, PropertyTraffic};
