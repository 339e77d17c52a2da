//! The newcomers whose handshakes are not finished, or of which no packet has come since.
//!
//! *Invariant:* there are never more than the limits say, of all and of each origin, and none stays longer
//! than a handshake may take. Who has not proved his address takes no place of those who have.

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
    /// The newcomers that have proved their addresses before their handshakes.
    proved: Places,
    /// All others, until their handshakes are finished, or nothing of them is stored any more.
    unproved: Places,
    /// The times at which newcomers no longer count that have failed with their first packets, the oldest
    /// first.
    failed: VecDeque<Duration>,
    /// The newcomers in the order in which they came, with the time at which each must have finished.
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

/// A newcomer that wants to be accepted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newcomer {
    pub(super) origin: Origin,
    /// Whether it has proved its address.
    pub(super) is_proved: bool,
}

impl Strangers {
    /// Returns the number of unfinished handshakes.
    pub(super) fn len(&self) -> usize {
        self.deadlines.len()
    }

    /// Decides about a newcomer. `connections` is the number of connections of its origin.
    pub(super) fn admission(
        &mut self,
        config: &QuicConfig,
        now: Duration,
        newcomer: Newcomer,
        connections: usize,
    ) -> Admission {
        let Newcomer { origin, is_proved } = newcomer;
        while self.failed.front().is_some_and(|until| *until <= now) {
            self.failed.pop_front();
        }
        let share = config.max_handshakes.div_euclid(SHARE).max(LEAST_SHARE);
        let unproved = self.unproved.of(origin);
        let stored = self.proved.len().saturating_add(self.unproved.len());
        let is_busy = stored.saturating_add(self.failed.len()) >= RETRY_FROM.min(config.max_handshakes / 2);
        let fills_its_origin =
            unproved >= share || connections.saturating_add(unproved) >= config.max_per_origin;
        if !is_proved && (config.always_retry || is_busy || fills_its_origin) {
            Admission::Retry
        } else if stored >= config.max_handshakes
            || is_proved && self.proved.of(origin) >= share
            || connections >= config.max_per_origin
        {
            Admission::Refuse
        } else {
            Admission::Accept
        }
    }

    /// Records that a handshake has failed with its first packet. It counts until then.
    pub(super) fn failed_at_once(&mut self, until: Duration) {
        if self.failed.len() >= RETRY_FROM {
            self.failed.pop_front();
        }
        self.failed.push_back(until);
    }

    /// Adds a newcomer that must have finished by `deadline`.
    pub(super) fn add(&mut self, handle: ConnectionHandle, newcomer: Newcomer, deadline: Duration) {
        self.finished(handle);
        let places = if newcomer.is_proved { &mut self.proved } else { &mut self.unproved };
        places.add(handle, newcomer.origin);
        self.deadlines.push_back((deadline, handle));
    }

    /// Records that a newcomer has proved its address by finishing the handshake of TLS.
    pub(super) fn proved(&mut self, handle: ConnectionHandle) {
        if let Some(origin) = self.unproved.origin_of(handle) {
            self.unproved.remove(handle);
            self.proved.add(handle, origin);
        }
    }

    /// Removes a newcomer whose first packet has come, or that was refused.
    pub(super) fn finished(&mut self, handle: ConnectionHandle) {
        self.gone(handle);
        self.failed(handle);
    }

    /// Removes a newcomer of which nothing is stored any more, after it has [failed](Self::failed).
    pub(super) fn gone(&mut self, handle: ConnectionHandle) {
        self.unproved.remove(handle);
    }

    /// Records that the handshake of a newcomer has failed. One that has not proved its address goes on to
    /// count, because it may be one of many that are forged. Returns whether it was unfinished.
    pub(super) fn failed(&mut self, handle: ConnectionHandle) -> bool {
        self.proved.remove(handle);
        let before = self.deadlines.len();
        self.deadlines.retain(|(_, other)| *other != handle);
        self.deadlines.len() < before
    }

    /// Returns the origin of a newcomer that has not proved its address.
    pub(super) fn unproved_origin(&self, handle: ConnectionHandle) -> Option<Origin> {
        self.unproved.origin_of(handle)
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

    const NOW: Duration = Duration::from_secs(1);

    fn newcomer(host: u8, is_proved: bool) -> Newcomer {
        Newcomer { origin: SocketAddr::from((Ipv4Addr::new(10, 0, 0, host), 1)).origin(), is_proved }
    }

    /// Strangers with the limits of a server.
    #[derive(Default)]
    struct Gate {
        config: QuicConfig,
        strangers: Strangers,
        next: usize,
    }

    impl Gate {
        fn ask(&mut self, host: u8, is_proved: bool) -> Admission {
            self.strangers.admission(&self.config, NOW, newcomer(host, is_proved), 0)
        }

        /// Adds a newcomer, which must be accepted.
        fn add(&mut self, host: u8, is_proved: bool) -> ConnectionHandle {
            assert_eq!(self.ask(host, is_proved), Admission::Accept);
            self.next += 1;
            let handle = ConnectionHandle(self.next);
            self.strangers.add(handle, newcomer(host, is_proved), Duration::from_secs(6));
            handle
        }
    }

    #[test]
    fn strangers_are_bounded_for_all_and_for_each_origin() {
        let mut gate = Gate::default();
        let first = (0..8).map(|_| gate.add(1, true)).last().expect("eight were added");
        assert_eq!(gate.ask(1, true), Admission::Refuse);
        (8..32).for_each(|host| _ = gate.add(host, false));
        assert_eq!(gate.ask(100, false), Admission::Retry);
        (32..=255).for_each(|host| _ = gate.add(host, true));
        assert_eq!(gate.ask(2, true), Admission::Refuse);
        assert!(gate.strangers.failed(first) && !gate.strangers.failed(first));
        assert_eq!(gate.ask(1, true), Admission::Accept);
        assert_eq!(gate.strangers.next_overdue(Duration::from_secs(5)), None);
        while let Some(handle) = gate.strangers.next_overdue(Duration::from_secs(6)) {
            gate.strangers.finished(handle);
        }
        let Strangers { proved, unproved, deadlines, .. } = &gate.strangers;
        assert_eq!((proved.len(), unproved.len(), deadlines.len()), (0, 0, 0));
    }

    #[test]
    fn who_forges_an_origin_keeps_nobody_of_this_origin_out() {
        let mut gate = Gate::default();
        let forged: Vec<_> = (0..8).map(|_| gate.add(1, false)).collect();
        assert_eq!([gate.ask(1, false), gate.ask(1, true)], [Admission::Retry, Admission::Accept]);
        assert_eq!(gate.ask(2, false), Admission::Accept);
        // Forged newcomers that fail do not make room for others that are forged.
        assert!(forged.iter().all(|handle| gate.strangers.failed(*handle)));
        assert_eq!((gate.strangers.len(), gate.ask(1, false)), (0, Admission::Retry));
        forged.iter().for_each(|handle| gate.strangers.finished(*handle));
        assert_eq!(gate.ask(1, false), Admission::Accept);
    }

    #[test]
    fn forged_newcomers_take_at_most_half_of_few_places() {
        for (most, forged) in [(1, 0), (2, 1), (9, 4), (32, 16), (64, 32), (256, 32)] {
            let mut gate = Gate::default();
            gate.config.max_handshakes = most;
            (0..forged).for_each(|host| _ = gate.add(host, false));
            assert_eq!([gate.ask(100, false), gate.ask(100, true)], [Admission::Retry, Admission::Accept]);
        }
    }

    #[test]
    fn an_origin_has_at_most_as_many_connections_as_it_may() {
        let mut gate = Gate::default();
        gate.config.max_per_origin = 4;
        let of = |gate: &mut Gate, is_proved, connections| {
            gate.strangers.admission(&gate.config, NOW, newcomer(1, is_proved), connections)
        };
        assert_eq!([of(&mut gate, false, 4), of(&mut gate, true, 4)], [Admission::Retry, Admission::Refuse]);
        gate.add(1, false);
        assert_eq!([of(&mut gate, false, 3), of(&mut gate, true, 3)], [Admission::Retry, Admission::Accept]);
    }

    #[test]
    fn handshakes_that_fail_at_once_count_as_unfinished_ones() {
        let mut gate = Gate::default();
        (0..100).for_each(|_| gate.strangers.failed_at_once(Duration::from_secs(6)));
        assert_eq!([gate.ask(1, false), gate.ask(1, true)], [Admission::Retry, Admission::Accept]);
        assert_eq!((gate.strangers.len(), gate.strangers.failed.len()), (0, RETRY_FROM));
        let later = Duration::from_secs(6);
        let admission = gate.strangers.admission(&gate.config, later, newcomer(1, false), 0);
        assert_eq!(admission, Admission::Accept);
    }
}
