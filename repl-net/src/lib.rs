//! The server and the client of `repl`, without sockets and clocks. They start no threads, except with the
//! feature `rayon`.
//!
//! ```
//! use repl_sim::{Clock, LinkConditions, Network, PeerId};
//! use repl_net::{Client, ClientConfig, Server, ServerConfig, Session};
//!
//! let mut server = Server::new(ServerConfig::default());
//! let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
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
//! Programs use this crate through `repl`, which re-exports it together with the derive macros. The front
//! page of `repl` has an example with objects.
//!
//! # What this crate does not do
//!
//! This crate opens no socket and reads no clock: `receive` and `tick` take bytes and times, `poll_transmit`
//! and `poll_event` return packets and events. With each received packet, the caller passes the sender's
//! address to an [`Endpoint`], or the sender's [`ConnectionId`] to the server. The crate does not encrypt or
//! authenticate.
//!
//! # The four types to know
//!
//! - [`Server`] owns objects and makes the packets of each connection.
//! - [`Endpoint`] knows the server's clients by their addresses.
//! - [`Client`] applies packets, acknowledges them, and calls notifies.
//! - `repl_sim::Network` transports packets between peers, with the losses and delays that a test sets.
//!
//! # Guarantees
//!
//! - After a burst of lost packets of any length, each changed property is sent again only one time. The
//!   server remembers which properties a client lacks until the client has them.
//! - The work depends on the number of changes, not on the number of objects.
//! - The memory that a peer can make the other side use is limited by [`ServerConfig`], [`ClientConfig`] or a
//!   constant.
//! - A packet is applied as a whole or not at all. A malformed packet ends the connection, and a damaged
//!   packet is dropped.
//!
//! Not guaranteed: objects, or properties of one object, that changed in the same tick may arrive in
//! different ticks.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod body;
mod calls;
mod client;
mod inputs;
mod inspect;
mod local_player;
mod motion;
mod register;
mod server;
mod session;
mod telemetry;
mod updates;

pub use body::removal::CloseReason;
pub use body::role::Role;
pub use calls::call::{Call, CallSide, ClientCall, MulticastCall, ReceivedCall, ServerCall};
pub use calls::error::CallError;
pub use calls::rpcs::Rpcs;
pub use calls::table::{CallKind, CallTable};
pub use client::{
    Client, ClientAssets, ClientConnectionInfo, ClientObjectHandle, ClientObjectInfo, ClientStatics,
    ClientStats, Placed, ReceiveError, ServerClock,
};
pub use inputs::error::InputError;
pub use inputs::on_client::{ClientInputs, InputStats};
pub use inputs::received::InputCounts;
pub use inputs::tick_input::TickInput;
pub use inspect::traffic::{ClassTraffic, PropertyTraffic};
pub use local_player::LocalPlayer;
pub use motion::angle::Angle;
pub use motion::interpolate::Interpolate;
pub use motion::interpolated::Interpolated;
pub use motion::moving::Moving;
pub use motion::offset::Offset;
pub use motion::predict::{Predict, PredictionStep};
pub use motion::predicted::{Predicted, PredictionEvent, PredictionStats};
pub use motion::rotation::Rotation;
pub use motion::shown_tick::ShownTick;
pub use motion::smoothed::Smoothed;
pub use motion::spawns::{PredictedSpawns, SpawnKey};
pub use register::Register;
pub use repl_link::ConnectionId;
pub use repl_link::DisconnectReason;
pub use repl_link::Session;
pub use repl_link::{Address, Endpoint, EndpointConfig, Origin, RateControl};
pub use repl_link::{Channel, MessageOptions, MessageProgress, Progress, SendError};
pub use repl_link::{Difference, LayoutMismatch, Side};
pub use repl_link::{Limit, LimitMismatch};
pub use server::{
    Area, Audience, ClassHandle, ClassMemory, ConnectionHandle, ConnectionInfo, ConnectionStats, Dormancy,
    External, Group, History, HostHandle, HostOptions, NotSent, ObjectHandle, ObjectInfo, OutOfSight,
    Position, Relevancy, Rewound, Server, ServerAssets, ServerMemory, Statics, Transmit, UpdateRate, Viewer,
    Work,
};
pub use session::archetype::ArchetypeId;
pub use session::config::{ClientConfig, CongestionControl, Login, ServerConfig};
pub use session::events::{ClientEvent, CompareError, ServerEvent, SpawnError, StaticSpawnError};
pub use updates::update::{Update, UpdateKind};

/// Items that code generated by the macros needs. Do not use this module by hand.
#[doc(hidden)]
pub mod __private {
    pub use crate::calls::debug::{ByDebug, ByMark, Printed};
    pub use crate::calls::invocation::Invocation;
    pub use crate::calls::rpcs::CallSender;
    pub use crate::calls::table::{CallEntry, Parameter, checked_per_second};
    pub use crate::client::SpawnedByAClient;
    pub use crate::{
        CallError, CallKind, CallTable, ClientCall, ConnectionId, MulticastCall, Rpcs, ServerCall,
    };
}
