//! What a server knows of the input of one tick.
//!
//! *Invariant:* what is missing is never made up: the last input says how old it is.

/// What a client has made for a tick, as [`ConnectionHandle::input`](crate::ConnectionHandle::input) returns
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickInput<T> {
    /// The input of this tick.
    Made(T),
    /// No input has arrived for this tick.
    Missing {
        /// The last input before it. What a player holds is mostly what he held a tick before.
        last: T,
        /// How many ticks before this one that was. It grows while nothing arrives.
        ticks_ago: u64,
    },
    /// No input has arrived for this tick or an earlier one.
    None,
}

impl<T> TickInput<T> {
    /// Returns the input of the tick, or else the last one before it, however long ago that was.
    pub fn or_last(self) -> Option<T> {
        self.or_last_within(u64::MAX)
    }

    /// Returns the input of the tick, or else the last one, if it was for one of so many ticks before it: who
    /// sends nothing more should not hold his buttons until the connection ends.
    pub fn or_last_within(self, ticks: u64) -> Option<T> {
        match self {
            Self::Made(input) => Some(input),
            Self::Missing { last, ticks_ago } if ticks_ago <= ticks => Some(last),
            Self::Missing { .. } | Self::None => None,
        }
    }
}
