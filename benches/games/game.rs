//! Plays a game on both servers, tick after tick, with the same losses.
//!
//! *Invariant:* only the work of the servers is measured: writes of the game, the tick, the packets, and the
//! acks that arrive. Clients work in between, and both sides alternate, so the caches are in the same state
//! for both.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use repl::prelude::*;
use repl::sim::Rng;

use crate::config::at_once;
use crate::rival::{Rival, World};

const TICK: Duration = Duration::from_millis(16);
/// The timeout is longer than any measurement.
const FOREVER: Duration = Duration::from_secs(1 << 32);
/// After so many ticks, a client hears of a packet, or the rival's server of its loss.
const DELAY: usize = 3;

/// A game, which both servers play.
pub(crate) trait Game: Sized {
    type World: World;
    const NAME: &'static str;
    const CONNECTIONS: usize;

    fn register(client: &mut Client);
    /// Makes the objects of both servers.
    fn begin(server: &mut Server) -> (Self, Self::World);
    /// Computes what happens in tick `step`. It is not measured.
    fn prepare(&mut self, step: u32);
    /// Lets it happen.
    fn step(&mut self, server: &mut Server);
    /// Lets the same happen on the rival's server.
    fn step_rival(&mut self, world: &mut Self::World);
    /// Checks that a client has what the server has.
    fn check(server: &Server, client: &Client);
    /// Checks that the packets to a client of the rival show what the rival's server has.
    fn check_rival(world: &Self::World, packets: &[Vec<u8>]);
}

/// The packets of a tick to all clients. They keep their memory.
#[derive(Default)]
struct Sent {
    bytes: Vec<u8>,
    packets: Vec<(usize, usize)>,
}

impl Sent {
    fn clear(&mut self) {
        self.bytes.clear();
        self.packets.clear();
    }

    fn push(&mut self, client: usize, packet: &[u8]) {
        self.bytes.extend_from_slice(packet);
        self.packets.push((client, packet.len()));
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let mut rest = self.bytes.as_slice();
        self.packets.iter().map(move |&(client, len)| {
            let (packet, after) = rest.split_at(len);
            rest = after;
            (client, packet)
        })
    }
}

/// A client of the rival, as far as the measurement needs one.
#[derive(Default)]
struct Peer {
    /// The sequences of the packets under way, and whether each is lost.
    under_way: VecDeque<(u32, u64, bool)>,
    /// All packets that arrived, if they are checked.
    arrived: Vec<Vec<u8>>,
}

/// Both sides of a game.
pub(crate) struct Running<G: Game> {
    game: G,
    server: Server,
    clients: Vec<(ConnectionId, Client)>,
    rival: Rival<G::World>,
    peers: Vec<Peer>,
    sent: [Sent; 2],
    answers: VecDeque<Vec<(ConnectionId, Vec<u8>)>>,
    loss: f64,
    rng: Rng,
    step: u32,
    is_checked: bool,
}

impl<G: Game> Running<G> {
    pub(crate) fn new(loss: f64) -> Self {
        let mut server = Server::new(ServerConfig { timeout: FOREVER, ..at_once() });
        let (game, world) = G::begin(&mut server);
        let clients = (0..G::CONNECTIONS).map(|number| {
            let config = ClientConfig { timeout: FOREVER, ..ClientConfig::default() };
            let mut client = Client::new(config, Session::for_tests(number as u64 + 1));
            G::register(&mut client);
            (server.connect(Duration::ZERO), client)
        });
        let clients = clients.collect();
        let mut running = Self {
            game,
            server,
            clients,
            rival: Rival::new(world, G::CONNECTIONS),
            peers: (0..G::CONNECTIONS).map(|_| Peer::default()).collect(),
            sent: Default::default(),
            answers: VecDeque::new(),
            loss: 0.0,
            rng: Rng::new(1),
            step: 0,
            is_checked: true,
        };
        running.ticks(100);
        running.check();
        running.is_checked = false;
        running.peers.iter_mut().for_each(|peer| peer.arrived = Vec::new());
        running.loss = loss;
        running.ticks(400);
        running
    }

    /// Checks that the clients of both sides have what the servers have.
    fn check(&self) {
        self.clients.iter().for_each(|(_, client)| G::check(&self.server, client));
        self.peers.iter().for_each(|peer| G::check_rival(&self.rival.world, &peer.arrived));
    }

    /// Returns the bytes of a tick to one client, of each side.
    pub(crate) fn bytes(&mut self) -> [u64; 2] {
        const TICKS: u64 = 64;
        let mut bytes = [0; 2];
        for _ in 0..TICKS {
            self.ticks(1);
            for (sum, sent) in bytes.iter_mut().zip(&self.sent) {
                *sum += sent.bytes.len() as u64;
            }
        }
        bytes.map(|sum| sum / TICKS / G::CONNECTIONS as u64)
    }

    /// Runs ticks. Returns the time that each server took.
    pub(crate) fn ticks(&mut self, ticks: u64) -> [Duration; 2] {
        let mut times = [Duration::ZERO; 2];
        for _ in 0..ticks {
            self.step += 1;
            self.game.prepare(self.step);
            times[0] += self.tick_server();
            self.deliver();
            times[1] += self.tick_rival();
            self.deliver_rival();
        }
        times
    }

    fn now(&self) -> Duration {
        TICK * self.step
    }

    #[inline(never)]
    fn tick_server(&mut self) -> Duration {
        let now = self.now();
        let answers = if self.answers.len() >= DELAY { self.answers.pop_front() } else { None };
        self.sent[0].clear();
        let start = Instant::now();
        for (connection, packet) in answers.iter().flatten() {
            self.server.receive(*connection, now, packet);
        }
        self.game.step(&mut self.server);
        self.server.tick(now);
        for (at, (connection, _)) in self.clients.iter().enumerate() {
            while let Some(packet) = self.server.poll_transmit(*connection) {
                self.sent[0].push(at, packet);
            }
        }
        start.elapsed()
    }

    fn deliver(&mut self) {
        let now = self.now();
        for (at, packet) in self.sent[0].iter() {
            if !self.rng.chance(self.loss) {
                self.clients[at].1.receive(now, packet).expect("a packet of the server");
            }
        }
        let mut answers = Vec::new();
        for (connection, client) in &mut self.clients {
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                answers.push((*connection, packet.to_vec()));
            }
            while client.poll_event().is_some() {}
        }
        self.answers.push_back(answers);
    }

    #[inline(never)]
    fn tick_rival(&mut self) -> Duration {
        let Self { rival, peers, sent, game, step, .. } = self;
        sent[1].clear();
        let start = Instant::now();
        for (at, peer) in peers.iter_mut().enumerate() {
            while let Some(&(sent_in, sequence, is_lost)) = peer.under_way.front()
                && sent_in + DELAY as u32 <= *step
            {
                rival.resolve(at, sequence, is_lost);
                peer.under_way.pop_front();
            }
        }
        game.step_rival(&mut rival.world);
        rival.tick(|at, packet| sent[1].push(at, packet));
        start.elapsed()
    }

    fn deliver_rival(&mut self) {
        for (at, packet) in self.sent[1].iter() {
            let sequence = u64::from_le_bytes(*packet.first_chunk().expect("a header"));
            let is_lost = self.rng.chance(self.loss);
            self.peers[at].under_way.push_back((self.step, sequence, is_lost));
            if self.is_checked {
                self.peers[at].arrived.push(packet.to_vec());
            }
        }
    }
}
