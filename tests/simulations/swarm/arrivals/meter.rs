//! Counts the bytes that the server has received from each address and sent to it (R26).
//!
//! *Invariant:* an address has proved itself when a hello from there contains a cookie that was sent to it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};

use repl::{BitReader, ReadError};

/// The most answers without a connection that an endpoint stores for one host.
const ANSWERS_OF_HOST: usize = 32;

#[derive(Default)]
struct Traffic {
    received_bytes: usize,
    sent_bytes: usize,
    cookies: BTreeSet<u64>,
    is_proved: bool,
}

/// The traffic of all addresses with one run of a server.
#[derive(Default)]
pub(super) struct Meter {
    addresses: BTreeMap<SocketAddr, Traffic>,
    /// The answers with cookies since the last poll, by their hosts.
    answers: BTreeMap<IpAddr, usize>,
}

impl Meter {
    pub(super) fn received(&mut self, from: SocketAddr, packet: &[u8]) {
        let traffic = self.addresses.entry(from).or_default();
        traffic.received_bytes += packet.len();
        if let Ok(Some(cookie)) = cookie_of_hello(packet) {
            traffic.is_proved |= traffic.cookies.contains(&cookie);
        }
    }

    pub(super) fn sent(&mut self, to: SocketAddr, packet: &[u8]) {
        let traffic = self.addresses.entry(to).or_default();
        traffic.sent_bytes += packet.len();
        assert!(
            traffic.is_proved || traffic.sent_bytes < traffic.received_bytes,
            "{to} was sent {} bytes for {}, before it proved itself",
            traffic.sent_bytes,
            traffic.received_bytes
        );
        if let Some(cookie) = cookie_of_retry(packet) {
            traffic.cookies.insert(cookie);
            *self.answers.entry(to.ip()).or_default() += 1;
        }
    }

    /// Called when the endpoint has no more packets.
    pub(super) fn polled(&mut self) {
        let most = self.answers.values().copied().max().unwrap_or(0);
        assert!(most <= ANSWERS_OF_HOST, "{most} answers waited for one host");
        self.answers.clear();
    }
}

/// If `packet` is a control packet of the type `kind`, returns a reader for the bits after the type.
fn control(packet: &[u8], kind: u64) -> Option<BitReader<'_>> {
    let mut bits = BitReader::new(packet.get(4..)?);
    (bits.read_bits(1) == Ok(1) && bits.read_bits(3) == Ok(kind)).then_some(bits)
}

fn cookie_of_hello(packet: &[u8]) -> Result<Option<u64>, ReadError> {
    let Some(mut bits) = control(packet, 0) else { return Ok(None) };
    bits.skip_bits(64 + 64 + 16 + 3 * 32)?;
    if bits.read_flag()? { bits.read_bits(64).map(Some) } else { Ok(None) }
}

/// Returns the cookie in the answer to a hello.
pub(super) fn cookie_of_retry(packet: &[u8]) -> Option<u64> {
    let mut bits = control(packet, 7)?;
    if bits.read_flag().ok()? { bits.read_bits(64).ok() } else { None }
}

pub(super) fn token_of_welcome(packet: &[u8]) -> Option<u64> {
    let mut bits = control(packet, 1)?;
    bits.skip_bits(32).ok()?;
    bits.read_bits(64).ok()
}

/// Returns the checksum of the classes and the four limits in a hello, so that a hello of another session can
/// repeat them.
pub(super) fn classes_of_hello(packet: &[u8]) -> Option<[u64; 5]> {
    let mut bits = control(packet, 0)?;
    bits.skip_bits(64).ok()?;
    let mut read = |width| bits.read_bits(width).ok();
    Some([read(64)?, read(16)?, read(32)?, read(32)?, read(32)?])
}
