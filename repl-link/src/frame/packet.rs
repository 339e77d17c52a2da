//! The frame of a packet: its checksum and its kind.
//!
//! *Invariant:* no content of a packet is used before the packet's checksum was checked (R20).
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::ops::RangeInclusive;

use repl_core::{BitReader, BitSlice, BitWriter, ReadError};

use crate::frame::sequence::Sequence;

/// The range of packet sizes, in bytes, that a side may be configured with. The smallest size has room for
/// any small update. The greatest size is the limit of UDP.
pub const MTU_BYTES: RangeInclusive<usize> = 128..=65_507;

/// The packet size in bytes that every connection must support, unless its server is configured with a
/// smaller size. Each host of the internet receives 576 bytes (RFC 791). After the longest IPv4 header (60
/// bytes) and the UDP header (8 bytes), 508 of these bytes remain.
pub(crate) const LEAST_PACKET_BYTES: usize = 508;

/// The size of the checksum at the start of each packet.
pub(crate) const CHECKSUM_BYTES: usize = 4;

/// The name of the protocol and its version. The version is part of every checksum, so packets of other
/// protocols count as damaged.
const PROTOCOL: u32 = u32::from_le_bytes(*b"rpl5");

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketKind {
    /// A packet with state or acks, or with neither (a keep-alive).
    State,
    /// A packet of the handshake, or a packet that ends a connection.
    Control,
}

/// Data that a packet does not contain, but that its checksum covers: its session and the upper bits of its
/// number. So a packet of another session counts as damaged (R25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Salt {
    session: u64,
    /// The upper bits of the packet's number, which the packet does not contain.
    wraps: u64,
}

impl Salt {
    /// The salt of a hello, the first packet of a handshake. A hello itself contains its session.
    pub(crate) const HELLO: Self = Self { session: 0, wraps: u64::MAX };

    /// Returns the salt of a control packet of a session.
    pub(crate) const fn control(session: u64) -> Self {
        Self { session, wraps: 0 }
    }

    /// Returns the salt of the packet of state with this number.
    pub(crate) const fn state(session: u64, sequence: Sequence) -> Self {
        Self { session, wraps: sequence.wraps() }
    }

    /// Returns the checksum of the salt. The computation of the checksum of a packet begins with the checksum
    /// of the salt.
    pub(crate) fn seed(self) -> u32 {
        let mut hasher = crc32fast::Hasher::new_with_initial(PROTOCOL);
        hasher.update(&self.session.to_le_bytes());
        hasher.update(&self.wraps.to_le_bytes());
        hasher.finalize()
    }
}

/// A cache of the last seed of a checksum, because 65,536 consecutive packets of state have the same seed.
#[derive(Debug, Default)]
pub(crate) struct LastSeed(Option<(Salt, u32)>);

impl LastSeed {
    /// Returns the seed of a salt. The seed is computed again only if the salt differs from the last salt.
    pub(crate) fn of(&mut self, salt: Salt) -> u32 {
        match self.0 {
            Some((last, seed)) if last == salt => seed,
            _ => self.0.insert((salt, salt.seed())).1,
        }
    }
}

/// The keys that the checksums of one side's packets include, so that packets of another connection count as
/// damaged (R25).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    pub session: u64,
    /// The token of the connection. Zero before the welcome.
    pub token: u64,
    /// The value that is combined with the session by XOR to the key of packets of state.
    pub of_state: u64,
    /// Whether the transport encrypts and authenticates the packets, so that packets of state have no
    /// checksum.
    pub is_sealed: bool,
}

impl Keys {
    /// Returns the key of a packet that ends the session, once both sides know the token.
    pub(crate) const fn closing(self) -> u64 {
        self.session ^ self.token
    }

    /// Returns the key of packets of state.
    pub(crate) const fn state(self) -> u64 {
        self.session ^ self.of_state
    }
}

/// A packet with a correct checksum, and a reader at the first bit of its content.
#[derive(Debug)]
pub(crate) enum Opened<'a> {
    /// A control packet whose checksum includes only the session. Everyone who knows the number of the
    /// session can make such a packet.
    Control(BitReader<'a>),
    /// A control packet whose checksum also includes the token. Only the other side of the connection can
    /// make such a packet.
    Sealed(BitReader<'a>),
    /// A packet of state with this number.
    State(Sequence, BitReader<'a>),
}

/// Begins a packet, with room for the checksum at its start.
pub(crate) fn begin(kind: PacketKind, writer: &mut BitWriter) {
    writer.clear();
    writer.write_bits(0, (CHECKSUM_BYTES as u32).saturating_mul(8));
    writer.write_bits((kind == PacketKind::Control).into(), 1);
}

/// Completes a packet: computes its checksum, and returns all its bytes. The last byte of the packet is
/// filled up with zeros.
pub(crate) fn seal(writer: BitWriter, salt: Salt) -> Vec<u8> {
    let mut bytes = writer.into_bytes();
    store_checksum(&mut bytes, salt.seed());
    bytes
}

/// Does the same as [`seal`], but appends the bytes to `into`, and has the checksum's seed as its argument
/// instead of the salt. Without a seed, there are zeros in place of the checksum.
pub(crate) fn seal_into(writer: &mut BitWriter, seed: Option<u32>, into: &mut Vec<u8>) {
    let start = into.len();
    into.extend_from_slice(writer.finish());
    if let Some((packet, seed)) = into.get_mut(start..).zip(seed) {
        store_checksum(packet, seed);
    }
}

/// Computes the checksum of a packet and stores it in the packet.
fn store_checksum(packet: &mut [u8], seed: u32) {
    if let Some((head, content)) = packet.split_at_mut_checked(CHECKSUM_BYTES) {
        head.copy_from_slice(&checksum(content, seed).to_le_bytes());
    }
}

/// Returns whether the bytes are marked as a packet of state. Does not check the checksum.
pub(crate) fn is_state(bytes: &[u8]) -> bool {
    bytes.get(CHECKSUM_BYTES).is_some_and(|first| first & 1 == 0)
}

/// Returns a reader of a packet of state that this side has made. The reader is at the packet's number.
/// Returns `None` for packets of other kinds.
pub(crate) fn content_of_state(bytes: &[u8]) -> Option<BitReader<'_>> {
    let (_, _, mut reader) = split(bytes)?;
    (!reader.read_flag().ok()?).then_some(reader)
}

/// Checks a packet of a session and reads its kind and number. Returns `None` if the checksum is wrong.
///
/// `newest` is the newest packet of state that has arrived so far. A packet contains only the lower 16 bits
/// of its number, so the reader guesses the upper bits from `newest`. If a packet is more than 32,767 numbers
/// away from `newest`, the guess is wrong, so its checksum does not match. `seed` stores the last seed of a
/// checksum, for the next packet.
pub(crate) fn open<'a>(
    bytes: &'a [u8],
    keys: Keys,
    newest: Sequence,
    seed: &mut LastSeed,
) -> Option<Opened<'a>> {
    let (sum, content, mut reader) = split(bytes)?;
    let has_salt = |session| sum == checksum(content, Salt::control(session).seed());
    if !reader.read_flag().ok()? {
        let sequence = Sequence::from_wire(reader.read_bits(16).ok()? as u16, newest);
        let mut is_whole = || sum == checksum(content, seed.of(Salt::state(keys.state(), sequence)));
        return (keys.is_sealed || is_whole()).then_some(Opened::State(sequence, reader));
    }
    if has_salt(keys.session) {
        return Some(Opened::Control(reader));
    }
    (keys.token != 0 && has_salt(keys.closing())).then_some(Opened::Sealed(reader))
}

/// Checks whether the bytes are a hello, the first packet of a handshake, of any session. Returns a reader
/// that is at the type of the packet. Returns `None` for any other bytes.
pub(crate) fn open_hello(bytes: &[u8]) -> Option<BitReader<'_>> {
    let (sum, content, mut reader) = split(bytes)?;
    let is_control = reader.read_flag().ok()?;
    (is_control && sum == checksum(content, Salt::HELLO.seed())).then_some(reader)
}

/// Returns the checksum of a packet, the content that it covers, and a reader of this content.
fn split(bytes: &[u8]) -> Option<(u32, &[u8], BitReader<'_>)> {
    let (sum, content) = bytes.split_first_chunk::<CHECKSUM_BYTES>()?;
    // The reader also contains the bytes of the checksum. A reader of fewer than eight bytes is slow, and a
    // packet with only acks is short.
    let all = BitSlice::from(bytes);
    let reader = all.slice(CHECKSUM_BYTES.saturating_mul(8)..all.len())?.reader();
    Some((u32::from_le_bytes(*sum), content, reader))
}

fn checksum(content: &[u8], seed: u32) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(seed);
    hasher.update(content);
    hasher.finalize()
}

/// Reads the padding at the end of a packet. The padding of a packet must have less than eight bits, and all
/// of them must be zero.
#[inline]
pub fn read_end(reader: &mut BitReader<'_>) -> Result<(), ReadError> {
    let left = reader.remaining();
    if left >= 8 || reader.read_bits(left as u32)? != 0 {
        return Err(ReadError::OutOfRange);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r25_a_stored_seed_opens_no_packet_of_another_session_client_or_wrap() {
        let (session, token, number) = (7, 1 << 40, Sequence::new(70_000));
        let mut writer = BitWriter::new();
        begin(PacketKind::State, &mut writer);
        writer.write_bits(number.to_wire().into(), 16);
        let bytes = seal(writer, Salt::state(session ^ token, number));
        let mut seed = LastSeed::default();
        let mut opens = |session, token, newest| {
            let opened = {
                let keys = Keys { session, token, of_state: token, is_sealed: false };
                open(&bytes, keys, newest, &mut seed)
            };
            opened.is_some_and(|opened| matches!(opened, Opened::State(found, _) if found == number))
        };
        for _ in 0..2 {
            assert!(opens(session, token, number) && opens(session, token, number.minus(30_000)));
            assert!(!opens(session + 1, token, number));
            assert!(opens(session, token, number));
            assert!(!opens(session, token + 1, number));
            assert!(!opens(session, token, number.plus(70_000)));
        }
        for bit in 0..64 {
            assert!(!opens(session ^ 1 << bit, token, number), "bit {bit} of the session");
            assert!(!opens(session, token ^ 1 << bit, number), "bit {bit} of the token");
        }
        let keys = Keys { session, token, of_state: token, is_sealed: false };
        for bit in 17..64 {
            let later = number.plus(1 << bit);
            assert!(open(&bytes, keys, later, &mut seed).is_none(), "bit {bit} of the number");
        }
    }
}
