//! The library `bevy_replicon`. The benchmark itself carries its messages, as its tests do. The library makes
//! no packets: a separate transport library would also resend lost messages, split long messages and add
//! headers.

use bevy_app::{App, PluginGroup};
use bevy_ecs::prelude::*;
use bevy_replicon::client::ClientPlugin;
use bevy_replicon::client::message::ClientMessagePlugin;
use bevy_replicon::prelude::*;
use bevy_replicon::server::AuthorizedClient;
use bevy_replicon::server::ServerPlugin;
use bevy_replicon::server::message::ServerMessagePlugin;
use bevy_state::app::StatesPlugin;
use bevy_state::prelude::NextState;
use bevy_time::{Fixed, Time};
use bytes::Bytes;

use crate::account::Account;
use crate::peer::{HZ, PACKET_BYTES, Peer, app, finished};
use crate::workload::{Number, Position};

/// A server and clients with `bevy_replicon`.
pub(crate) struct Replicon {
    server: App,
    clients: Vec<App>,
    /// The entities of the clients on the server.
    entities: Vec<Entity>,
}

fn with(plugins: impl PluginGroup) -> App {
    let mut app = app();
    app.insert_resource(Time::<Fixed>::from_hz(HZ));
    app.add_plugins((StatesPlugin, plugins)).replicate::<Position>().replicate::<Number>();
    finished(app)
}

fn server() -> App {
    let mut app = with(RepliconPlugins.build().disable::<ClientPlugin>().disable::<ClientMessagePlugin>());
    app.world_mut().resource_mut::<NextState<ServerState>>().set(ServerState::Running);
    app.update();
    app
}

fn client() -> App {
    let mut app = with(RepliconPlugins.build().disable::<ServerPlugin>().disable::<ServerMessagePlugin>());
    app.world_mut().resource_mut::<NextState<ClientState>>().set(ClientState::Connected);
    app
}

/// Copies a message, so that each side frees its own memory.
fn copied(message: &Bytes) -> Bytes {
    Bytes::copy_from_slice(message)
}

impl Peer for Replicon {
    fn new(clients: usize, account: &mut Account) -> Self {
        let mut server = account.hold(server);
        let mut connect = || server.world_mut().spawn(ConnectedClient { max_size: PACKET_BYTES }).id();
        let entities = (0..clients).map(|_| account.hold(&mut connect)).collect();
        Self { server, clients: (0..clients).map(|_| client()).collect(), entities }
    }

    fn server(&mut self) -> &mut App {
        &mut self.server
    }

    fn clients(&mut self) -> &mut [App] {
        &mut self.clients
    }

    fn connected(&mut self) -> usize {
        let world = self.server.world_mut();
        world.query::<&AuthorizedClient>().iter(world).count()
    }

    fn marker() -> impl Bundle {
        Replicated
    }

    fn carry_to_clients(&mut self, account: &mut Account) -> usize {
        let Self { server, clients, entities } = self;
        let mut sent = server.world_mut().resource_mut::<ServerMessages>();
        let mut bytes = 0;
        for (to, channel, message) in sent.iter_sent() {
            bytes += message.len();
            if let Some(client) = entities.iter().position(|&entity| entity == to) {
                let mut messages = clients[client].world_mut().resource_mut::<ClientMessages>();
                messages.insert_received(channel, copied(message));
            }
        }
        account.hold(|| drop(sent.drain_sent()));
        bytes
    }

    fn carry_to_server(&mut self, account: &mut Account) {
        let mut arrived = self.server.world_mut().resource_mut::<ServerMessages>();
        for (client, &entity) in self.clients.iter_mut().zip(&self.entities) {
            let mut sent = client.world_mut().resource_mut::<ClientMessages>();
            for (channel, message) in sent.drain_sent() {
                account.hold(|| arrived.insert_received(entity, channel, copied(&message)));
            }
        }
    }
}
