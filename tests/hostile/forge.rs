//! Packets made by hand: checksum, header, body.
//!
//! *Invariant:* what is written here is the wire form, told a second time, independent of the library's own writers.

use repl::{BitReader, BitWriter};

/// The checksum's start value, before the session is mixed in: the protocol's name and version.
const PROTOCOL: u32 = u32::from_le_bytes(*b"rpl1");

/// CRC-32 with the polynomial of Ethernet, continued from `initial`.
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

/// Puts the right checksum before `content`: of a packet of that session, whose number has no more than 16 bits. A hello brings its
/// session with it.
pub(crate) fn seal(content: &[u8], session: u64) -> Vec<u8> {
    let mut reader = BitReader::new(content);
    let is_hello = reader.read_flag().unwrap_or(false) && reader.read_bits(3).unwrap_or(7) == 0;
    let (session, epoch) = if is_hello { (0, u64::MAX) } else { (session, 0_u64) };
    let salted = [&session.to_le_bytes(), &epoch.to_le_bytes(), content].concat();
    [&crc32(PROTOCOL, &salted).to_le_bytes(), content].concat()
}

/// The packet with another content, sealed.
pub(crate) fn reseal(packet: &[u8], session: u64, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut content = packet.get(4..).unwrap_or_default().to_vec();
    change(&mut content);
    seal(&content, session)
}

/// A packet of state of the server with this number and nothing in its header; `write` makes the body, up to its end.
pub(crate) fn state(sequence: u16, session: u64, write: impl FnOnce(&mut BitWriter)) -> Vec<u8> {
    let mut writer = BitWriter::new();
    writer.write_flag(false);
    writer.write_bits(sequence.into(), 16);
    // On time, without a floor, of the tick that follows, without acks.
    writer.write_bits(0, 4);
    write(&mut writer);
    seal(&writer.into_bytes(), session)
}

/// What packets of state from a client are bound to beside the session: the token of this welcome.
pub(crate) fn token(welcome: &[u8]) -> u64 {
    let mut bits = BitReader::new(&welcome[4..]);
    assert_eq!((bits.read_bits(1), bits.read_bits(3)), (Ok(1), Ok(1)), "a welcome");
    bits.skip_bits(32).and_then(|()| bits.read_bits(64)).expect("its timeout and its token")
}

/// Begins a segment: 0 updates, 1 opens, 2 closes, 3 carries fragments.
pub(crate) fn segment(kind: u64, writer: &mut BitWriter) {
    writer.write_flag(true);
    writer.write_bits(kind, 2);
    writer.write_bits(0, 4);
}

/// Ends a segment, and the body.
pub(crate) fn end(writer: &mut BitWriter) {
    writer.write_bits(0, 2);
}

/// Numbers from nowhere, the same each time.
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
