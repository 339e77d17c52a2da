//! Sets the predicted components of a client to the values that it shows. They are interpolated between two
//! ticks, and corrections are smoothed.
//!
//! *Invariant:* a tick never starts with the shown values; it starts with the predicted values.

use bevy_app::{App, PreUpdate};
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};

use super::kind::TypedRows;
use super::on_client::Predictions;
use super::smoothing::Smoothing;
use crate::form::{Form, assign_if_neq};
use crate::interpolation::Mix;
use crate::sets::ReplSystems;
use crate::simulate::Simulated;

/// Lets a client show the components of a predicted type, if the app interpolates or smooths this type.
pub(super) fn add<T, F>(app: &mut App)
where
    T: Component<Mutability = Mutable> + Clone + PartialEq + Default,
    F: Form<T>,
{
    let is_shown = resource_exists::<Mix<T>>.or_else(resource_exists::<Smoothing<T>>);
    app.add_systems(PreUpdate, show::<T, F>.in_set(ReplSystems::Show).run_if(is_shown));
}

fn show<T, F>(
    predictions: Res<'_, Predictions>,
    time: Res<'_, Time<Real>>,
    mix: Option<Res<'_, Mix<T>>>,
    mut smoothing: Option<ResMut<'_, Smoothing<T>>>,
    mut simulated: Query<'_, '_, &mut T, With<Simulated>>,
) where
    T: Component<Mutability = Mutable> + Clone + PartialEq + Default,
    F: Form<T>,
{
    let Some((before, newest, fraction)) = predictions.moment() else { return };
    let Some(newest) = newest.rows_of::<TypedRows<T, F>>() else { return };
    let before = before.and_then(|before| before.rows_of::<TypedRows<T, F>>());
    if let Some(smoothing) = &mut smoothing {
        smoothing.advance(time.delta());
        if let Some((wrong, right)) = predictions.correction() {
            let rows = wrong.rows_of::<TypedRows<T, F>>().zip(right.rows_of::<TypedRows<T, F>>());
            for (wrong, (entity, right)) in rows
                .into_iter()
                .flat_map(|(wrong, right)| right.iter().filter_map(|row| Some((wrong.get(row.0)?, row))))
            {
                smoothing.correct(*entity, wrong, right);
            }
        }
    }
    for (entity, component) in newest.iter() {
        let Ok(mut shown) = simulated.get_mut(*entity) else { continue };
        let before = before.and_then(|before| before.get(*entity));
        let mut value = match (&mix, before) {
            (Some(mix), Some(before)) => mix.between(before, component, fraction),
            _ => component.clone(),
        };
        if let Some(smoothing) = &smoothing {
            smoothing.apply(*entity, &mut value);
        }
        assign_if_neq::<T, F>(newest.properties(), &value, &mut shown);
    }
}
