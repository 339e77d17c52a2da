//! How a value is written that can be sent as a difference: whole, or as a difference to an earlier value that
//! the reader has kept.
//!
//! *Invariant:* the length of a difference is written before it, so a reader without its base can skip it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::sync::Arc;

use super::{BitReader, BitSlice, BitWriter, ReadError, WriteError};

/// The number of a value of one property of an object, which counts its changes.
pub type Revision = u16;

/// How the next value of a property with differences is written for a connection.
#[derive(Clone, Debug, Default)]
pub struct Rendition {
    /// The revision of the value, if the client is to keep the value as a base.
    pub keeps: Option<Revision>,
    /// The difference that is sent. The value is sent whole without it.
    pub difference: Option<Difference>,
}

/// A difference that was written.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The revision of the value to which it was made.
    pub base: Revision,
    /// The bits of the difference, which connections share.
    pub bits: Arc<DifferenceBits>,
}

/// The bits of a difference, which is written once for all connections with the same base.
#[derive(Debug, Default)]
pub struct DifferenceBits {
    bytes: Vec<u8>,
    len: usize,
}

impl DifferenceBits {
    /// Takes what was written, and leaves the writer empty.
    #[must_use]
    pub fn take(writer: &mut BitWriter) -> Self {
        let len = writer.bit_len();
        Self { bytes: writer.take_bytes(), len }
    }

    /// Returns the bits.
    #[must_use]
    pub fn as_slice(&self) -> BitSlice<'_> {
        BitSlice::new(&self.bytes, 0, self.len).unwrap_or_default()
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
