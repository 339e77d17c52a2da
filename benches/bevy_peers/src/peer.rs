//! The interface that each compared library implements.

use std::time::Duration;

use bevy_app::{App, TaskPoolPlugin};
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};

use crate::account::Account;

/// The number of ticks in a second, the same for all apps.
pub(crate) const HZ: f64 = 30.0;

/// The greatest size of a packet in bytes.
pub(crate) const PACKET_BYTES: usize = 1_200;

/// A library with a server and clients.
pub(crate) trait Peer: Sized {
    /// Makes the apps. `account` counts the server's part of this work.
    fn new(clients: usize, account: &mut Account) -> Self;

    fn server(&mut self) -> &mut App;

    fn clients(&mut self) -> &mut [App];

    /// Returns the number of clients that are connected to the server.
    fn connected(&mut self) -> usize;

    /// Returns the components that make the server replicate an entity to all clients.
    fn marker() -> impl Bundle;

    /// Carries the packets of the server to the clients. Returns how many bytes they have.
    fn carry_to_clients(&mut self, account: &mut Account) -> usize;

    /// Carries the packets of the clients to the server.
    fn carry_to_server(&mut self, account: &mut Account);
}

/// Returns an app with a clock that advances by one tick in each frame.
pub(crate) fn app() -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(tick()));
    app
}

pub(crate) fn tick() -> Duration {
    Duration::from_secs_f64(1.0 / HZ)
}

/// Ends the building of an app.
pub(crate) fn finished(mut app: App) -> App {
    app.finish();
    app.cleanup();
    app
}
