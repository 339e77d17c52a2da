//! The handshake: which session it is, whether the client can hold what may come, and whether both sides have the same classes (R21).
//!
//! The client says hello with its limits and one sum over all its classes. If that is the server's, it is welcome. If not, the client lists
//! its classes, and the server answers with the first that differs. The server's answers are a few bytes, or the name of one class.
//!
//! Invariant: nothing here reads or changes objects; no state flows before a welcome.
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Duration;

use repl_core::{BitReader, BitWriter, ReadError};

use crate::classes::{ClassList, LayoutMismatch};
use crate::config::{ClientConfig, ServerConfig};
use crate::packet::{self, PacketKind, Salt, read_end};

/// How large a packet may be at most: one that holds anything, and one that UDP carries.
pub(crate) const MTU_BYTES: RangeInclusive<usize> = 128..=65_507;

/// How long a hello is, if the client's packets may be as long.
pub(crate) const HELLO_BYTES: usize = 1_200;

/// The most classes that a client may list.
const MAX_CLASSES: usize = 4_096;
/// The most packets that it may take for that.
const MAX_PARTS: u64 = 1_024;
/// The longest name of a class in bytes.
const MAX_NAME_BYTES: usize = 128;

/// A packet of the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Client: this session, the sum over my classes, and what I can hold.
    Hello { session: u64, checksum: u64, limits: ClientLimits },
    /// Server: state follows; I give you up after so many milliseconds of silence. The token is to be part of your checksums (R26).
    Welcome { timeout_ms: u32, token: u64 },
    /// Server: our sums differ; which classes have you?
    Differs,
    /// Client: some of my classes.
    Classes { part: u64, parts: u64, entries: Vec<(String, u64)> },
    /// Server: here is where we differ.
    Refused(LayoutMismatch),
    /// Server: you cannot hold what I may send.
    TooSmall(LimitMismatch),
    /// Either: goodbye.
    Disconnect,
    /// Server: this connection is another session's.
    Taken,
}

impl Control {
    /// The packet as bytes, bound to its session (R25). A hello brings its own.
    pub(crate) fn to_packet(&self, session: u64) -> Vec<u8> {
        let mut writer = BitWriter::new();
        packet::begin(PacketKind::Control, &mut writer);
        match self {
            Self::Hello { session, checksum, limits } => {
                writer.write_bits(0, 3);
                writer.write_bits(*session, 64);
                writer.write_bits(*checksum, 64);
                limits.write(&mut writer);
                pad_hello(limits.mtu_bytes(), &mut writer);
            }
            Self::Welcome { timeout_ms, token } => {
                writer.write_bits(1, 3);
                writer.write_bits((*timeout_ms).into(), 32);
                writer.write_bits(*token, 64);
            }
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
            Self::TooSmall(mismatch) => {
                writer.write_bits(6, 3);
                mismatch.write(&mut writer);
            }
            Self::Taken => writer.write_bits(7, 3),
        }
        let salt = if matches!(self, Self::Hello { .. }) { Salt::HELLO } else { Salt::control(session) };
        let mut bytes = Vec::new();
        packet::seal(&mut writer, salt, &mut bytes);
        bytes
    }

    /// Reads what [`to_packet`](Self::to_packet) wrote, from behind the frame.
    pub(crate) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let control = match reader.read_bits(3)? {
            0 => Self::Hello {
                session: reader.read_bits(64)?,
                checksum: reader.read_bits(64)?,
                limits: ClientLimits::read(reader)?,
            },
            1 => Self::Welcome { timeout_ms: read_timeout(reader)?, token: reader.read_bits(64)? },
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
            6 => Self::TooSmall(LimitMismatch::read(reader)?),
            7 => Self::Taken,
            _ => return Err(ReadError::UnknownVariant),
        };
        if matches!(control, Self::Hello { .. }) {
            skip_padding(reader)?;
        }
        read_end(reader)?;
        Ok(control)
    }
}

/// Makes a hello as long as most servers' packets, so that the answer, which may be three times as long, has room for state (R26).
fn pad_hello(mtu_bytes: usize, writer: &mut BitWriter) {
    let bits = mtu_bytes.min(HELLO_BYTES).saturating_mul(8);
    while writer.bit_len() < bits {
        writer.write_bits(0, bits.saturating_sub(writer.bit_len()).min(64) as u32);
    }
}

/// Reads the zeros behind a hello, but for those that fill the last byte.
fn skip_padding(reader: &mut BitReader<'_>) -> Result<(), ReadError> {
    while reader.remaining() >= 8 {
        if reader.read_bits(8)? != 0 {
            return Err(ReadError::OutOfRange);
        }
    }
    Ok(())
}

/// What a client says it can hold. Numbers above 32 bits count as the greatest that those hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientLimits {
    mtu_bytes: u16,
    max_objects: u32,
    max_object_bytes: u32,
    timeout_ms: u32,
}

impl ClientLimits {
    pub(crate) fn of(config: &ClientConfig) -> Self {
        Self {
            mtu_bytes: u16::try_from(config.mtu_bytes).unwrap_or(u16::MAX),
            max_objects: saturate(config.max_objects),
            max_object_bytes: saturate(config.max_object_bytes),
            timeout_ms: timeout_ms(config.timeout),
        }
    }

    /// The largest packet that the client takes and sends.
    pub(crate) fn mtu_bytes(&self) -> usize {
        self.mtu_bytes.into()
    }

    /// How long the client waits for a sign of life.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.into())
    }

    /// The first limit that is below the server's.
    pub(crate) fn first_mismatch(&self, server: &ServerConfig) -> Option<LimitMismatch> {
        let limits = [
            (Limit::PacketBytes, u32::from(self.mtu_bytes), server.mtu_bytes),
            (Limit::Objects, self.max_objects, server.max_objects),
            (Limit::ObjectBytes, self.max_object_bytes, server.max_object_bytes),
        ];
        let mut mismatches = limits.into_iter().map(|(limit, client, server)| LimitMismatch {
            limit,
            client,
            server: saturate(server),
        });
        mismatches.find(|mismatch| mismatch.client < mismatch.server)
    }

    fn write(&self, writer: &mut BitWriter) {
        writer.write_bits(self.mtu_bytes.into(), 16);
        writer.write_bits(self.max_objects.into(), 32);
        writer.write_bits(self.max_object_bytes.into(), 32);
        writer.write_bits(self.timeout_ms.into(), 32);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let limits = Self {
            mtu_bytes: reader.read_bits(16)? as u16,
            max_objects: reader.read_bits(32)? as u32,
            max_object_bytes: reader.read_bits(32)? as u32,
            timeout_ms: read_timeout(reader)?,
        };
        if !MTU_BYTES.contains(&limits.mtu_bytes.into()) {
            return Err(ReadError::OutOfRange);
        }
        Ok(limits)
    }
}

/// A timeout as it is told.
pub(crate) fn timeout_ms(timeout: Duration) -> u32 {
    u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX).max(1)
}

fn read_timeout(reader: &mut BitReader<'_>) -> Result<u32, ReadError> {
    let timeout_ms = reader.read_bits(32)? as u32;
    if timeout_ms == 0 { Err(ReadError::OutOfRange) } else { Ok(timeout_ms) }
}

fn saturate(limit: usize) -> u32 {
    u32::try_from(limit).unwrap_or(u32::MAX)
}

/// Something that a client must be able to hold, because the server may send it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes of a packet: `mtu_bytes`.
    PacketBytes = 0,
    /// Objects at a time: `max_objects`.
    Objects = 1,
    /// Bytes of one object: `max_object_bytes`.
    ObjectBytes = 2,
}

impl Limit {
    /// The name of the field, in [`ClientConfig`] as in [`ServerConfig`].
    #[must_use]
    pub const fn field(self) -> &'static str {
        match self {
            Self::PacketBytes => "mtu_bytes",
            Self::Objects => "max_objects",
            Self::ObjectBytes => "max_object_bytes",
        }
    }
}

/// A limit of a client that is below its server's. Raise it on the client, or lower it on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{field}` is {client} on the client and {server} on the server: set `ClientConfig::{field}` to {server} or more, or \
     `ServerConfig::{field}` to {client} or less",
    field = limit.field()
)]
#[non_exhaustive]
pub struct LimitMismatch {
    /// Which limit it is.
    pub limit: Limit,
    /// What the client can hold.
    pub client: u32,
    /// What the server may send.
    pub server: u32,
}

impl LimitMismatch {
    fn write(&self, writer: &mut BitWriter) {
        writer.write_bits(self.limit as u64, 2);
        writer.write_bits(self.client.into(), 32);
        writer.write_bits(self.server.into(), 32);
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let limit = match reader.read_bits(2)? {
            0 => Limit::PacketBytes,
            1 => Limit::Objects,
            2 => Limit::ObjectBytes,
            _ => return Err(ReadError::UnknownVariant),
        };
        let (client, server) = (reader.read_bits(32)? as u32, reader.read_bits(32)? as u32);
        if client >= server {
            return Err(ReadError::OutOfRange);
        }
        Ok(Self { limit, client, server })
    }
}

fn write_name(name: &str, writer: &mut BitWriter) {
    let mut end = name.len().min(MAX_NAME_BYTES);
    while !name.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    let bytes = name.as_bytes().get(..end).unwrap_or_default();
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
    let mut bytes = 0_usize;
    for entry in classes.entries() {
        let size = entry.0.len().min(MAX_NAME_BYTES).saturating_add(12);
        if bytes.saturating_add(size) > mtu_bytes.saturating_sub(32) && bytes > 0 {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes = bytes.saturating_add(size);
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
