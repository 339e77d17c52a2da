//! The bits that tell a client why an object is removed (S211). They may name a static object by its path
//! (S212).
//!
//! *Invariant:* only a destroyed object is named by its path.
//!
//! A new reason is a variant of [`CloseReason`], whose methods say by a `match` what the reason means, so the
//! compiler names them, and a line of `read_removal`. All four values of its bits are taken: it needs one bit
//! more, and another number than [`DESTROYED_PATH`]. Whatever calls `ObjectStates::close` gives the reason, and
//! `connection/objects/closings` says which of two reasons wins. The table of `docs/wire.md` has the bits.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use repl_core::{BitReader, BitWriter, ReadError};

use crate::body::path::{path_bits, read_path, write_path};

/// The reason why a client no longer receives an object (S211).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseReason {
    /// The object was destroyed. References to the object never become valid again.
    Destroyed = 0,
    /// The object is no longer relevant for this client. References to the object become valid again when the
    /// object becomes relevant again.
    Relevancy = 1,
    /// The server has [torn the object off](crate::ObjectHandle::tear_off), and the client keeps the object.
    /// The event is [`TornOff`](crate::ClientEvent::TornOff), so no
    /// [`Despawned`](crate::ClientEvent::Despawned) has this reason.
    TearOff = 2,
}

impl CloseReason {
    /// Returns whether the client keeps the object.
    pub(crate) const fn keeps_object(self) -> bool {
        match self {
            Self::TearOff => true,
            Self::Destroyed | Self::Relevancy => false,
        }
    }

    /// Returns whether references to the object become valid again when the client receives it again.
    pub(crate) const fn may_return(self) -> bool {
        match self {
            Self::Relevancy => true,
            Self::Destroyed | Self::TearOff => false,
        }
    }

    /// Returns whether the object is gone for everybody, so that its path may be named.
    pub(crate) const fn is_destruction(self) -> bool {
        match self {
            Self::Destroyed => true,
            Self::Relevancy | Self::TearOff => false,
        }
    }
}

/// The number of bits of the reason.
pub(crate) const REASON_BITS: usize = 2;
/// What stands in place of the reason if the path of a destroyed object follows.
const DESTROYED_PATH: u64 = 3;

/// Returns how many bits a removal takes.
pub(crate) fn removal_bits(path: Option<&str>) -> usize {
    REASON_BITS.saturating_add(path.map_or(0, path_bits))
}

/// Writes why an object is removed. If `path` is given, the object was destroyed.
pub(crate) fn write_removal(reason: CloseReason, path: Option<&str>, writer: &mut BitWriter) {
    match path {
        Some(path) => {
            debug_assert!(reason.is_destruction(), "only a destroyed object is named");
            writer.write_bits(DESTROYED_PATH, REASON_BITS as u32);
            write_path(path, writer);
        }
        None => writer.write_bits(reason as u64, REASON_BITS as u32),
    }
}

/// Reads why an object is removed, and its path if it has one.
pub(crate) fn read_removal(reader: &mut BitReader<'_>) -> Result<(CloseReason, Option<String>), ReadError> {
    Ok(match reader.read_bits(REASON_BITS as u32)? {
        0 => (CloseReason::Destroyed, None),
        1 => (CloseReason::Relevancy, None),
        2 => (CloseReason::TearOff, None),
        _ => (CloseReason::Destroyed, Some(read_path(reader)?)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s211_a_removal_is_read_as_it_was_written() {
        use CloseReason::{Destroyed, Relevancy, TearOff};
        for (reason, path) in
            [(Destroyed, None), (Relevancy, None), (TearOff, None), (Destroyed, Some("map/door"))]
        {
            let mut writer = BitWriter::new();
            write_removal(reason, path, &mut writer);
            assert_eq!(writer.bit_len(), removal_bits(path));
            let read = read_removal(&mut BitReader::new(writer.finish()));
            assert_eq!(read, Ok((reason, path.map(str::to_owned))));
        }
    }
}
