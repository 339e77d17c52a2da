//! A bot with its client: it makes an input for each tick that is due, predicts its own fighter, and
//! interpolates the other fighters.
//!
//! *Invariant:* a bot aims at the shown position of a fighter, not at the newest position that it knows.

use std::collections::BTreeMap;
use std::time::Duration;

use repl::PredictionStats;
use repl::prelude::*;
use repl::sim::Rng;

use crate::model::{Body, Fighter, HALF_SIDE, HZ, Steer, direction, register};

/// The longest time between two updates of a fighter that moves, in ticks.
const MOST_TICKS_APART: u64 = 4;

/// The number of ticks between two shots.
const SHOT_TICKS: u64 = 20;

/// How many ticks ahead a fighter may be predicted: more than the worst link needs.
const MOST_TICKS_AHEAD: u64 = 60;

pub(crate) struct Player {
    pub(crate) client: Client,
    rng: Rng,
    walk: [i8; 2],
    walks_until: u64,
    pub(crate) mine: Predicted<Body>,
    shown: Smoothed<[f32; 2]>,
    others: BTreeMap<ObjectRef<Fighter>, Interpolated<[f32; 2]>>,
    pub(crate) is_resting: bool,
    /// The sum and the count of the ticks that inputs were ahead of the server, for their mean.
    ahead: (f64, u64),
    last_frame: Duration,
    /// The shown positions, frame by frame.
    pub(crate) frames: Vec<Frame>,
}

/// The positions of fighters in a frame: only the first coordinates.
pub(crate) struct Frame {
    pub(crate) at: Duration,
    pub(crate) predicted: f32,
    pub(crate) confirmed: f32,
    pub(crate) smoothed: f32,
    pub(crate) other: Option<f32>,
}

impl Player {
    pub(crate) fn new(seed: u64) -> Self {
        let mut client = Client::new(ClientConfig::default(), Session::for_tests(seed));
        register(&mut client);
        Self {
            client,
            rng: Rng::new(seed),
            walk: [0; 2],
            walks_until: 0,
            mine: Predicted::new(MOST_TICKS_AHEAD),
            shown: Smoothed::new(Duration::from_millis(60), 3.0),
            others: BTreeMap::new(),
            is_resting: false,
            ahead: (0.0, 0),
            last_frame: Duration::ZERO,
            frames: Vec::new(),
        }
    }

    /// Handles a packet of the server.
    pub(crate) fn receive(&mut self, now: Duration, packet: &[u8]) {
        self.client.receive(now, packet).expect("the links damage nothing");
        while let Some(update) = self.client.poll_update() {
            let Some(fighter) = update.cast::<Fighter>() else { continue };
            let has_arrived = matches!(update.what, UpdateKind::Spawned | UpdateKind::Changed);
            if has_arrived && !self.client.object_info(fighter).is_owner() {
                let position = self.client[fighter].position;
                let other = self.others.entry(fighter).or_insert(Interpolated::new(MOST_TICKS_APART));
                other.push(update.tick, position);
            }
        }
    }

    /// Plays a frame: corrects wrong predictions, makes inputs, and sends them.
    pub(crate) fn frame(&mut self, now: Duration) {
        self.reconcile();
        for tick in self.client.inputs::<Steer>().due(now) {
            let steer = self.steer(tick);
            if self.client.inputs::<Steer>().set(tick, &steer).is_err() {
                continue;
            }
            let inputs = &mut self.client;
            self.mine.advance(tick, |body, at| body.step(&input_at(inputs, at.tick)));
        }
        self.client.tick(now);
        self.show(now);
    }

    /// Compares the predicted state with the state that the server has confirmed.
    fn reconcile(&mut self) {
        let Some(near) = self.client.server_tick() else { return };
        let Some((_, fighter)) = self.client.owned_objects::<Fighter>().next() else { return };
        if let Some(confirmed) = fighter.confirmed.at(near) {
            self.mine.confirm(confirmed, |mine, confirmed| mine == confirmed);
        }
        let inputs = &mut self.client;
        self.mine.roll_back(|body, at| body.step(&input_at(inputs, at.tick)));
        if let (Some(before), Some(after)) = (self.mine.take_corrected(), self.mine.state()) {
            self.shown.correct(&before.position, &after.position);
        }
    }

    /// Decides the input for a tick: walks somewhere for a while, and sometimes shoots at another fighter.
    fn steer(&mut self, tick: u64) -> Steer {
        let Some(body) = self.mine.state().copied().filter(|_| !self.is_resting) else {
            return Steer::default();
        };
        if tick >= self.walks_until {
            self.walks_until = tick + self.rng.range(20..80);
            // Prefer directions towards the middle.
            self.walk = body.position.map(|at| {
                let outward = (at / HALF_SIDE * 60.0) as i64;
                (self.rng.range(0..161) as i64 - 80 - outward).clamp(-100, 100) as i8
            });
        }
        let mut steer = Steer { walk: self.walk, ..Steer::default() };
        if tick.is_multiple_of(SHOT_TICKS)
            && let Some((target, at, shown)) = self.target()
        {
            steer =
                Steer { aim: direction(body.position, at), target, shown: ShownTick::new(shown), ..steer };
        }
        steer
    }

    /// Returns another fighter, its shown position, and the tick at which it was there.
    fn target(&mut self) -> Option<(ObjectRef<Fighter>, [f32; 2], f64)> {
        let others: Vec<_> = self.others.iter().collect();
        let (target, shown) = *self.rng.pick(&others)?;
        let tick = self.client.clock().shown_tick()? - shown.delay();
        Some((*target, shown.at(tick)?, tick))
    }

    fn show(&mut self, now: Duration) {
        self.shown.advance(now.saturating_sub(self.last_frame));
        self.last_frame = now;
        let stats = self.client.inputs::<Steer>().stats(now);
        if let Some(ahead) = stats.ahead_ticks {
            self.ahead = (self.ahead.0 + ahead, self.ahead.1 + 1);
        }
        let Some(body) = self.mine.state() else { return };
        let confirmed = self.mine.confirmed_tick().and_then(|tick| self.mine.at(tick)).unwrap_or(body);
        let shown_tick = self.client.clock().shown_tick();
        let other =
            self.others.values().next().zip(shown_tick).and_then(|(other, tick)| other.shown_at(tick));
        self.frames.push(Frame {
            at: now,
            predicted: body.position[0],
            confirmed: confirmed.position[0],
            smoothed: self.shown.value(&body.position)[0],
            other: other.map(|[x, _]| x),
        });
    }

    /// Returns how many ticks the inputs were ahead of the server's tick on average.
    pub(crate) fn ahead_ticks(&self) -> f64 {
        self.ahead.0 / self.ahead.1.max(1) as f64
    }

    pub(crate) fn stats(&self) -> PredictionStats {
        self.mine.stats()
    }
}

/// Returns the input for a tick. If it is missing, returns the last input before it, as the server does.
fn input_at(client: &mut Client, tick: u64) -> Steer {
    client.inputs::<Steer>().or_last(tick).unwrap_or_default()
}

const _: () = assert!(HZ == 60, "the numbers of ticks above are for 60 a second");
