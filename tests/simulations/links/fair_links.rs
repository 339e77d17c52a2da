//! R26 with several connections on one link: each gets its share, a client that joins later leaves the others
//! a short queue, and a connection that was idle uses the link again at once.
//!
//! *Invariant:* all packets go through the simulator, and the links of all clients share one queue.

use std::time::Duration;

use repl::Channel;
use repl::prelude::*;
use repl::sim::LinkConditions;

use crate::linked::{HZ, Linked};

/// The time after which the second client joins.
const ALONE: Duration = Duration::from_secs(5);
/// The time for which the two clients use the link. The second half of this time is measured.
const TOGETHER: Duration = Duration::from_secs(30);
const POSTER_BYTES: usize = 1_100;

/// The least share of the received bytes that the weaker of two clients must get.
const LEAST_SHARE: f64 = 0.4;
/// The least part of the link's rate that two clients use together.
const LEAST_USED: f64 = 0.85;
/// The longest time in all for which a round trip may be above four times the round trip of the empty link.
const MOST_DELAYED: Duration = Duration::from_secs(1);
/// After half a minute with nothing to send, a message may arrive at most this much later than on an ideal
/// link.
const MOST_LATE: Duration = Duration::from_millis(100);

/// An object that nearly fills a packet.
#[derive(Replicated, Default)]
#[replicated(all)]
struct Poster {
    text: String,
}

#[derive(NetSerialize, Clone)]
struct Bulk(#[replicated(max_len = 65536)] Vec<u8>);

/// A link that several clients share: its rate in bytes a second, its round trip, and its queue in
/// bandwidth-delay products.
#[derive(Clone, Copy, Debug)]
struct Case {
    rate: u64,
    round_trip_ms: u64,
    queue: u64,
}

impl Case {
    fn link(self) -> LinkConditions {
        let product = self.rate * self.round_trip_ms / 1_000;
        LinkConditions {
            latency: Duration::from_millis(self.round_trip_ms) / 2,
            bandwidth_bytes_per_second: Some(self.rate),
            // A shorter queue could not store the packets that are sent together in one tick.
            queue_bytes: (product * self.queue).max(self.rate / 30).max(6_000) as usize,
            ..LinkConditions::perfect()
        }
    }

    /// Returns the round trip on the empty link. Acks wait for the server's next tick.
    fn idle_ms(self) -> f64 {
        self.round_trip_ms as f64 + 1_000.0 / f64::from(HZ)
    }

    /// Returns a name that is short enough for a list.
    fn name(self) -> String {
        format!("{} B/s, {} ms, queue {}", self.rate, self.round_trip_ms, self.queue)
    }
}

/// A server and its clients behind one link.
struct Household {
    linked: Linked,
    case: Case,
    posters: Vec<ObjectRef<Poster>>,
}

impl Household {
    fn new(case: Case) -> Self {
        let mut server = Server::new(ServerConfig::default());
        server.register_message::<Bulk>(Channel::Unordered);
        // The posters of a tick are more than the link carries in a tick.
        let posters = 4 + case.rate * 5 / 4 / (POSTER_BYTES as u64 * u64::from(HZ));
        let posters = (0..posters).map(|_| server.spawn(Poster::default())).collect();
        Self { linked: Linked::new(server, 1), case, posters }
    }

    fn join(&mut self) {
        let mut client =
            Client::new(ClientConfig::default(), Session::for_tests(self.linked.guests.len() as u64));
        client.register::<Poster>().register_message::<Bulk>(Channel::Unordered);
        let up = LinkConditions { latency: self.case.link().latency, ..LinkConditions::perfect() };
        let index = self.linked.connect(client, self.case.link(), up);
        let (bottleneck, link) = (self.linked.guests[0].down, self.linked.guests[index].down);
        self.linked.network.share_queue(bottleneck, link);
    }

    /// Runs one tick. If `is_busy` is set, there is always more to send than the link can carry. Returns how
    /// many bytes of messages arrived.
    fn tick(&mut self, is_busy: bool) -> usize {
        self.linked.deliver();
        let mut heard = 0;
        if is_busy {
            let letter = char::from(b'a' + (self.linked.clock.ticks() % 26) as u8);
            let text = String::from(letter).repeat(POSTER_BYTES);
            self.posters.iter().for_each(|poster| self.linked.server[*poster].text.clone_from(&text));
        }
        for guest in &mut self.linked.guests {
            while let Some(Bulk(bytes)) = guest.client.poll_message() {
                heard += bytes.len();
            }
        }
        self.linked.send();
        heard
    }

    fn run(&mut self, time: Duration, is_busy: bool) {
        let until = self.linked.clock.now() + time;
        while self.linked.clock.now() < until {
            self.tick(is_busy);
        }
    }

    /// Returns how many bytes were delivered to each of the first two clients.
    fn delivered(&self) -> [f64; 2] {
        [0, 1].map(|guest| self.linked.down(guest).bytes_delivered as f64)
    }
}

/// How two clients share a link, one of whom joins later.
struct Shared {
    /// The share of the received bytes that the weaker client got.
    smaller: f64,
    /// The part of the link's rate that both together used.
    used: f64,
    /// How long the first client's round trip was above four times the round trip of the empty link.
    delayed: Duration,
}

fn share(case: Case) -> Shared {
    let mut both = Household::new(case);
    both.join();
    both.run(ALONE, true);
    both.join();
    let (joined_at, mut delayed, mut before) = (both.linked.clock.now(), Duration::ZERO, [0.0; 2]);
    while both.linked.clock.now() < joined_at + TOGETHER {
        both.tick(true);
        if both.linked.round_trip_ms(0) > 4.0 * case.idle_ms() {
            delayed += Duration::from_secs(1) / HZ;
        }
        if both.linked.clock.now() < joined_at + TOGETHER / 2 {
            before = both.delivered();
        }
    }
    let after = both.delivered();
    let [first, second] = [0, 1].map(|guest| after[guest] - before[guest]);
    let all = first + second;
    Shared {
        smaller: first.min(second) / all,
        used: all / (case.rate as f64 * TOGETHER.as_secs_f64() / 2.0),
        delayed,
    }
}

/// Returns half of the links. Neighbours in the list differ in their queues, and the two halves alternate.
fn cases(half: usize) -> impl Iterator<Item = Case> {
    let rates = [62_500, 250_000, 1_250_000, 2_500_000].into_iter();
    let all = rates.flat_map(|rate| {
        [20, 60]
            .into_iter()
            .flat_map(move |round_trip_ms| [1, 4].map(|queue| Case { rate, round_trip_ms, queue }))
    });
    all.enumerate().filter(move |(at, _)| (at + at / 2) % 2 == half).map(|(_, case)| case)
}

fn check(cases: impl Iterator<Item = Case>) {
    let mut failures = Vec::new();
    for case in cases {
        let Shared { smaller, used, delayed } = share(case);
        if smaller < LEAST_SHARE || used < LEAST_USED || delayed > MOST_DELAYED {
            let name = case.name();
            failures.push(format!("{name}: {smaller:.2} of {used:.2} used, delayed for {delayed:?}"));
        }
    }
    assert!(failures.is_empty(), "{} links:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn r26_two_clients_behind_one_link_get_equal_shares_and_leave_each_other_a_short_queue() {
    check(cases(0));
}

#[test]
fn r26_two_clients_behind_another_link_get_equal_shares_and_leave_each_other_a_short_queue() {
    check(cases(1));
}

#[test]
fn r26_a_link_is_used_at_once_after_half_a_minute_with_nothing_to_send() {
    const BYTES: usize = 90_000;
    for rate in [125_000, 500_000, 1_250_000] {
        for round_trip_ms in [20, 60, 120] {
            let case = Case { rate, round_trip_ms, queue: 2 };
            let mut alone = Household::new(case);
            alone.join();
            alone.run(ALONE, true);
            alone.run(Duration::from_secs(30), false);
            let (start, mut heard) = (alone.linked.clock.now(), 0);
            let id = alone.linked.guests[0].id;
            (0..BYTES / 1_125).for_each(|_| {
                alone.linked.server.connection(id).send(&Bulk(vec![7; 1_125])).expect("room for 90 kB")
            });
            while heard < BYTES {
                heard += alone.tick(false);
            }
            let took = alone.linked.clock.now() - start;
            let ideal = Duration::from_millis(round_trip_ms) / 2
                + Duration::from_nanos(BYTES as u64 * 1_000_000_000 / rate);
            let late = took.saturating_sub(ideal);
            assert!(late <= MOST_LATE, "{}: {late:?} after {ideal:?}", case.name());
        }
    }
}
