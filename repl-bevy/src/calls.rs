//! Calls of functions of components, in both directions.

use bevy_app::{App, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use repl::prelude::*;
use repl::{ReceivedCall, Rpcs};
use std::fmt;

use crate::client::entities::Entities;
use crate::client::state::ReplClient;
use crate::part::Part;
use crate::server::state::ReplServer;
use crate::sets::ReplSystems;

/// A call of a function of a component has arrived: observe it by `On<Called<Player>>`, on one entity or on
/// all. The body of the function does not run: an observer has the whole world.
#[derive(EntityEvent)]
pub struct Called<T: Rpcs> {
    /// The entity with the component.
    pub entity: Entity,
    /// On a server, the entity of the client that has called. `None` if this side has called itself.
    pub caller: Option<Entity>,
    /// Which function is called, with its arguments.
    pub call: T::Call,
}

impl<T: Rpcs> fmt::Debug for Called<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entity, caller, call } = self;
        f.debug_struct("Called").field("entity", entity).field("caller", caller).field("call", call).finish()
    }
}

/// Calls functions of components of the type `T`.
#[derive(SystemParam)]
pub struct Calls<'w, 's, T: Rpcs> {
    server: Option<ResMut<'w, ReplServer>>,
    client: Option<ResMut<'w, ReplClient>>,
    parts: Query<'w, 's, &'static Part<T>>,
}

impl<T: Rpcs> Calls<'_, '_, T> {
    /// Returns the caller of the component of an entity: it has a method for each call. A call of what is not
    /// replicated returns [`CallError::Gone`](repl::CallError).
    ///
    /// # Panics
    /// Panics if [`calls`](crate::ReplAppExt::calls) was not called for the type.
    pub fn of(&mut self, entity: Entity) -> T::Caller<'_> {
        let object = self.parts.get(entity).map_or(ObjectRef::NULL, Part::object_of::<T>);
        match (&mut self.server, &mut self.client) {
            (Some(server), _) => server.call(object),
            (None, Some(client)) => client.call(object),
            (None, None) => panic!("add a `ServerPlugin` or a `ClientPlugin` to the app first"),
        }
    }
}

/// Lets an app receive the calls of a class.
pub(crate) fn add_calls<T: Rpcs>(app: &mut App) {
    if let Some(mut server) = app.world_mut().get_resource_mut::<ReplServer>() {
        server.register_calls::<T>();
        app.add_systems(PreUpdate, receive_on_server::<T>.in_set(ReplSystems::Read));
    } else {
        app.world_mut().resource_mut::<ReplClient>().register_calls::<T>();
        app.add_systems(PreUpdate, receive_on_client::<T>.in_set(ReplSystems::Read));
    }
}

fn receive_on_server<T: Rpcs>(mut server: ResMut<'_, ReplServer>, mut commands: Commands<'_, '_>) {
    while let Some(ReceivedCall { object, caller, call, .. }) = server.poll_call::<T>() {
        let root = server.object_info(object).parent();
        if let Some(entity) = root.and_then(|root| server.entity_of(root)) {
            let caller = caller.and_then(|caller| server.client_of(caller));
            commands.trigger(Called::<T> { entity, caller, call });
        }
    }
}

fn receive_on_client<T: Rpcs>(
    mut client: ResMut<'_, ReplClient>,
    entities: Res<'_, Entities>,
    mut commands: Commands<'_, '_>,
) {
    while let Some(ReceivedCall { object, call, .. }) = client.poll_call::<T>() {
        let root = client.object_info(object).parent();
        if let Some(entity) = root.and_then(|root| entities.entity_of(root)) {
            commands.trigger(Called::<T> { entity, caller: None, call });
        }
    }
}
