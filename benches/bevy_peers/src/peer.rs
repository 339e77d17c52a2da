//! What a library does for the comparison.

use std::time::Duration;

use bevy_app::{App, TaskPoolPlugin};
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy};

use crate::account::Account;

/// The ticks in a second, of all apps.
pub(crate) const HZ: f64 = 30.0;

/// The greatest size of a packet in bytes.
pub(crate) const PACKET_BYTES: usize = 1_200;

/// A library with a server and clients.
pub(crate) trait Peer: Sized {
    /// Makes the apps. The server's account pays for the server.
    fn new(clients: usize, account: &mut Account) -> Self;

    fn server(&mut self) -> &mut App;

    fn clients(&mut self) -> &mut [App];

    /// Returns how many clients are connected on the server.
    fn connected(&mut self) -> usize;

    /// Returns what makes an entity of the server replicated to all clients.
    fn marker() -> impl Bundle;

    /// Carries what the server has sent to the clients. Returns the number of bytes.
    fn carry_to_clients(&mut self, account: &mut Account) -> usize;

    /// Carries what the clients have sent to the server.
    fn carry_to_server(&mut self, account: &mut Account);
}

/// Returns an app whose clock goes on by a tick in each frame.
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
