//! What a server confirms to a client of the entities that the client predicts.

use repl::prelude::*;
use std::time::Duration;

/// The entities that one client owns, after a tick. The client alone receives it.
#[derive(Replicated, Default)]
#[replicated(name = "bevy::Prediction")]
pub(super) struct Prediction {
    /// The checksum of the kinds of components that the server confirms.
    #[replicated(condition = OwnerOnly)]
    pub(super) kinds: u64,
    /// The length of a tick of the server.
    #[replicated(condition = OwnerOnly)]
    pub(super) interval: Duration,
    #[replicated(condition = OwnerOnly)]
    pub(super) confirmed: Confirmed<States>,
}

/// The predicted components of all entities of a client.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub(super) struct States {
    pub(super) entities: u16,
    /// For each entity its name, and for each kind a bit that says whether the entity has such a component,
    /// and its values. In words, because elements are read one by one.
    #[replicated(max_len = 32_768)]
    words: Vec<u64>,
}

impl States {
    /// Returns the states of so many entities.
    pub(super) fn new(entities: u16, written: BitWriter) -> Self {
        let bytes = written.into_bytes();
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        Self { entities, words: bytes.chunks(8).map(word).collect() }
    }

    /// Returns what was written.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}
