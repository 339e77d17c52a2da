//! An input that is a list of packets: each has its length in two bytes, then its content without the
//! checksum.
//!
//! *Invariant:* any bytes are such a list. A length beyond the end means all that is left.

/// The session of the client.
pub const SESSION: u64 = 1_000;

/// More packets than this are not read, so that each input is quick.
const MAX_PACKETS: usize = 64;

/// The content of each packet.
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

/// The input with these packets, which have checksums.
pub fn join(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut data = Vec::new();
    for packet in packets.iter().take(MAX_PACKETS) {
        let content = packet.get(4..).unwrap_or_default();
        data.extend((content.len() as u16).to_le_bytes());
        data.extend(content);
    }
    data
}
