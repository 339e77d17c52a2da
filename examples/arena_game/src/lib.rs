//! A small shooter: the game that the example `arena` plays on a terminal, and the example `arena_web` in a
//! browser. The code of a client is the same in both.
//!
//! Start with `model.rs`, which declares the objects: which properties are replicated, to whom, and how. Then
//! read `calls.rs`, which declares the messages and the remote calls, `pilot.rs`, which plays on a client,
//! and `keys.rs`, by which a human plays. `game.rs`, `bots.rs` and `pack.rs` change the objects on the
//! server, `sight.rs` decides who sees what, `chat.rs` is the chat, and `session.rs` and `guest.rs` move the
//! packets, over a network that implements `transport.rs`. `host.rs` plays in the process of the server.
//! `view.rs` and `census.rs` compare what a client has with what it must have, and `snapshot.rs` writes the
//! values of a client as JSON.
//!
//! *Invariant:* nothing here knows a terminal, a file or a page.
#![allow(
    missing_docs,
    reason = "the fields of the objects and of the tallies say what they are by their names"
)]

pub mod bots;
pub mod calls;
pub mod census;
pub mod chat;
pub mod game;
pub mod guest;
pub mod host;
pub mod keys;
#[cfg(feature = "quic")]
#[path = "../../support/metronome.rs"]
mod metronome;
pub mod model;
#[cfg(feature = "quic")]
pub mod online;
pub mod pace;
pub mod pack;
pub mod pilot;
pub mod plan;
pub mod plane;
pub mod secrets;
pub mod session;
pub mod sight;
pub mod snapshot;
pub mod transport;
pub mod view;
