//! Hosts that open many connections and finish none, beside honest clients (R26).
//!
//! *Invariant:* the hosts receive packets at each of their addresses, so they have cookies.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use repl::prelude::*;
use repl::{Endpoint, EndpointConfig, ServerEvent};

use super::world::Ship;

const TICK: Duration = Duration::from_millis(16);

/// How long the application needs to decide about a login.
const DECISION: Duration = Duration::from_millis(200);

/// How long a packet of the honest client travels, in each direction.
const ONE_WAY: Duration = Duration::from_millis(40);

const HONEST: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 4_000);

/// What the flooding hosts do.
#[derive(Clone, Copy)]
struct Flood {
    hosts: u32,
    /// How many new ports per second the hosts use, all hosts together.
    ports_per_second: u32,
    login: Login,
    max_connections: usize,
}

struct Scene {
    flood: Flood,
    server: Server,
    endpoint: Endpoint,
    now: Duration,
    ports: u32,
    /// The logins that wait for the application, and since when.
    logins: VecDeque<(Duration, ConnectionId)>,
    ship: ObjectRef<Ship>,
    /// The packets on their way to the honest client, and when they arrive.
    to_honest: VecDeque<(Duration, Vec<u8>)>,
}

/// Returns the address of a flooding host's port.
fn flooding(hosts: u32, port: u32) -> SocketAddr {
    SocketAddr::from(([198, 51, 100, (port % hosts) as u8], (port / hosts + 1) as u16))
}

fn client(session: u64) -> Client {
    let config = ClientConfig { max_objects: 64, ..ClientConfig::default() };
    let mut client = Client::new(config, Session::for_tests(session));
    client.register::<Ship>();
    client
}

impl Scene {
    fn new(flood: Flood) -> Self {
        let config = ServerConfig { max_objects: 64, login: flood.login, ..ServerConfig::default() };
        let mut server = Server::new(config);
        let ship = server.spawn(Ship { hull: 1 });
        let config = EndpointConfig { max_connections: flood.max_connections, ..EndpointConfig::default() };
        let endpoint = Endpoint::new(config, 0x1234_5678_9abc);
        let now = Duration::from_secs(50);
        let (logins, to_honest) = (VecDeque::new(), VecDeque::new());
        Self { flood, server, endpoint, now, ports: 0, logins, ship, to_honest }
    }

    /// Each new port gets a cookie, sends its hello with the cookie, and then nothing more.
    fn flood(&mut self) {
        for _ in 0..self.flood.ports_per_second * TICK.as_millis() as u32 / 1_000 {
            let (from, now) = (flooding(self.flood.hosts, self.ports), self.now);
            self.ports += 1;
            let mut client = client(1 << 40 | u64::from(self.ports));
            client.tick(self.now);
            let hello = client.poll_transmit().expect("a hello").to_vec();
            self.endpoint.receive(&mut self.server, self.now, from, &hello);
            self.transmit(|to, packet| {
                if to == from {
                    client.receive(now, packet).ok();
                }
            });
            if let Some(hello) = client.poll_transmit() {
                self.endpoint.receive(&mut self.server, self.now, from, hello);
            }
        }
    }

    /// Polls all packets. Packets to flooding hosts are passed to `arrived` immediately.
    fn transmit(&mut self, mut arrived: impl FnMut(SocketAddr, &[u8])) {
        while let Some((to, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            if to == HONEST {
                self.to_honest.push_back((self.now + ONE_WAY, packet.to_vec()));
            } else {
                arrived(to, packet);
            }
        }
    }

    fn decide(&mut self) {
        while let Some(event) = self.server.poll_event() {
            if let ServerEvent::Login(id, _) = event {
                self.logins.push_back((self.now, id));
            }
        }
        while self.logins.front().is_some_and(|(since, _)| self.now - *since >= DECISION) {
            let (_, id) = self.logins.pop_front().expect("it is there");
            self.server.connection(id).accept(&[]);
        }
    }
}

/// Returns the packets that have arrived by `now`.
fn arrived(link: &mut VecDeque<(Duration, Vec<u8>)>, now: Duration) -> Vec<Vec<u8>> {
    let count = link.partition_point(|(at, _)| *at <= now);
    link.drain(..count).map(|(_, packet)| packet).collect()
}

/// Runs the flood alone for one second, and then for three seconds beside an honest client. Returns the time
/// until the client had the ship and stayed connected, and the greatest number of connections at one time.
fn join_beside(flood: Flood) -> (Duration, usize) {
    let mut scene = Scene::new(flood);
    let mut honest = client(7);
    let mut to_server = VecDeque::new();
    let (mut joined, mut most) = (None, 0);
    let start = scene.now + Duration::from_secs(1);
    let end = start + Duration::from_secs(3);
    while scene.now < end {
        scene.now += TICK;
        let now = scene.now;
        scene.flood();
        if now >= start {
            honest.tick(now);
            while let Some(packet) = honest.poll_transmit() {
                to_server.push_back((now + ONE_WAY, packet.to_vec()));
            }
        }
        for packet in arrived(&mut to_server, now) {
            scene.endpoint.receive(&mut scene.server, now, HONEST, &packet);
        }
        scene.decide();
        scene.server[scene.ship].hull += 1;
        scene.server.tick(now);
        scene.transmit(|_, _| {});
        for packet in arrived(&mut scene.to_honest, now) {
            honest.receive(now, &packet).ok();
        }
        most = most.max(scene.server.connections().count());
        // The client may lose its place once more until its proof of the welcome has arrived.
        joined = joined.filter(|_| honest.is_connected());
        if honest.is_connected() && honest.get(scene.ship).is_some() {
            joined.get_or_insert(now - start);
        }
    }
    (joined.expect("the honest client joins"), most)
}

#[test]
fn r26_an_honest_client_joins_beside_floods_from_one_host_and_from_sixteen() {
    for hosts in [1, 16] {
        for login in [Login::Open, Login::Ask] {
            let flood = Flood { hosts, ports_per_second: 10_000, login, max_connections: 1_024 };
            let (joined, most) = join_beside(flood);
            assert!(joined <= Duration::from_millis(500), "{joined:?} beside {hosts} hosts");
            assert!(
                most <= hosts as usize * 8 + 1,
                "{most} connections, an eighth of a half-open place each"
            );
        }
    }
}

#[test]
fn r26_an_honest_client_joins_beside_a_flood_that_takes_all_places() {
    // 250 hosts occupy all 256 places, so the honest client may lose its place a few times.
    let flood = Flood { hosts: 250, ports_per_second: 2_500, login: Login::Open, max_connections: 1_024 };
    let (joined, _) = join_beside(flood);
    assert!(joined <= Duration::from_secs(3), "{joined:?}");
}

#[test]
fn r26_an_honest_client_joins_a_small_server_beside_a_flood() {
    for max_connections in [1, 2, 16] {
        for hosts in [1, 16] {
            for login in [Login::Open, Login::Ask] {
                let flood = Flood { hosts, ports_per_second: 1_000, login, max_connections };
                let (joined, _) = join_beside(flood);
                assert!(
                    joined <= Duration::from_millis(1_100),
                    "{joined:?} on a server of {max_connections} beside {hosts} hosts"
                );
            }
        }
    }
}
