//! Measures one row with one library.

use std::fmt;
use std::time::Duration;

use crate::account::Account;
use crate::allocator;
use crate::peer::Peer;
use crate::row::Row;
use crate::verdict;
use crate::workload::Population;

/// The greatest number of ticks until the clients are connected, or have all entities.
const PATIENCE: usize = 300;
/// The number of ticks without changes after all clients have joined: ten seconds. In this time a library
/// stops resending, and frees the memory that it needed for the join.
const REST: usize = 300;
/// The number of ticks with changes that run before the measured ticks.
const WARM_UP: usize = 12;
/// How many numbers a measurement has.
pub(crate) const NUMBERS: usize = 9;

/// The numbers of one row with one library.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Measurement {
    /// The server's processor time in one tick, in microseconds.
    pub(crate) micros: f64,
    /// The bytes that the server sent to all clients together in one tick.
    pub(crate) bytes: f64,
    /// The heap memory of the server after the last tick, in bytes.
    pub(crate) heap: f64,
    /// The heap memory of one client after the last tick, in bytes.
    pub(crate) client_heap: f64,
    /// The memory of the process after the last tick, with all clients, in bytes.
    pub(crate) resident: f64,
    /// The server's processor time, in microseconds, until all clients had all entities that were spawned at
    /// once.
    pub(crate) join_micros: f64,
    /// The bytes that the server sent during the join (`join_micros`).
    pub(crate) join_bytes: f64,
    /// The number of ticks that the join took.
    pub(crate) join_ticks: f64,
    /// How many ticks after the last change the clients had all changes.
    pub(crate) late_ticks: f64,
    /// The difference between a client and the server at the end, if there is one.
    pub(crate) difference: Option<String>,
}

impl Measurement {
    fn failed(difference: String) -> Self {
        Self::from_numbers([f64::NAN; NUMBERS], Some(difference))
    }

    pub(crate) const fn from_numbers(numbers: [f64; NUMBERS], difference: Option<String>) -> Self {
        let [micros, bytes, heap, client_heap, resident, join_micros, join_bytes, join_ticks, late_ticks] =
            numbers;
        Self {
            micros,
            bytes,
            heap,
            client_heap,
            resident,
            join_micros,
            join_bytes,
            join_ticks,
            late_ticks,
            difference,
        }
    }

    pub(crate) const fn numbers(&self) -> [f64; NUMBERS] {
        [
            self.micros,
            self.bytes,
            self.heap,
            self.client_heap,
            self.resident,
            self.join_micros,
            self.join_bytes,
            self.join_ticks,
            self.late_ticks,
        ]
    }

    /// Reads what [`Display`](fmt::Display) has written.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let (numbers, difference) = line.trim().split_once('|')?;
        let numbers: Vec<f64> = numbers.split(' ').filter_map(|number| number.parse().ok()).collect();
        let difference = (!difference.is_empty()).then(|| difference.to_string());
        Some(Self::from_numbers(numbers.try_into().ok()?, difference))
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = self.numbers().map(|number| number.to_string()).join(" ");
        write!(f, "{numbers}|{}", self.difference.as_deref().unwrap_or_default())
    }
}

/// The apps of one measurement.
struct Run<P> {
    peer: P,
    population: Population,
    account: Account,
    bytes: usize,
}

pub(crate) fn measure<P: Peer>(row: Row, clients: usize) -> Measurement {
    let mut account = Account::default();
    let peer = P::new(clients, &mut account);
    let mut run = Run { peer, population: Population::default(), account, bytes: 0 };
    if run.until(|run| (run.peer.connected() == clients).then_some(())).is_none() {
        return Measurement::failed(format!("{} of {clients} clients connect", run.peer.connected()));
    }

    run.begin();
    let Run { peer, population, account, .. } = &mut run;
    account.work(|| population.spawn(peer.server().world_mut(), row.entities(), P::marker));
    let Some(join_ticks) = run.until_same() else {
        return Measurement::failed(verdict::difference(&mut run.peer).unwrap_or_default());
    };
    let (join_micros, join_bytes) = (run.micros(), run.bytes);

    (0..REST).for_each(|_| run.tick(None));
    (0..WARM_UP).for_each(|_| run.tick(Some(row)));
    run.begin();
    let ticks = ticks(clients);
    (0..ticks).for_each(|_| run.tick(Some(row)));
    let (micros, bytes) = (run.micros() / ticks as f64, run.bytes as f64 / ticks as f64);
    let heap = run.account.heap as f64;
    let client_heap = (allocator::held() as f64 - heap) / clients as f64;
    let resident = resident_bytes();

    let late_ticks = run.until_same();
    let difference = late_ticks.map_or_else(|| verdict::difference(&mut run.peer), |_| None);
    let late_ticks = late_ticks.unwrap_or(PATIENCE);
    Measurement {
        micros,
        bytes,
        heap,
        client_heap,
        resident,
        join_micros,
        join_bytes: join_bytes as f64,
        join_ticks: join_ticks as f64,
        late_ticks: late_ticks as f64,
        difference,
    }
}

/// Returns how many ticks are measured.
const fn ticks(clients: usize) -> usize {
    match clients {
        0..=1 => 90,
        2..=8 => 45,
        _ => 24,
    }
}

impl<P: Peer> Run<P> {
    /// Sets the counted time and bytes to zero.
    fn begin(&mut self) {
        self.account.time = Duration::ZERO;
        self.bytes = 0;
    }

    fn micros(&self) -> f64 {
        self.account.time.as_secs_f64() * 1e6
    }

    /// Runs a tick. If `row` is given, the entities change as this row says. Otherwise they do not change.
    fn tick(&mut self, row: Option<Row>) {
        let Self { peer, population, account, bytes } = self;
        account.work(|| {
            let server = peer.server();
            if let Some(row) = row {
                population.live(row, server.world_mut(), P::marker);
            }
            server.update();
        });
        *bytes += peer.carry_to_clients(account);
        peer.clients().iter_mut().for_each(bevy_app::App::update);
        peer.carry_to_server(account);
    }

    /// Runs ticks without changes until `answer` returns a value, and returns this value. Returns `None`
    /// after [`PATIENCE`] ticks.
    fn until<T>(&mut self, mut answer: impl FnMut(&mut Self) -> Option<T>) -> Option<T> {
        (0..PATIENCE).find_map(|_| {
            self.tick(None);
            answer(self)
        })
    }

    /// Runs ticks without changes until the clients have the state of the server. Returns how many.
    fn until_same(&mut self) -> Option<usize> {
        (0..PATIENCE).find(|_| {
            let is_same = verdict::difference(&mut self.peer).is_none();
            if !is_same {
                self.tick(None);
            }
            is_same
        })
    }
}

/// Returns the memory of this process in bytes, or zero if the system does not say it.
fn resident_bytes() -> f64 {
    const PAGE_BYTES: f64 = 4096.0;
    let told = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    told.split(' ')
        .nth(1)
        .and_then(|pages| pages.parse().ok())
        .map_or(f64::NAN, |pages: f64| pages * PAGE_BYTES)
}
