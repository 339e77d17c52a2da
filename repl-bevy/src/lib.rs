//! Replication for [Bevy](https://bevy.org) with [`repl`](https://docs.rs/repl): spawn an entity on the
//! server, and clients have it.
#![deny(unsafe_code)]
#![warn(missing_docs)]
#![allow(elided_lifetimes_in_paths, reason = "systems are written without them")]

mod app;
mod arrived;
mod calls;
mod client;
mod form;
mod interpolation;
mod net_entities;
mod net_entity;
mod net_parent;
mod not_sent;
mod part;
mod plugins;
mod prediction;
mod server;
mod sets;
mod simulate;
mod simulation;
mod transport;

pub use app::ReplAppExt;
pub use calls::{Called, Calls};
pub use client::messages::{FromServer, ToServer};
pub use client::remote::{Owned, Remote};
pub use client::state::ReplClient;
pub use client::{JoinedServer, LeftServer};
pub use form::WireForm;
pub use net_entities::NetEntities;
pub use net_entity::NetEntity;
pub use not_sent::MessageNotSent;
pub use plugins::client_plugin::ClientPlugin;
pub use plugins::server_plugin::ServerPlugin;
pub use prediction::on_client::{NextInput, PredictionCounts};
pub use server::clients::{ClientLeft, ConnectedClient};
pub use server::messages::{FromClient, Recipients, ToClients};
pub use server::replicate::Replicate;
pub use server::settings::{InGroup, NetPriority, OwnedBy, Owns};
pub use server::state::ReplServer;
pub use sets::ReplSystems;
pub use simulate::{Input, MakeInput, Simulate, Simulated, SimulationStep, is_first_run};
pub use simulation::Simulation;
pub use transport::simulated::SimulatedNetwork;
pub use transport::{ClientTransport, ServerTransport};
