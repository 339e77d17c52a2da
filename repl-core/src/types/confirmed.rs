//! A value together with the tick of the server of which it is.
//!
//! *Invariant:* both always arrive together.
#![expect(unsafe_code, reason = "types state their own shapes")]

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::reference::ReferenceMap;
use crate::schema::property::Property;
use crate::schema::shape::{Shape, WireForm};
use crate::schema::value::NetSerialize;

/// The state of an object after a tick of the server, with which a client compares what it predicted for this
/// tick. Both arrive together, and the property changes with every tick, so that the owner hears of each tick
/// also while the object rests:
///
/// ```
/// # use repl_core as repl;
/// use repl::Confirmed;
///
/// let mut confirmed = Confirmed::default();
/// confirmed.set(70_000, [2.5_f32, 0.0]);
/// assert_eq!(confirmed.near(69_990), (70_000, &[2.5, 0.0]));
/// ```
///
/// It takes 16 bits, which is the low part of the tick, and the state as a whole. At 60 ticks a second, an
/// object costs its owner about 200 bytes a second for its tick, and 60 times its state. Give the property
/// the condition `OwnerOnly`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confirmed<S> {
    tick: u16,
    state: S,
}

impl<S> Confirmed<S> {
    /// Returns the state after a tick.
    #[must_use]
    pub const fn new(tick: u64, state: S) -> Self {
        Self { tick: tick as u16, state }
    }

    /// Sets the state after a tick.
    pub fn set(&mut self, tick: u64, state: S) {
        *self = Self::new(tick, state);
    }

    /// Returns the tick and the state. Of the ticks that have these low bits, the tick is the one nearest to
    /// `near`, for example to
    /// [`server_tick`](https://docs.rs/repl/latest/repl/struct.Client.html#method.server_tick).
    #[must_use]
    pub const fn near(&self, near: u64) -> (u64, &S) {
        let ahead = self.tick.wrapping_sub(near as u16) as i16;
        (near.saturating_add_signed(ahead as i64), &self.state)
    }
}

// SAFETY: `opaque` describes any such type: it accesses the value only through the type's own functions.
unsafe impl<S: Property + NetSerialize + Clone> Property for Confirmed<S> {
    const SHAPE: &'static Shape = &Shape::opaque::<Self>();
    fn initial() -> Self {
        Self { tick: 0, state: S::initial() }
    }
}

impl<S: Property + NetSerialize + Clone> NetSerialize for Confirmed<S> {
    const WIRE_NAME: &'static str = "Confirmed";
    const WIRE_FORM: &'static WireForm = <(u16, S)>::WIRE_FORM;

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits(self.tick.into(), 16);
        self.state.write(writer)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        Ok(Self { tick: reader.read_bits(16)? as u16, state: S::read(reader, references)? })
    }

    fn identical(&self, other: &Self) -> bool {
        self.tick == other.tick && self.state.identical(&other.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tick_is_the_one_nearest_to_another() {
        let near = |tick: u64, near: u64| Confirmed::new(tick, 5).near(near) == (tick, &5);
        assert!(
            near(0, 0) && near(65_535, 65_536) && near(65_536, 65_535) && near(1 << 40, (1 << 40) + 32_768)
        );
        assert!(!near(1 << 40, (1 << 40) + 32_769));
    }
}
