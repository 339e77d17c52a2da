//! A hand-written grid that decides who sees what. Each square has a list of its objects, and the set of the
//! viewers whose circle of sight contains the centre of the square.
//!
//! *Invariant:* a viewer sees an object exactly if it is among the viewers of the object's square.

/// A set of small numbers, as the bits of words.
pub(crate) type Set = Vec<u64>;

/// Calls `visit` with each number in the word with the index `word` of a set. `members` has the bits of the
/// word.
#[inline]
pub(crate) fn each(word: usize, mut members: u64, mut visit: impl FnMut(u32)) {
    while members != 0 {
        visit(word as u32 * 64 + members.trailing_zeros());
        members &= members - 1;
    }
}

fn insert(set: &mut Set, member: u32) {
    set[member as usize / 64] |= 1 << (member % 64);
}

fn remove(set: &mut Set, member: u32) {
    set[member as usize / 64] &= !(1 << (member % 64));
}

struct Viewer {
    /// The position for which its squares were determined.
    at: [f32; 2],
    squares: Set,
}

pub(crate) struct Grid {
    /// The greatest coordinate of the world. The least coordinate is its negative.
    extent: f32,
    radius: f32,
    side: f32,
    /// How many squares lie along an edge of the world.
    squares: usize,
    members: Vec<Vec<u32>>,
    /// For each square, the viewers that see it.
    viewers: Vec<Set>,
    /// For each object, the square that contains it.
    of: Vec<u32>,
    eyes: Vec<Viewer>,
}

impl Grid {
    /// Returns a grid for viewers that see nothing yet.
    pub(crate) fn new(extent: f32, radius: f32, viewers: usize) -> Self {
        let side = radius / 4.0;
        let squares = (extent * 2.0 / side).ceil() as usize;
        let count = squares * squares;
        let viewer = || Viewer { at: [f32::INFINITY; 2], squares: vec![0; count.div_ceil(64)] };
        Self {
            extent,
            radius,
            side,
            squares,
            members: vec![Vec::new(); count],
            viewers: vec![vec![0; viewers.div_ceil(64)]; count],
            of: Vec::new(),
            eyes: (0..viewers).map(|_| viewer()).collect(),
        }
    }

    fn square_of(&self, position: [f32; 2]) -> u32 {
        let [x, y] = position.map(|at| ((at + self.extent) / self.side) as usize);
        (y * self.squares + x) as u32
    }

    /// Returns whether a viewer sees an object.
    pub(crate) fn is_seen(&self, slot: u32, viewer: u32) -> bool {
        self.viewers[self.of[slot as usize] as usize][viewer as usize / 64] >> (viewer % 64) & 1 == 1
    }

    /// Adds the next object. No viewer sees it yet.
    pub(crate) fn add(&mut self, position: [f32; 2]) {
        let square = self.square_of(position);
        self.members[square as usize].push(self.of.len() as u32);
        self.of.push(square);
    }

    /// Moves an object. Calls `change` with each viewer that begins to see it (`true`) or stops seeing it
    /// (`false`).
    #[inline]
    pub(crate) fn move_object(&mut self, slot: u32, to: [f32; 2], mut change: impl FnMut(u32, bool)) {
        let (before, after) = (self.of[slot as usize] as usize, self.square_of(to) as usize);
        if before == after {
            return;
        }
        self.of[slot as usize] = after as u32;
        self.members[before].retain(|&member| member != slot);
        self.members[after].push(slot);
        for (word, (before, after)) in self.viewers[before].iter().zip(&self.viewers[after]).enumerate() {
            each(word, after & !before, |viewer| change(viewer, true));
            each(word, before & !after, |viewer| change(viewer, false));
        }
    }

    /// Moves a viewer. Calls `change` with each object that it begins to see (`true`) or stops seeing
    /// (`false`). Does nothing until the viewer is a quarter of the side of a square away from the position
    /// for which its squares were determined.
    pub(crate) fn look(&mut self, viewer: u32, from: [f32; 2], mut change: impl FnMut(u32, bool)) {
        let eye = &self.eyes[viewer as usize];
        let (x, y) = (from[0] - eye.at[0], from[1] - eye.at[1]);
        if x * x + y * y < self.side * self.side / 16.0 {
            return;
        }
        let now = self.squares_near(from);
        let before = std::mem::replace(&mut self.eyes[viewer as usize], Viewer { at: from, squares: now });
        let Self { members, viewers, eyes, .. } = self;
        for (word, (&before, &now)) in before.squares.iter().zip(&eyes[viewer as usize].squares).enumerate() {
            each(word, now & !before, |square| {
                insert(&mut viewers[square as usize], viewer);
                members[square as usize].iter().for_each(|&slot| change(slot, true));
            });
            each(word, before & !now, |square| {
                remove(&mut viewers[square as usize], viewer);
                members[square as usize].iter().for_each(|&slot| change(slot, false));
            });
        }
    }

    /// Returns the squares whose centres are within the radius.
    fn squares_near(&self, from: [f32; 2]) -> Set {
        let mut near = vec![0; (self.squares * self.squares).div_ceil(64)];
        let range = |at: f32| {
            let square = |at: f32| ((at + self.extent) / self.side).max(0.0) as usize;
            square(at - self.radius)..=square(at + self.radius).min(self.squares - 1)
        };
        for y in range(from[1]) {
            for x in range(from[0]) {
                let [dx, dy] = [(x, 0), (y, 1)]
                    .map(|(at, axis)| (at as f32 + 0.5) * self.side - self.extent - from[axis]);
                if dx * dx + dy * dy <= self.radius * self.radius {
                    insert(&mut near, (y * self.squares + x) as u32);
                }
            }
        }
        near
    }
}
