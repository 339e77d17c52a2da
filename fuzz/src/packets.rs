//! The form of an input that is a list of packets. Each packet has its length in two bytes, and then its
//! content without the checksum.
//!
//! *Invariant:* any bytes can be read as a list of packets. If a length exceeds the rest of the input, the
//! packet is the rest.

/// The session of the client.
pub const SESSION: u64 = 1_000;

/// The greatest number of packets that are read, so that each input takes little time.
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
