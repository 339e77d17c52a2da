//! The tick that a client shows, to be sent as a field of its inputs.
//!
//! *Invariant:* a tick that was sent differs from the shown tick by less than 1/64 of a tick.

use repl_core::{BitReader, BitWriter, NetSerialize, ReadError, ReferenceMap, WriteError};

/// The number of steps in a tick. Ticks are rounded to steps.
const STEPS: f64 = 64.0;

/// The number of ticks after which the 16-bit numbers wrap around.
const SPAN: f64 = 65_536.0 / STEPS;

/// The tick that a client shows while the player makes an input, in 16 bits. It says what the player saw, for
/// example when shooting. As a field of an input, it tells the server for which tick to query a
/// [`History`](crate::History).
///
/// ```
/// # use repl_net as repl;
/// use repl::ShownTick;
///
/// // On the client: `client.clock().shown_tick()`, less the delay of the `Interpolated`.
/// let shown = ShownTick::new(70_012.25);
/// assert_eq!(shown.near(70_030), 70_012.25); // on the server, `server.ticks()`
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownTick(u16);

impl ShownTick {
    /// Returns a tick, rounded down to a multiple of 1/64.
    #[must_use]
    pub fn new(tick: f64) -> Self {
        Self((tick * STEPS).rem_euclid(65_536.0) as u16)
    }

    /// Returns the tick, which must be less than 512 ticks before or after `near`. The client has sent it, so
    /// a cheating client may send any tick. A [`History`](crate::History) limits how far the server goes
    /// back.
    #[must_use]
    pub fn near(self, near: u64) -> f64 {
        let (near, of) = (near as f64, f64::from(self.0) / STEPS);
        let tick = of + ((near - of) / SPAN).round() * SPAN;
        tick.max(0.0)
    }
}

impl NetSerialize for ShownTick {
    const WIRE_NAME: &'static str = "ShownTick";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits(self.0.into(), 16);
        Ok(())
    }

    fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        Ok(Self(reader.read_bits(16)? as u16))
    }

    fn identical(&self, other: &Self) -> bool {
        self == other
    }
}
repl_core::leaf!(ShownTick);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_tick_is_found_near_another(tick in 600.0..1e9_f64, away in -511_i64..511) {
            let near = (tick as u64).saturating_add_signed(away);
            let found = ShownTick::new(tick).near(near);
            prop_assert!(found <= tick && tick - found < 1.0 / 64.0, "{found}");
        }
    }
}
