//! The host: a player in the process of the server (a listen server), who plays on the server's own entities,
//! without packets.

use bevy_app::{App, FixedUpdate, PostUpdate, PreUpdate};
use bevy_ecs::prelude::*;
use repl::prelude::*;

use crate::client::messages::{FromServer, ToServer, deliver, take};
use crate::outbox::Outbox;
use crate::server::state::ReplServer;
use crate::server::systems::is_paused;
use crate::sets::ReplSystems;

/// Lets the host send and receive messages of a type in the same way as a client.
pub(crate) fn add_message<M: NetSerialize + Send + Sync>(app: &mut App) {
    app.add_message::<FromServer<M>>()
        .add_message::<ToServer<M>>()
        .init_resource::<Outbox<ToServer<M>>>()
        .add_systems(PreUpdate, receive::<M>.in_set(ReplSystems::Read))
        .add_systems(FixedUpdate, send::<M>.before(ReplSystems::Simulate))
        .add_systems(PostUpdate, send::<M>.run_if(is_paused).before(ReplSystems::Send));
}

fn receive<M: NetSerialize + Send + Sync>(
    mut server: ResMut<'_, ReplServer>,
    mut messages: MessageWriter<'_, FromServer<M>>,
) {
    if let Some(mut host) = server.host() {
        deliver(&mut host, &mut messages);
    }
}

fn send<M: NetSerialize + Send + Sync>(
    mut server: ResMut<'_, ReplServer>,
    mut outbox: ResMut<'_, Outbox<ToServer<M>>>,
    messages: Res<'_, Messages<ToServer<M>>>,
    mut commands: Commands<'_, '_>,
) {
    outbox.take(&messages).for_each(|message| take(server.host().as_mut(), message, &mut commands));
}
