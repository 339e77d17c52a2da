//! The inputs of one type that a server has received from one client.
//!
//! *Invariant:* the input of a tick never changes, and no input is added to a tick that has begun.

use std::collections::BTreeMap;
use std::time::Duration;

use super::report::{InputReport, Notes};
use super::tick_times::TickTimes;

/// The number of ticks for which an input is stored after its tick.
pub(crate) const KEPT_TICKS: u64 = 64;

/// The greatest number of ticks by which an input may be ahead of the server's newest tick.
pub(crate) const MOST_AHEAD_TICKS: u64 = 256;

/// A bundle (the inputs in one packet) is ignored if a bundle with a number greater by more than this has
/// arrived. Its ticks passed long ago.
const STALE: u64 = 256;

/// The server's statistics of the inputs of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputCounts {
    /// The number of inputs that arrived before their ticks began.
    pub arrived: u64,
    /// The number of ticks that began without their input, since the first input arrived.
    pub missing: u64,
    /// The number of inputs that arrived after their tick had begun. Each of these ticks was also counted as
    /// missing.
    pub late: u64,
    /// The number of inputs that were ignored, because their ticks were more than 256 ticks ahead or at least
    /// 64 ticks ago.
    pub far: u64,
}

#[derive(Debug)]
pub(crate) struct Received<T> {
    inputs: BTreeMap<u64, T>,
    /// The newest input before the current tick. It may have arrived late.
    last: Option<(u64, T)>,
    /// A bit mask of the last 64 ticks, in which the lowest bit is the newest tick. A bit is 1 if the tick
    /// began without its input and the input has not arrived late either.
    missing: u64,
    /// The number of the newest bundle that has arrived.
    newest: Option<u64>,
    pub(crate) counts: InputCounts,
    notes: Notes,
}

impl<T> Default for Received<T> {
    fn default() -> Self {
        let (inputs, counts, notes) = (BTreeMap::new(), InputCounts::default(), Notes::default());
        Self { inputs, last: None, missing: 0, newest: None, counts, notes }
    }
}

impl<T: Clone> Received<T> {
    /// Stores an input that has arrived for a tick, if it is neither too late nor too early.
    pub(crate) fn take(&mut self, tick: u64, input: &T, times: &TickTimes, now: Duration) {
        if self.inputs.contains_key(&tick) {
            return;
        }
        let is_too_late = tick.saturating_add(KEPT_TICKS) <= times.tick;
        if is_too_late || tick > times.tick.saturating_add(MOST_AHEAD_TICKS) {
            self.counts.far = self.counts.far.saturating_add(1);
            if is_too_late {
                self.notes.arrived(tick, times, now);
            }
            return;
        }
        if tick > times.tick {
            self.notes.arrived(tick, times, now);
            self.counts.arrived = self.counts.arrived.saturating_add(1);
            self.inputs.insert(tick, input.clone());
        } else if self.remove_missing(times.tick.saturating_sub(tick)) {
            self.notes.arrived(tick, times, now);
            self.counts.late = self.counts.late.saturating_add(1);
            if self.last.as_ref().is_none_or(|(last, _)| *last < tick) {
                self.last = Some((tick, input.clone()));
            }
        }
    }

    /// Records that the input for the tick `ago` ticks ago has arrived late. Returns `false` if it had
    /// already arrived.
    fn remove_missing(&mut self, ago: u64) -> bool {
        let bit = 1_u64.checked_shl(ago.try_into().unwrap_or(u32::MAX)).unwrap_or(0);
        let was_missing = self.missing & bit != 0;
        self.missing &= !bit;
        was_missing
    }

    /// Returns whether a bundle is so old that its ticks would be read as later ticks.
    pub(crate) fn is_stale(&self, number: u64) -> bool {
        self.newest.is_some_and(|newest| number.saturating_add(STALE) < newest)
    }

    /// Records that a bundle was read, for the next report.
    pub(crate) fn end_bundle(&mut self, number: u64) {
        match self.newest {
            Some(newest) if number < newest => self.notes.late_bundle(),
            Some(newest) => self.notes.bundle(number.saturating_sub(newest).saturating_sub(1)),
            None => self.notes.bundle(0),
        }
        self.newest = self.newest.max(Some(number));
    }

    /// Records that a tick begins. Returns a report for the client if one is due.
    pub(crate) fn begin_tick(&mut self, tick: u64) -> Option<InputReport> {
        self.missing <<= 1;
        if let Some(input) = self.inputs.get(&tick) {
            self.last = Some((tick, input.clone()));
        } else if self.newest.is_some() {
            self.missing |= 1;
            self.counts.missing = self.counts.missing.saturating_add(1);
            self.notes.missing();
        }
        let oldest = tick.saturating_sub(KEPT_TICKS);
        while self.inputs.first_key_value().is_some_and(|(first, _)| *first < oldest) {
            self.inputs.pop_first();
        }
        self.notes.take_due(tick)
    }

    pub(crate) fn get(&self, tick: u64) -> Option<&T> {
        self.inputs.get(&tick)
    }

    /// Returns the newest input before a tick, with the input's own tick. It may have arrived late.
    pub(crate) fn last_before(&self, tick: u64) -> Option<(u64, &T)> {
        let in_time = self.inputs.range(..tick).next_back();
        let late = self.last.as_ref().filter(|(last, _)| *last < tick);
        match (in_time, late) {
            (Some((in_time, _)), Some((late, input))) if late > in_time => Some((*late, input)),
            (Some((tick, input)), _) => Some((*tick, input)),
            (None, late) => late.map(|(tick, input)| (*tick, input)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Duration = Duration::ZERO;

    /// A server that has received the inputs of one client.
    #[derive(Default)]
    struct Server {
        received: Received<u64>,
        times: TickTimes,
    }

    impl Server {
        /// Receives a bundle with an input for each tick in `ticks`. The value of the input is ten times the
        /// tick.
        fn take(&mut self, number: u64, ticks: impl Iterator<Item = u64>) {
            ticks.for_each(|tick| self.received.take(tick, &(tick * 10), &self.times, NOW));
            self.received.end_bundle(number);
        }

        fn tick(&mut self) {
            let tick = self.times.tick + 1;
            self.times.begin(tick, NOW);
            self.received.begin_tick(tick);
        }
    }

    #[test]
    fn a_missing_input_counts_once_and_once_as_late() {
        let mut server = Server::default();
        server.take(0, 1..=1);
        (0..3).for_each(|_| server.tick());
        let counts = |server: &Server| {
            let InputCounts { arrived, missing, late, far } = server.received.counts;
            [arrived, missing, late, far]
        };
        assert_eq!(counts(&server), [1, 2, 0, 0]);
        assert_eq!((server.received.get(2), server.received.last_before(4)), (None, Some((1, &10))));
        server.take(1, 2..=4);
        assert_eq!(counts(&server), [2, 2, 2, 0]);
        assert_eq!((server.received.get(3), server.received.last_before(4)), (None, Some((3, &30))));
        server.take(2, 1..=5);
        assert_eq!(counts(&server), [3, 2, 2, 0], "what came again counts no more");
        assert_eq!(server.received.get(5), Some(&50));
    }

    #[test]
    fn nothing_is_missing_before_the_first_input() {
        let mut server = Server::default();
        (0..3).for_each(|_| server.tick());
        assert_eq!(server.received.counts, InputCounts::default());
    }

    #[test]
    fn the_first_input_for_a_tick_counts() {
        let mut server = Server::default();
        server.received.take(5, &50, &server.times, NOW);
        server.received.take(5, &51, &server.times, NOW);
        assert_eq!(server.received.get(5), Some(&50));
    }

    #[test]
    fn inputs_for_ticks_far_away_are_ignored_and_64_ticks_are_kept() {
        let mut server = Server::default();
        server.take(0, 1..=256);
        server.take(1, 257..=257);
        assert_eq!((server.received.counts.arrived, server.received.counts.far), (256, 1));
        (0..100).for_each(|_| server.tick());
        assert_eq!((server.received.get(35), server.received.get(36)), (None, Some(&360)));
        server.take(2, 30..=30);
        assert_eq!(server.received.counts.far, 2);
    }

    #[test]
    fn a_bundle_is_stale_when_256_newer_ones_have_come() {
        let mut server = Server::default();
        server.take(300, 1..=1);
        assert!(
            server.received.is_stale(43) && !server.received.is_stale(44) && !server.received.is_stale(900)
        );
    }

    #[test]
    fn a_report_tells_of_the_latest_input_and_of_losses() {
        let mut server = Server::default();
        server.take(0, 20..=20);
        server.take(3, 21..=22);
        server.take(2, 23..=23);
        let report = (1..=16).find_map(|tick| {
            server.times.begin(tick, NOW);
            server.received.begin_tick(tick)
        });
        let report = report.expect("one is due");
        // The first ticks had no input.
        assert_eq!((report.tick, report.missing), (20, 4));
        assert_eq!((report.arrived, report.lost, report.losses), (3, 1, 1));
        assert!((report.margin_ticks() - 20.0).abs() < 0.02);
    }
}
