//! The positions of creatures and players, and two hand-written grids that decide who sees what.
//!
//! *Invariant:* all candidates move the same creatures and players by the same steps.

use std::hint::black_box;

use repl::sim::Rng;

pub(crate) const PLAYERS: usize = 100;
pub(crate) const CREATURES: usize = 5_000;
/// The greatest coordinate of creatures and players. The least coordinate is its negative.
const EXTENT: f32 = 1_000.0;
pub(crate) const VIEW: f32 = 100.0;
/// How far creatures and players go in a tick: 5 units a second at 30 ticks a second.
const STEP: f32 = 5.0 / 30.0;
pub(crate) const SIDE: f32 = VIEW / 4.0;
const CELLS: usize = (2.0 * EXTENT / SIDE) as usize;

/// A way to decide who sees what.
pub(crate) trait Candidate {
    /// Moves all creatures and players by one tick.
    fn advance(&mut self);
    /// Decides who sees what.
    fn tick(&mut self);
}

/// The positions and the steps of creatures and players.
#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) creatures: Vec<[f32; 2]>,
    pub(crate) players: Vec<[f32; 2]>,
    pub(crate) steps: Vec<[f32; 2]>,
    /// Whether all steps are reversed in each tick.
    hops: bool,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let mut rng = Rng::new(7);
        let mut coordinate = |extent: f32| rng.below(20_001) as f32 / 10_000.0 * extent - extent;
        let mut points = |count: usize, extent: f32| -> Vec<[f32; 2]> {
            (0..count).map(|_| [coordinate(extent), coordinate(extent)]).collect()
        };
        let (creatures, players) = (points(CREATURES, EXTENT), points(PLAYERS, EXTENT));
        let steps = points(CREATURES + PLAYERS, STEP);
        Self { creatures, players, steps, hops: false }
    }

    /// Returns a scene in which only the creatures move: each hops back and forth. If `crosses` is true, each
    /// hop leads to another cell. Otherwise each creature stays in its cell.
    pub(crate) fn hopping(crosses: bool) -> Self {
        let mut scene = Self { hops: true, ..Self::new() };
        let start = SIDE * if crosses { 0.9 } else { 0.4 };
        for position in &mut scene.creatures {
            position[0] = ((position[0] / SIDE).floor() * SIDE).min(EXTENT - 2.0 * SIDE) + start;
        }
        scene.steps = vec![[SIDE * 0.2, 0.0]; CREATURES];
        scene.steps.resize(CREATURES + PLAYERS, [0.0; 2]);
        scene
    }

    /// Moves all creatures and players by one tick.
    pub(crate) fn advance(&mut self) {
        for (position, step) in self.creatures.iter_mut().chain(&mut self.players).zip(&mut self.steps) {
            for axis in 0..2 {
                position[axis] += step[axis];
                if self.hops {
                    step[axis] = -step[axis];
                } else if position[axis].abs() > EXTENT {
                    step[axis] = -step[axis];
                    position[axis] += 2.0 * step[axis];
                }
            }
        }
    }
}

/// Returns the cell that contains a position.
fn cell_of(position: [f32; 2]) -> usize {
    let [x, y] = position.map(|coordinate| (((coordinate + EXTENT) / SIDE) as usize).min(CELLS - 1));
    y * CELLS + x
}

fn is_near(one: [f32; 2], other: [f32; 2], radius: f32) -> bool {
    let (x, y) = (one[0] - other[0], one[1] - other[1]);
    x * x + y * y <= radius * radius
}

/// Calls `visit` with each cell whose centre is within a radius of a position.
fn cells_near(position: [f32; 2], radius: f32, mut visit: impl FnMut(usize)) {
    let range = |coordinate: f32| {
        let at = |coordinate: f32| (((coordinate + EXTENT) / SIDE).max(0.0) as usize).min(CELLS - 1);
        at(coordinate - radius)..=at(coordinate + radius)
    };
    for y in range(position[1]) {
        for x in range(position[0]) {
            let centre = [x, y].map(|at| (at as f32 + 0.5) * SIDE - EXTENT);
            if is_near(centre, position, radius) {
                visit(y * CELLS + x);
            }
        }
    }
}

/// A set of creatures, as the bits of words.
pub(crate) type Set = Vec<u64>;

/// A grid that, in each tick, computes the distance of each player to each creature in the cells near it. It
/// does not build the lists of the cells anew in each tick.
pub(crate) struct Exact {
    pub(crate) scene: Scene,
    cells: Vec<Vec<u32>>,
    of: Vec<usize>,
    pub(crate) seen: Vec<Set>,
}

impl Exact {
    pub(crate) fn new(scene: Scene) -> Self {
        let (mut cells, mut of) = (vec![Vec::new(); CELLS * CELLS], Vec::new());
        for (creature, &position) in scene.creatures.iter().enumerate() {
            cells[cell_of(position)].push(creature as u32);
            of.push(cell_of(position));
        }
        Self { scene, cells, of, seen: vec![vec![0; CREATURES.div_ceil(64)]; PLAYERS] }
    }
}

impl Candidate for Exact {
    fn advance(&mut self) {
        self.scene.advance();
    }

    fn tick(&mut self) {
        for (creature, &position) in self.scene.creatures.iter().enumerate() {
            let cell = cell_of(position);
            if cell != self.of[creature] {
                self.cells[self.of[creature]].retain(|&other| other != creature as u32);
                self.cells[cell].push(creature as u32);
                self.of[creature] = cell;
            }
        }
        let mut changes = 0;
        for (&player, seen) in self.scene.players.iter().zip(&mut self.seen) {
            let mut now: Set = vec![0; seen.len()];
            // The centre of a creature's cell can be half a diagonal farther away than the creature.
            cells_near(player, VIEW + SIDE * 0.75, |cell| {
                for &creature in &self.cells[cell] {
                    if is_near(self.scene.creatures[creature as usize], player, VIEW) {
                        now[creature as usize / 64] |= 1 << (creature % 64);
                    }
                }
            });
            changes += seen.iter().zip(&now).map(|(before, now)| (before ^ now).count_ones()).sum::<u32>();
            *seen = now;
        }
        black_box(changes);
    }
}

/// A grid of cells, each with the players that see it. It does work only when a creature or a player moves to
/// another cell.
pub(crate) struct OnChange {
    pub(crate) scene: Scene,
    cells: Vec<Vec<u32>>,
    viewers: Vec<Vec<u32>>,
    of: Vec<usize>,
    player_cells: Vec<usize>,
    pub(crate) seen: Vec<Set>,
}

impl OnChange {
    pub(crate) fn new(scene: Scene) -> Self {
        let Exact { scene, cells, of, seen } = Exact::new(scene);
        let mut grid = Self {
            cells,
            viewers: vec![Vec::new(); CELLS * CELLS],
            of,
            player_cells: scene.players.iter().map(|&position| cell_of(position)).collect(),
            seen,
            scene,
        };
        for player in 0..PLAYERS {
            grid.look(player, true);
        }
        grid
    }

    /// Adds or removes all creatures that a player sees from its cell. `adds` says which.
    pub(crate) fn look(&mut self, player: usize, adds: bool) {
        let at = self.player_cells[player];
        let centre = [at % CELLS, at / CELLS].map(|at| (at as f32 + 0.5) * SIDE - EXTENT);
        cells_near(centre, VIEW, |cell| {
            if adds {
                self.viewers[cell].push(player as u32);
            } else {
                self.viewers[cell].retain(|&viewer| viewer != player as u32);
            }
            for &creature in &self.cells[cell] {
                let (word, bit) = (&mut self.seen[player][creature as usize / 64], 1 << (creature % 64));
                if adds { *word |= bit } else { *word &= !bit }
            }
        });
    }
}

impl Candidate for OnChange {
    fn advance(&mut self) {
        self.scene.advance();
    }

    fn tick(&mut self) {
        for creature in 0..self.scene.creatures.len() {
            let (before, after) = (self.of[creature], cell_of(self.scene.creatures[creature]));
            if before == after {
                continue;
            }
            self.of[creature] = after;
            self.cells[before].retain(|&other| other != creature as u32);
            self.cells[after].push(creature as u32);
            let (word, bit) = (creature / 64, 1 << (creature % 64));
            self.viewers[before].iter().for_each(|&viewer| self.seen[viewer as usize][word] &= !bit);
            self.viewers[after].iter().for_each(|&viewer| self.seen[viewer as usize][word] |= bit);
        }
        for player in 0..PLAYERS {
            let cell = cell_of(self.scene.players[player]);
            if cell != self.player_cells[player] {
                self.look(player, false);
                self.player_cells[player] = cell;
                self.look(player, true);
            }
        }
    }
}
