//! Plays a game on two servers, the library's and the hand-written one (the rival), tick after tick, and with
//! the same share of lost packets.
//!
//! *Invariant:* only the work of the servers is measured: writes of the game, the tick, making packets, and
//! receiving acks. The two servers alternate, and clients work in between, so the caches are in the same
//! state for both.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use repl::prelude::*;
use repl::sim::Rng;

use crate::config::at_once;
use crate::cpu::thread_time;
use crate::rival::Rival;

const TICK: Duration = Duration::from_millis(16);
/// A timeout that is longer than any measurement.
const FOREVER: Duration = Duration::from_secs(1 << 32);
/// The number of ticks until a packet arrives at a client. Also the number of ticks until the rival's server
/// learns that a packet was lost.
const DELAY: usize = 3;

/// A game that both servers play.
pub(crate) trait Game: Sized {
    type Rival: Rival;
    /// The type of the objects that one client of the rival has.
    type Mirror: Default;
    const NAME: &'static str;
    const CONNECTIONS: usize;

    fn register(client: &mut Client);
    /// Makes the objects of both servers.
    fn begin(server: &mut Server) -> (Self, Self::Rival);
    /// Called for each connection of the library's server, in the order of the rival's clients.
    fn connect(&mut self, _connection: ConnectionId) {}
    /// Computes the changes of the tick number `step`. This is not measured.
    fn prepare(&mut self, step: u32);
    /// Makes these changes on the library's server.
    fn step(&mut self, server: &mut Server);
    /// Makes the same changes on the rival's server.
    fn step_rival(&mut self, rival: &mut Self::Rival);
    /// Applies a packet of the rival's server to the objects of a client.
    fn receive(mirror: &mut Self::Mirror, packet: &[u8]);
    /// Checks that a client has the right objects and values. Returns how many objects it has.
    fn check(server: &Server, connection: ConnectionId, client: &Client) -> usize;
    /// Checks a client of the rival in the same way.
    fn check_rival(rival: &Self::Rival, client: usize, mirror: &Self::Mirror) -> usize;
}

/// The conditions of a link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Perfect,
    /// A twentieth of the packets is lost.
    Lossy,
    /// In each tick, a client gets half the bytes that it needs.
    Narrow,
}

impl Link {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Perfect => "perfect",
            Self::Lossy => "loss_5_percent",
            Self::Narrow => "half_budget",
        }
    }
}

/// How long a server has worked.
#[derive(Clone, Copy, Default)]
pub(crate) struct Times {
    pub(crate) wall: Duration,
    /// The processor time of the thread.
    pub(crate) cpu: Duration,
}

impl Times {
    /// Adds the time of some work.
    fn add(&mut self, work: impl FnOnce()) {
        let cpu = thread_time();
        let start = Instant::now();
        work();
        self.wall += start.elapsed();
        self.cpu += thread_time() - cpu;
    }
}

/// The packets of a tick to all clients. The buffers are used again in the next tick.
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

/// A client of the rival.
#[derive(Default)]
struct Peer<M> {
    /// The packets in flight: the tick in which each was sent, its sequence, and whether it is lost.
    under_way: VecDeque<(u32, u64, bool)>,
    mirror: M,
}

/// Both servers of a game, with their clients.
pub(crate) struct Running<G: Game> {
    game: G,
    server: Server,
    clients: Vec<(ConnectionId, Client)>,
    rival: G::Rival,
    peers: Vec<Peer<G::Mirror>>,
    sent: [Sent; 2],
    answers: VecDeque<Vec<(ConnectionId, Vec<u8>)>>,
    loss: f64,
    rng: Rng,
    step: u32,
    /// Whether the game makes no changes.
    is_at_rest: bool,
}

impl<G: Game> Running<G> {
    pub(crate) fn new(link: Link) -> Self {
        let mut server = Server::new(ServerConfig { timeout: FOREVER, ..at_once() });
        let (mut game, rival) = G::begin(&mut server);
        let clients = (0..G::CONNECTIONS).map(|number| {
            let config = ClientConfig { timeout: FOREVER, ..ClientConfig::default() };
            let mut client = Client::new(config, Session::for_tests(number as u64 + 1));
            G::register(&mut client);
            let connection = server.connect(Duration::ZERO);
            game.connect(connection);
            (connection, client)
        });
        let clients = clients.collect();
        let mut running = Self {
            game,
            server,
            clients,
            rival,
            peers: (0..G::CONNECTIONS).map(|_| Peer::default()).collect(),
            sent: Default::default(),
            answers: VecDeque::new(),
            loss: 0.0,
            rng: Rng::new(1),
            step: 0,
            is_at_rest: false,
        };
        running.settle(link);
        running
    }

    /// Plays until all clients have joined. Checks them before and after the game has run over its link.
    fn settle(&mut self, link: Link) {
        self.slice(100);
        self.check();
        match link {
            Link::Perfect => {}
            Link::Lossy => self.loss = 0.05,
            Link::Narrow => self.narrow(),
        }
        self.slice(200);
        let loss = std::mem::take(&mut self.loss);
        self.is_at_rest = true;
        self.slice(100);
        self.check();
        self.is_at_rest = false;
        self.loss = loss;
        self.slice(200);
    }

    /// Sets the budget of each client to half of the bytes that it needs, on the side that needs fewer bytes.
    fn narrow(&mut self) {
        let [bytes, rival_bytes] = self.bytes(64);
        let budget = (bytes.min(rival_bytes) / 2) as usize;
        self.rival.set_budget(budget);
        let per_second = budget * 1_000 / TICK.as_millis() as usize;
        for (connection, _) in &self.clients {
            self.server.connection(*connection).set_budget(per_second);
        }
    }

    /// Checks that the clients of both sides have the state of their servers. The numbers of their objects
    /// may differ only a little.
    fn check(&self) {
        let clients =
            self.clients.iter().map(|(connection, client)| G::check(&self.server, *connection, client));
        let peers = self.peers.iter().enumerate();
        let peers = peers.map(|(at, peer)| G::check_rival(&self.rival, at, &peer.mirror));
        let (objects, rival_objects) = (clients.sum::<usize>(), peers.sum::<usize>());
        assert!(objects.abs_diff(rival_objects) * 50 <= objects, "{objects} and {rival_objects}");
    }

    /// Returns, for each side, how many bytes a tick sends to one client on average.
    pub(crate) fn bytes(&mut self, ticks: u64) -> [u64; 2] {
        let mut bytes = [0; 2];
        for _ in 0..ticks {
            self.slice(1);
            for (sum, sent) in bytes.iter_mut().zip(&self.sent) {
                *sum += sent.bytes.len() as u64;
            }
        }
        bytes.map(|sum| sum / ticks / G::CONNECTIONS as u64)
    }

    /// Runs `ticks` ticks. Returns how long each server worked.
    #[inline(never)]
    pub(crate) fn slice(&mut self, ticks: u64) -> [Times; 2] {
        let mut times = [Times::default(); 2];
        for _ in 0..ticks {
            self.step += 1;
            if !self.is_at_rest {
                self.game.prepare(self.step);
            }
            let answers = if self.answers.len() >= DELAY { self.answers.pop_front() } else { None };
            times[0].add(|| self.tick_server(answers.as_deref().unwrap_or_default()));
            self.deliver();
            times[1].add(|| self.tick_rival());
            self.deliver_rival();
        }
        times
    }

    fn now(&self) -> Duration {
        TICK * self.step
    }

    #[inline(never)]
    fn tick_server(&mut self, answers: &[(ConnectionId, Vec<u8>)]) {
        let now = self.now();
        self.sent[0].clear();
        for (connection, packet) in answers {
            self.server.receive(*connection, now, packet);
        }
        if !self.is_at_rest {
            self.game.step(&mut self.server);
        }
        self.server.tick(now);
        for (at, (connection, _)) in self.clients.iter().enumerate() {
            while let Some(packet) = self.server.poll_transmit(*connection) {
                self.sent[0].push(at, packet);
            }
        }
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
    fn tick_rival(&mut self) {
        let Self { rival, peers, sent, game, step, .. } = self;
        sent[1].clear();
        for (at, peer) in peers.iter_mut().enumerate() {
            while let Some(&(sent_in, sequence, is_lost)) = peer.under_way.front()
                && sent_in + DELAY as u32 <= *step
            {
                rival.resolve(at, sequence, is_lost);
                peer.under_way.pop_front();
            }
        }
        if !self.is_at_rest {
            game.step_rival(rival);
        }
        rival.tick(|at, packet| sent[1].push(at, packet));
    }

    fn deliver_rival(&mut self) {
        for (at, packet) in self.sent[1].iter() {
            let sequence = u64::from_le_bytes(*packet.first_chunk().expect("a header"));
            let is_lost = self.rng.chance(self.loss);
            let peer = &mut self.peers[at];
            peer.under_way.push_back((self.step, sequence, is_lost));
            if !is_lost {
                G::receive(&mut peer.mirror, packet);
            }
        }
    }
}
