//! A section contains the entries of a table that are for connections in one band, which is a range of
//! distances. The entries are in the order of the cells of their objects. A connection uses the sections to
//! find the entries that it copies.
//!
//! *Invariant:* the entries of a section are consecutive, and in the order of the places of their cells.

use std::ops::Range;

use crate::body::slot_set::slots_of;
use crate::server::cells::area::Band;
use crate::server::cells::sight::Span;
use crate::server::cells::strips::StripPlace;
use crate::server::changes::Change;
use crate::server::world::World;

/// The connections that receive a change, by their distance from the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Distance {
    /// All connections, because they see the same properties.
    #[default]
    Any,
    Near,
    Far,
}

impl Distance {
    /// Returns whether the change is for far connections, or if `is_far` is false, for near connections.
    pub(crate) fn includes(self, is_far: bool) -> bool {
        match self {
            Self::Any => true,
            Self::Near => !is_far,
            Self::Far => is_far,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) class: u16,
    pub(super) distance: Distance,
    pub(super) period: u16,
    pub(super) table: u32,
    /// The entries of the section in each strip (of 64 cells), by the number of the strip.
    strips: Vec<StripEntries>,
    /// The strips with changes.
    touched: Vec<u32>,
    /// The areas of these strips, in ascending order. An object that is attached to another object is in the
    /// area of the other object's class.
    areas: Vec<Option<u16>>,
    /// For each strip with changes, and each of its cells with changes, the first entry of the cell in the
    /// table.
    starts: Vec<[u32; 64]>,
    changes: Vec<Placed>,
    /// The changes in the order of the places of their cells.
    order: Vec<u32>,
    /// For each strip with changes, and each of its cells with changes, a number. Before
    /// [`arrange`](Self::arrange), it is the number of changes of the cell. After `arrange`, it is the end of
    /// these changes in `order`.
    ends: Vec<[u32; 64]>,
}

/// The changes of objects in a strip.
#[derive(Clone, Copy, Debug, Default)]
struct StripEntries {
    /// A bit for each cell with changes.
    cells: u64,
    /// The index of the strip in `touched`, the list of strips with changes.
    number: u32,
    /// The end (exclusive) of the strip's entries in the table.
    end: u32,
}

/// A change, and the place of its object's cell.
#[derive(Clone, Copy, Debug)]
struct Placed {
    place: StripPlace,
    /// The index of the change in the changes of the tick, or in the changes that are due for the period.
    change: u32,
}

/// A range of consecutive entries of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) table: u32,
    /// Whether the entries also contain changes of earlier ticks, which waited because the connections are
    /// far.
    pub(crate) is_late: bool,
    /// Whether all these entries are of objects in cells that are near the connection and have no object that
    /// may be out of step (not up to date, or in another view).
    pub(crate) is_certain: bool,
    pub(crate) entries: Range<u32>,
}

impl Piece {
    /// Returns whether `next` can be joined with this piece.
    #[inline]
    fn continues_with(&self, next: &Self) -> bool {
        let kind = |piece: &Self| (piece.table, piece.is_late, piece.is_certain);
        kind(self) == kind(next) && self.entries.end == next.entries.start
    }
}

impl Section {
    fn is_for(&self, band: Band) -> bool {
        self.period == band.period && self.distance.includes(band.is_far)
    }

    pub(super) fn clear(&mut self) {
        for strip in self.touched.drain(..) {
            self.strips[strip as usize] = StripEntries::default();
        }
        self.areas.clear();
        self.changes.clear();
        self.order.clear();
    }

    /// Adds the change with the index `change`, whose object is in the cell at `place`.
    #[inline]
    pub(super) fn add(&mut self, place: StripPlace, change: u32) {
        let strip = place.strip() as usize;
        if self.strips.len() <= strip {
            self.strips.resize(strip + 1, StripEntries::default());
        }
        let entries = &mut self.strips[strip];
        if entries.cells == 0 {
            entries.number = self.touched.len() as u32;
            self.touched.push(strip as u32);
            if self.ends.len() < self.touched.len() {
                self.ends.push([0; 64]);
                self.starts.push([0; 64]);
            }
        }
        let count = &mut self.ends[entries.number as usize][place.at()];
        // If the cell had no change yet in this tick, `count` is still the value of an earlier tick.
        *count = if entries.cells & place.bit() == 0 { 1 } else { *count + 1 };
        entries.cells |= place.bit();
        self.changes.push(Placed { place, change });
    }

    /// Returns all changes of the tick, or all changes that are due for the period of the section.
    pub(super) fn all_changes<'w>(&self, world: &'w World) -> &'w [Change] {
        match self.period {
            1 => world.changes.as_slice(),
            period => world.later.due_for(period),
        }
    }

    /// Returns the changes of the section, in the order of the places of their cells.
    pub(super) fn changes<'w>(&self, world: &'w World) -> impl Iterator<Item = &'w Change> {
        let changes = self.all_changes(world);
        self.order.iter().map(move |&at| &changes[at as usize])
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Puts the changes into the order of the places of their cells. `area_of` returns the area of a strip.
    /// Costs O(changes + strips log strips).
    pub(super) fn arrange(&mut self, area_of: impl Fn(u32) -> Option<u16>) {
        let Self { strips, touched, areas, changes, order, ends, .. } = self;
        touched.sort_unstable();
        for area in touched.iter().map(|&strip| area_of(strip)) {
            if let Err(at) = areas.binary_search(&area) {
                areas.insert(at, area);
            }
        }
        let mut sum = 0;
        for strip in touched {
            let StripEntries { cells, number, .. } = strips[*strip as usize];
            let ends = &mut ends[number as usize];
            for cell in cells_of(cells) {
                // At first this is the start of the cell's changes. The next loop moves it to their end.
                sum += std::mem::replace(&mut ends[cell], sum);
            }
        }
        order.resize(changes.len(), 0);
        for Placed { place, change } in changes {
            let next = &mut ends[strips[place.strip() as usize].number as usize][place.at()];
            order[*next as usize] = *change;
            *next += 1;
        }
    }

    /// Encodes the changes, one cell after another. `encode` receives the indices of the changes of one cell,
    /// encodes them, and returns the new end of the table.
    pub(super) fn encode(&mut self, first: u32, mut encode: impl FnMut(&[u32]) -> u32) {
        let Self { strips, touched, starts, order, ends, .. } = self;
        let (mut start, mut end_of_table) = (0, first);
        for strip in touched {
            let StripEntries { cells, number, end } = &mut strips[*strip as usize];
            let (starts, ends) = (&mut starts[*number as usize], &ends[*number as usize]);
            for cell in cells_of(*cells) {
                starts[cell] = end_of_table;
                let end = ends[cell] as usize;
                end_of_table = encode(&order[start..end]);
                start = end;
            }
            *end = end_of_table;
        }
    }

    /// Adds the entries in the cells of `spans` to `pieces`. Skips spans whose band this section does not
    /// serve. The spans are in ascending order of the areas, and then of the strips. The places in
    /// `may_be_out_of_step` are of cells with objects that may be out of step, in ascending order. Costs
    /// O(spans in the areas with entries of the section).
    pub(super) fn add_pieces(
        &self,
        spans: &[Span],
        may_be_out_of_step: &[StripPlace],
        pieces: &mut Vec<Piece>,
    ) {
        for &area in &self.areas {
            self.add_spans(spans_of(area, spans), may_be_out_of_step, pieces);
        }
    }

    /// Does the same as [`add_pieces`](Self::add_pieces) for the spans of one area.
    fn add_spans(&self, spans: &[Span], may_be_out_of_step: &[StripPlace], pieces: &mut Vec<Piece>) {
        let mut may_be_out_of_step = may_be_out_of_step;
        for span in spans.iter().filter(|span| self.is_for(span.band)) {
            let Some(&entries) = self.strips.get(span.strip as usize) else { continue };
            if entries.cells & span.cells == 0 {
                continue;
            }
            let mut certain = if self.period > 1 { 0 } else { span.in_sight };
            while let [place, rest @ ..] = may_be_out_of_step
                && place.strip() < span.strip
            {
                may_be_out_of_step = rest;
            }
            // The places of this strip remain in the list, because the next span can be of the same strip in
            // another band.
            for place in may_be_out_of_step.iter().take_while(|place| place.strip() == span.strip) {
                certain &= !place.bit();
            }
            let (certain, others) = (entries.cells & certain, entries.cells & span.cells & !certain);
            if certain != 0 {
                self.add_cells(entries, certain, true, pieces);
            }
            if others != 0 {
                self.add_cells(entries, others, false, pieces);
            }
        }
    }

    /// Adds to `pieces` the entries of the cells in the mask `cells` of one strip (of 64 cells). `entries`
    /// are the entries of the strip. Each of the cells has entries.
    #[inline]
    fn add_cells(&self, entries: StripEntries, cells: u64, is_certain: bool, pieces: &mut Vec<Piece>) {
        let starts = &self.starts[entries.number as usize];
        let (mut left, others) = (cells, entries.cells & !cells);
        while left != 0 {
            let first = left.trailing_zeros();
            // The piece ends at the next cell with entries that is not in the mask.
            let after = others & u64::MAX << first;
            let (end, rest) = match after {
                0 => (entries.end, 0),
                _ => (starts[after.trailing_zeros() as usize], u64::MAX << after.trailing_zeros()),
            };
            self.add_piece(starts[first as usize]..end, is_certain, pieces);
            left &= rest;
        }
    }

    #[inline]
    fn add_piece(&self, entries: Range<u32>, is_certain: bool, pieces: &mut Vec<Piece>) {
        if entries.is_empty() {
            return;
        }
        let piece = Piece { table: self.table, is_late: self.period > 1, is_certain, entries };
        match pieces.last_mut() {
            Some(last) if last.continues_with(&piece) => last.entries.end = piece.entries.end,
            _ => pieces.push(piece),
        }
    }
}

/// Returns the cells in a mask, in ascending order.
#[inline]
fn cells_of(mask: u64) -> impl Iterator<Item = usize> {
    slots_of(0, mask).map(|cell| cell as usize)
}

/// Returns the spans in the area of a class, or the spans of groups if `area` is `None`.
fn spans_of(area: Option<u16>, spans: &[Span]) -> &[Span] {
    let start = spans.partition_point(|span| span.area < area);
    let count = spans[start..].partition_point(|span| span.area == area);
    &spans[start..start + count]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn area_of(strip: u32) -> Option<u16> {
        (strip % 3).checked_sub(1).map(|class| class as u16)
    }

    /// Returns a section with changes of objects at these places, as if they were encoded.
    fn section(table: u32, changes: &[(u32, u32)]) -> Section {
        let mut section = Section { table, period: 1, ..Section::default() };
        for _ in 0..2 {
            section.clear();
            for (at, &(strip, cell)) in (0..).zip(changes) {
                section.add(StripPlace::new(strip, cell), at);
            }
            section.arrange(area_of);
            let mut end = 0;
            section.encode(0, |changes| {
                end += changes.len() as u32;
                end
            });
        }
        section
    }

    /// Spans of several strips, with the cells in the nearest band and those in the far one.
    fn spans() -> impl Strategy<Value = Vec<Span>> {
        let words = (any::<u64>(), any::<u64>(), any::<u64>());
        prop::collection::btree_map(0..9_u32, words, 0..9).prop_map(|strips| {
            let mut spans: Vec<Span> = Vec::new();
            for (strip, (cells, is_far, near)) in strips {
                for (is_far, cells) in [(false, cells & !is_far), (true, cells & is_far)] {
                    let band = Band { period: 1, is_far };
                    spans.push(Span { area: area_of(strip), strip, band, cells, in_sight: cells & near });
                }
            }
            spans.sort_by_key(|span| (span.area, span.strip, span.band));
            spans
        })
    }

    proptest! {
        #[test]
        fn changes_are_in_the_order_of_their_places(
            changes in prop::collection::vec((0..4_u32, 0..64_u32), 1..100),
        ) {
            let mut sorted: Vec<u32> = (0..changes.len() as u32).collect();
            sorted.sort_by_key(|&at| changes[at as usize]);
            prop_assert_eq!(section(0, &changes).order, sorted);
        }

        #[test]
        fn r24_pieces_are_the_changes_in_the_cells_in_sight_and_certain_if_near_and_in_step(
            changes in prop::collection::vec(prop::collection::vec((0..9_u32, 0..64_u32), 0..99), 1..4),
            spans in spans(),
            may_be_out_of_step in prop::collection::btree_set((0..9_u32, 0..64_u32), 0..40),
        ) {
            let may_be_out_of_step = may_be_out_of_step.into_iter().map(|(strip, cell)| StripPlace::new(strip, cell));
            let (may_be_out_of_step, mut expected): (Vec<StripPlace>, _) = (may_be_out_of_step.collect(), Vec::new());
            let sections = (0..).zip(&changes).map(|(table, changes)| section(table, changes));
            let sections: Vec<_> = sections.collect();
            for section in &sections {
                for (entry, &change) in (0..).zip(&section.order) {
                    let place = section.changes[change as usize].place;
                    let is_in = |span: &&Span| span.strip == place.strip() && span.cells & place.bit() != 0;
                    expected.extend(spans.iter().find(is_in).map(|span| {
                        let is_certain = span.in_sight & place.bit() != 0 && !may_be_out_of_step.contains(&place);
                        (section.table, entry, is_certain)
                    }));
                }
            }
            let mut pieces = Vec::new();
            sections.iter().for_each(|section| section.add_pieces(&spans, &may_be_out_of_step, &mut pieces));
            let found = pieces.into_iter().flat_map(|Piece { table, is_certain, entries, .. }| {
                entries.map(move |entry| (table, entry, is_certain))
            });
            let mut found: Vec<_> = found.collect();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
