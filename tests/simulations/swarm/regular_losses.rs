//! Links that lose packets at regular times, for example in every second tick. Only runs with a seed of
//! [`FIRST_SEED`] or more have such links.
//!
//! *Invariant:* runs with smaller seeds have no regular losses, so they never change.

use repl::sim::{LinkConditions, Loss, Rng};

use crate::plan::Plan;

/// The smallest seed whose run has regular losses.
pub(crate) const FIRST_SEED: u64 = 30_000;

/// The most ticks of a period.
const LONGEST_PERIOD: u32 = 64;

/// Adds regular losses to one direction or to both directions of a plan with lives.
pub(crate) fn draw(plan: &mut Plan) {
    let mut rng = Rng::new(plan.seed).fork(30);
    let rng = &mut rng;
    let directions = rng.below(4);
    let (mut down, mut up) = (plan.down, plan.up);
    if directions != 1 {
        lose(&mut down, plan, rng);
    }
    if directions != 2 {
        lose(&mut up, plan, rng);
    }
    (plan.down, plan.up) = (down, up);
}

/// Makes a link lose the packets of up to half of the ticks of each period.
fn lose(link: &mut LinkConditions, plan: &Plan, rng: &mut Rng) {
    let period = match rng.below(2) {
        0 => rng.range(2..9) as u32,
        _ => rng.range(2..u64::from(LONGEST_PERIOD) + 1) as u32,
    };
    let lost = match rng.below(3) {
        0 => 1,
        1 => period / 2,
        _ => rng.range(1..u64::from(period / 2) + 1) as u32,
    };
    link.loss = Loss::Regular { period: plan.time_of(period), lost: plan.time_of(lost) };
}
