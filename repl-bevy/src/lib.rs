//! Replication for [Bevy](https://bevy.org) with [`repl`](https://docs.rs/repl): spawn an entity on the
//! server, and clients have it.
//!
//! ```
//! use bevy_app::App;
//! use bevy_ecs::prelude::*;
//! use bevy_time::Time;
//! use repl::prelude::*;
//! use repl::sim::LinkConditions;
//! use repl_bevy::{Input, NextInput, OwnedBy, ReplAppExt, Simulate, Simulated, Simulation};
//!
//! #[derive(Component, Replicated, Clone, Default, Debug, PartialEq)]
//! struct Position(#[replicated] [f32; 2]);
//!
//! #[derive(NetSerialize, Clone, Default)]
//! struct Steer(#[replicated(range = -1..=1)] [i8; 2]);
//!
//! /// What both sides share.
//! fn game(app: &mut App) {
//!     app.replicate::<Position>().predict::<Position>().input::<Steer>();
//!     app.add_systems(Simulate, walk);
//! }
//!
//! fn walk(mut walkers: Query<(&Input<Steer>, &mut Position), With<Simulated>>, time: Res<Time>) {
//!     for (input, mut position) in &mut walkers {
//!         let way = input.get().map_or([0, 0], |steer| steer.0);
//!         (0..2).for_each(|axis| position.0[axis] += f32::from(way[axis]) * time.delta_secs());
//!     }
//! }
//!
//! // A server with two clients over a bad link, in one process.
//! let mut simulation = Simulation::new(1, LinkConditions::mobile(), 2, game);
//! simulation.run(60);
//! let owner = simulation.client_entity(0).unwrap();
//! simulation.server.world_mut().spawn((OwnedBy(owner), Position::default())); // that is all
//! simulation.run(60);
//! simulation.clients[0].world_mut().resource_mut::<NextInput<Steer>>().0 = Steer([1, 0]);
//! simulation.run(2);
//! let mut at = |side: &mut App| {
//!     let world = side.world_mut();
//!     world.query::<&Position>().single(world).unwrap().0[0]
//! };
//! assert!(at(&mut simulation.clients[0]) > 0.0, "the player does not wait for the server");
//! assert_eq!(at(&mut simulation.server), 0.0);
//! ```
//!
//! Add a [`ServerPlugin`] or a [`ClientPlugin`] to an app, after `DefaultPlugins` or `MinimalPlugins`. Then
//! say with the methods of [`ReplAppExt`] what is replicated. Use one function for server and client.
//!
//! - **Replicate an entity**: insert [`Replicate`], [`OwnedBy`], [`SeenBy`] or [`NetPriority`] on the
//!   server. On clients the entity has [`Remote`], and on the client of its owner also [`Owned`]. A child
//!   entity needs its own [`Replicate`].
//! - **Replicate components**: call [`replicate`](ReplAppExt::replicate). To send a component in another
//!   form, call [`replicate_as`](ReplAppExt::replicate_as). To send it only to some clients, call
//!   [`replicate_to`](ReplAppExt::replicate_to). Components are structs with `#[derive(Component, Replicated,
//!   Default)]`. An enum can be a field if it has `#[derive(NetSerialize)]`.
//! - **Let clients keep an entity**: [`TornOff`].
//! - **Match an entity that both sides have already created**: [`NetKey`].
//! - **Refer to an entity**: [`NetEntity`] in a component, message or input, and [`NetEntities`].
//! - **Say who sees what**: by distance with [`relevancy`](ReplAppExt::relevancy) and [`Viewpoint`], by
//!   groups and combinations with [`SeenBy`] and [`MemberOf`], or by a function with
//!   [`relevancy_by`](ReplAppExt::relevancy_by). A child without a position is seen together with its parent
//!   (`ChildOf`).
//! - **Keep what is out of sight**: [`WhenOutOfSight`] on the server, and [`KeptOutOfSight`] on clients.
//! - **Pause an entity**: [`NetPaused`], or [`set_paused_for`](ReplServer::set_paused_for) for one client.
//! - **Change components before they are sent**: a system before the set [`ReplSystems::Write`].
//! - **Move without waiting**: [`input`](ReplAppExt::input), [`predict`](ReplAppExt::predict) and
//!   [`Simulate`].
//! - **Show other players smoothly between two updates**: [`interpolate`](ReplAppExt::interpolate).
//! - **Send messages**: [`message`](ReplAppExt::message) with [`ToServer`] and [`FromClient`], [`ToClients`]
//!   and [`FromServer`].
//! - **Call functions of components**: [`calls`](ReplAppExt::calls) with [`Calls`] and [`Called`].
//! - **Know which clients are connected**: [`LoginAsked`], [`ConnectedClient`], [`ClientLeft`] and
//!   [`LeavesWithOwner`] on the server, [`JoinedServer`] and [`LeftServer`] on clients.
//! - **Play on the server**: [`ServerPlugin::host`], with [`HostPlayer`].
//! - **Anything else**: [`ReplServer`] and [`ReplClient`] dereference to the server and the client of the
//!   library.
//!
//! The preludes of `repl` and of Bevy both have an `Update`: import the `Update` that you need by its path.
//!
//! # Guarantees
//!
//! - An entity arrives with all its components at once, if they fit into a packet. No component exists on a
//!   client without its entity.
//! - A component changes on a client only if its values differ, so a repeated packet does not trigger
//!   `Changed`.
//! - When a client loses its server, its entities remain. They are replaced after it has connected again.
//! - Entities that a client has spawned itself belong to the client, and are despawned with their parent.
//! - The plug-in does not change the fields of a component that are not sent, also if the component is
//!   predicted or interpolated.
//! - [`FixedUpdate`](bevy_app::FixedUpdate) is never repeated: only [`Simulate`] is.
#![doc = ""]
#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]
#![warn(missing_docs)]
#![allow(elided_lifetimes_in_paths, reason = "systems are written without them")]

mod app;
mod arrived;
mod calls;
mod client;
#[cfg(feature = "diagnostics")]
mod diagnostics;
mod form;
mod hosting;
mod interpolation;
mod net_entities;
mod net_entity;
mod net_key;
mod net_parent;
mod not_sent;
mod outbox;
mod owned;
mod part;
mod plugins;
mod prediction;
mod server;
mod sets;
mod simulate;
mod simulation;
mod torn_off;
mod transport;

pub use app::ReplAppExt;
pub use calls::{Called, Calls};
pub use client::messages::{FromServer, ToServer};
pub use client::out_of_sight::KeptOutOfSight;
pub use client::remote::Remote;
pub use client::state::ReplClient;
pub use client::{JoinedServer, LeftServer};
#[cfg(feature = "diagnostics")]
pub use diagnostics::ReplDiagnosticsPlugin;
pub use form::WireForm;
pub use net_entities::NetEntities;
pub use net_entity::NetEntity;
pub use net_key::NetKey;
pub use not_sent::MessageNotSent;
pub use owned::Owned;
pub use plugins::client_plugin::ClientPlugin;
pub use plugins::server_plugin::ServerPlugin;
pub use prediction::next_input::NextInput;
pub use prediction::on_client::PredictionCounts;
pub use server::clients::{ClientLeft, ConnectedClient};
pub use server::groups::MemberOf;
pub use server::host::HostPlayer;
pub use server::login::LoginAsked;
pub use server::messages::{FromClient, Recipients, ToClients};
pub use server::replicate::Replicate;
pub use server::settings::{
    LeavesWithOwner, NetPaused, NetPriority, OwnedBy, Owns, SeenBy, Viewpoint, WhenOutOfSight,
};
pub use server::state::ReplServer;
pub use sets::ReplSystems;
pub use simulate::{Input, MakeInput, Simulate, Simulated, SimulationStep, is_first_run};
pub use simulation::Simulation;
pub use torn_off::TornOff;
pub use transport::simulated::SimulatedNetwork;
pub use transport::{ClientTransport, ServerTransport};
