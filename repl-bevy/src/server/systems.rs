//! What happens in a frame and in a tick of a server.

use bevy_app::{App, FixedPostUpdate, PostUpdate, PreUpdate};
use bevy_ecs::prelude::*;
use bevy_time::{Real, Time};
use repl::prelude::*;

use super::audience::Audiences;
use super::clients::{ClientLeft, ConnectedClient};
use super::column::Column;
use super::host::{self, HostPlayer};
use super::parents;
use super::position::Positions;
use super::setting_kinds::SettingKinds;
use super::settings::settle;
use super::state::ReplServer;
use crate::sets::ReplSystems;

/// What is handed over before a tick.
#[derive(Resource, Default)]
pub(super) struct Columns {
    pub(super) columns: Vec<Box<dyn Column>>,
    pub(super) audiences: Vec<Box<dyn Audiences>>,
    pub(super) positions: Option<Box<dyn Positions>>,
}

pub(super) fn add_systems(app: &mut App) {
    app.add_systems(PreUpdate, receive.in_set(ReplSystems::Receive))
        .add_systems(FixedPostUpdate, (hand_over, tick).chain().in_set(ReplSystems::Send))
        .add_systems(PostUpdate, (hand_over, tick).chain().run_if(is_overdue));
}

fn receive(world: &mut World) -> Result {
    let now = world.resource::<Time<Real>>().elapsed();
    let mut server = world.resource_mut::<ReplServer>();
    server.begin_hosting();
    server.receive(now)?;
    // Observers may use the server, so it stays in the world.
    while let Some(event) = world.resource_mut::<ReplServer>().poll_event() {
        match event {
            ServerEvent::Connected(connection) => {
                let client = world.spawn_empty().id();
                let mut server = world.resource_mut::<ReplServer>();
                server.clients.add(connection, client);
                let is_host = server.connection_info(connection).is_host();
                let mut client = world.entity_mut(client);
                if is_host {
                    client.insert((ConnectedClient { connection }, HostPlayer));
                } else {
                    client.insert(ConnectedClient { connection });
                }
            }
            ServerEvent::Disconnected(connection, reason) => {
                if let Some(entity) = world.resource_mut::<ReplServer>().clients.remove(connection) {
                    world.trigger(ClientLeft { entity, reason });
                    world.try_despawn(entity).ok();
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn hand_over(world: &mut World) {
    let unsettled = world.resource_mut::<ReplServer>().take_unsettled();
    for &entity in &unsettled {
        parents::note(world, entity);
        host::mark(world, entity);
    }
    world.resource_scope(|world, mut columns: Mut<'_, Columns>| {
        world.resource_scope(|world, mut server: Mut<'_, ReplServer>| {
            let new = server.take_new();
            columns.columns.iter_mut().for_each(|column| column.remove(&mut server, world));
            if let Some(positions) = &mut columns.positions {
                positions.hand_over(&mut server, world, &new);
            }
            columns.columns.iter_mut().for_each(|column| column.hand_over(&mut server, world, &new));
            columns.audiences.iter_mut().for_each(|audiences| audiences.hand_over(&mut server, world));
            let kinds = world.resource::<SettingKinds>();
            for entity in unsettled {
                if let Ok(entity) = world.get_entity(entity) {
                    settle(kinds, &mut server, entity);
                }
            }
        });
    });
}

/// While the game is paused, `FixedUpdate` stands still, and clients must hear of the server all the same.
fn is_overdue(time: Res<'_, Time<Real>>, server: Res<'_, ReplServer>) -> bool {
    server.is_overdue(time.elapsed())
}

fn tick(time: Res<'_, Time<Real>>, mut server: ResMut<'_, ReplServer>) -> Result {
    Ok(server.tick(time.elapsed())?)
}
