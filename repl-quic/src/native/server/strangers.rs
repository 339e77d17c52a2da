//! Newcomers: connections that have not finished the handshake, or have not sent their first packet since
//! then.
//!
//! *Invariant:* the number of newcomers never exceeds the limits, neither in total nor for one origin. No
//! newcomer remains longer than a handshake may take. Newcomers with unproved addresses do not reduce the
//! limits for those with proved addresses.

use std::collections::VecDeque;
use std::time::Duration;

use quinn_proto::ConnectionHandle;
use repl_link::Origin;

use super::config::QuicConfig;
use super::places::Places;

/// If there are at least this many unfinished handshakes, further newcomers must prove their addresses first.
const RETRY_FROM: usize = 32;

/// The limit for one origin is the limit for all unfinished handshakes divided by this number, but at least
/// [`LEAST_SHARE`].
const SHARE: usize = 32;
const LEAST_SHARE: usize = 4;

#[derive(Default)]
pub(super) struct Strangers {
    /// The newcomers that have proved their addresses.
    proved: Places,
    /// The newcomers that have not proved their addresses, including those that have failed but are still
    /// stored.
    unproved: Places,
    /// For each newcomer that has failed with its first packet, the time until which it counts, in ascending
    /// order.
    failed: VecDeque<Duration>,
    /// The newcomers in the order in which they were added, each with the time at which its handshake must be
    /// finished.
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

/// A peer whose first datagram has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newcomer {
    pub(super) origin: Origin,
    /// Whether the peer has proved its address.
    pub(super) is_proved: bool,
}

impl Strangers {
    /// Returns the number of newcomers.
    pub(super) fn len(&self) -> usize {
        self.deadlines.len()
    }

    /// Decides about a newcomer. `connections` is the number of connections that its origin already has.
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

    /// Records that a newcomer has failed with its first packet. It counts as an unfinished handshake until
    /// `until`.
    pub(super) fn failed_at_once(&mut self, until: Duration) {
        if self.failed.len() >= RETRY_FROM {
            self.failed.pop_front();
        }
        self.failed.push_back(until);
    }

    /// Adds a newcomer. It must finish its handshake before `deadline`.
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

    /// Removes a newcomer whose first packet has arrived, or that was refused.
    pub(super) fn finished(&mut self, handle: ConnectionHandle) {
        self.gone(handle);
        self.failed(handle);
    }

    /// Stops counting a newcomer that has [failed](Self::failed), because its connection is no longer stored.
    pub(super) fn gone(&mut self, handle: ConnectionHandle) {
        self.unproved.remove(handle);
    }

    /// Records that the handshake of a newcomer has failed. If it has not proved its address, it still
    /// counts, because it may be one of many forged newcomers. Returns whether its handshake was unfinished
    /// before.
    pub(super) fn failed(&mut self, handle: ConnectionHandle) -> bool {
        self.proved.remove(handle);
        let before = self.deadlines.len();
        self.deadlines.retain(|(_, other)| *other != handle);
        self.deadlines.len() < before
    }

    /// Returns the origin of a newcomer. `None` if the newcomer has proved its address.
    pub(super) fn unproved_origin(&self, handle: ConnectionHandle) -> Option<Origin> {
        self.unproved.origin_of(handle)
    }

    /// Returns a newcomer whose deadline has passed.
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

    /// The newcomers of a server, with its limits.
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

        /// Adds a newcomer, and asserts that it is accepted.
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
        // Forged newcomers that have failed still count, so no further forged newcomers are accepted.
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
