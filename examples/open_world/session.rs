//! A server with its world, the clients, and the simulated network between them.
//!
//! *Invariant:* a client learns everything over the network, and every packet to a client is searched for
//! canaries.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{Clock, LinkConditions, Network};

use crate::args::Args;
use crate::canary::{self, Canary};
use crate::cpu_clock::CpuClock;
use crate::guest::{Guest, SERVER};
use crate::model;
use crate::sight::{Verdict, distance, verdict};
use crate::watch::Watch;
use crate::world::{SECRET, TICKS_PER_SECOND, World};

/// How long clients may take to converge after everything has come to rest.
const PATIENCE: u32 = 20 * TICKS_PER_SECOND;

/// How many slots there are in addition to the objects of the world: a removed object occupies its slot until
/// clients acknowledge the removal.
const SPARE_SLOTS: usize = 20_000;

pub(crate) struct Session {
    pub(crate) server: Server,
    pub(crate) world: World,
    pub(crate) guests: Vec<Guest>,
    pub(crate) network: Network,
    pub(crate) watch: Watch,
    pub(crate) cpu_clock: CpuClock,
    clock: Clock,
    args: Args,
    /// The packets that have arrived at the server, each with the number of its client.
    arrived: Vec<(usize, Vec<u8>)>,
}

impl Session {
    /// Returns a server with a world, and no client yet.
    pub(crate) fn new(args: &Args) -> Self {
        let mut server = Server::new(ServerConfig {
            max_objects: args.objects as usize + SPARE_SLOTS,
            max_bytes_per_second: args.budget as usize,
            ..ServerConfig::default()
        });
        model::register(&mut server);
        model::set_areas(&mut server);
        Self {
            world: World::new(&mut server, args.objects, args.connections, args.seed),
            server,
            guests: Vec::new(),
            network: Network::new(args.seed),
            watch: Watch::default(),
            cpu_clock: CpuClock::new(),
            clock: Clock::at_hz(TICKS_PER_SECOND),
            args: args.clone(),
            arrived: Vec::new(),
        }
    }

    /// Adds the clients that join in this tick. They say hello in this tick.
    fn connect(&mut self) {
        let (first, latency) = (self.guests.len(), Duration::from_millis(self.args.latency_ms));
        let perfect = LinkConditions::perfect();
        let conditions = LinkConditions { latency, jitter: latency / 2, ..perfect }.with_loss(self.args.loss);
        for number in (first..self.args.connections as usize).take(self.args.joins_per_tick as usize) {
            let connection = self.server.connect(self.clock.now());
            let max_objects = self.args.objects as usize + SPARE_SLOTS;
            let guest = Guest::new(number, connection, max_objects, !self.args.json);
            self.network.connect(SERVER, guest.peer, conditions);
            self.guests.push(guest);
        }
    }

    /// Moves everything by one tick, and runs one tick of the server and all clients.
    pub(crate) fn play(&mut self) {
        self.connect();
        self.world.step(&mut self.server);
        let times = self.tick();
        self.watch.note_times(times);
        self.watch.look(&self.server, &self.world, &mut self.guests, self.args.budget);
    }

    /// Runs one tick of the server and all clients. Returns how long the server took to receive, to tick and
    /// to return its packets.
    fn tick(&mut self) -> [Duration; 3] {
        let now = self.clock.tick();
        self.deliver(now);
        let Self { server, world, guests, arrived, cpu_clock, .. } = self;
        let ((), receiving) = cpu_clock.measure(|| {
            for (number, packet) in &*arrived {
                server.receive(guests[*number].connection, now, packet);
            }
        });
        while let Some(event) = server.poll_event() {
            if let ServerEvent::Connected(connection) = event
                && let Some(number) = guests.iter().position(|guest| guest.connection == connection)
            {
                world.join(server, number, connection);
            }
        }
        let ((), ticking) = cpu_clock.measure(|| {
            for (number, guest) in guests.iter().enumerate() {
                let [x, y] = world.viewpoint(number);
                server.connection(guest.connection).set_viewpoints(&[[x, y, 0.0]]);
            }
            server.tick(now);
        });
        let sending = self.send(now);
        for guest in &mut self.guests {
            guest.tick(&mut self.network, now, self.world.tick);
        }
        [receiving, ticking, sending]
    }

    /// Delivers the packets that have arrived to the clients, and collects those for the server.
    fn deliver(&mut self, now: Duration) {
        self.arrived.clear();
        while let Some(delivery) = self.network.deliver(now) {
            let is_up = delivery.to == SERVER;
            let peer = if is_up { delivery.from } else { delivery.to };
            let number = peer.0 as usize - 1;
            if is_up {
                self.arrived.push((number, delivery.bytes.to_vec()));
            } else if let Err(error) = self.guests[number].client.receive(now, delivery.bytes) {
                self.guests[number].ended.get_or_insert(error.to_string());
            }
        }
    }

    /// Sends the packets of the server, and searches them for canaries. Returns how long the server took to
    /// return its packets.
    fn send(&mut self, now: Duration) -> Duration {
        let Self { server, guests, cpu_clock, .. } = self;
        let (packets, sending) = cpu_clock.measure(|| {
            let mut packets: Vec<(usize, Vec<u8>)> = Vec::new();
            for (number, guest) in guests.iter().enumerate() {
                while let Some(packet) = server.poll_transmit(guest.connection) {
                    packets.push((number, packet.to_vec()));
                }
            }
            packets
        });
        for (number, packet) in packets {
            let guest = &mut self.guests[number];
            guest.bytes += packet.len() as u64;
            let (world, watch) = (&self.world, &mut self.watch);
            canary::scan(&packet, |canary| watch.note_canary(may_see(world, number, canary)));
            self.network.send(now, SERVER, guest.peer, &packet);
        }
        sending
    }

    /// Runs until every client has exactly the state that it may see, while nothing moves. Returns false if
    /// this takes longer than [`PATIENCE`].
    pub(crate) fn converge(&mut self) -> bool {
        for tick in 0..PATIENCE {
            if tick.is_multiple_of(10)
                && (0..self.guests.len()).all(|number| self.difference(number).is_none())
            {
                return true;
            }
            self.tick();
        }
        false
    }

    /// Returns the first difference between what a client has and what it must have, or `None`.
    pub(crate) fn difference(&self, number: usize) -> Option<String> {
        let Guest { client, connection, ended, .. } = &self.guests[number];
        if let Some(ended) = ended {
            return Some(ended.clone());
        }
        if !client.is_connected() {
            return Some("not connected".to_owned());
        }
        let mut expected = 0;
        for (at, entry) in self.world.entries.iter().enumerate() {
            let is_relevant = self.server.object_info(entry.object.erase()).is_relevant_to(*connection);
            let sees = match verdict(&self.world.entries, number, at) {
                Verdict::Sees => true,
                Verdict::Open => is_relevant,
                Verdict::Blind => false,
            };
            if sees != is_relevant {
                let metres = distance(self.world.viewpoint(number), entry.position);
                return Some(format!("the server shows {:?} wrongly, {metres} m away", entry.object));
            }
            if sees {
                expected += 1;
                let owns = entry.owner == Some(number);
                if let Some(property) = entry.object.first_difference(&self.server, client, owns) {
                    return Some(format!("{property} of {:?} differs", entry.object));
                }
            }
        }
        let surplus = model::count_at_client(client) - expected;
        (surplus > 0).then(|| format!("{surplus} objects should not exist"))
    }

    /// Returns how many percent of the objects on clients sleep.
    pub(crate) fn percent_asleep(&self) -> usize {
        let [mut asleep, mut all] = [0, 0];
        for Guest { client, .. } in &self.guests {
            let present = self.world.entries.iter().filter(|entry| client.contains(entry.object.erase()));
            let sleeps = present.map(|entry| client.object_info(entry.object.erase()).is_asleep());
            sleeps.for_each(|sleeps| (asleep, all) = (asleep + usize::from(sleeps), all + 1));
        }
        asleep * 100 / all.max(1)
    }

    /// Returns the bytes that the server has sent to all clients together.
    pub(crate) fn bytes_sent(&self) -> u64 {
        let stats =
            self.guests.iter().filter_map(|guest| self.server.connection_info(guest.connection).stats());
        stats.map(|stats| stats.bytes_sent).sum()
    }
}

/// Returns whether a packet to the connection with this number may contain a canary now.
fn may_see(world: &World, number: usize, canary: Canary) -> bool {
    let at = canary.object as usize;
    let Some(entry) = world.entries.get(at) else { return false };
    if let Some(had_seen) = world.had_seen(number, canary) {
        return had_seen;
    }
    let is_of_creature = matches!(entry.object, crate::entry::Object::Creature(_));
    if canary.property == SECRET && is_of_creature {
        return entry.owner == Some(number);
    }
    verdict(&world.entries, number, at) != Verdict::Blind
}
