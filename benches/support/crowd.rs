//! A server with connected clients, which receive every packet at once.
//!
//! *Invariant:* when [`Crowd::settle`] returns, the clients have received and acknowledged everything.

use std::time::Duration;

use repl::prelude::*;

/// The time between two ticks.
const TICK: Duration = Duration::from_millis(33);

/// A server and its clients.
pub(crate) struct Crowd {
    pub(crate) server: Server,
    pub(crate) clients: Vec<(ConnectionId, Client)>,
    pub(crate) now: Duration,
    config: ClientConfig,
    register: fn(&mut Client),
}

impl Crowd {
    /// Returns a server without clients. `register` is called with each new client, to register the classes.
    pub(crate) fn new(server: Server, config: ClientConfig, register: fn(&mut Client)) -> Self {
        Self { server, clients: Vec::new(), now: TICK, config, register }
    }

    /// Connects a client. The handshake needs a few [exchanges](Self::exchange).
    pub(crate) fn connect(&mut self) -> ConnectionId {
        let connection = self.server.connect(self.now);
        let mut client = Client::new(self.config.clone(), Session::for_tests(connection.index() as u64 + 1));
        (self.register)(&mut client);
        self.clients.push((connection, client));
        connection
    }

    /// Ticks the server without sending its packets.
    pub(crate) fn tick(&mut self) {
        self.now += TICK;
        self.server.tick(self.now);
    }

    /// Runs a tick of the server and all clients. Returns whether the server sent anything.
    pub(crate) fn exchange(&mut self) -> bool {
        self.tick();
        let mut has_sent = false;
        for (connection, client) in &mut self.clients {
            while let Some(packet) = self.server.poll_transmit(*connection) {
                has_sent = true;
                client.receive(self.now, packet).expect("what the server sends can be read");
            }
            client.tick(self.now);
            while let Some(packet) = client.poll_transmit() {
                self.server.receive(*connection, self.now, packet);
            }
        }
        has_sent
    }

    /// Runs ticks until the server has sent nothing for a while.
    pub(crate) fn settle(&mut self) {
        let mut silent = 0;
        while silent < 40 {
            silent = if self.exchange() { 0 } else { silent + 1 };
        }
    }
}
