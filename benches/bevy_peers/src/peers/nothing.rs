//! The server without a library. Its cost is subtracted from the cost of the libraries.

use bevy_app::App;
use bevy_ecs::prelude::*;

use crate::account::Account;
use crate::peer::{Peer, app, finished};

/// A server without a library and without clients.
pub(crate) struct Nothing(App);

impl Peer for Nothing {
    fn new(_: usize, account: &mut Account) -> Self {
        Self(account.hold(|| finished(app())))
    }

    fn server(&mut self) -> &mut App {
        &mut self.0
    }

    fn clients(&mut self) -> &mut [App] {
        &mut []
    }

    fn connected(&mut self) -> usize {
        0
    }

    fn marker() -> impl Bundle {}

    fn carry_to_clients(&mut self, _: &mut Account) -> usize {
        0
    }

    fn carry_to_server(&mut self, _: &mut Account) {}
}
