//! The library `lightyear`, over its channels within one process, without prediction and interpolation.

use std::net::SocketAddr;

use bevy_app::{App, PluginGroup};
use bevy_ecs::prelude::*;
use bevy_state::app::StatesPlugin;
use bytes::Bytes;
use crossbeam_channel::{Receiver, Sender, unbounded};
use lightyear::crossbeam::CrossbeamIo;
use lightyear::prelude::client::{ClientPlugins, Connect, Connected, RawClient};
use lightyear::prelude::server::{ClientOf, LinkOf, RawServer, ServerPlugins};
use lightyear::prelude::{
    AppComponentExt, LinkStart, Linked, NetworkTarget, PeerAddr, Replicate, ReplicationReceiver,
    ReplicationSender,
};

use crate::account::Account;
use crate::peer::{Peer, app, finished, tick};
use crate::workload::{Number, Position};

/// A server and clients with `lightyear`.
pub(crate) struct Lightyear {
    server: App,
    clients: Vec<App>,
    wires: Vec<Wire>,
}

/// The channels that carry packets between the server and a client.
struct Wire {
    from_server: Receiver<Bytes>,
    to_client: Sender<Bytes>,
    from_client: Receiver<Bytes>,
    to_server: Sender<Bytes>,
}

fn with(plugins: impl PluginGroup) -> App {
    let mut app = app();
    app.add_plugins((StatesPlugin, plugins));
    app.component::<Position>().replicate();
    app.component::<Number>().replicate();
    finished(app)
}

fn server() -> (App, Entity) {
    let mut app = with(ServerPlugins { tick_duration: tick() }.build());
    let server = app.world_mut().spawn(RawServer).id();
    // A server that uses channels has started as soon as it has the component `Linked`.
    app.world_mut().entity_mut(server).insert(Linked);
    app.update();
    (app, server)
}

/// Makes the server's side of a connection. Each connection has a different address, which identifies the
/// client.
fn connect(app: &mut App, server: Entity, number: u16, io: CrossbeamIo) {
    let address = PeerAddr(SocketAddr::from(([127, 0, 0, 1], number + 1)));
    let end = (LinkOf { endpoint: server }, address, ReplicationSender, io);
    let entity = app.world_mut().spawn(end).id();
    app.world_mut().trigger(LinkStart { entity });
}

fn client(io: CrossbeamIo) -> App {
    let mut app = with(ClientPlugins { tick_duration: tick() }.build());
    let entity = app.world_mut().spawn((RawClient, ReplicationReceiver, io)).id();
    app.world_mut().trigger(Connect { entity });
    app
}

impl Peer for Lightyear {
    fn new(clients: usize, account: &mut Account) -> Self {
        let (mut app, entity) = account.hold(server);
        let mut peer_clients = Vec::new();
        let mut wires = Vec::new();
        for number in 0..clients as u16 {
            let (sends, from_server) = unbounded();
            let (to_server, receives) = unbounded();
            account.hold(|| connect(&mut app, entity, number, CrossbeamIo::new(sends, receives)));
            let (sends, from_client) = unbounded();
            let (to_client, receives) = unbounded();
            peer_clients.push(client(CrossbeamIo::new(sends, receives)));
            wires.push(Wire { from_server, to_client, from_client, to_server });
        }
        Self { server: app, clients: peer_clients, wires }
    }

    fn server(&mut self) -> &mut App {
        &mut self.server
    }

    fn clients(&mut self) -> &mut [App] {
        &mut self.clients
    }

    fn connected(&mut self) -> usize {
        let world = self.server.world_mut();
        world.query_filtered::<(), (With<ClientOf>, With<Connected>)>().iter(world).count()
    }

    fn marker() -> impl Bundle {
        Replicate::to_clients(NetworkTarget::All)
    }

    // Packets are copied, so that each side frees its own memory.
    fn carry_to_clients(&mut self, account: &mut Account) -> usize {
        let mut bytes = 0;
        for wire in &self.wires {
            while let Ok(packet) = account.hold(|| wire.from_server.try_recv()) {
                bytes += packet.len();
                // If the client is gone, the final check reports it.
                wire.to_client.send(Bytes::copy_from_slice(&packet)).ok();
                account.hold(|| drop(packet));
            }
        }
        bytes
    }

    fn carry_to_server(&mut self, account: &mut Account) {
        for wire in &self.wires {
            while let Ok(packet) = wire.from_client.try_recv() {
                account.hold(|| wire.to_server.send(Bytes::copy_from_slice(&packet)).ok());
            }
        }
    }
}
