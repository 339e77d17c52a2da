//! The cost of relevancy: creatures that wander, and players who see the creatures near them.
//!
//! The library decides in the tick, between its other work, who sees what. So this cost is measured as the
//! difference of two ticks: one of a class with an area, and one of the same class without. No client is
//! connected, so nothing is sent. The two grids written by hand do the same work on arrays of positions: one
//! computes the distance of each player to each creature in the cells around it, in each tick; the other
//! changes what players see only when a creature or a player moves to another cell.
//!
//! *Invariant:* all candidates move the same creatures and players by the same steps.

#[path = "support/ratios.rs"]
mod ratios;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use repl::Area;
use repl::prelude::*;
use repl::sim::Rng;

use ratios::Side;

const PLAYERS: usize = 100;
const CREATURES: usize = 5_000;
/// Creatures and players stay within this distance of zero, on both axes.
const EXTENT: f32 = 1_000.0;
const VIEW: f32 = 100.0;
/// 5 units a second at 30 ticks a second.
const STEP: f32 = 5.0 / 30.0;
const SIDE: f32 = VIEW / 4.0;
const CELLS: usize = (2.0 * EXTENT / SIDE) as usize;
const TICK: Duration = Duration::from_millis(33);
/// The timeout is longer than any measurement.
const FOREVER: Duration = Duration::from_secs(1 << 32);

#[derive(Replicated, Default, Clone, Copy)]
struct Creature {
    #[replicated]
    position: [f32; 2],
}

/// Where everyone is, and where everyone goes.
#[derive(Clone)]
struct Scene {
    creatures: Vec<[f32; 2]>,
    players: Vec<[f32; 2]>,
    steps: Vec<[f32; 2]>,
}

impl Scene {
    fn new() -> Self {
        let mut rng = Rng::new(7);
        let mut coordinate = |extent: f32| rng.below(20_001) as f32 / 10_000.0 * extent - extent;
        let mut points = |count: usize, extent: f32| -> Vec<[f32; 2]> {
            (0..count).map(|_| [coordinate(extent), coordinate(extent)]).collect()
        };
        let (creatures, players) = (points(CREATURES, EXTENT), points(PLAYERS, EXTENT));
        let steps = points(CREATURES + PLAYERS, STEP);
        Self { creatures, players, steps }
    }

    /// Moves everyone by one tick.
    fn advance(&mut self) {
        for (position, step) in self.creatures.iter_mut().chain(&mut self.players).zip(&mut self.steps) {
            for axis in 0..2 {
                position[axis] += step[axis];
                if position[axis].abs() > EXTENT {
                    step[axis] = -step[axis];
                    position[axis] += 2.0 * step[axis];
                }
            }
        }
    }
}

/// A server with the creatures, and a connection for each player.
struct Repl {
    scene: Scene,
    server: Server,
    creatures: Vec<ObjectRef<Creature>>,
    connections: Vec<ConnectionId>,
    is_located: bool,
    now: Duration,
}

impl Repl {
    fn new(is_located: bool) -> Self {
        let mut server = Server::new(ServerConfig { timeout: FOREVER, ..ServerConfig::default() });
        if is_located {
            let position = |creature: &Creature| [creature.position[0], creature.position[1], 0.0];
            server.locate(Area::within(VIEW).flat(), position);
        }
        let scene = Scene::new();
        let creatures = scene.creatures.iter().map(|&position| server.spawn(Creature { position })).collect();
        let connections = (0..PLAYERS).map(|_| server.connect(Duration::ZERO)).collect();
        Self { scene, server, creatures, connections, is_located, now: Duration::ZERO }
    }

    fn tick(&mut self) -> Duration {
        self.scene.advance();
        for (&creature, &position) in self.creatures.iter().zip(&self.scene.creatures) {
            self.server[creature].position = position;
        }
        self.now += TICK;
        let start = Instant::now();
        if self.is_located {
            for (&connection, &[x, y]) in self.connections.iter().zip(&self.scene.players) {
                self.server.set_viewpoints(connection, &[[x, y, 0.0]]);
            }
        }
        self.server.tick(self.now);
        start.elapsed()
    }

    /// Returns how many creatures each player sees.
    fn seen(&self) -> Vec<usize> {
        let count = |&connection: &ConnectionId| {
            self.creatures.iter().filter(|&&creature| self.server.is_relevant(connection, creature)).count()
        };
        self.connections.iter().map(count).collect()
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

/// Sets of creatures as bits.
type Set = Vec<u64>;

/// Keeps its cells from tick to tick, and computes the distance of each player to each creature near it.
struct Exact {
    scene: Scene,
    cells: Vec<Vec<u32>>,
    of: Vec<usize>,
    seen: Vec<Set>,
}

impl Exact {
    fn new() -> Self {
        let scene = Scene::new();
        let (mut cells, mut of) = (vec![Vec::new(); CELLS * CELLS], Vec::new());
        for (creature, &position) in scene.creatures.iter().enumerate() {
            cells[cell_of(position)].push(creature as u32);
            of.push(cell_of(position));
        }
        Self { scene, cells, of, seen: vec![vec![0; CREATURES.div_ceil(64)]; PLAYERS] }
    }

    fn tick(&mut self) -> Duration {
        self.scene.advance();
        let start = Instant::now();
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
            // A creature within the view is in a cell whose centre is at most half a diagonal farther away.
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
        start.elapsed()
    }
}

/// Cells with the players who see them. What players see changes only when someone moves to another cell.
struct OnChange {
    scene: Scene,
    cells: Vec<Vec<u32>>,
    viewers: Vec<Vec<u32>>,
    of: Vec<usize>,
    player_cells: Vec<usize>,
    seen: Vec<Set>,
}

impl OnChange {
    fn new() -> Self {
        let Exact { scene, cells, of, seen } = Exact::new();
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

    /// Adds or removes everything that a player in a cell sees.
    fn look(&mut self, player: usize, adds: bool) {
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

    fn tick(&mut self) -> Duration {
        self.scene.advance();
        let start = Instant::now();
        for creature in 0..CREATURES {
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
        start.elapsed()
    }
}

/// Checks that the players of all candidates see about the same number of creatures.
fn candidates_agree() {
    let (mut repl, mut exact, mut on_change) = (Repl::new(true), Exact::new(), OnChange::new());
    for _ in 0..300 {
        repl.tick();
        exact.tick();
        on_change.tick();
    }
    let count =
        |seen: &[Set]| -> usize { seen.iter().flatten().map(|word| word.count_ones() as usize).sum() };
    let (repl, exact, on_change) =
        (repl.seen().iter().sum::<usize>(), count(&exact.seen), count(&on_change.seen));
    for other in [repl, on_change] {
        assert!(exact.abs_diff(other) * 5 < exact, "seen: {repl} by cells, {exact} by distance, {on_change}");
    }
}

fn main() {
    candidates_agree();
    let mut criterion = Criterion::default().configure_from_args();
    let (mut located, mut plain) = (Repl::new(true), Repl::new(false));
    let (mut exact, mut on_change) = (Exact::new(), OnChange::new());
    let mut group = criterion.benchmark_group("relevancy/scene");
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    let sum =
        |count: u64, tick: &mut dyn FnMut() -> Duration| -> Duration { (0..count).map(|_| tick()).sum() };
    group.bench_function("tick", |bencher| bencher.iter_custom(|count| sum(count, &mut || located.tick())));
    group.bench_function("tick_without_areas", |bencher| {
        bencher.iter_custom(|count| sum(count, &mut || plain.tick()))
    });
    group.bench_function("hand_exact", |bencher| {
        bencher.iter_custom(|count| sum(count, &mut || exact.tick()))
    });
    group.bench_function("hand_on_change", |bencher| {
        bencher.iter_custom(|count| sum(count, &mut || on_change.tick()))
    });
    group.finish();
    criterion.final_summary();
    if ratios::are_wanted() {
        ratios::report(
            "relevancy/scene",
            &mut [
                Side::new("relevancy", None, &mut |count| {
                    sum(count, &mut || located.tick()).saturating_sub(sum(count, &mut || plain.tick()))
                }),
                Side::new("hand_exact", None, &mut |count| sum(count, &mut || exact.tick())),
                Side::new("hand_on_change", None, &mut |count| sum(count, &mut || on_change.tick())),
            ],
        );
    }
}
