//! Where a client's objects mention other objects: which leaf, which guids, and the bits to read it again (S117).
//!
//! Invariant: a leaf that mentions guids is here exactly once, with the bits it last had.

use std::collections::HashMap;

use repl_core::{BitSlice, Guid};

/// The leaves of all objects that mention guids.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    by_object: HashMap<u32, Vec<Mention>>,
    /// The slots of the objects that mention a guid, with repeats.
    by_guid: HashMap<Guid, Vec<u32>>,
}

/// A leaf that mentions guids.
#[derive(Clone, Debug)]
pub(crate) struct Mention {
    /// The path of handles to the leaf.
    pub(crate) path: Vec<u32>,
    guids: Vec<Guid>,
    bytes: Vec<u8>,
    bit_len: usize,
}

impl Mention {
    /// The bits of the leaf.
    pub(crate) fn bits(&self) -> BitSlice<'_> {
        BitSlice::new(&self.bytes, 0, self.bit_len).unwrap_or_default()
    }
}

impl Mentions {
    /// A leaf of the object in `slot` was read: it mentions `guids`, perhaps none, and had these bits (S119).
    pub(crate) fn set(
        &mut self,
        slot: u32,
        path: &[u32],
        guids: &mut dyn Iterator<Item = Guid>,
        bits: Option<BitSlice<'_>>,
    ) {
        self.remove_leaf(slot, path);
        let Some(bits) = bits else { return };
        let guids: Vec<Guid> = guids.collect();
        for &guid in &guids {
            self.by_guid.entry(guid).or_default().push(slot);
        }
        let (mut writer, bit_len) = (repl_core::BitWriter::new(), bits.len());
        writer.append(bits);
        let mention = Mention { path: path.to_vec(), guids, bytes: writer.into_bytes(), bit_len };
        self.by_object.entry(slot).or_default().push(mention);
    }

    fn remove_leaf(&mut self, slot: u32, path: &[u32]) {
        let Some(leaves) = self.by_object.get_mut(&slot) else { return };
        let Some(at) = leaves.iter().position(|mention| mention.path == path) else { return };
        let mention = leaves.swap_remove(at);
        self.unlink(slot, &mention);
    }

    fn unlink(&mut self, slot: u32, mention: &Mention) {
        for guid in &mention.guids {
            if let Some(slots) = self.by_guid.get_mut(guid) {
                if let Some(at) = slots.iter().position(|&known| known == slot) {
                    slots.swap_remove(at);
                }
                if slots.is_empty() {
                    self.by_guid.remove(guid);
                }
            }
        }
    }

    /// The object in `slot` is gone.
    pub(crate) fn remove_object(&mut self, slot: u32) {
        for mention in self.by_object.remove(&slot).unwrap_or_default() {
            self.unlink(slot, &mention);
        }
    }

    /// The leaves that mention `guid`, with the slot of their object.
    pub(crate) fn of(&self, guid: Guid) -> Vec<(u32, Mention)> {
        let mut slots = self.by_guid.get(&guid).cloned().unwrap_or_default();
        slots.sort_unstable();
        slots.dedup();
        let leaves =
            |slot: u32| self.by_object.get(&slot).into_iter().flatten().map(move |mention| (slot, mention));
        slots
            .into_iter()
            .flat_map(leaves)
            .filter(|(_, mention)| mention.guids.contains(&guid))
            .map(|(slot, mention)| (slot, mention.clone()))
            .collect()
    }
}
