//! Helpers of the tests.

use bevy_app::{App, Plugin};
use bevy_ecs::prelude::*;
use bevy_time::TimeUpdateStrategy;
use repl::prelude::*;
use repl_bevy::{ReplServer, Simulation};
use std::time::Duration;

/// A component with one field that only its owner receives.
#[derive(Component, Replicated, Default, Clone, Debug, PartialEq)]
pub(crate) struct Player {
    #[replicated]
    pub(crate) health: u16,
    #[replicated(condition = OwnerOnly)]
    pub(crate) ammo: u16,
}

/// Returns all components of a type in the world of an app.
pub(crate) fn all<T: Component + Clone>(app: &mut App) -> Vec<T> {
    let world = app.world_mut();
    world.query::<&T>().iter(world).cloned().collect()
}

/// Returns the entities, in the world of the server, that stand for the clients.
pub(crate) fn clients(simulation: &Simulation) -> Vec<Entity> {
    (0..simulation.clients.len()).map(|number| simulation.client_entity(number).unwrap()).collect()
}

/// Lets a client see from a position on the first axis.
pub(crate) fn see_from(simulation: &mut Simulation, client: usize, x: f32) {
    let client = simulation.client_entity(client).unwrap();
    let mut server = simulation.server.world_mut().resource_mut::<ReplServer>();
    let connection = server.connection_of(client).unwrap();
    server.connection(connection).set_viewpoints(&[[x, 0.0, 0.0]]);
}

/// Returns an app with a plug-in. Its clock advances by `frame` in each update.
pub(crate) fn app(plugin: impl Plugin, frame: Duration, setup: impl Fn(&mut App)) -> App {
    let mut app = App::new();
    app.add_plugins(plugin).insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    setup(&mut app);
    app.finish();
    app.cleanup();
    app
}
