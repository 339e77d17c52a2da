//! Random worlds over bad networks. The seed of a run determines its clients, objects, links and events, and
//! the test checks every guarantee of the library in each world.
//!
//! A failure prints `SIM_SEED=…`. With `SIM_SEED` in the environment the tests run only this seed.
//! `regressions.txt` has the seeds that have failed before.
//!
//! *Invariant:* a run is a pure function of its seed.

mod arrivals;
mod assets;
mod calls;
mod canary;
mod classes;
mod enums;
mod extremes;
mod follower;
#[path = "../../support/forge.rs"]
#[allow(dead_code, reason = "each test file uses a part")]
mod forge;
mod host;
mod kinds;
mod ledger;
mod lives;
mod patience;
mod plan;
mod regular_losses;
mod run;
mod seat;
mod short_lives;
mod sight;
mod silence;
mod switches;
mod talk;
mod waits;
mod whispers;
mod witness;
mod world;

use repl::CongestionControl;
use repl::sim::seeds;

use crate::extremes::Extremes;
use crate::lives::Lives;
use crate::plan::Plan;
use crate::run::{Outcome, Run};

const TICKS: u64 = 600;

fn run(seed: u64) -> Outcome {
    let plan = Plan::new(seed, TICKS);
    if std::env::var_os("SIM_SEED").is_some() {
        eprintln!("{plan:#?}");
    }
    Run::new(&plan).finish()
}

fn run_all(seeds: impl Iterator<Item = u64>) {
    let outcomes: Vec<Outcome> = seeds.map(run).collect();
    for found in [|outcome: &Outcome| outcome.secrets, |outcome: &Outcome| outcome.secrets_of_calls] {
        let is_blind = outcomes.len() > 10 && outcomes.iter().map(found).sum::<u64>() == 0;
        assert!(!is_blind, "the search for secrets finds those that may be seen");
    }
    let untold: u64 = outcomes.iter().map(|outcome| outcome.untold).sum();
    if std::env::var_os("SIM_SEED").is_some() {
        eprintln!("of {untold} objects that came and went, no update told");
    }
    let heard: u64 = outcomes.iter().map(|outcome| outcome.heard).sum();
    assert!(outcomes.len() <= 10 || heard > outcomes.len() as u64 * 10, "{heard} calls were heard");
}

#[test]
fn even_seeds_converge_and_fall_silent() {
    run_all(seeds(0..70).filter(|seed| seed % 2 == 0));
}

#[test]
fn odd_seeds_converge_and_fall_silent() {
    run_all(seeds(0..70).filter(|seed| seed % 2 == 1));
}

#[test]
fn even_seeds_with_extremes_converge_and_fall_silent() {
    run_all(extreme_seeds().filter(|seed| seed % 2 == 0));
}

#[test]
fn odd_seeds_with_extremes_converge_and_fall_silent() {
    run_all(extreme_seeds().filter(|seed| seed % 2 == 1));
}

#[test]
fn even_seeds_with_lives_converge_and_fall_silent() {
    run_all(seeds_with_lives().filter(|seed| seed % 2 == 0));
}

#[test]
fn odd_seeds_with_lives_converge_and_fall_silent() {
    run_all(seeds_with_lives().filter(|seed| seed % 2 == 1));
}

#[test]
fn r09_seeds_with_regular_losses_converge_and_fall_silent() {
    let first = regular_losses::FIRST_SEED;
    run_all(seeds(first..first + 24));
}

#[test]
fn r17_seeds_with_short_lives_converge_and_fall_silent() {
    let first = short_lives::FIRST_SEED;
    run_all(seeds(first..first + 20));
}

#[test]
fn s199_s200_seeds_with_assets_converge_and_fall_silent() {
    run_all(seeds(assets::FIRST_SEED..assets::FIRST_SEED + 14));
}

#[test]
fn r28_seeds_with_enums_converge_and_fall_silent() {
    run_all(seeds(enums::FIRST_SEED..enums::FIRST_SEED + 24));
}

#[test]
fn s233_s239_seeds_with_waits_converge_and_fall_silent() {
    let outcomes: Vec<Outcome> = seeds(waits::FIRST_SEED..waits::FIRST_SEED + 30).map(run).collect();
    let secrets: u64 = outcomes.iter().map(|outcome| outcome.secrets).sum();
    assert!(outcomes.len() <= 10 || secrets > 0, "the search finds the secrets that may be seen");
}

#[test]
fn seeds_with_a_host_converge_and_fall_silent() {
    let first = host::FIRST_SEED;
    let outcomes: Vec<Outcome> = seeds(first..first + 12).map(run).collect();
    for (count, what) in ["calls to hosts", "calls of hosts"].into_iter().enumerate() {
        let sum: u64 = outcomes.iter().map(|outcome| outcome.of_host[count]).sum();
        assert!(outcomes.len() <= 10 || sum > outcomes.len() as u64 * 5, "{sum} {what}");
    }
}

fn seeds_with_lives() -> std::ops::Range<u64> {
    seeds(Lives::FIRST_SEED..Lives::FIRST_SEED + 44)
}

fn extreme_seeds() -> std::ops::Range<u64> {
    seeds(Extremes::FIRST_SEED..Extremes::FIRST_SEED + 36)
}

#[test]
fn r22_calls_run_as_promised_while_objects_owners_and_sessions_change() {
    calls::run_all(seeds(0..24));
}

#[test]
fn seeds_that_failed_once_pass() {
    for line in include_str!("regressions.txt").lines().filter(|line| !line.starts_with('#')) {
        run(line
            .split_whitespace()
            .next()
            .and_then(|seed| seed.parse().ok())
            .expect("a seed begins the line"));
    }
}

/// Congestion control is off: it does not run in the ticks in which a connection rests, so its limits would
/// differ.
#[test]
fn a_connection_that_rests_sends_the_same_packets_as_one_that_every_tick_visits() {
    for seed in seeds(0..12).chain(seeds(Lives::FIRST_SEED..Lives::FIRST_SEED + 16)) {
        let plan = Plan {
            ticks: 900,
            change_interval: 1 + seed % 40,
            congestion_control: CongestionControl::Off,
            ..Plan::new(seed, TICKS)
        };
        let visited = Plan { wakes_all: true, ..plan.clone() };
        assert_eq!(Run::new(&plan).finish(), Run::new(&visited).finish(), "seed {seed}");
    }
}

#[test]
fn two_runs_of_a_seed_have_the_same_trace() {
    for seed in seeds(0..16).chain(seeds(Lives::FIRST_SEED..Lives::FIRST_SEED + 8)) {
        let plan = Plan { ticks: 150, ..Plan::new(seed, TICKS) };
        assert_eq!(Run::new(&plan).finish(), Run::new(&plan).finish(), "seed {seed}");
    }
}
