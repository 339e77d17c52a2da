//! The assets whose names a client was sent, and those that it must be sent (S199, S200).
//!
//! *Invariant:* each name is sent once: the channel of the names is reliable.

use std::num::NonZeroU32;

use repl_core::{BitWriter, NetSerialize};

use super::Connection;
use super::context::PassContext;
use crate::body::asset_names::{AssetName, AssetNames};
use crate::server::assets::Assets;

/// How many names a message has at most. With names of 255 bytes it is a quarter of the greatest message.
const MOST_NAMES: usize = 64;

/// The names of assets for one client.
#[derive(Debug, Default)]
pub(super) struct NamedAssets {
    /// A bit for each asset whose name was sent or waits.
    named: Vec<u64>,
    /// The assets whose names wait to be sent, in the order in which they were needed.
    waiting: Vec<NonZeroU32>,
}

impl NamedAssets {
    /// Makes the names wait that the client needs for these assets.
    fn need(&mut self, numbers: &[NonZeroU32], assets: &Assets) {
        for &number in numbers.iter().filter(|&&number| assets.contains(number)) {
            self.need_one(number, assets);
        }
    }

    fn need_one(&mut self, number: NonZeroU32, assets: &Assets) {
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

impl Connection {
    /// Makes the names of these assets wait, because something that is sent to the client refers to them.
    #[inline]
    pub(crate) fn need_assets(&mut self, numbers: &[NonZeroU32], assets: &Assets) {
        if !numbers.is_empty() {
            self.assets.need(numbers, assets);
        }
    }

    /// Sends the names that the client needs for the changes of this tick that it shares with others.
    pub(super) fn name_shared_assets(&mut self, context: &PassContext<'_>) {
        for &(slot, number) in context.broadcast.named_assets() {
            if self.copies.objects.is_known(slot) {
                self.need_assets(&[number], &context.world.store.assets);
            }
        }
        self.send_asset_names(context);
    }

    /// Sends the names that the client needs for what was written for it in this pass.
    pub(super) fn name_own_assets(&mut self, context: &mut PassContext<'_>) {
        let named = &mut context.scratch.named_assets;
        self.need_assets(named, &context.world.store.assets);
        named.clear();
        self.send_asset_names(context);
    }

    /// Queues the names that wait. What has no room waits for the next pass.
    fn send_asset_names(&mut self, context: &PassContext<'_>) {
        let assets = &context.world.store.assets;
        let Some(channel) = assets.channel().filter(|_| !self.assets.is_at_rest()) else { return };
        let (mut writer, mut sent) = (BitWriter::new(), 0);
        for numbers in self.assets.waiting.chunks(MOST_NAMES) {
            let names: Vec<AssetName> = numbers.iter().filter_map(|&number| assets.name(number)).collect();
            writer.clear();
            let is_written = AssetNames(names).write(&mut writer).is_ok();
            let max_bits = self.link.outbox.capacity();
            if !is_written || self.link.exchange.outgoing.add(channel, &mut writer, max_bits).is_err() {
                break;
            }
            sent += numbers.len();
        }
        self.assets.waiting.drain(..sent);
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
