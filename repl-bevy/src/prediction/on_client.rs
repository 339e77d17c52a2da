//! A client makes inputs and simulates ticks before the server does. If the server then confirms another
//! result, the client rolls back: it simulates the ticks after the confirmed tick again.

use bevy_app::{App, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use repl::prelude::*;
use repl::{PredictionStats, PredictionStep};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::kind::Kinds;
use super::next_input::NextInput;
use super::snapshot::Snapshot;
use super::states::{Prediction, States};
use crate::client::LeftServer;
use crate::client::entities::Entities;
use crate::client::state::ReplClient;
use crate::owned::Owned;
use crate::sets::ReplSystems;
use crate::simulate::{Input, MakeInput, Simulate, Simulated, SimulationStep, simulate};

/// Statistics of the prediction of this client, for example the number of rollbacks.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct PredictionCounts(pub PredictionStats);

/// The predicted states of a client, and its inputs.
#[derive(Resource, Default)]
pub(super) struct Predictions {
    predicted: Predicted<Snapshot>,
    pub(super) kinds: Kinds,
    inputs: Vec<Arc<dyn InputKind>>,
    /// The time of the input clock in this frame, as a number of ticks with a fraction.
    position: f64,
    /// The correction in this frame: the newest state before the correction, and the newest state after it.
    correction: Option<(Snapshot, Snapshot)>,
    /// Whether the server confirms states that this client cannot read, because it has other kinds of
    /// components.
    is_unreadable: bool,
}

impl Predictions {
    /// Returns the state before the newest simulated tick, the state after it, and the part of the tick that
    /// has passed, from 0 to 1. While the prediction is stopped, the first state is `None`.
    pub(super) fn moment(&self) -> Option<(Option<&Snapshot>, &Snapshot, f64)> {
        let (newest, tick) = (self.predicted.state()?, self.predicted.tick()?);
        let before = tick.checked_sub(1).filter(|_| !self.predicted.is_stopped());
        let fraction = (self.position - tick as f64).clamp(0.0, 1.0);
        Some((before.and_then(|tick| self.predicted.at(tick)), newest, fraction))
    }

    /// Returns the correction in this frame: the newest state before the correction, and the newest state
    /// after it.
    pub(super) fn correction(&self) -> Option<(&Snapshot, &Snapshot)> {
        self.correction.as_ref().map(|(wrong, right)| (wrong, right))
    }

    fn reset(&mut self) {
        self.predicted.reset();
        self.is_unreadable = false;
    }
}

/// A type of inputs on a client.
trait InputKind: Send + Sync {
    fn due(&self, world: &mut World, now: Duration) -> Range<u64>;
    fn position(&self, world: &mut World) -> Option<f64>;
    fn make(&self, world: &mut World, tick: u64);
    fn give(&self, world: &mut World, tick: u64);
}

/// The inputs of one type on a client, and the client's own entities, which use them.
struct TypedInput<T: Send + Sync + 'static>(Mutex<OwnInputs<T>>);

type OwnInputs<T> = QueryState<&'static mut Input<T>, With<Owned>>;

impl<T: NetSerialize + Clone + Send + Sync> InputKind for TypedInput<T> {
    fn due(&self, world: &mut World, now: Duration) -> Range<u64> {
        world.resource_mut::<ReplClient>().inputs::<T>().due(now)
    }

    fn position(&self, world: &mut World) -> Option<f64> {
        world.resource_mut::<ReplClient>().inputs::<T>().position()
    }

    fn make(&self, world: &mut World, tick: u64) {
        let input = world.resource::<NextInput<T>>().0.clone();
        // If an input cannot be sent, neither side uses it, so the error can be ignored.
        world.resource_mut::<ReplClient>().inputs::<T>().set(tick, &input).ok();
    }

    fn give(&self, world: &mut World, tick: u64) {
        let made = world.resource_mut::<ReplClient>().inputs::<T>().or_last(tick);
        let mut owned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owned.iter_mut(world).for_each(|mut input| input.0.clone_from(&made));
    }
}

pub(super) fn build(app: &mut App) {
    app.world_mut().resource_mut::<ReplClient>().register::<Prediction>();
    app.world_mut().register_required_components::<Owned, Simulated>();
    app.init_schedule(Simulate)
        .init_schedule(MakeInput)
        .init_resource::<Predictions>()
        .init_resource::<PredictionCounts>()
        .init_resource::<SimulationStep>()
        .add_systems(PreUpdate, predict.in_set(ReplSystems::Simulate));
    app.add_observer(|_: On<LeftServer>, mut predictions: ResMut<Predictions>| predictions.reset());
}

pub(super) fn add_input<T: NetSerialize + Clone + Default + Send + Sync>(app: &mut App) {
    app.world_mut().resource_mut::<ReplClient>().register_inputs::<T>();
    app.world_mut().register_required_components::<Owned, Input<T>>();
    app.init_resource::<NextInput<T>>();
    let kind = Arc::new(TypedInput::<T>(Mutex::new(QueryState::new(app.world_mut()))));
    app.world_mut().resource_mut::<Predictions>().inputs.push(kind);
}

fn predict(world: &mut World) -> Result {
    world.resource_scope(|world, mut predictions: Mut<'_, Predictions>| predictions.predict(world))
}

impl Predictions {
    fn predict(&mut self, world: &mut World) -> Result {
        let result = self.confirm(world);
        let Self { predicted, inputs, position, correction, .. } = self;
        let interval = prediction(world.resource()).map_or(Duration::ZERO, |prediction| prediction.interval);
        let mut steps = predicted.roll_back(|snapshot, at| step(world, inputs, interval, snapshot, at));
        *correction = predicted.take_corrected().zip(predicted.state().cloned());
        let now = world.resource::<Time<Real>>().elapsed();
        for tick in inputs.first().map_or(0..0, |input| input.due(world, now)) {
            world.run_schedule(MakeInput);
            inputs.iter().for_each(|input| input.make(world, tick));
            predicted.advance(tick, |snapshot, at| step(world, inputs, interval, snapshot, at));
            steps += 1;
        }
        *position = inputs.first().and_then(|input| input.position(world)).unwrap_or(0.0);
        // If a tick was simulated in this frame, the newest state is already in the world.
        if let Some(newest) = predicted.state().filter(|_| steps == 0 || predicted.is_stopped()) {
            newest.load(world);
        }
        world.insert_resource(PredictionCounts(predicted.stats()));
        result
    }

    /// Reads the newest state that the server has confirmed.
    fn confirm(&mut self, world: &mut World) -> Result {
        let tick = confirmed(world.resource()).map(|(_, tick, _)| tick);
        let Some(tick) = tick.filter(|_| !self.is_unreadable) else { return Ok(()) };
        if self.predicted.confirmed_tick() == Some(tick) {
            return Ok(());
        }
        let mut snapshot = match self.predicted.at(tick) {
            Some(mine) => mine.clone(),
            None => Snapshot::of(world, &self.kinds),
        };
        let client = world.resource::<ReplClient>();
        let Some((prediction, _, states)) = confirmed(client) else { return Ok(()) };
        let read = snapshot.confirm(states, world.resource::<Entities>(), &**client);
        if prediction.kinds != self.kinds.checksum() || read.is_err() {
            self.is_unreadable = true;
            return Err(BevyError::error(
                "nothing is predicted, because the server confirms other components than this client predicts: \
                 call `predict` for the same types on both sides",
            ));
        }
        self.predicted.confirm((tick, &snapshot), Snapshot::agrees);
        Ok(())
    }
}

/// Simulates one tick that begins with the state of a snapshot.
fn step(
    world: &mut World,
    inputs: &[Arc<dyn InputKind>],
    interval: Duration,
    snapshot: &mut Snapshot,
    PredictionStep { tick, is_replay, .. }: PredictionStep,
) {
    snapshot.load(world);
    inputs.iter().for_each(|input| input.give(world, tick));
    simulate(world, SimulationStep { tick, is_replay }, interval);
    snapshot.save(world);
}

/// Returns the object by which the server sends confirmed states to this client.
fn prediction(client: &ReplClient) -> Option<&Prediction> {
    client.objects::<Prediction>().next().map(|(_, prediction)| prediction)
}

/// Returns the newest confirmed states, and the tick after which the server had them.
fn confirmed(client: &ReplClient) -> Option<(&Prediction, u64, &States)> {
    let prediction = prediction(client)?;
    let (tick, states) = prediction.confirmed.at(client.server_tick()?)?;
    Some((prediction, tick, states))
}
