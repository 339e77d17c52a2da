//! One server tick with 1 to 128 connections: writing changes, making packets, receiving acknowledgements.
//!
//! *Invariant:* every candidate writes the same values, sends to the same number of clients and receives an
//! acknowledgement of every packet.

#[allow(dead_code, reason = "each bench uses a part")]
#[path = "support/bits.rs"]
mod bits;
#[path = "support/check.rs"]
mod check;
#[path = "support/config.rs"]
mod config;
#[path = "support/floor.rs"]
mod floor;
#[path = "support/hand.rs"]
mod hand;
#[path = "support/mirror.rs"]
mod mirror;
#[path = "support/player.rs"]
mod player;
#[path = "support/ratios.rs"]
mod ratios;
#[path = "support/served.rs"]
mod served;
#[path = "support/wire.rs"]
mod wire;
#[path = "support/workload.rs"]
mod workload;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput};

use bits::BitWriter;
use floor::Floor;
use hand::{Connection, World};
use player::{MarkedPlayer, Player};
use ratios::{Side, timed};
use served::{Avatar, Joining, Served, Writing};
use workload::{Change, Workload};

/// How many connections a server has.
const CONNECTIONS: [usize; 4] = [1, 8, 32, 128];
/// The number of players in a large idle world. An idle tick should cost the same as with a hundredth of
/// them.
const MANY_PLAYERS: u32 = 1_000_000;
/// How many players a new client receives.
const JOINED_PLAYERS: u32 = 10_000;

/// A server with its clients, tick after tick.
trait Candidate {
    /// Returns a server with clients that have every player.
    fn settled(workload: &Workload, connections: usize) -> Self;
    /// Writes the changes of tick `step` and makes all packets. Returns their bytes.
    fn send(&mut self, workload: &Workload, step: u32) -> u64;
    /// Does the work outside the server between sending and acknowledging. Not measured.
    fn deliver(&mut self) {}
    /// Receives the acknowledgements of all packets of this tick.
    fn acknowledge(&mut self);
    /// Checks that clients equal the server, if there are clients.
    fn check(&self) {}
}

/// This library. Objects are written one by one, or all objects are borrowed at the same time and scanned.
struct Repl<const ALL_AT_ONCE: bool, P = Player>(Served<P>);

impl<const ALL_AT_ONCE: bool, P: Avatar> Candidate for Repl<ALL_AT_ONCE, P> {
    fn settled(workload: &Workload, connections: usize) -> Self {
        let writing = if ALL_AT_ONCE { Writing::AllAtOnce } else { Writing::ByReference };
        Self(Served::settled(workload.players, connections, writing))
    }

    fn send(&mut self, workload: &Workload, step: u32) -> u64 {
        self.0.send(workload, step)
    }

    fn deliver(&mut self) {
        self.0.deliver();
    }

    fn acknowledge(&mut self) {
        self.0.acknowledge();
    }

    fn check(&self) {
        self.0.check();
    }
}

/// The hand-written delta encoder, for each connection.
struct Hand {
    world: World,
    connections: Vec<Connection>,
    writer: BitWriter,
}

impl Hand {
    fn send_all(&mut self) -> u64 {
        let mut bytes = 0;
        for connection in &mut self.connections {
            connection.send(&self.world, &mut self.writer, |packet| bytes += black_box(packet).len() as u64);
        }
        self.world.settle();
        bytes
    }
}

impl Candidate for Hand {
    fn settled(workload: &Workload, connections: usize) -> Self {
        let world = World::new(workload.players);
        let connections = (0..connections).map(|_| Connection::new(world.players.len())).collect();
        let mut hand = Self { world, connections, writer: BitWriter::new() };
        hand.send_all();
        hand.acknowledge();
        hand
    }

    fn send(&mut self, workload: &Workload, step: u32) -> u64 {
        workload.apply(step, &mut self.world);
        self.send_all()
    }

    fn acknowledge(&mut self) {
        for connection in &mut self.connections {
            connection.acknowledge_all();
        }
    }
}

/// The candidate with the least work, which sends the same bytes to every connection.
struct Same {
    world: World,
    floor: Floor,
    sequences: Vec<u64>,
    writer: BitWriter,
}

impl Candidate for Same {
    fn settled(workload: &Workload, connections: usize) -> Self {
        let world = World::new(workload.players);
        Self { world, floor: Floor::new(), sequences: vec![0; connections], writer: BitWriter::new() }
    }

    fn send(&mut self, workload: &Workload, step: u32) -> u64 {
        workload.apply(step, &mut self.world);
        self.floor.encode_changes(&self.world, &mut self.writer);
        self.world.settle();
        let mut bytes = 0;
        for sequence in &mut self.sequences {
            *sequence = self.floor.send(*sequence, |packet| bytes += black_box(packet).len() as u64);
        }
        bytes
    }

    fn acknowledge(&mut self) {}
}

/// A candidate that runs tick after tick.
struct Running<C> {
    candidate: C,
    workload: Workload,
    connections: usize,
    step: u32,
}

impl<C: Candidate> Running<C> {
    fn new(workload: Workload, connections: usize) -> Self {
        Self { candidate: C::settled(&workload, connections), workload, connections, step: 0 }
    }

    /// Returns the server's time for `count` ticks, without the work of the clients.
    fn ticks(&mut self, count: u64) -> Duration {
        if self.workload.change == Change::Nothing {
            // An idle tick is shorter than reading the clock, and there is nothing to deliver.
            let start = Instant::now();
            for _ in 0..count {
                black_box(self.send());
                self.candidate.acknowledge();
            }
            return start.elapsed();
        }
        (0..count).map(|_| self.tick()).sum()
    }

    fn tick(&mut self) -> Duration {
        let start = Instant::now();
        black_box(self.send());
        let sending = start.elapsed();
        self.candidate.deliver();
        let start = Instant::now();
        self.candidate.acknowledge();
        sending + start.elapsed()
    }

    fn send(&mut self) -> u64 {
        self.step += 1;
        self.candidate.send(&self.workload, self.step)
    }

    /// Returns the bytes that one client receives in a tick.
    fn bytes_per_client(&mut self) -> u64 {
        let bytes = self.send();
        self.candidate.deliver();
        self.candidate.acknowledge();
        bytes / self.connections as u64
    }
}

/// Measures a new client of a world of players, with the hand-written encoders.
struct JoiningByHand {
    world: World,
    floor: Floor,
    writer: BitWriter,
}

impl JoiningByHand {
    fn new() -> Self {
        Self { world: World::new(JOINED_PLAYERS), floor: Floor::new(), writer: BitWriter::new() }
    }

    fn hand(&mut self) -> u64 {
        let mut bytes = 0;
        let mut connection = Connection::new(self.world.players.len());
        connection.send(&self.world, &mut self.writer, |packet| bytes += black_box(packet).len() as u64);
        connection.acknowledge_all();
        bytes
    }

    fn floor(&mut self) -> u64 {
        let mut bytes = 0;
        self.floor.encode_spawns(&self.world, &mut self.writer);
        self.floor.send(0, |packet| bytes += black_box(packet).len() as u64);
        bytes
    }
}

/// Returns each workload with each number of connections.
fn runs() -> impl Iterator<Item = (Workload, usize)> {
    Workload::ALL.into_iter().flat_map(|workload| CONNECTIONS.map(|connections| (workload, connections)))
}

fn ticks(criterion: &mut Criterion) {
    for (workload, connections) in runs() {
        let mut group = criterion.benchmark_group(format!("tick/{}/{connections}", workload.name));
        group
            .sample_size(20)
            .measurement_time(Duration::from_secs(2))
            .warm_up_time(Duration::from_millis(500));
        bench_candidate::<Repl<false>>(&mut group, workload, connections, "repl");
        bench_candidate::<Repl<true>>(&mut group, workload, connections, "repl_scan");
        bench_candidate::<Repl<false, MarkedPlayer>>(&mut group, workload, connections, "repl_push");
        bench_candidate::<Hand>(&mut group, workload, connections, "hand");
        bench_candidate::<Same>(&mut group, workload, connections, "floor");
        group.finish();
    }
}

fn bench_candidate<C: Candidate>(
    group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>,
    workload: Workload,
    connections: usize,
    name: &str,
) {
    let mut running = Running::<C>::new(workload, connections);
    let bytes = running.bytes_per_client() * connections as u64;
    let objects = u64::from(workload.changed()) * connections as u64;
    // Nothing changes in an idle world. Objects without changes should cost nothing, so this measurement
    // varies their number.
    let elements = if objects == 0 { u64::from(workload.players) } else { objects };
    group.throughput(Throughput::ElementsAndBytes { elements, bytes });
    group.bench_function(BenchmarkId::from_parameter(name), |bencher| {
        bencher.iter_custom(|count| running.ticks(count));
    });
    running.candidate.check();
}

fn joins(criterion: &mut Criterion) {
    let (mut joining, mut by_hand) = (Joining::new(JOINED_PLAYERS), JoiningByHand::new());
    let mut group = criterion.benchmark_group("tick/w5_join");
    group.sample_size(20).measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    let elements = u64::from(JOINED_PLAYERS);
    group.throughput(Throughput::ElementsAndBytes { elements, bytes: joining.join().1 });
    group.bench_function("repl", |bencher| bencher.iter_custom(|count| joining.joins(count)));
    group.bench_function("repl_anew", |bencher| bencher.iter_custom(|count| joining.joins_anew(count)));
    group.throughput(Throughput::ElementsAndBytes { elements, bytes: by_hand.hand() });
    group.bench_function("hand", |bencher| bencher.iter(|| by_hand.hand()));
    group.throughput(Throughput::ElementsAndBytes { elements, bytes: by_hand.floor() });
    group.bench_function("floor", |bencher| bencher.iter(|| by_hand.floor()));
    group.finish();
}

fn print_ratios() {
    for (workload, connections) in runs() {
        let mut repl = Running::<Repl<false>>::new(workload, connections);
        let mut scan = Running::<Repl<true>>::new(workload, connections);
        let mut push = Running::<Repl<false, MarkedPlayer>>::new(workload, connections);
        let mut hand = Running::<Hand>::new(workload, connections);
        let mut floor = Running::<Same>::new(workload, connections);
        let bytes = [
            repl.bytes_per_client(),
            scan.bytes_per_client(),
            hand.bytes_per_client(),
            floor.bytes_per_client(),
            push.bytes_per_client(),
        ];
        ratios::report(
            &format!("{} x {connections}", workload.name),
            &mut [
                Side::new("repl", Some(bytes[0]), &mut |count| repl.ticks(count)),
                Side::new("hand", Some(bytes[2]), &mut |count| hand.ticks(count)),
                Side::new("floor", Some(bytes[3]), &mut |count| floor.ticks(count)),
                Side::new("repl_scan", Some(bytes[1]), &mut |count| scan.ticks(count)),
                Side::new("repl_push", Some(bytes[4]), &mut |count| push.ticks(count)),
            ],
        );
        repl.candidate.check();
        scan.candidate.check();
        push.candidate.check();
    }
    let mut idle = [MANY_PLAYERS, MANY_PLAYERS / 100]
        .map(|players| Running::<Repl<false>>::new(Workload { players, ..Workload::ALL[0] }, 1));
    let [many, few] = &mut idle;
    ratios::report(
        "w1_idle by players x 1",
        &mut [
            Side::new("1,000,000", None, &mut |count| many.ticks(count)),
            Side::new("10,000", None, &mut |count| few.ticks(count)),
        ],
    );
    let (mut repl, mut anew) = (Joining::new(JOINED_PLAYERS), Joining::new(JOINED_PLAYERS));
    let (mut hand, mut floor) = (JoiningByHand::new(), JoiningByHand::new());
    let (repl_bytes, hand_bytes, floor_bytes) = (repl.join().1, hand.hand(), floor.floor());
    ratios::report(
        "w5_join",
        &mut [
            Side::new("repl", Some(repl_bytes), &mut |count| repl.joins(count)),
            Side::new("hand", Some(hand_bytes), &mut |count| timed(count, || hand.hand())),
            Side::new("floor", Some(floor_bytes), &mut |count| timed(count, || floor.floor())),
            Side::new("repl_anew", Some(repl_bytes), &mut |count| anew.joins_anew(count)),
        ],
    );
}

fn main() {
    check::delta_encoder_converges_under_loss();
    for workload in Workload::ALL {
        check::both_encoders_carry(&workload);
        check::servers_carry(&workload);
    }
    let mut criterion = Criterion::default().configure_from_args();
    ticks(&mut criterion);
    joins(&mut criterion);
    criterion.final_summary();
    if ratios::are_wanted() {
        print_ratios();
    }
}
