//! Objects and viewers of which one in a hundred moves in each tick, and a direct loop over the pairs of an
//! object and a viewer that change.
//!
//! *Invariant:* all candidates move the same objects and viewers by the same steps.

use std::hint::black_box;

use repl::sim::Rng;

use crate::grids::Candidate;

pub(crate) const OBJECTS: usize = 10_000;
pub(crate) const VIEWERS: usize = 200;
/// The greatest coordinate. The least coordinate is its negative.
const EXTENT: f32 = 1_000.0;

/// Returns whether a viewer sees an object.
pub(crate) fn sees(object: [f32; 2], viewer: [f32; 2]) -> bool {
    let [x, y] = [object[0] - viewer[0], object[1] - viewer[1]];
    x * x + y * y < 100.0 * 100.0
}

/// Where objects and viewers are, and which of them the last tick has moved.
pub(crate) struct Wanderers {
    pub(crate) objects: Vec<[f32; 2]>,
    pub(crate) viewers: Vec<[f32; 2]>,
    pub(crate) moved_objects: Vec<usize>,
    pub(crate) moved_viewers: Vec<usize>,
    rng: Rng,
}

impl Wanderers {
    pub(crate) fn new() -> Self {
        let mut rng = Rng::new(7);
        let mut points = |count: usize| (0..count).map(|_| point(&mut rng, EXTENT)).collect();
        let (objects, viewers) = (points(OBJECTS), points(VIEWERS));
        Self { objects, viewers, moved_objects: Vec::new(), moved_viewers: Vec::new(), rng }
    }

    pub(crate) fn advance(&mut self) {
        let Self { objects, viewers, moved_objects, moved_viewers, rng } = self;
        for (points, moved) in [(objects, moved_objects), (viewers, moved_viewers)] {
            let (count, all) = (points.len() / 100, points.len() as u64);
            moved.clear();
            moved.extend((0..count).map(|_| rng.below(all) as usize));
            moved.sort_unstable();
            moved.dedup();
            for &at in moved.iter() {
                let step = point(rng, 2.0);
                points[at] = [0, 1].map(|axis| (points[at][axis] + step[axis]).clamp(-EXTENT, EXTENT));
            }
        }
    }
}

fn point(rng: &mut Rng, extent: f32) -> [f32; 2] {
    [0, 1].map(|_| rng.below(20_001) as f32 / 10_000.0 * extent - extent)
}

/// A direct loop over the pairs that change. It has a bit for each pair, and a list of the pairs whose bits
/// have changed.
pub(crate) struct Direct {
    wanderers: Wanderers,
    seen: Vec<Vec<u64>>,
    changed: Vec<(usize, usize)>,
}

impl Direct {
    pub(crate) fn new() -> Self {
        let seen = vec![vec![0; OBJECTS.div_ceil(64)]; VIEWERS];
        let mut direct = Self { wanderers: Wanderers::new(), seen, changed: Vec::new() };
        (0..VIEWERS).for_each(|viewer| (0..OBJECTS).for_each(|object| direct.decide(object, viewer)));
        direct
    }

    fn decide(&mut self, object: usize, viewer: usize) {
        let is_seen = sees(self.wanderers.objects[object], self.wanderers.viewers[viewer]);
        let (word, bit) = (&mut self.seen[viewer][object / 64], 1 << (object % 64));
        if (*word & bit != 0) != is_seen {
            *word ^= bit;
            self.changed.push((object, viewer));
        }
    }

    /// Returns how many pairs are seen.
    pub(crate) fn count(&self) -> usize {
        self.seen.iter().flatten().map(|word| word.count_ones() as usize).sum()
    }
}

impl Candidate for Direct {
    fn advance(&mut self) {
        self.wanderers.advance();
    }

    fn tick(&mut self) {
        self.changed.clear();
        for viewer in 0..VIEWERS {
            if self.wanderers.moved_viewers.binary_search(&viewer).is_ok() {
                (0..OBJECTS).for_each(|object| self.decide(object, viewer));
            } else {
                for at in 0..self.wanderers.moved_objects.len() {
                    self.decide(self.wanderers.moved_objects[at], viewer);
                }
            }
        }
        black_box(&self.changed);
    }
}
