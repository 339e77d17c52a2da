//! The names of assets that were sent to one client, and the names that must still be sent to it (S200).
//!
//! *Invariant:* no name is in `waiting` twice, and no name is sent twice.

use std::num::NonZeroU32;

use crate::body::asset_names::AssetName;
use crate::server::asset_paths::AssetPaths;

#[derive(Debug, Default)]
pub(crate) struct NamedAssets {
    /// The assets whose names were sent or wait to be sent.
    needed: Numbers,
    /// The assets whose names were sent.
    sent: Numbers,
    /// The assets whose names wait to be sent, in the order in which they were needed.
    waiting: Vec<NonZeroU32>,
}

impl NamedAssets {
    /// Queues the names of these assets, because data that is sent to the client refers to them. Skips names
    /// that are queued or were sent already.
    #[inline]
    pub(crate) fn need(&mut self, numbers: &[NonZeroU32], assets: &AssetPaths) {
        for &number in numbers {
            if assets.contains(number) && self.needed.insert(number) {
                self.waiting.push(number);
            }
        }
    }

    /// Returns the names that must be sent next, at most `most`, and marks them as sent, so that later names
    /// can omit the part of the path that they share with these names.
    pub(super) fn next_names(&mut self, most: usize, assets: &AssetPaths) -> Vec<AssetName> {
        let Self { sent, waiting, .. } = self;
        let names = waiting.iter().take(most).filter_map(|&number| {
            let name = assets.name(number, |other| sent.contains(other));
            sent.insert(number);
            name
        });
        names.collect()
    }

    /// Removes from the queue the `count` names that [`next_names`](Self::next_names) has returned last,
    /// because they were sent.
    pub(super) fn were_sent(&mut self, count: usize) {
        self.waiting.drain(..count);
    }

    /// Notes that these names could not be sent and remain in the queue.
    pub(super) fn were_not_sent(&mut self, names: &[AssetName]) {
        names.iter().for_each(|name| self.sent.remove(name.number));
    }

    /// Returns about how many bytes of memory this takes.
    pub(super) fn held_bytes(&self) -> usize {
        let words = self.needed.0.capacity() + self.sent.0.capacity();
        words * size_of::<u64>() + self.waiting.capacity() * size_of::<NonZeroU32>()
    }

    /// Returns whether no name waits to be sent.
    pub(super) fn is_at_rest(&self) -> bool {
        self.waiting.is_empty()
    }
}

/// A set of numbers, as one bit for each number.
#[derive(Debug, Default)]
struct Numbers(Vec<u64>);

impl Numbers {
    fn place(number: NonZeroU32) -> (usize, u64) {
        (number.get() as usize / 64, 1 << (number.get() % 64))
    }

    fn contains(&self, number: NonZeroU32) -> bool {
        let (word, bit) = Self::place(number);
        self.0.get(word).is_some_and(|word| word & bit != 0)
    }

    /// Adds a number. Returns whether it is new.
    fn insert(&mut self, number: NonZeroU32) -> bool {
        let (word, bit) = Self::place(number);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }

    fn remove(&mut self, number: NonZeroU32) {
        let (word, bit) = Self::place(number);
        self.0.get_mut(word).into_iter().for_each(|word| *word &= !bit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s200_a_name_is_sent_once_and_leaves_out_only_what_was_sent_before() {
        let mut server = crate::Server::new(crate::ServerConfig::default());
        server.register_assets();
        let mut number = |path| server.assets().add::<()>(path).number().expect("it was added");
        let [big, small, tree] = ["meshes/rocks/big", "meshes/rocks/small", "meshes/tree"].map(&mut number);
        let (assets, mut named) = (&server.world.store.assets, NamedAssets::default());
        // The neighbour of `small`, an asset in the same folder, is `big`. It waits behind `small`.
        named.need(&[small, small, big], assets);
        named.need(&[tree, small, NonZeroU32::MAX], assets);
        let rests = |names: &[AssetName]| names.iter().map(|name| name.rest.clone()).collect::<Vec<_>>();
        let names = named.next_names(2, assets);
        assert_eq!(rests(&names), ["meshes/rocks/small", "meshes/rocks/big"]);
        named.were_not_sent(&names);
        let names = named.next_names(2, assets);
        assert_eq!(rests(&names), ["meshes/rocks/small", "meshes/rocks/big"], "they were not sent");
        named.were_sent(2);
        named.need(&[big, small], assets);
        let names = named.next_names(2, assets);
        assert_eq!(rests(&names), ["tree"]);
        named.were_sent(1);
        assert!(named.is_at_rest());
    }
}
