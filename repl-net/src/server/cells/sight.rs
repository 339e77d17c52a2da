//! What a connection sees of the world: its viewpoints, its groups, and the cells that it sees because of
//! them.
//!
//! *Invariant:* a connection is among the viewers of exactly the cells in its sight.

use super::area::Position;
use super::{CellKey, Cells, Group, Home};
use crate::session::connection_id::ConnectionId;

/// The cells in the sight of one connection.
#[derive(Debug, Default)]
pub(crate) struct Sight {
    /// The viewpoints with which the cells in sight were computed.
    viewpoints: Vec<Position>,
    groups: Vec<Group>,
    /// The numbers of the cells in sight with their keys, in the order of the keys.
    cells: Vec<(CellKey, u32)>,
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
        let is_same_count = self.viewpoints.len() == viewpoints.len();
        if is_same_count && self.viewpoints.iter().zip(viewpoints).all(is_near) {
            return false;
        }
        self.viewpoints.clear();
        self.viewpoints.extend_from_slice(viewpoints);
        true
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

    /// Returns whether objects at this place are in sight.
    pub(crate) fn contains(&self, cells: &Cells, home: Home) -> bool {
        match home {
            Home::Everyone => true,
            Home::Nobody => false,
            Home::Cell(cell) => {
                let key = cells.cells[cell as usize].key;
                self.cells.binary_search_by_key(&key, |(key, _)| *key).is_ok()
            }
        }
    }

    /// Returns the cells in sight.
    pub(crate) fn cells(&self) -> impl Iterator<Item = u32> {
        self.cells.iter().map(|(_, number)| *number)
    }

    /// Computes the cells in sight, after the viewpoints or the groups have changed. Returns the objects in
    /// cells that have come into sight or gone out of it. Costs O(cells in sight).
    pub(crate) fn update(&mut self, viewer: ConnectionId, cells: &mut Cells) -> Vec<u32> {
        let mut keys: Vec<CellKey> = self.groups.iter().map(|&group| CellKey::Group(group)).collect();
        for (class, area) in cells.areas() {
            let near = self.viewpoints.iter().flat_map(|&viewpoint| area.cells_in_sight(viewpoint));
            keys.extend(near.map(|cell| CellKey::At(class, cell)));
            let kept = self.cells.iter().filter_map(|(key, _)| match *key {
                CellKey::At(of, cell) if of == class => Some(cell),
                _ => None,
            });
            let kept =
                kept.filter(|&cell| self.viewpoints.iter().any(|&viewpoint| area.keeps(cell, viewpoint)));
            keys.extend(kept.map(|cell| CellKey::At(class, cell)));
        }
        keys.sort_unstable();
        keys.dedup();
        self.replace(viewer, &keys, cells)
    }

    /// Replaces the cells in sight by the cells with these keys, which are in ascending order. Returns the
    /// objects in the cells that came into sight or went out of sight.
    fn replace(&mut self, viewer: ConnectionId, keys: &[CellKey], cells: &mut Cells) -> Vec<u32> {
        let mut affected = Vec::new();
        let before = std::mem::take(&mut self.cells);
        let mut old = before.iter().peekable();
        for &key in keys {
            while let Some((_, number)) = old.next_if(|(known, _)| *known < key) {
                affected.extend_from_slice(cells.members(*number));
                cells.remove_viewer(*number, viewer);
            }
            if let Some(known) = old.next_if(|(known, _)| *known == key) {
                self.cells.push(*known);
                continue;
            }
            let number = cells.number_of(key);
            cells.add_viewer(number, viewer);
            affected.extend_from_slice(cells.members(number));
            self.cells.push((key, number));
        }
        for (_, number) in old {
            affected.extend_from_slice(cells.members(*number));
            cells.remove_viewer(*number, viewer);
        }
        affected
    }

    /// Forgets the viewpoints and groups, because the connection has ended.
    pub(crate) fn end(&mut self, viewer: ConnectionId, cells: &mut Cells) {
        self.viewpoints.clear();
        self.groups.clear();
        self.replace(viewer, &[], cells);
    }
}
