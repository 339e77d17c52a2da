//! The newcomers (strangers): connections that have not finished the handshake of TLS, or have sent no packet
//! since. Also counts the handshakes that have failed recently.
//!
//! *Invariant:* the number of newcomers, in total and for each origin, never exceeds the limits, and no
//! newcomer stays longer than a handshake may take.

use std::collections::VecDeque;
use std::time::Duration;

use quinn_proto::ConnectionHandle;
use repl_link::Origin;

use super::config::QuicConfig;
use super::places::Places;

/// From this number of unfinished handshakes on, newcomers must prove their addresses.
const RETRY_FROM: usize = 32;

/// One origin may have a 32nd of the unfinished handshakes, or [`LEAST_SHARE`] if that is more.
const SHARE: usize = 32;
const LEAST_SHARE: usize = 4;

/// The newcomers with unfinished handshakes.
#[derive(Default)]
pub(super) struct Strangers {
    /// Newcomers that have proved their addresses. They are counted separately from `unproved`, so that a
    /// forger of addresses does not take their places.
    proved: Places,
    unproved: Places,
    /// For each of the newest failed handshakes, the time until which it counts, the oldest first.
    failed: VecDeque<Duration>,
    /// The newcomers in the order of their arrival, each with the time by which it must have finished.
    deadlines: VecDeque<(Duration, ConnectionHandle)>,
}

/// The decision about a newcomer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    Accept,
    /// The newcomer must prove its address first.
    Retry,
    Refuse,
}

impl Strangers {
    pub(super) fn len(&self) -> usize {
        self.proved.len().saturating_add(self.unproved.len())
    }

    /// Decides about a newcomer.
    pub(super) fn admission(
        &mut self,
        config: &QuicConfig,
        now: Duration,
        origin: Origin,
        is_proved: bool,
    ) -> Admission {
        let share = config.max_handshakes.div_euclid(SHARE).max(LEAST_SHARE);
        while self.failed.front().is_some_and(|until| *until <= now) {
            self.failed.pop_front();
        }
        let busy = self.len().saturating_add(self.failed.len());
        let needs_proof = config.always_retry || busy >= RETRY_FROM || self.unproved.of(origin) >= share;
        if needs_proof && !is_proved {
            Admission::Retry
        } else if self.len() >= config.max_handshakes || is_proved && self.proved.of(origin) >= share {
            Admission::Refuse
        } else {
            Admission::Accept
        }
    }

    /// Records that a handshake has failed at its first packet. It counts as busy until the time `until`.
    pub(super) fn failed(&mut self, until: Duration) {
        if self.failed.len() >= RETRY_FROM {
            self.failed.pop_front();
        }
        self.failed.push_back(until);
    }

    /// Adds a newcomer that must have finished by `deadline`.
    pub(super) fn add(
        &mut self,
        handle: ConnectionHandle,
        origin: Origin,
        is_proved: bool,
        deadline: Duration,
    ) {
        self.remove(handle);
        let places = if is_proved { &mut self.proved } else { &mut self.unproved };
        places.add(handle, origin);
        self.deadlines.push_back((deadline, handle));
    }

    /// Removes a newcomer, because its handshake has finished or failed. Returns whether the connection was a
    /// newcomer.
    pub(super) fn remove(&mut self, handle: ConnectionHandle) -> bool {
        let was_one = self.proved.remove(handle) || self.unproved.remove(handle);
        if was_one {
            self.deadlines.retain(|(_, other)| *other != handle);
        }
        was_one
    }

    /// Returns a newcomer that has not finished in time.
    pub(super) fn next_overdue(&self, now: Duration) -> Option<ConnectionHandle> {
        self.deadlines.front().filter(|(deadline, _)| *deadline <= now).map(|(_, handle)| *handle)
    }
}

#[cfg(test)]
mod tests {
    use repl_link::Address;
    use std::net::{Ipv4Addr, SocketAddr};

    use super::*;

    fn origin(host: u8) -> Origin {
        SocketAddr::from((Ipv4Addr::new(10, 0, 0, host), 1)).origin()
    }

    const NOW: Duration = Duration::from_secs(1);

    #[test]
    fn strangers_are_bounded_for_all_and_for_each_origin() {
        let (config, mut strangers) = (QuicConfig::default(), Strangers::default());
        let deadline = |number: usize| Duration::from_secs(if number < 32 { 5 } else { 6 });
        for number in 0..8 {
            assert_eq!(strangers.admission(&config, NOW, origin(1), true), Admission::Accept);
            strangers.add(ConnectionHandle(number), origin(1), true, deadline(number));
        }
        assert_eq!(strangers.admission(&config, NOW, origin(1), true), Admission::Refuse);
        for number in 8..32 {
            strangers.add(ConnectionHandle(number), origin(number as u8), false, deadline(number));
        }
        assert_eq!(strangers.admission(&config, NOW, origin(100), false), Admission::Retry);
        assert_eq!(strangers.admission(&config, NOW, origin(100), true), Admission::Accept);
        for number in 32..256 {
            strangers.add(ConnectionHandle(number), origin(number as u8), true, deadline(number));
        }
        assert_eq!(strangers.admission(&config, NOW, origin(100), true), Admission::Refuse);
        assert!(strangers.remove(ConnectionHandle(3)) && !strangers.remove(ConnectionHandle(3)));
        assert_eq!(strangers.admission(&config, NOW, origin(1), true), Admission::Accept);
        assert_eq!(strangers.next_overdue(Duration::from_secs(4)), None);
        while let Some(handle) = strangers.next_overdue(Duration::from_secs(6)) {
            assert!(strangers.remove(handle));
        }
        assert_eq!((strangers.len(), strangers.proved.of(origin(1)), strangers.deadlines.len()), (0, 0, 0));
    }

    #[test]
    fn who_forges_an_origin_keeps_nobody_of_this_origin_out() {
        let (config, mut strangers) = (QuicConfig::default(), Strangers::default());
        for number in 0..8 {
            assert_eq!(strangers.admission(&config, NOW, origin(1), false), Admission::Accept);
            strangers.add(ConnectionHandle(number), origin(1), false, Duration::from_secs(5));
        }
        assert_eq!(strangers.admission(&config, NOW, origin(1), false), Admission::Retry);
        assert_eq!(strangers.admission(&config, NOW, origin(1), true), Admission::Accept);
        assert_eq!(strangers.admission(&config, NOW, origin(2), false), Admission::Accept);
    }

    #[test]
    fn handshakes_that_fail_at_once_count_as_unfinished_ones() {
        let (config, mut strangers) = (QuicConfig::default(), Strangers::default());
        (0..100).for_each(|_| strangers.failed(Duration::from_secs(6)));
        assert_eq!(strangers.admission(&config, NOW, origin(1), false), Admission::Retry);
        assert_eq!(strangers.admission(&config, NOW, origin(1), true), Admission::Accept);
        assert_eq!((strangers.len(), strangers.failed.len()), (0, RETRY_FROM));
        let later = Duration::from_secs(6);
        assert_eq!(strangers.admission(&config, later, origin(1), false), Admission::Accept);
    }
}
