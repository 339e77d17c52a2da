//! The tables of a tick: the changes of the objects that are in cells, in the order of the cells (R24).
//!
//! Each class has a table. Cells that no connection has in sight are not encoded.
//!
//! *Invariant:* the changes of the objects of one class in one cell are consecutive entries of one table.

use std::ops::Range;
use std::sync::Arc;

use repl_core::{BitWriter, HandleSet};

use super::default_list;
use super::pool::Pool;
use crate::server::cells::Home;
use crate::server::world::{Change, World};
use crate::session::classes::ClassList;
use crate::transport::segment::SEGMENT_BITS;
use crate::transport::spare::ROUND_TICKS;
use crate::transport::table::{Table, TableChange, TableHead, TableWriter};

/// The tables of one tick.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    tables: Vec<Arc<Table>>,
    pool: Pool<Table>,
    writer: TableWriter,
    /// The changes in cells that some connection has in sight, in the order in which they are encoded.
    order: Vec<Placed>,
    parts: Vec<CellPart>,
    /// For each cell, its first part in this tick. It is valid if the cell's number of the tick is `build`.
    heads: Vec<(u64, u32)>,
    /// The number of tables that were built so far, which identifies this tick.
    build: u64,
}

/// A change with everything that decides its place in the tables. The fields are in the order of their
/// importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    class: u16,
    rank: u64,
    cell: u32,
    /// The index of the change among the changes of the tick.
    change: u32,
}

/// The entries of one table that are in one cell.
#[derive(Clone, Debug)]
struct CellPart {
    table: u32,
    entries: Range<u32>,
    /// The index of the next part of the same cell, which is in another table.
    next: Option<u32>,
}

/// Consecutive entries of the table with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) table: u32,
    pub(crate) entries: Range<u32>,
}

impl Tables {
    /// Returns the table with a number.
    pub(crate) fn table(&self, number: u32) -> &Arc<Table> {
        &self.tables[number as usize]
    }

    /// Replaces `pieces` by the entries of these cells, in ascending order of the tables. Pieces that follow
    /// each other in a table are joined.
    pub(crate) fn pieces(&self, cells: impl Iterator<Item = u32>, pieces: &mut Vec<Piece>) {
        pieces.clear();
        if self.tables.is_empty() {
            return;
        }
        for cell in cells {
            let mut next =
                self.heads.get(cell as usize).filter(|head| head.0 == self.build).map(|head| head.1);
            while let Some(part) = next.and_then(|at| self.parts.get(at as usize)) {
                match pieces.last_mut() {
                    Some(last) if last.table == part.table && last.entries.end == part.entries.start => {
                        last.entries.end = part.entries.end;
                    }
                    _ => pieces.push(Piece { table: part.table, entries: part.entries.clone() }),
                }
                next = part.next;
            }
        }
        if !pieces.is_sorted_by_key(|piece| piece.table) {
            pieces.sort_by_key(|piece| piece.table);
        }
    }

    /// Encodes the changes of objects in cells that some connection has in sight. An entry takes at most
    /// `max_bits` bits. Adds the objects whose changes cannot be encoded so to `unshared`.
    pub(super) fn build(
        &mut self,
        world: &World,
        classes: &ClassList,
        max_bits: usize,
        unshared: &mut Vec<u32>,
    ) {
        self.build += 1;
        self.parts.clear();
        self.pool.reclaim(&mut self.tables);
        if world.frame.is_multiple_of(ROUND_TICKS) {
            self.pool.end_round(Table::clear);
        }
        if world.cells.are_unused() {
            return;
        }
        let Self { order, .. } = self;
        order.clear();
        for (change, Change { slot, .. }) in (0..).zip(world.changes.as_slice()) {
            if let Home::Cell(cell) = world.cells.home(*slot)
                && let Some(rank) = world.cells.rank_in_sight(cell)
            {
                order.push(Placed { class: world.objects[*slot as usize].class, rank, cell, change });
            }
        }
        order.sort_unstable();
        let order = std::mem::take(&mut self.order);
        for class in order.chunk_by(|one, other| one.class == other.class) {
            self.build_class(class, world, classes, max_bits.saturating_sub(3 * SEGMENT_BITS), unshared);
        }
        self.order = order;
    }

    /// Encodes the changes of the objects of one class.
    fn build_class(
        &mut self,
        order: &[Placed],
        world: &World,
        classes: &ClassList,
        max_bits: usize,
        unshared: &mut Vec<u32>,
    ) {
        let changes = world.changes.as_slice();
        let lists = order.iter().map(|placed| &changes[placed.change as usize]);
        let lists = lists.map(|change| (change.slot, default_list(world, change)));
        let mut lists: Vec<_> = lists.collect();
        let Some(class) = order.first().map(|placed| placed.class) else { return };
        let Some(common) = majority(lists.iter().map(|(_, list)| list.handles())).cloned() else { return };
        let head = TableHead {
            class: classes.wire(class.into()),
            slot_bits: (world.objects.len() as u32).max(2).ilog2() + 1,
            common,
        };
        let mut table = self.pool.blank(Table::clear);
        let Some(into) = Arc::get_mut(&mut table) else { return };
        self.writer.begin(head, classes.len(), world.column(class).program().handles(), into);
        let number = self.tables.len() as u32;
        for (placed, (slot, list)) in order.iter().zip(lists.drain(..)) {
            if list.is_empty() {
                continue;
            }
            let change = TableChange { generation: world.objects[slot as usize].generation, list };
            let row = world.objects[slot as usize].row;
            let write = |change: &TableChange, bits: &mut BitWriter| {
                world.column(class).write_values(row, &change.list, bits).is_ok()
            };
            let is_written = self.writer.entry(slot, change, max_bits, write, into);
            if is_written {
                self.add_to_part(placed.cell, number, into.len());
            } else {
                unshared.push(slot);
            }
        }
        self.writer.end(into);
        if into.is_empty() {
            self.pool.give_back(table);
        } else {
            self.tables.push(table);
        }
    }

    /// Records that the last entry of a table, which now has `end` entries, is in a cell.
    fn add_to_part(&mut self, cell: u32, table: u32, end: u32) {
        if self.heads.len() <= cell as usize {
            self.heads.resize(cell as usize + 1, (0, 0));
        }
        let head = &mut self.heads[cell as usize];
        let next = (head.0 == self.build).then_some(head.1);
        if let Some(part) = next.and_then(|at| self.parts.get_mut(at as usize))
            && part.table == table
        {
            part.entries.end = end;
            return;
        }
        *head = (self.build, self.parts.len() as u32);
        self.parts.push(CellPart { table, entries: end - 1..end, next });
    }
}

/// Returns the set that more than half of the sets are equal to. If there is no such set, returns one of
/// them (Boyer and Moore 1981).
fn majority<'a>(sets: impl Iterator<Item = &'a HandleSet>) -> Option<&'a HandleSet> {
    let (mut leader, mut lead) = (None, 0);
    for set in sets.filter(|set| !set.is_empty()) {
        match leader {
            Some(known) if known == set => lead += 1,
            Some(_) if lead > 0 => lead -= 1,
            _ => (leader, lead) = (Some(set), 1),
        }
    }
    leader
}
