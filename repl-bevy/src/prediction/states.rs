//! The states of predicted entities that a server confirms to their owner.

use repl::prelude::*;
use std::time::Duration;

/// The states of the entities that one client owns after a tick. Only this client receives the object.
#[derive(Replicated, Default)]
#[replicated(name = "bevy::Prediction")]
pub(super) struct Prediction {
    /// The checksum of the component types that the server confirms.
    #[replicated(condition = OwnerOnly)]
    pub(super) kinds: u64,
    /// The time between two ticks of the server.
    #[replicated(condition = OwnerOnly)]
    pub(super) interval: Duration,
    #[replicated(condition = OwnerOnly)]
    pub(super) confirmed: Confirmed<States>,
}

/// The predicted components of all entities that one client owns.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub(super) struct States {
    pub(super) entities: u16,
    /// For each entity its name, and then for each component type a bit that says whether the entity has such
    /// a component, followed by the values of the component. The bits are stored as 64-bit words: elements
    /// are read one by one, so bytes would be slower.
    #[replicated(max_len = 32_768)]
    words: Vec<u64>,
}

impl States {
    /// `written` contains the states of `entities` entities.
    pub(super) fn new(entities: u16, written: BitWriter) -> Self {
        let bytes = written.into_bytes();
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        Self { entities, words: bytes.chunks(8).map(word).collect() }
    }

    /// Returns the bytes of the states.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}
