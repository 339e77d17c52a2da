//! A server with few places. Hosts try to fill them with connections that they never finish (R26).
//!
//! *Invariant:* the hosts receive packets at each of their addresses, but never show that they have received
//! a welcome.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use repl::prelude::*;
use repl::{DisconnectReason, Endpoint, EndpointConfig};

use super::world::{Ship, TICK};

fn host(number: u8, port: u16) -> SocketAddr {
    SocketAddr::from(([198, 51, 100, number], port))
}

fn client(session: u64) -> Client {
    let config = ClientConfig { reconnects: false, ..ClientConfig::default() };
    let mut client = Client::new(config, Session::for_tests(session));
    client.register::<Ship>();
    client
}

fn ends(client: &mut Client) -> Vec<DisconnectReason> {
    let ended = |event| match event {
        ClientEvent::Disconnected(reason) => Some(reason),
        _ => None,
    };
    std::iter::from_fn(|| client.poll_event()).filter_map(ended).collect()
}

/// A server and an endpoint with few places.
struct Inn {
    server: Server,
    endpoint: Endpoint,
    now: Duration,
    sessions: u64,
    /// The connections that have begun and have not ended, according to the events.
    begun: BTreeSet<ConnectionId>,
}

impl Inn {
    fn new(config: EndpointConfig) -> Self {
        let mut server = Server::new(ServerConfig::default());
        server.spawn(Ship { hull: 1 });
        let endpoint = Endpoint::new(config, 0x1234_5678_9abc);
        Self { server, endpoint, now: Duration::from_secs(50), sessions: 1_000, begun: BTreeSet::new() }
    }

    fn hear(&mut self, from: SocketAddr, packets: &[Vec<u8>]) {
        for packet in packets {
            self.endpoint.receive(&mut self.server, self.now, from, packet);
        }
    }

    /// Passes the packets to a client that are for its address, and drops all others.
    fn answer(&mut self, at: SocketAddr, client: &mut Client) {
        while let Some((to, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            if to == at {
                client.receive(self.now, packet).ok();
            }
        }
        self.note_events();
    }

    fn note_events(&mut self) {
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Connected(id) => assert!(self.begun.insert(id)),
                ServerEvent::Disconnected(id, _) => _ = self.begun.remove(&id),
                _ => {}
            }
        }
    }

    /// Opens a connection from an address. Returns the client, which has received no answer yet.
    fn opened(&mut self, from: SocketAddr) -> Client {
        self.sessions += 1;
        let mut client = client(self.sessions);
        let sent = sent_by(&mut client, self.now);
        self.hear(from, &sent);
        self.answer(from, &mut client);
        let sent = sent_by(&mut client, self.now);
        self.hear(from, &sent);
        client
    }

    /// Opens a connection from an address, and says nothing more. Returns the client.
    fn half_open(&mut self, from: SocketAddr) -> Client {
        let mut client = self.opened(from);
        self.answer(from, &mut client);
        client
    }

    /// Runs ticks of the server and of a client.
    fn run(&mut self, at: SocketAddr, client: &mut Client, ticks: u32) {
        for _ in 0..ticks {
            self.now += TICK;
            let sent = sent_by(client, self.now);
            self.hear(at, &sent);
            self.server.tick(self.now);
            self.answer(at, client);
        }
    }

    /// Returns a client at this address. The server knows that the client is connected.
    fn settled(&mut self, at: SocketAddr) -> Client {
        self.sessions += 1;
        let mut client = client(self.sessions);
        self.run(at, &mut client, 20);
        assert!(client.is_connected(), "{:?}", ends(&mut client));
        client
    }

    fn open(&self) -> usize {
        self.server.connections().count()
    }
}

/// Returns the packets that a client sends now.
fn sent_by(client: &mut Client, now: Duration) -> Vec<Vec<u8>> {
    client.tick(now);
    std::iter::from_fn(|| client.poll_transmit().map(<[u8]>::to_vec)).collect()
}

#[test]
fn r26_no_half_open_connection_keeps_the_last_place() {
    for max_connections in 1..6 {
        let mut inn = Inn::new(EndpointConfig { max_connections, ..EndpointConfig::default() });
        for place in 0..max_connections as u8 {
            for port in 1..=200 {
                inn.half_open(host(port as u8 % 10, port));
                assert!(inn.begun.len() <= max_connections, "{:?}", inn.begun);
            }
            inn.settled(host(100 + place, 1));
            assert!(inn.begun.len() <= max_connections, "{:?}", inn.begun);
        }
        // Honest clients have all places of the server now.
        let mut late = inn.half_open(host(200, 1));
        assert_eq!((inn.begun.len(), ends(&mut late)), (max_connections, vec![DisconnectReason::Full]));
    }
}

#[test]
fn r26_half_open_connections_make_room_for_clients_that_show_their_tokens() {
    let mut inn = Inn::new(EndpointConfig { max_connections: 4, ..EndpointConfig::default() });
    // The first two connections have begun, and occupy two places.
    (1..=2).for_each(|number| _ = inn.half_open(host(number, 1)));
    assert_eq!(inn.begun.len(), 2);
    for number in 3..=6 {
        inn.settled(host(number, 1));
        assert!(inn.begun.len() <= 4, "{:?}", inn.begun);
    }
    assert_eq!((inn.begun.len(), inn.open()), (4, 4));
}

#[test]
fn r26_half_open_connections_of_a_host_leave_room_for_its_other_clients() {
    let mut inn = Inn::new(EndpointConfig { max_per_origin: 3, ..EndpointConfig::default() });
    inn.settled(host(1, 1));
    (2..50).for_each(|port| _ = inn.half_open(host(1, port)));
    assert_eq!(inn.open(), 3);
    inn.settled(host(1, 100));
    inn.settled(host(1, 101));
    let mut late = inn.half_open(host(1, 102));
    assert_eq!(ends(&mut late), [DisconnectReason::Full]);
}

#[test]
fn r26_no_host_takes_more_than_half_of_the_half_open_places() {
    for (max_connections, max_half_open, share) in [
        (1_024, 1, 1),
        (1_024, 2, 1),
        (1_024, 3, 1),
        (1_024, 4, 2),
        (1_024, 7, 3),
        (1_024, 64, 4),
        (16, 256, 4),
    ]
    .into_iter()
    .chain([(1_024, 256, 8), (4, 256, 2), (1_024, 1_024, 32), (256, 1_024, 8)])
    {
        let config = EndpointConfig { max_connections, max_half_open, ..EndpointConfig::default() };
        let mut inn = Inn::new(config);
        (1..100).for_each(|port| _ = inn.half_open(host(1, port)));
        assert_eq!(inn.open(), share, "{max_connections} connections, {max_half_open} half open");
    }
}

#[test]
fn r26_half_open_connections_do_not_make_the_server_forget_why_others_ended() {
    for closes_itself in [false, true] {
        let limits = EndpointConfig { max_half_open: 4, max_ended: 8, ..EndpointConfig::default() };
        let mut inn = Inn::new(limits);
        let mut honest = inn.settled(host(1, 1));
        let id = *inn.begun.first().expect("it has begun");
        inn.server.connection(id).disconnect_with("good night");
        // The disconnect packet is lost.
        while inn.endpoint.poll_transmit(&mut inn.server).is_some() {}
        for port in 1..200 {
            let from = host(2 + port as u8 % 16, port);
            let mut guest = inn.opened(from);
            if closes_itself {
                guest.disconnect();
                let farewell: Vec<_> =
                    std::iter::from_fn(|| guest.poll_transmit().map(<[u8]>::to_vec)).collect();
                assert!(!farewell.is_empty());
                inn.hear(from, &farewell);
            }
            while inn.endpoint.poll_transmit(&mut inn.server).is_some() {}
        }
        inn.run(host(1, 1), &mut honest, 100);
        let reason = DisconnectReason::ClosedWith("good night".to_owned());
        assert_eq!(ends(&mut honest), [reason], "{closes_itself}");
    }
}

#[test]
fn r26_who_is_evicted_is_told_so_once_and_then_may_come_again() {
    let mut inn = Inn::new(EndpointConfig { max_half_open: 1, ..EndpointConfig::default() });
    let at = host(1, 1);
    let mut evicted = inn.opened(at);
    while inn.endpoint.poll_transmit(&mut inn.server).is_some() {}
    let other = inn.opened(host(2, 1));
    assert!(!other.is_connected());
    let told = std::iter::from_fn(|| inn.endpoint.poll_transmit(&mut inn.server).map(|(to, _)| to));
    assert!(told.filter(|to| *to == at).count() <= 2, "one packet for each seal");
    // The disconnect packet is lost, so the client repeats its hello.
    inn.run(at, &mut evicted, 20);
    assert_eq!((ends(&mut evicted), evicted.is_connected()), (vec![], true));
}

#[test]
fn r26_an_endpoint_forgets_no_ended_connection_of_another_one_or_of_none() {
    let few = || EndpointConfig { max_ended: 1, ..EndpointConfig::default() };
    let mut inn = Inn::new(few());
    let mut other = Endpoint::<u8>::new(few(), 99);
    let own = inn.server.connect(inn.now);
    inn.server.connection(own).disconnect();
    let mut guest = client(5);
    for _ in 0..20 {
        inn.now += TICK;
        for packet in sent_by(&mut guest, inn.now) {
            other.receive(&mut inn.server, inn.now, 1, &packet);
        }
        inn.server.tick(inn.now);
        while let Some((_, packet)) = other.poll_transmit(&mut inn.server) {
            guest.receive(inn.now, packet).ok();
        }
    }
    inn.note_events();
    let of_other = *inn.begun.first().expect("it has begun");
    inn.server.connection(of_other).disconnect();
    for place in 0..4 {
        inn.settled(host(1 + place, 1));
        inn.note_events();
        let id = *inn.begun.last().expect("it has begun");
        inn.server.connection(id).disconnect();
        (10..20).for_each(|port| _ = inn.half_open(host(9, port)));
    }
    assert!(
        inn.server.connection_info(own).stats().is_some()
            && inn.server.connection_info(of_other).stats().is_some()
    );
}
