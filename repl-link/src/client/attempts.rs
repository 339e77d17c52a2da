//! The attempts of a client to connect. This module decides when the next session begins and which number it
//! has, and finds out whether the server was restarted.
//!
//! *Invariant:* no two sessions of a client have the same number.

use std::time::Duration;

use crate::session::disconnect::DisconnectReason;
use crate::session::identity::Session;

/// How long a client waits before it connects again. The wait doubles with each attempt that fails, from
/// `FIRST_DELAY` to `LONGEST_DELAY`.
const FIRST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_DELAY: Duration = Duration::from_secs(8);

/// If the server forgot a session that lasted at least this long, the client connects again at once.
const SETTLED: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Attempts {
    identity: Session,
    /// How many sessions have ended.
    earlier: u64,
    /// The instance number of the server that accepted the last session. A restarted server has a new number.
    server: Option<u64>,
    /// When the next session begins. `None` during a session, and if the client will not connect again.
    next: Option<Duration>,
    /// When the server accepted the current session. `None` before that, and after the session has ended.
    began_at: Option<Duration>,
    /// Whether a session ended because another client took its address or its number. Reset after a session
    /// that lasted for at least the timeout.
    has_yielded: bool,
    /// How long the client waits if the current attempt fails.
    delay: Duration,
}

impl Attempts {
    pub(super) fn new(identity: Session) -> Self {
        Self {
            identity,
            earlier: 0,
            server: None,
            next: None,
            began_at: None,
            has_yielded: false,
            delay: FIRST_DELAY,
        }
    }

    pub(super) fn server(&self) -> Option<u64> {
        self.server
    }

    pub(super) fn has_next(&self) -> bool {
        self.next.is_some()
    }

    /// Returns whether no session has ended yet.
    pub(super) fn is_first(&self) -> bool {
        self.earlier == 0
    }

    /// Handles the end of a session. After some reasons, the client connects again: it waits longer after
    /// each failure, but connects immediately to a server that was restarted. `timeout` is the timeout of the
    /// client.
    pub(super) fn ended(&mut self, reason: &DisconnectReason, now: Duration, timeout: Duration) {
        let lasted = self.began_at.take().map(|began| now.saturating_sub(began));
        if lasted >= Some(timeout) {
            self.has_yielded = false;
        }
        let delay = match reason {
            // If the server forgot the session soon after it began, that may happen again, so the client
            // waits.
            DisconnectReason::Forgotten if lasted.is_none_or(|lasted| lasted >= SETTLED) => Duration::ZERO,
            DisconnectReason::Forgotten
            | DisconnectReason::Timeout
            | DisconnectReason::NeverPolled
            | DisconnectReason::TicksTooFarApart(_)
            | DisconnectReason::Unacknowledged
            | DisconnectReason::Full => self.delay,
            // Another client has the address or the number of the session. The client tries only one more
            // time, because otherwise two clients could replace each other for ever.
            DisconnectReason::Replaced | DisconnectReason::Taken if !self.has_yielded => {
                self.has_yielded = true;
                self.next = Some(now.saturating_add(self.delay));
                return;
            }
            _ => return,
        };
        self.has_yielded = false;
        self.next = Some(now.saturating_add(delay));
        self.delay = self.delay.saturating_mul(2).min(LONGEST_DELAY);
    }

    pub(super) fn stop(&mut self) {
        self.next = None;
    }

    /// Handles the welcome packet, by which a server accepts the client. Returns whether this is the first
    /// session, and if not, whether the server is the same as in the last session.
    pub(super) fn began(&mut self, server: Option<u64>, now: Duration) -> Beginning {
        self.delay = FIRST_DELAY;
        self.began_at = Some(now);
        match std::mem::replace(&mut self.server, server) {
            None => Beginning::First,
            last if last == server => Beginning::SameServer,
            _ => Beginning::OtherServer,
        }
    }

    /// Returns the number of the session that begins now, if one is due.
    pub(super) fn take_due(&mut self, now: Duration) -> Option<u64> {
        self.next = match self.next {
            Some(next) if next <= now => None,
            waiting => return waiting.and(None),
        };
        self.earlier = self.earlier.saturating_add(1);
        Some(self.identity.number(self.earlier))
    }
}

/// How a new session relates to the previous session of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// The session is the first one of the client.
    First,
    /// The server is the same as in the last session.
    SameServer,
    /// The server is not the server of the last session, or it was restarted.
    OtherServer,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const TIMEOUT: Duration = Duration::from_secs(10);

    #[test]
    fn a_client_waits_longer_after_each_failure_and_no_number_comes_again() {
        let mut attempts = Attempts::new(Session::for_tests(7));
        let (mut now, mut numbers, mut waits) = (SECOND, vec![7], Vec::new());
        for _ in 0..8 {
            attempts.ended(&DisconnectReason::Timeout, now, TIMEOUT);
            let start = now;
            let number = loop {
                match attempts.take_due(now) {
                    Some(number) => break number,
                    None => now += Duration::from_millis(100),
                }
            };
            assert!(!numbers.contains(&number), "{number}");
            numbers.push(number);
            waits.push((now - start).as_millis());
            assert_eq!(attempts.take_due(now), None, "it begins once");
        }
        assert_eq!(waits, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000]);
        attempts.began(Some(3), SECOND);
        attempts.ended(&DisconnectReason::Full, now, TIMEOUT);
        assert!(attempts.take_due(now + FIRST_DELAY).is_some());
    }

    #[test]
    fn only_some_ends_lead_to_another_session() {
        for reason in [DisconnectReason::Closed, DisconnectReason::Stalled] {
            let mut attempts = Attempts::new(Session::for_tests(7));
            attempts.ended(&reason, SECOND, TIMEOUT);
            assert_eq!(attempts.take_due(SECOND * 3_600), None, "{reason}");
        }
        let mut attempts = Attempts::new(Session::for_tests(7));
        for reason in [DisconnectReason::Taken, DisconnectReason::Replaced] {
            let mut attempts = Attempts::new(Session::for_tests(7));
            attempts.ended(&reason, SECOND, TIMEOUT);
            assert!(attempts.take_due(2 * SECOND).is_some(), "{reason} once");
            attempts.ended(&reason, 2 * SECOND, TIMEOUT);
            assert_eq!(attempts.take_due(SECOND * 3_600), None, "{reason} twice");
        }
        attempts.ended(&DisconnectReason::Forgotten, SECOND, TIMEOUT);
        assert!(attempts.take_due(SECOND).is_some(), "a restarted server is there already");
    }

    #[test]
    fn a_client_yields_once_more_after_a_session_of_a_timeout() {
        for (lasted, may_return) in [(TIMEOUT - SECOND, false), (TIMEOUT, true)] {
            let mut attempts = Attempts::new(Session::for_tests(7));
            attempts.ended(&DisconnectReason::Replaced, SECOND, TIMEOUT);
            assert!(attempts.take_due(2 * SECOND).is_some());
            attempts.began(Some(1), 2 * SECOND);
            attempts.ended(&DisconnectReason::Replaced, 2 * SECOND + lasted, TIMEOUT);
            assert_eq!(attempts.take_due(SECOND * 3_600).is_some(), may_return, "{lasted:?}");
            attempts.ended(&DisconnectReason::Taken, SECOND * 7_200, TIMEOUT);
            assert_eq!(attempts.take_due(SECOND * 10_800), None, "a session that never began lasts no time");
        }
    }

    #[test]
    fn another_server_is_told_from_the_same_one() {
        let mut attempts = Attempts::new(Session::for_tests(7));
        assert_eq!(attempts.began(Some(1), SECOND), Beginning::First);
        assert_eq!(attempts.began(Some(1), SECOND), Beginning::SameServer);
        assert_eq!(attempts.began(Some(2), SECOND), Beginning::OtherServer);
        assert_eq!(attempts.began(Some(1), SECOND), Beginning::OtherServer);
    }
}
