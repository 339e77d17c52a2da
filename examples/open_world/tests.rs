//! Small worlds on bad networks.
//!
//! *Invariant:* a run ends with the same state and bytes whenever the arguments are the same.

use clap::Parser;

use crate::args::Args;
use crate::report::Outcome;
use crate::session::Session;

/// Runs a small world.
fn play(line: &str) -> (Session, Outcome) {
    let args = ["open_world", "--objects", "1000", "--connections", "12", "--ticks", "240"];
    crate::play(&Args::parse_from(args.into_iter().chain(line.split_whitespace())), |_, _| {})
}

#[test]
fn clients_have_what_is_near_them_and_no_canary_leaks() {
    for line in ["", "--loss 0.3 --seed 2", "--latency-ms 200 --seed 3"] {
        let (session, outcome) = play(line);
        assert!(outcome.is_good(), "{line}: {:?}", (0..12).find_map(|number| session.difference(number)));
        assert!(session.watch.rightly_sent > 100, "canaries are found at all");
        assert!(session.watch.seconds.iter().any(|second| second.mean_in_sight > 50.0));
    }
}

#[test]
fn nobody_waits_long_without_losses() {
    let (session, _) = play("--loss 0");
    let most = 5 + u32::from(crate::model::FAR_TICKS);
    assert!(session.watch.oldest_wait <= most, "{} ticks", session.watch.oldest_wait);
    assert_eq!((session.watch.starved(), session.watch.over_budget), (0, 0));
}

#[test]
fn what_rests_sleeps_also_on_a_budget_that_is_too_small() {
    for line in ["", "--loss 0 --budget 1500"] {
        let (session, outcome) = play(line);
        assert!(outcome.converged, "{line}");
        let percent = session.percent_asleep();
        assert!(percent > 50, "{line}: {percent} %");
    }
}

#[test]
fn the_arguments_decide_the_run() {
    let bytes = |line: &str| play(line).0.bytes_sent();
    assert_eq!(bytes("--loss 0.2"), bytes("--loss 0.2"));
    assert_ne!(bytes("--loss 0.2"), bytes("--loss 0.2 --seed 2"));
}

#[test]
fn the_picture_has_a_point_for_each_second() {
    let (session, _) = play("");
    let picture = crate::picture::svg(&session.watch.seconds, 10_000);
    let curve = picture.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a curve");
    assert_eq!(curve.split(' ').count(), 8);
    assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
}
