//! Prediction: a client shows the effect of its own inputs at once, without waiting for the server.

mod kind;
pub(crate) mod next_input;
pub(crate) mod on_client;
mod on_host;
mod on_server;
mod shown;
pub(crate) mod smoothing;
mod snapshot;
mod states;

use bevy_app::App;
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use repl::prelude::*;

use crate::client::entities::Entities;
use crate::form::Form;
use crate::server::state::ReplServer;
use kind::TypedKind;
use on_client::Predictions;
use on_server::ServerKinds;

/// Lets an app run the schedule [`Simulate`](crate::Simulate), and lets clients predict.
pub(crate) fn build(app: &mut App) {
    if is_server(app) {
        on_server::build(app);
        on_host::build(app);
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

/// Lets clients predict the components of a type that is replicated in the form `F`.
pub(crate) fn predict<T, F>(app: &mut App)
where
    T: Component<Mutability = Mutable> + Clone + PartialEq + Default,
    F: Form<T>,
{
    let kind = TypedKind::<T, F>::new(app.world_mut());
    if is_server(app) {
        app.world_mut().resource_mut::<ServerKinds>().0.add(kind);
    } else {
        app.world_mut().resource_mut::<Entities>().predict(F::Wire::LAYOUT.name());
        app.world_mut().resource_mut::<Predictions>().kinds.add(kind);
        shown::add::<T, F>(app);
    }
}

fn is_server(app: &App) -> bool {
    app.world().contains_resource::<ReplServer>()
}
