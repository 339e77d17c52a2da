//! The sight of a connection: its viewpoints, its groups, and the cells that it sees because of them.
//!
//! *Invariant:* a connection is among the viewers of exactly the cells in its sight, with the same nearness.

use repl_link::ConnectionId;

use super::area::{Band, Nearness, Position, Ring};
use super::rank::{CellKey, Group, Rank};
use super::rings::rows_around;
use super::strips::StripPlace;
use super::{BATCH, Cells};

/// The number of objects for which an update reserves memory at its start.
const FEW_OBJECTS: usize = 64;

/// The viewpoints, the groups and the cells in the sight of one connection.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    viewpoints: Vec<Position>,
    /// The viewpoints with which the cells in sight were computed.
    computed_from: Vec<Position>,
    groups: Vec<Group>,
    /// The cells in the rings (in sight or slightly beyond) around the viewpoints, and the cells of the
    /// groups, in the order of their ranks.
    cells: Vec<Seen>,
    /// The cells that are [open](Seen::is_open), in ascending order of their areas, and then of the numbers
    /// of their strips (of 64 cells each).
    spans: Vec<Span>,
}

/// Cells of one strip in sight, which are in the same band (range of distances) for the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The class whose area has the cells, or `None` for cells of groups.
    pub(crate) area: Option<u16>,
    pub(crate) strip: u32,
    pub(crate) band: Band,
    /// A bit for each cell whose objects the client may have.
    pub(crate) cells: u64,
    /// A bit for each of these cells that is [in sight](Ring::InSight), and not only kept.
    pub(crate) in_sight: u64,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    number: u32,
    place: StripPlace,
    nearness: Nearness,
    /// Whether the client may have objects in the cell for which it receives shared data. A cell that is not
    /// open is only kept, and is not in the spans.
    is_open: bool,
}

const _: () = assert!(size_of::<Seen>() == 16, "each connection has a list of about a hundred of them");

impl Seen {
    /// Returns the cell with a rank (its sort key). `known` is the previous entry of the cell, if the
    /// connection had it in a ring before.
    fn new(rank: Rank, nearness: Nearness, known: Option<&Self>, cells: &mut Cells) -> Self {
        let (number, place) = known.map_or_else(|| cells.cell_at(rank), |seen| (seen.number, seen.place));
        let is_open = nearness.ring == Ring::InSight || known.is_some_and(|seen| seen.is_open);
        Self { number, place, nearness, is_open }
    }

    #[inline]
    fn rank(&self, cells: &Cells) -> Rank {
        cells.strips.rank_of(self.place)
    }

    /// Adds the cell to a span of the same strip and band at the end of `spans`, or to a new span. The caller
    /// adds the cells of a strip one after another.
    #[inline]
    fn add_to(&self, spans: &mut Vec<Span>, cells: &Cells) {
        let (place, nearness) = (self.place, self.nearness);
        let band = nearness.band();
        let in_sight = if nearness.ring == Ring::InSight { place.bit() } else { 0 };
        let mut last = spans.iter_mut().rev().take_while(|span| span.strip == place.strip());
        match last.find(|span| span.band == band) {
            Some(span) => (span.cells, span.in_sight) = (span.cells | place.bit(), span.in_sight | in_sight),
            None => {
                let (area, strip) = (cells.area_of(place.strip()), place.strip());
                spans.push(Span { area, strip, band, cells: place.bit(), in_sight });
            }
        }
    }
}

impl Sight {
    /// Sets the points from which the connection sees. Returns whether the cells in sight must be
    /// [computed](Self::update) again. They stay the same while no point has moved by more than `tolerance`
    /// since they were computed.
    pub(crate) fn set_viewpoints(&mut self, viewpoints: &[Position], tolerance: f32) -> bool {
        let is_near = |one: &Position, other: &Position| {
            let [x, y, z]: Position = std::array::from_fn(|axis| one[axis] - other[axis]);
            x * x + y * y + z * z <= tolerance * tolerance
        };
        self.viewpoints.clear();
        self.viewpoints.extend_from_slice(viewpoints);
        let mut pairs = self.computed_from.iter().zip(viewpoints);
        self.computed_from.len() != viewpoints.len() || !pairs.all(|(one, other)| is_near(one, other))
    }

    pub(crate) fn viewpoints(&self) -> &[Position] {
        &self.viewpoints
    }

    /// Sets whether the connection is in a group. Returns whether this changes anything. If so, the cells in
    /// sight must be [computed](Self::update) again.
    pub(crate) fn set_member(&mut self, group: Group, is_member: bool) -> bool {
        match (self.groups.binary_search(&group), is_member) {
            (Err(index), true) => self.groups.insert(index, group),
            (Ok(index), false) => _ = self.groups.remove(index),
            _ => return false,
        }
        true
    }

    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub(crate) fn is_in(&self, group: Group) -> bool {
        self.groups.binary_search(&group).is_ok()
    }

    pub(crate) fn far_cells(&self) -> impl Iterator<Item = u32> {
        self.cells.iter().filter(|seen| seen.nearness.band().is_far).map(|seen| seen.number)
    }

    /// Returns the numbers of the cells in the rings (in sight or slightly beyond) and of the cells of the
    /// groups, in the order of their ranks, each with its ring.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (u32, Ring)> {
        self.cells.iter().map(|seen| (seen.number, seen.nearness.ring))
    }

    /// Returns the cells whose objects the client may have, with a bit mask for each strip (of 64 cells) and
    /// band (range of distances), in ascending order of the areas, and then of the strips.
    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Computes the cells in the rings, after the viewpoints or the groups have changed. Returns the objects
    /// that may have come into sight or gone out of it. Costs O(cells in the rings).
    pub(crate) fn update(
        &mut self,
        viewer: ConnectionId,
        cells: &mut Cells,
        scratch: &mut SightScratch,
    ) -> Vec<u32> {
        self.computed_from.clone_from(&self.viewpoints);
        let rows = &mut scratch.rows;
        rows.clear();
        rows.extend(self.groups.iter().map(|&group| {
            let first = CellKey::Group(group).rank(false);
            Row { first, count: 1, nearness: Nearness::HERE }
        }));
        for (class, area) in cells.areas() {
            for &viewpoint in self.viewpoints() {
                rows_around(area, viewpoint, |first, count, nearness| {
                    let first = CellKey::At(class, first).rank(area.is_flat());
                    rows.push(Row { first, count, nearness });
                });
            }
        }
        if self.viewpoints().len() > 1 {
            remove_overlaps(rows);
        }
        self.replace(viewer, cells, scratch)
    }

    /// Replaces the cells in the rings by the cells in `scratch.rows`, which are in ascending order. Returns
    /// the objects in the cells that have come nearer or into another band, and in the cells that are in no
    /// ring any more.
    fn replace(&mut self, viewer: ConnectionId, cells: &mut Cells, scratch: &mut SightScratch) -> Vec<u32> {
        self.set_cells(cells, scratch);
        let mut affected = Vec::with_capacity(FEW_OBJECTS);
        for changes in scratch.changes.chunks(BATCH) {
            changes.iter().for_each(|change| cells.preload_lists(change.number));
            changes.iter().for_each(|change| change.apply(viewer, cells, &mut affected));
        }
        self.find_spans(cells);
        affected
    }

    /// Replaces the cells in the rings by the cells in `scratch.rows`. Records and preloads the cells that
    /// are new, that are gone, or whose nearness has changed.
    fn set_cells(&mut self, cells: &mut Cells, scratch: &mut SightScratch) {
        let SightScratch { rows, changes, before } = scratch;
        changes.clear();
        before.clone_from(&self.cells);
        self.cells.clear();
        let mut old = before.as_slice();
        for row in rows {
            if let Some(same) = old.get(..row.count as usize).filter(|seen| row.equals(seen, cells)) {
                self.cells.extend_from_slice(same);
                old = &old[same.len()..];
                continue;
            }
            for rank in row.ranks() {
                while let Some(gone) = take_first_if(&mut old, |seen| seen.rank(cells) < rank) {
                    changes.push(Change::new(cells, gone.number, Some(gone.nearness), None));
                }
                let known = take_first_if(&mut old, |seen| seen.rank(cells) == rank);
                let seen = Seen::new(rank, row.nearness, known, cells);
                let before = known.map(|seen| seen.nearness);
                if before != Some(row.nearness) {
                    changes.push(Change::new(cells, seen.number, before, Some(row.nearness)));
                }
                self.cells.push(seen);
            }
        }
        let gone = old.iter().map(|gone| Change::new(cells, gone.number, Some(gone.nearness), None));
        changes.extend(gone);
    }

    /// Marks a cell as [open](Seen::is_open), because the client receives shared data of an object in it.
    /// Cells [in sight](Ring::InSight) are always open.
    pub(crate) fn open(&mut self, cells: &Cells, cell: u32) {
        let rank = cells.strips.rank_of(cells.cells[cell as usize].place);
        if let Ok(index) = self.cells.binary_search_by_key(&rank, |seen| seen.rank(cells))
            && !self.cells[index].is_open
        {
            self.cells[index].is_open = true;
            self.find_spans(cells);
        }
    }

    fn find_spans(&mut self, cells: &Cells) {
        let Self { cells: seen, spans, .. } = self;
        spans.clear();
        seen.iter().filter(|seen| seen.is_open).for_each(|seen| seen.add_to(spans, cells));
        spans.sort_unstable_by_key(|span| (span.area, span.strip, span.band));
    }

    /// Removes the connection from the viewers of all cells, because the connection has ended.
    pub(crate) fn end(mut self, viewer: ConnectionId, cells: &mut Cells) {
        self.replace(viewer, cells, &mut SightScratch::default());
    }
}

/// Memory that the updates of all sights reuse.
#[derive(Debug, Default)]
pub(crate) struct SightScratch {
    rows: Vec<Row>,
    changes: Vec<Change>,
    /// The cells in the rings (in sight or slightly beyond) before the update.
    before: Vec<Seen>,
}

/// Cells with consecutive ranks that are equally near to a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    first: Rank,
    count: u32,
    nearness: Nearness,
}

impl Row {
    fn ranks(&self) -> impl Iterator<Item = Rank> + use<> {
        let first = self.first;
        (0..self.count).map(move |at| first + Rank::from(at))
    }

    /// Returns whether the cells in `seen` are the cells of the row, with the row's nearness. `seen` has as
    /// many cells as the row, in ascending order.
    fn equals(&self, seen: &[Seen], cells: &Cells) -> bool {
        let last = self.first + Rank::from(self.count - 1);
        let has_rank = |seen: Option<&Seen>, rank: Rank| seen.is_some_and(|seen| seen.rank(cells) == rank);
        has_rank(seen.first(), self.first)
            && has_rank(seen.last(), last)
            && seen.iter().all(|seen| seen.nearness == self.nearness)
    }
}

/// Splits the rows into rows of one cell each, sorts them, and keeps each cell once. If a cell is around
/// several viewpoints, its least nearness counts.
fn remove_overlaps(rows: &mut Vec<Row>) {
    let count = rows.len();
    for at in 0..count {
        let Row { nearness, .. } = rows[at];
        rows.extend(rows[at].ranks().map(|first| Row { first, count: 1, nearness }));
    }
    rows.drain(..count);
    rows.sort_unstable();
    rows.dedup_by_key(|cell| cell.first);
}

#[inline]
fn take_first_if<'a>(list: &mut &'a [Seen], is_meant: impl Fn(&Seen) -> bool) -> Option<&'a Seen> {
    let (first, rest) = list.split_first()?;
    if !is_meant(first) {
        return None;
    }
    *list = rest;
    Some(first)
}

/// The nearness of a cell for a connection, before and after a change. `None` means that the cell is in no
/// ring.
#[derive(Clone, Copy, Debug)]
struct Change {
    number: u32,
    before: Option<Nearness>,
    after: Option<Nearness>,
}

impl Change {
    fn new(cells: &Cells, number: u32, before: Option<Nearness>, after: Option<Nearness>) -> Self {
        cells.preload(number);
        Self { number, before, after }
    }

    /// Sets how near the cell is to a viewer. Appends the objects that may come into sight, go out of it, or
    /// be seen in another way to `affected`.
    fn apply(&self, viewer: ConnectionId, cells: &mut Cells, affected: &mut Vec<u32>) {
        if self.after.is_none_or(|after| after.is_reconsidered_after(self.before)) {
            affected.extend_from_slice(cells.members(self.number));
        }
        match self.after {
            Some(after) => cells.set_viewer(self.number, viewer, after),
            None => cells.remove_viewer(self.number, viewer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_use_the_newest_viewpoints_and_cells_those_that_moved_far() {
        let mut sight = Sight::default();
        // Returns whether the cells in sight are computed again.
        let mut set = |viewpoints: &[Position]| {
            let is_far = sight.set_viewpoints(viewpoints, 1.0);
            assert_eq!(sight.viewpoints(), viewpoints);
            if is_far {
                sight.update(ConnectionId::for_tests(1), &mut Cells::default(), &mut SightScratch::default());
            }
            is_far
        };
        assert!(set(&[[0.0; 3], [9.0; 3]]));
        assert!(!set(&[[0.75, 0.0, 0.0], [9.0; 3]]));
        assert!(set(&[[1.5, 0.0, 0.0], [9.0; 3]]), "many small steps are a large one");
        assert!(!set(&[[2.0, 0.0, 0.0], [9.0; 3]]));
        assert!(set(&[[2.0, 0.0, 0.0]]));
        assert!(set(&[]) && !set(&[]));
    }
}
