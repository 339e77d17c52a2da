//! When the ticks of a match are.
//!
//! *Invariant:* the time never decreases, and two ticks are never at the same time.

use std::time::Duration;

use repl::sim::Clock;

use crate::game::TICKS_PER_SECOND;
#[cfg(feature = "quic")]
use crate::metronome::Metronome;

/// What says when the next tick is.
pub(crate) enum Pace {
    /// Ticks follow as fast as they can, and each is a tick later than the one before.
    Fast(Clock),
    /// Ticks are in real time.
    #[cfg(feature = "quic")]
    Real(Metronome),
}

impl Pace {
    pub(crate) fn fast() -> Self {
        Self::Fast(Clock::at_hz(TICKS_PER_SECOND))
    }

    /// Returns the time of the last tick.
    pub(crate) fn now(&self) -> Duration {
        match self {
            Self::Fast(clock) => clock.now(),
            #[cfg(feature = "quic")]
            Self::Real(metronome) => metronome.now(),
        }
    }

    /// Waits for the next tick, and returns its time.
    pub(crate) fn tick(&mut self) -> Duration {
        match self {
            Self::Fast(clock) => clock.tick(),
            #[cfg(feature = "quic")]
            Self::Real(metronome) => metronome.tick(),
        }
    }
}
