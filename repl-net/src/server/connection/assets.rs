//! Sends the names of assets to a client (S199, S200).
//!
//! *Invariant:* each name is sent once. This is enough, because the channel of the names is reliable.

use repl_core::{BitWriter, NetSerialize};

use super::Connection;
use super::context::PassContext;
use crate::body::asset_names::AssetNames;

/// The greatest number of names in a message. This many names fit into the memory that is reserved for one
/// packet.
const MOST_NAMES: usize = 16;

impl Connection {
    /// Sends the names that the client needs for the shared changes of this tick.
    pub(super) fn name_shared_assets(&mut self, context: &PassContext<'_>) {
        if context.broadcast.named_assets().is_empty() && self.assets.is_at_rest() {
            return;
        }
        for &(slot, number) in context.broadcast.named_assets() {
            if self.copies.objects.is_known(slot) {
                self.assets.need(&[number], &context.world.store.assets);
            }
        }
        self.send_asset_names(context);
    }

    /// Sends the names that the client needs for the values that were written for it alone in this pass.
    pub(super) fn name_own_assets(&mut self, context: &mut PassContext<'_>) {
        let named = &mut context.scratch.named_assets;
        if named.is_empty() && self.assets.is_at_rest() {
            return;
        }
        self.assets.need(named, &context.world.store.assets);
        named.clear();
        self.send_asset_names(context);
    }

    /// Queues the names that wait. If the channel or the memory of the connection has no room, the rest waits
    /// for the next pass.
    fn send_asset_names(&mut self, context: &PassContext<'_>) {
        let assets = &context.world.store.assets;
        let Some(channel) = assets.channel().filter(|_| !self.assets.is_at_rest()) else { return };
        while !self.assets.is_at_rest() && self.link.outbox.has_memory() {
            let names = AssetNames(self.assets.next_names(MOST_NAMES, assets));
            let (max_bits, mut writer) = (self.link.outbox.capacity(), BitWriter::new());
            let is_written = names.write(&mut writer).is_ok();
            if !is_written || self.link.exchange.outgoing.add(channel, &mut writer, max_bits).is_err() {
                self.assets.were_not_sent(&names.0);
                break;
            }
            self.assets.were_sent(names.0.len());
            self.measure_memory();
        }
    }
}
