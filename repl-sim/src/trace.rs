//! Hashes the events of a test run, so that two runs can be compared.
//!
//! *Invariant:* the hash does not depend on platform or version, because words and lengths are hashed in
//! little-endian order.

use super::rng::{STEP, mix};

/// A hash of the events of a test run. Compare this hash with the hash of another run with the same seed. The
/// hash is not suitable for keys or signatures.
///
/// ```
/// # mod repl { pub(crate) use repl_sim as sim; }
/// use repl::sim::TraceHash;
///
/// let (mut one, mut two) = (TraceHash::default(), TraceHash::default());
/// one.bytes(b"ab");
/// two.bytes(b"a");
/// two.bytes(b"b");
/// assert_ne!(one.value(), two.value());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceHash(u64);

impl TraceHash {
    /// Adds a number to the hash.
    pub const fn number(&mut self, number: u64) {
        // The state of the hash is mixed after each number. With less mixing, a flipped bit could cancel a
        // flipped bit in the next word.
        self.0 = mix(self.0.wrapping_add(STEP) ^ number);
    }

    /// Adds the number of bytes to the hash, and then the bytes, 8 at a time.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.number(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.number(u64::from_le_bytes(word));
        }
    }

    /// Returns the hash of all numbers and bytes that were added so far.
    pub const fn value(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_and_the_length_count() {
        let packet = [0x5a; 29];
        let hash = |bytes: &[u8]| {
            let mut hash = TraceHash::default();
            hash.bytes(bytes);
            hash.value()
        };
        let mut seen: Vec<u64> = (0..=29).map(|length| hash(&packet[..length])).collect();
        for bit in 0..29 * 8 {
            let mut changed = packet;
            changed[bit / 8] ^= 1 << (bit % 8);
            seen.push(hash(&changed));
        }
        seen.push(hash(&[0]));
        seen.push(hash(&[0, 0]));
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }
}
