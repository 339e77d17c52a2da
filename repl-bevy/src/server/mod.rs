//! The server's side: entities with [`Replicate`](replicate::Replicate) become objects.
//!
//! *Invariant:* this module changes nothing in the world except the components and entities of this crate.

mod audience;
mod changes;
pub(crate) mod clients;
mod column;
mod decisions;
pub(crate) mod groups;
pub(crate) mod host;
pub(crate) mod login;
pub(crate) mod messages;
mod parents;
mod position;
pub(crate) mod replicate;
mod roots;
mod setting_kinds;
pub(crate) mod settings;
pub(crate) mod state;
pub(crate) mod systems;

use bevy_app::{App, FixedPostUpdate};
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::{Coordinates, Viewer};

use crate::form::{Form, Itself};
use crate::net_entity::Root;
use crate::net_key::NetKey;
use crate::net_parent::NetParent;
use crate::part::Part;
use crate::sets;
use audience::TypedAudiences;
use column::TypedColumn;
use decisions::TypedDecisions;
use position::TypedPositions;
use state::ReplServer;
use systems::Columns;

/// Makes an app a server.
pub(crate) fn build(app: &mut App, server: ReplServer) {
    app.insert_resource(server).init_resource::<Columns>();
    server_of(app).register_external::<Root>();
    settings::add_settings(app);
    groups::add_groups(app);
    replicate::<NetParent, Itself>(app);
    replicate::<NetKey, Itself>(app);
    sets::order(app, FixedPostUpdate);
    systems::add_systems(app);
}

/// Replicates the components of a type.
pub(crate) fn replicate<T: Component<Mutability = Mutable>, F: Form<T>>(app: &mut App) {
    server_of(app).register_external::<F::Wire>();
    if let Err(error) = app.try_register_required_components::<T, Part<T>>() {
        panic!("call `replicate` once for each type, and before a component of it is spawned: {error}");
    }
    let column = TypedColumn::<T, F>::new(app.world_mut());
    app.world_mut().resource_mut::<Columns>().columns.push(Box::new(column));
}

/// Sends the components of a type to only some clients. `audience` chooses them by the component `B` of the
/// same entity.
pub(crate) fn limit<T: Component, B: Component>(
    app: &mut App,
    audience: impl Fn(&B) -> Relevancy + Send + Sync + 'static,
) {
    let audiences = TypedAudiences::<T, B, _>::new(app.world_mut(), audience);
    app.world_mut().resource_mut::<Columns>().audiences.push(Box::new(audiences));
}

/// Shows each client only the entities in an area around its viewpoints.
pub(crate) fn locate<T: Component, C: Coordinates>(
    app: &mut App,
    area: Area,
    position: impl Fn(&T) -> C + Send + Sync + 'static,
) {
    server_of(app).class::<Root>().set_placed_area(area);
    settings::set_position::<T>(app);
    let positions = TypedPositions::new(app.world_mut(), position);
    app.world_mut().resource_mut::<Columns>().positions = Some(Box::new(positions));
}

/// Lets a function decide which clients see the entities with a component.
pub(crate) fn decide<T: Component + Clone>(
    app: &mut App,
    decide: impl Fn(&T, &Viewer<'_>) -> bool + Send + Sync + 'static,
) {
    settings::set_function::<T>(app);
    let decisions = TypedDecisions::new(app.world_mut(), decide);
    app.world_mut().resource_mut::<Columns>().decisions = Some(Box::new(decisions));
}

/// Lets the function decide again about each entity once in some ticks.
pub(crate) fn decide_every(app: &mut App, ticks: u16) {
    server_of(app).class::<Root>().set_relevancy_period(ticks);
}

fn server_of(app: &mut App) -> &mut Server {
    app.world_mut().resource_mut::<ReplServer>().into_inner()
}
