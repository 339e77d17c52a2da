//! Secrets: values that some connections may not see, and the search for them in every packet.
//!
//! Each secret is 16 random bytes, chosen for one property of one object. Every packet to a connection is
//! searched for all secrets, beginning at each of its bits. A secret that its condition hides from that
//! connection is a leak.
//!
//! *Invariant:* the search depends only on one fact of the wire format: bits fill bytes from the lowest bit
//! up.

use std::collections::HashMap;

use repl::prelude::*;
use repl::sim::Rng;

/// A value that is written as 16 bytes in one piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Secret([u64; 2]);

impl Secret {
    /// Returns the bytes, as two numbers.
    pub fn halves(self) -> [u64; 2] {
        self.0
    }
}

impl NetSerialize for Secret {
    const WIRE_NAME: &'static str = "Secret";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        self.0.iter().for_each(|half| writer.write_bits(*half, 64));
        Ok(())
    }

    fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        Ok(Self([reader.read_bits(64)?, reader.read_bits(64)?]))
    }
}

repl::leaf!(Secret);

/// The rule that decides who may see a secret. The rule is the condition of the secret's property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    OwnerOnly,
    SkipOwner,
    InitialOnly,
}

/// A secret that was chosen, without its first half: with its object and rule.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    second_half: u64,
    pub object: ObjectRef<()>,
    pub rule: Rule,
    /// The tick in which the secret was chosen.
    pub tick: u32,
}

/// All secrets that were ever chosen.
pub struct Secrets {
    rng: Rng,
    by_first_half: HashMap<u64, Drawn>,
    /// One bit for each of the 65,536 values of 16 bits: set if some secret begins with this value. So the
    /// search rejects most positions of a packet by a single look-up.
    beginnings: Vec<u64>,
}

impl Secrets {
    /// Returns an empty set of secrets.
    pub fn new(rng: Rng) -> Self {
        Self { rng, by_first_half: HashMap::new(), beginnings: vec![0; (1 << 16) / 64] }
    }

    /// Chooses a new secret for a property of an object under this rule.
    pub fn draw<T>(&mut self, object: ObjectRef<T>, rule: Rule, tick: u32) -> Secret {
        let [first, second] = [self.rng.next_u64(), self.rng.next_u64()];
        let drawn = Drawn { second_half: second, object: object.erase(), rule, tick };
        self.by_first_half.insert(first, drawn);
        self.beginnings[usize::from(first as u16) / 64] |= 1 << (first % 64);
        Secret([first, second])
    }

    /// Returns whether the secret was chosen for that object under that rule.
    pub fn belongs<T>(&self, secret: Secret, object: ObjectRef<T>, rule: Rule) -> bool {
        self.by_first_half
            .get(&secret.0[0])
            .is_some_and(|drawn| drawn.object == object.erase() && drawn.rule == rule)
    }

    /// Appends to `found` all secrets that begin at any bit of the packet. O(bits).
    pub fn find(&self, packet: &[u8], found: &mut Vec<Drawn>) {
        let bits = packet.len() * 8;
        for at in 0..=bits.saturating_sub(128) {
            let window = window(packet, at);
            let begins = self.beginnings[usize::from(window as u16) / 64] >> (window % 64) & 1 == 1;
            if begins
                && let Some(drawn) = self.by_first_half.get(&window)
                && self::window(packet, at + 64) == drawn.second_half
            {
                found.push(*drawn);
            }
        }
    }
}

/// Returns the 64 bits of the packet that begin at bit `at`. Bits after the end of the packet are zeros.
fn window(packet: &[u8], at: usize) -> u64 {
    let rest = &packet[(at / 8).min(packet.len())..];
    let mut bytes = [0; 16];
    match rest.first_chunk::<16>() {
        Some(chunk) => bytes = *chunk,
        None => bytes[..rest.len()].copy_from_slice(rest),
    }
    (u128::from_le_bytes(bytes) >> (at % 8)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_at_every_bit_and_nowhere_else() {
        let mut secrets = Secrets::new(Rng::new(5));
        let secret = secrets.draw(ObjectRef::<()>::NULL, Rule::OwnerOnly, 3);
        for before in 0..40 {
            let mut writer = BitWriter::new();
            writer.write_bits(0x5a_5a5a_5a5a & ((1 << before) - 1), before);
            secret.write(&mut writer).unwrap();
            let packet = writer.into_bytes();
            let mut found = Vec::new();
            secrets.find(&packet, &mut found);
            assert_eq!(found.len(), 1, "after {before} bits");
            secrets.find(&packet[..packet.len() - 1], &mut found);
            assert_eq!(found.len(), 1, "a secret that is cut is none");
        }
    }
}
