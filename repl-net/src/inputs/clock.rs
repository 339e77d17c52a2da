//! The input clock of a client. It says for which ticks of the server the client must make inputs now.
//!
//! *Invariant:* the clock never goes back.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use repl_link::parts::Sequence;

use super::lead::Lead;
use super::report::InputReport;

/// If the clock is wrong by more seconds than this, it jumps forward if it is behind, and waits if it is
/// ahead.
const JUMP_SECS: f64 = 0.25;

/// The clock runs 3 % faster than the server's ticks for each tick by which it is certainly behind.
const APPROACH: f64 = 0.03;

/// The greatest difference between the speed of the clock and the speed of the server's ticks, as a fraction.
const GREATEST_CHANGE: f64 = 0.1;

/// Only if the clock is more than this number of ticks too far ahead, it may run more than 3 % slower.
const HARMLESS: f64 = 2.0;

/// The greatest number of inputs that are made in one frame, even if the ticks are very short.
pub(super) const MOST_AT_ONCE: u64 = 64;

/// The number of newest ticks for which the client stores how far ahead of the server it was.
const REMEMBERED: usize = 512;

/// What the client has measured of the server's ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    /// The tick of the server, according to the packets that arrive now.
    pub(crate) tick: f64,
    /// The time between two ticks in seconds.
    pub(crate) interval_secs: f64,
    /// The time that a packet takes to the server and back, in seconds.
    pub(crate) round_trip_secs: f64,
    pub(crate) jitter_secs: f64,
}

/// The input clock of a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputClock {
    /// The tick for which the next input is made, as a fractional number, and the time at which this number
    /// was computed.
    position: Option<(f64, Duration)>,
    /// Whether the clock waits, because it is too far ahead.
    waits: bool,
    lead: Lead,
    /// Ticks in ascending order, each with the number of ticks by which the clock was ahead of the server
    /// when it reached the tick. Ticks over which the clock has jumped have no entry.
    ahead: VecDeque<(u64, f64)>,
}

impl InputClock {
    /// Advances the clock to the time `now`.
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

    /// Returns the new position of the clock at the time `now`.
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
        // The error is not certain, because the jitter changes the server's tick and the lead. In addition, a
        // clock that is a little too far ahead does no harm.
        let unsure = jitter_secs / interval_secs + if off < 0.0 { HARMLESS } else { 0.0 };
        let surely_off = (off.abs() - unsure).max(1.0);
        let most = (surely_off * APPROACH).min(GREATEST_CHANGE);
        let change = (off * APPROACH).clamp(-most, most);
        Some(position + elapsed * (1.0 + change))
    }

    /// Returns the ticks for which inputs can be made now. `made` is the newest tick that has an input.
    pub(crate) fn due(&self, seen: &Seen, made: Option<u64>) -> Range<u64> {
        let Some(newest) = self.newest_due() else { return 0..0 };
        let first = made.map_or(newest, |made| made.saturating_add(1).max(seen.oldest_due(newest)));
        first..newest.saturating_add(1)
    }

    pub(crate) fn position(&self) -> Option<f64> {
        self.position.map(|(position, _)| position)
    }

    /// Returns the newest tick that the clock has reached.
    pub(crate) fn newest_due(&self) -> Option<u64> {
        self.position().map(|position| position as u64)
    }

    /// Records that the clock has reached a tick, and was `ahead` ticks ahead of the server then.
    fn note(&mut self, tick: u64, ahead: f64) {
        if self.ahead.len() == REMEMBERED {
            self.ahead.pop_front();
        }
        self.ahead.push_back((tick, ahead));
    }

    /// Adjusts the lead (how far the clock must be ahead) after a report of the server.
    pub(crate) fn take(&mut self, report: &InputReport) {
        let Some(&(newest, _)) = self.ahead.back() else { return };
        let tick = Sequence::from_wire(report.tick, Sequence::new(newest)).number();
        if let Ok(at) = self.ahead.binary_search_by_key(&tick, |(tick, _)| *tick)
            && let Some(&(_, ahead)) = self.ahead.get(at)
        {
            self.lead.take(ahead, report.margin_ticks());
        }
    }

    pub(crate) fn ahead_of(&self, tick: f64) -> Option<f64> {
        Some(self.position?.0 - tick)
    }
}

impl Seen {
    /// Returns the oldest tick for which an input can still be made. `newest` is the newest such tick.
    fn oldest_due(&self, newest: u64) -> u64 {
        let most = (JUMP_SECS / self.interval_secs).clamp(1.0, MOST_AT_ONCE as f64) as u64;
        // An input for a tick that the server has already begun cannot arrive in time.
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
        // The server has already begun tick 139.
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
