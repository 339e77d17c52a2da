//! A server, its clients, and the simulated network between them.
//!
//! *Invariant:* a client learns everything over the network, and every packet to it was searched for secrets.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{Clock, LinkConditions, LinkId, Network, PeerId};

use crate::args::Args;
use crate::game::{Arena, TICKS_PER_SECOND};
use crate::model;
use crate::secrets::Drawn;
use crate::sight::Sight;
use crate::view::View;

const SERVER: PeerId = PeerId(0);

/// How long clients may take to converge after the match.
const PATIENCE: Duration = Duration::from_secs(60);

/// The whole run.
pub(crate) struct Session {
    pub(crate) server: Server,
    pub(crate) arena: Arena,
    pub(crate) sight: Sight,
    pub(crate) watchers: Vec<Watcher>,
    pub(crate) network: Network,
    pub(crate) clock: Clock,
    conditions: LinkConditions,
    /// How many secrets were found in packets that may not hold them.
    pub(crate) leaks: u64,
    /// How many secrets were found in packets that may hold them.
    pub(crate) rightly_sent: u64,
    found: Vec<Drawn>,
}

/// A client, and the server's end of its connection.
pub(crate) struct Watcher {
    pub(crate) client: Client,
    pub(crate) connection: ConnectionId,
    pub(crate) down: LinkId,
    pub(crate) spawned: u64,
    pub(crate) despawned: u64,
    /// Why the connection ended, if it did.
    pub(crate) ended: Option<String>,
    peer: PeerId,
}

impl Session {
    /// A server with an arena, and no client yet.
    pub(crate) fn new(args: &Args) -> Self {
        let mut server = Server::new(ServerConfig::default());
        let players = args.clients.next_multiple_of(2).max(8);
        let (latency, jitter) =
            (Duration::from_millis(args.latency_ms), Duration::from_millis(args.jitter_ms));
        let conditions = LinkConditions { latency, jitter, ..LinkConditions::perfect() };
        Self {
            arena: Arena::new(&mut server, players, args.ticks, args.seed),
            server,
            sight: Sight::default(),
            watchers: Vec::new(),
            network: Network::new(args.seed),
            clock: Clock::at_hz(TICKS_PER_SECOND),
            conditions: conditions.with_loss(args.loss),
            leaks: 0,
            rightly_sent: 0,
            found: Vec::new(),
        }
    }

    /// Adds a client, which says hello in the next tick.
    pub(crate) fn connect(&mut self) {
        let number = self.watchers.len() as u32 + 1;
        let peer = PeerId(number);
        let (down, _) = self.network.connect(SERVER, peer, self.conditions);
        let config = ClientConfig { measure: true, ..ClientConfig::default() };
        let mut client = Client::new(config, number.into());
        model::register_at_client(&mut client);
        let connection = self.server.connect(self.clock.now());
        self.watchers.push(Watcher { client, connection, down, spawned: 0, despawned: 0, ended: None, peer });
    }

    /// One tick of the match, the server and all clients.
    pub(crate) fn play(&mut self) {
        self.arena.play(&mut self.server);
        self.tick();
    }

    /// One tick of the server and all clients.
    fn tick(&mut self) {
        let now = self.clock.tick();
        self.deliver(now);
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Connected(connection) => {
                    self.sight.join(&mut self.server, &self.arena, connection)
                }
                ServerEvent::Disconnected(connection, _) => self.sight.leave(&mut self.server, connection),
                other => eprintln!("arena: {other:?}"),
            }
        }
        self.sight.look(&mut self.server, &self.arena);
        self.server.tick(now);
        for at in 0..self.watchers.len() {
            self.send_to(at, now);
        }
        for watcher in &mut self.watchers {
            watcher.tick(&mut self.network, now);
        }
    }

    /// Sends a client its packets, and searches them for secrets that it may not see.
    fn send_to(&mut self, at: usize, now: Duration) {
        let Watcher { client, connection, peer, .. } = &self.watchers[at];
        while let Some(packet) = self.server.poll_transmit(*connection) {
            self.arena.secrets.find(packet, &mut self.found);
            self.network.send(now, SERVER, *peer, packet);
        }
        for secret in self.found.drain(..) {
            let may_see = self.sight.may_see(&self.server, *connection, &secret);
            *if may_see { &mut self.rightly_sent } else { &mut self.leaks } += 1;
        }
        if self.server.stats(*connection).is_some_and(|stats| stats.packets_in_flight == 0) {
            self.sight.settled(*connection, client, &self.arena);
        }
    }

    /// Delivers the packets that have arrived.
    fn deliver(&mut self, now: Duration) {
        while let Some(delivery) = self.network.deliver(now) {
            let is_up = delivery.to == SERVER;
            let peer = if is_up { delivery.from } else { delivery.to };
            let Some(watcher) = self.watchers.iter_mut().find(|watcher| watcher.peer == peer) else {
                continue;
            };
            if is_up {
                self.server.receive(watcher.connection, now, delivery.bytes);
            } else if let Err(error) = watcher.client.receive(now, delivery.bytes) {
                watcher.ended.get_or_insert(error.to_string());
            }
        }
    }

    /// Runs until every client has exactly the state that it may see. Returns false if that takes too long.
    pub(crate) fn converge(&mut self) -> bool {
        self.run_until(|session| session.watchers.iter().all(|watcher| session.difference(watcher).is_none()))
    }

    /// Runs until nothing is outstanding. Returns false if that takes too long.
    pub(crate) fn fall_silent(&mut self) -> bool {
        self.run_until(|session| {
            let connections = session.watchers.iter().map(|watcher| watcher.connection);
            let stats = connections.filter_map(|connection| session.server.stats(connection));
            stats.map(|stats| stats.packets_in_flight).sum::<usize>() == 0
        })
    }

    fn run_until(&mut self, is_reached: impl Fn(&Self) -> bool) -> bool {
        let deadline = self.clock.now() + PATIENCE;
        while self.clock.now() < deadline {
            if is_reached(self) {
                return true;
            }
            self.tick();
        }
        false
    }

    /// After everything has arrived, replaces the initial-only secrets by new ones and writes to their
    /// objects. No client may see the new secrets, because all clients already have the objects.
    pub(crate) fn encore(&mut self) {
        self.arena.tick += 1;
        self.arena.draw_omens(&mut self.server);
        for (_, player) in self.server.objects_mut::<model::Player>() {
            player.health = player.health.saturating_sub(1);
        }
        for (_, turret) in self.server.objects_mut::<model::Turret>() {
            turret.heading = (turret.heading + 90.0) % 360.0;
        }
    }

    /// Returns the first difference between the state of a client and the state that it must have, or `None`
    /// if there is no difference.
    pub(crate) fn difference(&self, watcher: &Watcher) -> Option<String> {
        if let Some(ended) = &watcher.ended {
            return Some(ended.clone());
        }
        if !watcher.client.is_connected() {
            return Some("not connected".to_owned());
        }
        let Watcher { client, connection, .. } = watcher;
        View { server: &self.server, arena: &self.arena, sight: &self.sight, client, connection: *connection }
            .first_difference()
    }

    /// Returns the number of objects of the server.
    pub(crate) fn objects(&self) -> usize {
        let Arena { teams, players, turrets, pickups, shots, .. } = &self.arena;
        1 + teams.len() + players.len() + turrets.len() + pickups.len() + shots.len()
    }

    /// Returns the bytes and packets made for all clients.
    pub(crate) fn sent(&self) -> (u64, u64) {
        let stats = self.watchers.iter().filter_map(|watcher| self.server.stats(watcher.connection));
        stats.fold((0, 0), |(bytes, packets), stats| (bytes + stats.bytes_sent, packets + stats.packets_sent))
    }
}

impl Watcher {
    /// The client's own tick: it handles its events and sends its packets.
    fn tick(&mut self, network: &mut Network, now: Duration) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Spawned(_) => self.spawned += 1,
                ClientEvent::Despawned(..) => self.despawned += 1,
                ClientEvent::Disconnected(reason) => drop(self.ended.get_or_insert(reason.to_string())),
                _ => {}
            }
        }
        self.client.tick(now);
        while let Some(packet) = self.client.poll_transmit() {
            network.send(now, self.peer, SERVER, packet);
        }
    }
}
