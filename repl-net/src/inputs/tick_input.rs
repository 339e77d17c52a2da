//! The input of one tick, as far as a server knows it.
//!
//! *Invariant:* if an input is missing, the last received input is returned with its age.

/// What a server knows about a client's input for a tick.
/// [`ConnectionHandle::input`](crate::ConnectionHandle::input) returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickInput<T> {
    /// The input of this tick.
    Made(T),
    /// The input of this tick has not arrived.
    Missing {
        /// The newest input before this tick. It is a good guess, because players mostly hold the same
        /// buttons as a tick before.
        last: T,
        /// The number of ticks from the tick of `last` to this tick. It grows while no input arrives.
        ticks_ago: u64,
    },
    /// No input has arrived for this tick or for an earlier tick.
    None,
}

impl<T> TickInput<T> {
    /// Returns the input of the tick. If it is missing, returns the newest input before it, however old it
    /// is.
    pub fn or_last(self) -> Option<T> {
        self.or_last_within(u64::MAX)
    }

    /// Returns the input of the tick. If it is missing, returns the newest input before it if this is at most
    /// `ticks` ticks old. With this limit, the server does not continue to use the last input of a player who
    /// sends nothing more until the connection ends.
    pub fn or_last_within(self, ticks: u64) -> Option<T> {
        match self {
            Self::Made(input) => Some(input),
            Self::Missing { last, ticks_ago } if ticks_ago <= ticks => Some(last),
            Self::Missing { .. } | Self::None => None,
        }
    }
}
