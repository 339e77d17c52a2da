//! A client that joins late, over a link that is too slow for the world: how many bytes the join costs, and
//! how long it takes (R26).
//!
//! *Invariant:* all packets go through the simulator, and its links have a rate and a queue.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{Clock, LinkConditions, Loss, Network, PeerId};

const SERVER: PeerId = PeerId(0);
const CLIENT: PeerId = PeerId(1);

#[derive(Replicated, Default)]
#[replicated(all)]
struct Rock {
    place: [f32; 3],
    marks: Vec<u32>,
}

fn rock(number: u32) -> Rock {
    let marks =
        (0..20).map(|mark: u32| (mark + 1).wrapping_mul(number.wrapping_mul(0x9e37_79b9) | 1)).collect();
    Rock { place: [number as f32 + 0.5, 2.5, 3.25], marks }
}

/// A world with this many rocks, and a client that will receive them.
struct Join {
    server: Server,
    client: Client,
    connection: ConnectionId,
    network: Network,
    clock: Clock,
    /// The bytes that the server sent.
    sent: usize,
    /// The bytes that the server sent in the busiest tick and in the current tick.
    busiest: usize,
}

impl Join {
    fn new(rocks: u32, link: LinkConditions, config: ServerConfig, seed: u64) -> Self {
        let mut server = Server::new(config);
        for number in 0..rocks {
            server.spawn(rock(number));
        }
        let mut client = Client::new(ClientConfig::default(), 5);
        client.register::<Rock>();
        let connection = server.connect(Duration::ZERO);
        let mut network = Network::new(seed);
        network.connect(SERVER, CLIENT, link);
        Self { server, client, connection, network, clock: Clock::at_hz(60), sent: 0, busiest: 0 }
    }

    fn tick(&mut self) {
        let now = self.clock.tick();
        while let Some(delivery) = self.network.deliver(now) {
            if delivery.to == SERVER {
                self.server.receive(self.connection, now, delivery.bytes);
            } else {
                self.client.receive(now, delivery.bytes).expect("a packet of the server");
            }
        }
        self.server.tick(now);
        let before = self.sent;
        while let Some(packet) = self.server.poll_transmit(self.connection) {
            self.sent += packet.len();
            self.network.send(now, SERVER, CLIENT, packet);
        }
        self.busiest = self.busiest.max(self.sent - before);
        self.client.tick(now);
        while let Some(packet) = self.client.poll_transmit() {
            self.network.send(now, CLIENT, SERVER, packet);
        }
    }

    /// Runs until the client has this many rocks. Returns the elapsed time.
    fn wait_for(&mut self, rocks: usize, patience: Duration) -> Duration {
        let start = self.clock.now();
        while self.client.objects::<Rock>().count() < rocks {
            self.tick();
            let passed = self.clock.now() - start;
            let here = self.client.objects::<Rock>().count();
            assert!(passed < patience, "{here} of {rocks} rocks after {passed:?}, {} bytes sent", self.sent);
        }
        self.clock.now() - start
    }
}

#[test]
fn r26_a_late_join_of_1_7_mb_over_a_mobile_link_sends_2_2_mb_at_most() {
    const ROCKS: usize = 18_200;
    for seed in 0..4 {
        let config = ServerConfig::default();
        let mut join = Join::new(ROCKS as u32, LinkConditions::mobile(), config, seed);
        join.wait_for(ROCKS, Duration::from_secs(40));
        // In the end the client has received the whole world exactly once.
        let world = ROCKS * 94;
        assert!(world > 1_690_000);
        assert!(join.sent > world * 9 / 10, "{} bytes sent: the world is smaller than it seems", join.sent);
        assert!(join.sent <= 2_200_000, "{} bytes sent", join.sent);
    }
}

#[test]
fn a_late_join_over_a_local_network_is_quick() {
    const ROCKS: usize = 5_000;
    let mut join = Join::new(ROCKS as u32, LinkConditions::lan(), ServerConfig::default(), 1);
    let took = join.wait_for(ROCKS, Duration::from_secs(5));
    assert!(took < Duration::from_millis(700), "{took:?}");
}

#[test]
fn r26_a_link_that_goes_silent_is_probed_and_comes_back_at_once() {
    const ROCKS: usize = 3_000;
    let mut join = Join::new(ROCKS as u32, LinkConditions::wifi(), ServerConfig::default(), 2);
    join.wait_for(ROCKS / 3, Duration::from_secs(20));
    let links: Vec<_> = join.network.links().map(|(link, ..)| link).collect();
    links.iter().for_each(|&link| join.network.sever(link));
    (0..120).for_each(|_| join.tick());
    // Two seconds later the server sends only two packets for each retry, and a keep-alive packet.
    let before = join.sent;
    (0..120).for_each(|_| join.tick());
    let probes = join.sent - before;
    assert!(probes < 2 * 9 * 1_200 + 200, "{probes} bytes to a silent link in two seconds");
    links.iter().for_each(|&link| join.network.mend(link));
    let took = join.wait_for(ROCKS, Duration::from_secs(10));
    assert!(took < Duration::from_millis(2_600), "{took:?} after the silence");
}

#[test]
fn r09_a_fifth_lost_both_ways_and_two_seconds_of_darkness_are_recovered_from() {
    const ROCKS: usize = 300;
    for seed in 0..20 {
        let latency = Duration::from_millis(50);
        let link = LinkConditions { latency, loss: Loss::Independent(0.2), ..LinkConditions::perfect() };
        let mut join = Join::new(ROCKS as u32, link, ServerConfig::default(), seed);
        join.wait_for(ROCKS, Duration::from_secs(10));
        let links: Vec<_> = join.network.links().map(|(link, ..)| link).collect();
        let rocks: Vec<_> = join.client.objects::<Rock>().map(|(rock, _)| rock).collect();
        let change = |join: &mut Join, tick: usize| {
            let rock = &mut join.server[rocks[tick * 7 % ROCKS]];
            rock.marks.push(tick as u32);
            rock.place[0] += 1.0;
            join.tick();
        };
        (0..120).for_each(|tick| change(&mut join, tick));
        let until = join.clock.now() + Duration::from_secs(2);
        links.iter().for_each(|&link| join.network.blackout(link, until));
        (120..240).for_each(|tick| change(&mut join, tick));
        join.server.despawn(rocks[0]);
        let start = join.clock.now();
        let round_trip = latency * 2 + Duration::from_millis(34);
        let differs = |join: &Join| {
            let mut rocks = join.server.objects::<Rock>().filter(|(rock, there)| {
                let here = join.client.get(*rock);
                here.is_none_or(|here| (here.place, &here.marks) != (there.place, &there.marks))
            });
            rocks.next().is_some() || join.client.objects::<Rock>().count() >= ROCKS
        };
        assert!(differs(&join), "nothing got through in the dark");
        while differs(&join) {
            join.tick();
            let passed = join.clock.now() - start;
            assert!(passed <= round_trip * 10 + Duration::from_secs(2), "seed {seed}: {passed:?}");
        }
    }
}
