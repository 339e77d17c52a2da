//! The encoding of logins and their answers in control packets: a length, and then the bytes.
//!
//! *Invariant:* reading allocates at most as many bytes as remain in the packet (R20).

use std::fmt;

use repl_core::{BitReader, BitWriter, ReadError};

/// The greatest number of bytes of a login, and of the answer to a login.
const MAX_BYTES: usize = 512;
/// The number of bits for the length.
const LEN_BITS: u32 = 10;
/// The greatest number of bytes of a hello without its login, or of a welcome without its answer.
const AROUND_BYTES: usize = 64;

/// A login as `Debug` prints it: only its length, because a login may contain a password or a ticket.
pub struct Concealed(pub usize);

impl fmt::Debug for Concealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0)
    }
}

/// Returns the greatest number of bytes of a login, or of the answer to a login, with packets of at most
/// `mtu_bytes` bytes.
pub fn max_login_bytes(mtu_bytes: usize) -> usize {
    MAX_BYTES.min(mtu_bytes.saturating_sub(AROUND_BYTES))
}

/// Returns the least size of packets with room for a login, or an answer to a login, of `login_bytes` bytes.
pub(super) fn packet_bytes_for_login(login_bytes: usize) -> usize {
    login_bytes.saturating_add(AROUND_BYTES)
}

/// Writes a login or an answer.
pub(crate) fn write_login(login: &[u8], writer: &mut BitWriter) {
    write_bytes(login, LEN_BITS, writer);
}

/// Reads what [`write_login`] wrote.
pub(crate) fn read_login(reader: &mut BitReader<'_>) -> Result<Vec<u8>, ReadError> {
    read_bytes(reader, LEN_BITS, MAX_BYTES)
}

/// Writes the number of bytes in `len_bits` bits, and then the bytes.
pub(crate) fn write_bytes(bytes: &[u8], len_bits: u32, writer: &mut BitWriter) {
    writer.write_bits(bytes.len() as u64, len_bits);
    bytes.iter().for_each(|&byte| writer.write_bits(byte.into(), 8));
}

/// Reads what [`write_bytes`] wrote.
pub(crate) fn read_bytes(
    reader: &mut BitReader<'_>,
    len_bits: u32,
    max_bytes: usize,
) -> Result<Vec<u8>, ReadError> {
    let len = reader.read_bits(len_bits)? as usize;
    let max = max_bytes.min(reader.remaining() / 8);
    if len > max {
        return Err(ReadError::TooLong { len, max });
    }
    let mut bytes = Vec::with_capacity(len);
    for _ in 0..len {
        bytes.push(reader.read_bits(8)? as u8);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r20_a_login_longer_than_its_limit_or_its_packet_is_malformed() {
        for (len, bytes, is_one) in
            [(0, 0, true), (512, 512, true), (513, 600, false), (512, 511, false), (1_023, 4, false)]
        {
            let mut writer = BitWriter::new();
            writer.write_bits(len, 10);
            (0..bytes).for_each(|byte| writer.write_bits(byte & 0xff, 8));
            let content = writer.into_bytes();
            let read = read_login(&mut BitReader::new(&content));
            assert_eq!(read.is_ok(), is_one, "{len} of {bytes}");
            assert!(read.is_ok_and(|login| login.len() as u64 == len) == is_one);
        }
    }
}
