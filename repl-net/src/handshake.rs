//! The handshake: which session it is, and whether both sides have the same classes (R21).
//!
//! The client says hello with one sum over all its classes. If that is the server's, it is welcome. If not, the client lists its
//! classes, and the server answers with the first that differs. The server's answers are a few bytes, or the name of one class.
//!
//! Invariant: nothing here reads or changes objects; no state flows before a welcome.

use std::collections::BTreeMap;

use repl_core::{BitReader, BitWriter, ReadError};

use crate::classes::{ClassList, LayoutMismatch};
use crate::packet::{self, PacketKind, read_end};

/// The most classes that a client may list.
const MAX_CLASSES: usize = 4_096;
/// The most packets that it may take for that.
const MAX_PARTS: u64 = 1_024;
/// The longest name of a class in bytes.
const MAX_NAME_BYTES: usize = 128;

/// A packet of the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Client: this session, and the sum over my classes.
    Hello { session: u64, checksum: u64 },
    /// Server: state follows.
    Welcome,
    /// Server: our sums differ; which classes have you?
    Differs,
    /// Client: some of my classes.
    Classes { part: u64, parts: u64, entries: Vec<(String, u64)> },
    /// Server: here is where we differ.
    Refused(LayoutMismatch),
    /// Either: goodbye.
    Disconnect,
}

impl Control {
    /// The packet as bytes.
    pub(crate) fn to_packet(&self) -> Vec<u8> {
        let mut writer = BitWriter::new();
        packet::begin(PacketKind::Control, &mut writer);
        match self {
            Self::Hello { session, checksum } => {
                writer.write_bits(0, 3);
                writer.write_bits(*session, 64);
                writer.write_bits(*checksum, 64);
            }
            Self::Welcome => writer.write_bits(1, 3),
            Self::Differs => writer.write_bits(2, 3),
            Self::Classes { part, parts, entries } => {
                writer.write_bits(3, 3);
                writer.write_exp_golomb(*part, 0);
                writer.write_exp_golomb(*parts, 0);
                for (name, checksum) in entries {
                    writer.write_flag(true);
                    write_name(name, &mut writer);
                    writer.write_bits(*checksum, 64);
                }
                writer.write_flag(false);
            }
            Self::Refused(mismatch) => {
                writer.write_bits(4, 3);
                let (tag, name) = match mismatch {
                    LayoutMismatch::Different { name } => (0, name),
                    LayoutMismatch::OnlyServer { name } => (1, name),
                    LayoutMismatch::OnlyClient { name } => (2, name),
                };
                writer.write_bits(tag, 2);
                write_name(name, &mut writer);
            }
            Self::Disconnect => writer.write_bits(5, 3),
        }
        let mut bytes = Vec::new();
        packet::seal(&mut writer, 0, &mut bytes);
        bytes
    }

    /// Reads what [`to_packet`](Self::to_packet) wrote, from behind the frame.
    pub(crate) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let control = match reader.read_bits(3)? {
            0 => Self::Hello { session: reader.read_bits(64)?, checksum: reader.read_bits(64)? },
            1 => Self::Welcome,
            2 => Self::Differs,
            3 => {
                let (part, parts) = (reader.read_exp_golomb(0)?, reader.read_exp_golomb(0)?);
                if part >= parts || parts > MAX_PARTS {
                    return Err(ReadError::OutOfRange);
                }
                let mut entries = Vec::new();
                while reader.read_flag()? {
                    entries.push((read_name(reader)?, reader.read_bits(64)?));
                }
                Self::Classes { part, parts, entries }
            }
            4 => {
                let tag = reader.read_bits(2)?;
                let name = read_name(reader)?;
                Self::Refused(match tag {
                    0 => LayoutMismatch::Different { name },
                    1 => LayoutMismatch::OnlyServer { name },
                    2 => LayoutMismatch::OnlyClient { name },
                    _ => return Err(ReadError::UnknownVariant),
                })
            }
            5 => Self::Disconnect,
            _ => return Err(ReadError::UnknownVariant),
        };
        read_end(reader)?;
        Ok(control)
    }
}

fn write_name(name: &str, writer: &mut BitWriter) {
    let mut end = name.len().min(MAX_NAME_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let bytes = &name.as_bytes()[..end];
    writer.write_exp_golomb(bytes.len() as u64, 4);
    bytes.iter().for_each(|&byte| writer.write_bits(byte.into(), 8));
}

fn read_name(reader: &mut BitReader<'_>) -> Result<String, ReadError> {
    let len = reader.read_exp_golomb(4)?;
    let max = (MAX_NAME_BYTES as u64).min(reader.remaining() as u64 / 8);
    if len > max {
        return Err(ReadError::TooLong { len: len.try_into().unwrap_or(usize::MAX), max: max as usize });
    }
    let mut bytes = Vec::with_capacity(len as usize);
    for _ in 0..len {
        bytes.push(reader.read_bits(8)? as u8);
    }
    String::from_utf8(bytes).map_err(|_| ReadError::InvalidUtf8)
}

/// A client's classes in packets of at most `mtu_bytes`.
pub(crate) fn list_classes(classes: &ClassList, mtu_bytes: usize) -> Vec<Control> {
    let mut parts: Vec<Vec<(String, u64)>> = vec![Vec::new()];
    let mut bytes = 0;
    for entry in classes.entries() {
        let size = entry.0.len().min(MAX_NAME_BYTES) + 12;
        if bytes + size > mtu_bytes - 32 && bytes > 0 {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes += size;
        if let Some(part) = parts.last_mut() {
            part.push(entry.clone());
        }
    }
    let count = parts.len() as u64;
    (0..).zip(parts).map(|(part, entries)| Control::Classes { part, parts: count, entries }).collect()
}

/// A client's list while it arrives.
#[derive(Debug, Default)]
pub(crate) struct ClassListing {
    parts: BTreeMap<u64, Vec<(String, u64)>>,
    classes: usize,
}

impl ClassListing {
    /// Takes a part; gives the list once all are there.
    pub(crate) fn take(
        &mut self,
        part: u64,
        parts: u64,
        entries: Vec<(String, u64)>,
    ) -> Result<Option<ClassList>, ReadError> {
        if !self.parts.contains_key(&part) {
            self.classes = self.classes.saturating_add(entries.len());
            if self.classes > MAX_CLASSES {
                return Err(ReadError::TooLong { len: self.classes, max: MAX_CLASSES });
            }
            self.parts.insert(part, entries);
        }
        if (self.parts.len() as u64) < parts {
            return Ok(None);
        }
        Ok(Some(ClassList::received(std::mem::take(&mut self.parts).into_values().flatten().collect())))
    }
}
