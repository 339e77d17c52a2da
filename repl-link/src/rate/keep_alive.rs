//! Keep-alive packets: how long a side may be silent (R9).
//!
//! *Invariant:* at least [`LEAST_IN_TIMEOUT`] packets are sent within each timeout, at irregular times.

use std::time::Duration;

use crate::rate::jitter;

/// At least this many keep-alive packets are sent in a timeout.
pub(crate) const LEAST_IN_TIMEOUT: u32 = 40;

/// The longest silence is this many times as long as the shortest silence. A slow server has long ticks, and
/// can send only in a tick. In a narrower range, there would be only one or two ticks, so the times would be
/// too regular.
const RANGE: u32 = 6;

/// Returns how long a side may be silent before it sends the packet with this number. `timeout` is the
/// shorter timeout of the two sides. `binding` is a number of the session, from which irregular times are
/// computed.
pub(crate) fn longest_silence(timeout: Duration, binding: u64, next: u64) -> Duration {
    let longest = timeout / LEAST_IN_TIMEOUT;
    jitter::between(longest / RANGE, longest, binding, next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r09_a_side_is_never_silent_for_more_than_a_fortieth_of_the_timeout() {
        let timeout = Duration::from_secs(10);
        let silences = (0..1_000).map(|number| longest_silence(timeout, 5, number));
        let (least, most) = silences.fold((timeout, Duration::ZERO), |(least, most), silence| {
            (least.min(silence), most.max(silence))
        });
        assert!(most <= timeout / 40 && most > timeout / 42, "{most:?}");
        assert!(least >= timeout / 240 && least < timeout / 220, "{least:?}");
    }
    #[test]
    fn r09_losses_of_every_second_tick_do_not_meet_all_keep_alives_of_a_timeout() {
        let timeout = Duration::from_secs(10);
        for hertz in [4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 20, 24, 30, 60, 128] {
            for period in 2..=16 {
                let (mut tick, mut heard, mut longest) = (0_u32, 0, 0);
                for number in 0..100_000 {
                    let silence = longest_silence(timeout, 5, number).as_secs_f64() * f64::from(hertz);
                    tick += (silence.ceil() as u32).max(1);
                    if tick % period >= period / 2 {
                        longest = longest.max(tick - heard);
                        heard = tick;
                    }
                }
                let seconds = longest / hertz;
                assert!(seconds < 8, "{seconds} s of silence at {hertz} Hz and a period of {period} ticks");
            }
        }
    }
}
