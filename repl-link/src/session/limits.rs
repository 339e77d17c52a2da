//! The limits of a client, which the handshake compares with the limits of the server (R21).
//!
//! *Invariant:* no limit of an accepted client is below the limit of the server, so each client can store
//! everything that the server sends. The only exception is the packet size: the connection uses the smaller
//! size.

use std::time::Duration;

use repl_core::{BitReader, BitWriter, ReadError};

use super::login::packet_bytes_for_login;
use super::terms::{Capacity, ClientTerms};
use crate::frame::packet::{LEAST_PACKET_BYTES, MTU_BYTES};

/// The limits that a client sends in its hello. A limit that does not fit in 32 bits is sent as the greatest
/// number of 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClientLimits {
    mtu_bytes: u16,
    max_objects: u32,
    max_object_bytes: u32,
    timeout_ms: u32,
}

impl ClientLimits {
    pub(crate) fn of(terms: &ClientTerms<'_>) -> Self {
        let Capacity { mtu_bytes, max_objects, max_object_bytes } = terms.capacity;
        Self {
            mtu_bytes: u16::try_from(mtu_bytes).unwrap_or(u16::MAX),
            max_objects: saturate(max_objects),
            max_object_bytes: saturate(max_object_bytes),
            timeout_ms: timeout_ms(terms.timeout),
        }
    }

    /// Returns the largest packet that the client receives.
    pub(crate) fn mtu_bytes(&self) -> usize {
        self.mtu_bytes.into()
    }

    /// Returns how long the client waits before it closes a silent connection.
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.into())
    }

    /// Returns the first limit that is below the server's limit. The packet size may be smaller than the
    /// server's, but packets must have at least 508 bytes and room for the answer to a login.
    pub(super) fn first_mismatch(&self, server: Capacity) -> Option<LimitMismatch> {
        let limits = [
            (Limit::PacketBytes, u32::from(self.mtu_bytes), server.mtu_bytes.min(LEAST_PACKET_BYTES)),
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

    pub(super) fn write(&self, writer: &mut BitWriter) {
        writer.write_bits(self.mtu_bytes.into(), 16);
        writer.write_bits(self.max_objects.into(), 32);
        writer.write_bits(self.max_object_bytes.into(), 32);
        writer.write_bits(self.timeout_ms.into(), 32);
    }

    pub(super) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let limits = Self {
            mtu_bytes: reader.read_bits(16)? as u16,
            max_objects: reader.read_bits(32)? as u32,
            max_object_bytes: reader.read_bits(32)? as u32,
            timeout_ms: read_timeout(reader)?,
        };
        checked_packet_bytes(limits.mtu_bytes)?;
        Ok(limits)
    }
}

/// Writes the size of the largest packet that a side receives.
pub(super) fn write_packet_bytes(bytes: usize, writer: &mut BitWriter) {
    writer.write_bits(bytes as u64, 16);
}

/// Reads what [`write_packet_bytes`] wrote.
pub(super) fn read_packet_bytes(reader: &mut BitReader<'_>) -> Result<usize, ReadError> {
    checked_packet_bytes(reader.read_bits(16)? as u16)
}

/// Checks that a packet size is within the range that a side may be configured with.
fn checked_packet_bytes(bytes: u16) -> Result<usize, ReadError> {
    let bytes = usize::from(bytes);
    if MTU_BYTES.contains(&bytes) { Ok(bytes) } else { Err(ReadError::OutOfRange) }
}

/// The range of the time that a server allows for a step of a handshake.
const LEAST_STEP: Duration = Duration::from_secs(5);
const LONGEST_STEP: Duration = Duration::from_secs(60);

/// Returns how long a client of an endpoint has for one step of its handshake: to send a cookie back, or to
/// show that it has received the welcome. Each step takes a round trip, or several if packets are lost. So
/// the time is the server's timeout, but at least 5 s and at most 60 s. With a longer time, unknown clients
/// could occupy places for hours.
pub(crate) fn step_time(timeout: Duration) -> Duration {
    timeout.clamp(LEAST_STEP, LONGEST_STEP)
}

/// Returns a timeout in milliseconds, at least 1.
pub(super) fn timeout_ms(timeout: Duration) -> u32 {
    u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX).max(1)
}

pub(super) fn read_timeout(reader: &mut BitReader<'_>) -> Result<u32, ReadError> {
    let timeout_ms = reader.read_bits(32)? as u32;
    if timeout_ms == 0 { Err(ReadError::OutOfRange) } else { Ok(timeout_ms) }
}

fn saturate(limit: usize) -> u32 {
    u32::try_from(limit).unwrap_or(u32::MAX)
}

/// A limit that both sides have. The client's limit must be at least the server's limit, because the server
/// may send as much as its own limit allows. The packet size is different: the connection uses the smaller
/// size, so a client's packet size is too small only below 508 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The greatest size of a packet, in the field `mtu_bytes`.
    PacketBytes = 0,
    /// The greatest number of objects at the same time, in the field `max_objects`.
    Objects = 1,
    /// The greatest size of one object, in the field `max_object_bytes`.
    ObjectBytes = 2,
}

impl Limit {
    /// Returns the name of the limit's field. The field has the same name in `ClientConfig` and
    /// `ServerConfig`.
    #[must_use]
    pub const fn field(self) -> &'static str {
        match self {
            Self::PacketBytes => "mtu_bytes",
            Self::Objects => "max_objects",
            Self::ObjectBytes => "max_object_bytes",
        }
    }
}

/// A client's limit that is below the limit of its server. Raise the limit on the client, or lower the limit
/// on the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{field}` is {client} on the client and {server} on the server: set `ClientConfig::{field}` to {server} or more, or \
     `ServerConfig::{field}` to {client} or less",
    field = limit.field()
)]
#[non_exhaustive]
pub struct LimitMismatch {
    /// Which limit is too low.
    pub limit: Limit,
    /// The client's limit.
    pub client: u32,
    /// The server's limit.
    pub server: u32,
}

impl LimitMismatch {
    /// Returns the mismatch for a client whose packets of `packet_bytes` bytes have no room for the answer to
    /// its login.
    pub(super) fn too_small_for_login(packet_bytes: usize, login_bytes: usize) -> Self {
        let server = saturate(packet_bytes_for_login(login_bytes));
        Self { limit: Limit::PacketBytes, client: saturate(packet_bytes), server }
    }

    pub(super) fn write(&self, writer: &mut BitWriter) {
        writer.write_bits(self.limit as u64, 2);
        writer.write_bits(self.client.into(), 32);
        writer.write_bits(self.server.into(), 32);
    }

    pub(super) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
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
