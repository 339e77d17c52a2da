//! Keep-alive packets: how long a side may be silent (R9).
//!
//! *Invariant:* at least [`LEAST_IN_TIMEOUT`] packets come within each timeout, at irregular times.

use std::time::Duration;

use super::jitter;

/// At least this many keep-alive packets are sent in a timeout.
pub(crate) const LEAST_IN_TIMEOUT: u32 = 40;

/// On average this many keep-alive packets are sent in a timeout. The longest time between two of them is one
/// and a half of the mean.
const IN_TIMEOUT: u32 = LEAST_IN_TIMEOUT * 3 / 2;

/// Returns how long a side may be silent before it sends the packet with this number. `timeout` is the shorter
/// one of both sides. `binding` is what binds its packets to the session.
pub(crate) fn longest_silence(timeout: Duration, binding: u64, next: u64) -> Duration {
    jitter::around(timeout / IN_TIMEOUT, binding, next)
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
        assert!(least >= timeout / 120 && least < timeout / 110, "{least:?}");
    }
}
