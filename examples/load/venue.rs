//! The server with its world and its port, and the measured ticks.
//!
//! *Invariant:* a client is in `seats` only while its session lasts, so a missing client was disconnected.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::time::Duration;

use repl::ServerMemory;
use repl::prelude::*;
use repl::quic::{Identity, QuicConfig, QuicServer};

use crate::args::Args;
use crate::figures::{Tick, Watch};
use crate::helper::{Farewell, Helper};
use crate::metronome::Metronome;
use crate::model::Sum;
use crate::times;
use crate::world::World;

/// Where the certificate is, from the working directory.
const CERTIFICATE: &str = "target/load-certificate";

/// How long clients may take to join. Also how long they may take to converge at the end.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long everything moves after all clients have joined, before ticks are measured.
const WARM_UP: Duration = Duration::from_secs(2);

/// How long nothing moves before the clients are asked for their sums.
const REST: Duration = Duration::from_millis(500);

/// Totals over all clients.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) bytes: u64,
    pub(crate) packets: u64,
    pub(crate) lost: u64,
}

/// The server with its world, its port and the process of the clients.
pub(crate) struct Venue {
    server: Server,
    quic: QuicServer,
    world: World,
    helper: Helper,
    metronome: Metronome,
    clients: u32,
    /// The connection of each client, by the client's number.
    seats: BTreeMap<u32, ConnectionId>,
    /// The ticks while clients joined.
    pub(crate) joining: Vec<Tick>,
    /// The measured ticks.
    pub(crate) ticks: Vec<Tick>,
    pub(crate) disconnects: u64,
    /// The totals before the first measured tick.
    before: Sent,
}

impl Venue {
    /// Opens the port, and starts the process of the clients.
    pub(crate) fn open(args: &Args) -> Result<Self, Box<dyn Error>> {
        let identity = Identity::development(CERTIFICATE)?;
        // All clients have the same address, so the limits for one address are raised.
        let clients = args.clients as usize;
        let limits = QuicConfig {
            max_clients: clients,
            max_per_origin: clients,
            max_handshakes: 32 * clients,
            ..QuicConfig::default()
        };
        let quic = QuicServer::bind(([127, 0, 0, 1], 0).into(), &identity, limits)?;
        let mut server = Server::new(ServerConfig { login: Login::Ask, ..ServerConfig::default() });
        Ok(Self {
            world: World::new(&mut server, args),
            server,
            helper: Helper::start(args, quic.local_address()?, identity.hash())?,
            quic,
            metronome: Metronome::at_hz(args.hz),
            clients: args.clients,
            seats: BTreeMap::new(),
            joining: Vec::new(),
            ticks: Vec::new(),
            disconnects: 0,
            before: Sent::default(),
        })
    }

    /// Lets all clients join.
    pub(crate) fn fill(&mut self) -> Result<(), Box<dyn Error>> {
        while self.seats.len() < self.clients as usize {
            if self.metronome.now() > PATIENCE {
                let (joined, all) = (self.seats.len(), self.clients);
                return Err(format!("only {joined} of {all} clients have joined").into());
            }
            let tick = self.tick(true)?;
            self.joining.push(tick);
        }
        let end = self.metronome.now() + WARM_UP;
        while self.metronome.now() < end {
            self.tick(true)?;
        }
        self.before = self.sent_in_all();
        Ok(())
    }

    /// Runs a measured tick.
    pub(crate) fn play(&mut self) -> io::Result<()> {
        let tick = self.tick(true)?;
        self.ticks.push(tick);
        Ok(())
    }

    /// Runs a tick. Returns its times.
    fn tick(&mut self, moves: bool) -> io::Result<Tick> {
        let now = self.metronome.tick();
        let Self { server, quic, world, seats, .. } = self;
        let mut watch = Watch::start();
        quic.receive(server, now)?;
        while let Some(event) = server.poll_event() {
            match event {
                ServerEvent::Login(id, login) => match login.try_into().map(u32::from_le_bytes) {
                    Ok(number) if number < self.clients => {
                        seats.insert(number, id);
                        server.connection(id).accept(&[]);
                    }
                    _ => drop(server.connection(id).refuse("a login is a number")),
                },
                ServerEvent::Disconnected(id, reason) => {
                    seats.retain(|_, seat| *seat != id);
                    self.disconnects += 1;
                    eprintln!("load: {id:?}: {reason}");
                }
                _ => {}
            }
        }
        watch.lap();
        if moves {
            world.step(server);
        }
        watch.lap();
        for (&number, &id) in &*seats {
            server.connection(id).set_viewpoints(&[world.viewpoint(number)]);
        }
        server.tick(now);
        watch.lap();
        quic.transmit(server, now)?;
        Ok(watch.stop())
    }

    /// Runs until each client has exactly the objects that it may see, while nothing moves. Returns `false`
    /// if this takes too long.
    pub(crate) fn converge(&mut self) -> Result<bool, Box<dyn Error>> {
        let start = self.metronome.now();
        while self.metronome.now() < start + PATIENCE {
            let rest = self.metronome.now() + REST;
            while self.metronome.now() < rest {
                self.tick(false)?;
            }
            let sums = self.helper.sums()?;
            if sums.len() == self.clients as usize
                && (0..).zip(sums).all(|(number, sum)| self.sum(number) == sum)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the sum of the objects that a client may see. Returns an impossible sum for a client without a
    /// session.
    fn sum(&self, number: u32) -> Sum {
        let Some(&id) = self.seats.get(&number) else { return Sum { objects: u32::MAX, hash: 0 } };
        self.world.sum(&self.server, id)
    }

    /// Returns the figures that the clients report at the end.
    pub(crate) fn leave(&mut self) -> Result<Farewell, Box<dyn Error>> {
        self.helper.farewell()
    }

    pub(crate) fn connected(&self) -> usize {
        self.seats.len()
    }

    /// Returns how many objects a client may see on average.
    pub(crate) fn mean_in_sight(&self) -> f64 {
        let objects = self.seats.keys().map(|number| f64::from(self.sum(*number).objects));
        objects.sum::<f64>() / self.seats.len().max(1) as f64
    }

    /// Returns the totals since the first measured tick.
    pub(crate) fn sent(&self) -> Sent {
        let (now, before) = (self.sent_in_all(), self.before);
        Sent {
            bytes: now.bytes.saturating_sub(before.bytes),
            packets: now.packets.saturating_sub(before.packets),
            lost: now.lost.saturating_sub(before.lost),
        }
    }

    fn sent_in_all(&self) -> Sent {
        let stats = self.seats.values().filter_map(|id| self.server.connection_info(*id).stats());
        stats.fold(Sent::default(), |sent, stats| Sent {
            bytes: sent.bytes + stats.bytes_sent,
            packets: sent.packets + stats.packets_sent,
            lost: sent.lost + stats.packets_lost,
        })
    }

    /// Returns how many packets the port did not send.
    pub(crate) fn dropped(&self) -> u64 {
        self.quic.counters().dropped
    }

    pub(crate) fn memory(&self) -> ServerMemory {
        self.server.memory()
    }

    /// Returns the text next to the progress bar after `tick` measured ticks.
    pub(crate) fn text(&self, tick: u32) -> String {
        let last = self.ticks.last().copied().unwrap_or_default();
        format!(
            "tick {tick}: {} clients, {:.1} ms on the processor, {:.1} ms in all; {} MB resident",
            self.connected(),
            last.cpu().as_secs_f64() * 1e3,
            last.wall.as_secs_f64() * 1e3,
            times::resident_bytes().unwrap_or_default() / 1_000_000
        )
    }
}
