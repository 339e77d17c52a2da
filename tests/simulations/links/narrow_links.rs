//! R26 on narrow links: the server sends no more than acks show that the link can carry, however short its
//! queue and its round trip are.
//!
//! *Invariant:* all packets go through the simulator, and there is always more to send than a link can carry.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkConditions, Loss};

use crate::linked::{HZ, Linked};

const OBJECTS: usize = 400;
/// How long a link is used before it is measured.
const WARM_UP: Duration = Duration::from_secs(20);
const MEASURED: Duration = Duration::from_secs(20);

#[derive(Replicated, Default)]
#[replicated(all)]
struct Beacon {
    number: u64,
    lights: [u64; 8],
}

/// The numbers of bytes that were sent over a link, and that arrived, while the link was measured.
#[derive(Clone, Copy, Debug)]
struct Use {
    sent: u64,
    delivered: u64,
}

/// A world that changes faster than its link can carry.
struct Busy {
    linked: Linked,
    beacons: Vec<ObjectRef<Beacon>>,
    changes: u64,
}

/// Returns the conditions of the link back to the server.
fn up(down: LinkConditions) -> LinkConditions {
    LinkConditions { latency: down.latency, ..LinkConditions::perfect() }
}

impl Busy {
    fn new(down: LinkConditions) -> Self {
        let mut server = Server::new(ServerConfig::default());
        let beacons = (0..OBJECTS).map(|_| server.spawn(Beacon::default())).collect();
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(7));
        client.register::<Beacon>();
        let mut linked = Linked::new(server, 1);
        linked.connect(client, down, up(down));
        Self { linked, beacons, changes: 0 }
    }

    fn set_conditions(&mut self, down: LinkConditions) {
        let (to_client, back) = (self.linked.guests[0].down, self.linked.guests[0].up);
        self.linked.network.set_conditions(to_client, down);
        self.linked.network.set_conditions(back, up(down));
    }

    fn tick(&mut self) {
        for _ in 0..OBJECTS {
            self.changes += 1;
            let value = self.changes.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let beacon = &mut self.linked.server[self.beacons[self.changes as usize % OBJECTS]];
            beacon.number = value;
            beacon.lights[self.changes as usize % 8] = !value;
        }
        self.linked.tick();
    }

    fn run(&mut self, time: Duration) -> Use {
        let (before, until) = (self.linked.down(0), self.linked.clock.now() + time);
        while self.linked.clock.now() < until {
            self.tick();
        }
        let after = self.linked.down(0);
        Use {
            sent: after.bytes_sent - before.bytes_sent,
            delivered: after.bytes_delivered - before.bytes_delivered,
        }
    }
}

/// Returns half of the narrow links. The constants of the congestion control were chosen on one half, and the
/// other half tests them.
fn links(half: usize) -> impl Iterator<Item = (u64, usize, Duration)> {
    let rates = [16_000, 32_000, 64_000, 128_000, 256_000];
    let queues = [1_500, 3_000, 8_000, 20_000, 60_000];
    let latencies = [2, 5, 30, 100].map(Duration::from_millis);
    let all = rates.into_iter().flat_map(move |rate| {
        queues.into_iter().flat_map(move |queue| latencies.map(move |latency| (rate, queue, latency)))
    });
    // Neighbours in the list differ only in latency. The two halves alternate, and swap from one queue size
    // to the next.
    all.enumerate().filter(move |(at, _)| (at + at / 4) % 2 == half).map(|(_, link)| link)
}

/// Returns the bytes a second that a server can send through a link if it sends once in a tick: in each tick,
/// at most what fits into the queue.
fn capacity(rate: u64, queue: usize) -> u64 {
    const PACKET: u64 = 1_200;
    let at_once = queue as u64 / PACKET * PACKET;
    rate.min(at_once * u64::from(HZ))
}

fn check(links: impl Iterator<Item = (u64, usize, Duration)>) {
    let mut failures = Vec::new();
    for (rate, queue, latency) in links {
        let down = LinkConditions {
            latency,
            bandwidth_bytes_per_second: Some(rate),
            queue_bytes: queue,
            ..LinkConditions::perfect()
        };
        let mut busy = Busy::new(down);
        let first = busy.run(WARM_UP);
        let measured = busy.run(MEASURED);
        let sent = measured.sent as f64 / measured.delivered.max(1) as f64;
        let used = measured.delivered as f64 / (capacity(rate, queue) * MEASURED.as_secs()) as f64;
        if sent > 1.5 || used < 0.6 {
            let warm_up = first.sent as f64 / first.delivered.max(1) as f64;
            failures.push(format!(
                "{rate} B/s, queue {queue}, {latency:?}: sent {sent:.2}, used {used:.2}, first {warm_up:.2}"
            ));
        }
    }
    assert!(failures.is_empty(), "{} links:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn r26_a_narrow_link_is_sent_what_it_carries_and_is_used() {
    check(links(0));
}

#[test]
fn r26_narrow_links_that_no_constant_was_chosen_on_are_sent_what_they_carry_and_are_used() {
    check(links(1));
}

#[test]
fn r26_the_narrowest_link_is_sent_what_it_carries_wherever_in_a_tick_its_acks_come() {
    let latencies = (0..16).map(|at| Duration::from_micros(2_000 + at * 1_130));
    check(latencies.map(|latency| (16_000, 1_500, latency)));
}

#[test]
fn r26_a_link_whose_round_trip_grows_is_used_again_within_seconds() {
    let rate = 256_000;
    let mut failures = Vec::new();
    // In each run, the round trip grows at another time after the last measurement of the shortest round
    // trip.
    for warm_up in (0..6).map(|second| WARM_UP + Duration::from_secs(second)) {
        let mut down = LinkConditions {
            latency: Duration::from_millis(10),
            bandwidth_bytes_per_second: Some(rate),
            queue_bytes: 60_000,
            ..LinkConditions::perfect()
        };
        let mut busy = Busy::new(down);
        busy.run(warm_up);
        down.latency = Duration::from_millis(150);
        busy.set_conditions(down);
        busy.run(Duration::from_secs(12));
        let used = busy.run(MEASURED).delivered as f64 / (rate * MEASURED.as_secs()) as f64;
        if used < 0.8 {
            failures.push(format!("{used:.2} after {warm_up:?}"));
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
}

#[test]
fn r26_losses_at_random_are_not_taken_for_a_narrow_link() {
    for latency_ms in [5, 50] {
        let latency = Duration::from_millis(latency_ms);
        let down = LinkConditions { latency, loss: Loss::Independent(0.9), ..LinkConditions::perfect() };
        let mut busy = Busy::new(down);
        let Use { sent, .. } = busy.run(WARM_UP + MEASURED);
        let rate = sent / (WARM_UP + MEASURED).as_secs();
        assert!(rate > 120_000, "{rate} bytes a second at {latency_ms} ms");
    }
}
