//! The bits that tell a client that an object is removed, and why (S211). They may contain the path of a
//! static object (S212). They may also contain the last state of the object: the changes that were made
//! before its removal.
//!
//! *Invariant:* only the removal of a destroyed object contains its path.
//!
//! To add a new reason, add a variant to [`CloseReason`] and a line to [`ReadRemoval::read`]. The compiler
//! then shows each `match` in the methods of `CloseReason` that must handle the variant. All four values of
//! the reason bits are used, so a new reason needs one more bit after one of them, as
//! [`OutOfSight`](CloseReason::OutOfSight) does.
//! Callers of `ObjectStates::close` pass the reason, and `connection/objects/closings` decides which of two
//! reasons wins. The table of `docs/wire.md` lists the bits.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use repl_core::{BitReader, BitSlice, BitWriter, ReadError};

use crate::body::path::{path_bits, read_path, write_path};

/// The reason why a client no longer receives an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// The object was destroyed. References to the object never become valid again.
    Destroyed = 0,
    /// The object is no longer relevant for this client. References to the object become valid again when the
    /// object becomes relevant again.
    Relevancy = 1,
    /// The server has [torn the object off](crate::ObjectHandle::tear_off), and the client keeps the object.
    /// The update for this is [`TornOff`](crate::UpdateKind::TornOff), so no
    /// [`Despawned`](crate::UpdateKind::Despawned) has this reason.
    TearOff = 2,
    /// The object is out of sight, and the client [keeps](crate::OutOfSight) its last values. The update for
    /// this is [`OutOfSight`](crate::UpdateKind::OutOfSight), so no
    /// [`Despawned`](crate::UpdateKind::Despawned) has this reason.
    OutOfSight = 3,
}

impl CloseReason {
    /// Returns whether the client keeps the object.
    pub(crate) const fn keeps_object(self) -> bool {
        match self {
            Self::TearOff | Self::OutOfSight => true,
            Self::Destroyed | Self::Relevancy => false,
        }
    }

    /// Returns whether references to the object become valid again when the client receives it again.
    pub(crate) const fn may_return(self) -> bool {
        match self {
            Self::Relevancy | Self::OutOfSight => true,
            Self::Destroyed | Self::TearOff => false,
        }
    }

    /// Returns whether the object no longer exists on the server. Only then may the removal contain its path.
    pub(crate) const fn is_destruction(self) -> bool {
        match self {
            Self::Destroyed => true,
            Self::Relevancy | Self::TearOff | Self::OutOfSight => false,
        }
    }

    fn write(self, writer: &mut BitWriter) {
        match self {
            Self::Destroyed | Self::TearOff => writer.write_bits(self as u64, REASON_BITS as u32),
            Self::Relevancy | Self::OutOfSight => {
                writer.write_bits(Self::Relevancy as u64, REASON_BITS as u32);
                writer.write_flag(self == Self::OutOfSight);
            }
        }
    }
}

/// The number of bits of the reason. After the value of [`CloseReason::Relevancy`], a flag says whether the
/// client keeps the object.
pub(crate) const REASON_BITS: usize = 2;
/// The value that is written instead of the reason [`CloseReason::Destroyed`] if the path of the object
/// follows.
const DESTROYED_PATH: u64 = 3;

/// The order of the Exp-Golomb code for the number of bits of a last state.
const LAST_STATE_ORDER: u32 = 6;

/// The removal of an object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Removal<'a> {
    pub(crate) reason: CloseReason,
    /// The path of a destroyed static object, if the client may not know it.
    pub(crate) path: Option<&'a str>,
    /// The encoded handles and values of the last state, if the removal contains one.
    pub(crate) last_state: Option<BitSlice<'a>>,
}

impl Removal<'_> {
    pub(crate) fn bits(&self) -> usize {
        // The Exp-Golomb code of a number below 2³² takes at most 64 bits.
        let last_state = self.last_state.map_or(0, |state| state.len().saturating_add(64));
        let path = self.path.map_or(0, path_bits);
        REASON_BITS.saturating_add(2).saturating_add(path).saturating_add(last_state)
    }

    pub(crate) fn write(&self, writer: &mut BitWriter) {
        match self.path {
            Some(path) => {
                debug_assert!(self.reason.is_destruction(), "only a destroyed object is named");
                writer.write_bits(DESTROYED_PATH, REASON_BITS as u32);
                write_path(path, writer);
            }
            None => self.reason.write(writer),
        }
        writer.write_flag(self.last_state.is_some());
        if let Some(state) = self.last_state {
            writer.write_exp_golomb(state.len() as u64, LAST_STATE_ORDER);
            writer.append(state);
        }
    }
}

/// The removal of an object, as a client reads it. In the packet, the bits of the last state follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReadRemoval {
    pub(crate) reason: CloseReason,
    pub(crate) path: Option<String>,
    /// The number of bits of the last state, if there is one. The packet has at least this many remaining
    /// bits.
    pub(crate) last_state_bits: Option<usize>,
}

impl ReadRemoval {
    /// Reads a removal up to the last state.
    pub(crate) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let (reason, path) = match reader.read_bits(REASON_BITS as u32)? {
            0 => (CloseReason::Destroyed, None),
            1 if reader.read_flag()? => (CloseReason::OutOfSight, None),
            1 => (CloseReason::Relevancy, None),
            2 => (CloseReason::TearOff, None),
            _ => (CloseReason::Destroyed, Some(read_path(reader)?)),
        };
        let last_state_bits = if reader.read_flag()? {
            let bits = usize::try_from(reader.read_exp_golomb(LAST_STATE_ORDER)?);
            Some(bits.ok().filter(|&bits| bits <= reader.remaining()).ok_or(ReadError::OutOfRange)?)
        } else {
            None
        };
        Ok(Self { reason, path, last_state_bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s211_a_removal_is_read_as_it_was_written() {
        use CloseReason::{Destroyed, OutOfSight, Relevancy, TearOff};
        let state = [0xa5, 0x5a, 0x07];
        let reasons = [Destroyed, Relevancy, TearOff, OutOfSight].map(|reason| (reason, None));
        for (reason, path) in reasons.into_iter().chain([(Destroyed, Some("map/door"))]) {
            for last_state in [None, BitSlice::new(&state, 0, 19)] {
                let mut writer = BitWriter::new();
                let removal = Removal { reason, path, last_state };
                removal.write(&mut writer);
                assert!(writer.bit_len() <= removal.bits());
                let bytes = writer.finish();
                let mut reader = BitReader::new(bytes);
                let last_state_bits = last_state.map(|state| state.len());
                let expected = ReadRemoval { reason, path: path.map(str::to_owned), last_state_bits };
                assert_eq!(ReadRemoval::read(&mut reader), Ok(expected));
                if last_state.is_some() {
                    assert_eq!(reader.read_bits(19), Ok(0x07_5aa5));
                }
            }
        }
    }

    #[test]
    fn a_last_state_that_is_longer_than_the_packet_is_malformed() {
        let mut writer = BitWriter::new();
        writer.write_bits(0, REASON_BITS as u32);
        writer.write_flag(true);
        writer.write_exp_golomb(u64::from(u32::MAX), LAST_STATE_ORDER);
        let bytes = writer.finish();
        assert_eq!(ReadRemoval::read(&mut BitReader::new(bytes)), Err(ReadError::OutOfRange));
    }
}
