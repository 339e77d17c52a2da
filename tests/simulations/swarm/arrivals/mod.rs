//! Random arrivals at an endpoint: clients join, leave, change their addresses and are restarted over links
//! of all kinds, while hosts flood the server and an attacker forges packets.
//!
//! *Invariant:* a run is a pure function of its seed.

mod acts;
mod flood;
mod forgery;
mod guest;
mod hall;
mod meter;
mod odds;
mod plan;
mod run;

use repl::sim::seeds;

use plan::Plan;
use run::Run;

fn run(seed: u64) -> u64 {
    let plan = Plan::new(seed);
    if std::env::var_os("SIM_SEED").is_some() {
        eprintln!("{plan:#?}");
    }
    Run::new(&plan).finish()
}

#[test]
fn r26_even_seeds_let_honest_clients_in_and_end_none_without_a_cause() {
    seeds(0..120).filter(|seed| seed % 2 == 0).for_each(|seed| _ = run(seed));
}

#[test]
fn r26_odd_seeds_let_honest_clients_in_and_end_none_without_a_cause() {
    seeds(0..120).filter(|seed| seed % 2 == 1).for_each(|seed| _ = run(seed));
}

#[test]
fn two_runs_of_arrivals_have_the_same_trace() {
    for seed in seeds(0..16) {
        assert_eq!(run(seed), run(seed), "seed {seed}");
    }
}
