//! Control packets: the messages that begin and end a session.
//!
//! The client says hello with its limits and one checksum over all its classes and their initial values. If
//! the checksum equals the server's, the server welcomes it. If not, the server asks until it knows the first
//! difference (see `inquiry`), and refuses the client with it.
//!
//! *Invariant:* a control packet is bound to its session by its checksum. Only a hello is not: it contains
//! its session (R25).
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )
)]

use repl_core::{BitReader, BitWriter, ReadError};

use super::inquiry::{Part, Question};
use super::limits::{ClientLimits, LimitMismatch, read_timeout};
use super::mismatch::LayoutMismatch;
use crate::transport::packet::{self, MTU_BYTES, PacketKind, Salt, read_end};

/// The size of a hello, unless the client's largest packet is smaller.
pub(crate) const HELLO_BYTES: usize = 1_200;

/// The least size of a client's answer about its classes: the smallest limit that a packet can have.
const ANSWER_BYTES: usize = *MTU_BYTES.start();

/// The content of a control packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// From a client: its session, the checksum of its classes, and its limits.
    Hello { session: u64, checksum: u64, limits: ClientLimits },
    /// From a server: state follows. After `timeout_ms` of silence the server closes the connection. The
    /// client must include the token in its checksums (R26).
    Welcome { timeout_ms: u32, token: u64 },
    /// From a server: the checksums differ, answer this question.
    Differs(Question),
    /// From a client: a part of the answer.
    Classes(Part),
    /// From a server: the first difference. The session ends.
    Refused(LayoutMismatch),
    /// From a server: the client's limits are below the server's. The session ends.
    TooSmall(LimitMismatch),
    /// From either side: the session ends.
    Disconnect,
    /// From a server: this connection belongs to another session.
    Taken,
}

impl Control {
    /// The packet as bytes, bound to its session (R25). A hello contains its session instead.
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

    /// Reads what [`to_packet`](Self::to_packet) wrote. The reader is behind the frame.
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

/// Pads a packet to this size. The server may send three times as much back, so it has room for state or a
/// refusal (R26).
fn pad(bytes: usize, writer: &mut BitWriter) {
    let bits = bytes.saturating_mul(8);
    while writer.bit_len() < bits {
        writer.write_bits(0, bits.saturating_sub(writer.bit_len()).min(64) as u32);
    }
}

/// Skips the zeros behind a hello or an answer, except those that fill the last byte.
fn skip_padding(reader: &mut BitReader<'_>) -> Result<(), ReadError> {
    while reader.remaining() >= 8 {
        if reader.read_bits(8)? != 0 {
            return Err(ReadError::OutOfRange);
        }
    }
    Ok(())
}
