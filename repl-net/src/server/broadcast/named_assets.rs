//! The assets to which the changes of a tick refer.
//!
//! *Invariant:* each asset is stored with the slot of the object that refers to it.

use std::num::NonZeroU32;

use repl_core::BitWriter;

/// Assets with the slots of the objects that refer to them.
#[derive(Debug, Default)]
pub(super) struct NamedAssets(Vec<(u32, NonZeroU32)>);

impl NamedAssets {
    /// Removes from `bits` the assets to which the values just written refer, and adds them for the object in
    /// `slot`.
    #[inline(always)]
    pub(super) fn take(&mut self, slot: u32, bits: &mut BitWriter) {
        if !bits.named_assets().is_empty() {
            self.0.extend(bits.named_assets().iter().map(|&number| (slot, number)));
            bits.forget_named_assets();
        }
    }

    pub(super) fn append(&mut self, other: &mut Self) {
        self.0.append(&mut other.0);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Sorts the assets, and removes duplicates.
    pub(super) fn settle(&mut self) {
        self.0.sort_unstable();
        self.0.dedup();
    }

    /// Frees the memory. Costs nothing if no change has referred to an asset.
    pub(super) fn end_round(&mut self) {
        self.0 = Vec::new();
    }

    pub(super) fn as_slice(&self) -> &[(u32, NonZeroU32)] {
        &self.0
    }
}
