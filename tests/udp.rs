//! A server and a client over real sockets and with a real clock.
//!
//! *Invariant:* no test relies on how long a packet takes. The tests wait until the expected result is there.

use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use repl::prelude::*;
use repl::{Endpoint, EndpointConfig};

#[derive(Replicated, Default)]
#[replicated(all)]
struct Ship {
    hull: u32,
}

/// A server and a client in one thread.
struct World {
    start: Instant,
    socket: UdpSocket,
    server: Server,
    endpoint: Endpoint,
    ship: ObjectRef<Ship>,
    client_socket: UdpSocket,
    client: Client,
    events: Vec<ServerEvent>,
}

fn bind() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.set_nonblocking(true).expect("a socket that does not block");
    socket
}

fn address(socket: &UdpSocket) -> SocketAddr {
    socket.local_addr().expect("the socket is bound")
}

impl World {
    fn new() -> Self {
        let mut server = Server::new(ServerConfig::default());
        let ship = server.spawn(Ship { hull: 1 });
        let mut client = Client::new(
            ClientConfig { reconnects: false, ..ClientConfig::default() },
            Session::for_tests(70),
        );
        client.register::<Ship>();
        Self {
            start: Instant::now(),
            socket: bind(),
            server,
            endpoint: Endpoint::new(EndpointConfig::default(), 5),
            ship,
            client_socket: bind(),
            client,
            events: Vec::new(),
        }
    }

    fn tick(&mut self) {
        let (now, mut buffer) = (self.start.elapsed(), [0; 1_500]);
        self.client.tick(now);
        while let Some(packet) = self.client.poll_transmit() {
            self.client_socket.send_to(packet, address(&self.socket)).ok();
        }
        while let Ok((length, from)) = self.socket.recv_from(&mut buffer) {
            self.endpoint.receive(&mut self.server, now, from, &buffer[..length]);
        }
        self.server[self.ship].hull += 1;
        self.server.tick(now);
        while let Some((to, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            self.socket.send_to(packet, to).ok();
        }
        while let Ok((length, _)) = self.client_socket.recv_from(&mut buffer) {
            self.client.receive(now, &buffer[..length]).ok();
        }
        self.events.extend(std::iter::from_fn(|| self.server.poll_event()));
        thread::sleep(Duration::from_millis(5));
    }

    /// # Panics
    /// Panics if `is_done` is not true within 8 s.
    fn run_until(&mut self, is_done: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_done(self) {
            assert!(start.elapsed() < Duration::from_secs(8), "nothing happens");
            self.tick();
        }
    }

    /// Returns the hull of the ship on the client, or 0 if the client does not have the ship.
    fn shown(&self) -> u32 {
        self.client.get(self.ship).map_or(0, |ship| ship.hull)
    }
}

#[test]
fn r25_a_client_that_binds_another_socket_goes_on_with_its_session() {
    let mut world = World::new();
    world.run_until(|world| world.shown() > 0);
    let [ServerEvent::Connected(id)] = world.events[..] else { panic!("one connection begins") };
    for _ in 0..2 {
        let before = address(&world.client_socket);
        assert_eq!(world.endpoint.address(id), Some(before));
        let hull = world.server[world.ship].hull;
        let spawned = world.server.spawn(Ship { hull: 7 });
        world.client_socket = bind();
        let after = address(&world.client_socket);
        assert_ne!(before, after);
        world.run_until(|world| world.shown() > hull && world.client.contains(spawned));
        assert_eq!(world.endpoint.address(id), Some(after));
    }
    assert_eq!(world.events, [ServerEvent::Connected(id)], "the session has neither ended nor begun again");
}
