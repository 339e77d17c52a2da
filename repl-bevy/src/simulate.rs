//! The simulation that a server and its clients share.

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_time::Time;
use std::time::Duration;

/// The schedule of the simulation that both sides share: it applies inputs to entities. Its systems run once
/// in each tick on a server. A client that [predicts](crate::ReplAppExt::predict) runs them ahead of the
/// server. If the server confirms a tick with another result, the client runs the ticks since then again.
/// Queries in these systems need the filter [`With<Simulated>`], and may use only predicted components,
/// [`Input`] and `Time`.
///
/// A system for something that must happen only once, such as a sound or a message, needs the run condition
/// [`is_first_run`].
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Simulate;

/// The schedule that runs on a client before each tick for which an input is due: its systems set
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

/// Marks the entities that [`Simulate`] simulates: on a server all replicated entities, on a client the
/// entities that it owns. On a client, marked entities have the predicted values of components, and all other
/// entities have the values of the server.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Simulated;

/// The input of an entity's owner in the tick that is simulated. On both sides, the entities that clients own
/// have this component.
#[derive(Component, Clone, Copy, Debug)]
pub struct Input<T: Send + Sync + 'static>(pub(crate) Option<T>);

impl<T: Send + Sync + 'static> Input<T> {
    /// Returns the input of the tick, or the last input before it if the input did not arrive in time. `None`
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

/// Simulates a tick. `Time` is the same for a tick on both sides.
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
