//! Links that lose packets at regular times, up to those of every second tick (R9).
//!
//! *Invariant:* a packet is lost or not because of the tick in which it was sent, and of nothing else.

use std::time::Duration;

use repl::prelude::*;
use repl::{Channel, Endpoint, EndpointConfig};

/// The longest time until something arrives. Up to three of four tries fail, and there are at least four tries a
/// second, of which several in a row can meet the same part of a period.
const LONGEST: Duration = Duration::from_secs(20);

/// An object that changes rarely.
#[derive(Replicated, Default)]
#[replicated(all)]
struct Buoy {
    depth: u32,
}

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Note(u32);

/// Which packets are lost: those of the first `lost` ticks of each `period`, counted from `phase`.
#[derive(Clone, Copy, Debug)]
struct Pattern {
    hertz: u32,
    period: u32,
    lost: u32,
    phase: u32,
    /// Whether the packets to the server and those to the client are lost.
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
        let mut server = Server::new(ServerConfig::default());
        register(&mut server);
        let buoy = server.spawn(Buoy { depth: 1 });
        let config = ClientConfig { reconnects: false, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::for_tests(5));
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

    /// Joins, rests for three timeouts, and then changes something in both directions.
    fn run(&mut self) {
        self.run_until(LONGEST, |sea| sea.depth() == Some(1));
        let rested = self.now() + Duration::from_secs(30);
        while self.now() < rested {
            self.step();
            assert_eq!((&self.ends[..], self.client.is_connected()), (&[][..], true), "{:?}", self.pattern);
        }
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
