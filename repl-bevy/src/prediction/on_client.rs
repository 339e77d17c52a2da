//! A client makes inputs, simulates ahead of the server, and corrects what the server has decided otherwise.

use bevy_app::{App, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use repl::prelude::*;
use repl::{PredictionStats, PredictionStep};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use super::kind::Kind;
use super::next_input::NextInput;
use super::snapshot::Snapshot;
use super::states::{Prediction, States};
use crate::client::LeftServer;
use crate::client::entities::Entities;
use crate::client::state::ReplClient;
use crate::owned::Owned;
use crate::sets::ReplSystems;
use crate::simulate::{Input, MakeInput, Simulate, Simulated, SimulationStep, simulate};

/// What was counted of the prediction of this client.
#[derive(Resource, Clone, Copy, Debug, Default)]
pub struct PredictionCounts(pub PredictionStats);

/// What a client predicts.
#[derive(Resource, Default)]
pub(super) struct Predictions {
    predicted: Predicted<Snapshot>,
    pub(super) kinds: Vec<Arc<dyn Kind>>,
    inputs: Vec<Arc<dyn InputKind>>,
}

/// What a client does with inputs of a type.
trait InputKind: Send + Sync {
    fn due(&self, world: &mut World, now: Duration) -> Range<u64>;
    fn make(&self, world: &mut World, tick: u64);
    fn give(&self, world: &mut World, tick: u64);
}

struct TypedInput<T>(PhantomData<fn() -> T>);

impl<T: NetSerialize + Clone + Send + Sync> InputKind for TypedInput<T> {
    fn due(&self, world: &mut World, now: Duration) -> Range<u64> {
        world.resource_mut::<ReplClient>().inputs::<T>().due(now)
    }

    fn make(&self, world: &mut World, tick: u64) {
        let input = world.resource::<NextInput<T>>().0.clone();
        // What cannot be sent is missing, on the server and here.
        world.resource_mut::<ReplClient>().inputs::<T>().set(tick, &input).ok();
    }

    fn give(&self, world: &mut World, tick: u64) {
        let made = world.resource_mut::<ReplClient>().inputs::<T>().or_last(tick);
        let mut owned = world.query_filtered::<&mut Input<T>, With<Owned>>();
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
    app.add_observer(|_: On<LeftServer>, mut predictions: ResMut<Predictions>| predictions.predicted.reset());
}

pub(super) fn add_input<T: NetSerialize + Clone + Default + Send + Sync>(app: &mut App) {
    app.world_mut().resource_mut::<ReplClient>().register_inputs::<T>();
    app.world_mut().register_required_components::<Owned, Input<T>>();
    app.init_resource::<NextInput<T>>();
    let kind = Arc::new(TypedInput::<T>(PhantomData));
    app.world_mut().resource_mut::<Predictions>().inputs.push(kind);
}

fn predict(world: &mut World) -> Result {
    world.resource_scope(|world, mut predictions: Mut<'_, Predictions>| {
        let Predictions { predicted, kinds, inputs } = &mut *predictions;
        confirm(world, predicted, kinds)?;
        let interval = world.resource::<ReplClient>().interval();
        predicted.roll_back(|snapshot, at| step(world, inputs, interval, snapshot, at));
        let now = world.resource::<Time<Real>>().elapsed();
        for tick in inputs.first().map_or(0..0, |input| input.due(world, now)) {
            world.run_schedule(MakeInput);
            inputs.iter().for_each(|input| input.make(world, tick));
            predicted.advance(tick, |snapshot, at| step(world, inputs, interval, snapshot, at));
        }
        if let Some(newest) = predicted.state() {
            newest.load(world);
        }
        world.insert_resource(PredictionCounts(predicted.stats()));
        Ok(())
    })
}

/// Simulates a tick of a snapshot.
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

/// Takes what the server has confirmed last.
fn confirm(world: &mut World, predicted: &mut Predicted<Snapshot>, kinds: &[Arc<dyn Kind>]) -> Result {
    let Some((tick, states)) = confirmed(world.resource::<ReplClient>()) else { return Ok(()) };
    if predicted.confirmed_tick() == Some(tick) {
        return Ok(());
    }
    let mut snapshot = predicted.at(tick).cloned().unwrap_or_else(|| Snapshot::of(world, kinds));
    snapshot.confirm(&states, world.resource::<Entities>())?;
    predicted.confirm((tick, &snapshot), |mine, confirmed| confirmed.agrees(mine));
    Ok(())
}

fn confirmed(client: &ReplClient) -> Option<(u64, States)> {
    let server_tick = client.server_tick()?;
    let (_, prediction) = client.objects::<Prediction>().next()?;
    let (tick, states) = prediction.confirmed.at(server_tick)?;
    Some((tick, states.clone()))
}
