//! A frame of a client with predicted objects, and a tick of a server that records the history of objects,
//! both compared with the same work by hand.
//!
//! *Invariant:* all candidates have the same states at the end of each frame.

#[path = "support/ratios.rs"]
mod ratios;

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use ratios::{Side, timed};
use repl::prelude::*;
use repl::{History, Predict, Predicted};

/// How many objects a client predicts.
const OBJECTS: usize = 100;

/// How many ticks the client is ahead of the confirmed tick.
const AHEAD: u64 = 12;

/// The number of objects with a history, and the number of ticks in it.
const PLAYERS: usize = 1_000;
const CAP: u64 = 24;

/// A state as in a shooter game: position, velocity and view.
type State = [f32; 8];

fn step(state: &mut State) {
    let [x, y, z, right, up, on, ..] = state;
    (*x, *y, *z) = (*x + *right, *y + *up, *z + *on);
}

/// Runs frames without a rollback: each object is confirmed and steps once.
fn predicted() -> impl FnMut(u64) -> Duration {
    let mut objects: Vec<Predicted<State>> = (0..OBJECTS).map(|_| Predicted::default()).collect();
    let mut server = [0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.0, 0.0];
    objects.iter_mut().for_each(|object| _ = object.confirm((0, &server), |_, _| true));
    objects.iter_mut().for_each(|object| object.advance(AHEAD, |state, _| step(state)));
    let mut tick = AHEAD;
    move |frames| {
        timed(frames, || {
            tick += 1;
            step(&mut server);
            for object in &mut objects {
                let is_wrong = object.confirm((tick - AHEAD, &server), |mine, confirmed| mine == confirmed);
                assert!(!is_wrong, "nobody moves the objects");
                object.roll_back(|state, _| step(state));
                object.advance(tick, |state, _| step(state));
            }
            black_box(objects.last().and_then(Predicted::state).copied())
        })
    }
}

/// The same as [`predicted`], with a hand-written queue of states for each object.
fn by_hand() -> impl FnMut(u64) -> Duration {
    let mut server = [0.0, 0.0, 0.0, 0.1, 0.2, 0.3, 0.0, 0.0];
    let mut start = server;
    let states: VecDeque<State> = (0..AHEAD)
        .map(|_| {
            step(&mut start);
            start
        })
        .collect();
    let mut objects = vec![(start, states); OBJECTS];
    move |frames| {
        timed(frames, || {
            step(&mut server);
            for (now, states) in &mut objects {
                assert!(states.pop_front() == Some(server), "nobody moves the objects");
                step(now);
                states.push_back(*now);
            }
            black_box(objects.last().map(|(now, _)| *now))
        })
    }
}

/// Records all players in each tick.
fn history() -> impl FnMut(u64) -> Duration {
    #[derive(Replicated, Default)]
    struct Player;
    let mut server = Server::new(ServerConfig::default());
    let players: Vec<_> = (0..PLAYERS).map(|_| server.spawn(Player)).collect();
    let mut past = History::new(CAP);
    let mut tick = 0;
    move |ticks| {
        timed(ticks, || {
            tick += 1;
            players.iter().for_each(|player| past.record(tick, *player, [tick as f32; 3]));
        })
    }
}

/// The same as [`history`], with a hand-written table of all players for each tick.
fn history_by_hand() -> impl FnMut(u64) -> Duration {
    let mut past = vec![vec![[0.0_f32; 3]; PLAYERS]; CAP as usize + 2];
    let mut tick = 0_u64;
    move |ticks| {
        timed(ticks, || {
            tick += 1;
            let at = (tick % (CAP + 2)) as usize;
            past[at].iter_mut().for_each(|position| *position = [tick as f32; 3]);
            black_box(past[at].last().copied())
        })
    }
}

fn bench(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("predict");
    group.bench_function("frame of 100", |bencher| bencher.iter_custom(predicted()));
    group.bench_function("frame of 100 by hand", |bencher| bencher.iter_custom(by_hand()));
    group.bench_function("history of 1000", |bencher| bencher.iter_custom(history()));
    group.bench_function("history of 1000 by hand", |bencher| bencher.iter_custom(history_by_hand()));
    group.finish();
    if ratios::are_wanted() {
        let (mut repl, mut hand) = (predicted(), by_hand());
        ratios::report(
            "frame of 100",
            &mut [Side::new("repl", None, &mut repl), Side::new("hand", None, &mut hand)],
        );
        let (mut repl, mut hand) = (history(), history_by_hand());
        ratios::report(
            "history of 1000",
            &mut [Side::new("repl", None, &mut repl), Side::new("hand", None, &mut hand)],
        );
    }
}

criterion::criterion_group!(benches, bench);
criterion::criterion_main!(benches);
