//! Strips: 64 cells with consecutive ranks. Facts about the cells of a strip, for example which of them are
//! in sight, are stored as a 64-bit word with a bit for each cell. A connection needs less time for a row of
//! cells if the whole row is in one strip. Most worlds lie around the origin, so the origin is in the middle
//! of a strip: then the cells around it are in one strip.
//!
//! *Invariant:* a strip keeps its number while any of its cells exists.

use std::collections::HashMap;

use super::rank::{Rank, RankHashing, area_of};

/// The number of cells of a strip that are before the origin, or before another multiple of 64.
const BEFORE_ORIGIN: Rank = 32;

/// The number of a strip (64 cells with consecutive ranks), and the index of a cell in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StripPlace(u32);

impl StripPlace {
    #[cfg(test)]
    pub(crate) const fn new(strip: u32, cell: u32) -> Self {
        Self(strip * 64 + cell)
    }

    /// Returns the place of the cell with a rank in its strip.
    #[inline]
    const fn of(strip: u32, rank: Rank) -> Self {
        Self(strip * 64 + ((rank + BEFORE_ORIGIN) % 64) as u32)
    }

    #[inline]
    pub(crate) const fn strip(self) -> u32 {
        self.0 / 64
    }

    #[inline]
    pub(crate) const fn at(self) -> usize {
        (self.0 % 64) as usize
    }

    /// Returns the bit of the cell in a bit mask of its strip.
    #[inline]
    pub(crate) const fn bit(self) -> u64 {
        1 << (self.0 % 64)
    }
}

/// 64 cells with consecutive ranks.
#[derive(Debug)]
struct Strip {
    /// A bit for each cell that exists.
    cells: u64,
    /// The number of each cell that exists.
    numbers: [u32; 64],
}

#[derive(Debug, Default)]
pub(super) struct Strips {
    /// The number of each strip, by the strip's [key](key_of).
    numbers: HashMap<Rank, u32, RankHashing>,
    strips: Vec<Strip>,
    keys: Vec<Rank>,
    free: Vec<u32>,
}

impl Strips {
    /// Returns the number of the cell with a rank, and its place, if the cell exists.
    #[inline]
    pub(super) fn find(&self, rank: Rank) -> Option<(u32, StripPlace)> {
        let number = *self.numbers.get(&key_of(rank))?;
        let (strip, place) = (&self.strips[number as usize], StripPlace::of(number, rank));
        (strip.cells & place.bit() != 0).then(|| (strip.numbers[place.at()], place))
    }

    /// Adds a cell with a rank and a number. Returns its place.
    pub(super) fn add(&mut self, rank: Rank, number: u32) -> StripPlace {
        let Self { numbers, strips, keys, free } = self;
        let strip = *numbers.entry(key_of(rank)).or_insert_with(|| match free.pop() {
            Some(strip) => {
                keys[strip as usize] = key_of(rank);
                strip
            }
            None => {
                strips.push(Strip { cells: 0, numbers: [0; 64] });
                keys.push(key_of(rank));
                strips.len() as u32 - 1
            }
        });
        let place = StripPlace::of(strip, rank);
        let strip = &mut strips[strip as usize];
        strip.cells |= place.bit();
        strip.numbers[place.at()] = number;
        place
    }

    /// Returns whether there are no cells.
    pub(super) fn are_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Returns the rank of the cell at a place.
    #[inline]
    pub(super) fn rank_of(&self, place: StripPlace) -> Rank {
        self.keys[place.strip() as usize] * 64 + place.at() as Rank - BEFORE_ORIGIN
    }

    /// Returns the class whose area contains the cells of a strip (of 64 cells), or `None` if they are cells
    /// of groups.
    pub(super) fn area_of(&self, strip: u32) -> Option<u16> {
        area_of(self.keys[strip as usize] * 64)
    }

    pub(super) fn remove(&mut self, place: StripPlace) {
        let strip = &mut self.strips[place.strip() as usize];
        strip.cells &= !place.bit();
        if strip.cells == 0 {
            self.numbers.remove(&self.keys[place.strip() as usize]);
            self.free.push(place.strip());
        }
    }
}

/// Returns the key of the strip that contains the cell with a rank.
#[inline]
const fn key_of(rank: Rank) -> Rank {
    (rank + BEFORE_ORIGIN) / 64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::cells::rank::{CellKey, Group};

    #[test]
    fn the_origin_is_in_the_middle_of_a_strip() {
        let mut strips = Strips::default();
        let mut place = |z| strips.add(CellKey::At(0, [7, 7, z]).rank(false), 0);
        let around: Vec<StripPlace> = (-32..32).map(&mut place).collect();
        assert!(around.iter().all(|place| place.strip() == around[0].strip()));
        assert!([-33, 32].map(place).iter().all(|place| place.strip() != around[0].strip()));
        let groups = [0, u32::MAX].map(|number| CellKey::Group(Group(number)).rank(false));
        let corners = [i32::MIN, i32::MAX].map(|at| CellKey::At(u16::MAX, [at; 3]).rank(false));
        for rank in [groups, corners].concat() {
            let place = strips.add(rank, 1);
            assert_eq!(strips.rank_of(place), rank);
        }
    }

    #[test]
    fn cells_with_consecutive_ranks_share_a_strip_and_empty_strips_are_used_again() {
        let mut strips = Strips::default();
        let start = (1 << 127 | 1 << 96) + BEFORE_ORIGIN;
        let places: Vec<StripPlace> =
            (start..start + 65).zip(7..).map(|(rank, cell)| strips.add(rank, cell)).collect();
        assert!(places[..64].iter().all(|place| place.strip() == places[0].strip()));
        assert_eq!(places[..64].iter().fold(0, |word, place| word | place.bit()), u64::MAX);
        assert_ne!(places[64].strip(), places[0].strip());
        let find = |strips: &Strips, at| strips.find(start + at).map(|(cell, _)| cell);
        assert_eq!([0, 9, 64, 65].map(|at| find(&strips, at)), [Some(7), Some(16), Some(71), None]);
        assert!((start..).zip(&places).all(|(rank, &place)| strips.rank_of(place) == rank));
        strips.remove(places[64]);
        assert_eq!(find(&strips, 64), None);
        assert_eq!(strips.add(1 << 127 | 2 << 96, 8).strip(), places[64].strip());
        assert_eq!([places[0], places[64]].map(|place| strips.area_of(place.strip())), [Some(1), Some(2)]);
        places[1..64].iter().for_each(|&place| strips.remove(place));
        assert_eq!([0, 1].map(|at| find(&strips, at)), [Some(7), None]);
        assert_eq!(strips.add(start + 9, 9).strip(), places[0].strip(), "one cell is left");
    }
}
