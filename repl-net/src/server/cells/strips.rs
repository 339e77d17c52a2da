//! Strips: 64 cells with consecutive ranks. What is known of the cells of a strip, for example which of them
//! are in sight, is a word with a bit for each cell.
//!
//! *Invariant:* a strip keeps its number while any of its cells exists.

use std::collections::HashMap;

use super::rank::{Rank, RankHashing};

/// The place of a cell in its strip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StripPlace(u32);

impl StripPlace {
    #[cfg(test)]
    pub(crate) const fn new(strip: u32, cell: u32) -> Self {
        Self(strip * 64 + cell)
    }

    /// Returns the number of the strip.
    #[inline]
    pub(crate) const fn strip(self) -> u32 {
        self.0 / 64
    }

    /// Returns the bit of the cell in words about its strip.
    #[inline]
    pub(crate) const fn bit(self) -> u64 {
        1 << (self.0 % 64)
    }
}

/// The numbers of the strips with cells.
#[derive(Debug, Default)]
pub(super) struct Strips {
    /// The numbers of the strips by the ranks of their cells, divided by 64.
    numbers: HashMap<Rank, u32, RankHashing>,
    /// For each strip, which of its cells exist.
    cells: Vec<u64>,
    /// For each strip, the class whose area has the cells, or `None` if they are cells of groups.
    areas: Vec<Option<u16>>,
    free: Vec<u32>,
}

impl Strips {
    /// Adds the cell with a rank in the area of a class, or of a group. Returns its place.
    pub(super) fn add(&mut self, rank: Rank, area: Option<u16>) -> StripPlace {
        let Self { numbers, cells, areas, free } = self;
        let number = *numbers.entry(rank / 64).or_insert_with(|| {
            let number = free.pop().unwrap_or_else(|| {
                cells.push(0);
                areas.push(None);
                cells.len() as u32 - 1
            });
            areas[number as usize] = area;
            number
        });
        let place = StripPlace(number * 64 + (rank % 64) as u32);
        cells[number as usize] |= place.bit();
        place
    }

    /// Returns the class whose area has the cells of a strip, or `None` if they are cells of groups.
    pub(super) fn area_of(&self, strip: u32) -> Option<u16> {
        self.areas[strip as usize]
    }

    /// Removes the cell with a rank at a place.
    pub(super) fn remove(&mut self, rank: Rank, place: StripPlace) {
        let cells = &mut self.cells[place.strip() as usize];
        *cells &= !place.bit();
        if *cells == 0 {
            self.numbers.remove(&(rank / 64));
            self.free.push(place.strip());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_consecutive_ranks_share_a_strip_and_empty_strips_are_used_again() {
        let mut strips = Strips::default();
        let start = 1 << 127;
        let places: Vec<StripPlace> = (start..start + 65).map(|rank| strips.add(rank, Some(1))).collect();
        assert!(places[..64].iter().all(|place| place.strip() == places[0].strip()));
        assert_eq!(places[..64].iter().fold(0, |word, place| word | place.bit()), u64::MAX);
        assert_ne!(places[64].strip(), places[0].strip());
        strips.remove(start + 64, places[64]);
        assert_eq!(strips.add(7 << 64, Some(2)).strip(), places[64].strip());
        assert_eq!([places[0], places[64]].map(|place| strips.area_of(place.strip())), [Some(1), Some(2)]);
        for (rank, &place) in (start..).zip(&places[1..64]) {
            strips.remove(rank + 1, place);
        }
        assert_eq!(strips.add(start + 9, Some(1)).strip(), places[0].strip(), "one cell is left");
    }
}
