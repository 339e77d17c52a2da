//! The tables of a tick: the changes of the objects that are in cells, in the order of the cells (R24).
//!
//! Each class has a table. If connections that are far from objects see fewer properties of the class, it has
//! one for near and one for far connections. Cells that no connection has in sight are not encoded. Changes that far
//! connections receive later are entries of their own, in the tick in which they are due.
//!
//! *Invariant:* the changes of the objects of one class for connections in one band are consecutive entries
//! of one table, in the order of the ranks of their cells. So the changes in a row of cells are
//! consecutive entries, too.

use std::ops::Range;
use std::sync::Arc;

use repl_core::{BitWriter, Changelist, HandleSet};

use super::pool::Pool;
use crate::server::cells::Home;
use crate::server::cells::area::Band;
use crate::server::cells::rank::Rank;
use crate::server::cells::sight::Span;
use crate::server::world::World;
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
    /// Memory for the changes for far connections.
    far: Vec<Placed>,
    sections: Vec<Section>,
    /// The ranks of the cells with entries, for one section after another.
    ranks: Vec<Rank>,
    /// For each rank, the number of the table's entries up to the last one in its cell.
    ends: Vec<u32>,
    /// Changes that are due in this tick and that are in no table, because they do not fit.
    due_alone: Vec<DueAlone>,
}

/// The connections for which a change is, by their distance from the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Distance {
    /// All of them, because they see the same properties.
    Any,
    Near,
    Far,
}

impl Distance {
    /// Returns whether the change is for connections that are far, or that are not.
    pub(crate) fn includes(self, is_far: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Near => !is_far,
            Self::Far => is_far,
        }
    }
}

/// A change with everything that decides its place in the tables. The fields are in the order of their
/// importance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Placed {
    class: u16,
    distance: Distance,
    period: u16,
    rank: Rank,
    cell: u32,
    /// The index of the change among the changes of the tick, or among those that are due for the period.
    change: u32,
}

/// The changes of an object that are due for connections with a period, and that are in no table.
#[derive(Debug)]
pub(crate) struct DueAlone {
    cell: u32,
    period: u16,
    distance: Distance,
    pub(crate) slot: u32,
    pub(crate) list: Changelist,
}

impl DueAlone {
    /// Returns whether the changes are due for a connection. `band_of` returns the connection's band of a
    /// cell, if the cell is in sight.
    pub(crate) fn is_for(&self, band_of: impl FnOnce(u32) -> Option<Band>) -> bool {
        let band = band_of(self.cell);
        band.is_some_and(|band| band.period == self.period && self.distance.includes(band.is_far))
    }
}

/// The entries of one table for connections with one period.
#[derive(Clone, Debug)]
struct Section {
    table: u32,
    distance: Distance,
    period: u16,
    /// The first entry.
    start: u32,
    /// The places of the section's cells in the list of ranks.
    cells: Range<usize>,
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
    /// joined, except late ones with others. Costs O(sections × spans × log cells).
    pub(crate) fn pieces(&self, spans: &[Span], pieces: &mut Vec<Piece>) {
        pieces.clear();
        for Section { table, distance, period, start, cells } in &self.sections {
            let (ranks, ends) = (&self.ranks[cells.clone()], &self.ends[cells.clone()]);
            let is_late = *period > 1;
            let before = |at: usize| at.checked_sub(1).map_or(*start, |last| ends[last]);
            let mut next = 0;
            let is_for = |Band { period: own, is_far }| own == *period && distance.includes(is_far);
            for span in spans.iter().filter(|span| is_for(span.band)) {
                let first = skip_below(ranks, next, span.first);
                next = skip_below(ranks, first, span.end());
                let entries = before(first)..before(next);
                match pieces.last_mut() {
                    _ if entries.is_empty() => {}
                    Some(last)
                        if (last.table, last.is_late, last.entries.end)
                            == (*table, is_late, entries.start) =>
                    {
                        last.entries.end = entries.end;
                    }
                    _ => pieces.push(Piece { table: *table, is_late, entries }),
                }
            }
        }
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
        unshared: &mut Vec<(u32, Distance)>,
    ) {
        self.sections.clear();
        self.ranks.clear();
        self.ends.clear();
        self.due_alone.clear();
        self.pool.reclaim(&mut self.tables);
        if world.frame.is_multiple_of(ROUND_TICKS) {
            self.pool.end_round(Table::clear);
            (self.order, self.far, self.sections) = (Vec::new(), Vec::new(), Vec::new());
            (self.ranks, self.ends) = (Vec::new(), Vec::new());
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
            let distance = Distance::Any;
            cell_of(slot).map(|(cell, rank)| Placed { class, distance, period, rank, cell, change })
        };
        let changes = (0..).zip(world.changes.as_slice());
        let changes = changes.filter(|(_, change)| !world.changes.newborn.contains(change.slot));
        order.extend(changes.filter_map(|(at, change)| placed(change.slot, 1, at)));
        for (period, due) in world.later.due() {
            let due = (0..).zip(due).filter_map(|(at, change)| placed(change.slot, period, at));
            order.extend(due.filter(|placed| world.cells.has_long_period(placed.cell, period)));
        }
        if world.cells.have_far() {
            split_by_distance(&mut order, &mut self.far, world);
        }
        order.sort_unstable();
        for class in order.chunk_by(|one, other| (one.class, one.distance) == (other.class, other.distance)) {
            self.build_class(class, world, classes, max_bits.saturating_sub(3 * SEGMENT_BITS), unshared);
        }
        self.order = order;
    }

    /// Encodes the changes of the objects of one class for connections at one distance.
    fn build_class(
        &mut self,
        order: &[Placed],
        world: &World,
        classes: &ClassList,
        max_bits: usize,
        unshared: &mut Vec<(u32, Distance)>,
    ) {
        let change = |placed: &Placed| match placed.period {
            1 => world.changes.as_slice().get(placed.change as usize),
            period => world.later.due_for(period).get(placed.change as usize),
        };
        let Some(&Placed { class, distance, .. }) = order.first() else { return };
        let is_far = distance == Distance::Far;
        let lists = order
            .iter()
            .filter_map(change)
            .map(|change| (change.slot, world.shared_list(change, is_far).into_owned()));
        let mut lists: Vec<_> = lists.collect();
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
                Ok(()) => self.add_to_section(placed, number, into.len()),
                Err(_) if placed.period == 1 => unshared.push((slot, distance)),
                Err(TableChange { list, .. }) => {
                    let Placed { cell, period, .. } = *placed;
                    self.due_alone.push(DueAlone { cell, period, distance, slot, list });
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
    fn add_to_section(&mut self, placed: &Placed, table: u32, end: u32) {
        let Placed { rank, distance, period, .. } = *placed;
        let is_new = self.sections.last().is_none_or(|last| (last.table, last.period) != (table, period));
        if is_new {
            let at = self.ranks.len();
            self.sections.push(Section { table, distance, period, start: end - 1, cells: at..at });
        }
        if let (false, Some(last), Some(known)) = (is_new, self.ranks.last(), self.ends.last_mut())
            && *last == rank
        {
            *known = end;
            return;
        }
        self.ranks.push(rank);
        self.ends.push(end);
        self.sections.iter_mut().next_back().into_iter().for_each(|last| last.cells.end += 1);
    }
}

/// Replaces each change of which far connections see fewer properties by a change for near connections and one
/// for far connections, as far as the cell has such viewers. `far` is memory for the changes that are added.
fn split_by_distance(order: &mut Vec<Placed>, far: &mut Vec<Placed>, world: &World) {
    order.retain_mut(|placed| {
        let Placed { class, cell, period, .. } = *placed;
        if !world.column(class).conditions().depend_on_distance() {
            return true;
        }
        let has = |is_far| world.cells.has_viewers_in(cell, Band { period, is_far });
        if has(true) {
            far.push(Placed { distance: Distance::Far, ..*placed });
        }
        placed.distance = Distance::Near;
        has(false)
    });
    order.append(far);
}

/// Returns the first place from `start` on with a rank that is not below `limit`. The ranks are in ascending
/// order. Costs O(log of the places in between), because a connection skips only a few cells from one row to
/// the next.
fn skip_below(ranks: &[Rank], start: usize, limit: Rank) -> usize {
    let (mut from, mut step) = (start, 1);
    while ranks.get(from + step - 1).is_some_and(|rank| *rank < limit) {
        from += step;
        step *= 2;
    }
    let rest = ranks.get(from..ranks.len().min(from + step)).unwrap_or_default();
    from + rest.partition_point(|rank| *rank < limit)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn skipping_finds_what_a_search_from_the_start_finds(
            ranks in prop::collection::btree_set(0..500_u128, 0..100),
            start in 0..100_usize,
            limit in 0..510_u128,
        ) {
            let ranks: Vec<Rank> = ranks.into_iter().collect();
            let start = start.min(ranks.len());
            let expected = start + ranks[start..].iter().filter(|rank| **rank < limit).count();
            prop_assert_eq!(skip_below(&ranks, start, limit), expected);
        }
    }
}
