//! An index of the references in a client's objects. With the index, the client finds all values that refer
//! to an object. When an object is created or removed, the values that refer to it are read again from bits
//! that the index stores (S117).
//!
//! *Invariant:* each leaf (a value that is sent as a unit) that contains references is in the index exactly
//! once, with the bits from which it was read last. A leaf that consists of one reference, for example in an
//! array of references, takes about 12 bytes of memory in the index.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};
use std::sync::Arc;

use repl_core::wire::{read_guid, write_guid};
use repl_core::{BitSlice, BitWriter, Guid};

/// Identifies a leaf: the slot of its object, and the handles on the path to the leaf. A leaf is a value that
/// is sent as a unit.
pub(crate) type LeafPath = (u32, Arc<[u32]>);

/// The index of all leaves that contain references.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    /// For each slot, the number of leaves of its object in the index. The vector has entries up to the
    /// highest slot that ever had a leaf.
    counts: Vec<u32>,
    references: References,
    values: Values,
}

impl Mentions {
    /// Adds a leaf (a value that is sent as a unit) of the object in `slot` to the index, or updates it. The
    /// leaf was read from `bits` and refers to `guids` (S119).
    pub(crate) fn set(
        &mut self,
        slot: u32,
        path: &[u32],
        guids: &mut dyn Iterator<Item = Guid>,
        bits: BitSlice<'_>,
    ) {
        self.remove_leaf(slot, path);
        if self.counts.len() <= slot as usize {
            self.counts.resize((slot as usize).saturating_add(1), 0);
        }
        if let Some(count) = self.counts.get_mut(slot as usize) {
            *count = count.saturating_add(1);
        }
        // A value of another type can begin with the same bits as a reference, so the guids are compared,
        // too.
        let (first, second) = (guids.next(), guids.next());
        let alone = first.filter(|_| second.is_none() && reference_of(bits) == first);
        match (Leaf::of(slot, path), alone) {
            (Some(leaf), Some(guid)) => self.references.insert(leaf, guid),
            _ => self.values.insert(slot, path, first.into_iter().chain(second).chain(guids), bits),
        }
    }

    /// Removes a leaf from the index, after its references were removed.
    pub(crate) fn remove_leaf(&mut self, slot: u32, path: &[u32]) {
        if !self.has_any_of(slot) {
            return;
        }
        let was_reference = Leaf::of(slot, path).is_some_and(|leaf| self.references.remove(leaf));
        let removed = was_reference || self.values.remove(slot, path);
        self.forget(slot, u32::from(removed));
    }

    /// Removes the leaves of an object whose path consists of `path`, then a handle in `steps`, and then any
    /// handles. Costs O(removed leaves).
    pub(crate) fn cut(&mut self, slot: u32, path: &[u32], steps: Range<u32>) {
        if self.has_any_of(slot) {
            let removed = self.references.cut(slot, path, &steps);
            let removed = removed.saturating_add(self.values.cut(slot, path, &steps));
            self.forget(slot, removed);
        }
    }

    /// Removes all leaves of the object in `slot`, because the object was removed.
    pub(crate) fn remove_object(&mut self, slot: u32) {
        let count = self.counts.get_mut(slot as usize).map_or(0, std::mem::take);
        if count > 0 {
            self.references.cut_lists(List { slot, first: 0, second: 0 }, List::last(slot), &ALL);
            self.values.cut(slot, &[], &ALL);
        }
    }

    fn has_any_of(&self, slot: u32) -> bool {
        self.counts.get(slot as usize).is_some_and(|count| *count > 0)
    }

    fn forget(&mut self, slot: u32, leaves: u32) {
        if let Some(count) = self.counts.get_mut(slot as usize) {
            *count = count.saturating_sub(leaves);
        }
    }

    /// Calls `visit` for each leaf that refers to at least one of `guids`, with the leaf's slot, path and
    /// bits. Costs nothing if no leaf refers to any object. Otherwise each visited leaf costs up to 64 steps,
    /// because leaves are stored in chunks of 64.
    pub(crate) fn each_of(&self, guids: &[Guid], visit: &mut dyn FnMut(u32, &[u32], BitSlice<'_>)) {
        if self.references.chunks.is_empty() && self.values.by_path.is_empty() {
            return;
        }
        let mut leaves = BTreeSet::new();
        for &guid in guids {
            self.references.each_of(guid, visit);
            leaves.extend(self.values.of(guid));
        }
        for (slot, path) in leaves {
            if let Some(value) = self.values.by_path.get(&(slot, Arc::clone(&path))) {
                visit(slot, &path, value.bits());
            }
        }
    }
}

const ALL: Range<u32> = 0..u32::MAX;

/// Returns the guid whose wire form is exactly `bits`. For such a value, the index stores only the guid. It
/// can write the same bits again, because each guid has only one wire form.
fn reference_of(bits: BitSlice<'_>) -> Option<Guid> {
    let mut reader = bits.reader();
    let guid = read_guid(&mut reader).ok()??;
    (reader.remaining() == 0).then_some(guid)
}

/// All leaves with the same parent, identified by the path to the parent, which has at most two handles.
/// `first` and `second` are these handles plus one, or zero if the path is shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct List {
    slot: u32,
    first: u32,
    second: u32,
}

impl List {
    fn of(slot: u32, path: &[u32]) -> Option<Self> {
        match *path {
            [] => Some(Self { slot, first: 0, second: 0 }),
            [first] => Some(Self { slot, first: first.checked_add(1)?, second: 0 }),
            [first, second] => {
                Some(Self { slot, first: first.checked_add(1)?, second: second.checked_add(1)? })
            }
            _ => None,
        }
    }

    /// Returns the list that comes after all other lists of the object in `slot`.
    const fn last(slot: u32) -> Self {
        Self { slot, first: u32::MAX, second: u32::MAX }
    }

    /// Returns the path of a leaf of this list, and the path's length. `step` is the last handle of the path.
    fn path(self, step: u32) -> ([u32; 3], usize) {
        match (self.first.checked_sub(1), self.second.checked_sub(1)) {
            (Some(first), Some(second)) => ([first, second, step], 3),
            (Some(first), None) => ([first, step, 0], 2),
            _ => ([step, 0, 0], 1),
        }
    }
}

/// A leaf, identified by its list and the last handle of its path.
#[derive(Clone, Copy)]
struct Leaf {
    list: List,
    step: u32,
}

impl Leaf {
    fn of(slot: u32, path: &[u32]) -> Option<Self> {
        let (&step, parent) = path.split_last()?;
        Some(Self { list: List::of(slot, parent)?, step })
    }

    fn key(self) -> Key {
        (self.list, self.step / CHUNK)
    }

    fn bit(self) -> u32 {
        self.step % CHUNK
    }
}

/// The greatest number of leaves in a chunk. The last handle of a leaf, divided by this number, is the number
/// of its chunk in the list.
const CHUNK: u32 = 64;

/// The key of a chunk: its list, and the number of the chunk in this list.
type Key = (List, u32);

/// The references of up to 64 neighbouring leaves of a list.
#[derive(Debug, Default)]
struct Chunk {
    /// A bit mask of the leaves that the chunk contains.
    mask: u64,
    guids: Vec<Guid>,
}

impl Chunk {
    /// Returns the index in `guids` of a leaf's guid, or the index at which it would be inserted.
    fn rank(&self, bit: u32) -> usize {
        (self.mask & !u64::MAX.wrapping_shl(bit)).count_ones() as usize
    }

    fn has(&self, bit: u32) -> bool {
        self.mask.wrapping_shr(bit) & 1 == 1
    }

    fn insert(&mut self, bit: u32, guid: Guid) {
        let rank = self.rank(bit);
        if self.guids.len() == self.guids.capacity() {
            self.guids.reserve_exact((self.guids.len() / 4).max(1));
        }
        self.guids.insert(rank, guid);
        self.mask |= 1_u64.wrapping_shl(bit);
    }

    fn remove(&mut self, bit: u32) -> Option<Guid> {
        let rank = self.rank(bit);
        if !self.has(bit) || rank >= self.guids.len() {
            return None;
        }
        self.mask &= !1_u64.wrapping_shl(bit);
        Some(self.guids.remove(rank))
    }

    /// Returns the bit and the guid of each leaf in the chunk.
    fn iter(&self) -> impl Iterator<Item = (u32, Guid)> + '_ {
        (0..CHUNK).filter(|&bit| self.has(bit)).zip(self.guids.iter().copied())
    }
}

/// All leaves that consist of exactly one reference.
#[derive(Debug, Default)]
struct References {
    chunks: BTreeMap<Key, Chunk>,
    /// A pair of a guid and a chunk for each chunk that contains the guid, to find the leaves that refer to a
    /// guid.
    by_guid: BTreeSet<(Guid, Key)>,
}

impl References {
    fn insert(&mut self, leaf: Leaf, guid: Guid) {
        self.chunks.entry(leaf.key()).or_default().insert(leaf.bit(), guid);
        self.by_guid.insert((guid, leaf.key()));
    }

    fn remove(&mut self, leaf: Leaf) -> bool {
        let Some(chunk) = self.chunks.get_mut(&leaf.key()) else { return false };
        let Some(guid) = chunk.remove(leaf.bit()) else { return false };
        if !chunk.guids.contains(&guid) {
            self.by_guid.remove(&(guid, leaf.key()));
        }
        if chunk.mask == 0 {
            self.chunks.remove(&leaf.key());
        }
        true
    }

    /// Removes the leaves of an object whose path consists of `path`, then a handle in `steps`, and then any
    /// handles. Returns the number of removed leaves.
    fn cut(&mut self, slot: u32, path: &[u32], steps: &Range<u32>) -> u32 {
        let mut removed = 0_u32;
        if self.chunks.is_empty() || steps.is_empty() {
            return removed;
        }
        if let Some(list) = List::of(slot, path) {
            removed = self.cut_lists(list, list, steps);
        }
        let nested = |step: u32| List::of(slot, &[path, &[step]].concat());
        if let (Some(first), Some(last)) = (nested(steps.start), nested(steps.end.saturating_sub(1))) {
            // If `path` is empty, all lists between must be included. The list of a property comes before the
            // lists of its elements.
            let last = if path.is_empty() { List { second: u32::MAX, ..last } } else { last };
            removed = removed.saturating_add(self.cut_lists(first, last, &ALL));
        }
        removed
    }

    /// From the lists `first` to `last` (inclusive), removes the leaves whose last handle is in `steps`.
    /// Returns the number of removed leaves.
    fn cut_lists(&mut self, first: List, last: List, steps: &Range<u32>) -> u32 {
        let end = (last, steps.end.saturating_sub(1) / CHUNK);
        let mut from = Bound::Included((first, steps.start / CHUNK));
        let mut removed = 0_u32;
        while let Some((&key, _)) = self.chunks.range((from, Bound::Included(end))).next() {
            from = Bound::Excluded(key);
            let base = key.1.saturating_mul(CHUNK);
            for bit in (0..CHUNK).filter(|&bit| steps.contains(&base.saturating_add(bit))) {
                let step = base.saturating_add(bit);
                removed = removed.saturating_add(self.remove(Leaf { list: key.0, step }).into());
            }
        }
        removed
    }

    fn each_of(&self, guid: Guid, visit: &mut dyn FnMut(u32, &[u32], BitSlice<'_>)) {
        let none = List { slot: 0, first: 0, second: 0 };
        let chunks = self.by_guid.range((guid, (none, 0))..).take_while(|(mentioned, _)| *mentioned == guid);
        let mut bits = BitWriter::new();
        write_guid(Some(guid), &mut bits);
        for (_, key) in chunks {
            let Some(chunk) = self.chunks.get(key) else { continue };
            for (bit, _) in chunk.iter().filter(|(_, mentioned)| *mentioned == guid) {
                let (path, len) = key.0.path(key.1.saturating_mul(CHUNK).saturating_add(bit));
                visit(key.0.slot, path.get(..len).unwrap_or_default(), bits.as_slice());
            }
        }
    }
}

/// All leaves that contain more than one reference, and leaves whose path has more than three handles.
#[derive(Debug, Default)]
struct Values {
    by_path: BTreeMap<LeafPath, Value>,
    /// A pair of a guid and a leaf for each guid to which the leaf refers.
    by_guid: BTreeSet<(Guid, LeafPath)>,
}

#[derive(Debug)]
struct Value {
    guids: Box<[Guid]>,
    bytes: Box<[u8]>,
    bit_len: usize,
}

impl Value {
    fn bits(&self) -> BitSlice<'_> {
        BitSlice::new(&self.bytes, 0, self.bit_len).unwrap_or_default()
    }
}

impl Values {
    fn insert(&mut self, slot: u32, path: &[u32], guids: impl Iterator<Item = Guid>, bits: BitSlice<'_>) {
        let leaf: LeafPath = (slot, path.into());
        let guids: Box<[Guid]> = guids.collect();
        self.by_guid.extend(guids.iter().map(|&guid| (guid, leaf.clone())));
        let (mut writer, bit_len) = (BitWriter::new(), bits.len());
        writer.append(bits);
        self.by_path.insert(leaf, Value { guids, bytes: writer.into_bytes().into(), bit_len });
    }

    fn remove(&mut self, slot: u32, path: &[u32]) -> bool {
        if self.by_path.is_empty() {
            return false;
        }
        let leaf: LeafPath = (slot, path.into());
        let Some(value) = self.by_path.remove(&leaf) else { return false };
        for &guid in &value.guids {
            self.by_guid.remove(&(guid, leaf.clone()));
        }
        true
    }

    /// Removes the leaves of an object whose path consists of `path`, then a handle in `steps`, and then any
    /// handles. Returns the number of removed leaves.
    fn cut(&mut self, slot: u32, path: &[u32], steps: &Range<u32>) -> u32 {
        let is_below = |(other, leaf): &LeafPath| {
            *other == slot
                && leaf
                    .strip_prefix(path)
                    .and_then(|rest| rest.first())
                    .is_some_and(|step| steps.contains(step))
        };
        let mut removed = 0_u32;
        if self.by_path.is_empty() {
            return removed;
        }
        let first: LeafPath = (slot, [path, &[steps.start]].concat().into());
        while let Some((leaf, _)) = self.by_path.range(&first..).next().filter(|(leaf, _)| is_below(leaf)) {
            let (_, path) = leaf.clone();
            self.remove(slot, &path);
            removed = removed.saturating_add(1);
        }
        removed
    }

    fn of(&self, guid: Guid) -> impl Iterator<Item = LeafPath> + '_ {
        let first = (guid, (0, Arc::default()));
        self.by_guid
            .range(first..)
            .take_while(move |(mentioned, _)| *mentioned == guid)
            .map(|(_, leaf)| leaf.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use proptest::prelude::*;

    use super::*;

    /// A naive model of the index: for each leaf, the slots of the objects to which it refers. A leaf that
    /// refers to one object consists of exactly one reference.
    type Model = BTreeMap<(u32, Vec<u32>), BTreeSet<u32>>;

    #[derive(Clone, Debug)]
    enum Action {
        Set(u32, Vec<u32>, BTreeSet<u32>),
        RemoveLeaf(u32, Vec<u32>),
        Cut(u32, Vec<u32>, Range<u32>),
        RemoveObject(u32),
    }

    fn path(len: Range<usize>) -> impl Strategy<Value = Vec<u32>> {
        prop::collection::vec(prop_oneof![1..3_u32, 63..66_u32], len)
    }

    fn action() -> impl Strategy<Value = Action> {
        let slot = 0..3_u32;
        let referred = || prop::collection::btree_set(0..4_u32, 1..3);
        let steps = prop_oneof![
            (1..66_u32).prop_map(|step| step..step + 1),
            (0..66_u32).prop_map(|first| first..u32::MAX),
            (0..3_u32, 0..66_u32).prop_map(|(first, end)| first..end),
        ];
        prop_oneof![
            6 => (slot.clone(), path(1..5), referred()).prop_map(|(slot, path, of)| Action::Set(slot, path, of)),
            2 => (slot.clone(), path(1..5)).prop_map(|(slot, path)| Action::RemoveLeaf(slot, path)),
            2 => (slot.clone(), path(0..3), steps).prop_map(|(slot, path, steps)| Action::Cut(slot, path, steps)),
            1 => slot.prop_map(Action::RemoveObject),
        ]
    }

    fn guid(slot: u32) -> Guid {
        Guid::new(slot, NonZeroU32::MIN)
    }

    fn bits_of(referred: &BTreeSet<u32>) -> BitWriter {
        let mut writer = BitWriter::new();
        referred.iter().for_each(|&slot| write_guid(Some(guid(slot)), &mut writer));
        writer
    }

    /// Returns the leaves that the index visits if the objects in the slots `of` were created or removed.
    fn visited(mentions: &Mentions, of: &[u32]) -> Vec<(u32, Vec<u32>, Vec<u8>)> {
        let mut visited = Vec::new();
        let guids: Vec<Guid> = of.iter().copied().map(guid).collect();
        mentions.each_of(&guids, &mut |slot, path, bits| {
            let mut copy = BitWriter::new();
            copy.append(bits);
            visited.push((slot, path.to_vec(), copy.into_bytes()));
        });
        visited.sort_unstable();
        visited
    }

    /// Asserts that the index has exactly the leaves of the model.
    fn assert_equal(mentions: &Mentions, model: &Model) {
        for of in [&[0][..], &[1], &[2, 3], &[0, 1, 2, 3]] {
            let leaves = model.iter().filter(|(_, referred)| of.iter().any(|slot| referred.contains(slot)));
            let expected: Vec<_> = leaves
                .map(|((slot, path), referred)| (*slot, path.clone(), bits_of(referred).into_bytes()))
                .collect();
            assert_eq!(visited(mentions, of), expected);
        }
        for slot in 0..3 {
            let count = model.keys().filter(|(of, _)| *of == slot).count() as u32;
            assert_eq!(mentions.counts.get(slot as usize).copied().unwrap_or(0), count);
        }
        let Mentions { references, values, .. } = mentions;
        let chunks: BTreeSet<_> = references
            .chunks
            .iter()
            .flat_map(|(key, chunk)| chunk.guids.iter().map(|guid| (*guid, *key)))
            .collect();
        assert_eq!(references.by_guid, chunks);
        assert!(references.chunks.values().all(|chunk| chunk.mask != 0));
        let mentioned: usize = values.by_path.values().map(|value| value.guids.len()).sum();
        assert_eq!(values.by_guid.len(), mentioned);
        let leaves: usize = references.chunks.values().map(|chunk| chunk.guids.len()).sum();
        assert_eq!(leaves + values.by_path.len(), model.len());
    }

    proptest! {
        #[test]
        fn s117_an_index_equals_the_naive_one_and_keeps_no_removed_leaves(
            actions in prop::collection::vec(action(), 0..40),
        ) {
            let (mut mentions, mut model) = (Mentions::default(), Model::new());
            for action in actions {
                match action {
                    Action::Set(slot, path, referred) => {
                        let mut guids = referred.iter().copied().map(guid);
                        mentions.set(slot, &path, &mut guids, bits_of(&referred).as_slice());
                        model.insert((slot, path), referred);
                    }
                    Action::RemoveLeaf(slot, path) => {
                        mentions.remove_leaf(slot, &path);
                        model.remove(&(slot, path));
                    }
                    Action::Cut(slot, path, steps) => {
                        mentions.cut(slot, &path, steps.clone());
                        model.retain(|(of, leaf), _| {
                            let next = leaf.strip_prefix(&*path).and_then(<[u32]>::first);
                            *of != slot || next.is_none_or(|step| !steps.contains(step))
                        });
                    }
                    Action::RemoveObject(slot) => {
                        mentions.remove_object(slot);
                        model.retain(|(of, _), _| *of != slot);
                    }
                }
                assert_equal(&mentions, &model);
            }
        }
    }
}
