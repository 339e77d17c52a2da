//! The keys that identify cells, and the order of the cells in tables.
//!
//! *Invariant:* different cells have different ranks, in the same order as their keys.

use std::hash::{BuildHasher, Hasher, RandomState};

use super::area::CellPosition;

/// A group of connections, for example a team, a room or a level. You choose its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Group(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum CellKey {
    Group(Group),
    /// A cell in the area of a class.
    At(u16, CellPosition),
}

/// A number that sorts all cells. Cells of an area that follow each other on its last axis have consecutive
/// ranks, so a row of cells is a range of ranks.
pub(crate) type Rank = u128;

impl CellKey {
    /// Returns the rank of the cell. `is_flat` says whether the area of the cell is flat.
    pub(super) fn rank(self, is_flat: bool) -> Rank {
        match self {
            Self::Group(Group(number)) => number.into(),
            Self::At(class, [x, y, z]) => {
                let axes = if is_flat { [x, z, y] } else { [x, y, z] };
                // With the sign bit inverted, the numbers have the order of the coordinates.
                let axes = axes.map(|at| u128::from(at as u32 ^ 1 << 31));
                1 << 127 | u128::from(class) << 96 | axes[0] << 64 | axes[1] << 32 | axes[2]
            }
        }
    }
}

/// Returns the class whose area has the cell with a rank, or `None` if it is the cell of a group.
pub(super) const fn area_of(rank: Rank) -> Option<u16> {
    if rank >> 127 == 1 { Some((rank >> 96) as u16) } else { None }
}

/// Makes hashers for ranks. They are several times faster than those of the standard library, and have a
/// random seed, so that a client cannot choose positions in cells whose hashes collide.
#[derive(Clone, Debug)]
pub(super) struct RankHashing([u64; 2]);

impl Default for RankHashing {
    fn default() -> Self {
        let random = RandomState::new();
        Self([0, 1].map(|number: u64| random.hash_one(number)))
    }
}

impl BuildHasher for RankHashing {
    type Hasher = RankHasher;

    fn build_hasher(&self) -> RankHasher {
        RankHasher { seeds: self.0, hash: 0 }
    }
}

pub(super) struct RankHasher {
    seeds: [u64; 2],
    hash: u64,
}

impl Hasher for RankHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u128(byte.into()));
    }

    fn write_u128(&mut self, rank: u128) {
        let low = rank as u64 ^ self.hash ^ self.seeds[0];
        let high = (rank >> 64) as u64 ^ self.seeds[1];
        let product = u128::from(low) * u128::from(high);
        self.hash = product as u64 ^ (product >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.hash
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ranks_have_the_order_of_their_keys_and_rows_are_ranges() {
        let around = [i32::MIN, -2, -1, 0, 1, i32::MAX];
        let mut keys: Vec<CellKey> = vec![CellKey::Group(Group(0)), CellKey::Group(Group(u32::MAX))];
        for class in [0, 1, u16::MAX] {
            for (x, y) in around.into_iter().flat_map(|x| around.map(|y| (x, y))) {
                keys.extend(around.map(|z| CellKey::At(class, [x, y, z])));
            }
        }
        assert!(keys.is_sorted_by_key(|key| key.rank(false)));
        assert_eq!(keys.iter().map(|key| key.rank(false)).collect::<HashSet<_>>().len(), keys.len());
        let at = |x, y, z| CellKey::At(3, [x, y, z]);
        assert_eq!(at(5, -1, -1).rank(false) + 1, at(5, -1, 0).rank(false));
        assert_eq!(at(5, -1, 0).rank(true) + 1, at(5, 0, 0).rank(true));
        assert!(at(5, i32::MAX, 0).rank(true) < at(6, i32::MIN, 0).rank(true));
        let areas = keys.iter().map(|key| area_of(key.rank(false)));
        let expected = keys.iter().map(|key| match key {
            CellKey::Group(_) => None,
            CellKey::At(class, _) => Some(*class),
        });
        assert!(areas.eq(expected));
    }

    #[test]
    fn the_hashes_of_an_area_are_spread_evenly() {
        let hashing = RankHashing([0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210]);
        // Hash tables use the low bits and the highest seven bits of a hash.
        let (mut low, mut high) = ([0_u32; 1_024], [0_u32; 128]);
        for at in 0..10_000 {
            let hash = hashing.hash_one(CellKey::At(1, [at / 100 - 50, at % 100 - 50, 0]).rank(true));
            low[hash as usize % 1_024] += 1;
            high[(hash >> 57) as usize] += 1;
        }
        assert!(low.iter().all(|count| *count < 40), "10 on average: {:?}", low.iter().max());
        assert!(high.iter().all(|count| *count < 250), "78 on average: {:?}", high.iter().max());
    }
}
