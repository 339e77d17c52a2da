//! Prediction: a client does not wait for the server to see what its own inputs do.

mod kind;
pub(crate) mod next_input;
pub(crate) mod on_client;
mod on_host;
mod on_server;
mod snapshot;
mod states;

use bevy_app::App;
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use std::sync::Arc;

use crate::client::entities::Entities;
use crate::form::Form;
use crate::server::state::ReplServer;
use kind::TypedKind;
use on_client::Predictions;
use on_server::Kinds;

/// Lets both sides simulate.
pub(crate) fn build(app: &mut App) {
    if is_server(app) {
        on_server::build(app);
    } else {
        on_client::build(app);
    }
}

pub(crate) fn add_input<T: NetSerialize + Clone + Default + Send + Sync>(app: &mut App) {
    if is_server(app) {
        on_server::add_input::<T>(app);
        on_host::add_input::<T>(app);
    } else {
        on_client::add_input::<T>(app);
    }
}

/// Predicts the components of a type that are replicated in a form.
pub(crate) fn predict<T, F>(app: &mut App)
where
    T: Component<Mutability = Mutable> + Clone + PartialEq + Default,
    F: Form<T>,
{
    let kind = Arc::new(TypedKind::<T, F>::new());
    if is_server(app) {
        app.world_mut().resource_mut::<Kinds>().0.push(kind);
    } else {
        app.world_mut().resource_mut::<Entities>().predict(F::Wire::LAYOUT.name());
        app.world_mut().resource_mut::<Predictions>().kinds.push(kind);
    }
}

fn is_server(app: &App) -> bool {
    app.world().contains_resource::<ReplServer>()
}
