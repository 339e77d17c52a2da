//! Where a client's objects mention other objects: which leaf, which guids, and the bits to read it again (S117).
//!
//! Invariant: a leaf that mentions guids is here exactly once, with the bits it last had.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::{Bound, Range};
use std::sync::Arc;

use repl_core::{BitSlice, Guid};

/// A leaf: the slot of its object, and the path of handles to it.
pub(crate) type Place = (u32, Arc<[u32]>);

/// The leaves of all objects that mention guids.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    /// By slot and by the path of handles to the leaf.
    by_object: HashMap<u32, BTreeMap<Arc<[u32]>, Mention>>,
    /// Each guid with each leaf that mentions it.
    by_guid: BTreeSet<(Guid, u32, Arc<[u32]>)>,
}

/// A leaf that mentions guids.
#[derive(Debug)]
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
    /// A leaf of the object in `slot` was read: it mentions `guids` and had these bits (S119).
    pub(crate) fn set(
        &mut self,
        slot: u32,
        path: &[u32],
        guids: &mut dyn Iterator<Item = Guid>,
        bits: BitSlice<'_>,
    ) {
        self.remove_leaf(slot, path);
        let mut guids: Vec<Guid> = guids.collect();
        guids.shrink_to_fit();
        let path: Arc<[u32]> = path.into();
        self.by_guid.extend(guids.iter().map(|&guid| (guid, slot, Arc::clone(&path))));
        let (mut writer, bit_len) = (repl_core::BitWriter::new(), bits.len());
        writer.append(bits);
        let mut bytes = writer.into_bytes();
        bytes.shrink_to_fit();
        self.by_object.entry(slot).or_default().insert(path, Mention { guids, bytes, bit_len });
    }

    /// A leaf mentions nothing any more.
    pub(crate) fn remove_leaf(&mut self, slot: u32, path: &[u32]) {
        let Some(leaves) = self.by_object.get_mut(&slot) else { return };
        let Some((path, mention)) = leaves.remove_entry(path) else { return };
        self.unlink(slot, &path, &mention);
    }

    /// Below `path` nothing is left of what begins with one of `steps`. O(leaves there that mention guids).
    pub(crate) fn cut(&mut self, slot: u32, path: &[u32], steps: Range<u32>) {
        let Some(leaves) = self.by_object.get_mut(&slot) else { return };
        let first = [path, &[steps.start]].concat();
        let is_below = |leaf: &Arc<[u32]>| {
            leaf.strip_prefix(path).and_then(|rest| rest.first()).is_some_and(|step| steps.contains(step))
        };
        let from = leaves.range::<[u32], _>((Bound::Included(first.as_slice()), Bound::Unbounded));
        let gone: Vec<_> = from.map(|(leaf, _)| Arc::clone(leaf)).take_while(is_below).collect();
        for leaf in gone {
            self.remove_leaf(slot, &leaf);
        }
    }

    fn unlink(&mut self, slot: u32, path: &Arc<[u32]>, mention: &Mention) {
        for &guid in &mention.guids {
            self.by_guid.remove(&(guid, slot, Arc::clone(path)));
        }
    }

    /// The object in `slot` is gone.
    pub(crate) fn remove_object(&mut self, slot: u32) {
        for (path, mention) in self.by_object.remove(&slot).unwrap_or_default() {
            self.unlink(slot, &path, &mention);
        }
    }

    /// The leaves that mention `guid`. O(these leaves).
    pub(crate) fn of(&self, guid: Guid) -> impl Iterator<Item = Place> + '_ {
        let first = (guid, 0, Arc::default());
        self.by_guid
            .range(first..)
            .take_while(move |(mentioned, ..)| *mentioned == guid)
            .map(|(_, slot, path)| (*slot, Arc::clone(path)))
    }

    /// What a leaf mentions.
    pub(crate) fn get(&self, slot: u32, path: &[u32]) -> Option<&Mention> {
        self.by_object.get(&slot)?.get(path)
    }
}
