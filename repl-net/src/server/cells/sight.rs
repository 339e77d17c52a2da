//! What a connection sees of the world: its viewpoints, its groups, and the cells that it sees because of
//! them.
//!
//! *Invariant:* a connection is among the viewers of exactly the cells in its sight, with the same nearness.

use super::Cells;
use super::area::{Band, Nearness, Position, Ring};
use super::rank::{CellKey, Group};
use crate::session::connection_id::ConnectionId;

/// The cells in the sight of one connection.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    /// The viewpoints, and after them those with which the cells in sight were computed.
    viewpoints: Vec<Position>,
    groups: Vec<Group>,
    /// The cells in the rings around the viewpoints, and those of the groups, in the order of their keys.
    cells: Vec<Seen>,
    /// Those of the cells that are open, in the order of their areas, and then of the numbers of their
    /// strips. They are read in each tick.
    spans: Vec<Span>,
}

/// Cells of one strip in sight, which are in the same band for the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The class whose area has the cells, or `None` for cells of groups.
    pub(crate) area: Option<u16>,
    pub(crate) strip: u32,
    pub(crate) band: Band,
    /// A bit for each cell whose objects the client may have.
    pub(crate) cells: u64,
    /// A bit for each of them that is [near](Ring::Near).
    pub(crate) near: u64,
}

/// A cell in a ring around a viewpoint, or the cell of a group.
#[derive(Clone, Copy, Debug)]
struct Seen {
    key: CellKey,
    number: u32,
    nearness: Nearness,
    /// Whether the client may have objects in the cell that it takes shared data of. If not, the cell is kept
    /// and not in the spans.
    is_open: bool,
}

impl Seen {
    /// Adds the cell to the last of the spans, or to a new one. The cells of a strip follow each other.
    fn add_to(&self, spans: &mut Vec<Span>, cells: &Cells) {
        let (place, nearness) = (cells.cells[self.number as usize].place, self.nearness);
        let band = nearness.band();
        let near = if nearness.ring == Ring::Near { place.bit() } else { 0 };
        let mut last = spans.iter_mut().rev().take_while(|span| span.strip == place.strip());
        match last.find(|span| span.band == band) {
            Some(span) => (span.cells, span.near) = (span.cells | place.bit(), span.near | near),
            None => {
                let (area, strip) = (self.key.area(), place.strip());
                spans.push(Span { area, strip, band, cells: place.bit(), near });
            }
        }
    }
}

impl Sight {
    /// Sets the points from which the connection sees. Returns whether the cells in sight must be
    /// [computed](Self::update) again. They stay the same while no point has moved by more than `tolerance`
    /// since they were computed.
    pub(crate) fn set_viewpoints(&mut self, viewpoints: &[Position], tolerance: f32) -> bool {
        let is_near = |(one, other): (&Position, &Position)| {
            let distances = one.iter().zip(other).map(|(one, other)| (one - other) * (one - other));
            distances.sum::<f32>() <= tolerance * tolerance
        };
        let count = self.viewpoints.len() / 2;
        let (newest, computed) = self.viewpoints.split_at_mut(count);
        if count == viewpoints.len() {
            newest.copy_from_slice(viewpoints);
            let is_same = computed.iter().zip(viewpoints).all(is_near);
            if !is_same {
                computed.copy_from_slice(viewpoints);
            }
            return !is_same;
        }
        self.viewpoints.clear();
        self.viewpoints.extend(viewpoints.iter().chain(viewpoints));
        true
    }

    /// Returns the points from which the connection sees.
    pub(crate) fn viewpoints(&self) -> &[Position] {
        &self.viewpoints[..self.viewpoints.len() / 2]
    }

    pub(crate) fn join(&mut self, group: Group) {
        if let Err(index) = self.groups.binary_search(&group) {
            self.groups.insert(index, group);
        }
    }

    pub(crate) fn leave(&mut self, group: Group) {
        if let Ok(index) = self.groups.binary_search(&group) {
            self.groups.remove(index);
        }
    }

    /// Returns the groups of the connection, in ascending order.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub(crate) fn is_in(&self, group: Group) -> bool {
        self.groups.binary_search(&group).is_ok()
    }

    /// Returns the numbers of the cells that are far.
    pub(crate) fn far_cells(&self) -> impl Iterator<Item = u32> {
        self.cells.iter().filter(|seen| seen.nearness.band().is_far).map(|seen| seen.number)
    }

    /// Returns the numbers of the cells in the rings and of the groups, in the order of their keys, each with
    /// its ring.
    pub(crate) fn cells(&self) -> impl Iterator<Item = (u32, Ring)> {
        self.cells.iter().map(|seen| (seen.number, seen.nearness.ring))
    }

    /// Returns those cells whose objects the client may have, as words about their strips, in ascending order
    /// of the areas, and then of the strips.
    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Computes the cells in the rings, after the viewpoints or the groups have changed. Returns the objects
    /// that may have come into sight or gone out of it. Costs O(cells in the rings).
    pub(crate) fn update(&mut self, viewer: ConnectionId, cells: &mut Cells) -> Vec<u32> {
        // The number of cells in the rings hardly changes.
        let mut rings: Vec<(CellKey, Nearness)> = Vec::with_capacity(self.cells.len() + 8);
        rings.extend(self.groups.iter().map(|&group| (CellKey::Group(group), Nearness::HERE)));
        for (class, area) in cells.areas() {
            for &viewpoint in self.viewpoints() {
                area.cells_around(viewpoint, |cell, nearness| {
                    rings.push((CellKey::At(class, cell), nearness))
                });
            }
        }
        // If several viewpoints are around a cell, its least nearness counts, which comes first.
        rings.sort_unstable();
        rings.dedup_by_key(|(key, _)| *key);
        self.replace(viewer, &rings, cells)
    }

    /// Replaces the cells in the rings by these, which are in ascending order. Returns the objects in the
    /// cells that have come nearer or into another band, and in those that are in no ring any more.
    fn replace(
        &mut self,
        viewer: ConnectionId,
        rings: &[(CellKey, Nearness)],
        cells: &mut Cells,
    ) -> Vec<u32> {
        let mut affected = Vec::new();
        let before = std::mem::replace(&mut self.cells, Vec::with_capacity(rings.len()));
        let mut old = before.iter().peekable();
        let leave = |seen: &Seen, cells: &mut Cells, affected: &mut Vec<u32>| {
            affected.extend_from_slice(cells.members(seen.number));
            cells.remove_viewer(seen.number, viewer);
        };
        for &(key, nearness) in rings {
            while let Some(seen) = old.next_if(|seen| seen.key < key) {
                leave(seen, cells, &mut affected);
            }
            let known = old.next_if(|seen| seen.key == key);
            let number = known.map_or_else(|| cells.number_of(key), |seen| seen.number);
            let before = known.map(|seen| seen.nearness);
            if before != Some(nearness) {
                cells.set_viewer(number, viewer, nearness);
                if nearness.is_reconsidered_after(before) {
                    affected.extend_from_slice(cells.members(number));
                }
            }
            let is_open = nearness.ring == Ring::Near || known.is_some_and(|seen| seen.is_open);
            self.cells.push(Seen { key, number, nearness, is_open });
        }
        old.for_each(|seen| leave(seen, cells, &mut affected));
        self.find_spans(cells);
        affected
    }

    /// Records that the client takes shared data of an object in a cell. [Near](Ring::Near) cells are open
    /// anyway.
    pub(crate) fn open(&mut self, cells: &Cells, cell: u32) {
        let key = cells.cells[cell as usize].key;
        if let Ok(index) = self.cells.binary_search_by_key(&key, |seen| seen.key)
            && !self.cells[index].is_open
        {
            self.cells[index].is_open = true;
            self.find_spans(cells);
        }
    }

    fn find_spans(&mut self, cells: &Cells) {
        let Self { cells: seen, spans, .. } = self;
        spans.clear();
        for seen in seen.iter().filter(|seen| seen.is_open) {
            seen.add_to(spans, cells);
        }
        spans.sort_unstable_by_key(|span| (span.area, span.strip, span.band));
    }

    /// Removes the connection from the viewers of all cells, because the connection has ended.
    pub(crate) fn end(mut self, viewer: ConnectionId, cells: &mut Cells) {
        self.replace(viewer, &[], cells);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priorities_use_the_newest_viewpoints_and_cells_those_that_moved_far() {
        let mut sight = Sight::default();
        assert!(sight.set_viewpoints(&[[0.0; 3], [9.0; 3]], 1.0));
        assert!(!sight.set_viewpoints(&[[0.75, 0.0, 0.0], [9.0; 3]], 1.0));
        assert_eq!(sight.viewpoints(), [[0.75, 0.0, 0.0], [9.0; 3]]);
        assert!(sight.set_viewpoints(&[[1.5, 0.0, 0.0], [9.0; 3]], 1.0), "many small steps are a large one");
        assert!(!sight.set_viewpoints(&[[2.0, 0.0, 0.0], [9.0; 3]], 1.0));
        assert!(sight.set_viewpoints(&[[2.0, 0.0, 0.0]], 1.0));
        assert_eq!(sight.viewpoints(), [[2.0, 0.0, 0.0]]);
        assert!(sight.set_viewpoints(&[], 1.0) && !sight.set_viewpoints(&[], 1.0));
    }
}
