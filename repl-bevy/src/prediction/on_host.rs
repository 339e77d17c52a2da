//! The host makes inputs as a client does. Nothing is predicted: what the server simulates is what it sees.

use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use repl::prelude::*;

use super::next_input::NextInput;
use crate::server::state::ReplServer;
use crate::sets::ReplSystems;
use crate::simulate::MakeInput;

pub(super) fn add_input<T: NetSerialize + Clone + Default + Send + Sync>(app: &mut App) {
    app.init_schedule(MakeInput).init_resource::<NextInput<T>>();
    app.add_systems(FixedUpdate, make::<T>.before(ReplSystems::Simulate));
}

fn make<T: NetSerialize + Clone + Send + Sync>(world: &mut World) {
    let due = world.resource_mut::<ReplServer>().host().map_or(0..0, |mut host| host.due_inputs::<T>());
    for tick in due {
        world.run_schedule(MakeInput);
        let input = world.resource::<NextInput<T>>().0.clone();
        if let Some(mut host) = world.resource_mut::<ReplServer>().host() {
            // What has no wire form is missing, as for a client.
            host.set_input(tick, &input).ok();
        }
    }
}
