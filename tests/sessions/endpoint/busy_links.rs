//! Links that lose packets at regular times while each tick sends something new (R9). On such a link acks
//! never stop, so nothing shows that the same content is lost again and again.
//!
//! *Invariant:* only the tick in which a packet was sent decides whether it is lost.

use std::collections::VecDeque;
use std::time::Duration;

use repl::prelude::*;
use repl::{Channel, Endpoint, EndpointConfig};

/// The longest time until something arrives is the longer of these two times.
const LONGEST_SECONDS: u32 = 20;
const LONGEST_ROUND_TRIPS: u32 = 40;

/// An object that changes in each tick.
#[derive(Replicated, Default)]
#[replicated(all)]
struct Wave {
    height: u32,
}

/// An object that changes rarely.
#[derive(Replicated, Default)]
#[replicated(all)]
struct Rock {
    depth: u32,
}

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Oar(u32);

#[derive(NetSerialize, Clone, Debug, PartialEq)]
struct Shout(u32);

/// The packets of the first `lost` ticks of each `period` are lost. All others take `delay` ticks.
#[derive(Clone, Copy, Debug)]
struct Pattern {
    hertz: u32,
    period: u32,
    lost: u32,
    delay: u32,
    /// Whether packets to the server are lost, and whether packets to the client are lost.
    directions: [bool; 2],
}

/// Packets on their way, each with the tick in which it arrives.
type Way = VecDeque<(u32, Vec<u8>)>;

struct Surf {
    pattern: Pattern,
    server: Server,
    endpoint: Endpoint<u8>,
    client: Client,
    wave: ObjectRef<Wave>,
    rock: ObjectRef<Rock>,
    ways: [Way; 2],
    ticks: u32,
}

fn register(side: &mut impl Register) {
    side.register::<Wave>()
        .register::<Rock>()
        .register_message::<Oar>(Channel::Sequenced { copies: 2 })
        .register_message::<Shout>(Channel::Ordered);
}

/// Returns the packets that arrive by this tick.
fn arriving(way: &mut Way, tick: u32) -> impl Iterator<Item = Vec<u8>> {
    std::iter::from_fn(move || {
        way.front().filter(|(at, _)| *at <= tick)?;
        way.pop_front().map(|(_, packet)| packet)
    })
}

impl Surf {
    fn new(pattern: Pattern) -> Self {
        let mut server = Server::new(ServerConfig::default());
        register(&mut server);
        let wave = server.spawn(Wave { height: 0 });
        let rock = server.spawn(Rock { depth: 0 });
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(5));
        register(&mut client);
        let endpoint = Endpoint::new(EndpointConfig::default(), 3);
        let ways = [Way::new(), Way::new()];
        Self { pattern, server, endpoint, client, wave, rock, ways, ticks: 1_000 }
    }

    /// Runs a tick, in which the wave changes and the client sends an input.
    fn step(&mut self, loses: bool) {
        self.ticks += 1;
        let Pattern { hertz, period, lost, delay, directions } = self.pattern;
        let now = Duration::from_secs(1) * self.ticks / hertz;
        let is_lost = |direction: usize| loses && directions[direction] && self.ticks % period < lost;
        let (up_is_lost, down_is_lost) = (is_lost(0), is_lost(1));
        let [up, down] = &mut self.ways;
        for packet in arriving(down, self.ticks) {
            self.client.receive(now, &packet).ok();
        }
        self.client.tick(now);
        self.client.send(&Oar(self.ticks)).ok();
        while let Some(packet) = self.client.poll_transmit() {
            if !up_is_lost {
                up.push_back((self.ticks + delay, packet.to_vec()));
            }
        }
        for packet in arriving(up, self.ticks) {
            self.endpoint.receive(&mut self.server, now, 9, &packet);
        }
        while self.server.poll_message::<Oar>().is_some() {}
        self.server[self.wave].height = self.ticks;
        self.server.tick(now);
        while let Some((_, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            if !down_is_lost {
                down.push_back((self.ticks + delay.max(1), packet.to_vec()));
            }
        }
    }

    fn depth(&self) -> Option<u32> {
        self.client.get(self.rock).map(|rock| rock.depth)
    }

    /// Joins, and then changes the rock and sends a shout in both directions, again and again. Panics if
    /// this takes too long to arrive.
    fn run(&mut self) {
        while self.depth().is_none() {
            self.step(false);
        }
        (0..200).for_each(|_| self.step(true));
        let Pattern { hertz, delay, .. } = self.pattern;
        let longest = (LONGEST_SECONDS * hertz).max((delay * 2 + 2) * LONGEST_ROUND_TRIPS);
        for number in 1..=8 {
            (0..7).for_each(|_| self.step(true));
            self.server[self.rock].depth = number;
            let id = self.server.connections().next().expect("a connection");
            self.server.connection(id).send(&Shout(number)).expect("there is room");
            self.client.send(&Shout(number)).expect("there is room");
            let (mut ticks, mut has_arrived) = (0, [false; 3]);
            while has_arrived != [true; 3] {
                self.step(true);
                has_arrived[0] |= self.depth() == Some(number);
                has_arrived[1] |= self.client.poll_message() == Some(Shout(number));
                has_arrived[2] |= self.server.poll_message::<Shout>().is_some();
                ticks += 1;
                assert!(ticks < longest, "{has_arrived:?} after {ticks} ticks: {:?}", self.pattern);
            }
        }
    }
}

#[test]
fn r09_what_is_lost_at_regular_times_arrives_while_other_things_change() {
    for hertz in [10, 60] {
        for delay in [0, 1, 2, 4, 9] {
            for period in [2, 3, 4, 6, 8, 10, 12, 20] {
                for directions in [[true, true], [true, false], [false, true]] {
                    Surf::new(Pattern { hertz, period, lost: period / 2, delay, directions }).run();
                }
            }
        }
    }
}
