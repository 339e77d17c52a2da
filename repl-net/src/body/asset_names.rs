//! The message that tells a client which paths the numbers of assets stand for (S199, S200).
//!
//! *Invariant:* nothing is allocated for a name that is longer than the rest of its message.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::num::NonZeroU32;

use repl_core::{BitReader, BitWriter, NetSerialize, ReadError, ReferenceMap, WriteError};

use repl_link::MessageOptions;

use super::path::{read_path, write_path};

/// The order of the Exp-Golomb code for numbers of assets, and for how many names there are.
const NUMBER_ORDER: u32 = 6;

/// The limits of the messages with names. They have the greatest weight, because references read as null
/// without them.
pub(crate) const NAMES_FIRST: MessageOptions = MessageOptions { weight: u8::MAX, ..MessageOptions::DEFAULT };

/// The greatest number of an asset. Numbers are far below those of the epochs of a client, so a server cannot use them
/// up with one name.
pub(crate) const MAX_NUMBER: u32 = (1 << 24) - 1;

/// The number of an asset with its name. The path of an asset is the path of its outer asset, and then its
/// name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AssetName {
    pub(crate) number: NonZeroU32,
    /// The asset in which this one is, whose name was sent before.
    pub(crate) outer: Option<NonZeroU32>,
    /// From 1 to 255 bytes.
    pub(crate) name: String,
}

/// Names of assets, outer assets first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AssetNames(pub(crate) Vec<AssetName>);

impl NetSerialize for AssetNames {
    const WIRE_NAME: &'static str = "repl::AssetNames";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        let Self(names) = self;
        writer.write_exp_golomb(names.len() as u64, NUMBER_ORDER);
        for AssetName { number, outer, name } in names {
            writer.write_exp_golomb(u64::from(number.get()), NUMBER_ORDER);
            writer.write_exp_golomb(outer.map_or(0, |outer| outer.get().into()), NUMBER_ORDER);
            write_path(name, writer);
        }
        Ok(())
    }

    fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        let mut names = Vec::new();
        for _ in 0..reader.read_exp_golomb(NUMBER_ORDER)? {
            let number = read_number(reader)?.ok_or(ReadError::OutOfRange)?;
            let outer = read_number(reader)?;
            names.push(AssetName { number, outer, name: read_path(reader)? });
        }
        Ok(Self(names))
    }
}

fn read_number(reader: &mut BitReader<'_>) -> Result<Option<NonZeroU32>, ReadError> {
    let number = u32::try_from(reader.read_exp_golomb(NUMBER_ORDER)?);
    Ok(NonZeroU32::new(number.map_err(|_| ReadError::OutOfRange)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use repl_core::NoObjects;

    use super::*;

    fn read(bytes: &[u8]) -> Result<AssetNames, ReadError> {
        AssetNames::read(&mut BitReader::new(bytes), &mut ReferenceMap::new(&NoObjects))
    }

    fn names() -> impl Strategy<Value = AssetNames> {
        let name =
            (1..=u32::MAX, any::<u32>(), "[a-z/ü]{1,40}").prop_map(|(number, outer, name)| AssetName {
                number: NonZeroU32::new(number).expect("not zero"),
                outer: NonZeroU32::new(outer),
                name,
            });
        prop::collection::vec(name, 0..20).prop_map(AssetNames)
    }

    proptest! {
        #[test]
        fn s199_names_are_read_as_they_were_written(names in names()) {
            let mut writer = BitWriter::new();
            prop_assert_eq!(names.write(&mut writer), Ok(()));
            prop_assert_eq!(read(writer.finish()), Ok(names));
        }

        #[test]
        fn s199_any_bytes_are_names_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(AssetNames(names)) = read(&bytes) {
                // Each name takes at least two numbers, a length and a byte.
                prop_assert!(names.len() * 30 <= bytes.len() * 8);
            }
        }
    }
}
