//! A window: the differences from one position of two lists up to a number of edits, after Myers, "An O(ND)
//! Difference Algorithm and Its Variations", 1986.
//!
//! *Invariant:* a search takes O(edits² + units that are the same), whatever the lists contain.
#![expect(clippy::arithmetic_side_effects, reason = "positions in lists of this process")]
#![expect(clippy::indexing_slicing, reason = "paths in the order in which they were found")]

use super::area::{Area, Stretch};

/// A window ends after so many units were removed or inserted.
const MOST_EDITS: usize = 40;

/// The furthest positions that are reached with few edits.
///
/// With `edits` edits, of which `removed` are removals, positions are on one diagonal: the position in
/// the new list is the position in the old list, plus the insertions, minus the removals.
#[derive(Default)]
pub(super) struct Window {
    /// The furthest position in the old list, for each number of edits and of removals among them.
    furthest: Vec<Option<usize>>,
    found: Vec<Stretch>,
}

/// A number of edits, and how many of them are removals.
#[derive(Clone, Copy)]
struct Path {
    edits: usize,
    removed: usize,
}

impl Path {
    fn index(self) -> usize {
        self.edits * (self.edits + 1) / 2 + self.removed
    }

    /// Returns the position in the new list.
    fn new_position(self, old: usize) -> usize {
        old + self.edits - 2 * self.removed
    }

    fn before_removal(self) -> Option<Self> {
        Some(Self { edits: self.edits.checked_sub(1)?, removed: self.removed.checked_sub(1)? })
    }

    fn before_insertion(self) -> Option<Self> {
        Some(Self { edits: self.edits.checked_sub(1)?, ..self }).filter(|path| path.removed <= path.edits)
    }
}

impl Window {
    /// Returns the stretches that the last search found.
    pub(super) fn take(&mut self) -> Vec<Stretch> {
        std::mem::take(&mut self.found)
    }

    /// Finds the stretches from the beginning of an area on. Returns the positions in both lists up to
    /// which it searched, which are beyond the beginning if the area is not empty.
    pub(super) fn search(&mut self, area: Area, is_same: &impl Fn(usize, usize) -> bool) -> (usize, usize) {
        let (path, old) = self.reach(area, is_same);
        self.trace(path, area);
        (area.old.0 + old, area.new.0 + path.new_position(old))
    }

    /// Returns the path that reaches the end of the area, or else the furthest one, and the position in
    /// the old list that it reaches.
    fn reach(&mut self, area: Area, is_same: &impl Fn(usize, usize) -> bool) -> (Path, usize) {
        self.furthest.clear();
        for edits in 0..=MOST_EDITS {
            for removed in 0..=edits {
                let path = Path { edits, removed };
                let start = self.start(path, area);
                let reached =
                    start.map(|(old, _)| old + same_from((old, path.new_position(old)), area, is_same));
                self.furthest.push(reached);
                if let Some(old) = reached.filter(|&old| (old, path.new_position(old)) == area.lens()) {
                    return (path, old);
                }
            }
        }
        let paths = (0..=MOST_EDITS).map(|removed| Path { edits: MOST_EDITS, removed });
        let reached = paths.filter_map(|path| Some((path, self.furthest[path.index()]?)));
        reached
            .max_by_key(|(path, old)| old + path.new_position(*old))
            .unwrap_or((Path { edits: 0, removed: 0 }, 0))
    }

    /// Returns where a path begins after its last edit, and the path before this edit.
    fn start(&self, path: Path, area: Area) -> Option<(usize, Option<Path>)> {
        if path.edits == 0 {
            return Some((0, None));
        }
        let (old_len, new_len) = area.lens();
        let reached = |before: Option<Path>| Some((self.furthest[before?.index()]?, before));
        let after_removal = reached(path.before_removal()).map(|(old, before)| (old + 1, before));
        let after_removal = after_removal.filter(|(old, _)| *old <= old_len);
        let after_insertion = reached(path.before_insertion());
        let after_insertion = after_insertion.filter(|(old, _)| path.new_position(*old) <= new_len);
        after_removal.into_iter().chain(after_insertion).max_by_key(|(old, _)| *old)
    }

    /// Finds the stretches on a path.
    fn trace(&mut self, path: Path, area: Area) {
        self.found.clear();
        let mut at = Some(path);
        while let Some(path) = at {
            let Some((start, before)) = self.start(path, area) else { break };
            let len = self.furthest[path.index()].map_or(0, |end| end - start);
            if len > 0 {
                let (old, new) = (area.old.0 + start, area.new.0 + path.new_position(start));
                self.found.push(Stretch { old, new, len });
            }
            at = before;
        }
        self.found.reverse();
    }
}

/// Returns how many units are the same from two positions in an area on.
fn same_from((old, new): (usize, usize), area: Area, is_same: &impl Fn(usize, usize) -> bool) -> usize {
    let (old_len, new_len) = area.lens();
    let (first_old, first_new) = (area.old.0 + old, area.new.0 + new);
    let most = (old_len - old).min(new_len - new);
    (0..most).take_while(|&at| is_same(first_old + at, first_new + at)).count()
}
