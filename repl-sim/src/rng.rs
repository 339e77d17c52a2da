//! Generates random numbers from a seed.
//!
//! *Invariant:* a seed leads to the same numbers on every platform and in every version.

use std::ops::Range;
use std::time::Duration;

/// A random number generator: SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number
/// generators*, 2014). The generator is suitable for simulations, not for secrets.
///
/// ```
/// # mod repl { pub(crate) use repl_sim as sim; }
/// use repl::sim::Rng;
///
/// let mut rng = Rng::new(42);
/// let mut again = rng.clone();
/// assert_eq!(rng.next_u64(), again.next_u64());
/// assert!(rng.below(6) < 6);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

/// The constant that SplitMix64 adds at each step: the odd number nearest to 2^64 divided by the golden
/// ratio.
pub(super) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Rng {
    /// Returns the generator of this seed.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns another generator, for example for one part of a test. The argument `label` identifies the new
    /// generator. The new generator does not depend on the numbers that this generator returns later, nor on
    /// forks with other labels. The generator that is forked does not change.
    #[must_use]
    pub const fn fork(&self, label: u64) -> Self {
        Self::new(mix(mix(self.state.wrapping_add(STEP)) ^ mix(label.wrapping_mul(STEP).wrapping_add(1))))
    }

    /// Returns a number of 64 random bits.
    pub const fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        mix(self.state)
    }

    /// Returns a random number below `bound`, or 0 if `bound` is 0. The numbers are not quite evenly
    /// distributed: the probability of a number deviates by a share of less than `bound` / 2^64.
    pub const fn below(&mut self, bound: u64) -> u64 {
        ((self.next_u64() as u128 * bound as u128) >> 64) as u64
    }

    /// Returns a random number within the range.
    ///
    /// # Panics
    /// Panics if the range is empty.
    pub const fn range(&mut self, range: Range<u64>) -> u64 {
        assert!(range.start < range.end, "a random number needs a range that holds one");
        range.start + self.below(range.end - range.start)
    }

    /// Returns a random number from 0 to just below 1, in steps of 2^-53.
    pub const fn unit(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 / STEPS
    }

    /// Returns true with the probability `probability`. Never returns true if the probability is 0 or less,
    /// and always returns true if it is 1 or greater.
    pub const fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Returns a random time from zero to `longest`, inclusive. If `longest` is more than 584 years, it
    /// counts as 584 years.
    pub fn duration(&mut self, longest: Duration) -> Duration {
        let nanos = u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX);
        Duration::from_nanos(self.below(nanos.saturating_add(1)))
    }

    /// Returns one of the items at random. Returns `None` if there are no items.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u64) as usize)
    }

    /// Shuffles the items. Costs O(length).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (2..=items.len()).rev() {
            items.swap(end - 1, self.below(end as u64) as usize);
        }
    }
}

/// Computes the output function of SplitMix64. It maps each input to a different output, and each input bit
/// affects all output bits.
pub(super) const fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_seed_are_those_of_splitmix64() {
        let mut rng = Rng::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn forks_neither_change_their_source_nor_meet() {
        let rng = Rng::new(3);
        let mut firsts: Vec<u64> = (0..1_000).map(|label| rng.fork(label).next_u64()).collect();
        firsts.push(rng.clone().next_u64());
        firsts.sort_unstable();
        firsts.dedup();
        assert_eq!(firsts.len(), 1_001);
        assert_eq!(rng, Rng::new(3));
    }

    #[test]
    fn numbers_stay_in_their_ranges_and_reach_their_ends() {
        let mut rng = Rng::new(9);
        let (mut low, mut high) = (u64::MAX, 0);
        for _ in 0..10_000 {
            let number = rng.range(10..20);
            (low, high) = (low.min(number), high.max(number));
            assert!((0.0..1.0).contains(&rng.unit()));
            assert!(rng.duration(Duration::from_millis(3)) <= Duration::from_millis(3));
            assert!(!rng.chance(0.0) && rng.chance(1.0));
        }
        assert_eq!((low, high), (10, 19));
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.pick::<u8>(&[]), None);
    }

    #[test]
    fn chances_occur_with_their_probability() {
        let mut rng = Rng::new(5);
        let hits = (0..100_000).filter(|_| rng.chance(0.2)).count();
        assert!((19_500..20_500).contains(&hits), "{hits}");
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Rng::new(1).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
