//! The simulation that a server and its clients share.

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::ScheduleLabel;
use bevy_time::Time;
use std::time::Duration;

/// The simulation that both sides share: what inputs do to entities. Its systems run once in each tick on a
/// server. A client that [predicts](crate::ReplAppExt::predict) runs them ahead of the server, and runs ticks
/// again that the server has confirmed with another result. Let queries have the filter [`With<Simulated>`],
/// and let them read and write predicted components, [`Input`] and `Time` alone.
///
/// What must happen only once, such as a sound or a message, has the run condition [`is_first_run`].
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Simulate;

/// On a client, runs before each tick for which an input is due: its systems set
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

/// The entities that [`Simulate`] is for: on a server those that are replicated, on a client those that it
/// owns. On a client, entities with it have the predicted values of components, and all others those of the
/// server.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Simulated;

/// What the owner of an entity does in the tick that is simulated. The entities that clients own have it, on
/// both sides.
#[derive(Component, Clone, Copy, Debug)]
pub struct Input<T: Send + Sync + 'static>(pub(crate) Option<T>);

impl<T: Send + Sync + 'static> Input<T> {
    /// Returns the input of the tick, or the last one before it, if it did not arrive in time. `None` if the
    /// owner has made no input yet.
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

/// The run condition of systems in [`Simulate`] for what must happen only once in each tick.
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
