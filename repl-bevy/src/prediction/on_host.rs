//! The host makes inputs like a client. It predicts nothing, because it shows the entities of the server.

use bevy_app::{App, FixedUpdate};
use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use super::next_input::NextInput;
use crate::server::state::ReplServer;
use crate::sets::ReplSystems;
use crate::simulate::MakeInput;

/// The types of inputs that the host makes.
#[derive(Resource, Default)]
struct HostInputs(Vec<Arc<dyn InputKind>>);

/// A type of inputs on a host.
trait InputKind: Send + Sync {
    fn due(&self, server: &mut ReplServer) -> Range<u64>;
    fn make(&self, world: &mut World, tick: u64);
}

struct TypedInput<T>(PhantomData<fn() -> T>);

impl<T: NetSerialize + Clone + Send + Sync> InputKind for TypedInput<T> {
    fn due(&self, server: &mut ReplServer) -> Range<u64> {
        server.host().map_or(0..0, |mut host| host.due_inputs::<T>())
    }

    fn make(&self, world: &mut World, tick: u64) {
        let input = world.resource::<NextInput<T>>().0.clone();
        if let Some(mut host) = world.resource_mut::<ReplServer>().host() {
            // If an input cannot be set, the tick has no input, as for a client.
            host.set_input(tick, &input).ok();
        }
    }
}

pub(super) fn build(app: &mut App) {
    app.init_schedule(MakeInput)
        .init_resource::<HostInputs>()
        .add_systems(FixedUpdate, make.before(ReplSystems::Simulate));
}

pub(super) fn add_input<T: NetSerialize + Clone + Default + Send + Sync>(app: &mut App) {
    app.init_resource::<NextInput<T>>();
    let kind = Arc::new(TypedInput::<T>(PhantomData));
    app.world_mut().resource_mut::<HostInputs>().0.push(kind);
}

pub(super) fn make(world: &mut World) {
    let inputs = world.resource::<HostInputs>().0.clone();
    let Some(first) = inputs.first() else { return };
    for tick in first.due(&mut world.resource_mut::<ReplServer>()) {
        world.run_schedule(MakeInput);
        inputs.iter().for_each(|input| input.make(world, tick));
    }
}
