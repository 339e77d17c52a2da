//! How well a connection uses a link with a rate and a queue: utilisation, and the delay that its queue adds.
//!
//! *Invariant:* all packets go through the simulator.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, LinkStats, Loss};
use repl::{Channel, MessageOptions};

use crate::linked::{HZ, Linked};

const OBJECTS: usize = 300;
const WARM_UP_S: u64 = 6;
const MEASURED_S: u64 = 10;

#[derive(Replicated, Default)]
#[replicated(all)]
struct Beacon {
    lights: [[u64; 20]; 2],
}

#[derive(NetSerialize, Clone)]
struct Bulk(#[replicated(max_len = 65536)] Vec<u8>);

const MANY: MessageOptions = MessageOptions { max_bytes: 65_536, weight: 16, per_second: 100_000 };

/// The traffic of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Load {
    State,
    Messages,
    Both,
    /// Messages of the client.
    Up,
    /// State, and messages of the client at the same time.
    BothWays,
}

impl Load {
    fn has_state(self) -> bool {
        matches!(self, Self::State | Self::Both | Self::BothWays)
    }
}

/// A server with a world that changes faster than any link can carry, and its client.
struct Bottleneck {
    linked: Linked,
    beacons: Vec<ObjectRef<Beacon>>,
    load: Load,
}

impl Bottleneck {
    fn new(seed: u64, link: LinkConditions, load: Load) -> Self {
        let mut server = Server::new(ServerConfig::default());
        server.register::<Beacon>().register_message_with::<Bulk>(Channel::Unordered, MANY);
        let beacons = if load.has_state() { OBJECTS } else { 0 };
        let beacons = (0..beacons).map(|_| server.spawn(Beacon::default())).collect();
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(seed));
        client.register::<Beacon>().register_message_with::<Bulk>(Channel::Unordered, MANY);
        let mut linked = Linked::new(server, seed);
        linked.connect(client, link, link);
        Self { linked, beacons, load }
    }

    fn load(&mut self) {
        let tick = self.linked.clock.ticks();
        for (at, beacon) in self.beacons.iter().enumerate() {
            let lights = &mut self.linked.server[*beacon].lights;
            lights.iter_mut().flatten().zip(0..).for_each(|(light, place)| {
                *light = (tick * 1_000 + place).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ at as u64;
            });
        }
        for guest in &mut self.linked.guests {
            if matches!(self.load, Load::Messages | Load::Both) {
                while self.linked.server.connection(guest.id).send(&Bulk(vec![7; 800])).is_ok() {}
            }
            if matches!(self.load, Load::Up | Load::BothWays) {
                while guest.client.send(&Bulk(vec![7; 800])).is_ok() {}
            }
            while guest.client.poll_message::<Bulk>().is_some() {}
        }
        while self.linked.server.poll_message::<Bulk>().is_some() {}
    }

    fn tick(&mut self) {
        self.linked.deliver();
        self.load();
        self.linked.send();
    }

    /// Returns the statistics of the link that carries the load.
    fn stats(&self) -> LinkStats {
        if self.load == Load::Up { self.linked.up(0) } else { self.linked.down(0) }
    }

    fn run(&mut self, seconds: u64) {
        (0..seconds * u64::from(HZ)).for_each(|_| self.tick());
    }
}

/// A link: its rate in bytes a second, its round trip, its queue in bandwidth-delay products, its loss.
#[derive(Clone, Copy, Debug)]
struct Case {
    rate: u64,
    round_trip_ms: u64,
    queue: u64,
    loss: f64,
}

impl Case {
    fn link(self) -> LinkConditions {
        let product = self.rate * self.round_trip_ms / 1_000;
        LinkConditions {
            latency: Duration::from_millis(self.round_trip_ms) / 2,
            loss: Loss::Independent(self.loss),
            bandwidth_bytes_per_second: Some(self.rate),
            // A shorter queue could not store the packets that are sent together in one tick.
            queue_bytes: (product * self.queue).max(self.rate / 30).max(6_000) as usize,
            ..LinkConditions::perfect()
        }
    }
}

/// Returns every other link, beginning with the first or the second link.
fn cases(half: usize) -> impl Iterator<Item = Case> {
    let rates = [12_500, 62_500, 250_000];
    let mut all = Vec::new();
    for rate in rates {
        for round_trip_ms in [20, 60, 120, 300] {
            for queue in [1, 4] {
                for loss in [0.0, 0.05] {
                    all.push(Case { rate, round_trip_ms, queue, loss });
                }
            }
        }
    }
    all.into_iter().enumerate().filter(move |(at, _)| (at + at / 4) % 2 == half).map(|(_, case)| case)
}

/// Measures how a link was used. Returns how much of its rate was used, which share of the sent packets
/// arrived, and the mean round trip as a multiple of the round trip on the empty link.
fn measure(case: Case, load: Load) -> (f64, f64, f64) {
    let mut all = Bottleneck::new(1, case.link(), load);
    all.run(WARM_UP_S);
    let before = all.stats();
    let mut round_trips = 0.0;
    for _ in 0..MEASURED_S {
        all.run(1);
        round_trips += all.linked.round_trip_ms(0);
    }
    let after = all.stats();
    let delivered = (after.bytes_delivered - before.bytes_delivered) as f64;
    let used = delivered / (case.rate * MEASURED_S) as f64 / (1.0 - case.loss);
    let arrived = delivered / (after.bytes_sent - before.bytes_sent) as f64;
    let idle = case.round_trip_ms as f64 + 1_000.0 / f64::from(HZ);
    (used, arrived, round_trips / MEASURED_S as f64 / idle)
}

/// Returns the smallest used share, the smallest share that arrived, and the greatest delay of some links,
/// each with the link where it was measured.
fn worst(cases: impl Iterator<Item = Case>, load: Load) -> [(f64, Case); 3] {
    let measured: Vec<_> = cases.map(|case| (measure(case, load), case)).collect();
    let least = |of: fn(&(f64, f64, f64)) -> f64| {
        let figures = measured.iter().map(|(figures, case)| (of(figures), *case));
        figures.min_by(|one, other| one.0.total_cmp(&other.0)).expect("links")
    };
    let [used, arrived, delay] =
        [least(|figures| figures.0), least(|figures| figures.1), least(|figures| -figures.2)];
    [used, arrived, (-delay.0, delay.1)]
}

/// A link of 0.1 Mbit a second needs six ticks for a packet, and the server may always have up to ten packets
/// in flight. So the server sends more than such a link carries.
fn check(half: usize) {
    for (rates, bounds) in [([12_500; 2], [0.9, 0.5, 14.0]), ([62_500, 250_000], [0.85, 0.75, 6.0])] {
        let cases = cases(half).filter(|case| rates.contains(&case.rate));
        let [used, arrived, delay] = worst(cases, Load::State);
        assert!(used.0 > bounds[0], "{:.2} of the link is used: {:?}", used.0, used.1);
        assert!(arrived.0 > bounds[1], "{:.2} of what is sent arrives: {:?}", arrived.0, arrived.1);
        assert!(delay.0 < bounds[2], "{:.2} times the round trip of the empty link: {:?}", delay.0, delay.1);
    }
}

#[test]
fn r26_links_with_queues_of_one_to_four_products_are_used_and_not_flooded() {
    check(0);
}

#[test]
fn r26_links_with_other_rates_and_queues_are_used_and_not_flooded() {
    check(1);
}

#[test]
fn r26_links_of_10_and_20_mbit_are_used_and_not_flooded() {
    let links = [
        (1_250_000, 20, 1, 0.0),
        (1_250_000, 120, 4, 0.05),
        (2_500_000, 60, 1, 0.0),
        (2_500_000, 20, 4, 0.05),
    ];
    for (rate, round_trip_ms, queue, loss) in links {
        let case = Case { rate, round_trip_ms, queue, loss };
        let (used, arrived, delay) = measure(case, Load::State);
        assert!(used > 0.85 && arrived > 0.9, "{case:?}: {used:.2} used, {arrived:.2} arrived");
        assert!(delay < 2.2, "{case:?}: {delay:.2} times the round trip of the empty link");
    }
}

#[test]
fn r26_a_link_whose_packets_overtake_each_other_is_used() {
    let links = [(62_500, 20, 120), (250_000, 20, 120), (250_000, 20, 60), (250_000, 60, 60)];
    for (rate, round_trip_ms, jitter_ms) in links {
        let case = Case { rate, round_trip_ms, queue: 4, loss: 0.0 };
        let jitter = Duration::from_millis(jitter_ms) / 2;
        let link = LinkConditions { jitter, queue_bytes: (rate / 4) as usize, ..case.link() };
        let mut all = Bottleneck::new(1, link, Load::State);
        all.run(WARM_UP_S);
        let before = all.stats();
        all.run(MEASURED_S);
        let delivered = all.stats().bytes_delivered - before.bytes_delivered;
        let used = delivered as f64 / (rate * MEASURED_S) as f64;
        assert!(used > 0.9, "{used:.2} of {case:?} with {jitter_ms} ms of jitter");
    }
}

#[test]
fn r26_messages_and_both_directions_use_a_link_too() {
    for round_trip_ms in [20, 120] {
        for loss in [0.0, 0.05] {
            let case = Case { rate: 250_000, round_trip_ms, queue: 2, loss };
            for load in [Load::Messages, Load::Up, Load::Both, Load::BothWays] {
                let (used, arrived, delay) = measure(case, load);
                assert!(
                    used > 0.8 && arrived > 0.8,
                    "{load:?} {case:?}: {used:.2} used, {arrived:.2} arrived"
                );
                assert!(delay < 6.0, "{load:?} {case:?}: {delay:.2} times the round trip of the empty link");
            }
        }
    }
}
