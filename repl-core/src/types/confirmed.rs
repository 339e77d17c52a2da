//! A value together with the server tick to which it belongs.
//!
//! *Invariant:* the value and the tick always arrive together.
#![expect(unsafe_code, reason = "types state their own shapes")]

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::reference::ReferenceMap;
use crate::schema::property::Property;
use crate::schema::shape::{Shape, WireForm};
use crate::schema::value::NetSerialize;

/// The state of an object after a server tick. A client compares this state with the state that it predicted
/// for the tick. The state and the tick arrive together. The property changes in every tick, so the owner
/// receives each tick even if the state does not change:
///
/// ```
/// # use repl_core as repl;
/// use repl::Confirmed;
///
/// let mut confirmed = Confirmed::default();
/// confirmed.set(70_000, [2.5_f32, 0.0]);
/// assert_eq!(confirmed.at(70_003), Some((70_000, &[2.5, 0.0])));
/// assert_eq!(Confirmed::<u8>::default().at(70_003), None);
/// ```
///
/// On the wire, the value takes one bit, plus 16 bits for the low bits of the tick, plus the whole state. At
/// 60 ticks a second, an object sends its owner about 200 bytes a second for the tick, plus 60 times the
/// state. Give the property the condition `OwnerOnly`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confirmed<S> {
    /// The low bits of the tick. `None` before the first call of `set`.
    tick: Option<u16>,
    state: S,
}

impl<S> Confirmed<S> {
    /// Returns the state after a tick.
    #[must_use]
    pub const fn new(tick: u64, state: S) -> Self {
        Self { tick: Some(tick as u16), state }
    }

    /// Sets the state after a tick.
    pub fn set(&mut self, tick: u64, state: S) {
        *self = Self::new(tick, state);
    }

    /// Returns the tick and the state, for a client that has received the server's state up to the tick
    /// `server_tick`. The returned tick is `server_tick` or one of the 65,535 ticks before it. Returns `None`
    /// if the server has set nothing yet.
    #[must_use]
    pub fn at(&self, server_tick: u64) -> Option<(u64, &S)> {
        let ago = (server_tick as u16).wrapping_sub(self.tick?);
        Some((server_tick.checked_sub(ago.into())?, &self.state))
    }
}

// SAFETY: `opaque` describes every such type, because it accesses the value only through the type's own
// functions.
unsafe impl<S: Property + NetSerialize + Clone> Property for Confirmed<S> {
    const SHAPE: &'static Shape = &Shape::opaque::<Self>();
    fn initial() -> Self {
        Self { tick: None, state: S::initial() }
    }
}

impl<S: Property + NetSerialize + Clone> NetSerialize for Confirmed<S> {
    const WIRE_NAME: &'static str = "Confirmed";
    const WIRE_FORM: &'static WireForm = <(Option<u16>, S)>::WIRE_FORM;

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_flag(self.tick.is_some());
        if let Some(tick) = self.tick {
            writer.write_bits(tick.into(), 16);
        }
        self.state.write(writer)
    }

    fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        let tick = if reader.read_flag()? { Some(reader.read_bits(16)? as u16) } else { None };
        Ok(Self { tick, state: S::read(reader, references)? })
    }

    fn identical(&self, other: &Self) -> bool {
        self.tick == other.tick && self.state.identical(&other.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tick_is_not_after_that_of_the_client() {
        let at = |tick: u64, server_tick: u64| {
            Confirmed::new(tick, 5).at(server_tick).is_some_and(|(found, state)| found == tick && *state == 5)
        };
        assert!(at(0, 0) && at(65_535, 65_536) && at(65_536, 65_536) && at(1 << 40, (1 << 40) + 65_535));
        assert!(!at(1 << 40, (1 << 40) + 65_536));
        assert_eq!(Confirmed::new(7, ()).at(6), None, "no tick is before the first");
        assert_eq!(Confirmed::<u8>::default().at(100_000), None);
    }
}
