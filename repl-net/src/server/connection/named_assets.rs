//! The assets whose names one client was sent, and those that it must be sent (S200).
//!
//! *Invariant:* a name waits once, and after that of the outer asset.

use std::num::NonZeroU32;

use crate::server::asset_paths::AssetPaths;

/// The names of assets for one client.
#[derive(Debug, Default)]
pub(crate) struct NamedAssets {
    /// A bit for each asset whose name was sent or waits.
    named: Vec<u64>,
    /// The assets whose names wait to be sent, in the order in which they were needed.
    waiting: Vec<NonZeroU32>,
}

impl NamedAssets {
    /// Makes the names of these assets wait, because something that is sent to the client refers to them, with
    /// those of their outer assets. Does nothing for names that wait or were sent.
    #[inline]
    pub(crate) fn need(&mut self, numbers: &[NonZeroU32], assets: &AssetPaths) {
        for &number in numbers.iter().filter(|&&number| assets.contains(number)) {
            self.need_one(number, assets);
        }
    }

    fn need_one(&mut self, number: NonZeroU32, assets: &AssetPaths) {
        let (word, bit) = (number.get() as usize / 64, 1 << (number.get() % 64));
        if self.named.len() <= word {
            self.named.resize(word + 1, 0);
        }
        if self.named[word] & bit == 0 {
            self.named[word] |= bit;
            assets.outer(number).into_iter().for_each(|outer| self.need_one(outer, assets));
            self.waiting.push(number);
        }
    }

    /// Returns about how many bytes of memory this takes.
    pub(super) fn held_bytes(&self) -> usize {
        self.named.capacity() * size_of::<u64>() + self.waiting.capacity() * size_of::<NonZeroU32>()
    }

    /// Returns whether no name waits.
    pub(super) fn is_at_rest(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl NamedAssets {
    /// Returns the assets whose names must be sent next, at most `most`.
    pub(super) fn next_waiting(&self, most: usize) -> &[NonZeroU32] {
        &self.waiting[..self.waiting.len().min(most)]
    }

    /// Notes that the first `count` names that waited were sent.
    pub(super) fn sent(&mut self, count: usize) {
        self.waiting.drain(..count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s200_a_name_waits_once_and_after_that_of_the_outer_asset() {
        let mut server = crate::Server::new(crate::ServerConfig::default());
        server.register_assets();
        let number = |server: &mut crate::Server, path| {
            server.assets().add::<()>(path).number().expect("it was added")
        };
        let (rock, tree) = (number(&mut server, "meshes/rocks/big"), number(&mut server, "meshes/tree"));
        let (assets, mut named) = (&server.world.store.assets, NamedAssets::default());
        named.need(&[rock, rock], assets);
        named.need(&[tree, rock, NonZeroU32::MAX], assets);
        let names: Vec<_> = named.waiting.iter().filter_map(|&number| assets.name(number)).collect();
        let names: Vec<_> = names.iter().map(|name| &*name.name).collect();
        assert_eq!(names, ["meshes", "/rocks", "/big", "/tree"]);
    }
}
