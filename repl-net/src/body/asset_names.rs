//! The message that tells a client the paths of assets, each with the asset's number (S199, S200).
//!
//! *Invariant:* nothing is allocated for a name that is longer than the rest of its message.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::num::NonZeroU32;

use repl_core::{BitReader, BitWriter, NetSerialize, ReadError, ReferenceMap, WriteError};

use repl_link::MessageOptions;

use super::path::{LENGTH_BITS, read_path, write_path};

/// The order of the Exp-Golomb code for the numbers of assets and for the number of names in a message.
const NUMBER_ORDER: u32 = 6;

/// The message options for asset names. They have the greatest weight, because a reference to an asset reads
/// as null until the message with the asset's name arrives.
pub(crate) const NAMES_FIRST: MessageOptions = MessageOptions { weight: u8::MAX, ..MessageOptions::DEFAULT };

/// The greatest number of an asset. A client adds an offset to the numbers of a restarted server, and the sum
/// must fit into 32 bits. Because of this limit, a server cannot use up the 32 bits with one large number.
pub(crate) const MAX_NUMBER: u32 = 0xff_ffff;

/// The number of an asset and its path. The beginning of the path is omitted if it equals the beginning of
/// the path of another asset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AssetName {
    pub(crate) number: NonZeroU32,
    /// An asset that was named before, and the number of bytes at the beginning that both paths have in
    /// common.
    pub(crate) shared: Option<(NonZeroU32, u8)>,
    /// The path without these common bytes, from 1 to 255 bytes.
    pub(crate) rest: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AssetNames(pub(crate) Vec<AssetName>);

impl NetSerialize for AssetNames {
    // The errors of handshakes contain this name, so it names the function that one side did not call.
    const WIRE_NAME: &'static str = "repl::register_assets";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        let Self(names) = self;
        writer.write_exp_golomb(names.len() as u64, NUMBER_ORDER);
        for AssetName { number, shared, rest } in names {
            writer.write_exp_golomb(u64::from(number.get()), NUMBER_ORDER);
            writer.write_exp_golomb(shared.map_or(0, |(of, _)| of.get().into()), NUMBER_ORDER);
            if let Some((_, bytes)) = shared {
                writer.write_bits((*bytes).into(), LENGTH_BITS);
            }
            write_path(rest, writer);
        }
        Ok(())
    }

    fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        let mut names = Vec::new();
        for _ in 0..reader.read_exp_golomb(NUMBER_ORDER)? {
            let number = read_number(reader)?.ok_or(ReadError::OutOfRange)?;
            let shared = match read_number(reader)? {
                Some(of) => Some((of, reader.read_bits(LENGTH_BITS)? as u8)),
                None => None,
            };
            names.push(AssetName { number, shared, rest: read_path(reader)? });
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
        let numbers = (1..=u32::MAX, any::<u32>(), any::<u8>());
        let name = (numbers, "[a-z/ü]{1,40}").prop_map(|((number, of, bytes), rest)| AssetName {
            number: NonZeroU32::new(number).expect("not zero"),
            shared: NonZeroU32::new(of).map(|of| (of, bytes)),
            rest,
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
                // Each name takes at least two numbers, a length and one byte.
                prop_assert!(names.len() * 30 <= bytes.len() * 8);
            }
        }
    }
}
