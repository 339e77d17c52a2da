//! The tables of a tick: the changes of the objects that are in cells, in the order of the cells (R24).
//!
//! Each class has a table. If connections that are far from objects see fewer properties of the class, it has
//! one for near and one for far connections. Cells that no connection has in sight are not encoded. Changes
//! that far connections receive later are entries of their own, in the tick in which they are due.
//!
//! *Invariant:* the changes of the objects of one class for connections in one band are consecutive entries
//! of one table, in the order of the places of their cells. So the changes in a row of cells are
//! consecutive entries, too.

use std::ops::Range;
use std::sync::Arc;

use repl_core::{BitWriter, Changelist, HandleSet, WriteRecipe};

use super::pool::Pool;
use crate::server::cells::Home;
use crate::server::cells::area::Band;
use crate::server::cells::sight::Span;
use crate::server::cells::strips::StripPlace;
use crate::server::changes::Change;
use crate::server::world::World;
use crate::session::classes::ClassList;
use crate::transport::recycled::Recycled;
use crate::transport::segment::SEGMENT_BITS;
use crate::transport::spare::ROUND_TICKS;
use crate::transport::table::{Table, TableHead, TableWriter};

/// The tables of one tick.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    tables: Vec<Arc<Table>>,
    pool: Pool<Table>,
    writer: TableWriter,
    /// The sections of this tick.
    sections: Recycled<Section>,
    /// For each class and distance, the number of its newest section.
    newest: Vec<[Option<u32>; 3]>,
    /// How the values of the common properties of a table are written.
    common_recipe: WriteRecipe,
    /// How the values of the last entry with other properties were written.
    other_recipe: WriteRecipe,
    /// The changelists of one table, as far as connections may see them. Empty if the class has no
    /// conditions.
    masked: Vec<Changelist>,
    /// Changes that are due in this tick and that are in no table, because they do not fit.
    due_alone: Vec<DueAlone>,
}

/// The connections for which a change is, by their distance from the object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Distance {
    /// All of them, because they see the same properties.
    #[default]
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

/// The entries of one table for connections in one band.
#[derive(Debug, Default)]
struct Section {
    class: u16,
    distance: Distance,
    period: u16,
    table: u32,
    /// For each strip, which of its cells have entries.
    strips: Vec<StripEntries>,
    /// The strips with entries.
    touched: Vec<u32>,
    /// The areas of these strips, in ascending order. An object that is attached to another one is in the
    /// area of the other object's class.
    areas: Vec<Option<u16>>,
    /// For each cell with entries, in the order of the places, the first entry of the cell. After them, the
    /// end of the last cell's entries.
    starts: Vec<u32>,
    changes: Vec<Placed>,
    /// The changes in the order of the places of their cells.
    order: Vec<u32>,
    /// For each cell with changes, the end of its changes in `order`.
    ends: Vec<u32>,
}

/// The cells of a strip that have entries.
#[derive(Clone, Copy, Debug, Default)]
struct StripEntries {
    /// A bit for each cell.
    cells: u64,
    /// How many cells of earlier strips have entries.
    before: u32,
}

/// A change, and the place of its object's cell.
#[derive(Clone, Copy, Debug)]
struct Placed {
    place: StripPlace,
    /// The number of the cell among those with changes, after [`arrange`](Section::arrange).
    cell: u32,
    /// The index of the change among the changes of the tick, or among those that are due for the period.
    change: u32,
}

/// Consecutive entries of the table with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) table: u32,
    /// Whether the changes are of earlier ticks, too.
    pub(crate) is_late: bool,
    /// Whether all these entries are of objects in cells that are near the connection and not doubtful.
    pub(crate) is_certain: bool,
    pub(crate) entries: Range<u32>,
}

impl Piece {
    /// Returns whether `next` can be joined with this piece.
    fn continues_with(&self, next: &Self) -> bool {
        let kind = |piece: &Self| (piece.table, piece.is_late, piece.is_certain);
        kind(self) == kind(next) && self.entries.end == next.entries.start
    }
}

impl StripEntries {
    /// Returns how many cells with entries come before the cells in `mask` and those above them.
    #[inline]
    fn cells_below(self, mask: u64) -> usize {
        self.before as usize
            + (self.cells & (mask & mask.wrapping_neg()).wrapping_sub(1)).count_ones() as usize
    }
}

impl Section {
    /// Returns whether the entries are for connections in a band.
    fn is_for(&self, band: Band) -> bool {
        self.period == band.period && self.distance.includes(band.is_far)
    }

    fn clear(&mut self) {
        for strip in self.touched.drain(..) {
            self.strips[strip as usize] = StripEntries::default();
        }
        self.areas.clear();
        self.starts.clear();
        self.changes.clear();
        self.order.clear();
        self.ends.clear();
    }

    fn add(&mut self, place: StripPlace, change: u32) {
        let strip = place.strip() as usize;
        if self.strips.len() <= strip {
            self.strips.resize(strip + 1, StripEntries::default());
        }
        let entries = &mut self.strips[strip];
        if entries.cells == 0 {
            self.touched.push(strip as u32);
        }
        entries.cells |= place.bit();
        self.changes.push(Placed { place, cell: 0, change });
    }

    /// Returns all changes from which those of the section are chosen.
    fn all_changes<'w>(&self, world: &'w World) -> &'w [Change] {
        match self.period {
            1 => world.changes.as_slice(),
            period => world.later.due_for(period),
        }
    }

    /// Returns the changes of the section, in the order of the places of their cells.
    fn changes<'w>(&self, world: &'w World) -> impl Iterator<Item = &'w Change> {
        let changes = self.all_changes(world);
        self.order.iter().map(move |&at| &changes[at as usize])
    }

    /// Puts the changes into the order of the places of their cells. `area_of` returns the area of a strip.
    /// Costs O(changes + strips log strips).
    fn arrange(&mut self, area_of: impl Fn(u32) -> Option<u16>) {
        let Self { strips, touched, areas, changes, order, ends, .. } = self;
        touched.sort_unstable();
        for area in touched.iter().map(|&strip| area_of(strip)) {
            if let Err(at) = areas.binary_search(&area) {
                areas.insert(at, area);
            }
        }
        let mut cells = 0;
        for strip in touched {
            let entries = &mut strips[*strip as usize];
            entries.before = cells;
            cells += entries.cells.count_ones();
        }
        ends.resize(cells as usize, 0);
        for Placed { place, cell, .. } in changes.iter_mut() {
            *cell = strips[place.strip() as usize].cells_below(place.bit()) as u32;
            ends[*cell as usize] += 1;
        }
        let mut sum = 0;
        for end in ends.iter_mut() {
            // At first the start of the cell's changes, which then moves to their end.
            sum += std::mem::replace(end, sum);
        }
        order.resize(changes.len(), 0);
        for placed in changes {
            let next = &mut ends[placed.cell as usize];
            order[*next as usize] = placed.change;
            *next += 1;
        }
    }

    /// Adds to `pieces` the entries in the cells of `spans`, without spans in bands for which this section is
    /// not. The spans are in ascending order of the strips.
    fn add_spans(&self, spans: &[Span], doubtful: &[StripPlace], pieces: &mut Vec<Piece>) {
        let mut doubtful = doubtful;
        for span in spans.iter().filter(|span| self.is_for(span.band)) {
            let Some(&entries) = self.strips.get(span.strip as usize) else { continue };
            if entries.cells & span.cells == 0 {
                continue;
            }
            let mut certain = if self.period > 1 { 0 } else { span.near };
            while let [place, rest @ ..] = doubtful
                && place.strip() < span.strip
            {
                doubtful = rest;
            }
            // The places stay in the list, because a strip can have a span for each of several bands.
            for place in doubtful.iter().take_while(|place| place.strip() == span.strip) {
                certain &= !place.bit();
            }
            let (certain, others) = (entries.cells & certain, entries.cells & span.cells & !certain);
            if certain != 0 {
                self.add_pieces(entries, certain, true, pieces);
            }
            if others != 0 {
                self.add_pieces(entries, others, false, pieces);
            }
        }
    }

    /// Adds to `pieces` the entries in some cells of a strip, which has these entries. All of the cells have
    /// entries.
    #[inline]
    fn add_pieces(&self, entries: StripEntries, cells: u64, is_certain: bool, pieces: &mut Vec<Piece>) {
        let (mut left, others) = (cells, entries.cells & !cells);
        while left != 0 {
            let lowest = left & left.wrapping_neg();
            // The piece ends at the next cell with entries that is not among the cells.
            let end = others & !(lowest - 1);
            let start = self.starts[entries.cells_below(lowest)];
            let end_start = self.starts[entries.cells_below(end)];
            self.add_piece(start..end_start, is_certain, pieces);
            left &= if end == 0 { 0 } else { !(end & end.wrapping_neg()).wrapping_sub(1) };
        }
    }

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

impl Tables {
    /// Returns the table with a number.
    pub(crate) fn table(&self, number: u32) -> &Arc<Table> {
        &self.tables[number as usize]
    }

    /// Replaces `pieces` by the entries for a connection with these cells in sight, each with the
    /// connection's period, in ascending order of the tables. The spans are in ascending order of the areas,
    /// and then of the strips. The places in `doubtful` are of cells with objects that may be out of step, in
    /// ascending order. Pieces that follow each other in a table are joined, if they are of the same kind.
    /// Costs O(sections × spans in the areas with entries of the section).
    pub(crate) fn pieces(&self, spans: &[Span], doubtful: &[StripPlace], pieces: &mut Vec<Piece>) {
        pieces.clear();
        for section in self.sections.iter() {
            for &area in &section.areas {
                section.add_spans(spans_of(area, spans), doubtful, pieces);
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
        self.sections.iter_mut().for_each(Section::clear);
        self.sections.clear();
        self.due_alone.clear();
        self.pool.reclaim(&mut self.tables);
        if world.frame.is_multiple_of(ROUND_TICKS) {
            self.pool.end_round(Table::clear);
            self.sections.end_round(|section| *section = Section::default());
            self.masked = Vec::new();
        }
        if world.cells.are_unused() {
            return;
        }
        self.newest.clear();
        for (at, change) in (0..).zip(world.changes.as_slice()) {
            if let Some(place) = world.cells.place_in_sight(change.slot) {
                self.add(world, change.slot, 1, place, at);
            }
        }
        for (period, due) in world.later.due() {
            self.newest.clear();
            for (at, change) in (0..).zip(due) {
                if let Home::Cell(cell) = world.cells.home(change.slot)
                    && let Some(place) = world.cells.place_in_sight(change.slot)
                    && world.cells.has_long_period(cell, period)
                {
                    self.add(world, change.slot, period, place, at);
                }
            }
        }
        let mut sections = std::mem::take(&mut self.sections);
        sections.sort_unstable_by_key(|section| (section.class, section.distance, section.period));
        let is_in_table =
            |one: &Section, other: &Section| (one.class, one.distance) == (other.class, other.distance);
        for class in sections.chunk_by_mut(is_in_table) {
            self.build_class(class, world, classes, max_bits.saturating_sub(3 * SEGMENT_BITS), unshared);
        }
        self.sections = sections;
    }

    /// Adds a change of an object to the section for the connections that receive it. If far connections see
    /// fewer properties of the class, adds it once for near and once for far connections, as far as the cell
    /// has such viewers.
    #[inline]
    fn add(&mut self, world: &World, slot: u32, period: u16, place: StripPlace, change: u32) {
        let class = world.objects[slot as usize].class;
        if !world.cells.have_far() || !world.column(class).conditions().depend_on_distance() {
            self.section(class, Distance::Any, period).add(place, change);
            return;
        }
        let Home::Cell(cell) = world.cells.home(slot) else { return };
        for (distance, is_far) in [(Distance::Near, false), (Distance::Far, true)] {
            if world.cells.has_viewers_in(cell, Band { period, is_far }) {
                self.section(class, distance, period).add(place, change);
            }
        }
    }

    /// Returns the section of a class for a distance and a period. The list of newest sections has only
    /// sections of this period.
    #[inline]
    fn section(&mut self, class: u16, distance: Distance, period: u16) -> &mut Section {
        let at = usize::from(class);
        if self.newest.len() <= at {
            self.newest.resize(at + 1, [None; 3]);
        }
        let number = *self.newest[at][distance as usize].get_or_insert_with(|| {
            let section = self.sections.next_or(Section::default);
            (section.class, section.distance, section.period) = (class, distance, period);
            self.sections.keep();
            self.sections.len() as u32 - 1
        });
        &mut self.sections[number as usize]
    }

    /// Encodes the changes of the objects of one class for connections at one distance, which have these
    /// sections.
    fn build_class(
        &mut self,
        sections: &mut [Section],
        world: &World,
        classes: &ClassList,
        max_bits: usize,
        unshared: &mut Vec<(u32, Distance)>,
    ) {
        let Some(&Section { class, distance, .. }) = sections.first() else { return };
        let (column, mut masked) = (world.column(class), std::mem::take(&mut self.masked));
        for section in &mut *sections {
            section.arrange(|strip| world.cells.area_of(strip));
            if column.conditions().is_conditional() {
                let is_far = distance == Distance::Far;
                let list = |change| world.masked_list(change, column.conditions(), is_far);
                masked.extend(section.changes(world).map(list));
            }
        }
        let changes = sections.iter().flat_map(|section| section.changes(world)).enumerate();
        let lists = changes.map(|(at, change)| masked.get(at).unwrap_or(&change.list));
        let common = majority(lists.map(Changelist::handles)).cloned();
        let mut table = self.pool.blank(Table::clear);
        if let (Some(common), Some(into)) = (common, Arc::get_mut(&mut table)) {
            column.rows().make_recipe(&common, &mut self.common_recipe);
            let head = TableHead {
                class: classes.wire(class.into()),
                slot_bits: (world.objects.len() as u32).max(2).ilog2() + 1,
                common,
            };
            self.writer.begin(head, classes.len(), column.program().handles(), into);
            let mut lists = &masked[..];
            for section in &mut *sections {
                section.table = self.tables.len() as u32;
                let own = lists.split_off(..section.order.len().min(lists.len())).unwrap_or_default();
                self.encode_section(section, own, world, max_bits, unshared, into);
            }
            self.writer.end(into);
        }
        masked.clear();
        self.masked = masked;
        if table.is_empty() {
            sections.iter_mut().for_each(Section::clear);
            self.pool.give_back(table);
        } else {
            self.tables.push(table);
        }
    }

    /// Appends the changes of a section to its table. `masked` has their changelists, as far as connections
    /// may see the changes, if the class has conditions.
    fn encode_section(
        &mut self,
        section: &mut Section,
        masked: &[Changelist],
        world: &World,
        max_bits: usize,
        unshared: &mut Vec<(u32, Distance)>,
        into: &mut Table,
    ) {
        let (rows, changes) = (world.column(section.class).rows(), section.all_changes(world));
        let (mut start, mut masked) = (0, masked.iter());
        for &end in &section.ends {
            section.starts.push(into.len());
            for &at in &section.order[start..end as usize] {
                let change = &changes[at as usize];
                let list = masked.next().unwrap_or(&change.list);
                if list.is_empty() {
                    continue;
                }
                let object = &world.objects[change.slot as usize];
                let (common_recipe, other_recipe) = (&self.common_recipe, &mut self.other_recipe);
                let values = |is_common: bool, bits: &mut BitWriter| {
                    let recipe = if is_common {
                        common_recipe
                    } else {
                        rows.make_recipe(list.handles(), other_recipe);
                        other_recipe
                    };
                    rows.write_values(object.row, list, recipe, bits).is_ok()
                };
                if self.writer.entry((change.slot, object.generation), list, max_bits, values, into) {
                    continue;
                }
                if section.period == 1 {
                    unshared.push((change.slot, section.distance));
                } else if let Home::Cell(cell) = world.cells.home(change.slot) {
                    let Section { period, distance, .. } = *section;
                    let list = list.clone();
                    self.due_alone.push(DueAlone { cell, period, distance, slot: change.slot, list });
                }
            }
            start = end as usize;
        }
        section.starts.push(into.len());
    }
}

/// Returns the spans in the area of a class, or those of groups.
fn spans_of(area: Option<u16>, spans: &[Span]) -> &[Span] {
    let start = spans.partition_point(|span| span.area < area);
    let count = spans[start..].partition_point(|span| span.area == area);
    &spans[start..start + count]
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
            section.starts.push(0);
            section.starts.extend(&section.ends);
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
                    spans.push(Span { area: area_of(strip), strip, band, cells, near: cells & near });
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
        fn r24_pieces_are_the_changes_in_the_cells_in_sight_and_certain_if_near_and_not_doubtful(
            changes in prop::collection::vec(prop::collection::vec((0..9_u32, 0..64_u32), 0..99), 1..4),
            spans in spans(),
            doubtful in prop::collection::btree_set((0..9_u32, 0..64_u32), 0..40),
        ) {
            let doubtful = doubtful.into_iter().map(|(strip, cell)| StripPlace::new(strip, cell));
            let (doubtful, mut expected): (Vec<StripPlace>, _) = (doubtful.collect(), Vec::new());
            let mut sections = Recycled::default();
            for (class, changes) in (0..).zip(&changes) {
                *sections.next_or(Section::default) = section(class, changes);
                sections.keep();
            }
            for section in sections.iter() {
                for (entry, &change) in (0..).zip(&section.order) {
                    let place = section.changes[change as usize].place;
                    let is_in = |span: &&Span| span.strip == place.strip() && span.cells & place.bit() != 0;
                    expected.extend(spans.iter().find(is_in).map(|span| {
                        let is_certain = span.near & place.bit() != 0 && !doubtful.contains(&place);
                        (section.table, entry, is_certain)
                    }));
                }
            }
            let mut pieces = Vec::new();
            Tables { sections, ..Tables::default() }.pieces(&spans, &doubtful, &mut pieces);
            prop_assert!(pieces.is_sorted_by_key(|piece| piece.table));
            let found = pieces.into_iter().flat_map(|Piece { table, is_certain, entries, .. }| {
                entries.map(move |entry| (table, entry, is_certain))
            });
            let mut found: Vec<_> = found.collect();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
