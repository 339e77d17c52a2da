//! The pace of a match: it decides the times of the ticks.
//!
//! *Invariant:* the time never decreases, and two ticks are never at the same time.

use std::time::Duration;

use repl::sim::Clock;

use crate::game::TICKS_PER_SECOND;
#[cfg(feature = "quic")]
use crate::metronome::Metronome;

/// Decides the time of the next tick.
pub struct Pace(Kind);

enum Kind {
    Fast(Clock),
    #[cfg(feature = "quic")]
    Real(Metronome),
}

impl Pace {
    /// Returns the pace of simulated time: ticks run without waiting, and each advances the time by one tick.
    pub fn fast() -> Self {
        Self(Kind::Fast(Clock::at_hz(TICKS_PER_SECOND)))
    }

    /// Returns the pace of real time.
    #[cfg(feature = "quic")]
    pub fn real() -> Self {
        Self(Kind::Real(Metronome::at_hz(TICKS_PER_SECOND)))
    }

    pub fn now(&self) -> Duration {
        match &self.0 {
            Kind::Fast(clock) => clock.now(),
            #[cfg(feature = "quic")]
            Kind::Real(metronome) => metronome.now(),
        }
    }

    /// Waits for the next tick, and returns its time.
    pub fn tick(&mut self) -> Duration {
        match &mut self.0 {
            Kind::Fast(clock) => clock.tick(),
            #[cfg(feature = "quic")]
            Kind::Real(metronome) => metronome.tick(),
        }
    }
}
