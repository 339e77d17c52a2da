//! Parts of two lists that are compared with each other.
//!
//! *Invariant:* no position is before the beginning of its area.
#![expect(clippy::arithmetic_side_effects, reason = "positions in lists of this process")]

/// A stretch of units that are the same in both lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) old: usize,
    pub(super) new: usize,
    pub(super) len: usize,
}

impl Stretch {
    /// Returns the positions in both lists after the stretch.
    pub(super) fn ends(&self) -> (usize, usize) {
        (self.old + self.len, self.new + self.len)
    }
}

/// A part of the old list, and the part of the new list that is compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) old: (usize, usize),
    pub(super) new: (usize, usize),
}

impl Area {
    /// Returns the numbers of units in both parts.
    pub(super) fn lens(self) -> (usize, usize) {
        (self.old.1 - self.old.0, self.new.1 - self.new.0)
    }

    /// Returns whether one of the parts is empty.
    pub(super) fn is_one_sided(self) -> bool {
        let (old, new) = self.lens();
        old == 0 || new == 0
    }

    /// Returns the area up to these positions, and the area from there on.
    pub(super) fn split(self, (old, new): (usize, usize)) -> (Self, Self) {
        let before = Self { old: (self.old.0, old), new: (self.new.0, new) };
        (before, Self { old: (old, self.old.1), new: (new, self.new.1) })
    }
}
