//! Several sessions at one address: hellos that arrive late, and clients that were started again (R25).
//!
//! *Invariant:* the address belongs to the client that was the last to show that it received its welcome.

use std::time::Duration;

use repl::prelude::*;
use repl::{Endpoint, EndpointConfig, ServerEvent};

use super::world::{Ship, TICK};

/// The address of all clients.
const HERE: u16 = 7;

struct Place {
    server: Server,
    endpoint: Endpoint<u16>,
    ship: ObjectRef<Ship>,
    now: Duration,
}

fn client(session: u64) -> Client {
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(session));
    client.register::<Ship>();
    client
}

impl Place {
    fn new(login: Login) -> Self {
        let mut server = Server::new(ServerConfig { login, ..ServerConfig::default() });
        let ship = server.spawn(Ship { hull: 1 });
        let endpoint = Endpoint::new(EndpointConfig::default(), 99);
        Self { server, endpoint, ship, now: Duration::from_secs(50) }
    }

    fn hear(&mut self, packet: &[u8]) {
        self.endpoint.receive(&mut self.server, self.now, HERE, packet);
    }

    /// Returns the packets that the client sends in a tick.
    fn sent_by(&mut self, client: &mut Client) -> Vec<Vec<u8>> {
        client.tick(self.now);
        std::iter::from_fn(|| client.poll_transmit().map(<[u8]>::to_vec)).collect()
    }

    /// Runs a tick of the server, and passes all its packets to the client.
    fn answer(&mut self, client: &mut Client) {
        self.now += TICK;
        self.server[self.ship].hull += 1;
        self.server.tick(self.now);
        while let Some((_, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            client.receive(self.now, packet).ok();
        }
    }

    fn step(&mut self, client: &mut Client) {
        self.sent_by(client).iter().for_each(|packet| self.hear(packet));
        self.answer(client);
    }

    /// Returns the hello of a client with a valid cookie. The hello is not delivered.
    fn late_hello(&mut self, session: u64) -> Vec<u8> {
        let mut late = client(session);
        self.sent_by(&mut late).iter().for_each(|packet| self.hear(packet));
        while let Some((_, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            late.receive(self.now, packet).ok();
        }
        late.poll_transmit().expect("a hello with a cookie").to_vec()
    }

    /// Returns a client that has received its welcome. The packet that proves this has not reached the
    /// server.
    fn welcomed(&mut self, session: u64) -> Client {
        let mut newcomer = client(session);
        while !newcomer.is_connected() {
            self.sent_by(&mut newcomer).iter().for_each(|packet| self.hear(packet));
            self.now += TICK;
            self.server.tick(self.now);
            while let Some((_, packet)) = self.endpoint.poll_transmit(&mut self.server) {
                newcomer.receive(self.now, packet).ok();
            }
        }
        newcomer
    }
}

fn ends(client: &mut Client) -> Vec<DisconnectReason> {
    let ended = |event| match event {
        ClientEvent::Disconnected(reason) => Some(reason),
        _ => None,
    };
    std::iter::from_fn(|| client.poll_event()).filter_map(ended).collect()
}

#[test]
fn r25_a_late_hello_ends_no_session_that_is_beginning_at_its_address() {
    for others in 0..6 {
        let mut place = Place::new(Login::Open);
        let mut settled = client(70);
        (0..20).for_each(|_| place.step(&mut settled));
        assert!(settled.is_connected());
        let late: Vec<_> = (0..others).map(|other| place.late_hello(80 + other)).collect();
        let mut newcomer = place.welcomed(90);
        late.iter().take(3).for_each(|hello| place.hear(hello));
        (0..40).for_each(|_| place.step(&mut newcomer));
        assert_eq!(ends(&mut newcomer), [], "{others} late hellos");
        let shown = newcomer.get(place.ship).map(|ship| ship.hull);
        assert_eq!(shown, Some(place.server[place.ship].hull), "{others} late hellos");
        // Late hellos after the proof change nothing either.
        late.iter().for_each(|hello| place.hear(hello));
        (0..400).for_each(|_| place.step(&mut newcomer));
        assert_eq!(ends(&mut newcomer), [], "{others} late hellos");
    }
}

#[test]
fn r26_an_address_has_at_most_four_newcomers_and_one_that_waits_for_its_login_stays() {
    let mut place = Place::new(Login::Ask);
    let mut settled = client(70);
    let mut logins = Vec::new();
    let decide = |place: &mut Place, logins: &mut Vec<ConnectionId>| {
        while let Some(event) = place.server.poll_event() {
            if let ServerEvent::Login(id, _) = event {
                logins.push(id);
            }
        }
    };
    for _ in 0..20 {
        place.step(&mut settled);
        decide(&mut place, &mut logins);
        logins.drain(..).for_each(|id| assert!(place.server.connection(id).accept(&[])));
    }
    assert!(settled.is_connected());
    for session in 80..100 {
        let hello = place.late_hello(session);
        place.hear(&hello);
    }
    decide(&mut place, &mut logins);
    assert_eq!((logins.len(), place.server.connections().count()), (4, 5));
    (0..20).for_each(|_| place.step(&mut settled));
    assert!(settled.is_connected(), "{:?}", ends(&mut settled));
}

#[test]
fn r25_a_client_that_is_replaced_tries_once_more() {
    let mut place = Place::new(Login::Open);
    let mut clients = [client(70), client(71)];
    let mut all_ends = [const { Vec::new() }; 2];
    (0..20).for_each(|_| place.step(&mut clients[0]));
    for _ in 0..2_000 {
        let sent: Vec<_> = clients.iter_mut().flat_map(|client| place.sent_by(client)).collect();
        sent.iter().for_each(|packet| place.hear(packet));
        place.now += TICK;
        place.server.tick(place.now);
        while let Some((_, packet)) = place.endpoint.poll_transmit(&mut place.server) {
            clients.iter_mut().for_each(|client| _ = client.receive(place.now, packet));
        }
        for (client, ends_of) in clients.iter_mut().zip(&mut all_ends) {
            ends_of.extend(ends(client));
        }
    }
    // Both clients have the same address, so each replaces the other until one of them gives up.
    assert_eq!(all_ends[0], [DisconnectReason::Replaced, DisconnectReason::Replaced]);
    assert_eq!(all_ends[1], [DisconnectReason::Replaced]);
    assert!(clients[0].connection_info().is_over() && clients[1].is_connected());
}

#[test]
fn r25_a_client_that_is_replaced_after_a_long_session_tries_again() {
    let mut place = Place::new(Login::Open);
    let mut client_here = client(70);
    (0..20).for_each(|_| place.step(&mut client_here));
    for other in 0..3 {
        // Another client has the address for a moment, for example because it was given to another host.
        let mut other = client(80 + other);
        (0..10).for_each(|_| place.step(&mut other));
        assert!(other.is_connected());
        drop(other);
        // The first client comes back, and stays for more than a timeout.
        (0..800).for_each(|_| place.step(&mut client_here));
        assert!(client_here.is_connected(), "{:?}", ends(&mut client_here));
    }
    assert_eq!(ends(&mut client_here), [const { DisconnectReason::Replaced }; 3]);
}

#[test]
fn r25_a_client_that_was_started_again_with_the_same_session_joins_anew() {
    let mut place = Place::new(Login::Open);
    let mut first = client(70);
    (0..300).for_each(|_| place.step(&mut first));
    drop(first);
    let mut second = client(70);
    let started = place.now;
    while second.get(place.ship).map(|ship| ship.hull) != Some(place.server[place.ship].hull) {
        assert!(place.now - started < Duration::from_secs(2), "{:?}", ends(&mut second));
        place.step(&mut second);
    }
    assert_eq!(ends(&mut second), [DisconnectReason::Taken]);
    (0..1_000).for_each(|_| place.step(&mut second));
    assert_eq!((ends(&mut second), place.server.connections().count()), (vec![], 1));
}

#[test]
fn r26_newcomers_that_have_ended_cost_the_packets_of_their_address_nothing() {
    let mut place = Place::new(Login::Ask);
    let mut settled = client(70);
    let decide = |place: &mut Place, accepts: bool| {
        while let Some(event) = place.server.poll_event() {
            if let ServerEvent::Login(id, _) = event {
                assert!(if accepts {
                    place.server.connection(id).accept(&[])
                } else {
                    place.server.connection(id).refuse("no")
                });
            }
        }
    };
    for _ in 0..20 {
        place.step(&mut settled);
        decide(&mut place, true);
    }
    assert!(settled.is_connected());
    for session in 80..580 {
        let hello = place.late_hello(session);
        place.hear(&hello);
        decide(&mut place, false);
        let debug = format!("{:?}", place.endpoint);
        let (_, newcomers) = debug.split_once("newcomers: [").expect("the residents of the address");
        let (newcomers, _) = newcomers.split_once(']').expect("the end of the list");
        assert!(newcomers.matches("ConnectionId").count() <= 2, "{newcomers}");
    }
    (0..20).for_each(|_| place.step(&mut settled));
    assert!(settled.is_connected(), "{:?}", ends(&mut settled));
}
