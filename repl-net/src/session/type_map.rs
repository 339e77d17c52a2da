//! Maps whose keys are Rust types.
//!
//! *Invariant:* the keys are types of the program and never data from a peer, so nobody can choose keys that
//! collide.

use std::any::TypeId;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are Rust types. A look-up takes a few nanoseconds, because the id of a type needs no
/// hashing.
pub(crate) type TypeMap<V> = HashMap<TypeId, V, BuildHasherDefault<TypeHasher>>;

/// Uses the last eight bytes of a type's id as the hash: the compiler computes these ids as hashes.
#[derive(Debug, Default)]
pub(crate) struct TypeHasher(u64);

impl Hasher for TypeHasher {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last_chunk() {
            self.0 = u64::from_le_bytes(*last);
        }
    }

    fn write_u64(&mut self, id: u64) {
        self.0 = id;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::hash::{BuildHasher, BuildHasherDefault};

    use super::*;

    #[test]
    fn different_types_have_different_hashes() {
        let hash = |id: TypeId| BuildHasherDefault::<TypeHasher>::default().hash_one(id);
        let ids = [TypeId::of::<u8>(), TypeId::of::<u16>(), TypeId::of::<String>(), TypeId::of::<Vec<u8>>()];
        for (at, one) in ids.iter().enumerate() {
            assert_eq!(hash(*one), hash(*one));
            assert!(ids[..at].iter().all(|other| hash(*other) != hash(*one)));
        }
    }
}
