//! Converts the end of a WebTransport session into the reason why the client's session ends.
//!
//! A browser does not tell a page why it could not connect: a wrong certificate or a full server looks like a
//! server that does not run. So the client tries again for some seconds, and then reports a text that names
//! the usual causes.
//!
//! *Invariant:* a client that has connected before never gives up because it cannot connect.

use std::time::Duration;

use repl_link::DisconnectReason;

use crate::closing::{FULL, LATE, REFUSED};

/// If a WebTransport session is not open after this time, the attempt has failed. Browsers have timeouts of
/// their own, some after four seconds, and then report a failure.
pub(crate) const OPENING: Duration = Duration::from_millis(4_500);

/// A client that has never connected gives up with the first attempt that fails this time after the earliest
/// one began. So its user reads what to do within five seconds.
const PATIENCE: Duration = Duration::from_secs(3);

/// The end of a WebTransport session.
#[derive(Debug)]
pub(crate) enum End {
    /// The browser could not open it. The text is the browser's, and is often empty or says little.
    NotOpened(String),
    /// The browser did not open it within [`OPENING`].
    Silent,
    /// The server closed it, with a code and a text.
    Closed(u32, String),
    /// The connection was lost after it was open.
    Lost,
}

/// The attempts of a client to connect to one server.
#[derive(Debug)]
pub(crate) struct Attempts {
    url: String,
    is_pinned: bool,
    /// When the first attempt began that has failed.
    failing_since: Option<Duration>,
    has_connected: bool,
}

impl Attempts {
    /// `is_pinned` says whether the client trusts certificates by their hashes.
    pub(crate) fn new(url: String, is_pinned: bool) -> Self {
        Self { url, is_pinned, failing_since: None, has_connected: false }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Handles that a WebTransport session is open.
    pub(crate) fn succeeded(&mut self) {
        self.has_connected = true;
    }

    /// Returns the reason why the client's session ends, if its WebTransport session began at
    /// `begun_at` and ended at `now`.
    pub(crate) fn reason_of(&mut self, end: End, begun_at: Duration, now: Duration) -> DisconnectReason {
        let why = match end {
            End::Closed(FULL, _) => return DisconnectReason::Full,
            End::Closed(LATE, _) | End::Lost => return DisconnectReason::Timeout,
            End::Closed(REFUSED, text) => {
                return DisconnectReason::Transport(format!("the server refuses this page: {text}"));
            }
            // The server has ended the session, but the packet with the reason was lost.
            End::Closed(..) => return DisconnectReason::Timeout,
            End::NotOpened(text) => text,
            End::Silent => format!("no answer for {} ms", OPENING.as_millis()),
        };
        let failing_since = *self.failing_since.get_or_insert(begun_at);
        if self.has_connected || now.saturating_sub(failing_since) < PATIENCE {
            return DisconnectReason::Timeout;
        }
        DisconnectReason::Transport(self.advice(&why))
    }

    /// Returns what to do if the client cannot connect. `why` is the browser's text.
    fn advice(&self, why: &str) -> String {
        let certificate = if self.is_pinned {
            "the certificate of the server has one of the pinned hashes, is valid now and for at most 14 days in all, and has an \
             ECDSA key"
        } else {
            "the certificate of the server is valid now, has this name, and is signed by an authority that browsers trust"
        };
        format!(
            "the browser cannot connect to {} ({}). Check that the server runs there, accepts browsers and is not full; that {certificate}; \
             that no policy of the page (`connect-src`) forbids it; and that this network does not block UDP, without which \
             there is no other way. The browser's console may say more",
            self.url,
            if why.is_empty() { "without a reason" } else { why },
        )
    }
}

/// Returns why a page cannot use WebTransport at all.
pub(crate) fn unsupported(is_secure: bool) -> &'static str {
    if is_secure {
        "this browser has no WebTransport: use Chrome or Edge 100, Firefox 125, Safari 26.4, or a later version of one of them"
    } else {
        "browsers offer WebTransport only to secure pages: open this page over https, or from localhost"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts(is_pinned: bool) -> Attempts {
        Attempts::new("https://10.0.0.1:7777/".to_owned(), is_pinned)
    }

    fn at(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    #[test]
    fn after_some_seconds_the_reason_says_what_to_do() {
        for (is_pinned, advice) in [(true, "one of the pinned hashes"), (false, "signed by an authority")] {
            let mut attempts = attempts(is_pinned);
            for secs in [100, 101, 102] {
                let end = End::NotOpened("failed".to_owned());
                assert_eq!(attempts.reason_of(end, at(secs), at(secs)), DisconnectReason::Timeout);
            }
            let reason = attempts.reason_of(End::NotOpened(String::new()), at(103), at(103));
            let DisconnectReason::Transport(text) = reason else { panic!("it tries again") };
            for part in [attempts.url(), "without a reason", "UDP", advice] {
                assert!(text.contains(part), "{part}: {text}");
            }
        }
    }

    #[test]
    fn silence_is_named() {
        let mut attempts = attempts(true);
        let reason = attempts.reason_of(End::Silent, at(10), at(10) + OPENING);
        assert!(
            matches!(&reason, DisconnectReason::Transport(text) if text.contains("no answer for 4500 ms")),
            "{reason:?}"
        );
    }

    #[test]
    fn a_client_that_has_connected_tries_for_ever() {
        let mut attempts = attempts(true);
        attempts.reason_of(End::Silent, at(0), at(1));
        attempts.succeeded();
        for secs in 1..300 {
            assert_eq!(attempts.reason_of(End::Silent, at(secs), at(secs)), DisconnectReason::Timeout);
        }
    }

    #[test]
    fn the_code_of_the_server_tells_the_reason() {
        let mut attempts = attempts(true);
        let mut of = |end| attempts.reason_of(end, at(100), at(100));
        assert_eq!(of(End::Closed(0, "over".to_owned())), DisconnectReason::Timeout);
        assert_eq!(of(End::Closed(1, String::new())), DisconnectReason::Full);
        assert_eq!(of(End::Closed(2, String::new())), DisconnectReason::Timeout);
        assert_eq!(of(End::Closed(77, String::new())), DisconnectReason::Timeout);
        assert_eq!(of(End::Lost), DisconnectReason::Timeout);
        let refused = of(End::Closed(3, "its origin is not allowed".to_owned()));
        assert!(matches!(refused, DisconnectReason::Transport(text) if text.contains("origin")));
    }

    #[test]
    fn a_page_without_web_transport_learns_why() {
        assert!(unsupported(true).contains("Firefox"));
        assert!(unsupported(false).contains("localhost"));
    }
}
