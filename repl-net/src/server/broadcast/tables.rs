//! The tables of a tick: the changes of the objects that are in cells, in the order of the cells (R24).
//!
//! Each class has a table. If connections that are far from objects see fewer properties of the class, it has
//! one table for near and one for far connections. Cells that no connection has in sight are not encoded.
//! Changes that far connections receive later are separate entries, in the tick in which they are due.
//!
//! *Invariant:* the changes of the objects of one class for connections in one band are consecutive entries
//! of one table, in the order of the places of their cells.

use std::sync::Arc;

use repl_core::{BitWriter, Changelist, HandleSet, WriteRecipe};
use repl_link::parts::SEGMENT_BITS;

use super::named_assets::NamedAssets;
use super::pool::Pool;
use super::section::{Distance, Piece, Section};
use crate::body::recycled::Recycled;
use crate::body::table::{Table, TableHead, TableWriter};
use crate::server::cells::Home;
use crate::server::cells::area::Band;
use crate::server::cells::sight::Span;
use crate::server::cells::strips::StripPlace;
use crate::server::occupant::Occupant;
use crate::server::world::World;
use crate::session::classes::ClassList;

/// The tables of one tick.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    tables: Vec<Arc<Table>>,
    pool: Pool<Table>,
    writer: TableWriter,
    sections: Recycled<Section>,
    /// For each class and distance, the number of the section that was added last.
    newest: Vec<[Option<u32>; 3]>,
    /// How the values of entries with the table's most frequent set of properties are written.
    common_recipe: WriteRecipe,
    /// How the values of the last entry with another set of properties were written.
    other_recipe: WriteRecipe,
    /// The changelists of one table, without the properties that connections may not see. Empty if the class
    /// has no conditions.
    masked: Vec<Changelist>,
    /// The assets to which the changes of this tick refer, each with the slot of the object that refers to
    /// it.
    named_assets: NamedAssets,
    /// Changes that are due in this tick and that are in no table, because they do not fit.
    due_alone: Vec<DueAlone>,
}

/// The changes of an object that are due in this tick for connections with a certain period, and that are in
/// no table.
#[derive(Debug)]
pub(crate) struct DueAlone {
    cell: u32,
    period: u16,
    distance: Distance,
    pub(crate) slot: u32,
    pub(crate) list: Changelist,
}

impl DueAlone {
    /// Returns whether the changes are due for a connection. `band_of` returns the band in which a cell is
    /// for this connection, if the connection has the cell in sight.
    pub(crate) fn is_for(&self, band_of: impl FnOnce(u32) -> Option<Band>) -> bool {
        let band = band_of(self.cell);
        band.is_some_and(|band| band.period == self.period && self.distance.includes(band.is_far))
    }
}

impl Tables {
    pub(crate) fn table(&self, number: u32) -> &Arc<Table> {
        &self.tables[number as usize]
    }

    /// Replaces `pieces` by the table entries for a connection that has the cells of `spans` in sight, in
    /// ascending order of the tables. The spans are in ascending order of the areas, and then of the strips.
    /// The places in `may_be_out_of_step` are of cells with objects that may be out of step, in ascending
    /// order. Pieces that follow each other in a table are joined, if they are of the same kind. Costs
    /// O(sections × spans in the areas with entries of the section).
    pub(crate) fn pieces(&self, spans: &[Span], may_be_out_of_step: &[StripPlace], pieces: &mut Vec<Piece>) {
        pieces.clear();
        for section in self.sections.iter() {
            section.add_pieces(spans, may_be_out_of_step, pieces);
        }
    }

    /// Returns the changes that are due and in no table.
    pub(crate) fn due_alone(&self) -> &[DueAlone] {
        &self.due_alone
    }

    /// Returns the assets to which the changes refer, so that the caller can move them to its own list.
    pub(super) fn named_assets_mut(&mut self) -> &mut NamedAssets {
        &mut self.named_assets
    }

    /// Encodes the changes of objects in cells that some connection has in sight. An entry takes at most
    /// `max_bits` bits. Adds the objects whose changes cannot be encoded in this way to `unshared`.
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
        if world.ends_round() {
            self.pool.end_round(Table::end_round);
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
    /// fewer properties of the class, adds it once for near and once for far connections, if the cell has
    /// such viewers.
    #[inline]
    fn add(&mut self, world: &World, slot: u32, period: u16, place: StripPlace, change: u32) {
        let class = world.store.occupant(slot).class;
        if !world.cells.have_far() || !world.store.column(class).conditions().depend_on_distance() {
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

    /// Returns the section of a class for a distance and a period. All sections in `newest` must be of this
    /// period.
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

    /// Encodes the changes of the objects of one class for connections at one distance. `sections` are the
    /// sections of this class and distance.
    fn build_class(
        &mut self,
        sections: &mut [Section],
        world: &World,
        classes: &ClassList,
        max_bits: usize,
        unshared: &mut Vec<(u32, Distance)>,
    ) {
        let Some(&Section { class, distance, .. }) = sections.first() else { return };
        let (column, mut masked) = (world.store.column(class), std::mem::take(&mut self.masked));
        for section in &mut *sections {
            section.arrange(|strip| world.cells.area_of(strip));
            if column.conditions().is_conditional() {
                let is_far = distance == Distance::Far;
                let list = |change| world.store.masked_list(change, column.conditions(), is_far);
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
                slot_bits: (world.store.objects.len() as u32).max(2).ilog2() + 1,
                common,
            };
            self.writer.begin(head, classes.len(), column.program().handles(), into);
            let mut lists = &masked[..];
            for section in &mut *sections {
                section.table = self.tables.len() as u32;
                let own = lists.split_off(..section.len().min(lists.len())).unwrap_or_default();
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

    /// Appends the changes of a section to its table. If the class has conditions, `masked` contains the
    /// changelists without the properties that connections may not see.
    fn encode_section(
        &mut self,
        section: &mut Section,
        masked: &[Changelist],
        world: &World,
        max_bits: usize,
        unshared: &mut Vec<(u32, Distance)>,
        into: &mut Table,
    ) {
        let (column, changes) = (world.store.column(section.class), section.all_changes(world));
        let (rows, deltas) = (column.rows(), column.deltas());
        let (period, distance, mut masked) = (section.period, section.distance, masked.iter());
        section.encode(into.len(), |cell| {
            for &at in cell {
                let change = &changes[at as usize];
                let list = masked.next().unwrap_or(&change.list);
                if list.is_empty() {
                    continue;
                }
                let Occupant { row, generation, .. } = world.store.occupant(change.slot);
                let Self { writer, common_recipe, other_recipe, named_assets, .. } = &mut *self;
                let values = |is_common: bool, bits: &mut BitWriter| {
                    let recipe = if is_common {
                        common_recipe
                    } else {
                        rows.make_recipe(list.handles(), other_recipe);
                        other_recipe
                    };
                    let is_written = !list.handles().intersects(deltas)
                        && rows.write_values(row, list, recipe, bits).is_ok();
                    named_assets.take(change.slot, bits);
                    is_written
                };
                if writer.entry((change.slot, generation), list, max_bits, values, into) {
                    continue;
                }
                if period == 1 {
                    unshared.push((change.slot, distance));
                } else if let Home::Cell(cell) = world.cells.home(change.slot) {
                    let list = list.clone();
                    self.due_alone.push(DueAlone { cell, period, distance, slot: change.slot, list });
                }
            }
            into.len()
        });
    }
}

/// Returns the set that occurs more often than all other sets in total. If there is no such set, returns any
/// of the sets (Boyer and Moore 1981).
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
