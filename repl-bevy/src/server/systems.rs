//! The systems of a server, in each frame and in each tick.

use bevy_app::{App, AppExit, FixedPostUpdate, Last, PostUpdate, PreUpdate};
use bevy_ecs::entity::EntityHashSet;
use bevy_ecs::error::{ResultSeverityExt, Severity};
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Real, Time, Virtual};
use repl::prelude::*;
use std::time::Duration;

use super::audience::Audiences;
use super::clients::{ClientLeft, ConnectedClient};
use super::column::Column;
use super::decisions::Decisions;
use super::host::{self, HostPlayer};
use super::login::LoginAsked;
use super::parents;
use super::position::Positions;
use super::setting_kinds::SettingKinds;
use super::settings::{detach, leave_with_owner, settle};
use super::state::ReplServer;
use crate::sets::ReplSystems;

/// If the last tick was longer ago than this, the server ticks before it receives packets.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// Everything that is passed to the server before a tick: components, audiences and positions, and the
/// components by which a function decides.
#[derive(Resource, Default)]
pub(super) struct Columns {
    pub(super) columns: Vec<Box<dyn Column>>,
    pub(super) audiences: Vec<Box<dyn Audiences>>,
    pub(super) positions: Option<Box<dyn Positions>>,
    pub(super) decisions: Option<Box<dyn Decisions>>,
}

pub(super) fn add_systems(app: &mut App) {
    app.add_systems(PreUpdate, receive.in_set(ReplSystems::Receive))
        .add_systems(FixedPostUpdate, send.in_set(ReplSystems::Send))
        .add_systems(PostUpdate, send.run_if(is_paused).in_set(ReplSystems::Send))
        .add_systems(Last, leave.run_if(on_message::<AppExit>));
}

/// Receives packets, and spawns and despawns the entities of clients. An error of the network is logged and
/// does not panic.
fn receive(world: &mut World) -> Result {
    let now = world.resource::<Time<Real>>().elapsed();
    let mut server = world.resource_mut::<ReplServer>();
    server.begin_hosting();
    if server.has_rested(now, LONGEST_REST) {
        // The process did not run for this time. Without this tick, the library would report that the game
        // has forgotten to call `tick`.
        server.begin_work();
        server.tick(now).with_severity(Severity::Error)?;
    }
    server.receive(now).with_severity(Severity::Error)?;
    let mut refused = Vec::new();
    // The server remains a resource of the world here, because observers may use it.
    while let Some(event) = world.resource_mut::<ReplServer>().poll_event() {
        match event {
            ServerEvent::Login(connection, login) => {
                let entity = client(world, connection);
                world.trigger(LoginAsked { entity, connection, login });
            }
            ServerEvent::Connected(connection) => connected(world, connection),
            ServerEvent::Disconnected(connection, reason) => disconnected(world, connection, reason),
            ServerEvent::ValueRefused { class, path, error, .. } => {
                refused.push(format!("`{path}` of a `{class}` is not sent: {error}"));
            }
            _ => {}
        }
    }
    if refused.is_empty() { Ok(()) } else { Err(BevyError::warning(refused.join("\n"))) }
}

/// Inserts `ConnectedClient` into the entity of a client that has connected.
fn connected(world: &mut World, connection: ConnectionId) {
    let entity = client(world, connection);
    let mut client = world.entity_mut(entity);
    client.insert(ConnectedClient { connection });
    if world.resource::<ReplServer>().connection_info(connection).is_host() {
        world.entity_mut(entity).insert(HostPlayer);
    }
}

/// Returns the entity of a client. Spawns one if there is none, or if the game has despawned it.
fn client(world: &mut World, connection: ConnectionId) -> Entity {
    let known = world.resource_mut::<ReplServer>().clients.remove(connection);
    let known = known.filter(|&entity| world.get_entity(entity).is_ok());
    let entity = known.unwrap_or_else(|| world.spawn_empty().id());
    world.resource_mut::<ReplServer>().clients.add(connection, entity);
    entity
}

/// Despawns the entity of a client that has left or was refused.
fn disconnected(world: &mut World, connection: ConnectionId, reason: DisconnectReason) {
    let Some(entity) = world.resource_mut::<ReplServer>().clients.remove(connection) else { return };
    if world.get::<ConnectedClient>(entity).is_some() {
        world.trigger(ClientLeft { entity, reason });
    }
    leave_with_owner(world, entity);
    world.try_despawn(entity).ok();
}

/// Passes the changes of the world to the server, and ticks.
fn send(world: &mut World) -> Result {
    world.resource_mut::<ReplServer>().begin_work();
    let unsettled = note(world);
    world.resource_scope(|world, mut columns: Mut<'_, Columns>| {
        world.resource_scope(|world, mut server: Mut<'_, ReplServer>| {
            columns.hand_over(&mut server, world);
            settle_all(&mut server, world, &unsettled);
            server.tear_off(world);
        });
    });
    // This comes after the components have objects, so that an observer of `Owned` can call functions of
    // them.
    unsettled.iter().for_each(|&entity| host::mark(world, entity));
    let now = world.resource::<Time<Real>>().elapsed();
    let mut server = world.resource_mut::<ReplServer>();
    server.tick(now).with_severity(Severity::Error)?;
    server.tell_refused()
}

/// Records the parents of all entities with changed settings, and returns these entities. It repeats this,
/// because observers may change the settings of more entities in the meantime.
fn note(world: &mut World) -> EntityHashSet {
    let mut all = EntityHashSet::default();
    world.resource_mut::<ReplServer>().unsettle_circles();
    loop {
        let unsettled = world.resource_mut::<ReplServer>().take_unsettled();
        if unsettled.is_empty() {
            return all;
        }
        for entity in unsettled {
            parents::note(world, entity);
            all.insert(entity);
        }
    }
}

fn settle_all(server: &mut ReplServer, world: &World, unsettled: &EntityHashSet) {
    let kinds = world.resource::<SettingKinds>();
    let entities = || unsettled.iter().filter_map(|&entity| world.get_entity(entity).ok());
    // Detach all entities first: if a parent and its child have swapped roles, they would otherwise be
    // attached to each other.
    entities().for_each(|entity| detach(server, entity));
    entities().for_each(|entity| settle(kinds, server, entity));
}

impl Columns {
    fn hand_over(&mut self, server: &mut ReplServer, world: &mut World) {
        let new = server.take_new();
        self.columns.iter_mut().for_each(|column| column.remove(server, world));
        if let Some(positions) = &mut self.positions {
            positions.hand_over(server, world, &new);
            positions.look(server, world);
        }
        if let Some(decisions) = &mut self.decisions {
            decisions.hand_over(server, world, &new);
        }
        self.columns.iter_mut().for_each(|column| column.hand_over(server, world, &new));
        self.audiences.iter_mut().for_each(|audiences| audiences.hand_over(server, world));
    }
}

/// Tells all clients that the server leaves, because the app ends.
fn leave(time: Res<'_, Time<Real>>, mut server: ResMut<'_, ReplServer>) -> Result {
    let connections: Vec<_> = server.connections().collect();
    connections.into_iter().for_each(|connection| server.connection(connection).disconnect());
    server.tick(time.elapsed()).with_severity(Severity::Error)
}

/// Returns whether the game is paused. `FixedUpdate` does not run then, but clients must still receive
/// packets.
pub(crate) fn is_paused(
    time: Res<'_, Time<Real>>,
    game: Res<'_, Time<Virtual>>,
    fixed: Res<'_, Time<Fixed>>,
    server: Res<'_, ReplServer>,
) -> bool {
    game.is_paused() && server.has_rested(time.elapsed(), fixed.timestep())
}
