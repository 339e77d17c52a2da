//! The rest of a client: while it lasts, ticks without changes do not visit the client.
//!
//! *Invariant:* a pass of a client that rests would send nothing, and nothing would be freed.

use std::time::Duration;

/// The rest of one client.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rest {
    /// The end of the rest, or `None` if the client does not rest.
    until: Option<Duration>,
    /// The last tick in which it was the client's turn, but that did not visit the client.
    skipped_at: Option<Duration>,
}

impl Rest {
    /// Returns whether the client rests at the time `now`.
    #[inline]
    pub fn lasts(&self, now: Duration) -> bool {
        self.until.is_some_and(|until| now < until)
    }

    /// Begins a rest that lasts until a time, or ends the rest if no time is given.
    #[inline]
    pub fn set(&mut self, until: Option<Duration>) {
        self.until = until;
    }

    /// Ends the rest.
    #[inline]
    pub fn end(&mut self) {
        self.until = None;
    }

    /// Notes that the tick at the time `now` does not visit the client, although it is the client's turn.
    pub fn skip(&mut self, now: Duration) {
        self.skipped_at = Some(now);
    }

    /// Returns the time of the last tick in which it was the client's turn, but that did not visit it since
    /// the last call.
    #[inline]
    pub fn take_skipped(&mut self) -> Option<Duration> {
        self.skipped_at.take()
    }
}
