//! The phases of objects. The phase says when in a period an object has its turn, so that objects with the
//! same period are spread evenly over the period.
//!
//! *Invariant:* the phase of an object depends only on its slot and the period, so all connections agree on
//! it.

/// Returns the phase of the object in a slot: a number from zero up to, but not including, `period`. Returns
/// zero for a period of zero.
pub(crate) fn phase_of(slot: u32, period: u64) -> u64 {
    // Multiples of the golden ratio spread consecutive slots evenly. They also spread slots at regular
    // distances evenly, for example every tenth slot.
    let fraction = u64::from(slot).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((u128::from(fraction) * u128::from(period)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_at_regular_distances_are_spread_evenly_over_each_period() {
        for distance in 1..=64 {
            for period in [2, 5, 10, 20] {
                let mut counts = vec![0; period as usize];
                (0..1_000).for_each(|at| counts[phase_of(at * distance, period) as usize] += 1);
                let even = 1_000 / period;
                assert!(
                    counts.iter().all(|&count| count >= even / 2 && count <= even * 3 / 2),
                    "every {distance}th slot, period {period}: {counts:?}"
                );
            }
        }
    }

    #[test]
    fn phases_are_within_their_periods() {
        for slot in [0, 1, 12_345, u32::MAX] {
            assert_eq!(phase_of(slot, 0), 0);
            for period in [1, 1_000, u64::MAX] {
                assert!(phase_of(slot, period) < period);
            }
        }
    }
}
