//! The input of one tick, as far as a server knows it.
//!
//! *Invariant:* a missing input is never invented. The last known input is returned with its age.

/// What a client has made for a tick, as [`ConnectionHandle::input`](crate::ConnectionHandle::input) returns
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TickInput<T> {
    /// The input of this tick.
    Made(T),
    /// No input has arrived for this tick.
    Missing {
        /// The last input before this tick. Players mostly hold the same buttons as a tick before.
        last: T,
        /// How many ticks ago the last input was. It grows while no input arrives.
        ticks_ago: u64,
    },
    /// No input has arrived for this tick or any earlier tick.
    None,
}

impl<T> TickInput<T> {
    /// Returns the input of the tick. If it is missing, returns the last input before it, however old it is.
    pub fn or_last(self) -> Option<T> {
        self.or_last_within(u64::MAX)
    }

    /// Returns the input of the tick. If it is missing, returns the last input, if this is at most `ticks`
    /// ticks old. With this limit, a player who sends nothing more does not hold his buttons until the
    /// connection ends.
    pub fn or_last_within(self, ticks: u64) -> Option<T> {
        match self {
            Self::Made(input) => Some(input),
            Self::Missing { last, ticks_ago } if ticks_ago <= ticks => Some(last),
            Self::Missing { .. } | Self::None => None,
        }
    }
}
