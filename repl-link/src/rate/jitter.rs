//! Irregular times between packets that are repeated. Some links lose packets at regular times, for example
//! in every second tick. Packets that are repeated at regular times could all meet these losses.
//!
//! *Invariant:* the same session and number always lead to the same time, so each run can be repeated.

use std::time::Duration;

/// The number of different times in a range.
const STEPS: u32 = 1 << 12;

/// Returns a time between 0.5 and 1.5 times `mean`. The times of a session with consecutive numbers have no
/// pattern.
pub(crate) fn around(mean: Duration, session: u64, number: u64) -> Duration {
    let half = mean / 2;
    between(half, mean.saturating_add(half), session, number)
}

/// Returns a time between `least` and `most`, as [`around`] does.
pub(crate) fn between(least: Duration, most: Duration, session: u64, number: u64) -> Duration {
    let step = (drawn(session, number) >> 52) as u32;
    least.saturating_add(most.saturating_sub(least).saturating_mul(step) / STEPS)
}

/// Returns whether `number` is one of the chosen numbers. On average, one number in `of` is chosen, without a
/// pattern.
pub(crate) const fn is_one_of(of: u64, session: u64, number: u64) -> bool {
    drawn(session, number) < u64::MAX / of
}

/// Returns 64 pseudorandom bits for a session and a number.
const fn drawn(session: u64, number: u64) -> u64 {
    mixed(session ^ mixed(number))
}

/// Mixes the bits of a number, as the random number generator SplitMix64 (Steele, Lea and Flood, *Fast
/// Splittable Pseudorandom Number Generators*, 2014) does.
const fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_around_their_mean_and_the_same_in_each_run() {
        let mean = Duration::from_millis(100);
        let times: Vec<Duration> = (0..10_000).map(|number| around(mean, 7, number)).collect();
        assert!(times.iter().all(|&time| time >= mean / 2 && time < mean * 3 / 2));
        let average = times.iter().sum::<Duration>() / 10_000;
        assert!(average.abs_diff(mean) < Duration::from_millis(1), "{average:?}");
        assert!(times.iter().enumerate().all(|(number, &time)| time == around(mean, 7, number as u64)));
        assert_ne!(around(mean, 7, 1), around(mean, 8, 1));
        assert_eq!(around(Duration::ZERO, 7, 1), Duration::ZERO);
        assert!(around(Duration::MAX, 7, 1) >= Duration::MAX / 2);
    }

    #[test]
    fn one_of_so_many_numbers_is_chosen_in_each_session() {
        for of in [2, 4, 10] {
            let chosen = |session| (0..10_000).filter(move |&number| is_one_of(of, session, number));
            assert!(chosen(7).count().abs_diff(10_000 / of as usize) < 200, "one of {of}");
            assert!(chosen(7).ne(chosen(8)));
        }
    }

    #[test]
    fn r09_no_regular_loss_of_up_to_every_second_tick_meets_all_times() {
        for mean_ticks in [1.0_f64, 1.3, 1.9, 2.0, 3.7, 6.0, 10.0, 15.0] {
            for period in 2..=40_u64 {
                for phase in 0..period {
                    let (mut tick, mut longest, mut lost) = (0, 0, 0);
                    for number in 0..2_000 {
                        let mean = Duration::from_secs_f64(mean_ticks);
                        tick += around(mean, 1, number).as_secs_f64().ceil() as u64;
                        // The link loses all packets in the first half of each period.
                        lost = if (tick + phase) % period < period / 2 { lost + 1 } else { 0 };
                        longest = longest.max(lost);
                    }
                    assert!(longest < 50, "{longest} of a period of {period}, {mean_ticks} ticks apart");
                }
            }
        }
    }
}
