//! Control packets: the messages that begin and end a session.
//!
//! The client sends a hello with its limits and one checksum of all its classes and their initial values. If
//! the checksum equals the server's, the server welcomes the client. If the checksums differ, the server asks
//! the client about its classes until the first difference is known (see `inquiry`), and refuses the client
//! with this difference.
//!
//! *Invariant:* the checksum of a control packet includes the session, so the packet is valid in this session
//! only. Only the hello's checksum does not include the session, because the hello itself contains the number
//! of the session (R25).

use repl_core::{BitReader, BitWriter, ReadError};

use super::inquiry::{Part, Question};
use super::limits::{ClientLimits, LimitMismatch, read_timeout};
use super::mismatch::LayoutMismatch;
use crate::transport::packet::{self, MTU_BYTES, PacketKind, Salt, read_end};

/// The size of a hello in bytes, unless the client's largest packet is smaller.
pub(crate) const HELLO_BYTES: usize = 1_200;

/// The smallest size of a client's answer about its classes. This size is also the smallest value that a
/// packet limit can have.
const ANSWER_BYTES: usize = *MTU_BYTES.start();

/// The content of a control packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// A client begins a session: its number, the checksum of the client's classes, and the client's limits.
    Hello { session: u64, checksum: u64, limits: ClientLimits },
    /// A server accepts a client. Packets of state follow. After `timeout_ms` of silence the server closes
    /// the connection. The client must include the token in the checksums of its packets (R26).
    Welcome { timeout_ms: u32, token: u64 },
    /// A server asks a question about the client's classes, because the checksums differ.
    Differs(Question),
    /// A client sends a part of its answer to the server's question.
    Classes(Part),
    /// A server refuses a client because of the first difference between their classes, and the session ends.
    Refused(LayoutMismatch),
    /// A server refuses a client because the client's limits are below the server's, and the session ends.
    TooSmall(LimitMismatch),
    /// One side ends the session.
    Disconnect,
    /// A server answers that the connection belongs to another session.
    Taken,
}

impl Control {
    /// Returns the packet as bytes. The checksum of the packet includes the session (R25), except for a
    /// hello, which contains the session instead.
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

    /// Reads a packet that [`to_packet`](Self::to_packet) wrote. Afterwards the reader is at the first bit
    /// after the packet's frame.
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

/// Pads a packet to `bytes`. The server may send three times as many bytes back, so a padded packet gives the
/// server room for state or a refusal (R26).
fn pad(bytes: usize, writer: &mut BitWriter) {
    let bits = bytes.saturating_mul(8);
    while writer.bit_len() < bits {
        writer.write_bits(0, bits.saturating_sub(writer.bit_len()).min(64) as u32);
    }
}

/// Skips the zero bytes that pad a hello or an answer. The zero bits that fill the last byte are not skipped.
fn skip_padding(reader: &mut BitReader<'_>) -> Result<(), ReadError> {
    while reader.remaining() >= 8 {
        if reader.read_bits(8)? != 0 {
            return Err(ReadError::OutOfRange);
        }
    }
    Ok(())
}
