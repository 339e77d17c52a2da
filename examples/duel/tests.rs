//! Tests of a whole match.

use crate::args::Args;
use crate::picture;
use crate::report::Outcome;
use crate::session::Session;

fn play(seed: u64, cap_ms: u64) -> (Session, Outcome) {
    let args = Args { seconds: 30, cap_ms, seed, json: true, svg: None };
    let mut session = Session::new(&args);
    (0..args.seconds).for_each(|_| session.play_second());
    let outcome = Outcome::of(&mut session);
    (session, outcome)
}

#[test]
fn players_hit_what_they_see_up_to_the_cap() {
    let (_, outcome) = play(5, 400);
    assert!(outcome.is_good(), "{:?}", outcome.bots);
    let (_, outcome) = play(5, 700);
    let worst = outcome.bots.last().expect("there are four");
    assert!(worst.hits >= 0.99 && worst.hits_uncompensated <= 0.6 && worst.beyond == 0.0, "{worst:?}");
    let (_, outcome) = play(5, 250);
    let worst = outcome.bots.last().expect("there are four");
    assert!(worst.beyond > 0.9 && worst.hits < 0.9, "{worst:?}");
}

#[test]
fn the_picture_shows_all_curves() {
    let (session, outcome) = play(6, 400);
    let text = picture::svg(&session, &outcome);
    assert_eq!(text.matches("<polyline").count(), 4);
    assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"));
}
