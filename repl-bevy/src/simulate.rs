//! The simulation that a server and its clients share.

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_time::Time;
use std::time::Duration;

/// The schedule of the simulation that both sides share: its systems apply inputs to entities. A server runs
/// it once in each tick. A client that [predicts](crate::ReplAppExt::predict) runs it for a tick before the
/// server does. If the server then confirms another result for a tick, the client runs the schedule again for
/// each tick after that one. Queries in these systems need the filter [`With<Simulated>`], and may use only
/// predicted components, [`Input`] and `Time`.
///
/// A system that must run only once for each tick, for example to play a sound or send a message, needs the
/// run condition [`is_first_run`].
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Simulate;

/// The schedule that a client runs before it simulates a tick for which it needs an input. Its systems set
/// [`NextInput`](crate::NextInput).
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
pub struct MakeInput;

/// The tick that [`Simulate`] simulates.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimulationStep {
    /// The tick of the server.
    pub tick: u64,
    /// Whether this client has simulated the tick before.
    pub is_replay: bool,
}

/// Marks the entities that [`Simulate`] simulates. On a server these are all replicated entities, and on a
/// client the entities that it owns. On a client, the components of marked entities have the predicted
/// values, and those of all other entities have the values of the server.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Simulated;

/// The input of an entity's owner in the simulated tick. The entities that clients own have this component,
/// on the server and on the owner's client.
#[derive(Component, Clone, Copy, Debug)]
pub struct Input<T: Send + Sync + 'static>(pub(crate) Option<T>);

impl<T: Send + Sync + 'static> Input<T> {
    /// Returns the input of the tick. If it did not arrive in time, returns the last input before it. `None`
    /// if the owner has made no input yet.
    #[must_use]
    pub const fn get(&self) -> Option<&T> {
        self.0.as_ref()
    }
}

impl<T: Send + Sync + 'static> Default for Input<T> {
    fn default() -> Self {
        Self(None)
    }
}

/// The run condition for systems in [`Simulate`] that must run only once for each tick.
#[must_use]
pub fn is_first_run(step: Res<'_, SimulationStep>) -> bool {
    !step.is_replay
}

/// Simulates a tick. In the same tick, `Time` has the same value on both sides.
pub(crate) fn simulate(world: &mut World, step: SimulationStep, interval: Duration) {
    let mut time = Time::<()>::default();
    let ticks_before = u32::try_from(step.tick.saturating_sub(1)).unwrap_or(u32::MAX);
    time.advance_to(interval.saturating_mul(ticks_before));
    time.advance_by(interval);
    let frame = std::mem::replace(&mut *world.resource_mut::<Time>(), time);
    world.insert_resource(step);
    world.run_schedule(Simulate);
    *world.resource_mut::<Time>() = frame;
}
