//! References to assets: an asset is anything with a path that is not a replicated object, such as a mesh, a
//! sound or a table of items.
//!
//! *Invariant:* a reference contains only a number, so its bits are the same for all connections (R19).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;

use super::epoch::Epoch;
use super::guid::Guid;
use super::reference::ReferenceMap;
use crate::bits::{BitReader, BitWriter, ReadError};

/// The order of the Exp-Golomb code for numbers of assets.
const NUMBER_ORDER: u32 = 6;

/// A reference to an asset, or null. An asset is anything that both sides know by a path and that is not a
/// replicated object, such as a class, a mesh or a sound. `T` is a type of your own that distinguishes
/// references to different kinds of assets, such as `AssetRef<Mesh>`. No value of type `T` is needed.
///
/// The server gives each path a number. A reference takes 4 bytes in memory. On the wire, a null reference
/// takes one bit, and any other reference at least 8 bits. The path is sent once to each client, before or
/// together with the first reference to it.
///
/// On a client, a reference to an asset that the client does not have reads as null. When the client adds the
/// asset, the reference becomes valid automatically, and notifies run.
///
/// The number is small and is never used for another path. So the [number](Self::number) can be an index into
/// a list of loaded assets.
#[repr(transparent)]
pub struct AssetRef<T: ?Sized> {
    /// Zero is the null reference.
    raw: u32,
    asset: PhantomData<fn() -> *const T>,
}

impl<T: ?Sized> AssetRef<T> {
    /// The null reference, which refers to no asset.
    pub const NULL: Self = Self { raw: 0, asset: PhantomData };

    /// Returns a reference to the asset with this number. Whether the asset exists is checked only when the
    /// reference is used.
    #[must_use]
    pub const fn new(number: NonZeroU32) -> Self {
        Self { raw: number.get(), asset: PhantomData }
    }

    /// Returns the number of the asset. Returns `None` if the reference is null.
    #[must_use]
    pub const fn number(self) -> Option<NonZeroU32> {
        NonZeroU32::new(self.raw)
    }

    /// Returns whether the reference is null.
    #[must_use]
    pub const fn is_null(self) -> bool {
        self.raw == 0
    }

    /// Returns the same reference without the type of its asset.
    #[must_use]
    pub const fn erase(self) -> AssetRef<()> {
        AssetRef { raw: self.raw, asset: PhantomData }
    }
}

impl<T: ?Sized> Clone for AssetRef<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for AssetRef<T> {}

impl<T: ?Sized> Default for AssetRef<T> {
    fn default() -> Self {
        Self::NULL
    }
}

impl<T: ?Sized> PartialEq for AssetRef<T> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl<T: ?Sized> Eq for AssetRef<T> {}

/// References are ordered by their numbers. The null reference comes before all other references.
impl<T: ?Sized> Ord for AssetRef<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.raw.cmp(&other.raw)
    }
}

impl<T: ?Sized> PartialOrd for AssetRef<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: ?Sized> std::hash::Hash for AssetRef<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.raw.hash(state);
    }
}

impl<T: ?Sized> fmt::Debug for AssetRef<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number() {
            Some(number) => write!(f, "asset {number}"),
            None => f.write_str("null"),
        }
    }
}

/// Writes a reference to an asset: one bit, then the number in a code that is short for small numbers.
/// Records in the writer that a value refers to the asset. A number from before the
/// [epoch](BitWriter::set_epoch) of the writer is written as null.
#[inline]
pub(crate) fn write_asset(asset: AssetRef<()>, writer: &mut BitWriter) {
    let epoch = Epoch::after(writer.epoch());
    let number = asset.number().and_then(|number| epoch.to_wire(Guid::asset(number))?.asset_number());
    writer.write_bits(number.is_some().into(), 1);
    if let Some(number) = number {
        writer.write_exp_golomb(u64::from(number.get()).saturating_sub(1), NUMBER_ORDER);
        writer.name_asset(number);
    }
}

/// Reads the number of an asset or null that [`write_asset`] wrote.
pub(crate) fn read_number(reader: &mut BitReader<'_>) -> Result<Option<NonZeroU32>, ReadError> {
    if reader.read_bits(1)? == 0 {
        return Ok(None);
    }
    let number = reader.read_exp_golomb(NUMBER_ORDER)?.checked_add(1);
    let number = number.and_then(|number| u32::try_from(number).ok()).and_then(NonZeroU32::new);
    number.map(Some).ok_or(ReadError::OutOfRange)
}

/// Reads a reference to an asset. Returns a null reference if this side does not have the asset.
pub(crate) fn read_asset(
    reader: &mut BitReader<'_>,
    references: &mut ReferenceMap<'_>,
) -> Result<AssetRef<()>, ReadError> {
    let asset = read_number(reader)?.and_then(|number| references.known(Guid::asset(number)));
    Ok(asset.and_then(Guid::asset_number).map_or(AssetRef::NULL, AssetRef::new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::reference::{NoObjects, Objects, read_guid, write_guid};

    /// A test double that has the assets with even numbers.
    struct Even(u32);

    impl Objects for Even {
        fn contains(&self, guid: Guid) -> bool {
            guid.asset_number().is_some_and(|number| number.get() % 2 == 0)
        }

        fn epoch(&self) -> Epoch {
            Epoch::after(self.0)
        }
    }

    fn number(number: u32) -> NonZeroU32 {
        NonZeroU32::new(number).expect("not zero")
    }

    fn written(asset: AssetRef<()>, epoch: u32) -> BitWriter {
        let mut writer = BitWriter::new();
        writer.set_epoch(epoch);
        write_asset(asset, &mut writer);
        writer
    }

    #[test]
    fn r19_a_reference_to_an_asset_is_a_number_and_null_on_a_side_that_lacks_it() {
        for value in [1, 2, 63, 64, 65, 1_000, 65_536, u32::MAX - 1, u32::MAX] {
            let mut writer = written(AssetRef::new(number(value)), 0);
            assert_eq!(writer.named_assets(), [number(value)]);
            let mut references = ReferenceMap::new(&Even(0));
            let read = read_asset(&mut writer.as_slice().reader(), &mut references).expect("readable");
            assert_eq!(read.number(), (value % 2 == 0).then(|| number(value)));
            assert_eq!(references.take_mentioned().collect::<Vec<_>>(), [Guid::asset(number(value))]);
            let mut reader = writer.as_slice().reader();
            assert!(read_asset(&mut reader, &mut ReferenceMap::new(&NoObjects)).expect("readable").is_null());
            assert_eq!(reader.remaining(), 0);
        }
        assert_eq!(written(AssetRef::new(number(64)), 0).bit_len(), 8);
        let null = written(AssetRef::NULL, 0);
        assert_eq!((null.bit_len(), null.named_assets().len()), (1, 0));
    }

    #[test]
    fn r18_a_number_of_an_epoch_is_never_one_of_an_earlier_epoch() {
        let mut writer = written(AssetRef::new(number(42)), 40);
        let mut references = ReferenceMap::new(&Even(40));
        let read = read_asset(&mut writer.as_slice().reader(), &mut references).expect("readable");
        assert_eq!((writer.named_assets(), read.number()), (&[number(2)][..], Some(number(42))));
        assert_eq!(written(AssetRef::new(number(40)), 40).bit_len(), 1, "it is from before the epoch");
        let mut far = written(AssetRef::new(number(u32::MAX)), 0);
        let read = read_asset(&mut far.as_slice().reader(), &mut ReferenceMap::new(&Even(40)));
        assert!(read.expect("readable").is_null(), "no number of the epoch is so great");
    }

    #[test]
    fn r18_a_guid_of_an_asset_is_never_one_of_an_object() {
        let last = Guid::new(7, number(u32::MAX - 1));
        assert_eq!((last.asset_number(), last.next()), (None, None), "the slot is used up");
        assert_eq!(Guid::new(7, number(1)).next(), Some(Guid::new(7, number(2))));
        let mut writer = BitWriter::new();
        write_guid(Some(Guid::asset(number(7))), &mut writer);
        assert_eq!(read_guid(&mut writer.as_slice().reader()), Err(ReadError::OutOfRange));
        assert_eq!(Epoch::after(1).from_wire(last), None);
        assert_eq!(format!("{:?} {last:?}", Guid::asset(number(7))), "asset 7 7v4294967294");
    }
}
