//! The cells of the positions of objects, and which objects have moved to another cell.
//!
//! *Invariant:* an object whose position is in another cell than before is in `moved` until the objects are
//! taken.

use repl_core::__private::preload;

use super::area::{Area, CellPosition, Position};

/// The cell of the last position of each object.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    /// For each slot, the cell of its object's position.
    cells: Vec<CellPosition>,
    /// Objects that are still in their old cells, although their positions are now in other cells. An object
    /// in `moved` may have been removed since.
    moved: Vec<u32>,
}

impl Positions {
    /// Returns the cell of the last position of an object.
    pub(super) fn cell(&self, slot: u32) -> CellPosition {
        self.cells.get(slot as usize).copied().unwrap_or_default()
    }

    /// Preloads what [`cell`](Self::cell) reads.
    pub(super) fn preload(&self, slot: u32) {
        self.cells.get(slot as usize).into_iter().for_each(preload);
    }

    /// Sets the cell of an object that is not in a cell yet.
    pub(super) fn set(&mut self, slot: u32, cell: CellPosition) {
        if self.cells.len() <= slot as usize {
            self.cells.resize(slot as usize + 1, CellPosition::default());
        }
        self.cells[slot as usize] = cell;
    }

    /// Records the position of an object that has changed.
    #[inline]
    pub(crate) fn update(&mut self, area: &Area, slot: u32, position: Position) {
        let known = &mut self.cells[slot as usize];
        if area.surely_contains(*known, position) {
            return;
        }
        let cell = area.cell_of(position);
        if cell != *known {
            *known = cell;
            self.moved.push(slot);
        }
    }

    /// Removes and returns the objects that have moved to other cells.
    pub(super) fn take_moved(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.moved)
    }

    /// Takes the memory of the objects that have moved, for later use.
    pub(super) fn give_back(&mut self, mut memory: Vec<u32>) {
        memory.clear();
        self.moved = memory;
    }
}
