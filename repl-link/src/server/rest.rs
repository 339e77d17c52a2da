//! The rest of a client: a time in which the server need not visit the client in its ticks, unless something
//! changes.
//!
//! *Invariant:* if a tick visited a client that rests, it would send nothing to the client and free no
//! memory.

use std::time::Duration;

/// The rest of one client: until when ticks need not visit it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rest {
    /// The end of the rest, or `None` if the client does not rest.
    until: Option<Duration>,
    /// The last tick in which it was the client's turn, but the client was skipped because it rested.
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

    /// Records that the tick at the time `now` skips the client, although it is the client's turn.
    pub fn skip(&mut self, now: Duration) {
        self.skipped_at = Some(now);
    }

    /// Returns the time of the last tick that skipped the client since the last call.
    #[inline]
    pub fn take_skipped(&mut self) -> Option<Duration> {
        self.skipped_at.take()
    }
}
