//! Predicted objects, compared with a naive model that replays everything from the confirmed state in each
//! frame.

use std::collections::BTreeMap;

use repl::sim::Rng;
use repl::{Confirmed, Predict, Predicted, PredictionEvent};

/// A state that depends on each earlier step.
type State = u64;

fn step(state: &mut State, input: u64) {
    *state = state.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ input;
}

/// Steps two objects, each of which affects the other.
fn step_both(one: &mut State, other: &mut State, input: u64) {
    let before = *one;
    step(one, input ^ *other);
    step(other, before);
}

fn input(tick: u64) -> u64 {
    tick.wrapping_mul(0x2545_f491_4f6c_dd1d)
}

/// The server's side of a world: the state after each tick. From time to time somebody else changes the
/// state.
struct World {
    rng: Rng,
    tick: u64,
    one: State,
    other: State,
    are_coupled: bool,
    shoves: f64,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        // The first tick is near a number at which the low 16 bits of ticks wrap around.
        let tick = 65_536 * rng.below(3) + 65_400 + rng.below(200);
        let shoves = [0.0, 0.015, 0.2][rng.below(3) as usize];
        Self { rng, tick, one: seed, other: !seed, are_coupled: true, shoves }
    }

    fn step(&mut self) {
        self.tick += 1;
        if self.are_coupled {
            step_both(&mut self.one, &mut self.other, input(self.tick));
        } else {
            step(&mut self.one, input(self.tick));
        }
        if self.rng.chance(self.shoves) {
            self.one ^= 1;
        }
        if self.rng.chance(self.shoves) {
            self.other ^= 2;
        }
    }
}

fn same(mine: &State, confirmed: &State) -> bool {
    mine == confirmed
}

#[test]
fn a_prediction_equals_the_naive_way_in_a_thousand_worlds() {
    for seed in 0..1_000 {
        let mut world = World { are_coupled: false, ..World::new(seed) };
        let (mut mine, mut naive) = (Predicted::new(40), None);
        let mut newest = world.tick + 6;
        for _ in 0..120 {
            world.step();
            let (tick, state) = (world.tick, world.one);
            if world.rng.chance(0.8) {
                let confirmed = Confirmed::new(tick, state);
                mine.confirm(confirmed.at(tick + world.rng.below(9)).expect("it was set"), same);
                naive = Some((tick, state));
            }
            let steps = mine.roll_back(|state, at| step(state, input(at.tick)));
            assert!(steps <= newest.saturating_sub(mine.confirmed_tick().unwrap_or(0)), "seed {seed}");
            // A frame may have no tick, one tick or two ticks.
            for _ in 0..world.rng.below(3) {
                newest = newest.max(world.tick) + u64::from(newest < world.tick + 12);
                mine.advance(newest, |state, at| step(state, input(at.tick)));
            }
            let expected = naive.map(|(tick, mut state)| {
                let newest = mine.tick().unwrap_or(tick);
                (tick + 1..=newest).for_each(|tick| step(&mut state, input(tick)));
                state
            });
            assert_eq!(mine.state().copied(), expected, "seed {seed} at {}", world.tick);
        }
        assert!(world.shoves > 0.0 || mine.stats().rollbacks <= 1, "seed {seed}: {:?}", mine.stats());
    }
}

/// The naive model for two objects: it stores all states so far, and repeats each step after the older of the
/// two confirmed ticks.
#[derive(Default)]
struct Naive {
    one: BTreeMap<u64, State>,
    other: BTreeMap<u64, State>,
    confirmed: (Option<u64>, Option<u64>),
}

impl Naive {
    fn replay(&mut self, newest: u64) -> Option<(State, State)> {
        let (one, other) = (self.confirmed.0?, self.confirmed.1?);
        let start = one.min(other);
        let before = |states: &BTreeMap<u64, State>| {
            states.range(..=start).next_back().or(states.iter().next()).map(|(_, state)| *state)
        };
        let (mut a, mut b) = (before(&self.one)?, before(&self.other)?);
        for tick in start + 1..=newest {
            step_both(&mut a, &mut b, input(tick));
            a = if tick <= one { *self.one.get(&tick).or(self.one.values().next())? } else { a };
            b = if tick <= other { *self.other.get(&tick).or(self.other.values().next())? } else { b };
            if tick > one {
                self.one.insert(tick, a);
            }
            if tick > other {
                self.other.insert(tick, b);
            }
        }
        Some((a, b))
    }
}

#[test]
fn objects_that_touch_each_other_equal_the_naive_way_in_a_thousand_worlds() {
    for seed in 0..1_000 {
        let mut world = World::new(seed);
        let (mut one, mut other, mut naive) = (Predicted::new(40), Predicted::new(40), Naive::default());
        let mut newest = world.tick + 6;
        for _ in 0..120 {
            world.step();
            if world.rng.chance(0.7) {
                one.confirm((world.tick, &world.one), same);
                naive.one.insert(world.tick, world.one);
                naive.confirmed.0 = Some(world.tick);
            }
            if world.rng.chance(0.7) {
                other.confirm((world.tick, &world.other), same);
                naive.other.insert(world.tick, world.other);
                naive.confirmed.1 = Some(world.tick);
            }
            (&mut one, &mut other).roll_back(|(one, other), at| step_both(one, other, input(at.tick)));
            newest += u64::from(newest < world.tick + 12);
            (&mut one, &mut other).advance(newest, |(one, other), at| step_both(one, other, input(at.tick)));
            if let Some(expected) = naive.replay(newest) {
                let states = one.state().copied().zip(other.state().copied());
                assert_eq!(states, Some(expected), "seed {seed} at {}", world.tick);
            }
        }
    }
}

#[test]
fn a_prediction_that_was_right_is_not_done_again() {
    let mut mine = Predicted::default();
    assert_eq!(mine.roll_back(|_, _| ()), 0);
    assert_eq!(mine.state(), None);
    mine.confirm((5, &0_u64), same);
    for tick in 6..=12 {
        mine.advance(tick, |state, at| {
            assert!(!at.is_replay);
            *state += at.tick;
        });
    }
    mine.confirm((8, &(6 + 7 + 8)), |mine, confirmed| mine.abs_diff(*confirmed) < 2);
    mine.confirm((9, &(6 + 7 + 8 + 9 + 1)), |mine, confirmed| mine.abs_diff(*confirmed) < 2);
    assert_eq!(mine.roll_back(|_, _| panic!("nothing differs")), 0);
    assert_eq!((mine.stats().confirmed, mine.stats().rollbacks), (2, 0));
    assert_eq!(mine.at(9), Some(&(6 + 7 + 8 + 9)), "what differs a little stays as it was");
    assert_eq!(mine.poll_event(), None);
}

#[test]
fn what_happens_once_is_told_from_what_is_done_again() {
    let (mut mine, mut sounds) = (Predicted::default(), Vec::new());
    mine.confirm((0, &0), same);
    let mut step = |state: &mut State, at: repl::PredictionStep| {
        *state += 1;
        if !at.is_replay {
            sounds.push(at.tick);
        }
    };
    mine.advance(3, &mut step);
    mine.confirm((1, &100), same);
    assert_eq!(mine.roll_back(&mut step), 2);
    mine.advance(4, &mut step);
    assert_eq!((mine.state(), sounds), (Some(&103), vec![1, 2, 3, 4]));
    assert_eq!(mine.poll_event(), Some(PredictionEvent::RolledBack { steps: 2 }));
    assert_eq!(mine.take_corrected(), Some(3), "what was shown before");
    assert_eq!(mine.take_corrected(), None);
}

#[test]
fn a_prediction_stops_at_its_limit_and_goes_on_with_the_next_confirmation() {
    let mut mine = Predicted::new(10);
    mine.confirm((0, &0), same);
    let step = |state: &mut State, _: repl::PredictionStep| *state += 1;
    for tick in 1..=10 {
        mine.advance(tick, step);
    }
    assert_eq!((mine.state(), mine.is_stopped()), (Some(&10), false));
    for tick in 11..=20 {
        mine.advance(tick, step);
        assert_eq!((mine.state(), mine.is_stopped()), (Some(&0), true));
    }
    // Tick 9 is still too old.
    mine.confirm((9, &9), same);
    assert_eq!(mine.roll_back(step), 0);
    assert_eq!((mine.state(), mine.is_stopped()), (Some(&9), true));
    mine.confirm((12, &50), same);
    assert_eq!(mine.roll_back(step), 8);
    assert_eq!((mine.state(), mine.is_stopped()), (Some(&58), false));
    let events: Vec<_> = std::iter::from_fn(|| mine.poll_event()).collect();
    assert_eq!(
        events,
        [PredictionEvent::Stopped, PredictionEvent::Resumed, PredictionEvent::RolledBack { steps: 8 }]
    );
    assert_eq!(mine.stats().stops, 1);
}

#[test]
fn a_confirmation_of_a_tick_that_was_not_predicted_is_the_state() {
    let mut mine = Predicted::default();
    mine.confirm((10, &1), same);
    mine.advance(12, |state, _| *state += 1);
    mine.confirm((15, &100), same);
    assert_eq!((mine.state(), mine.tick()), (Some(&100), Some(15)));
    mine.confirm((14, &7), same);
    assert_eq!(mine.state(), Some(&100), "an older tick is ignored");
    mine.advance(17, |state, _| *state += 1);
    assert_eq!(mine.state(), Some(&102), "two ticks");
}

#[test]
fn a_new_session_begins_anew() {
    let mut mine = Predicted::new(40);
    mine.confirm((50_000, &1), same);
    mine.advance(50_010, |state, _| *state += 1);
    mine.confirm((9, &100), same);
    mine.advance(11, |state, _| *state += 1);
    assert_eq!((mine.state(), mine.tick(), mine.is_stopped()), (Some(&102), Some(11), false));
}

#[test]
fn an_object_that_joins_others_is_at_their_tick() {
    let (mut car, mut ball) = (Predicted::default(), Predicted::default());
    car.confirm((80, &80), same);
    car.advance(100, |state, _| *state += 1);
    ball.confirm((90, &90), same);
    let step = |(car, ball): (&mut State, &mut State), _: repl::PredictionStep| {
        (*car, *ball) = (*car + 1, *ball + 1)
    };
    (&mut car, &mut ball).advance(101, step);
    assert_eq!((car.state(), ball.state()), (Some(&101), Some(&101)));
    assert_eq!((ball.at(91), ball.at(101)), (Some(&91), Some(&101)));
}

#[test]
fn a_group_stops_once_and_shows_what_is_confirmed() {
    let (mut one, mut other) = (Predicted::new(10), Predicted::new(10));
    other.confirm((0, &0), same);
    let step = |(one, other): (&mut State, &mut State), _: repl::PredictionStep| {
        (*one, *other) = (*one + 1, *other + 1)
    };
    for tick in 1..=60 {
        one.confirm((tick, &tick), same);
        (&mut one, &mut other).roll_back(step);
        (&mut one, &mut other).advance(tick + 5, step);
    }
    assert_eq!((one.stats().stops, other.stats().stops), (1, 1));
    assert_eq!((one.state(), other.state(), one.is_stopped()), (Some(&60), Some(&0), true));
    other.confirm((59, &59), same);
    (&mut one, &mut other).roll_back(step);
    assert_eq!((one.state(), other.state(), one.is_stopped()), (Some(&65), Some(&65), false));
}

/// Returns a car and a ball that are predicted together for 100 ticks, from tick `first` on.
fn car_and_ball(first: u64) -> (Predicted<State>, Predicted<State>) {
    let (mut car, mut ball) = (Predicted::new(40), Predicted::new(40));
    for tick in first..first + 100 {
        confirm_both(&mut car, &mut ball, tick);
    }
    (car, ball)
}

/// Runs a frame in which the server confirms both objects at `tick`. Returns the number of repeated steps.
fn confirm_both(car: &mut Predicted<State>, ball: &mut Predicted<State>, tick: u64) -> u64 {
    car.confirm((tick, &0), same);
    ball.confirm((tick, &0), same);
    let steps = (&mut *car, &mut *ball).roll_back(|_, _| ());
    (car, ball).advance(tick + 6, |_, _| ());
    steps
}

#[test]
fn a_group_does_no_more_steps_again_than_its_limit_whatever_the_server_confirms() {
    let (mut car, mut ball) = car_and_ball(100_000);
    for tick in 100_100..100_120 {
        // The server confirms the car at a tick that is much too old, so the car starts again there.
        let lie = Confirmed::new(tick - 60_000, 5).at(tick).map(|(tick, state)| (tick, *state));
        let (tick_of_lie, state) = lie.expect("it has a tick");
        car.confirm((tick_of_lie, &state), same);
        let steps = (&mut car, &mut ball).roll_back(|_, _| ());
        assert_eq!((steps, car.is_stopped(), ball.is_stopped()), (0, true, true));
        let steps = confirm_both(&mut car, &mut ball, tick);
        assert!(steps <= 40, "{steps} steps");
    }
}

#[test]
fn a_group_begins_anew_with_a_session_whichever_is_confirmed_first() {
    let (mut car, mut ball) = car_and_ball(5_000);
    car.confirm((10, &7), same);
    assert_eq!((&mut car, &mut ball).roll_back(|_, _| ()), 0);
    (&mut car, &mut ball).advance(16, |_, _| ());
    let steps: u64 = (11..60).map(|tick| confirm_both(&mut car, &mut ball, tick)).sum();
    assert_eq!((car.tick(), ball.tick(), car.is_stopped()), (Some(65), Some(65), false));
    assert!(steps < 50, "{steps} steps");
}

#[test]
fn what_was_shown_before_several_corrections_is_what_is_corrected() {
    let step = |state: &mut State, _: repl::PredictionStep| *state += 1;
    let mut mine = Predicted::new(10);
    mine.confirm((100, &0), same);
    (101..=108).for_each(|tick| mine.advance(tick, step));
    mine.confirm((101, &500), same);
    mine.roll_back(step);
    mine.advance(130, step);
    assert_eq!((mine.is_stopped(), mine.take_corrected()), (true, Some(8)), "a rollback and a stop");
    mine.confirm((128, &1_000), same);
    assert_eq!(mine.roll_back(step), 2);
    assert_eq!(mine.state(), Some(&1_002));
    assert_eq!(mine.take_corrected(), Some(500), "it stood still at 500");
    assert_eq!(mine.take_corrected(), None);
}
