//! `repl-bevy`. The benchmark itself carries its packets.

use std::io;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bevy_app::App;
use bevy_ecs::prelude::*;
use repl::prelude::*;
use repl::{CongestionControl, Endpoint, EndpointConfig};
use repl_bevy::{
    ClientPlugin, ClientTransport, ConnectedClient, ReplAppExt, Replicate, ServerPlugin, ServerTransport,
};

use crate::account::Account;
use crate::peer::{HZ, PACKET_BYTES, Peer, app, finished};
use crate::workload::{Number, Position};

/// A server and clients with `repl-bevy`.
pub(crate) struct Repl {
    server: App,
    clients: Vec<App>,
    server_mail: Mail,
    client_mails: Vec<Mail>,
}

/// Packets of an app, each with the number of the client that sends or receives it.
#[derive(Clone, Default)]
struct Mail(Arc<Mutex<Packets>>);

#[derive(Default)]
struct Packets {
    arrived: Vec<(u32, Vec<u8>)>,
    sent: Vec<(u32, Vec<u8>)>,
}

impl Mail {
    fn open(&self) -> MutexGuard<'_, Packets> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct OfServer {
    mail: Mail,
    endpoint: Endpoint<u32>,
}

impl ServerTransport for OfServer {
    fn receive(&mut self, server: &mut Server, now: Duration) -> io::Result<()> {
        let arrived = mem::take(&mut self.mail.open().arrived);
        arrived.iter().for_each(|(from, bytes)| self.endpoint.receive(server, now, *from, bytes));
        Ok(())
    }

    fn transmit(&mut self, server: &mut Server, _: Duration) -> io::Result<()> {
        let mut mail = self.mail.open();
        while let Some((to, bytes)) = self.endpoint.poll_transmit(server) {
            mail.sent.push((to, bytes.to_vec()));
        }
        Ok(())
    }
}

struct OfClient {
    mail: Mail,
    number: u32,
}

impl ClientTransport for OfClient {
    fn receive(&mut self, client: &mut Client, now: Duration) -> io::Result<()> {
        let arrived = mem::take(&mut self.mail.open().arrived);
        // If a client cannot use a packet, the final check reports it.
        arrived.iter().for_each(|(_, bytes)| drop(client.receive(now, bytes)));
        Ok(())
    }

    fn transmit(&mut self, client: &mut Client, _: Duration) -> io::Result<()> {
        let mut mail = self.mail.open();
        while let Some(bytes) = client.poll_transmit() {
            mail.sent.push((self.number, bytes.to_vec()));
        }
        Ok(())
    }
}

fn with(mut app: App) -> App {
    app.replicate::<Position>().replicate::<Number>();
    finished(app)
}

fn server(mail: Mail) -> App {
    let transport = OfServer { mail, endpoint: Endpoint::new(EndpointConfig::default(), 0) };
    // The documentation advises this setting for links within one machine. The other libraries have no
    // congestion control either.
    let config = ServerConfig {
        mtu_bytes: PACKET_BYTES,
        congestion_control: CongestionControl::Off,
        ..ServerConfig::default()
    };
    let mut app = app();
    app.add_plugins(ServerPlugin::over(transport).hz(HZ).config(config));
    with(app)
}

fn client(number: u32, mail: Mail) -> App {
    let session = Session::for_tests(u64::from(number) + 1);
    let mut app = app();
    app.add_plugins(ClientPlugin::over(OfClient { mail, number }, session).hz(HZ));
    with(app)
}

impl Peer for Repl {
    fn new(clients: usize, account: &mut Account) -> Self {
        let server_mail = Mail::default();
        let client_mails: Vec<_> = (0..clients).map(|_| Mail::default()).collect();
        let clients = (0..).zip(&client_mails).map(|(number, mail)| client(number, mail.clone())).collect();
        Self { server: account.hold(|| server(server_mail.clone())), clients, server_mail, client_mails }
    }

    fn server(&mut self) -> &mut App {
        &mut self.server
    }

    fn clients(&mut self) -> &mut [App] {
        &mut self.clients
    }

    fn connected(&mut self) -> usize {
        let world = self.server.world_mut();
        world.query::<&ConnectedClient>().iter(world).count()
    }

    fn marker() -> impl Bundle {
        Replicate
    }

    fn carry_to_clients(&mut self, account: &mut Account) -> usize {
        let mut server = self.server_mail.open();
        let mut bytes = 0;
        for (to, packet) in &server.sent {
            bytes += packet.len();
            self.client_mails[*to as usize].open().arrived.push((*to, packet.clone()));
        }
        account.hold(|| server.sent.clear());
        bytes
    }

    fn carry_to_server(&mut self, account: &mut Account) {
        let mut server = self.server_mail.open();
        for mail in &self.client_mails {
            let sent = mem::take(&mut mail.open().sent);
            account.hold(|| server.arrived.extend(sent.iter().cloned()));
        }
    }
}
