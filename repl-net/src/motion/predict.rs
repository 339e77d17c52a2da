//! Simulates one predicted object, or several objects that touch each other, tick by tick.
//!
//! *Invariant:* objects that are simulated together are always at the same tick.

use super::predicted::Predicted;

/// One simulation step of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredictionStep {
    /// The tick that is simulated.
    pub tick: u64,
    /// Whether the tick was already simulated before. If so, do not repeat effects that must happen only
    /// once, for example sounds.
    pub is_replay: bool,
}

/// One [`Predicted`] object, or a tuple of up to four objects that touch each other: `(&mut car, &mut ball)`.
/// The objects of a tuple are simulated and rolled back together. For more objects, use one `Predicted` whose
/// state contains them all.
///
/// ```
/// # use repl_net as repl;
/// use repl::{Predict, Predicted};
///
/// let (mut car, mut ball) = (Predicted::default(), Predicted::default());
/// car.confirm((7, &0.0), |mine, confirmed| mine == confirmed);
/// ball.confirm((7, &1.5), |mine, confirmed| mine == confirmed);
/// (&mut car, &mut ball).advance(8, |(car, ball), _| {
///     *car += 2.0;
///     *ball = f64::max(*ball, *car); // the car pushes the ball
/// });
/// assert_eq!(ball.state(), Some(&2.0));
/// ```
pub trait Predict {
    /// Mutable references to the states of all objects.
    type States<'a>;

    /// Advances to a tick for which the client has made an input. Calls `step` with the states for each tick
    /// up to this one that was not simulated yet. (These are several ticks if the client has skipped inputs.)
    /// Does not call `step` before the states of all objects are confirmed. Also does not call it if the
    /// server has confirmed nothing for more ticks than the limit. In this case, the states are the confirmed
    /// states.
    fn advance(&mut self, tick: u64, mut step: impl FnMut(Self::States<'_>, PredictionStep)) {
        if self.is_too_far(tick) {
            self.stop();
        }
        if !self.is_running() {
            return self.pass(tick, false);
        }
        if self.is_one_behind() {
            self.roll_back(&mut step);
        }
        let from = self.newest().unwrap_or(tick.saturating_sub(1)).saturating_add(1);
        for tick in from..=tick {
            self.step(PredictionStep { tick, is_replay: false }, &mut step);
            self.pass(tick, true);
        }
    }

    /// If the server has confirmed another state than the predicted one, simulates the ticks after the
    /// confirmed tick again, up to the newest tick. Call this once in each frame. Returns the number of
    /// simulated ticks, which is at most the number of ticks after the confirmed tick, and at most the limit.
    /// It is zero if there was nothing to do.
    fn roll_back(&mut self, mut step: impl FnMut(Self::States<'_>, PredictionStep)) -> u64 {
        let Some((start, newest)) = self.replay_after().zip(self.newest()) else { return 0 };
        if self.is_too_far(newest) {
            self.stop();
            return 0;
        }
        self.resume();
        if !self.is_running() {
            return 0;
        }
        self.rewind(start);
        for tick in start.saturating_add(1)..=newest {
            self.step(PredictionStep { tick, is_replay: true }, &mut step);
        }
        self.pass(newest, true);
        let steps = newest.saturating_sub(start);
        self.end_rollback(steps);
        steps
    }

    #[doc(hidden)]
    fn newest(&self) -> Option<u64>;
    #[doc(hidden)]
    fn is_too_far(&self, tick: u64) -> bool;
    #[doc(hidden)]
    fn is_running(&self) -> bool;
    #[doc(hidden)]
    fn replay_after(&self) -> Option<u64>;
    #[doc(hidden)]
    fn is_one_behind(&self) -> bool {
        false
    }
    #[doc(hidden)]
    fn stop(&mut self);
    #[doc(hidden)]
    fn resume(&mut self);
    #[doc(hidden)]
    fn pass(&mut self, tick: u64, is_simulated: bool);
    #[doc(hidden)]
    fn rewind(&mut self, tick: u64);
    #[doc(hidden)]
    fn step(&mut self, at: PredictionStep, step: &mut impl FnMut(Self::States<'_>, PredictionStep));
    #[doc(hidden)]
    fn end_rollback(&mut self, steps: u64);
}

impl<S: Clone + 'static> Predict for Predicted<S> {
    type States<'a> = &'a mut S;

    fn newest(&self) -> Option<u64> {
        self.tick()
    }

    fn is_too_far(&self, tick: u64) -> bool {
        Self::is_too_far(self, Some(tick))
    }

    fn is_running(&self) -> bool {
        Self::is_running(self)
    }

    fn replay_after(&self) -> Option<u64> {
        Self::replay_after(self, self.tick())
    }

    fn stop(&mut self) {
        Self::stop(self);
    }

    fn resume(&mut self) {
        Self::resume(self);
    }

    fn pass(&mut self, tick: u64, is_simulated: bool) {
        Self::pass(self, tick, is_simulated);
    }

    fn rewind(&mut self, tick: u64) {
        Self::rewind(self, tick);
    }

    fn step(&mut self, at: PredictionStep, step: &mut impl FnMut(&mut S, PredictionStep)) {
        if let Some(now) = self.now_mut() {
            step(now, at);
        }
        self.end_step(at.tick);
    }

    fn end_rollback(&mut self, steps: u64) {
        Self::end_rollback(self, steps);
    }
}

macro_rules! together {
    ($($name:ident $state:ident),*) => {
        impl<$($state: Clone + 'static),*> Predict for ($(&mut Predicted<$state>,)*) {
            type States<'a> = ($(&'a mut $state,)*);

            fn newest(&self) -> Option<u64> {
                let ($($name,)*) = self;
                None$(.max($name.tick()))*
            }

            fn is_too_far(&self, tick: u64) -> bool {
                let ($($name,)*) = self;
                $(Predicted::is_too_far($name, Some(tick)))||*
            }

            fn is_running(&self) -> bool {
                let ($($name,)*) = self;
                $(Predicted::is_running($name))&&*
            }

            fn replay_after(&self) -> Option<u64> {
                let newest = Predict::newest(self);
                let ($($name,)*) = self;
                [$(Predicted::replay_after($name, newest)),*].into_iter().flatten().min()
            }

            fn is_one_behind(&self) -> bool {
                let newest = Predict::newest(self);
                let ($($name,)*) = self;
                $($name.tick() < newest)||*
            }

            fn stop(&mut self) {
                let ($($name,)*) = self;
                $(Predicted::stop($name);)*
            }

            fn resume(&mut self) {
                let ($($name,)*) = self;
                $(Predicted::resume($name);)*
            }

            fn pass(&mut self, tick: u64, is_simulated: bool) {
                let ($($name,)*) = self;
                $(Predicted::pass($name, tick, is_simulated);)*
            }

            fn rewind(&mut self, tick: u64) {
                let ($($name,)*) = self;
                $(Predicted::rewind($name, tick);)*
            }

            fn step(&mut self, at: PredictionStep, step: &mut impl FnMut(Self::States<'_>, PredictionStep)) {
                let ($($name,)*) = self;
                if let ($(Some($name),)*) = ($($name.now_mut(),)*) {
                    step(($($name,)*), at);
                }
                $(Predicted::end_step($name, at.tick);)*
            }

            fn end_rollback(&mut self, steps: u64) {
                let ($($name,)*) = self;
                $(Predicted::end_rollback($name, steps);)*
            }
        }
    };
}

together!(one A, other B);
together!(one A, other B, third C);
together!(one A, other B, third C, fourth D);
