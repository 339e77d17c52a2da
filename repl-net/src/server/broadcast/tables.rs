//! The tables of a tick: the changes of the objects that are in cells, in the order of the cells (R24).
//!
//! Each class has a table. Cells that no connection has in sight are not encoded. Changes that far
//! connections receive later are entries of their own, in the tick in which they are due.
//!
//! *Invariant:* the changes of the objects of one class in one cell, for connections with one period, are
//! consecutive entries of one table.

use std::ops::Range;
use std::sync::Arc;

use repl_core::{BitWriter, Changelist, HandleSet};

use super::pool::Pool;
use crate::server::cells::Home;
use crate::server::world::World;
use crate::session::classes::ClassList;
use crate::transport::segment::SEGMENT_BITS;
use crate::transport::slot_set::SlotSet;
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
    /// For each cell in `with_parts`, its first part in this tick.
    heads: Vec<u32>,
    with_parts: SlotSet,
    /// Changes that are due in this tick and that are in no table, because they do not fit.
    due_alone: Vec<DueAlone>,
}

/// A change with everything that decides its place in the tables. The fields are in the order of their
/// importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    class: u16,
    period: u16,
    rank: u64,
    cell: u32,
    /// The index of the change among the changes of the tick, or among those that are due for the period.
    change: u32,
}

/// The changes of an object that are due for connections with a period, and that are in no table.
#[derive(Debug)]
pub(crate) struct DueAlone {
    pub(crate) cell: u32,
    pub(crate) period: u16,
    pub(crate) slot: u32,
    pub(crate) list: Changelist,
}

/// The entries of one table that are in one cell, for connections with one period.
#[derive(Clone, Debug)]
struct CellPart {
    table: u32,
    period: u16,
    entries: Range<u32>,
    /// The index of the next part of the same cell.
    next: Option<u32>,
}

/// Consecutive entries of the table with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) table: u32,
    /// Whether the changes are of earlier ticks, too.
    pub(crate) is_late: bool,
    pub(crate) entries: Range<u32>,
}

impl Tables {
    /// Returns the table with a number.
    pub(crate) fn table(&self, number: u32) -> &Arc<Table> {
        &self.tables[number as usize]
    }

    /// Replaces `pieces` by the entries for a connection with these cells in sight, each with the
    /// connection's period, in ascending order of the tables. Pieces that follow each other in a table are
    /// joined.
    pub(crate) fn pieces(&self, cells: impl Iterator<Item = (u32, u16)>, pieces: &mut Vec<Piece>) {
        pieces.clear();
        if self.tables.is_empty() {
            return;
        }
        for (cell, period) in cells {
            for part in self.parts_of(cell).filter(|part| part.period == period) {
                let CellPart { table, ref entries, .. } = *part;
                match pieces.last_mut() {
                    Some(last) if last.table == table && last.entries.end == entries.start => {
                        last.entries.end = entries.end;
                    }
                    _ => pieces.push(Piece { table, is_late: period > 1, entries: entries.clone() }),
                }
            }
        }
        if !pieces.is_sorted_by_key(|piece| piece.table) {
            pieces.sort_by_key(|piece| piece.table);
        }
    }

    /// Returns the parts of a cell in this tick.
    fn parts_of(&self, cell: u32) -> impl Iterator<Item = &CellPart> {
        let part = |at: u32| self.parts.get(at as usize);
        // Most cells have no parts, and the set of those that have is small enough for the fastest cache.
        let head = if self.with_parts.contains(cell) { self.heads.get(cell as usize) } else { None };
        std::iter::successors(head.and_then(|&head| part(head)), move |last| last.next.and_then(part))
    }

    /// Returns the changes that are due and in no table.
    pub(crate) fn due_alone(&self) -> &[DueAlone] {
        &self.due_alone
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
        self.parts.clear();
        self.with_parts.clear();
        self.due_alone.clear();
        self.pool.reclaim(&mut self.tables);
        if world.frame.is_multiple_of(ROUND_TICKS) {
            self.pool.end_round(Table::clear);
        }
        if world.cells.are_unused() {
            return;
        }
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let cell_of = |slot: u32| match world.cells.home(slot) {
            Home::Cell(cell) => world.cells.rank_in_sight(cell).map(|rank| (cell, rank)),
            Home::Everyone | Home::Nobody => None,
        };
        let placed = |slot: u32, period: u16, change: u32| {
            let class = world.objects[slot as usize].class;
            cell_of(slot).map(|(cell, rank)| Placed { class, period, rank, cell, change })
        };
        let changes = (0..).zip(world.changes.as_slice());
        order.extend(changes.filter_map(|(at, change)| placed(change.slot, 1, at)));
        for (period, due) in world.later.due() {
            let due = (0..).zip(due).filter_map(|(at, change)| placed(change.slot, period, at));
            order.extend(due.filter(|placed| world.cells.has_long_period(placed.cell, period)));
        }
        order.sort_unstable();
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
        let change = |placed: &Placed| match placed.period {
            1 => world.changes.as_slice().get(placed.change as usize),
            period => world.later.due_for(period).get(placed.change as usize),
        };
        let lists = order.iter().filter_map(change).map(|change| (change.slot, world.default_list(change)));
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
            match is_written {
                Ok(()) => self.add_to_part(placed, number, into.len()),
                Err(_) if placed.period == 1 => unshared.push(slot),
                Err(TableChange { list, .. }) => {
                    let Placed { cell, period, .. } = *placed;
                    self.due_alone.push(DueAlone { cell, period, slot, list });
                }
            }
        }
        self.writer.end(into);
        if into.is_empty() {
            self.pool.give_back(table);
        } else {
            self.tables.push(table);
        }
    }

    /// Records the place of the last entry of a table, which now has `end` entries.
    fn add_to_part(&mut self, placed: &Placed, table: u32, end: u32) {
        let Placed { cell, period, .. } = *placed;
        if self.heads.len() <= cell as usize {
            self.heads.resize(cell as usize + 1, 0);
        }
        let head = &mut self.heads[cell as usize];
        let next = self.with_parts.contains(cell).then_some(*head);
        if let Some(part) = next.and_then(|at| self.parts.get_mut(at as usize))
            && (part.table, part.period) == (table, period)
        {
            part.entries.end = end;
            return;
        }
        self.with_parts.insert(cell);
        *head = self.parts.len() as u32;
        self.parts.push(CellPart { table, period, entries: end - 1..end, next });
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
