//! Objects that live for a few ticks, as shots do: hundreds of them are spawned and despawned in a tick, so
//! slots are used again as soon as all clients have acknowledged the removal of their objects (R17). Only
//! runs with a seed of [`FIRST_SEED`] or more have such objects.
//!
//! *Invariant:* runs with smaller seeds have no short lives, so they never change.

use repl::sim::Rng;

use crate::kinds::DOT;
use crate::plan::Plan;
use crate::world::World;

/// The smallest seed whose run has short lives.
pub(crate) const FIRST_SEED: u64 = 50_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortLives {
    /// The most objects that are spawned in a tick.
    births: u64,
    /// The most ticks after which an object is despawned.
    ticks: u64,
    /// Objects are spawned in one of this many ticks.
    pause: u64,
    /// The chance that an object changes in the tick of its spawn, and the same chance for the tick of its
    /// despawn.
    changes: f64,
}

impl ShortLives {
    pub(crate) fn draw(plan: &mut Plan) {
        let mut rng = Rng::new(plan.seed).fork(50);
        let births = *rng.pick(&[3, 20, 100, 400]).expect("numbers of births");
        plan.short_lives = Some(Self {
            births,
            ticks: *rng.pick(&[0, 2, 9, 40]).expect("lengths of lives"),
            pause: births.div_ceil(20),
            changes: if rng.chance(0.5) { 0.0 } else { 0.1 },
        });
        plan.objects = plan.objects.min(24);
        // Over a bad link, it can happen that no removal is acknowledged before the run ends.
        plan.max_objects = 65_536;
    }
}

impl World {
    /// Despawns the objects whose lives end in this tick, and spawns others.
    pub(crate) fn live_shortly(&mut self, short: ShortLives, plan: &Plan, tick: u64) {
        let rest = self.short_lives.split_off(&(tick + 1, 0));
        for (_, uid) in std::mem::replace(&mut self.short_lives, rest) {
            if self.is_alive(uid) {
                self.change_shortly(uid, short);
                self.despawn(uid, tick);
            }
        }
        let births = if tick.is_multiple_of(short.pause) { self.wild.below(short.births + 1) } else { 0 };
        for _ in 0..births {
            let uid = self.things.len() as u32;
            self.spawn_kind(DOT, None, plan, tick);
            self.change_shortly(uid, short);
            let end = tick + self.wild.below(short.ticks + 1);
            self.short_lives.insert((end, uid));
        }
    }

    fn change_shortly(&mut self, uid: u32, short: ShortLives) {
        if self.wild.chance(short.changes) {
            self.change_one(uid);
        }
    }
}
