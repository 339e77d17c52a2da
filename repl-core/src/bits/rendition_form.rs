//! The bits before a value that can be sent as a difference.
//!
//! *Invariant:* the length of a difference is written before it, so a reader without its base can skip it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use super::rendition::{Difference, DifferenceBits, Rendition, Revision};
use super::{BitReader, BitSlice, BitWriter, ReadError, WriteError};

impl DifferenceBits {
    /// Takes what was written, and leaves the writer empty.
    #[must_use]
    pub fn take(writer: &mut BitWriter) -> Self {
        let (len, named_assets) = (writer.bit_len(), writer.named_assets().into());
        writer.forget_named_assets();
        Self { bytes: writer.take_bytes(), len, named_assets }
    }
}

impl Rendition {
    /// Writes a value in this way. `whole` writes it whole.
    pub(crate) fn write(
        &self,
        writer: &mut BitWriter,
        whole: impl FnOnce(&mut BitWriter) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        writer.write_flag(self.keeps.is_some());
        if let Some(revision) = self.keeps {
            writer.write_bits(revision.into(), Revision::BITS);
        }
        writer.write_flag(self.difference.is_some());
        let Some(Difference { base, bits }) = &self.difference else { return whole(writer) };
        writer.write_bits((*base).into(), Revision::BITS);
        writer.write_exp_golomb(bits.len as u64, LENGTH_ORDER);
        writer.append(bits.as_slice());
        bits.named_assets.iter().for_each(|&number| writer.name_asset(number));
        Ok(())
    }

    /// Returns how many bits a difference of this length takes with everything before it.
    #[must_use]
    pub fn difference_bits(len: usize) -> usize {
        let mut writer = BitWriter::new();
        writer.write_exp_golomb(len as u64, LENGTH_ORDER);
        writer.bit_len().saturating_add(Revision::BITS as usize).saturating_add(len)
    }
}

/// The order of the Exp-Golomb code for the length of a difference in bits. Typing a letter takes about 32.
const LENGTH_ORDER: u32 = 5;

/// What stands before a value: whether it is kept as a base, and of which value it is a difference.
pub(crate) struct Head<'b> {
    pub(crate) keeps: Option<Revision>,
    pub(crate) difference: Option<(Revision, BitSlice<'b>)>,
}

impl<'b> Head<'b> {
    pub(crate) fn read(reader: &mut BitReader<'b>) -> Result<Self, ReadError> {
        let keeps = if reader.read_flag()? { Some(read_revision(reader)?) } else { None };
        if !reader.read_flag()? {
            return Ok(Self { keeps, difference: None });
        }
        let base = read_revision(reader)?;
        let len = usize::try_from(reader.read_exp_golomb(LENGTH_ORDER)?).map_err(|_| ReadError::End)?;
        Ok(Self { keeps, difference: Some((base, reader.take(len)?)) })
    }
}

fn read_revision(reader: &mut BitReader<'_>) -> Result<Revision, ReadError> {
    Ok(reader.read_bits(Revision::BITS)? as Revision)
}
