//! The handshake: which session it is, whether the client can hold what may come, and whether both sides have the same classes (R21).
//!
//! The client says hello with its limits and one sum over all its classes and what their objects begin with. If that is
//! the server's, it is welcome. If not, the server asks until it knows the first difference (see `inquiry`), and says it.
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

use std::ops::RangeInclusive;
use std::time::Duration;

use repl_core::{BitReader, BitWriter, ReadError};

use crate::config::{ClientConfig, ServerConfig};
use crate::inquiry::{Part, Question};
use crate::mismatch::LayoutMismatch;
use crate::packet::{self, PacketKind, Salt, read_end};

/// How large a packet may be at most: one that holds anything, and one that UDP carries.
pub(crate) const MTU_BYTES: RangeInclusive<usize> = 128..=65_507;

/// How long a hello is, if the client's packets may be as long.
pub(crate) const HELLO_BYTES: usize = 1_200;

/// How long a client's answer on its classes is at least: what every packet may be.
const ANSWER_BYTES: usize = *MTU_BYTES.start();

/// A packet of the handshake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Client: this session, the sum over my classes, and what I can hold.
    Hello { session: u64, checksum: u64, limits: ClientLimits },
    /// Server: state follows; I give you up after so many milliseconds of silence. The token is to be part of your checksums (R26).
    Welcome { timeout_ms: u32, token: u64 },
    /// Server: our sums differ; tell me more.
    Differs(Question),
    /// Client: a part of the answer.
    Classes(Part),
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
                pad(limits.mtu_bytes().min(HELLO_BYTES), &mut writer);
            }
            Self::Welcome { timeout_ms, token } => {
                writer.write_bits(1, 3);
                writer.write_bits((*timeout_ms).into(), 32);
                writer.write_bits(*token, 64);
            }
            Self::Differs(question) => {
                writer.write_bits(2, 3);
                question.write(&mut writer);
            }
            Self::Classes(part) => {
                writer.write_bits(3, 3);
                part.write(&mut writer);
                pad(ANSWER_BYTES, &mut writer);
            }
            Self::Refused(mismatch) => {
                writer.write_bits(4, 3);
                mismatch.write(&mut writer);
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
            2 => Self::Differs(Question::read(reader)?),
            3 => Self::Classes(Part::read(reader)?),
            4 => Self::Refused(LayoutMismatch::read(reader)?),
            5 => Self::Disconnect,
            6 => Self::TooSmall(LimitMismatch::read(reader)?),
            7 => Self::Taken,
            _ => return Err(ReadError::UnknownVariant),
        };
        if matches!(control, Self::Hello { .. } | Self::Classes(_)) {
            skip_padding(reader)?;
        }
        read_end(reader)?;
        Ok(control)
    }
}

/// Makes a packet that long, so that the answer, which may be three times as long, has room for state or a refusal (R26).
fn pad(bytes: usize, writer: &mut BitWriter) {
    let bits = bytes.saturating_mul(8);
    while writer.bit_len() < bits {
        writer.write_bits(0, bits.saturating_sub(writer.bit_len()).min(64) as u32);
    }
}

/// Reads the zeros behind a hello or an answer, but for those that fill the last byte.
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
