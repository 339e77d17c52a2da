//! Links that lose packets at regular times, at most in every second tick (R9).
//!
//! *Invariant:* only the tick in which a packet was sent decides whether it is lost.

use std::time::Duration;

use repl::prelude::*;
use repl::{Channel, Endpoint, EndpointConfig};

/// The longest time until something arrives. A side tries at least four times a second, and up to three of
/// four tries are lost. Several tries in a row can fall into the lost part of a period.
const LONGEST: Duration = Duration::from_secs(20);

/// An object that changes rarely.
#[derive(Replicated, Default)]
#[replicated(all)]
struct Buoy {
    depth: u32,
}

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Note(u32);

/// The packets of the first `lost` ticks of each `period`, counted from `phase`, are lost.
#[derive(Clone, Copy, Debug)]
struct Pattern {
    hertz: u32,
    period: u32,
    lost: u32,
    phase: u32,
    /// Whether packets to the server are lost, and whether packets to the client are lost.
    directions: [bool; 2],
}

struct Sea {
    pattern: Pattern,
    server: Server,
    endpoint: Endpoint<u8>,
    client: Client,
    buoy: ObjectRef<Buoy>,
    ticks: u32,
    ends: Vec<DisconnectReason>,
}

fn register(side: &mut impl Register) {
    side.register::<Buoy>().register_message::<Note>(Channel::Ordered);
}

impl Sea {
    fn new(pattern: Pattern) -> Self {
        Self::of_session(5, pattern)
    }

    fn of_session(session: u64, pattern: Pattern) -> Self {
        let mut server = Server::new(ServerConfig::default());
        register(&mut server);
        let buoy = server.spawn(Buoy { depth: 1 });
        let config = ClientConfig { reconnects: false, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::for_tests(session));
        register(&mut client);
        let endpoint = Endpoint::new(EndpointConfig::default(), 3);
        Self { pattern, server, endpoint, client, buoy, ticks: 1_000, ends: Vec::new() }
    }

    fn now(&self) -> Duration {
        Duration::from_secs(1) * self.ticks / self.pattern.hertz
    }

    fn step(&mut self) {
        self.ticks += 1;
        let (now, Pattern { period, lost, phase, directions, .. }) = (self.now(), self.pattern);
        let is_lost = (self.ticks + phase) % period < lost;
        self.client.tick(now);
        while let Some(packet) = self.client.poll_transmit() {
            if !(is_lost && directions[0]) {
                self.endpoint.receive(&mut self.server, now, 9, packet);
            }
        }
        self.server.tick(now);
        while let Some((_, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            if !(is_lost && directions[1]) {
                self.client.receive(now, packet).ok();
            }
        }
        while let Some(event) = self.client.poll_event() {
            if let ClientEvent::Disconnected(reason) = event {
                self.ends.push(reason);
            }
        }
    }

    /// Runs until `is_done` returns true. Panics after `longest`.
    fn run_until(&mut self, longest: Duration, is_done: impl Fn(&mut Self) -> bool) {
        let end = self.now() + longest;
        while !is_done(self) {
            assert!(self.now() < end && self.ends.is_empty(), "{:?}: {:?}", self.pattern, self.ends);
            self.step();
        }
    }

    fn depth(&self) -> Option<u32> {
        self.client.get(self.buoy).map(|buoy| buoy.depth)
    }

    /// Joins, and then changes nothing for this time.
    fn rest(&mut self, time: Duration) {
        self.run_until(LONGEST, |sea| sea.depth() == Some(1));
        let rested = self.now() + time;
        while self.now() < rested {
            self.step();
            assert_eq!((&self.ends[..], self.client.is_connected()), (&[][..], true), "{:?}", self.pattern);
        }
    }

    /// Joins, rests for three timeouts, and then changes something in both directions.
    fn run(&mut self) {
        self.rest(Duration::from_secs(30));
        self.server[self.buoy].depth = 2;
        self.client.send(&Note(7)).expect("there is room");
        self.run_until(LONGEST, |sea| sea.depth() == Some(2));
        self.run_until(LONGEST, |sea| sea.server.poll_message::<Note>().is_some());
    }
}

#[test]
fn r09_a_client_joins_and_lives_and_hears_whatever_regular_losses_there_are() {
    for hertz in [8, 10, 15, 20, 30, 60, 64, 128] {
        for period in [2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 16, 20, 25, 30, 32, 64] {
            for lost in [1, period / 2] {
                for directions in [[true, true], [true, false], [false, true]] {
                    let phase = (hertz + period) % period;
                    Sea::new(Pattern { hertz, period, lost, phase, directions }).run();
                }
            }
        }
    }
}

#[test]
fn r09_the_first_state_arrives_in_whatever_phase_of_regular_losses_a_client_joins() {
    for hertz in [4, 10, 20, 30, 60, 64, 128] {
        for period in [2, 3, 4, 5, 6, 8, 10, 15, 16, 32] {
            for phase in 0..period {
                let directions = [false, true];
                let mut sea = Sea::new(Pattern { hertz, period, lost: period / 2, phase, directions });
                sea.run_until(Duration::from_secs(15), |sea| sea.depth() == Some(1));
            }
        }
    }
}

/// At 8 Hz, keep-alive packets are one or two ticks apart, so several in a row can be in ticks that lose
/// packets.
#[test]
fn r09_an_idle_connection_lives_for_long_while_every_second_tick_is_lost() {
    for session in 1..=40 {
        let pattern = Pattern { hertz: 8, period: 2, lost: 1, phase: 0, directions: [true, true] };
        Sea::of_session(session, pattern).rest(Duration::from_secs(300));
    }
}

/// A server that sends to only some of its clients in each tick, and these clients.
struct Convoy {
    tick: Duration,
    server: Server,
    endpoint: Endpoint<u8>,
    clients: Vec<Client>,
    buoy: ObjectRef<Buoy>,
    ticks: u32,
    /// How many hellos the clients have sent.
    hellos: usize,
}

impl Convoy {
    fn new(clients: u8, connections_per_tick: usize, timeout: Duration, tick: Duration) -> Self {
        let config = ServerConfig { connections_per_tick, timeout, ..ServerConfig::default() };
        let mut server = Server::new(config);
        register(&mut server);
        let buoy = server.spawn(Buoy { depth: 1 });
        let endpoint = Endpoint::new(EndpointConfig::default(), 3);
        let clients = (0..clients).map(|number| {
            let config = ClientConfig { reconnects: false, timeout, ..ClientConfig::default() };
            let mut client = Client::new(config, Session::for_tests(40 + u64::from(number)));
            register(&mut client);
            client
        });
        Self { tick, server, endpoint, clients: clients.collect(), buoy, ticks: 1_000, hellos: 0 }
    }

    /// Runs a tick, in which the buoy gets its number. Packets to clients arrive only if `arrives` is true.
    fn step(&mut self, arrives: bool) {
        self.ticks += 1;
        let now = self.tick * self.ticks;
        self.server[self.buoy].depth = self.ticks;
        for (address, client) in (0..).zip(&mut self.clients) {
            client.tick(now);
            while let Some(packet) = client.poll_transmit() {
                self.hellos += usize::from(packet.len() == 1_200);
                self.endpoint.receive(&mut self.server, now, address, packet);
            }
        }
        self.server.tick(now);
        while let Some((to, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            if arrives {
                self.clients[usize::from(to)].receive(now, packet).ok();
            }
        }
    }

    /// Returns the greatest age of the values that clients show, in ticks.
    fn oldest(&self) -> u32 {
        let depth = |client: &Client| client.get(self.buoy).map_or(0, |buoy| buoy.depth);
        self.ticks - self.clients.iter().map(depth).min().unwrap_or_default()
    }
}

#[test]
fn r09_regular_losses_meet_no_connection_in_all_its_turns() {
    let tick = Duration::from_millis(16);
    for (clients, turns) in [(2, 1), (4, 1), (4, 2), (6, 3), (8, 2), (9, 4), (5, 4)] {
        for (period, lost) in [(2, 1), (3, 1), (4, 2), (8, 4), (16, 8)] {
            let mut convoy = Convoy::new(clients, turns, Duration::from_secs(10), tick);
            (0..100).for_each(|_| convoy.step(true));
            let mut oldest = 0;
            for step in 0..1_500 {
                convoy.step(step % period >= lost);
                oldest = oldest.max(convoy.oldest());
            }
            let longest = 25 * u32::from(clients).div_ceil(turns as u32).max(period);
            assert!(
                oldest < longest,
                "{oldest} ticks old: {clients} clients, {turns} turns, {lost} of {period} ticks are lost"
            );
        }
    }
}

#[test]
fn r09_a_connection_without_a_turn_is_sent_its_keep_alives() {
    // Turns are further apart than the timeout.
    let (tick, timeout) = (Duration::from_millis(100), Duration::from_secs(1));
    let mut convoy = Convoy::new(24, 1, timeout, tick);
    (0..20).for_each(|_| convoy.step(true));
    let hellos = convoy.hellos;
    (0..600).for_each(|_| convoy.step(true));
    assert_eq!(convoy.hellos, hellos, "a client that receives nothing repeats its hello");
    for (number, client) in convoy.clients.iter_mut().enumerate() {
        let events: Vec<_> = std::iter::from_fn(|| client.poll_event()).collect();
        let is_end = |event: &ClientEvent| matches!(event, ClientEvent::Disconnected(_));
        assert!(client.is_connected() && !events.iter().any(is_end), "client {number}: {events:?}");
    }
}
