//! Anchors: places that are found in both lists because a few units in a row occur once in each, as in the
//! patience algorithm of Bram Cohen.
//!
//! *Invariant:* anchors are in the order of both lists.
#![expect(clippy::indexing_slicing, reason = "positions in lists of this process")]

/// How many units in a row make an anchor.
const UNITS: usize = 8;

/// A position in the old list, and one in the new list.
type Pair = (usize, usize);

/// Returns the positions of anchors in two lists of units with these hashes. Costs O(n log n).
pub(super) fn anchors(old: &[u64], new: &[u64]) -> Vec<Pair> {
    increasing(&unique_in_both(old, new))
}

/// Returns where units in a row begin that occur once in each list, in the order of the new list.
fn unique_in_both(old: &[u64], new: &[u64]) -> Vec<Pair> {
    let rows = |units: &[u64], is_new: bool| {
        units.windows(UNITS).enumerate().map(move |(at, row)| (hash_of(row), is_new, at)).collect::<Vec<_>>()
    };
    let mut all = [rows(old, false), rows(new, true)].concat();
    all.sort_unstable();
    let pair = |same: &[(u64, bool, usize)]| match *same {
        [(_, false, old), (_, true, new)] => Some((old, new)),
        _ => None,
    };
    let mut pairs: Vec<Pair> = all.chunk_by(|one, other| one.0 == other.0).filter_map(pair).collect();
    pairs.sort_unstable_by_key(|(_, new)| *new);
    pairs
}

fn hash_of(row: &[u64]) -> u64 {
    row.iter().fold(0, |hash: u64, unit| (hash.rotate_left(5) ^ unit).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Returns the longest sequence of pairs that are in the order of the old list, too.
fn increasing(pairs: &[Pair]) -> Vec<Pair> {
    // The last pairs of the best sequences of each length, and the pair before each pair.
    let (mut last, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for (at, (old, _)) in pairs.iter().enumerate() {
        let len = last.partition_point(|&other| pairs[other].0 < *old);
        before.push(len.checked_sub(1).map(|shorter| last[shorter]));
        match last.get_mut(len) {
            Some(last) => *last = at,
            None => last.push(at),
        }
    }
    let from_end = std::iter::successors(last.last().copied(), |&at| before[at]);
    let mut found: Vec<Pair> = from_end.map(|at| pairs[at]).collect();
    found.reverse();
    found
}
