//! The input clock of a client: for which ticks of the server it has to make inputs now.
//!
//! *Invariant:* the clock never goes back.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use repl_link::parts::Sequence;

use super::copies::Copies;
use super::lead::Lead;
use super::report::InputReport;

/// If the clock is off by more seconds than this, it jumps forward, or waits.
const JUMP_SECS: f64 = 0.25;

/// How much faster the clock runs than the ticks, for each tick by which it is surely behind: 3 %.
const APPROACH: f64 = 0.03;

/// By how much the speed of the clock may differ from that of the ticks.
const GREATEST_CHANGE: f64 = 0.1;

/// By how many ticks the clock may be too far ahead before it runs more than 3 % slower.
const HARMLESS: f64 = 2.0;

/// For how many ticks it is remembered how far ahead their inputs were made.
const REMEMBERED: usize = 512;

/// What a client knows of the server's ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// The server's tick, as packets that arrive now show it.
    pub(crate) tick: f64,
    /// The time between two ticks in seconds.
    pub(crate) interval_secs: f64,
    /// How long a packet takes to the server and back, and by how much slow packets are later, in seconds.
    pub(crate) round_trip_secs: f64,
    pub(crate) jitter_secs: f64,
}

/// The input clock of a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputClock {
    /// The tick for which an input is to be made, with its fraction, and when that was computed.
    position: Option<(f64, Duration)>,
    /// Whether the clock waits until it is at its aim.
    waits: bool,
    lead: Lead,
    pub(crate) copies: Copies,
    /// How far ahead of the server the clock was at each tick. Of ticks that were skipped, there is nothing.
    ahead: VecDeque<(u64, f64)>,
    /// How many ticks were skipped because the clock has jumped.
    pub(crate) skipped: u64,
    /// The last report, and how many ticks the server has said to be missing.
    pub(crate) margin: Option<f64>,
    pub(crate) missing: u64,
}

impl InputClock {
    /// Moves the clock on to the time `now`. Returns the ticks for which an input can be made, if the last tick
    /// that has one is `made`.
    pub(crate) fn due(&mut self, now: Duration, seen: Option<Seen>, made: Option<u64>) -> Range<u64> {
        let Some(seen) = seen else { return 0..0 };
        let Seen { tick, interval_secs, round_trip_secs, jitter_secs } = seen;
        let lead = self.lead.ticks((round_trip_secs + jitter_secs) / interval_secs + 2.0);
        let aim = tick + lead;
        let position = match self.position {
            None => aim,
            Some((position, then)) => {
                let elapsed = now.saturating_sub(then).as_secs_f64() / interval_secs;
                let off = aim - position - elapsed;
                let off_secs = off * interval_secs;
                self.waits = off_secs < -JUMP_SECS || self.waits && aim < position;
                if off_secs > JUMP_SECS {
                    aim
                } else if self.waits {
                    position
                } else {
                    // What the client knows of the server's ticks and of the lead may be wrong by the jitter.
                    // To be a little too far ahead does no harm for a while.
                    let unsure = jitter_secs / interval_secs + if off < 0.0 { HARMLESS } else { 0.0 };
                    let surely_off = (off.abs() - unsure).max(1.0);
                    let most = (surely_off * APPROACH).min(GREATEST_CHANGE);
                    let change = (off * APPROACH).clamp(-most, most);
                    position + elapsed * (1.0 + change)
                }
            }
        };
        if !position.is_finite() || position < 0.0 {
            return 0..0;
        }
        self.position = Some((position, now));
        let newest = position as u64;
        let most = (JUMP_SECS / interval_secs).clamp(1.0, 64.0) as u64;
        // Inputs for ticks that have passed cannot come in time.
        let oldest = newest.saturating_sub(most.saturating_sub(1)).max(tick.max(0.0) as u64).max(1);
        let first = made.map_or(newest, |made| made.saturating_add(1).max(oldest));
        if let Some(made) = made {
            self.skipped = self.skipped.saturating_add(first.saturating_sub(made.saturating_add(1)));
        }
        let due = first..newest.saturating_add(1);
        for due in due.clone() {
            self.note(due, position - tick);
        }
        due
    }

    /// Returns the newest tick for which an input may have been made.
    pub(crate) fn newest_due(&self) -> Option<u64> {
        self.position.map(|(position, _)| position as u64)
    }

    /// Notes how far ahead the clock was when an input for a tick could be made first.
    fn note(&mut self, due: u64, ahead: f64) {
        if self.ahead.back().is_some_and(|(last, _)| *last >= due) {
            return;
        }
        if self.ahead.len() == REMEMBERED {
            self.ahead.pop_front();
        }
        self.ahead.push_back((due, ahead));
    }

    /// Takes a report of the server.
    pub(crate) fn take(&mut self, report: &InputReport) {
        self.copies.take(report);
        self.missing = self.missing.saturating_add(report.missing.into());
        self.margin = Some(report.margin_ticks());
        let Some(&(newest, _)) = self.ahead.back() else { return };
        let tick = Sequence::from_wire(report.tick, Sequence::new(newest)).number();
        if let Ok(at) = self.ahead.binary_search_by_key(&tick, |(tick, _)| *tick)
            && let Some(&(_, ahead)) = self.ahead.get(at)
        {
            self.lead.take(ahead, report.margin_ticks());
        }
    }

    /// Returns how many ticks ahead of `tick` the clock is.
    pub(crate) fn ahead_of(&self, tick: f64) -> Option<f64> {
        Some(self.position?.0 - tick)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(tick: f64) -> Option<Seen> {
        Some(Seen { tick, interval_secs: 0.01, round_trip_secs: 0.05, jitter_secs: 0.0 })
    }

    #[test]
    fn the_clock_begins_ahead_by_the_round_trip_and_two_ticks() {
        let mut clock = InputClock::default();
        assert!(clock.due(Duration::ZERO, None, None).is_empty());
        assert_eq!(clock.due(Duration::ZERO, seen(100.0), None), 107..108);
        assert_eq!(clock.due(Duration::from_millis(30), seen(103.0), Some(107)), 108..111);
        assert!(clock.due(Duration::from_millis(30), seen(103.0), Some(110)).is_empty());
    }

    #[test]
    fn the_clock_jumps_forward_and_waits_until_it_is_at_its_aim() {
        let mut clock = InputClock::default();
        clock.due(Duration::ZERO, seen(100.0), None);
        // The server has begun tick 139 already.
        assert_eq!(clock.due(Duration::from_millis(10), seen(139.5), Some(107)), 139..147);
        assert_eq!(clock.skipped, 31);
        assert!(clock.due(Duration::from_millis(20), seen(100.0), Some(146)).is_empty());
        assert!(
            clock.due(Duration::from_millis(410), seen(139.0), Some(147)).is_empty(),
            "it is still ahead"
        );
        assert_eq!(clock.due(Duration::from_millis(430), seen(141.0), Some(146)), 147..149);
    }

    proptest! {
        #[test]
        fn no_tick_comes_twice(steps in prop::collection::vec((0_u64..200, 0.0..400.0_f64), 1..60)) {
            let (mut clock, mut now, mut made) = (InputClock::default(), Duration::ZERO, None);
            for (millis, tick) in steps {
                now += Duration::from_millis(millis);
                let due = clock.due(now, seen(tick), made);
                prop_assert!(due.is_empty() || Some(due.start) > made);
                prop_assert!(due.end.saturating_sub(due.start) <= 25, "{due:?}");
                made = made.max(due.last());
            }
        }
    }
}
