//! Clients that ack late, out of order, seldom or not at all, that receive everything several times, or that
//! are paused for longer than objects keep their changelists. In this world everything changes.
//!
//! *Invariant:* soon after a client behaves normally again, it has the values of the server.

use repl::sim::{Rng, seeds};

use crate::bazaar::Bazaar;
use crate::support::collect;

/// How a client and its link behave.
#[derive(Clone, Copy, Debug)]
enum Habit {
    /// Some packets are lost.
    Careless,
    /// Everything arrives, but in both directions only in batches, and each batch in a random order.
    InBatches { ticks: u64 },
    /// Everything arrives, but only one of many acks.
    Silent { one_of: u64 },
    /// Nothing arrives, except in some ticks.
    Deaf { one_of: u64 },
    /// Everything arrives several times, and again much later.
    Echo,
    /// The server pauses the client for these ticks, and then resumes it for as long.
    Paused { ticks: u64 },
}

struct Flight {
    arrives: u64,
    bytes: Vec<u8>,
}

/// The packets in flight to a client, and from it.
#[derive(Default)]
struct Link {
    down: Vec<Flight>,
    up: Vec<Flight>,
}

impl Habit {
    fn draw(rng: &mut Rng) -> Self {
        match rng.below(6) {
            0 => Self::Careless,
            1 => Self::InBatches { ticks: 2 + rng.below(60) },
            2 => Self::Silent { one_of: 2 + rng.below(60) },
            3 => Self::Deaf { one_of: 2 + rng.below(60) },
            4 => Self::Echo,
            _ => Self::Paused { ticks: 1 + rng.below(90) },
        }
    }

    /// Returns the ticks in which a packet arrives that is sent in `tick`.
    fn arrivals(self, is_down: bool, tick: u64, rng: &mut Rng) -> Vec<u64> {
        match self {
            Self::Careless => {
                if rng.chance(0.7) {
                    vec![tick + rng.below(3)]
                } else {
                    vec![]
                }
            }
            Self::InBatches { ticks } => vec![tick.next_multiple_of(ticks)],
            Self::Silent { one_of } => {
                if is_down || rng.below(one_of) == 0 {
                    vec![tick]
                } else {
                    vec![]
                }
            }
            Self::Deaf { one_of } => {
                if !is_down || tick.is_multiple_of(one_of) {
                    vec![tick]
                } else {
                    vec![]
                }
            }
            Self::Echo => vec![tick, tick, tick + rng.below(8), tick + rng.below(400)],
            Self::Paused { .. } => vec![tick],
        }
    }
}

/// Removes and returns the packets that arrive in this tick, in a random order.
fn arriving(flights: &mut Vec<Flight>, tick: u64, rng: &mut Rng) -> Vec<Vec<u8>> {
    let mut arriving: Vec<_> =
        flights.extract_if(.., |flight| flight.arrives <= tick).map(|flight| flight.bytes).collect();
    rng.shuffle(&mut arriving);
    arriving
}

#[test]
fn strange_clients_have_the_values_of_the_server_when_they_behave_again() {
    for seed in seeds(0..6) {
        let mut bazaar = Bazaar::new(seed, 10, 300);
        let mut rng = Rng::new(seed).fork(1);
        let mut links: Vec<Link> = bazaar.room.guests.iter().map(|_| Link::default()).collect();
        let mut habits: Vec<Habit> = links.iter().map(|_| Habit::draw(&mut rng)).collect();
        (0..6).for_each(|_| _ = bazaar.room.step());
        for tick in 0..240_u64 {
            bazaar.write();
            if tick.is_multiple_of(2) {
                (0..8).for_each(|_| bazaar.flip());
            }
            let now = bazaar.room.now;
            bazaar.room.server.tick(now);
            for at in 0..bazaar.room.guests.len() {
                let id = bazaar.room.guests[at].id;
                if rng.chance(0.01) {
                    habits[at] = Habit::draw(&mut rng);
                    bazaar.room.server.connection(id).resume();
                }
                let habit = habits[at];
                if let Habit::Paused { ticks } = habit {
                    match tick / ticks % 2 == 0 {
                        true => _ = bazaar.room.server.connection(id).pause(),
                        false => _ = bazaar.room.server.connection(id).resume(),
                    }
                }
                let Link { down, up } = &mut links[at];
                for bytes in collect(&mut bazaar.room.server, id) {
                    let arrivals = habit.arrivals(true, tick, &mut rng).into_iter();
                    down.extend(arrivals.map(|arrives| Flight { arrives, bytes: bytes.clone() }));
                }
                let packets = arriving(down, tick, &mut rng);
                bazaar.room.deliver(at, &packets);
                for bytes in bazaar.room.replies(at) {
                    let arrivals = habit.arrivals(false, tick, &mut rng).into_iter();
                    up.extend(arrivals.map(|arrives| Flight { arrives, bytes: bytes.clone() }));
                }
                let packets = arriving(up, tick, &mut rng);
                bazaar.room.hear(at, &packets);
                let stats = bazaar.room.server.connection_info(id).stats().expect("a connection");
                assert!(stats.memory_bytes < 8 << 20, "seed {seed}, tick {tick}, {habit:?}: {stats:?}");
            }
            bazaar.room.now += crate::support::TICK;
        }
        bazaar.check(seed);
    }
}
