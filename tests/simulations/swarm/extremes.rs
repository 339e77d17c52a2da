//! Extremes: rare events that happen only in runs with a seed of [`Extremes::FIRST_SEED`] or more.
//!
//! *Invariant:* runs with smaller seeds have no extremes, so they never change.

use std::time::Duration;

use repl::ConnectionId;
use repl::sim::Rng;

use crate::kinds::DOT;
use crate::plan::Plan;
use crate::world::World;

/// Many objects are spawned together only while the world has fewer objects than this.
const MASSES: usize = 400;

#[derive(Clone, Debug, Default)]
pub(crate) struct Extremes {
    /// The chance that an object grows from its spawn on, before any client can have acknowledged it.
    pub(crate) growth: f64,
    /// The chance in a tick that many objects are spawned, despawned, or hidden from a client, all in the
    /// same tick.
    pub(crate) masses: f64,
    /// The chance that a client receives nothing while the world changes, although its own packets arrive.
    pub(crate) deaf: f64,
    /// Deaf clients do not receive packets shorter than this.
    pub(crate) deaf_below_bytes: usize,
    /// The chance in a tick that an old packet arrives again.
    pub(crate) echoes: f64,
    /// One of this many packets is stored, so that it can arrive again.
    pub(crate) echo_of: u64,
}

impl Extremes {
    /// The smallest seed whose run has extremes.
    pub(crate) const FIRST_SEED: u64 = 10_000;
    /// In this many ticks a connection sends more than 70,000 packets.
    const OLD_AGE_TICKS: u64 = 72_000;
    /// One of this many seeds sends enough packets that their numbers wrap around.
    const OLD_AGE_OF: u64 = 50;

    /// Adds extremes to an ordinary plan.
    pub(crate) fn draw(plan: &mut Plan) {
        let mut rng = Rng::new(plan.seed).fork(10);
        let rng = &mut rng;
        plan.objects = plan.objects.min(24);
        let extremes = &mut plan.extremes;
        extremes.growth = if rng.chance(0.5) { 0.7 } else { 0.0 };
        extremes.masses = if rng.chance(0.3) { 0.02 } else { 0.0 };
        extremes.deaf = if rng.chance(0.3) { 0.5 } else { 0.0 };
        extremes.deaf_below_bytes = if rng.chance(0.5) { usize::MAX } else { 64 };
        extremes.echoes = if rng.chance(0.4) { 0.1 } else { 0.0 };
        extremes.echo_of = 10;
        if extremes.masses > 0.0 {
            plan.max_objects = 8_192;
        }
        if rng.chance(0.2) {
            plan.max_bytes_per_tick = rng.range(1..400) as usize;
        }
        plan.max_connection_bytes = *rng.pick(&[256 << 10, 1 << 20, 4 << 20]).expect("limits");
        let is_slow = rng.chance(0.1);
        if plan.seed % Self::OLD_AGE_OF == 7 {
            Self::grow_old(plan);
        } else if is_slow {
            Self::slow_down(plan, rng);
        }
    }

    /// Gives the world round trips of up to 30 s, and fewer ticks per second.
    fn slow_down(plan: &mut Plan, rng: &mut Rng) {
        let latency_ms = [500, 2_000, 4_000, 8_000, 15_000];
        for link in [&mut plan.down, &mut plan.up] {
            link.latency = Duration::from_millis(*rng.pick(&latency_ms).expect("latencies"));
        }
        plan.cap_loss(0.2);
        plan.hz = 10;
        plan.clients = plan.clients.min(3);
    }

    /// Makes the run send so many packets that their numbers on the wire wrap around, and repeats old
    /// packets.
    fn grow_old(plan: &mut Plan) {
        plan.ticks = Self::OLD_AGE_TICKS;
        (plan.clients, plan.objects, plan.weights) = (1, 2, [1, 0, 0, 3, 0, 1, 0, 0, 0, 0]);
        (plan.changes, plan.churn, plan.view_flips, plan.joins) = (1.0, 0.0, 0.0, 0.0);
        (plan.bursts, plan.dead_links) = (Vec::new(), 0.0);
        plan.cap_loss(0.05);
        plan.extremes = Self { echoes: 0.2, echo_of: 400, ..Self::default() };
    }
}

impl World {
    /// Spawns, despawns, hides or shows many objects, all in the same tick.
    pub(crate) fn crowd(&mut self, plan: &Plan, tick: u64) {
        let whose: Vec<ConnectionId> = self.views.keys().copied().collect();
        let connection = self.wild.pick(&whose).copied();
        match (self.wild.below(5), connection) {
            (0 | 1, _) if self.alive.len() < MASSES => {
                (0..self.wild.range(40..200)).for_each(|_| self.spawn_kind(DOT, None, plan, tick));
            }
            (0..=2, _) => {
                let going: Vec<u32> = self.alive.iter().skip(plan.objects).copied().collect();
                for uid in going {
                    if self.is_alive(uid) {
                        self.despawn(uid, tick);
                    }
                }
            }
            (what, Some(connection)) => {
                for uid in self.alive.clone() {
                    self.set_visible(connection, uid, what == 3);
                }
                self.refresh(tick);
            }
            _ => {}
        }
    }
}
