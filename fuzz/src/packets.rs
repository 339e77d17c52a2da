//! The format of an input that is a list of packets. Each packet is stored as its length in two bytes,
//! followed by its content without the checksum.
//!
//! *Invariant:* any bytes can be read as a list of packets. If a length exceeds the rest of the input, the
//! packet is as long as the rest.

use repl::BitReader;

/// The number of the client's session.
pub const SESSION: u64 = 1_000;

/// The greatest number of packets that are read from an input, so that each input takes little time.
const MAX_PACKETS: usize = 64;

/// Returns the content of each packet of an input.
pub fn split(mut data: &[u8]) -> Vec<&[u8]> {
    let mut packets = Vec::new();
    while let Some((len, rest)) = data.split_first_chunk::<2>() {
        let (content, rest) = rest.split_at(usize::from(u16::from_le_bytes(*len)).min(rest.len()));
        packets.push(content);
        data = rest;
        if packets.len() == MAX_PACKETS {
            break;
        }
    }
    packets
}

/// Returns whether a packet with this content is sealed with the session's token, once both sides know the
/// token. Such packets are those of state, those that end the session, and probes.
pub fn has_token(content: &[u8]) -> bool {
    let mut bits = BitReader::new(content);
    let is_control = bits.read_flag().unwrap_or(false);
    match bits.read_bits(3) {
        Ok(7) => !is_control || bits.read_bits(2) == Ok(0b10),
        kind => !is_control || kind == Ok(5),
    }
}

/// Returns the token in the content of a packet if the packet is a welcome.
pub fn token(content: &[u8]) -> Option<u64> {
    let mut bits = BitReader::new(content);
    let is_welcome = bits.read_flag().ok()? && bits.read_bits(3).ok()? == 1;
    bits.skip_bits(32).ok()?;
    bits.read_bits(64).ok().filter(|_| is_welcome)
}

/// Returns the input that contains these packets. The packets have checksums, the input does not.
pub fn join(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut data = Vec::new();
    for packet in packets.iter().take(MAX_PACKETS) {
        let content = packet.get(4..).unwrap_or_default();
        data.extend((content.len() as u16).to_le_bytes());
        data.extend(content);
    }
    data
}
