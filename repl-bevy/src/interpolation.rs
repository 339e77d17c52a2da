//! A client interpolates the entities of other players between the values that it receives.

use bevy_app::{App, PreUpdate};
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_time::{Real, Time};
use repl::prelude::*;

use crate::arrived::Arrived;
use crate::client::entities::Entities;
use crate::client::state::ReplClient;
use crate::form::{Form, Properties, assign_if_neq};
use crate::part::Part;
use crate::sets::ReplSystems;
use crate::simulate::Simulated;

/// The last received values of a component, between which it is interpolated.
#[derive(Component)]
struct Way<T: Send + Sync + 'static> {
    values: Interpolated<T>,
    /// The object to which these values belong. If the component has another object later, interpolation
    /// starts again.
    object: ObjectRef<()>,
}

/// The function that interpolates between two values.
#[derive(Resource)]
pub(crate) struct Mix<T>(Box<dyn MixValues<T>>);

trait MixValues<T>: Send + Sync {
    fn mix(&self, before: &T, after: &T, fraction: f64) -> T;
}

impl<T, M: Fn(&T, &T, f64) -> T + Send + Sync> MixValues<T> for M {
    fn mix(&self, before: &T, after: &T, fraction: f64) -> T {
        self(before, after, fraction)
    }
}

impl<T: 'static> Mix<T> {
    /// Returns a value between `before` (fraction 0) and `after` (fraction 1).
    pub(crate) fn between(&self, before: &T, after: &T, fraction: f64) -> T {
        self.0.mix(before, after, fraction)
    }
}

#[derive(QueryData)]
#[query_data(mutable)]
struct Row<T: Component<Mutability = Mutable>> {
    shown: &'static mut T,
    arrived: &'static mut Arrived<T>,
    way: &'static mut Way<T>,
    part: &'static Part<T>,
}

/// Lets a client interpolate the components of a type that is replicated in the form `F`, on entities that it
/// does not simulate.
pub(crate) fn add<T, F>(
    app: &mut App,
    most_ticks: u64,
    mix: impl Fn(&T, &T, f64) -> T + Send + Sync + 'static,
) where
    T: Component<Mutability = Mutable> + Clone + PartialEq,
    F: Form<T>,
{
    let world = app.world_mut();
    world.resource_mut::<Entities>().interpolate(F::Wire::LAYOUT.name());
    world.insert_resource(Mix(Box::new(mix)));
    world.register_required_components_with::<Arrived<T>, Way<T>>(move || Way {
        values: Interpolated::new(most_ticks),
        object: ObjectRef::NULL,
    });
    app.add_systems(PreUpdate, show::<T, F>.in_set(ReplSystems::Show));
}

fn show<T: Component<Mutability = Mutable> + Clone + PartialEq, F: Form<T>>(
    (client, time): (Res<'_, ReplClient>, Res<'_, Time<Real>>),
    mix: Res<'_, Mix<T>>,
    properties: Local<'_, Properties<F::Wire>>,
    mut rows: Query<'_, '_, Row<T>, Without<Simulated>>,
) {
    let Some(shown_tick) = client.clock().shown_tick_at(time.elapsed()) else { return };
    for RowItem { mut shown, mut arrived, mut way, part } in &mut rows {
        let arrived = arrived.bypass_change_detection();
        if let Some(tick) = arrived.tick.take()
            && let Some(wire) = client.get(part.object_of::<F::Wire>())
        {
            let mut value = shown.clone();
            F::copy(&properties, wire, &mut value);
            let is_jump = std::mem::take(&mut arrived.is_jump);
            if std::mem::replace(&mut way.object, part.object) == part.object && !is_jump {
                way.values.push(tick, value);
            } else {
                way.values.snap(tick, value);
            }
        }
        if let Some(value) = way.values.at_with(shown_tick - way.values.delay(), |before, after, fraction| {
            mix.between(before, after, fraction)
        }) {
            assign_if_neq::<T, F>(&properties, &value, &mut shown);
        }
    }
}
