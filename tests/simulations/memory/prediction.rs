//! Predictions and histories allocate no memory after their first ticks.

use repl::prelude::*;
use repl::{History, Predict, Predicted};

use crate::allocator::measure_times;

#[test]
fn a_frame_of_a_prediction_allocates_nothing() {
    let mut mine = Predicted::new(40);
    let mut shoves = 0_u64;
    let mut frame = |tick: u64| {
        // The server is ten ticks behind, and moves the object now and then.
        if let Some(confirmed) = tick.checked_sub(10).filter(|tick| *tick > 0) {
            shoves += u64::from(confirmed.is_multiple_of(7));
            mine.confirm((confirmed, &(confirmed + 100 * shoves)), |mine, confirmed| mine == confirmed);
        }
        mine.roll_back(|state, _| *state += 1);
        mine.advance(tick, |state, _| *state += 1);
        mine.stats().rollbacks
    };
    (1..500).for_each(|tick| _ = frame(tick));
    let (rollbacks, times) = measure_times(|| (500..2_000).map(&mut frame).last());
    assert!(rollbacks.is_some_and(|rollbacks| rollbacks > 250), "{rollbacks:?}");
    assert_eq!(times, 0);
}

#[derive(Replicated, Default)]
struct Player;

#[test]
fn a_tick_of_a_history_allocates_nothing() {
    let mut server = Server::new(ServerConfig::default());
    let objects: Vec<_> = (0..100).map(|_| server.spawn(Player)).collect();
    let mut players = History::new(24);
    let mut tick = |tick: u64| {
        objects.iter().for_each(|player| players.record(tick, *player, [tick as f32; 3]));
    };
    (1..100).for_each(&mut tick);
    let ((), times) = measure_times(|| (100..400).for_each(&mut tick));
    assert_eq!(times, 0);
}
