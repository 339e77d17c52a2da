//! A server, its clients, and the simulated network between them, at 30 ticks a second.
//!
//! *Invariant:* a client learns everything from the packets that are counted here.

use std::time::Duration;

use boxcars::Frame;
use repl::prelude::*;
use repl::sim::{Clock, LinkConditions, Network, PeerId};

use crate::args::Args;
use crate::recording::{Change, Recording};
use crate::stage::{self, Class, Stage};
use crate::truth::Truth;

const FRAMES_PER_SECOND: u32 = 30;

/// How long clients may take to connect. Also how long they may take to converge.
const PATIENCE: Duration = Duration::from_secs(60);

const SERVER: PeerId = PeerId(0);

pub(crate) struct Session {
    pub(crate) server: Server,
    pub(crate) stage: Stage,
    watchers: Vec<Watcher>,
    network: Network,
    clock: Clock,
}

/// A client, and the server's id for its connection.
struct Watcher {
    client: Client,
    connection: ConnectionId,
    peer: PeerId,
    bytes: u64,
    packets: u64,
}

impl Session {
    /// Returns a server with all its clients connected.
    ///
    /// # Errors
    /// Returns an error if a client cannot connect in time.
    pub(crate) fn connected(args: &Args) -> Result<Self, String> {
        let mut clock = Clock::at_hz(FRAMES_PER_SECOND);
        let now = clock.tick();
        let mut network = Network::new(args.seed);
        let latency = Duration::from_millis(args.latency_ms);
        let conditions = LinkConditions { latency, ..LinkConditions::perfect() }.with_loss(args.loss);
        let mut server = Server::new(ServerConfig::default());
        stage::register(&mut server);
        let watchers = (1..=args.clients).map(PeerId).map(|peer| {
            network.connect(SERVER, peer, conditions);
            let config = ClientConfig { measure: true, ..ClientConfig::default() };
            let mut client = Client::new(config, repl::Session::for_tests(peer.0.into()));
            stage::register(&mut client);
            Watcher { client, connection: server.connect(now), peer, bytes: 0, packets: 0 }
        });
        let watchers = watchers.collect();
        let mut session = Self { server, stage: Stage::default(), watchers, network, clock };
        let deadline = now + PATIENCE;
        while !session.watchers.iter().all(|watcher| watcher.client.is_connected()) {
            if session.tick() > deadline {
                return Err(format!("the clients could not connect within {} s", PATIENCE.as_secs()));
            }
        }
        Ok(session)
    }

    /// Plays a frame on the server. Then the server and all clients send and receive. Returns for each change
    /// whether the example's classes can hold it.
    pub(crate) fn play(&mut self, recording: &Recording, frame: &Frame, changes: &[Change<'_>]) -> Vec<bool> {
        let is_played = self.stage.play(&mut self.server, recording, frame, changes);
        self.tick();
        is_played
    }

    /// Runs until every client has exactly the recorded state, except for values that the example's classes
    /// cannot hold. Returns false if this takes longer than [`PATIENCE`].
    pub(crate) fn converge(&mut self, recording: &Recording, truth: &Truth<'_>) -> bool {
        let deadline = self.clock.now() + PATIENCE;
        while self.difference(recording, truth).is_some() {
            if self.tick() > deadline {
                return false;
            }
        }
        true
    }

    /// Returns how a client's state differs from the recorded state. Returns `None` if every client has
    /// exactly the recorded state.
    pub(crate) fn difference(&self, recording: &Recording, truth: &Truth<'_>) -> Option<String> {
        self.watchers.iter().find_map(|watcher| truth.difference(&watcher.client, &self.stage, recording))
    }

    /// Returns the bytes and packets that the server sent to one client: the one that received the most
    /// bytes.
    pub(crate) fn sent(&self) -> (u64, u64) {
        self.watchers.iter().map(|watcher| (watcher.bytes, watcher.packets)).max().unwrap_or_default()
    }

    /// Returns the bits of a class, in openings and updates, in all packets that the first client applied.
    pub(crate) fn class_bits(&self, class: Class) -> u64 {
        let traffic =
            self.watchers.first().map_or(&[][..], |watcher| watcher.client.connection_info().traffic());
        let of_class = traffic.iter().find(|traffic| traffic.class == class.name());
        of_class.map_or(0, |traffic| {
            traffic.head_bits + traffic.properties.iter().map(|property| property.bits).sum::<u64>()
        })
    }

    /// Returns how many packets were lost, in both directions together.
    pub(crate) fn lost(&self) -> u64 {
        self.network.total().lost
    }

    /// Runs one tick of the server and all clients. Returns the time of the tick.
    fn tick(&mut self) -> Duration {
        let now = self.clock.tick();
        self.deliver(now);
        self.server.tick(now);
        for watcher in &mut self.watchers {
            while let Some(packet) = self.server.poll_transmit(watcher.connection) {
                watcher.bytes += packet.len() as u64;
                watcher.packets += 1;
                self.network.send(now, SERVER, watcher.peer, packet);
            }
        }
        self.deliver(now);
        for watcher in &mut self.watchers {
            watcher.client.tick(now);
            while let Some(packet) = watcher.client.poll_transmit() {
                self.network.send(now, watcher.peer, SERVER, packet);
            }
        }
        self.deliver(now);
        now
    }

    /// Delivers the packets that have arrived.
    fn deliver(&mut self, now: Duration) {
        while let Some(delivery) = self.network.deliver(now) {
            let peer = if delivery.to == SERVER { delivery.from } else { delivery.to };
            let Some(watcher) = self.watchers.iter_mut().find(|watcher| watcher.peer == peer) else {
                continue;
            };
            if delivery.to == SERVER {
                self.server.receive(watcher.connection, now, delivery.bytes);
            } else {
                // An error is ignored here: either the packet was damaged on the way, or `difference` reports
                // the consequences.
                watcher.client.receive(now, delivery.bytes).ok();
            }
        }
    }
}
