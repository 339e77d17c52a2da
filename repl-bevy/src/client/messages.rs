//! Messages that a client receives from its server and sends to it.

use bevy_app::{App, PostUpdate, PreUpdate};
use bevy_ecs::prelude::*;
use repl::MessageOptions;
use repl::prelude::*;

use super::state::ReplClient;
use crate::not_sent::MessageNotSent;
use crate::sets::ReplSystems;

/// A message that has arrived from the server: read it by `MessageReader<FromServer<M>>`.
#[derive(Message, Clone, Debug)]
pub struct FromServer<M: Send + Sync + 'static>(pub M);

/// A message for the server: write it by `MessageWriter<ToServer<M>>`. The next tick of the client sends it.
#[derive(Message, Clone, Debug)]
pub struct ToServer<M: Send + Sync + 'static>(pub M);

pub(crate) fn add_message<M: NetSerialize + Send + Sync>(
    app: &mut App,
    channel: Channel,
    options: MessageOptions,
) {
    app.world_mut().resource_mut::<ReplClient>().register_message_with::<M>(channel, options);
    app.add_message::<FromServer<M>>()
        .add_message::<ToServer<M>>()
        .add_systems(PreUpdate, receive::<M>.in_set(ReplSystems::Read))
        .add_systems(PostUpdate, send::<M>.in_set(ReplSystems::Write));
}

fn receive<M: NetSerialize + Send + Sync>(
    mut client: ResMut<'_, ReplClient>,
    mut messages: MessageWriter<'_, FromServer<M>>,
) {
    deliver(&mut **client, &mut messages);
}

fn send<M: NetSerialize + Send + Sync>(
    mut client: ResMut<'_, ReplClient>,
    mut messages: MessageReader<'_, '_, ToServer<M>>,
    mut commands: Commands<'_, '_>,
) {
    messages.read().for_each(|message| take(Some(&mut **client), message, &mut commands));
}

pub(crate) fn deliver<M: NetSerialize + Send + Sync>(
    player: &mut impl LocalPlayer,
    messages: &mut MessageWriter<'_, FromServer<M>>,
) {
    while let Some(message) = player.poll_message::<M>() {
        messages.write(FromServer(message));
    }
}

/// Sends a message of the player of this process. Triggers [`MessageNotSent`] if this is not possible.
pub(crate) fn take<M: NetSerialize + Send + Sync>(
    player: Option<&mut impl LocalPlayer>,
    ToServer(message): &ToServer<M>,
    commands: &mut Commands<'_, '_>,
) {
    if let Err(error) = player.map_or(Err(SendError::NotConnected), |player| player.send(message)) {
        commands.trigger(MessageNotSent::new::<M>(error));
    }
}
