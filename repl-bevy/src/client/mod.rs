//! The client's side: objects of the server become entities with the component [`Remote`](remote::Remote).

mod arrival;
mod column;
pub(crate) mod entities;
pub(crate) mod messages;
mod newcomers;
mod news;
pub(crate) mod out_of_sight;
mod parents;
pub(crate) mod remote;
mod scene;
pub(crate) mod state;
mod waiting;

use bevy_app::{App, AppExit, Last, PostUpdate, PreUpdate};
use bevy_ecs::component::Mutable;
use bevy_ecs::error::{ResultSeverityExt, Severity};
use bevy_ecs::prelude::*;
use bevy_ecs::world::CommandQueue;
use bevy_time::{Real, Time};
use repl::prelude::*;

use crate::form::{Form, Itself};
use crate::net_entity::Root;
use crate::net_key::NetKey;
use crate::net_parent::NetParent;
use crate::sets::{self, ReplSystems};
use column::TypedColumn;
use entities::Entities;
use state::ReplClient;

/// The session of this client has begun: the server has accepted the client.
#[derive(Event, Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinedServer;

/// The session of this client has ended. By default the client connects again. Then all entities of the
/// server arrive again.
#[derive(Event, Clone, Debug, PartialEq, Eq)]
pub struct LeftServer {
    /// The reason.
    pub reason: DisconnectReason,
}

/// Makes an app a client.
pub(crate) fn build(app: &mut App, client: ReplClient) {
    app.insert_resource(client).init_resource::<Entities>();
    app.world_mut().resource_mut::<ReplClient>().register::<Root>();
    replicate::<NetParent, Itself>(app);
    replicate::<NetKey, Itself>(app);
    parents::follow(app);
    waiting::note(app);
    sets::order(app, PostUpdate);
    app.add_systems(PreUpdate, receive.in_set(ReplSystems::Receive))
        .add_systems(PostUpdate, tick.in_set(ReplSystems::Send))
        .add_systems(Last, leave.run_if(on_message::<AppExit>));
}

pub(crate) fn replicate<T: Component<Mutability = Mutable> + Default, F: Form<T>>(app: &mut App) {
    let world = app.world_mut();
    world.resource_mut::<ReplClient>().register::<F::Wire>();
    let column = Box::new(TypedColumn::<T, F>::default());
    world.resource_mut::<Entities>().add_column(F::Wire::LAYOUT.name(), column);
}

fn receive(world: &mut World) -> Result {
    let now = world.resource::<Time<Real>>().elapsed();
    world.resource_mut::<ReplClient>().receive(now).with_severity(Severity::Error)?;
    let mut queue = CommandQueue::default();
    let mut client = world.resource_mut::<ReplClient>();
    let events: Vec<_> = std::iter::from_fn(|| client.poll_event()).collect();
    let is_new_session = events.contains(&ClientEvent::Connected);
    world.resource_scope(|world, mut client: Mut<'_, ReplClient>| {
        world.resource_scope(|world, mut entities: Mut<'_, Entities>| {
            entities.follow(&mut client, is_new_session, world, &mut queue);
        });
    });
    // The client is a resource of the world again here, because the observers of these events may use it.
    for event in events {
        match event {
            ClientEvent::Connected => world.trigger(JoinedServer),
            ClientEvent::Disconnected(reason) => world.trigger(LeftServer { reason }),
            _ => {}
        }
    }
    queue.apply(world);
    Ok(())
}

fn tick(time: Res<'_, Time<Real>>, mut client: ResMut<'_, ReplClient>) -> Result {
    client.tick(time.elapsed()).with_severity(Severity::Error)
}

/// Tells the server that this client disconnects, because the app ends.
fn leave(time: Res<'_, Time<Real>>, mut client: ResMut<'_, ReplClient>) -> Result {
    client.disconnect();
    client.tick_now(time.elapsed()).with_severity(Severity::Error)
}
