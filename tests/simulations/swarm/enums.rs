//! Objects with enums whose variants are sent field by field (R28). Only runs with a seed of [`FIRST_SEED`]
//! or more have such objects.
//!
//! *Invariant:* runs with smaller seeds have no enums, so they never change.

use repl::sim::Rng;

use crate::kinds::GOLEM;
use crate::plan::Plan;

/// The smallest seed whose run has enums.
pub(crate) const FIRST_SEED: u64 = 80_000;

/// Makes a run have objects with enums.
pub(crate) fn draw(plan: &mut Plan) {
    let mut rng = Rng::new(plan.seed).fork(80);
    plan.weights[GOLEM] = rng.range(4..20);
    plan.objects = plan.objects.max(2);
}
