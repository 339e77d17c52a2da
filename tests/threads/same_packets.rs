//! The bazaar on several threads, compared with the same bazaar on one thread.
//!
//! *Invariant:* everything that a user can see of a server is compared: packets, events and statistics.

use repl::sim::seeds;

use crate::bazaar::Bazaar;
use crate::pool;

/// Several times as many connections as one thread processes at a time.
const GUESTS: usize = 26;
/// Enough objects that several classes are compared at the same time.
const OBJECTS: u64 = 900;

#[test]
fn a_bazaar_makes_the_same_packets_and_events_on_any_number_of_threads() {
    let pools = [1, 2, 4].map(pool);
    for seed in seeds(0..2) {
        let mut bazaars = pools.each_ref().map(|_| Bazaar::new(seed, GUESTS, OBJECTS));
        bazaars.iter_mut().for_each(|bazaar| bazaar.leaves = true);
        let mut refused = 0;
        for tick in 0..60 {
            let [serial, others @ ..] = &mut bazaars;
            let made = pools[0].install(|| serial.tick());
            refused += made.events.matches("ValueRefused").count();
            for (other, pool) in others.iter_mut().zip(&pools[1..]) {
                let (other, threads) = (pool.install(|| other.tick()), pool.current_num_threads());
                assert!(other.packets == made.packets, "seed {seed}, tick {tick}, {threads} threads");
                assert_eq!(other.events, made.events, "seed {seed}, tick {tick}, {threads} threads");
            }
        }
        assert!(refused > 100, "only {refused} values were refused");
        bazaars.iter_mut().zip(&pools).for_each(|(bazaar, pool)| pool.install(|| bazaar.check(seed)));
    }
}
