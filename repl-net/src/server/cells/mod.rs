//! The cells of the world: each object is in at most one cell, and a connection sees the objects of the cells
//! in its sight. The objects of a group are in one cell. Objects with positions are in the cells of their
//! [`Area`]. Objects that everyone sees are in no cell. Objects that only their owners see are in no cell
//! either.
//!
//! *Invariant:* an attached object is in the same cell as the object to which it is attached.

pub(crate) mod area;
mod cell;
pub(crate) mod positions;
pub(crate) mod rank;
mod relevancy;
mod rings;
pub(crate) mod rule;
pub(crate) mod sight;
pub(crate) mod strips;

use std::collections::BTreeMap;

use repl_core::__private::{preload, preload_all};
use repl_core::ObjectRef;

use crate::body::forest::Forest;
use crate::body::growth::{push_with, shrink};
use crate::body::slot_set::SlotSet;
use area::{Area, Band, Nearness, Position};
use cell::{Cell, Viewer, concerned};
use positions::Positions;
pub use rank::Group;
use rank::{CellKey, Rank};
pub use relevancy::{Audience, Relevancy};
use repl_link::ConnectionId;
use rule::{Combinations, Rule};
use strips::{StripPlace, Strips};

/// The number of moves, or of cells that change for a connection, whose memory is preloaded together.
const BATCH: usize = 16;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Home {
    /// In no cell. All connections see the object.
    #[default]
    Everyone,
    /// In no cell. At most the owner of the object sees it.
    NoCell,
    /// In the cell with this number.
    Cell(u32),
}

/// A [`Home`] in four bytes. It is small, because each tick reads the homes of all objects that changed.
#[derive(Clone, Copy, Debug)]
struct PackedHome(u32);

impl PackedHome {
    const EVERYONE: u32 = u32::MAX;
    const NO_CELL: u32 = u32::MAX - 1;

    const fn new(home: Home) -> Self {
        Self(match home {
            Home::Everyone => Self::EVERYONE,
            Home::NoCell => Self::NO_CELL,
            Home::Cell(cell) => cell,
        })
    }

    #[inline]
    const fn home(self) -> Home {
        match self.0 {
            Self::EVERYONE => Home::Everyone,
            Self::NO_CELL => Home::NoCell,
            cell => Home::Cell(cell),
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    rule: Rule,
    class: u16,
    /// The index of the object among the members of its cell.
    index: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Cells {
    /// The area of each class, if it has one.
    areas: Vec<Option<Area>>,
    /// Whether any area has bands (ranges of distances) in which changes are not sent in every tick.
    have_bands: bool,
    /// Whether any area has objects in sight that are too far away for `NearOnly` properties.
    have_far: bool,
    /// How far a viewpoint may move before the cells in sight are computed again.
    tolerance: f32,
    cells: Vec<Cell>,
    free: Vec<u32>,
    strips: Strips,
    /// For each cell that some connection has in sight, its place in its strip of 64 cells.
    in_sight: Vec<Option<StripPlace>>,
    homes: Vec<PackedHome>,
    /// For each slot, the rule and class of its object, which determine where the object is, and the object's
    /// index in its cell.
    places: Vec<Place>,
    combinations: Combinations,
    /// For each class whose objects are decided about by a function, the rule of its new objects.
    defaults: BTreeMap<u16, Rule>,
    /// The objects whose relevancy is a combination of others.
    combined: SlotSet,
    /// For each slot, the cell that contains the object's last position, if the class of the object has an
    /// area.
    positions: Positions,
    everyone: SlotSet,
    /// Which objects are attached to which other objects.
    attached: Forest,
}

impl Cells {
    pub(crate) fn set_area(&mut self, class: u16, area: Area) {
        let at = usize::from(class);
        if self.areas.len() <= at {
            self.areas.resize(at + 1, None);
        }
        self.have_bands |= area.periods().next().is_some();
        self.have_far |= area.has_far();
        self.areas[at] = Some(area);
        if self.defaults.contains_key(&class) {
            self.decide_by_function(class);
        }
        self.tolerance = self.areas().map(|(_, area)| area.side()).fold(f32::INFINITY, f32::min) / 4.0;
    }

    /// Lets the function of a class decide which connections see the new objects of the class. If the class
    /// has an area, these connections must also be near.
    pub(crate) fn decide_by_function(&mut self, class: u16) {
        let relevancy = if self.has_area(class) {
            Relevancy::all([Relevancy::Located, Relevancy::Computed])
        } else {
            Relevancy::Computed
        };
        let rule = self.combinations.rule_for(relevancy);
        if let Some(before) = self.defaults.insert(class, rule) {
            self.combinations.remove(before);
        }
    }

    #[inline]
    fn area(&self, class: u16) -> Option<&Area> {
        self.areas.get(usize::from(class))?.as_ref()
    }

    pub(crate) fn has_area(&self, class: u16) -> bool {
        self.area(class).is_some()
    }

    /// Returns how far a viewpoint may move before the cells in sight are computed again: a quarter of the
    /// smallest cell's side.
    pub(crate) fn tolerance(&self) -> f32 {
        self.tolerance
    }

    /// Returns the areas and their classes, in the order of the classes.
    fn areas(&self) -> impl Iterator<Item = (u16, &Area)> {
        (0..).zip(&self.areas).filter_map(|(class, area)| Some((class, area.as_ref()?)))
    }

    pub(crate) fn reserve(&mut self, additional: usize) {
        self.homes.reserve(additional);
        self.places.reserve(additional);
    }

    /// Frees the memory that is not needed for `slots` slots.
    pub(crate) fn end_round(&mut self, slots: usize) {
        shrink(&mut self.homes, slots);
        shrink(&mut self.places, slots);
        self.positions.end_round(slots);
    }

    /// Adds a new object. `position` is `None` if the class has no area, or if the position is not in the
    /// fields of the object. Such an object of a class with an area is in no cell until it is placed.
    pub(crate) fn add(&mut self, slot: u32, class: u16, position: Option<Position>) {
        let at = slot as usize;
        set(&mut self.places, at, Place { class, ..Place::default() });
        let default = self.defaults.get(&class).copied();
        if let Some(area) = self.area(class) {
            let cell = position.map(|position| area.cell_of(position));
            self.positions.set(slot, cell);
            self.places[at].rule = Rule::Located;
        } else if default.is_none() {
            set(&mut self.homes, at, PackedHome::new(Home::Everyone));
            self.everyone.insert(slot);
            return;
        }
        set(&mut self.homes, at, PackedHome::new(Home::NoCell));
        if let Some(rule) = default {
            self.combinations.share(rule);
            self.set_rule(slot, rule);
        }
        // Moves only the object itself, because nothing is attached to a new object.
        self.move_alone_to_cell(slot);
    }

    /// Attaches a new object to another object, which must exist.
    pub(crate) fn attach_new(&mut self, slot: u32, parent: ObjectRef<()>) {
        self.set_rule(slot, Rule::AttachedTo(parent));
        // Moves only the object itself, because nothing is attached to a new object.
        self.move_alone_to_cell(slot);
    }

    /// Removes an object. Returns the objects that were attached to it, directly or through other objects.
    pub(crate) fn remove(&mut self, slot: u32) -> Vec<u32> {
        let affected = self.release_attached(slot);
        // If `positions` has recorded a move of the object, `take_moved` then moves the object to no cell.
        self.set_rule(slot, Rule::OwnerOnly);
        self.move_to(slot, Home::NoCell);
        affected
    }

    /// Detaches the objects that are attached to an object. Returns them and all objects that are attached to
    /// them.
    pub(crate) fn release_attached(&mut self, slot: u32) -> Vec<u32> {
        let mut affected = Vec::new();
        let orphans: Vec<u32> = self.attached.children(slot).collect();
        for orphan in orphans {
            self.set_rule(orphan, Rule::OwnerOnly);
            affected.extend(self.move_to_cell(orphan));
        }
        affected
    }

    /// Returns whether all connections see the object by its relevancy.
    pub(crate) fn is_everyones(&self, slot: u32) -> bool {
        self.everyone.contains(slot)
    }

    /// Returns whether all connections see any of the objects in `slots` by its relevancy.
    pub(crate) fn has_everyones(&self, slots: &SlotSet) -> bool {
        self.everyone.masks_in(slots).next().is_some()
    }

    #[inline]
    pub(crate) fn home(&self, slot: u32) -> Home {
        self.homes.get(slot as usize).map_or(Home::NoCell, |home| home.home())
    }

    pub(crate) fn relevancy(&self, slot: u32) -> Relevancy {
        self.combinations.relevancy(self.rule(slot))
    }

    #[inline]
    pub(crate) fn rule(&self, slot: u32) -> Rule {
        self.places.get(slot as usize).map_or(Rule::OwnerOnly, |place| place.rule)
    }

    /// Returns the relevancy of an object with the rule `rule`, if it is a combination of others.
    #[inline]
    pub(crate) fn combination(&self, rule: Rule) -> Option<&Relevancy> {
        match rule {
            Rule::Combined(number) => Some(self.combinations.get(number)),
            _ => None,
        }
    }

    /// Returns the objects whose relevancy is a combination of others.
    pub(crate) fn combined(&self) -> &SlotSet {
        &self.combined
    }

    fn set_rule(&mut self, slot: u32, rule: Rule) {
        let before = std::mem::replace(&mut self.places[slot as usize].rule, rule);
        self.combinations.remove(before);
        self.combined.set(slot, matches!(rule, Rule::Combined(_)));
        self.attached.set(slot, rule.parent());
    }

    /// Returns the slot of the object to which an object is attached.
    pub(crate) fn parent(&self, slot: u32) -> Option<u32> {
        self.rule(slot).parent()
    }

    /// Returns an object, the object to which it is attached, the object to which that one is attached, and
    /// so on.
    pub(crate) fn carriers(&self, slot: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(slot), |&carrier| self.parent(carrier))
    }

    /// Returns the objects that all connections see.
    pub(crate) fn everyone(&self) -> &SlotSet {
        &self.everyone
    }

    /// Returns whether any area has bands in which the changes of objects are sent less often.
    pub(crate) fn have_bands(&self) -> bool {
        self.have_bands
    }

    /// Returns whether connections may be far from some objects in their sight, so that they do not receive
    /// the `NearOnly` properties of these objects.
    #[inline]
    pub(crate) fn have_far(&self) -> bool {
        self.have_far
    }

    /// Returns whether there are no cells, so that each object is seen by all clients, by its owner only, or
    /// by nobody.
    pub(crate) fn are_unused(&self) -> bool {
        self.strips.are_empty()
    }

    /// Returns the periods, in ticks, with which some connections receive the changes of objects in a cell,
    /// without the period of one tick.
    pub(crate) fn long_periods(&self, cell: u32) -> impl Iterator<Item = u16> {
        let bands = self.cells[cell as usize].bands();
        let long = bands.iter().enumerate().filter(|(_, (band, _))| band.period > 1);
        let is_first = |at: usize, period: u16| bands[..at].iter().all(|(band, _)| band.period != period);
        long.filter(move |(at, (band, _))| is_first(*at, band.period)).map(|(_, (band, _))| band.period)
    }

    /// Returns whether any connection has the cell in this band.
    pub(crate) fn has_viewers_in(&self, cell: u32, band: Band) -> bool {
        self.cells[cell as usize].viewers_in(band) > 0
    }

    /// Returns whether some connection receives the changes of objects in a cell with this long period.
    pub(crate) fn has_long_period(&self, cell: u32, period: u16) -> bool {
        self.long_periods(cell).any(|known| known == period)
    }

    /// Returns the place (strip and index) of an object's cell, if the object is in a cell that some
    /// connection has in sight.
    #[inline]
    pub(crate) fn place_in_sight(&self, slot: u32) -> Option<StripPlace> {
        match self.home(slot) {
            Home::Cell(cell) => self.in_sight[cell as usize],
            Home::Everyone | Home::NoCell => None,
        }
    }

    /// Returns the class whose area has the cells of a strip (of 64 cells), or `None` if they are cells of
    /// groups.
    pub(crate) fn area_of(&self, strip: u32) -> Option<u16> {
        self.strips.area_of(strip)
    }

    pub(crate) fn members(&self, cell: u32) -> &[u32] {
        &self.cells[cell as usize].members
    }

    /// Returns an object and all objects that are attached to it, directly or through other objects.
    pub(crate) fn with_attached(&self, slot: u32) -> Vec<u32> {
        self.attached.with_descendants(slot)
    }

    /// Sets which connections see an object. If the object is attached to another object, the other object
    /// must exist, and must not be attached to this object. Returns the object and all objects that are
    /// attached to it.
    pub(crate) fn set_relevancy(&mut self, slot: u32, relevancy: Relevancy) -> Vec<u32> {
        let rule = self.combinations.rule_for(relevancy);
        self.set_rule(slot, rule);
        self.move_to_cell(slot)
    }

    /// Returns the area of a class, and the positions, into which the caller puts the new positions of
    /// objects of this class. The objects move to their new cells at the next
    /// [`take_moved`](Self::take_moved).
    pub(crate) fn positions_in(&mut self, class: u16) -> Option<(&Area, &mut Positions)> {
        let area = self.areas.get(usize::from(class))?.as_ref()?;
        Some((area, &mut self.positions))
    }

    /// Sorts the objects with positions in other cells by slot.
    pub(crate) fn sort_moved(&mut self) {
        self.positions.sort_moved();
    }

    /// Moves all objects with positions in other cells to these cells. Appends to `affected` each connection
    /// for which an object may have come into sight or gone out of it, with the object's slot.
    pub(crate) fn take_moved(&mut self, affected: &mut Vec<(ConnectionId, u32)>) {
        let moved = self.positions.take_moved();
        for moves in moved.chunks(BATCH) {
            self.preload_moves(moves);
            moves.iter().for_each(|&slot| self.take_move(slot, affected));
        }
        self.positions.give_back(moved);
    }

    /// Moves one object to the cell of its position, in the same way as [`take_moved`](Self::take_moved).
    fn take_move(&mut self, slot: u32, affected: &mut Vec<(ConnectionId, u32)>) {
        let before = self.home(slot);
        self.move_alone_to_cell(slot);
        let first = affected.len();
        let (before, after) = (self.viewers(before), self.viewers(self.home(slot)));
        affected.extend(concerned(before, after).map(|viewer| (viewer, slot)));
        if self.attached.children(slot).next().is_some() {
            let others = self.move_to_cell(slot);
            for at in first..affected.len() {
                let viewer = affected[at].0;
                affected.extend(others.iter().filter(|&&other| other != slot).map(|&other| (viewer, other)));
            }
        }
    }

    fn preload(&self, number: u32) {
        self.cells.get(number as usize).into_iter().for_each(preload_all);
    }

    fn preload_lists(&self, number: u32) {
        self.cells.get(number as usize).into_iter().for_each(Cell::preload_lists);
    }

    /// Preloads the memory for at most [`BATCH`] moves. Preloading has four steps, and each step reads memory
    /// that the step before has preloaded.
    fn preload_moves(&self, moves: &[u32]) {
        for &slot in moves {
            self.homes.get(slot as usize).into_iter().for_each(preload);
            self.places.get(slot as usize).into_iter().for_each(preload);
            self.positions.preload(slot);
        }
        let mut cells = [[None; 2]; BATCH];
        for (cells, &slot) in cells.iter_mut().zip(moves) {
            *cells = self.cells_of_move(slot);
            cells.iter().flatten().for_each(|&cell| self.preload(cell));
        }
        cells.iter().flatten().flatten().for_each(|&cell| self.preload_lists(cell));
        // When a member is removed from a cell, the last member receives its index.
        let left = cells.iter().filter_map(|[before, _]| self.cells.get((*before)? as usize));
        let last = left.filter_map(|cell| self.places.get(*cell.members.last()? as usize));
        last.for_each(preload);
    }

    /// Returns the numbers of two cells, if they exist: the cell in which an object is, and the cell of its
    /// new position.
    fn cells_of_move(&self, slot: u32) -> [Option<u32>; 2] {
        let before = match self.home(slot) {
            Home::Cell(cell) => Some(cell),
            Home::Everyone | Home::NoCell => None,
        };
        let class = self.places.get(slot as usize).map_or(0, |place| place.class);
        let after = self.rank_of_position(slot, class).and_then(|rank| self.strips.find(rank));
        [before, after.map(|(cell, _)| cell)]
    }

    /// Returns how near a cell is to a connection. Returns `None` if the connection does not have the cell in
    /// sight. Costs O(log viewers). This searches the viewers of the cell, because they are in the caches
    /// already when an object comes into sight. The connection's own list of cells is not in the caches.
    #[inline]
    pub(crate) fn nearness(&self, cell: u32, viewer: ConnectionId) -> Option<Nearness> {
        self.cells[cell as usize].nearness(viewer)
    }

    fn viewers(&self, home: Home) -> &[Viewer] {
        match home {
            Home::Cell(cell) => self.cells[cell as usize].viewers(),
            Home::Everyone | Home::NoCell => &[],
        }
    }

    /// Moves an object to its cell, together with the objects that are attached to it. Returns all of them.
    fn move_to_cell(&mut self, slot: u32) -> Vec<u32> {
        let slots = self.with_attached(slot);
        slots.iter().for_each(|&slot| self.move_alone_to_cell(slot));
        slots
    }

    fn move_alone_to_cell(&mut self, slot: u32) {
        let place = self.places[slot as usize];
        let home = match self.combinations.cell_rule(place.rule) {
            Rule::Always | Rule::Combined(_) => Home::Everyone,
            Rule::OwnerOnly | Rule::Nobody => Home::NoCell,
            Rule::Group(group) => Home::Cell(self.cell_at(CellKey::Group(group).rank(false)).0),
            Rule::Located => self
                .rank_of_position(slot, place.class)
                .map_or(Home::NoCell, |rank| Home::Cell(self.cell_at(rank).0)),
            Rule::AttachedTo(_) => self.parent(slot).map_or(Home::NoCell, |parent| self.home(parent)),
        };
        self.move_to(slot, home);
    }

    fn move_to(&mut self, slot: u32, home: Home) {
        let (before, index) = (self.home(slot), self.places[slot as usize].index);
        if before == home {
            return;
        }
        match before {
            Home::Everyone => self.everyone.remove(slot),
            Home::NoCell => {}
            Home::Cell(cell) => {
                let members = &mut self.cells[cell as usize].members;
                members.swap_remove(index as usize);
                if let Some(&moved) = members.get(index as usize) {
                    self.places[moved as usize].index = index;
                }
                self.free_if_unused(cell);
            }
        }
        match home {
            Home::Everyone => self.everyone.insert(slot),
            Home::NoCell => {}
            Home::Cell(cell) => {
                let members = &mut self.cells[cell as usize].members;
                self.places[slot as usize].index = members.len() as u32;
                members.push(slot);
            }
        }
        self.homes[slot as usize] = PackedHome::new(home);
    }

    /// Returns the rank of the cell of the last position of an object of a class, or `None` if it was not
    /// placed.
    fn rank_of_position(&self, slot: u32, class: u16) -> Option<Rank> {
        let is_flat = self.area(class).is_some_and(Area::is_flat);
        Some(CellKey::At(class, self.positions.cell(slot)?).rank(is_flat))
    }

    /// Returns the number and the place of the cell with a rank (its sort key). A cell that has neither
    /// members nor viewers yet receives a new number.
    fn cell_at(&mut self, rank: Rank) -> (u32, StripPlace) {
        if let Some(known) = self.strips.find(rank) {
            return known;
        }
        let number = self.free.pop().unwrap_or(self.cells.len() as u32);
        let place = self.strips.add(rank, number);
        match self.cells.get_mut(number as usize) {
            Some(cell) => cell.place = place,
            None => {
                self.cells.push(Cell::new(place));
                self.in_sight.push(None);
            }
        }
        (number, place)
    }

    fn free_if_unused(&mut self, number: u32) {
        let cell = &mut self.cells[number as usize];
        if cell.is_unused() {
            cell.free_large();
            self.strips.remove(cell.place);
            self.free.push(number);
        }
    }

    fn set_viewer(&mut self, number: u32, id: ConnectionId, nearness: Nearness) {
        let cell = &mut self.cells[number as usize];
        self.in_sight[number as usize] = Some(cell.place);
        cell.set_viewer(id, nearness);
    }

    fn remove_viewer(&mut self, number: u32, id: ConnectionId) {
        let cell = &mut self.cells[number as usize];
        if cell.remove_viewer(id) {
            if cell.viewers().is_empty() {
                self.in_sight[number as usize] = None;
            }
            self.free_if_unused(number);
        }
    }
}

/// Sets the element at an index, which may be past the end. The elements between are placeholders that are
/// never read.
#[inline]
fn set<T: Clone>(elements: &mut Vec<T>, at: usize, element: T) {
    if let Some(known) = elements.get_mut(at) {
        *known = element;
    } else {
        if elements.len() < at {
            elements.resize(at, element.clone());
        }
        push_with(elements, || element);
    }
}
