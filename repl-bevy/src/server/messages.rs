//! Messages that a server receives from its clients and sends to them.

use bevy_app::{App, FixedPostUpdate, PostUpdate, PreUpdate};
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::{MessageOptions, SendError};

use super::state::ReplServer;
use super::systems::is_paused;
use crate::not_sent::MessageNotSent;
use crate::outbox::Outbox;
use crate::sets::ReplSystems;

/// A message that has arrived from a client: read it by `MessageReader<FromClient<M>>`.
#[derive(Message, Clone, Debug)]
pub struct FromClient<M: Send + Sync + 'static> {
    /// The entity of the client.
    pub client: Entity,
    /// The message.
    pub message: M,
}

/// A message for clients: write it by `MessageWriter<ToClients<M>>`. The next tick sends it.
#[derive(Message, Clone, Debug)]
pub struct ToClients<M: Send + Sync + 'static> {
    /// The receivers.
    pub to: Recipients,
    /// The message.
    pub message: M,
}

/// The receivers of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipients {
    /// All clients that are connected.
    All,
    /// Only the client with this entity.
    Client(Entity),
    /// The clients in this group.
    Group(Group),
}

pub(crate) fn add_message<M: NetSerialize + Send + Sync>(
    app: &mut App,
    channel: Channel,
    options: MessageOptions,
) {
    app.world_mut().resource_mut::<ReplServer>().register_message_with::<M>(channel, options);
    app.add_message::<FromClient<M>>()
        .add_message::<ToClients<M>>()
        .init_resource::<Outbox<ToClients<M>>>()
        .add_systems(PreUpdate, receive::<M>.in_set(ReplSystems::Read))
        .add_systems(FixedPostUpdate, send::<M>.in_set(ReplSystems::Write))
        .add_systems(PostUpdate, send::<M>.run_if(is_paused).before(ReplSystems::Send));
}

fn receive<M: NetSerialize + Send + Sync>(
    mut server: ResMut<'_, ReplServer>,
    mut messages: MessageWriter<'_, FromClient<M>>,
) {
    while let Some((connection, message)) = server.poll_message::<M>() {
        if let Some(client) = server.client_of(connection) {
            messages.write(FromClient { client, message });
        }
    }
}

fn send<M: NetSerialize + Send + Sync>(
    mut server: ResMut<'_, ReplServer>,
    mut outbox: ResMut<'_, Outbox<ToClients<M>>>,
    messages: Res<'_, Messages<ToClients<M>>>,
    mut commands: Commands<'_, '_>,
) {
    for ToClients { to, message } in outbox.take(&messages) {
        let sent = match *to {
            Recipients::All => server.send_to_all(message).map(|_| ()),
            Recipients::Group(group) => server.send_to_group(group, message).map(|_| ()),
            Recipients::Client(client) => server
                .connection_of(client)
                .ok_or(SendError::NotConnected)
                .and_then(|connection| server.connection(connection).send(message)),
        };
        if let Err(error) = sent {
            commands.trigger(MessageNotSent::new::<M>(error));
        }
    }
}
