//! One server tick with 128 connections on one thread and on several, with the feature `rayon`.
//!
//! *Invariant:* all candidates write the same values and send the same bytes.

#[path = "support/config.rs"]
mod config;
#[path = "support/player.rs"]
mod player;
#[path = "support/ratios.rs"]
mod ratios;
#[path = "support/served.rs"]
#[expect(dead_code, reason = "no client joins here")]
mod served;
#[path = "support/workload.rs"]
mod workload;

use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use ratios::Side;
use served::{Served, Writing};
use workload::Workload;

const CONNECTIONS: usize = 128;

/// A server that runs its ticks on the threads of a pool.
struct Running {
    pool: ThreadPool,
    served: Served,
    step: u32,
}

impl Running {
    fn new(threads: usize, workload: &Workload) -> Self {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        Self { pool, served: Served::settled(workload.players, CONNECTIONS, Writing::ByReference), step: 0 }
    }

    /// Runs one tick. Returns how long the server took, and the bytes that it sent.
    fn tick(&mut self, workload: &Workload) -> (Duration, u64) {
        let Self { pool, served, step } = self;
        *step += 1;
        let start = Instant::now();
        let bytes = pool.install(|| served.send(workload, *step));
        let time = start.elapsed();
        served.deliver();
        served.acknowledge();
        (time, bytes)
    }
}

fn main() {
    for workload in Workload::ALL.iter().skip(1) {
        let mut sides = [1, 2, 4].map(|threads| Running::new(threads, workload));
        let bytes = sides.each_mut().map(|side| side.tick(workload).1);
        assert!(bytes.iter().all(|sent| *sent == bytes[0]), "the threads change what is sent");
        if !ratios::are_wanted() {
            continue;
        }
        let [one, two, four] = &mut sides;
        let run = |side: &mut Running, count| (0..count).map(|_| side.tick(workload).0).sum();
        ratios::report(
            &format!("{} x {CONNECTIONS}", workload.name),
            &mut [
                Side::new("one thread", None, &mut |count| run(one, count)),
                Side::new("two", None, &mut |count| run(two, count)),
                Side::new("four", None, &mut |count| run(four, count)),
            ],
        );
        sides.iter().for_each(|side| side.served.check());
    }
}
