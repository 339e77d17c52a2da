//! The pace of a match: it decides the times of the ticks.
//!
//! *Invariant:* the time never decreases, and two ticks are never at the same time.

use std::time::Duration;

use repl::sim::Clock;

use crate::game::TICKS_PER_SECOND;
#[cfg(feature = "quic")]
use crate::metronome::Metronome;

/// Decides the time of the next tick.
pub(crate) enum Pace {
    /// Simulated time: ticks run without waiting, and each advances the time by one tick.
    Fast(Clock),
    /// Ticks are in real time.
    #[cfg(feature = "quic")]
    Real(Metronome),
}

impl Pace {
    pub(crate) fn fast() -> Self {
        Self::Fast(Clock::at_hz(TICKS_PER_SECOND))
    }

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
