//! Calls of functions of components, from clients to the server and from the server to clients.

use bevy_app::{App, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use repl::prelude::*;
use repl::{ReceivedCall, Rpcs};
use std::any::TypeId;
use std::collections::HashSet;
use std::fmt;

use crate::client::entities::Entities;
use crate::client::state::ReplClient;
use crate::net_entities::NetEntities;
use crate::net_entity::Root;
use crate::server::state::ReplServer;
use crate::sets::ReplSystems;

/// A call of a function of a component has arrived. Observe it by `On<Called<Player>>` if `Player` is the
/// component, on one entity or on all entities. The body of the function does not run. Your observer does the
/// work instead, because it can use the whole world.
#[derive(EntityEvent)]
pub struct Called<T: Rpcs> {
    /// The entity with the component.
    pub entity: Entity,
    /// On a server, the entity of the client that made the call. `None` if the call was made on this side.
    pub caller: Option<Entity>,
    /// The called function and its arguments, as a variant of the class's enum of calls.
    pub call: T::Call,
}

impl<T: Rpcs> fmt::Debug for Called<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { entity, caller, call } = self;
        f.debug_struct("Called").field("entity", entity).field("caller", caller).field("call", call).finish()
    }
}

/// Calls functions of components.
#[derive(SystemParam)]
pub struct Calls<'w, 's> {
    /// Converts entities to their names, which calls need as arguments.
    pub entities: NetEntities<'w, 's>,
    client: Option<ResMut<'w, ReplClient>>,
    known: Option<Res<'w, KnownCalls>>,
}

/// The component types whose calls the app has registered.
#[derive(Resource, Default)]
pub(crate) struct KnownCalls(HashSet<TypeId>);

impl Calls<'_, '_> {
    /// Returns the caller of a component of an entity, for example `calls.of::<Door>(door)`. The caller has a
    /// method for each call of the component. If the component is not replicated, the method returns
    /// [`CallError::Gone`](repl::CallError). Costs O(components of the entity).
    ///
    /// # Panics
    /// Panics if [`calls`](crate::ReplAppExt::calls) was not called for the type.
    pub fn of<T: Rpcs>(&mut self, entity: Entity) -> T::Caller<'_> {
        let is_known = self.known.as_ref().is_some_and(|known| known.0.contains(&TypeId::of::<T>()));
        let name = T::LAYOUT.name();
        assert!(is_known, "the calls of `{name}` are not known: say `app.calls::<{name}>()` on both sides");
        let root = self.entities.known(entity).root();
        match (self.entities.server(), &mut self.client) {
            (Some(server), _) => {
                let object = on_server::<T>(server, root);
                server.call(object)
            }
            (None, Some(client)) => {
                let object = on_client::<T>(client, root);
                client.call(object)
            }
            (None, None) => panic!("add a `ServerPlugin` or a `ClientPlugin` to the app first"),
        }
    }
}

fn on_server<T: Replicated>(server: &Server, root: ObjectRef<Root>) -> ObjectRef<T> {
    let mut parts = server.object_info(root).subobjects();
    parts.find_map(|part| server.object_info(part).cast()).unwrap_or(ObjectRef::NULL)
}

fn on_client<T: Replicated>(client: &Client, root: ObjectRef<Root>) -> ObjectRef<T> {
    let mut parts = client.object_info(root).subobjects();
    parts.find_map(|part| client.object_info(part).cast()).unwrap_or(ObjectRef::NULL)
}

/// Registers the calls of a class, and lets the app receive them.
pub(crate) fn add_calls<T: Rpcs>(app: &mut App) {
    if let Some(mut server) = app.world_mut().get_resource_mut::<ReplServer>() {
        server.register_calls::<T>();
        app.add_systems(PreUpdate, receive_on_server::<T>.in_set(ReplSystems::Read));
    } else {
        app.world_mut().resource_mut::<ReplClient>().register_calls::<T>();
        app.add_systems(PreUpdate, receive_on_client::<T>.in_set(ReplSystems::Read));
    }
    app.world_mut().get_resource_or_init::<KnownCalls>().0.insert(TypeId::of::<T>());
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
