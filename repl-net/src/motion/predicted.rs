//! The states of one object that a client predicts, tick by tick.
//!
//! *Invariant:* the states up to the confirmed tick (the newest tick that the server has confirmed) never
//! change.

use std::collections::VecDeque;

/// The default for the limit: how many ticks may be predicted after the confirmed tick.
const USUAL_LIMIT: u64 = 40;

/// The greatest number of events that were not polled. If there are more, the oldest is dropped.
const MOST_EVENTS: usize = 8;

/// The states of one object that a client predicts. They contain the effects of the player's inputs before
/// the server has confirmed these inputs.
///
/// In each frame, [`confirm`](Self::confirm) the newest state that has arrived, call
/// [`roll_back`](crate::Predict::roll_back), and [`advance`](crate::Predict::advance) to each tick for which
/// an [input](crate::Client::inputs) is due:
///
/// ```
/// # use repl_net as repl;
/// use repl::{Predict, Predicted};
///
/// // Both sides step in the same way: here, each input is a way to go.
/// let step = |x: &mut i32, input: i32| *x += input;
/// let inputs = |tick: u64| if tick > 12 { 5 } else { 1 };
///
/// let mut x = Predicted::default();
/// x.confirm((10, &100), |mine, confirmed| mine == confirmed);
/// for tick in 11..=14 {
///     x.advance(tick, |x, at| step(x, inputs(at.tick)));
/// }
/// assert_eq!(x.state(), Some(&112));
///
/// // The server says that somebody has pushed the player in tick 12.
/// x.confirm((12, &202), |mine, confirmed| mine == confirmed);
/// let steps = x.roll_back(|x, at| step(x, inputs(at.tick)));
/// assert_eq!((steps, x.state()), (2, Some(&212)));
/// ```
///
/// The state `S` is any type of the user: a whole object, some fields of it, or a vehicle with all its
/// wheels. Memory for twice as many states as the limit is allocated once.
#[derive(Clone, Debug)]
pub struct Predicted<S> {
    /// The states after consecutive ticks, in ascending order of the ticks.
    states: VecDeque<S>,
    /// The tick of the first state.
    first: u64,
    /// The newest tick. It was simulated, or it was skipped while the prediction could not run.
    newest: Option<u64>,
    /// The state after the newest tick.
    now: Option<S>,
    /// The newest tick that the server has confirmed.
    confirmed: Option<u64>,
    /// Whether the ticks after the confirmed tick must be simulated, because of a correction or because they
    /// were skipped.
    must_replay: bool,
    is_stopped: bool,
    /// The state before the first correction since the last call of `take_corrected`.
    corrected: Option<S>,
    limit: u64,
    stats: PredictionStats,
    events: VecDeque<PredictionEvent>,
}

/// An event of a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PredictionEvent {
    /// The server has confirmed another state than the predicted one, and the later ticks were simulated
    /// again.
    RolledBack {
        /// The number of ticks that were simulated again.
        steps: u64,
    },
    /// The server has confirmed nothing for more ticks than the limit. Until it confirms a newer tick, the
    /// state is the last confirmed state.
    Stopped,
    /// The prediction continues after a stop.
    Resumed,
}

/// Statistics of a prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PredictionStats {
    /// The number of ticks whose predicted state the server has confirmed.
    pub confirmed: u64,
    /// The number of rollbacks.
    pub rollbacks: u64,
    /// The number of ticks that were simulated again.
    pub replayed_steps: u64,
    /// The number of times that the prediction has stopped.
    pub stops: u64,
}

impl<S> Default for Predicted<S> {
    fn default() -> Self {
        Self::new(USUAL_LIMIT)
    }
}

impl<S> Predicted<S> {
    /// Returns a prediction without a state. It begins with the first confirmed state. It predicts at most
    /// `limit` ticks after the confirmed tick. The limit must be at least the number of ticks by which the
    /// [inputs](crate::InputStats::ahead_ticks) are ahead, plus the travel time of the server's packets in
    /// ticks. The default is 40 ticks, which is enough for a round trip of 400 ms at 60 ticks per second.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        let most_states = limit.saturating_mul(2).saturating_add(2).min(1 << 16) as usize;
        Self {
            states: VecDeque::with_capacity(most_states),
            first: 0,
            newest: None,
            now: None,
            confirmed: None,
            must_replay: false,
            is_stopped: false,
            corrected: None,
            limit,
            stats: PredictionStats::default(),
            events: VecDeque::with_capacity(MOST_EVENTS),
        }
    }

    /// Returns the state after the newest tick. While the prediction is stopped, returns the confirmed state.
    /// Returns `None` before the first state was confirmed.
    #[must_use]
    pub const fn state(&self) -> Option<&S> {
        self.now.as_ref()
    }

    /// Returns the state after a tick, if it is stored. States are stored from some ticks before the
    /// confirmed tick up to the newest tick.
    #[must_use]
    pub fn at(&self, tick: u64) -> Option<&S> {
        self.states.get(usize::try_from(tick.checked_sub(self.first)?).ok()?)
    }

    /// Returns the newest tick to which the prediction has advanced.
    #[must_use]
    pub const fn tick(&self) -> Option<u64> {
        self.newest
    }

    /// Returns the newest tick that the server has confirmed.
    #[must_use]
    pub const fn confirmed_tick(&self) -> Option<u64> {
        self.confirmed
    }

    /// Returns whether the prediction is stopped, because the server has confirmed nothing for too long.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// Returns the statistics.
    #[must_use]
    pub const fn stats(&self) -> PredictionStats {
        self.stats
    }

    /// Returns the next event. At most the eight newest events are kept.
    pub fn poll_event(&mut self) -> Option<PredictionEvent> {
        self.events.pop_front()
    }

    /// Returns the state before the first correction since the last call. Corrections are rollbacks, stops
    /// and new starts. A [`Smoothed`](crate::Smoothed) moves the shown value smoothly from this state to the
    /// corrected [`state`](Self::state). Call this once in each frame, before the state is shown. If a
    /// correction changed nothing, both states are the same.
    pub fn take_corrected(&mut self) -> Option<S> {
        self.corrected.take()
    }

    /// Forgets everything except the statistics. Call this when another session begins.
    pub fn reset(&mut self) {
        self.states.clear();
        (self.newest, self.now, self.confirmed, self.corrected) = (None, None, None, None);
        (self.must_replay, self.is_stopped) = (false, false);
    }

    fn report(&mut self, event: PredictionEvent) {
        if self.events.len() == MOST_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

impl<S: Clone> Predicted<S> {
    /// Stores the state of a tick that the server has confirmed. [`Confirmed::at`](repl_core::Confirmed::at)
    /// returns both. `agrees` compares the predicted state (its first argument) with the confirmed state. It
    /// should accept small differences, for example of numbers that were sent with fewer bits. Returns `true`
    /// if they do not agree. The next [`roll_back`](crate::Predict::roll_back) then simulates the later ticks
    /// again. A tick that is not newer than the last confirmed tick is ignored. But if it is older by more
    /// than the limit, it belongs to a new session, and the prediction starts again. After a restart of the
    /// server, call [`reset`](Self::reset) nevertheless, because the new ticks may be near the old ones.
    pub fn confirm(&mut self, (tick, state): (u64, &S), agrees: impl FnOnce(&S, &S) -> bool) -> bool {
        match self.confirmed {
            Some(known) if known > tick.saturating_add(self.limit) => self.reset(),
            Some(known) if known >= tick => return false,
            _ => {}
        }
        self.confirmed = Some(tick);
        if self.newest <= Some(tick) || self.is_stopped || self.at(tick).is_none() {
            self.begin(tick, state);
            return self.must_replay;
        }
        let Some(mine) = self.at(tick) else { return false };
        if agrees(mine, state) {
            self.stats.confirmed = self.stats.confirmed.saturating_add(1);
        } else {
            self.must_replay = true;
            self.set(tick, state.clone());
        }
        self.forget_old();
        self.must_replay
    }

    /// Starts with a confirmed state, and forgets all earlier states.
    fn begin(&mut self, tick: u64, state: &S) {
        self.states.clear();
        self.states.push_back(state.clone());
        (self.first, self.newest) = (tick, self.newest.max(Some(tick)));
        self.must_replay = self.newest > Some(tick) && !self.is_too_far(self.newest);
        if !self.must_replay || self.is_stopped || self.now.is_none() {
            self.note_shown();
            self.now = Some(state.clone());
        }
    }

    /// Forgets the states of ticks that are further before the confirmed tick than the limit.
    fn forget_old(&mut self) {
        while self.first.saturating_add(self.limit) < self.confirmed.unwrap_or(0) && self.states.len() > 1 {
            self.states.pop_front();
            self.first = self.first.saturating_add(1);
        }
    }

    /// Sets the state after a tick. The tick must have a stored state, or be the tick after the last stored
    /// state.
    fn set(&mut self, tick: u64, state: S) {
        let at = tick.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        match at.and_then(|at| self.states.get_mut(at)) {
            Some(known) => *known = state,
            None => self.states.push_back(state),
        }
    }

    pub(super) fn is_too_far(&self, tick: Option<u64>) -> bool {
        let ahead = tick.unwrap_or(0).saturating_sub(self.confirmed.unwrap_or(0));
        self.confirmed.is_some() && ahead > self.limit
    }

    /// Returns whether the next tick can be simulated.
    pub(super) const fn is_running(&self) -> bool {
        self.now.is_some() && !self.is_stopped
    }

    /// Stores the current state before it is corrected. If a frame has several corrections, only the state
    /// before the first correction was shown, so that one is stored.
    fn note_shown(&mut self) {
        if self.corrected.is_none() {
            self.corrected.clone_from(&self.now);
        }
    }

    /// Stops the prediction. The state is the confirmed state from now on.
    pub(super) fn stop(&mut self) {
        if !self.is_running() {
            return;
        }
        let confirmed = self.confirmed.unwrap_or(0);
        self.states.truncate(confirmed.saturating_sub(self.first).saturating_add(1) as usize);
        self.note_shown();
        self.is_stopped = true;
        self.now = self.at(confirmed).cloned();
        self.stats.stops = self.stats.stops.saturating_add(1);
        self.report(PredictionEvent::Stopped);
    }

    pub(super) fn resume(&mut self) {
        if std::mem::take(&mut self.is_stopped) {
            self.report(PredictionEvent::Resumed);
        }
    }

    /// Records that the newest tick is `tick`. If it was not simulated, a later rollback simulates it.
    pub(super) fn pass(&mut self, tick: u64, is_simulated: bool) {
        self.must_replay |= !is_simulated && self.confirmed.is_some() && self.newest < Some(tick);
        self.newest = self.newest.max(Some(tick));
    }

    /// Returns the tick after which ticks must be simulated, up to the tick `newest`. Returns `None` if there
    /// are none.
    pub(super) fn replay_after(&self, newest: Option<u64>) -> Option<u64> {
        self.confirmed.filter(|_| self.must_replay || self.newest < newest)
    }

    /// Sets the current state to the state after a tick. If this state is not known, because the object is
    /// newer, sets it to the object's first known state.
    pub(super) fn rewind(&mut self, tick: u64) {
        self.note_shown();
        self.now = self.at(tick).or(self.states.front()).cloned();
    }

    /// Returns the current state, which a step changes.
    pub(super) const fn now_mut(&mut self) -> Option<&mut S> {
        self.now.as_mut()
    }

    /// Stores the current state as the state after `tick`. If the tick is already confirmed, restores its
    /// confirmed state instead.
    pub(super) fn end_step(&mut self, tick: u64) {
        if self.confirmed >= Some(tick) {
            self.now = self.at(tick).or(self.states.front()).cloned();
        } else if let Some(now) = self.now.clone() {
            self.set(tick, now);
        }
    }

    pub(super) fn end_rollback(&mut self, steps: u64) {
        self.must_replay = false;
        self.stats.rollbacks = self.stats.rollbacks.saturating_add(1);
        self.stats.replayed_steps = self.stats.replayed_steps.saturating_add(steps);
        self.report(PredictionEvent::RolledBack { steps });
    }
}
