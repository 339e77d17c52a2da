//! A simulated network with a server and clients that use QUIC.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use quinn_proto::Transmit;
use repl_link::plain::{MessageClient, MessageServer, SessionEvent};
use repl_link::{Channel, ClientTerms, ConnectionId, DisconnectReason, ServerSettings, Session};
use repl_sim::{LinkConditions, Network, PeerId};

use crate::native::wire::{Received, Wire};
use crate::{Identity, QuicClient, QuicConfig, QuicServer, Trust};

pub(super) const SECOND: Duration = Duration::from_secs(1);

/// The time between two frames of each side.
pub(super) const FRAME: Duration = Duration::from_millis(10);

pub(super) const SERVER: PeerId = PeerId(0);

impl AirWire {
    /// Returns the wire of a peer whose address does not change.
    pub(super) fn of(air: &Shared, peer: PeerId) -> Box<Self> {
        Box::new(Self { air: Arc::clone(air), me: Arc::new(Mutex::new(peer)) })
    }
}

/// A simulated network, with one clock for all peers. Datagrams that have arrived wait in the inbox of their
/// peer.
pub(super) struct Air {
    pub(super) network: Network,
    pub(super) now: Duration,
    arrived: Vec<(PeerId, PeerId, Vec<u8>)>,
    /// If the test records datagrams: all datagrams that were sent, each with its sender and receiver.
    pub(super) heard: Option<Vec<(PeerId, PeerId, Vec<u8>)>>,
}

pub(super) type Shared = Arc<Mutex<Air>>;

pub(super) fn lock(air: &Shared) -> MutexGuard<'_, Air> {
    air.lock().expect("no test panics while it has the network")
}

/// Returns the address of a peer. Each peer is a different host.
pub(super) fn address(peer: PeerId) -> SocketAddr {
    let [_, high, middle, low] = peer.0.to_be_bytes();
    SocketAddr::from((Ipv4Addr::new(10, high, middle, low), 7_777))
}

fn peer(address: SocketAddr) -> PeerId {
    let SocketAddr::V4(address) = address else { panic!("all peers have IPv4") };
    let [_, high, middle, low] = address.ip().octets();
    PeerId(u32::from_be_bytes([0, high, middle, low]))
}

/// The wire of a peer, which can change its address.
pub(super) struct AirWire {
    pub(super) air: Shared,
    pub(super) me: Arc<Mutex<PeerId>>,
}

impl AirWire {
    fn me(&self) -> PeerId {
        *self.me.lock().expect("nobody panics with it")
    }
}

impl Wire for AirWire {
    fn receive(&mut self, take: &mut dyn FnMut(&Received<'_>)) -> io::Result<bool> {
        let me = self.me();
        let arrived: Vec<_> = lock(&self.air).arrived.extract_if(.., |(_, to, _)| *to == me).collect();
        for (from, _, bytes) in arrived {
            take(&Received { from: address(from), to: None, ecn: None, bytes: &bytes });
        }
        Ok(false)
    }

    fn send(&mut self, transmit: &Transmit, bytes: &[u8]) -> io::Result<bool> {
        let (me, to) = (self.me(), peer(transmit.destination));
        let size = transmit.segment_size.unwrap_or(bytes.len()).max(1);
        bytes.chunks(size).for_each(|bytes| lock(&self.air).send(me, to, bytes));
        Ok(true)
    }

    fn most_segments(&self) -> usize {
        64
    }

    fn keeps_whole(&self) -> bool {
        true
    }

    fn local_address(&self) -> io::Result<SocketAddr> {
        Ok(address(self.me()))
    }
}

impl Air {
    /// Returns a network without links.
    pub(super) fn shared() -> Shared {
        let network = Network::new(1);
        Arc::new(Mutex::new(Self { network, now: Duration::ZERO, arrived: Vec::new(), heard: None }))
    }

    /// Sends a datagram from `from` to `to`. The sender may be forged.
    pub(super) fn send(&mut self, from: PeerId, to: PeerId, bytes: &[u8]) {
        self.heard.iter_mut().for_each(|heard| heard.push((from, to, bytes.to_vec())));
        self.network.send(self.now, from, to, bytes);
    }

    pub(super) fn advance(&mut self, by: Duration) {
        self.now += by;
        while let Some(delivery) = self.network.deliver(self.now) {
            let arrived = (delivery.from, delivery.to, delivery.bytes.to_vec());
            self.arrived.push(arrived);
        }
    }
}

/// Returns the conditions of a link that delivers everything after `latency_ms` milliseconds.
pub(super) fn link(latency_ms: u64) -> LinkConditions {
    LinkConditions { latency: Duration::from_millis(latency_ms), ..LinkConditions::perfect() }
}

/// A client with its connection.
pub(super) struct Guest {
    pub(super) quic: QuicClient,
    pub(super) client: MessageClient,
    pub(super) ends: Vec<DisconnectReason>,
    pub(super) heard: Vec<String>,
    pub(super) peer: Arc<Mutex<PeerId>>,
}

/// A server with its clients, on a simulated network.
pub(super) struct Lan {
    pub(super) air: Shared,
    pub(super) identity: Identity,
    pub(super) quic: QuicServer,
    pub(super) server: MessageServer,
    pub(super) guests: Vec<Guest>,
    pub(super) events: Vec<SessionEvent>,
    pub(super) heard: Vec<(ConnectionId, String)>,
    conditions: LinkConditions,
}

/// Returns the path of a folder that does not exist.
pub(super) fn folder() -> PathBuf {
    std::env::temp_dir().join(format!("repl-quic-{}-{}", std::process::id(), unique()))
}

/// Returns a new identity for one test.
pub(super) fn identity() -> Identity {
    let folder = folder();
    let identity = Identity::development(&folder).expect("the folder can be written");
    std::fs::remove_dir_all(folder).expect("it was made");
    identity
}

/// Returns a number that this process has not returned before.
pub(super) fn unique() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn server(mtu_bytes: usize) -> MessageServer {
    let mut settings = ServerSettings::default();
    settings.terms.capacity.mtu_bytes = mtu_bytes;
    let mut server = MessageServer::new(settings);
    server.register::<String>(Channel::Ordered);
    server
}

/// The size in bytes of the largest packet that QUIC sends in a datagram of 1,452 bytes.
const LARGEST: usize = 1_414;

impl Lan {
    pub(super) fn new(conditions: LinkConditions) -> Self {
        Self::with(conditions, QuicConfig::default())
    }

    pub(super) fn with(conditions: LinkConditions, config: QuicConfig) -> Self {
        let (air, identity) = (Air::shared(), identity());
        let quic = quic(&air, &identity, config);
        Self {
            air,
            identity,
            quic,
            server: server(LARGEST),
            guests: Vec::new(),
            events: Vec::new(),
            heard: Vec::new(),
            conditions,
        }
    }

    /// Returns a network with a client that has been connected for a second.
    pub(super) fn connected(latency_ms: u64) -> Self {
        let mut lan = Self::new(link(latency_ms));
        lan.enter();
        lan.settle();
        lan.run(SECOND);
        lan
    }

    /// Restarts the process of the server. It has the same certificate as before.
    pub(super) fn restart(&mut self) {
        self.quic = quic(&self.air, &self.identity, QuicConfig::default());
        self.server = server(LARGEST);
    }

    /// Returns a new peer, with a link to the server.
    pub(super) fn link(&self) -> PeerId {
        let peer = PeerId(unique() as u32 % 60_000 + 1);
        lock(&self.air).network.connect(SERVER, peer, self.conditions);
        peer
    }

    /// Sets the conditions of all links.
    pub(super) fn set_conditions(&mut self, conditions: LinkConditions) {
        let mut air = lock(&self.air);
        let links: Vec<_> = air.network.links().map(|(link, ..)| link).collect();
        links.into_iter().for_each(|link| air.network.set_conditions(link, conditions));
    }

    /// Adds a client that trusts the server, and returns its index.
    pub(super) fn enter(&mut self) -> usize {
        let trust = Trust::pinned([self.identity.hash()]);
        self.enter_with(&trust)
    }

    pub(super) fn enter_with(&mut self, trust: &Trust) -> usize {
        let peer = Arc::new(Mutex::new(self.link()));
        let wire = AirWire { air: Arc::clone(&self.air), me: Arc::clone(&peer) };
        let quic = QuicClient::over(Box::new(wire), address(SERVER), trust).expect("it can be made");
        let mut terms = ClientTerms::default();
        terms.capacity.mtu_bytes = LARGEST;
        let mut client = MessageClient::new(terms, Session::for_tests(unique() + 1));
        client.register::<String>(Channel::Ordered);
        self.guests.push(Guest { quic, client, ends: Vec::new(), heard: Vec::new(), peer });
        self.guests.len() - 1
    }

    pub(super) fn now(&self) -> Duration {
        lock(&self.air).now
    }

    /// Runs one frame of the server and all clients.
    pub(super) fn step(&mut self) {
        lock(&self.air).advance(FRAME);
        self.step_server();
        (0..self.guests.len()).for_each(|guest| self.step_guest(guest));
    }

    /// Runs the clients for some time while the server's process does not exist: datagrams to it are lost.
    pub(super) fn run_without_server(&mut self, time: Duration) {
        let end = self.now() + time;
        while self.now() < end {
            lock(&self.air).advance(FRAME);
            lock(&self.air).arrived.retain(|(_, to, _)| *to != SERVER);
            (0..self.guests.len()).for_each(|guest| self.step_guest(guest));
        }
    }

    pub(super) fn step_server(&mut self) {
        let now = self.now();
        self.quic.receive(&mut self.server, now).expect("the wire works");
        self.events.extend(std::iter::from_fn(|| self.server.poll_event()));
        self.heard.extend(std::iter::from_fn(|| self.server.poll::<String>()));
        self.server.tick(now);
        self.quic.transmit(&mut self.server, now).expect("the wire works");
    }

    pub(super) fn step_guest(&mut self, guest: usize) {
        let now = self.now();
        let Guest { quic, client, ends, heard, .. } = &mut self.guests[guest];
        quic.receive(client, now).expect("the wire works");
        heard.extend(std::iter::from_fn(|| client.poll::<String>()));
        client.tick(now);
        ends.extend(client.take_end());
        quic.transmit(client, now).expect("the wire works");
    }

    /// Runs until `is_reached` returns true. Returns the elapsed time, or `None` if it would be more than
    /// `most`.
    pub(super) fn until(&mut self, most: Duration, is_reached: impl Fn(&Self) -> bool) -> Option<Duration> {
        let start = self.now();
        while !is_reached(self) {
            if self.now() - start >= most {
                return None;
            }
            self.step();
        }
        Some(self.now() - start)
    }

    /// Runs until all clients are connected.
    pub(super) fn settle(&mut self) {
        let all = |lan: &Self| lan.guests.iter().all(|guest| guest.client.is_connected());
        assert!(self.until(Duration::from_secs(10), all).is_some(), "{:?}", self.guests[0].ends);
    }

    pub(super) fn run(&mut self, time: Duration) {
        self.until(time, |_| false);
    }
}

fn quic(air: &Shared, identity: &Identity, config: QuicConfig) -> QuicServer {
    QuicServer::over(AirWire::of(air, SERVER), identity, config).expect("the identity is good")
}
