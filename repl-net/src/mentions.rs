//! Where a client's objects mention other objects: which leaf, which guids, and the bits to read it again (S117).
//!
//! Invariant: a leaf that mentions guids is here exactly once, with the bits it last had.

use std::collections::{BTreeMap, HashMap};

use repl_core::{BitSlice, Guid};

/// The leaves of all objects that mention guids.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    /// By slot and by the path of handles to the leaf.
    by_object: HashMap<u32, BTreeMap<Vec<u32>, Mention>>,
    /// The slots of the objects that mention a guid, and how often each does.
    by_guid: HashMap<Guid, BTreeMap<u32, u32>>,
}

/// A leaf that mentions guids.
#[derive(Clone, Debug)]
pub(crate) struct Mention {
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
        let mut guids: Vec<Guid> = guids.collect();
        guids.shrink_to_fit();
        for &guid in &guids {
            let times = self.by_guid.entry(guid).or_default().entry(slot).or_default();
            *times = times.saturating_add(1);
        }
        let (mut writer, bit_len) = (repl_core::BitWriter::new(), bits.len());
        writer.append(bits);
        let mut bytes = writer.into_bytes();
        bytes.shrink_to_fit();
        self.by_object.entry(slot).or_default().insert(path.to_vec(), Mention { guids, bytes, bit_len });
    }

    fn remove_leaf(&mut self, slot: u32, path: &[u32]) {
        let Some(leaves) = self.by_object.get_mut(&slot) else { return };
        let Some(mention) = leaves.remove(path) else { return };
        self.unlink(slot, &mention);
    }

    fn unlink(&mut self, slot: u32, mention: &Mention) {
        for guid in &mention.guids {
            let Some(slots) = self.by_guid.get_mut(guid) else { continue };
            if let Some(times) = slots.get_mut(&slot) {
                *times = times.saturating_sub(1);
                if *times == 0 {
                    slots.remove(&slot);
                }
            }
            if slots.is_empty() {
                self.by_guid.remove(guid);
            }
        }
    }

    /// The object in `slot` is gone.
    pub(crate) fn remove_object(&mut self, slot: u32) {
        for mention in self.by_object.remove(&slot).unwrap_or_default().values() {
            self.unlink(slot, mention);
        }
    }

    /// The leaves that mention `guid`, with the slot of their object and their path. O(leaves of these objects).
    pub(crate) fn of(&self, guid: Guid) -> Vec<(u32, Vec<u32>, Mention)> {
        let leaves =
            |&slot: &u32| self.by_object.get(&slot).into_iter().flatten().map(move |leaf| (slot, leaf));
        let slots = self.by_guid.get(&guid).into_iter().flat_map(BTreeMap::keys);
        slots
            .flat_map(leaves)
            .filter(|(_, (_, mention))| mention.guids.contains(&guid))
            .map(|(slot, (path, mention))| (slot, path.clone(), mention.clone()))
            .collect()
    }
}
