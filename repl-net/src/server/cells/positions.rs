//! The cells of the positions of objects, and which objects have moved to another cell.
//!
//! *Invariant:* an object whose position is in another cell than before is in `moved` until the next
//! [`take_moved`](Positions::take_moved).

use repl_core::__private::preload;

use super::area::{Area, CellCorner, CellPosition, Position};
use crate::body::growth::shrink;

/// The corner of an object that is in no cell, because it was not placed yet.
const NOWHERE: CellCorner = [f32::NAN; 3];

/// The cell of the last position of each object.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    /// For each slot, the corner of the cell of its object's position, or [`NOWHERE`].
    corners: Vec<CellCorner>,
    /// Objects that are still in their old cells, although their positions are now in other cells. An object
    /// in `moved` may have been removed since.
    moved: Vec<u32>,
}

impl Positions {
    /// Returns the cell of the last position of an object, or `None` if it was not placed.
    pub(super) fn cell(&self, slot: u32) -> Option<CellPosition> {
        let corner = self.corners.get(slot as usize)?;
        (!corner[0].is_nan()).then(|| corner.map(|at| at as i32))
    }

    pub(super) fn preload(&self, slot: u32) {
        self.corners.get(slot as usize).into_iter().for_each(preload);
    }

    /// Sets the cell of an object that is not in a cell yet. With `None` the object stays in no cell.
    pub(super) fn set(&mut self, slot: u32, cell: Option<CellPosition>) {
        if self.corners.len() <= slot as usize {
            self.corners.resize(slot as usize + 1, CellCorner::default());
        }
        self.corners[slot as usize] = cell.map_or(NOWHERE, corner_of);
    }

    /// Records that an object is in no cell from the next [`take_moved`](Self::take_moved) on.
    pub(crate) fn leave(&mut self, slot: u32) {
        self.corners[slot as usize] = NOWHERE;
        self.moved.push(slot);
    }

    /// Frees the memory that is not needed for `slots` slots.
    pub(super) fn end_round(&mut self, slots: usize) {
        shrink(&mut self.corners, slots);
    }

    /// Records the positions of objects that have changed, each with its slot. `area` is the area of all
    /// these objects.
    #[inline]
    pub(crate) fn update(&mut self, area: &Area, changed: impl Iterator<Item = (u32, Position)>) {
        // Two calls with separate loops, so that the loops need not check for each object whether the area is
        // flat.
        if area.is_flat() {
            self.update_in(&area.flat(), changed);
        } else {
            self.update_in(area, changed);
        }
    }

    #[inline(always)]
    fn update_in(&mut self, area: &Area, changed: impl Iterator<Item = (u32, Position)>) {
        let corners = self.corners.as_mut_slice();
        for (slot, position) in changed {
            let corner = &mut corners[slot as usize];
            let [x, y, z] = position;
            if !area.surely_contains(*corner, position) && leaves(area, corner, x, y, z) {
                self.moved.push(slot);
            }
        }
    }

    pub(super) fn sort_moved(&mut self) {
        self.moved.sort_unstable();
    }

    /// Removes and returns the objects that have moved to other cells.
    pub(super) fn take_moved(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.moved)
    }

    /// Takes back the list that [`take_moved`](Self::take_moved) has returned, to reuse its memory.
    pub(super) fn give_back(&mut self, mut memory: Vec<u32>) {
        memory.clear();
        self.moved = memory;
    }
}

/// Replaces the corner of an object's cell by the corner of the cell of its position. Returns whether this is
/// another cell. Few of the objects that move need this function. The coordinates are passed one by one,
/// because an array would be written to memory for each object.
#[cold]
#[inline(never)]
fn leaves(area: &Area, corner: &mut CellCorner, x: f32, y: f32, z: f32) -> bool {
    let other = corner_of(area.cell_of([x, y, z]));
    let is_other = *corner != other;
    *corner = other;
    is_other
}

/// Returns the corner of a cell. This is exact, because the number of each cell was an `f32` before.
fn corner_of(cell: CellPosition) -> CellCorner {
    cell.map(|at| at as f32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn coordinate() -> impl Strategy<Value = f32> {
        prop_oneof![-4.0..4.0_f32, any::<f32>(), -1e12..1e12_f32]
    }

    proptest! {
        #[test]
        fn objects_are_in_the_cells_of_their_last_positions(
            side in prop_oneof![Just(1.0_f32), 1e-3..1e6_f32],
            path in prop::collection::vec([coordinate(), coordinate(), coordinate()], 1..8),
            flat in any::<bool>(),
        ) {
            let area = Area::within(side).cells_of(side).flat_if(flat);
            let (mut positions, mut before) = (Positions::default(), area.cell_of([0.0; 3]));
            positions.set(5, Some(before));
            for position in path {
                positions.update(&area, [(5, position)].into_iter());
                let cell = area.cell_of(position);
                prop_assert_eq!(positions.cell(5), Some(cell));
                prop_assert_eq!(!positions.take_moved().is_empty(), cell != before);
                before = cell;
            }
        }
    }
}
