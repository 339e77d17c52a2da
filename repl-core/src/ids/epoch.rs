//! [`Epoch`]: distinguishes, on a client, the objects of a restarted server from the objects before the
//! restart.
//!
//! *Invariant:* a guid of an epoch is never a guid of an earlier epoch.

use std::num::NonZeroU32;

use super::guid::Guid;

/// The difference between the generations in a client's references and the generations on the wire.
///
/// A restarted server counts generations (numbers of objects that have used a slot) from one again. So a
/// client adds to the new generations the greatest generation that it knew before the restart. Then no
/// reference from before the restart names an object of the restarted server. The client adds the same
/// difference to the numbers of assets. The difference is zero on servers, and on clients that have connected
/// to only one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epoch(u32);

impl Epoch {
    /// Returns the epoch that begins after `generation`. All guids of this epoch have greater generations. If
    /// `generation` is zero, this is the first epoch.
    #[must_use]
    pub const fn after(generation: u32) -> Self {
        Self(generation)
    }

    /// Converts a guid from the wire into the guid that this side uses for the same object. Returns `None` if
    /// the generation is greater than an honest server can send.
    #[must_use]
    pub fn from_wire(self, guid: Guid) -> Option<Guid> {
        if let Some(number) = guid.asset_number() {
            return Some(Guid::asset(number.checked_add(self.0)?));
        }
        Some(Guid::new(guid.slot(), guid.generation().checked_add(self.0)?))
            .filter(|known| known.is_of_object())
    }

    /// Converts a guid of this side into the guid on the wire. Returns `None` if the object is from an
    /// earlier epoch.
    #[must_use]
    pub fn to_wire(self, guid: Guid) -> Option<Guid> {
        if let Some(number) = guid.asset_number() {
            return Some(Guid::asset(NonZeroU32::new(number.get().checked_sub(self.0)?)?));
        }
        let generation = NonZeroU32::new(guid.generation().get().checked_sub(self.0)?)?;
        Some(Guid::new(guid.slot(), generation))
    }

    /// Returns the difference, for [`BitWriter::set_epoch`](crate::BitWriter::set_epoch).
    #[must_use]
    pub const fn offset(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guid(generation: u32) -> Guid {
        Guid::new(7, NonZeroU32::new(generation).expect("generations count from one"))
    }

    #[test]
    fn r18_no_guid_of_an_epoch_is_one_of_an_earlier_epoch() {
        let epoch = Epoch::after(40);
        assert_eq!(epoch.from_wire(guid(1)), Some(guid(41)));
        assert_eq!(epoch.to_wire(guid(41)), Some(guid(1)));
        assert_eq!((epoch.to_wire(guid(40)), epoch.to_wire(guid(1))), (None, None));
        assert_eq!(Epoch::default().from_wire(guid(9)), Some(guid(9)));
        // The greatest generation is reserved for assets.
        assert_eq!(epoch.from_wire(guid(u32::MAX - 1)), None);
    }
}
