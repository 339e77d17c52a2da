//! What tests ask of a world.

use bevy_app::App;
use bevy_ecs::prelude::*;
use repl_bevy::Simulation;

/// Returns all components of a type in the world of an app.
pub(crate) fn all<T: Component + Clone>(app: &mut App) -> Vec<T> {
    let world = app.world_mut();
    world.query::<&T>().iter(world).cloned().collect()
}

/// Returns the entities of the clients on the server.
pub(crate) fn clients(simulation: &Simulation) -> Vec<Entity> {
    (0..simulation.clients.len()).map(|number| simulation.client_entity(number).unwrap()).collect()
}
