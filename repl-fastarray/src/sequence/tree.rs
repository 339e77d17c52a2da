//! The order of a sequence: a balanced tree of keys. Each part of the tree stores its number of keys. With
//! these numbers, the tree finds the key at an index, and the index of a key.
//!
//! The tree is a B-tree. Leaves contain keys, and inner nodes refer to child nodes. Each entry of a node
//! stores the number of keys below the entry. All nodes are in one vector and refer to each other by index.
//! Each node stores its parent, and a table stores the leaf of each key.
//!
//! *Invariant:* between two calls, each node except the root has `MIN_ENTRIES` to `NODE_ENTRIES` − 1 entries.
//! All leaves of the tree are at the same depth. The count that an entry stores is the number of keys below
//! it.

use std::ops::Range;

/// The greatest number of entries of a node. A node with this many entries is split immediately.
const NODE_ENTRIES: usize = 32;
/// The least number of entries of a node that is not the root.
const MIN_ENTRIES: usize = NODE_ENTRIES / 4;
/// The greatest number of entries of a node when the whole tree is built in one pass. The rest of each node
/// is room for later insertions. After a split at an end of the tree, the fuller of the two nodes has
/// [`BUILT_ENTRIES`] entries.
const BUILT_ENTRIES: usize = NODE_ENTRIES * 3 / 4;
/// The index that stands for "no node".
const NONE: u32 = u32::MAX;

/// An entry of a node: a key, or a child node with the number of keys below it.
#[derive(Clone, Copy)]
struct NodeEntry {
    id: u32,
    count: u32,
}

#[derive(Clone)]
struct Node {
    parent: u32,
    len: u32,
    /// The entries of the node: keys in a leaf, and child nodes in an inner node.
    ids: [u32; NODE_ENTRIES],
    /// The number of keys below each entry, which is 1 for each entry of a leaf. The counts and the ids are
    /// in separate arrays, so that a search in a leaf loads only half of the node into the cache.
    counts: [u32; NODE_ENTRIES],
}

impl Node {
    const EMPTY: Self = Self { parent: NONE, len: 0, ids: [0; NODE_ENTRIES], counts: [0; NODE_ENTRIES] };

    fn len(&self) -> usize {
        self.len as usize
    }

    fn ids(&self) -> &[u32] {
        &self.ids[..self.len()]
    }

    fn insert(&mut self, at: usize, entry: NodeEntry) {
        self.open(at, 1);
        (self.ids[at], self.counts[at]) = (entry.id, entry.count);
    }

    fn remove(&mut self, at: usize) {
        self.close(at..at + 1);
    }

    /// Makes room for `count` entries at the position `at` of this node.
    fn open(&mut self, at: usize, count: usize) {
        let len = self.len();
        self.ids.copy_within(at..len, at + count);
        self.counts.copy_within(at..len, at + count);
        self.len += count as u32;
    }

    /// Removes a range of entries from this node.
    fn close(&mut self, range: Range<usize>) {
        let len = self.len();
        self.ids.copy_within(range.end..len, range.start);
        self.counts.copy_within(range.end..len, range.start);
        self.len -= range.len() as u32;
    }

    /// Returns the position of the entry `id` in this node, which must contain it.
    fn find(&self, id: u32) -> usize {
        let found = self.ids().iter().position(|&other| other == id);
        found.unwrap_or_else(|| unreachable!("an entry is not in the node that it names as its parent"))
    }

    /// Returns the number of keys below the entries before the position `at` of this node.
    fn count_before(&self, at: usize) -> usize {
        self.counts[..at].iter().map(|&count| count as usize).sum()
    }
}

/// A position in a leaf of the tree. The field `at` may be the length of the leaf, which is the position
/// after its last key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spot {
    leaf: u32,
    at: usize,
}

/// An ordered list of numbers, which are called keys. A key is a small number that is chosen at insertion.
/// After a key was removed, its number is used again.
///
/// All methods of `Order` cost O(log n) unless their documentation says otherwise.
#[derive(Clone)]
pub(crate) struct Order {
    nodes: Vec<Node>,
    free_nodes: Vec<u32>,
    root: u32,
    /// The number of levels of the tree above the leaves.
    height: u32,
    len: usize,
    /// The leaf that contains each key, or [`NONE`] if the key is not in use.
    leaves: Vec<u32>,
    free_keys: Vec<u32>,
}

impl Default for Order {
    fn default() -> Self {
        Self::new()
    }
}

impl Order {
    pub(crate) const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            free_nodes: Vec::new(),
            root: NONE,
            height: 0,
            len: 0,
            leaves: Vec::new(),
            free_keys: Vec::new(),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn key_at(&self, index: usize) -> Option<u32> {
        let spot = self.spot(index)?;
        Some(self.nodes[spot.leaf as usize].ids[spot.at])
    }

    /// Returns the index of `key`, or `None` if the key is not in use.
    pub(crate) fn index_of(&self, key: u32) -> Option<usize> {
        let mut id = self.leaf_of(key)?;
        let leaf = &self.nodes[id as usize];
        let (mut index, mut node) = (leaf.find(key), leaf.parent);
        while node != NONE {
            let above = &self.nodes[node as usize];
            index += above.count_before(above.find(id));
            (id, node) = (node, above.parent);
        }
        Some(index)
    }

    /// Chooses a new key, inserts it before the key at `index` (or at the end if `index` is the number of
    /// keys), and returns it.
    ///
    /// # Panics
    /// Panics if `index` is greater than the number of keys.
    pub(crate) fn insert(&mut self, index: usize) -> u32 {
        let key = self.free_keys.pop().unwrap_or_else(|| {
            let key = key_count(self.leaves.len());
            self.leaves.push(NONE);
            key
        });
        self.attach(key, index);
        key
    }

    /// Removes `key`, so that its number may be used again. Returns false if the key is not in use.
    pub(crate) fn remove(&mut self, key: u32) -> bool {
        let known = self.detach(key);
        if known {
            self.free_keys.push(key);
        }
        known
    }

    /// Inserts `key`, which was [detached](Self::detach), at `index`.
    ///
    /// # Panics
    /// Panics if `index` is greater than the number of keys.
    pub(crate) fn attach(&mut self, key: u32, index: usize) {
        assert!(index <= self.len, "index {index} is beyond the end of a sequence of {}", self.len);
        if self.root == NONE {
            self.root = self.make_node();
        }
        let (mut leaf, mut at) = (self.root, index);
        for _ in 0..self.height {
            let inner = &mut self.nodes[leaf as usize];
            let mut child = 0;
            while at > inner.counts[child] as usize {
                (at, child) = (at - inner.counts[child] as usize, child + 1);
            }
            inner.counts[child] += 1;
            leaf = inner.ids[child];
        }
        self.nodes[leaf as usize].insert(at, NodeEntry { id: key, count: 1 });
        self.leaves[key as usize] = leaf;
        self.len += 1;
        self.split_full(leaf, at);
    }

    /// Removes `key` from the order, but keeps its number in use until the key is [attached](Self::attach)
    /// again. Returns false if the key is not in the tree.
    pub(crate) fn detach(&mut self, key: u32) -> bool {
        let Some(leaf) = self.leaf_of(key) else { return false };
        let at = self.nodes[leaf as usize].find(key);
        self.nodes[leaf as usize].remove(at);
        self.leaves[key as usize] = NONE;
        self.len -= 1;
        let (mut id, mut node) = (leaf, self.nodes[leaf as usize].parent);
        while node != NONE {
            let parent = &mut self.nodes[node as usize];
            let at = parent.find(id);
            parent.counts[at] -= 1;
            (id, node) = (node, parent.parent);
        }
        self.fill_sparse(leaf);
        true
    }

    /// Removes all keys, but does not free the memory. Costs O(n).
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.free_nodes.clear();
        self.leaves.clear();
        self.free_keys.clear();
        (self.root, self.height, self.len) = (NONE, 0, 0);
    }

    /// Returns how many keys at the start satisfy the condition `is_before`. Keys that satisfy `is_before`
    /// must come before all other keys.
    ///
    /// The method calls `is_before` O(log n) times. The whole search needs O(log² n) steps, because
    /// `partition_point` walks down to the first key of a node for each call.
    pub(crate) fn partition_point(&self, mut is_before: impl FnMut(u32) -> bool) -> usize {
        let (mut node, mut index) = (self.root, 0);
        if node == NONE {
            return 0;
        }
        for level in (0..self.height).rev() {
            let inner = &self.nodes[node as usize];
            let at = inner.ids()[1..].partition_point(|&child| is_before(self.first_key(child, level)));
            index += inner.count_before(at);
            node = inner.ids[at];
        }
        index + self.nodes[node as usize].ids().partition_point(|&key| is_before(key))
    }

    /// Returns an iterator over the keys from `index` on. Costs O(log n), and then O(1) for each key on
    /// average.
    pub(crate) fn iter_from(&self, index: usize) -> Keys<'_> {
        self.iter_range(index.min(self.len)..self.len)
    }

    /// Returns an iterator over the keys of a range, which must be within the length.
    pub(crate) fn iter_range(&self, range: Range<usize>) -> Keys<'_> {
        let ends = self.spot(range.start).zip(range.end.checked_sub(1).and_then(|last| self.spot(last)));
        let nowhere = Spot { leaf: NONE, at: 0 };
        let (front, back) = ends.unwrap_or((nowhere, nowhere));
        Keys { order: self, front, back, left: range.len() }
    }

    pub(crate) fn reserve(&mut self, additional: usize) {
        self.leaves.reserve(additional);
    }

    /// Reorders all keys to the order of `keys`, which contains each key in use once. Costs O(n).
    pub(crate) fn arrange(&mut self, keys: &[u32]) {
        debug_assert_eq!(keys.len(), self.len, "an arrangement names every key once");
        self.build(keys);
    }

    /// Replaces all keys by the keys from 0 to `len` - 1, in this order. Costs O(n).
    pub(crate) fn fill(&mut self, len: usize) {
        self.free_keys.clear();
        let keys: Vec<u32> = (0..key_count(len)).collect();
        self.leaves.clear();
        self.leaves.resize(len, NONE);
        self.build(&keys);
    }

    fn leaf_of(&self, key: u32) -> Option<u32> {
        self.leaves.get(key as usize).copied().filter(|&leaf| leaf != NONE)
    }

    /// Returns the leaf of the key at `index`, and the position in the leaf.
    fn spot(&self, index: usize) -> Option<Spot> {
        if index >= self.len {
            return None;
        }
        let (mut node, mut at) = (self.root, index);
        for _ in 0..self.height {
            let inner = &self.nodes[node as usize];
            let mut child = 0;
            while let Some(rest) = at.checked_sub(inner.counts[child] as usize) {
                (at, child) = (rest, child + 1);
            }
            node = inner.ids[child];
        }
        Some(Spot { leaf: node, at })
    }

    /// Returns the first key below `node`, which is `height` levels above the leaves.
    fn first_key(&self, mut node: u32, height: u32) -> u32 {
        for _ in 0..height {
            node = self.nodes[node as usize].ids[0];
        }
        self.nodes[node as usize].ids[0]
    }

    /// Splits the node `leaf` if it is full. `split_full` then also splits each full node above the leaf. The
    /// argument `at` is the position of the entry that was inserted last.
    fn split_full(&mut self, leaf: u32, mut at: usize) {
        let (mut node, mut level) = (leaf, 0);
        while self.nodes[node as usize].len() == NODE_ENTRIES {
            // After an insertion at one end of the tree, more insertions at that end are likely. So after the
            // split, the node at that end has more free room.
            let cut = match at {
                0 => NODE_ENTRIES - BUILT_ENTRIES,
                _ if at == NODE_ENTRIES - 1 => BUILT_ENTRIES,
                _ => NODE_ENTRIES / 2,
            };
            if self.nodes[node as usize].parent == NONE {
                self.raise_root();
            }
            let right = self.make_node();
            let moved = self.move_entries(node, cut..NODE_ENTRIES, right, 0, level);
            let parent = self.nodes[node as usize].parent;
            self.nodes[right as usize].parent = parent;
            let above = &mut self.nodes[parent as usize];
            at = above.find(node);
            above.counts[at] -= moved;
            at += 1;
            above.insert(at, NodeEntry { id: right, count: moved });
            (node, level) = (parent, level + 1);
        }
    }

    /// Merges `leaf` with a neighbouring leaf, or moves entries from a neighbouring leaf to it, if `leaf` has
    /// too few entries. Then the nodes above the leaf are treated in the same way.
    fn fill_sparse(&mut self, leaf: u32) {
        let (mut node, mut level) = (leaf, 0);
        while node != self.root && self.nodes[node as usize].len() < MIN_ENTRIES {
            let parent = self.nodes[node as usize].parent;
            let position = self.nodes[parent as usize].find(node).max(1);
            let [left, right] = [position - 1, position].map(|at| self.nodes[parent as usize].ids[at]);
            let [left_len, right_len] = [left, right].map(|node| self.nodes[node as usize].len());
            if left_len + right_len < NODE_ENTRIES {
                let moved = self.move_entries(right, 0..right_len, left, left_len, level);
                let above = &mut self.nodes[parent as usize];
                above.counts[position - 1] += moved;
                above.remove(position);
                self.free_nodes.push(right);
            } else {
                self.balance(parent, position, level);
            }
            (node, level) = (parent, level + 1);
        }
        while self.height > 0 && self.nodes[self.root as usize].len == 1 {
            self.free_nodes.push(self.root);
            self.root = self.nodes[self.root as usize].ids[0];
            self.nodes[self.root as usize].parent = NONE;
            self.height -= 1;
        }
    }

    /// Distributes the entries of two neighbouring nodes evenly. The nodes are at `position` and `position -
    /// 1` of their `parent`. Both balanced nodes are at `level` of the tree.
    fn balance(&mut self, parent: u32, position: usize, level: u32) {
        let [left, right] = [position - 1, position].map(|at| self.nodes[parent as usize].ids[at]);
        let [left_len, right_len] = [left, right].map(|node| self.nodes[node as usize].len());
        let half = (left_len + right_len) / 2;
        if left_len > half {
            let moved = self.move_entries(left, half..left_len, right, 0, level);
            let above = &mut self.nodes[parent as usize];
            above.counts[position - 1] -= moved;
            above.counts[position] += moved;
        } else {
            let moved = self.move_entries(right, 0..half - left_len, left, left_len, level);
            let above = &mut self.nodes[parent as usize];
            above.counts[position - 1] += moved;
            above.counts[position] -= moved;
        }
    }

    /// Moves the entries `range` of the node `from` to position `at` of the node `to`. Both nodes are at
    /// `level` of the tree. Returns how many keys are below the moved entries.
    fn move_entries(&mut self, from: u32, range: Range<usize>, to: u32, at: usize, level: u32) -> u32 {
        let positions = at..at + range.len();
        let Ok([source, target]) = self.nodes.get_disjoint_mut([from as usize, to as usize]) else {
            unreachable!("entries are moved between two nodes")
        };
        target.open(at, range.len());
        target.ids[positions.clone()].copy_from_slice(&source.ids[range.clone()]);
        target.counts[positions.clone()].copy_from_slice(&source.counts[range.clone()]);
        source.close(range);
        self.set_parents(to, positions, level)
    }

    /// Sets `node` as the parent of those of its entries that are in `range`. The node is at `level` of the
    /// tree. Returns how many keys are below the entries in `range`.
    fn set_parents(&mut self, node: u32, range: Range<usize>, level: u32) -> u32 {
        for at in range.clone() {
            let id = self.nodes[node as usize].ids[at] as usize;
            if level == 0 {
                self.leaves[id] = node;
            } else {
                self.nodes[id].parent = node;
            }
        }
        self.nodes[node as usize].counts[range].iter().sum()
    }

    /// Adds a new root above the current root.
    fn raise_root(&mut self) {
        let root = self.make_node();
        self.nodes[self.root as usize].parent = root;
        self.nodes[root as usize].insert(0, NodeEntry { id: self.root, count: self.len as u32 });
        self.root = root;
        self.height += 1;
    }

    fn make_node(&mut self) -> u32 {
        match self.free_nodes.pop() {
            Some(node) => {
                self.nodes[node as usize] = Node::EMPTY;
                node
            }
            None => {
                if self.nodes.is_empty() {
                    // Most arrays are short, and need no second node.
                    self.nodes.reserve_exact(1);
                }
                self.nodes.push(Node::EMPTY);
                (self.nodes.len() - 1) as u32
            }
        }
    }

    /// Builds the whole tree again from `keys`, in this order.
    fn build(&mut self, keys: &[u32]) {
        self.nodes.clear();
        self.free_nodes.clear();
        (self.root, self.height, self.len) = (NONE, 0, keys.len());
        let mut entries: Vec<NodeEntry> = keys.iter().map(|&id| NodeEntry { id, count: 1 }).collect();
        let mut level = 0;
        while !entries.is_empty() {
            let parts = entries.len().div_ceil(BUILT_ENTRIES);
            let above = (0..parts).map(|part| {
                let range = entries.len() * part / parts..entries.len() * (part + 1) / parts;
                let (node, len) = (self.make_node(), range.len());
                for entry in &entries[range] {
                    let end = self.nodes[node as usize].len();
                    self.nodes[node as usize].insert(end, *entry);
                }
                NodeEntry { id: node, count: self.set_parents(node, 0..len, level) }
            });
            let above: Vec<NodeEntry> = above.collect();
            if let [root] = above[..] {
                (self.root, self.height) = (root.id, level);
                return;
            }
            (entries, level) = (above, level + 1);
        }
    }

    /// Returns the first position of the leaf after `leaf` if `forward` is set, and the last position of the
    /// leaf before `leaf` otherwise.
    fn beside(&self, leaf: u32, forward: bool) -> Option<Spot> {
        let (mut id, mut node) = (leaf, self.nodes[leaf as usize].parent);
        let mut height = 0;
        while node != NONE {
            let ids = self.nodes[node as usize].ids();
            let at = self.nodes[node as usize].find(id);
            let next = if forward { at.checked_add(1) } else { at.checked_sub(1) };
            if let Some(&next) = next.and_then(|next| ids.get(next)) {
                let mut leaf = next;
                for _ in 0..height {
                    let ids = self.nodes[leaf as usize].ids();
                    leaf = ids[if forward { 0 } else { ids.len() - 1 }];
                }
                let at = if forward { 0 } else { self.nodes[leaf as usize].len() - 1 };
                return Some(Spot { leaf, at });
            }
            (id, node) = (node, self.nodes[node as usize].parent);
            height += 1;
        }
        None
    }
}

/// Converts a number of keys to `u32`, the type of keys.
fn key_count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or_else(|_| panic!("a sequence has fewer than 2^32 items"))
}

/// An iterator over the keys of an [`Order`], which can take keys from both ends.
#[derive(Clone)]
pub(crate) struct Keys<'a> {
    order: &'a Order,
    front: Spot,
    back: Spot,
    left: usize,
}

impl Iterator for Keys<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let keys = self.order.nodes[self.front.leaf as usize].ids();
        let key = keys[self.front.at];
        self.front.at += 1;
        if self.front.at == keys.len() && self.left > 0 {
            self.front = self.order.beside(self.front.leaf, true)?;
        }
        Some(key)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl DoubleEndedIterator for Keys<'_> {
    fn next_back(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let key = self.order.nodes[self.back.leaf as usize].ids[self.back.at];
        match self.back.at.checked_sub(1) {
            Some(at) => self.back.at = at,
            None if self.left > 0 => self.back = self.order.beside(self.back.leaf, false)?,
            None => {}
        }
        Some(key)
    }
}

impl ExactSizeIterator for Keys<'_> {}

#[cfg(test)]
impl Order {
    /// Panics if the invariant of this module does not hold.
    pub(crate) fn check(&self) {
        let used = self.leaves.iter().filter(|&&leaf| leaf != NONE).count();
        assert_eq!(used, self.len);
        assert_eq!(self.leaves.len() - used, self.free_keys.len());
        let mut nodes = 0;
        if self.root != NONE {
            assert_eq!(self.nodes[self.root as usize].parent, NONE);
            assert!(self.height == 0 || self.nodes[self.root as usize].len > 1);
            assert_eq!(self.check_node(self.root, self.height, &mut nodes), self.len);
        }
        assert_eq!(self.nodes.len() - nodes, self.free_nodes.len());
    }

    fn check_node(&self, id: u32, level: u32, nodes: &mut usize) -> usize {
        *nodes += 1;
        let node = &self.nodes[id as usize];
        assert!(
            node.len() < NODE_ENTRIES && (id == self.root || node.len() >= MIN_ENTRIES),
            "{} entries",
            node.len()
        );
        for (&entry, &count) in node.ids().iter().zip(&node.counts) {
            if level == 0 {
                assert_eq!((self.leaves[entry as usize], count), (id, 1));
            } else {
                assert_eq!(self.nodes[entry as usize].parent, id);
                assert_eq!(self.check_node(entry, level - 1, nodes), count as usize);
            }
        }
        node.count_before(node.len())
    }
}
