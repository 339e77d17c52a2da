//! The cost of relevancy (deciding who sees what): creatures wander, and players see the creatures near them.
//!
//! The library decides who sees what within the tick, between its other work. So its cost is measured as the
//! difference between two ticks: a tick of a class with an area, minus a tick of the same class without an
//! area. No client is connected and nothing is shared, so nothing is encoded.
//!
//! The two hand-written grids do the same work on arrays of positions. The first grid computes in each tick
//! the distance of each player to each creature in the cells around it. The second grid changes what players
//! see only when a creature or a player moves to another cell. A tick of the server without areas runs before
//! each tick of a grid, so that the caches of the processor are in the same state for all candidates.
//!
//! `crossings` measures creatures that all move to another cell in each tick, minus the time for creatures
//! that all move within their cells. `join` is the time of `set_viewpoints` for a connected client. A second
//! figure of `join` also contains the tick that makes the packets with all creatures in sight. `idle`
//! measures ticks in which nothing changes, with clients that have all objects.
//!
//! `function` is the cost of a function of the user that decides which of 200 connections see 10,000 objects,
//! if one in a hundred objects and connections moves in each tick: a tick with this function minus a tick
//! without it. It is compared with a direct loop over the same pairs, and measured in processor time.
//!
//! *Invariant:* all candidates move the same creatures and players by the same steps.

#[path = "support/config.rs"]
mod config;
#[path = "support/cpu.rs"]
mod cpu;
#[path = "support/crowd.rs"]
mod crowd;
#[path = "support/grids.rs"]
mod grids;
#[path = "support/pairs.rs"]
mod pairs;
#[path = "support/ratios.rs"]
mod ratios;

use std::cell::RefCell;
use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use repl::Area;
use repl::prelude::*;
use repl::sim::Rng;

use crowd::Crowd;
use grids::{Candidate, Exact, OnChange, PLAYERS, Scene, Set, VIEW};
use pairs::{Direct, OBJECTS, VIEWERS, Wanderers};
use ratios::Side;

const TICK: Duration = Duration::from_millis(33);
/// A timeout that is longer than any measurement.
const FOREVER: Duration = Duration::from_secs(1 << 32);

#[derive(Replicated, Default, Clone, Copy)]
struct Creature {
    #[replicated]
    position: [f32; 2],
}

/// Sets an area for the class, so that players see only the creatures near them.
fn locate(server: &mut Server) {
    let position = |creature: &Creature| [creature.position[0], creature.position[1], 0.0];
    server.class().locate(Area::within(VIEW).flat(), position);
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
    fn new(is_located: bool, scene: Scene) -> Self {
        let mut server =
            Server::new(ServerConfig { timeout: FOREVER, share: false, ..ServerConfig::default() });
        if is_located {
            locate(&mut server);
        }
        let creatures = scene.creatures.iter().map(|&position| server.spawn(Creature { position })).collect();
        let connections = (0..PLAYERS).map(|_| server.connect(Duration::ZERO)).collect();
        Self { scene, server, creatures, connections, is_located, now: Duration::ZERO }
    }

    /// Returns how many creatures each player sees.
    fn seen(&self) -> Vec<usize> {
        let count = |&connection: &ConnectionId| {
            self.creatures
                .iter()
                .filter(|&&creature| self.server.object_info(creature).is_relevant_to(connection))
                .count()
        };
        self.connections.iter().map(count).collect()
    }
}

impl Candidate for Repl {
    fn advance(&mut self) {
        self.scene.advance();
        for (&creature, &position) in self.creatures.iter().zip(&self.scene.creatures) {
            self.server[creature].position = position;
        }
        self.now += TICK;
    }

    fn tick(&mut self) {
        if self.is_located {
            for (&connection, &[x, y]) in self.connections.iter().zip(&self.scene.players) {
                self.server.connection(connection).set_viewpoints(&[[x, y, 0.0]]);
            }
        }
        self.server.tick(self.now);
    }
}

/// Checks that the players of all candidates see about the same number of creatures.
fn candidates_agree() {
    let mut repl = Repl::new(true, Scene::new());
    let (mut exact, mut on_change) = (Exact::new(Scene::new()), OnChange::new(Scene::new()));
    for _ in 0..300 {
        let candidates: [&mut dyn Candidate; 3] = [&mut repl, &mut exact, &mut on_change];
        for candidate in candidates {
            candidate.advance();
            candidate.tick();
        }
    }
    let count =
        |seen: &[Set]| -> usize { seen.iter().flatten().map(|word| word.count_ones() as usize).sum() };
    let (repl, exact, on_change) =
        (repl.seen().iter().sum::<usize>(), count(&exact.seen), count(&on_change.seen));
    for other in [repl, on_change] {
        assert!(exact.abs_diff(other) * 5 < exact, "seen: {repl} by cells, {exact} by distance, {on_change}");
    }
}

/// Returns how long some work takes.
fn elapsed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(work());
    start.elapsed()
}

/// Returns the time of `count` ticks.
fn ticks(candidate: &mut dyn Candidate, count: u64) -> Duration {
    let mut tick = || {
        candidate.advance();
        elapsed(|| candidate.tick())
    };
    (0..count).map(|_| tick()).sum()
}

/// Returns by how much the ticks of one candidate take longer than those of another candidate. Both run in
/// turns, so that the processor's speed is the same for both.
fn difference(one: &mut dyn Candidate, other: &mut dyn Candidate, count: u64) -> Duration {
    let mut times = [Duration::ZERO; 2];
    for _ in 0..count {
        times[0] += ticks(one, 1);
        times[1] += ticks(other, 1);
    }
    times[0].saturating_sub(times[1])
}

/// Returns the time of `count` ticks of a candidate. A tick of `other`, which is not measured, runs before
/// each of them.
fn ticks_after(other: &mut dyn Candidate, candidate: &mut dyn Candidate, count: u64) -> Duration {
    let mut tick = || {
        ticks(other, 1);
        ticks(candidate, 1)
    };
    (0..count).map(|_| tick()).sum()
}

fn scene(criterion: &mut Criterion) {
    let (mut located, mut plain) = (Repl::new(true, Scene::new()), Repl::new(false, Scene::new()));
    let (mut exact, mut on_change) = (Exact::new(Scene::new()), OnChange::new(Scene::new()));
    let mut group = criterion.benchmark_group("relevancy/scene");
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    let candidates: [(&str, &mut dyn Candidate); 4] = [
        ("tick", &mut located),
        ("tick_without_areas", &mut plain),
        ("hand_exact", &mut exact),
        ("hand_on_change", &mut on_change),
    ];
    for (name, candidate) in candidates {
        group.bench_function(name, |bencher| bencher.iter_custom(|count| ticks(candidate, count)));
    }
    group.finish();
    if ratios::are_wanted() {
        let plain = RefCell::new(plain);
        let plain = || plain.borrow_mut();
        ratios::report(
            "relevancy/scene",
            &mut [
                Side::new("relevancy", None, &mut |count| difference(&mut located, &mut *plain(), count)),
                Side::new("hand_exact", None, &mut |count| ticks_after(&mut *plain(), &mut exact, count)),
                Side::new("hand_on_change", None, &mut |count| {
                    ticks_after(&mut *plain(), &mut on_change, count)
                }),
            ],
        );
    }
}

/// Prints the time of 5,000 crossings from a cell to another.
fn report_crossings() {
    let [mut crossing, mut staying] = [true, false].map(|crosses| Repl::new(true, Scene::hopping(crosses)));
    let [mut hand, mut hand_staying] = [true, false].map(|crosses| OnChange::new(Scene::hopping(crosses)));
    ratios::report(
        "relevancy/5000_crossings",
        &mut [
            Side::new("crossings", None, &mut |count| difference(&mut crossing, &mut staying, count)),
            Side::new("hand_on_change", None, &mut |count| difference(&mut hand, &mut hand_staying, count)),
        ],
    );
}

/// The number of creatures in sight of a client that joins.
const JOINED: usize = 1_000;

/// Returns a server whose creatures are all near the position zero.
fn dense_server() -> Server {
    let mut server = Server::new(config::at_once());
    locate(&mut server);
    for number in 0..JOINED {
        let position = [number as f32 % 100.0 - 50.0, number as f32 / 10.0 - 50.0];
        server.spawn(Creature { position });
    }
    server
}

/// Returns the time of setting the viewpoint of a connected client, which brings all objects into its sight.
/// If `sends` is true, the time includes a tick, which makes the packets.
fn join(crowd: &mut Crowd, sends: bool) -> Duration {
    let connection = crowd.connect();
    (0..4).for_each(|_| _ = crowd.exchange());
    let (_, client) = crowd.clients.pop().expect("it was added");
    assert!(client.is_connected());
    let work = || {
        crowd.server.connection(connection).set_viewpoints(&[[0.0; 3]]);
        if sends {
            crowd.tick();
        }
    };
    let time = elapsed(work);
    crowd.server.connection(connection).disconnect();
    time
}

/// Prints how long it takes until a client has 1,000 creatures in sight.
fn report_join() {
    let crowd =
        || Crowd::new(dense_server(), ClientConfig::default(), |client| _ = client.register::<Creature>());
    let (mut shown, mut sent) = (crowd(), crowd());
    // Only the cells near the position zero have creatures, and only the first player is there.
    let mut scene = Scene::new();
    scene.players[0] = [0.0; 2];
    for (number, position) in scene.creatures.iter_mut().enumerate() {
        let number = number.min(JOINED) as f32;
        *position = [number % 100.0 - 50.0, number / 10.0 - 50.0];
    }
    scene.creatures.truncate(JOINED);
    let mut hand = OnChange::new(scene);
    ratios::report(
        "relevancy/join_1000_creatures",
        &mut [
            Side::new("shown", None, &mut |count| (0..count).map(|_| join(&mut shown, false)).sum()),
            Side::new("hand", None, &mut |count| {
                let mut look = || {
                    hand.look(0, false);
                    elapsed(|| hand.look(0, true))
                };
                (0..count).map(|_| look()).sum()
            }),
            Side::new("with_sending", None, &mut |count| (0..count).map(|_| join(&mut sent, true)).sum()),
        ],
    );
}

/// Returns a server with clients that have received all objects in their sight. The density of the objects
/// does not depend on their number.
fn idle_crowd(objects: usize, connections: usize) -> Crowd {
    let limits = ServerConfig { max_objects: 200_000, timeout: FOREVER, ..config::at_once() };
    let mut server = Server::new(limits);
    locate(&mut server);
    let (mut rng, extent) = (Rng::new(7), (objects as f32).sqrt() * 10.0);
    let mut point = || [0, 1].map(|_| (rng.below(20_001) as f32 / 10_000.0 - 1.0) * extent);
    for _ in 0..objects {
        let position = point();
        server.spawn(Creature { position });
    }
    let config = ClientConfig { max_objects: 200_000, timeout: FOREVER, ..ClientConfig::default() };
    let mut crowd = Crowd::new(server, config, |client| _ = client.register::<Creature>());
    for _ in 0..connections {
        let (connection, [x, y]) = (crowd.connect(), point());
        crowd.server.connection(connection).set_viewpoints(&[[x, y, 0.0]]);
    }
    crowd.settle();
    assert!(crowd.clients.iter().all(|(_, client)| client.objects::<Creature>().count() > 0));
    crowd
}

/// Prints the time of a tick in which nothing changes, for three numbers of objects.
fn report_idle(work: &str, connections: usize) {
    let [mut small, mut medium, mut large] =
        [1_000, 10_000, 100_000].map(|objects| idle_crowd(objects, connections));
    let run =
        |crowd: &mut Crowd, count: u64| -> Duration { (0..count).map(|_| elapsed(|| crowd.tick())).sum() };
    ratios::report(
        work,
        &mut [
            Side::new("of_100000", None, &mut |count| run(&mut large, count)),
            Side::new("of_10000", None, &mut |count| run(&mut medium, count)),
            Side::new("of_1000", None, &mut |count| run(&mut small, count)),
        ],
    );
}

/// A server whose objects are seen by a function, or by everyone, and a connection for each viewer.
struct Judged {
    wanderers: Wanderers,
    server: Server,
    objects: Vec<ObjectRef<Creature>>,
    connections: Vec<ConnectionId>,
    now: Duration,
}

impl Judged {
    fn new(has_function: bool) -> Self {
        let wanderers = Wanderers::new();
        let config =
            ServerConfig { timeout: FOREVER, share: false, max_objects: OBJECTS, ..ServerConfig::default() };
        let mut server = Server::new(config);
        server.register::<Creature>();
        if has_function {
            server.class::<Creature>().set_relevancy_by(|creature, viewer| {
                viewer.viewpoints.iter().any(|&[x, y, _]| pairs::sees(creature.position, [x, y]))
            });
        }
        let objects = wanderers.objects.iter().map(|&position| server.spawn(Creature { position })).collect();
        let connections = (0..VIEWERS).map(|_| server.connect(Duration::ZERO)).collect();
        let mut judged = Self { wanderers, server, objects, connections, now: Duration::ZERO };
        for (&connection, &[x, y]) in judged.connections.iter().zip(&judged.wanderers.viewers) {
            judged.server.connection(connection).set_viewpoints(&[[x, y, 0.0]]);
        }
        judged.tick();
        judged
    }

    /// Returns how many pairs of an object and a connection are seen.
    fn count(&self) -> usize {
        let is_seen = |object, connection| self.server.object_info(object).is_relevant_to(connection);
        let of = |connection| self.objects.iter().filter(|&&object| is_seen(object, connection)).count();
        self.connections.iter().map(|&connection| of(connection)).sum()
    }
}

impl Candidate for Judged {
    fn advance(&mut self) {
        self.wanderers.advance();
        for &at in &self.wanderers.moved_objects {
            self.server[self.objects[at]].position = self.wanderers.objects[at];
        }
        self.now += TICK;
    }

    fn tick(&mut self) {
        for &at in &self.wanderers.moved_viewers {
            let [x, y] = self.wanderers.viewers[at];
            self.server.connection(self.connections[at]).set_viewpoints(&[[x, y, 0.0]]);
        }
        self.server.tick(self.now);
    }
}

/// Returns the processor time of a tick of a candidate.
fn processor_time(candidate: &mut dyn Candidate) -> Duration {
    candidate.advance();
    let start = cpu::thread_time();
    candidate.tick();
    cpu::thread_time().saturating_sub(start)
}

/// Returns by how much the ticks of one candidate take more processor time than those of another candidate.
fn processor_difference(one: &mut dyn Candidate, other: &mut dyn Candidate, count: u64) -> Duration {
    let mut times = [Duration::ZERO; 2];
    for _ in 0..count {
        times[0] += processor_time(one);
        times[1] += processor_time(other);
    }
    times[0].saturating_sub(times[1])
}

/// Prints the processor time of the calls of a function in a tick. Checks that the function and the loop see
/// the same pairs.
fn report_function() {
    let (mut judged, mut plain, mut direct) = (Judged::new(true), Judged::new(false), Direct::new());
    for _ in 0..100 {
        let candidates: [&mut dyn Candidate; 2] = [&mut judged, &mut direct];
        for candidate in candidates {
            candidate.advance();
            candidate.tick();
        }
    }
    assert_eq!(judged.count(), direct.count(), "the function and the loop see the same pairs");
    if ratios::are_wanted() {
        let mut other = Judged::new(false);
        ratios::report(
            "relevancy/function",
            &mut [
                Side::new("function", None, &mut |count| {
                    processor_difference(&mut judged, &mut plain, count)
                }),
                Side::new("direct_loop", None, &mut |count| {
                    let mut tick = || {
                        processor_time(&mut other);
                        processor_time(&mut direct)
                    };
                    (0..count).map(|_| tick()).sum()
                }),
            ],
        );
    }
}

fn main() {
    candidates_agree();
    report_function();
    let mut criterion = Criterion::default().configure_from_args();
    scene(&mut criterion);
    criterion.final_summary();
    if ratios::are_wanted() {
        report_crossings();
        report_join();
        report_idle("relevancy/idle_32", 32);
        report_idle("relevancy/idle_200", 200);
    }
}
