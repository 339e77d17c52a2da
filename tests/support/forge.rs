//! Packets made by hand: checksum, header and body.
//!
//! *Invariant:* this code writes the wire format without the library's writers, so an error in one of the two
//! is noticed.

use repl::{BitReader, BitWriter};

/// The start value of the checksum, before the session is mixed in: the protocol's name and version.
const PROTOCOL: u32 = u32::from_le_bytes(*b"rpl5");

/// Computes a CRC-32 with the Ethernet polynomial, continued from `initial`.
fn crc32(initial: u32, bytes: &[u8]) -> u32 {
    let mut crc = !initial;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

/// Puts the correct checksum before `content`. The packet is of this session, and its packet number has at
/// most 16 bits. In a hello, the session is part of the content.
pub(crate) fn seal(content: &[u8], session: u64) -> Vec<u8> {
    let mut reader = BitReader::new(content);
    let is_hello = reader.read_flag().unwrap_or(false) && reader.read_bits(3).unwrap_or(7) == 0;
    let (session, epoch) = if is_hello { (0, u64::MAX) } else { (session, 0_u64) };
    let salted = [&session.to_le_bytes(), &epoch.to_le_bytes(), content].concat();
    [&crc32(PROTOCOL, &salted).to_le_bytes(), content].concat()
}

/// Returns the packet with changed content and a correct checksum.
pub(crate) fn reseal(packet: &[u8], session: u64, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut content = packet.get(4..).unwrap_or_default().to_vec();
    change(&mut content);
    seal(&content, session)
}

/// Returns a packet with state from the server, with this number and an empty header. `write` writes the body
/// without its end.
pub(crate) fn state(sequence: u16, session: u64, write: impl FnOnce(&mut BitWriter)) -> Vec<u8> {
    let mut writer = BitWriter::new();
    writer.write_flag(false);
    writer.write_bits(sequence.into(), 16);
    // The four bits of the header say: this is the first packet of its tick, it does not tell its oldest
    // packet without an ack (the floor), the difference between the numbers of tick and packet is unchanged,
    // and there are no acks.
    writer.write_bits(0, 4);
    write(&mut writer);
    seal(&writer.into_bytes(), session)
}

/// Returns the token in this welcome. Packets with state from a client must match the token, as well as the
/// session.
pub(crate) fn token(welcome: &[u8]) -> u64 {
    let mut bits = BitReader::new(&welcome[4..]);
    assert_eq!((bits.read_bits(1), bits.read_bits(3)), (Ok(1), Ok(1)), "a welcome");
    bits.skip_bits(32).and_then(|()| bits.read_bits(64)).expect("its timeout and its token")
}

/// Begins a segment, which is a part of the body with entries of one kind: 0 for updates, 1 for openings, 2
/// for closings, or 3 for fragments.
pub(crate) fn segment(kind: u64, writer: &mut BitWriter) {
    writer.write_flag(true);
    writer.write_bits(kind, 2);
    writer.write_bits(0, 4);
}

/// Ends a segment, and the body.
pub(crate) fn end(writer: &mut BitWriter) {
    writer.write_bits(0, 2);
}

/// A random number generator with the same sequence in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
