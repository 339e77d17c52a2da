//! The input clock of a client: for which ticks of the server it has to make inputs now.
//!
//! *Invariant:* the clock never goes back.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use repl_link::parts::Sequence;

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

/// At most so many inputs are made at once, however short the ticks are.
pub(super) const MOST_AT_ONCE: u64 = 64;

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
    /// How far ahead of the server the clock was when it came to each tick. Of ticks that it has jumped over,
    /// there is nothing.
    ahead: VecDeque<(u64, f64)>,
}

impl InputClock {
    /// Moves the clock on to the time `now`.
    pub(crate) fn advance(&mut self, now: Duration, seen: &Seen) {
        let before = self.newest_due();
        let Some(position) =
            self.moved(now, seen).filter(|position| position.is_finite() && *position >= 0.0)
        else {
            return;
        };
        self.position = Some((position, now));
        let newest = position as u64;
        let first = before.map_or(newest, |before| before.saturating_add(1).max(seen.oldest_due(newest)));
        (first..=newest).for_each(|tick| self.note(tick, position - seen.tick));
    }

    /// Returns where the clock is at the time `now`.
    fn moved(&mut self, now: Duration, seen: &Seen) -> Option<f64> {
        let Seen { tick, interval_secs, round_trip_secs, jitter_secs } = *seen;
        let aim = tick + self.lead.ticks((round_trip_secs + jitter_secs) / interval_secs + 2.0);
        let Some((position, then)) = self.position else { return Some(aim) };
        let elapsed = now.saturating_sub(then).as_secs_f64() / interval_secs;
        let off = aim - position - elapsed;
        let off_secs = off * interval_secs;
        self.waits = off_secs < -JUMP_SECS || self.waits && aim < position;
        if off_secs > JUMP_SECS {
            return Some(aim);
        }
        if self.waits {
            return Some(position);
        }
        // The server's ticks and the lead may be wrong by the jitter. A little too far ahead does no harm.
        let unsure = jitter_secs / interval_secs + if off < 0.0 { HARMLESS } else { 0.0 };
        let surely_off = (off.abs() - unsure).max(1.0);
        let most = (surely_off * APPROACH).min(GREATEST_CHANGE);
        let change = (off * APPROACH).clamp(-most, most);
        Some(position + elapsed * (1.0 + change))
    }

    /// Returns the ticks for which an input can be made now, if the last tick that has one is `made`.
    pub(crate) fn due(&self, seen: &Seen, made: Option<u64>) -> Range<u64> {
        let Some(newest) = self.newest_due() else { return 0..0 };
        let first = made.map_or(newest, |made| made.saturating_add(1).max(seen.oldest_due(newest)));
        first..newest.saturating_add(1)
    }

    /// Returns where the clock is: at a tick and a fraction of it.
    pub(crate) fn position(&self) -> Option<f64> {
        self.position.map(|(position, _)| position)
    }

    /// Returns the newest tick for which an input may have been made.
    pub(crate) fn newest_due(&self) -> Option<u64> {
        self.position().map(|position| position as u64)
    }

    /// Notes how far ahead the clock was when it came to a tick.
    fn note(&mut self, tick: u64, ahead: f64) {
        if self.ahead.len() == REMEMBERED {
            self.ahead.pop_front();
        }
        self.ahead.push_back((tick, ahead));
    }

    /// Takes a report of the server.
    pub(crate) fn take(&mut self, report: &InputReport) {
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

impl Seen {
    /// Returns the oldest tick for which an input can still be made, if `newest` is the newest one.
    fn oldest_due(&self, newest: u64) -> u64 {
        let most = (JUMP_SECS / self.interval_secs).clamp(1.0, MOST_AT_ONCE as f64) as u64;
        // Inputs for ticks that have passed cannot come in time.
        newest.saturating_sub(most.saturating_sub(1)).max(self.tick.max(0.0) as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn due(clock: &mut InputClock, millis: u64, tick: f64, made: Option<u64>) -> Range<u64> {
        let seen = Seen { tick, interval_secs: 0.01, round_trip_secs: 0.05, jitter_secs: 0.0 };
        clock.advance(Duration::from_millis(millis), &seen);
        clock.due(&seen, made)
    }

    #[test]
    fn the_clock_begins_ahead_by_the_round_trip_and_two_ticks() {
        let mut clock = InputClock::default();
        assert_eq!(due(&mut clock, 0, 100.0, None), 107..108);
        assert_eq!(due(&mut clock, 30, 103.0, Some(107)), 108..111);
        assert_eq!(due(&mut clock, 30, 103.0, Some(107)), 108..111, "until they are made");
        assert!(due(&mut clock, 30, 103.0, Some(110)).is_empty());
    }

    #[test]
    fn the_clock_jumps_forward_and_waits_until_it_is_at_its_aim() {
        let mut clock = InputClock::default();
        due(&mut clock, 0, 100.0, None);
        // The server has begun tick 139 already.
        assert_eq!(due(&mut clock, 10, 139.5, Some(107)), 139..147);
        assert!(due(&mut clock, 20, 100.0, Some(146)).is_empty());
        assert!(due(&mut clock, 410, 139.0, Some(146)).is_empty(), "it is still ahead");
        assert_eq!(due(&mut clock, 430, 141.0, Some(146)), 147..149);
    }

    proptest! {
        #[test]
        fn no_tick_comes_twice(steps in prop::collection::vec((0_u64..200, 0.0..400.0_f64), 1..60)) {
            let (mut clock, mut now, mut made) = (InputClock::default(), 0, None);
            for (millis, tick) in steps {
                now += millis;
                let due = due(&mut clock, now, tick, made);
                prop_assert!(due.is_empty() || Some(due.start) > made);
                prop_assert!(due.end.saturating_sub(due.start) <= 25, "{due:?}");
                made = made.max(due.last());
            }
        }
    }
}
