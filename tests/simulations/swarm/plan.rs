//! Everything that a seed decides before its run begins.
//!
//! *Invariant:* a plan is a pure function of its seed.

use std::time::Duration;

use repl::sim::{LinkConditions, Loss, Rng};
use repl::{ClientConfig, CongestionControl, ServerConfig};

use crate::assets;
use crate::enums;
use crate::extremes::Extremes;
use crate::host::{self, HostPlan};
use crate::kinds::{BIRD, GOLEM, SIGN};
use crate::lives::Lives;
use crate::regular_losses;
use crate::short_lives::{self, ShortLives};
use crate::talk::{BULK_BYTES, LARGEST_BYTES, STORED_BYTES, Talk};
use crate::waits::{self, Waits};
use crate::whispers::Whispers;

/// The longest time between two tries on a link that does not answer (R9).
const PROBE: Duration = Duration::from_millis(250);

/// The sizes of packets of clients.
pub(crate) const SIZES: [usize; 7] = [508, 600, 800, 1_100, 1_162, 1_200, 1_472];

#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// For this many ticks the world changes.
    pub(crate) ticks: u64,
    /// The world changes only in one of this many ticks.
    pub(crate) change_interval: u64,
    /// Ticks per second.
    pub(crate) hz: u32,
    /// Clients at the start; others may join later.
    pub(crate) clients: usize,
    pub(crate) objects: usize,
    /// Mean number of property changes in a tick.
    pub(crate) changes: f64,
    /// The chances in a tick that objects are spawned or despawned, that connections see other objects than
    /// before, and that a client joins.
    pub(crate) churn: f64,
    pub(crate) view_flips: f64,
    pub(crate) joins: f64,
    /// The weight of each class when the class of a new object is chosen at random.
    pub(crate) weights: [u64; 10],
    pub(crate) down: LinkConditions,
    pub(crate) up: LinkConditions,
    /// The number of packets that each burst loses, in the order of the bursts.
    pub(crate) bursts: Vec<u64>,
    /// The chance in a tick that a link loses all packets in one direction for a while.
    pub(crate) dead_links: f64,
    /// The size of the largest packet of the server and of all links.
    pub(crate) mtu_bytes: usize,
    /// Whether each client has its own packet size, and packet sizes change while the world changes.
    pub(crate) mixes_sizes: bool,
    pub(crate) share: bool,
    pub(crate) congestion_control: CongestionControl,
    /// Whether the test touches each connection in each tick, so that no connection rests.
    pub(crate) wakes_all: bool,
    pub(crate) first_sequence: u64,
    pub(crate) max_bytes_per_tick: usize,
    pub(crate) max_packets_in_flight: usize,
    pub(crate) max_objects: usize,
    pub(crate) max_connection_bytes: usize,
    pub(crate) timeout: Duration,
    /// The messages between clients and server.
    pub(crate) talk: Option<Talk>,
    /// The calls of the server with secrets.
    pub(crate) whispers: Option<Whispers>,
    pub(crate) extremes: Extremes,
    pub(crate) lives: Lives,
    pub(crate) short_lives: Option<ShortLives>,
    /// The chance that a client adds an asset in a tick.
    pub(crate) asset_arrivals: f64,
    pub(crate) host: Option<HostPlan>,
    /// The number of connections that have a turn in a tick, and the number of ticks in which each connection
    /// has a turn.
    pub(crate) connections_per_tick: usize,
    pub(crate) turn_ticks: u32,
    /// The pauses of objects, and the limits for the work of ticks.
    pub(crate) waits: Option<Waits>,
}

fn pick<T: Clone>(rng: &mut Rng, items: &[T]) -> T {
    rng.pick(items).expect("something to pick from").clone()
}

fn conditions(rng: &mut Rng, loss: f64, mtu_bytes: usize) -> LinkConditions {
    let is_wild = rng.chance(0.5);
    let bursty = loss > 0.0 && loss <= 0.5 && rng.chance(0.3);
    LinkConditions {
        latency: Duration::from_millis(pick(rng, &[0, 5, 20, 60, 150])),
        jitter: Duration::from_millis(pick(rng, &[0, 0, 10, 40, 150, 300])),
        loss: if bursty { Loss::bursts(loss, 6.0) } else { Loss::Independent(loss) },
        duplicate: if is_wild { rng.unit() * 0.3 } else { 0.0 },
        reorder: if is_wild { rng.unit() * 0.5 } else { 0.0 },
        reorder_by: Duration::from_millis(pick(rng, &[20, 60, 200, 500])),
        corrupt: if rng.chance(0.15) { 0.02 } else { 0.0 },
        mtu_bytes,
        ..LinkConditions::perfect()
    }
}

impl Plan {
    pub(crate) fn new(seed: u64, ticks: u64) -> Self {
        let mut rng = Rng::new(seed).fork(1);
        let clients = match rng.below(20) {
            0..11 => rng.range(1..4),
            11..18 => rng.range(4..9),
            _ => rng.range(9..17),
        } as usize;
        let objects = match rng.below(20) {
            0..12 => rng.range(0..12),
            12..18 => rng.range(12..40),
            _ => rng.range(40..101),
        } as usize;
        let losses = [0.0, 0.0, 0.01, 0.05, 0.2, 0.2, 0.5, 0.9];
        let loss = pick(&mut rng, &losses);
        let (down_loss, up_loss) = match rng.below(6) {
            0 => (0.0, loss),
            1 => (loss, 0.0),
            2 => (loss, pick(&mut rng, &losses)),
            _ => (loss, loss),
        };
        let mtu_bytes = pick(&mut rng, &[576, 800, 1_200, 1_200, 1_472]);
        let with_bursts = rng.chance(0.4);
        // Hoards, vaults and scrolls have separate random generators, so that seeds without them run as
        // before.
        let mut own = Rng::new(seed).fork(9);
        let mut switching = Rng::new(seed).fork(11);
        let vaults = if switching.chance(0.5) { switching.range(1..5) } else { 0 };
        let mut writing = Rng::new(seed).fork(35);
        let scrolls = if writing.chance(0.4) { writing.range(1..9) } else { 0 };
        let hoards = if own.chance(0.6) { own.range(1..5) } else { 0 };
        let mut plan = Self {
            seed,
            ticks,
            change_interval: 1,
            hz: 60,
            clients,
            objects,
            changes: pick(&mut rng, &[0.2, 1.0, 3.0, 8.0]),
            churn: pick(&mut rng, &[0.0, 0.02, 0.2]),
            view_flips: pick(&mut rng, &[0.0, 0.05, 0.3]),
            joins: pick(&mut rng, &[0.0, 0.005, 0.03]),
            weights: [
                rng.range(1..9),
                rng.below(6),
                rng.below(3),
                rng.below(6),
                hoards,
                vaults,
                0,
                0,
                0,
                scrolls,
            ],
            down: conditions(&mut rng, down_loss, mtu_bytes),
            up: conditions(&mut rng, up_loss, mtu_bytes),
            bursts: if with_bursts {
                (0..8).map(|_| pick(&mut rng, &[63, 64, 65, 256, 1_024])).collect()
            } else {
                vec![]
            },
            dead_links: pick(&mut rng, &[0.0, 0.0, 0.002, 0.01]),
            mtu_bytes,
            mixes_sizes: Rng::new(seed).fork(33).chance(0.5),
            share: rng.chance(0.8),
            congestion_control: CongestionControl::Paced,
            wakes_all: false,
            first_sequence: if rng.chance(0.3) { 65_535 - rng.below(100) } else { 0 },
            max_bytes_per_tick: if rng.chance(0.2) { rng.range(400..4_000) as usize } else { usize::MAX },
            max_packets_in_flight: if rng.chance(0.1) { rng.range(16..200) as usize } else { 1_024 },
            max_objects: 1_024,
            max_connection_bytes: 4 << 20,
            timeout: Duration::from_secs(900),
            talk: Talk::new(seed),
            whispers: Whispers::new(seed),
            extremes: Extremes::default(),
            lives: Lives::default(),
            short_lives: None,
            asset_arrivals: 0.0,
            host: None,
            connections_per_tick: usize::MAX,
            turn_ticks: 0,
            waits: None,
        };
        let has_waits = seed >= waits::FIRST_SEED;
        let has_enums = seed >= enums::FIRST_SEED && (!has_waits || seed.is_multiple_of(8));
        let has_assets = seed >= assets::FIRST_SEED && (!has_enums && !has_waits || seed.is_multiple_of(6));
        let has_host =
            seed >= host::FIRST_SEED && (!has_assets && !has_enums && !has_waits || seed.is_multiple_of(7));
        plan.host = has_host.then(|| HostPlan::draw(seed));
        let has_others = has_host || has_assets || has_enums || has_waits;
        let has_short_lives = seed >= short_lives::FIRST_SEED && (!has_others || seed.is_multiple_of(5));
        let is_special = has_short_lives || has_assets || has_enums || has_waits;
        let has_lives = seed >= Lives::FIRST_SEED && (!is_special || seed.is_multiple_of(3));
        if has_short_lives {
            ShortLives::draw(&mut plan);
        } else if seed >= Extremes::FIRST_SEED && (!has_lives || seed.is_multiple_of(4)) {
            Extremes::draw(&mut plan);
        }
        if has_lives {
            Lives::draw(&mut plan);
        }
        if seed >= regular_losses::FIRST_SEED && !is_special {
            regular_losses::draw(&mut plan);
        }
        if has_assets {
            assets::draw(&mut plan);
        }
        if has_enums {
            enums::draw(&mut plan);
        }
        if has_waits {
            Waits::draw(&mut plan);
        }
        plan.limit_bulk();
        plan
    }

    /// Allows no bulk messages if the links or the limits are bad, because a bulk message would need longer
    /// than the run.
    fn limit_bulk(&mut self) {
        let is_wide = self.loss() <= 0.2
            && self.max_bytes_per_tick >= 1_000
            && self.max_packets_in_flight >= 100
            && self.connections_per_tick == usize::MAX
            && self.waits.is_none();
        self.talk.iter_mut().for_each(|talk| talk.has_bulk &= is_wide);
    }

    /// Limits the loss of every direction to this value.
    pub(crate) fn cap_loss(&mut self, most: f64) {
        for link in [&mut self.down, &mut self.up] {
            link.loss = match link.loss {
                Loss::Independent(loss) => Loss::Independent(loss.min(most)),
                Loss::GilbertElliott { .. } | Loss::Regular { .. } => Loss::Independent(most),
                Loss::None => Loss::None,
            };
        }
    }

    /// Returns how long a number of ticks takes.
    pub(crate) fn time_of(&self, ticks: u32) -> Duration {
        Duration::from_secs(1) * ticks / self.hz
    }

    /// Returns the worst loss of a direction.
    pub(crate) fn loss(&self) -> f64 {
        let of = |conditions: &LinkConditions| match conditions.loss {
            Loss::None => 0.0,
            Loss::Independent(loss) => loss,
            Loss::GilbertElliott { good_to_bad, bad_to_good, .. } => {
                good_to_bad / (good_to_bad + bad_to_good)
            }
            Loss::Regular { period, lost } => lost.as_secs_f64() / period.as_secs_f64(),
        };
        of(&self.down).max(of(&self.up))
    }

    /// Returns the longest round trip that the links can have, plus the tick for which acks wait.
    pub(crate) fn round_trip(&self) -> Duration {
        let of = |link: &LinkConditions| {
            let late = if link.reorder > 0.0 { link.reorder_by } else { Duration::ZERO };
            link.latency + link.jitter + late
        };
        of(&self.down) + of(&self.up) + self.time_of(2 + self.turn_ticks)
    }

    /// Returns whether changes may wait to be sent although no packet is in flight.
    pub(crate) fn may_wait(&self) -> bool {
        self.lives.pauses + self.lives.budgets > 0.0 || self.turn_ticks > 0 || self.waits.is_some()
    }

    /// Returns whether deaf clients may receive old packets.
    fn is_misled(&self) -> bool {
        self.extremes.deaf > 0.0 && self.extremes.echoes > 0.0
    }

    /// Returns how long after the last change a client may lack something, without bursts. `measured` is the
    /// round trip that the server has measured by then. A deaf client receives only old packets that arrive
    /// again, so its acks can come seconds after their packets. Until newer acks come, the server waits as
    /// long before it counts a packet as lost (R9).
    pub(crate) fn patience(&self, measured: Duration) -> Duration {
        let measured = if self.is_misled() { measured } else { Duration::ZERO };
        let of_round_trips = self.round_trip().max(measured) * 10 + Duration::from_secs(2);
        let of_one =
            if self.loss() > 0.21 { of_round_trips.max(Duration::from_secs(60)) } else { of_round_trips };
        of_one * self.lives.steps()
    }

    /// Returns how long after the last message reliable messages may be missing, without bursts.
    ///
    /// A deaf client receives only old packets that arrive again. So the first round trip that the client
    /// measures can seem as long as the run until then. While there are few newer acks, the client notices a
    /// loss only after this time, and two losses in a row only after twice this time.
    ///
    /// A large message has arrived when its last part has arrived. At 90 % loss, one of twenty parts often
    /// needs more than fifty tries, each of which takes a round trip.
    pub(crate) fn patience_with_messages(&self, measured: Duration) -> Duration {
        let misled = if self.is_misled() { self.time_of(2 * self.ticks as u32) } else { Duration::ZERO };
        self.patience(measured).max(self.time_of_large_messages()) + misled
    }

    /// Returns how long after the last call reliable calls may be missing: a call waits for the ack of its
    /// object, and then it is a message.
    pub(crate) fn patience_with_calls(&self, measured: Duration) -> Duration {
        self.patience(measured) + self.patience_with_messages(measured)
    }

    pub(crate) fn has_signs(&self) -> bool {
        self.weights[SIGN] > 0
    }

    pub(crate) fn has_golems(&self) -> bool {
        self.weights[GOLEM] > 0
    }

    pub(crate) fn has_birds(&self) -> bool {
        self.weights[BIRD] > 0
    }

    /// Returns the time in which all parts of a large message arrive, except for one message in a thousand. A
    /// part is tried again each round trip. While no ack arrives, a packet with a few of the parts is sent
    /// every 250 ms (R9), until one of these packets and its ack have both arrived. If the bytes of a tick
    /// are limited, the messages that wait take twice the time in which they could be sent alone.
    fn time_of_large_messages(&self) -> Duration {
        let are_large = [self.talk.map(|talk| talk.is_large), self.whispers.map(|calls| calls.is_large)];
        if !are_large.contains(&Some(true)) {
            return Duration::ZERO;
        }
        let packet_bytes = if self.mixes_sizes { SIZES[0] } else { self.mtu_bytes };
        let parts = LARGEST_BYTES as f64 / packet_bytes as f64;
        let tries = (parts * 1_000.0).ln() / -self.loss().ln();
        let answered = (1.0 - self.loss()).powi(2);
        let probes = 1_000_f64.ln() / -(1.0 - answered).ln();
        let of_bytes = self.time_of(STORED_BYTES.div_ceil(self.max_bytes_per_tick) as u32 * 2);
        self.round_trip().mul_f64(tries) + PROBE.mul_f64(probes) + of_bytes + self.time_of_bulk()
    }

    /// Returns the time that two bulk chats and two bulk scores need. It is the sum of their time at ten
    /// packets in a round trip, and twice their time at the most bytes that a tick may send.
    fn time_of_bulk(&self) -> Duration {
        if !self.talk.is_some_and(|talk| talk.has_bulk) {
            return Duration::ZERO;
        }
        let bytes = 4 * BULK_BYTES;
        let round_trips = bytes.div_ceil(10 * self.mtu_bytes) as u32;
        self.round_trip() * round_trips + self.time_of(bytes.div_ceil(self.max_bytes_per_tick) as u32 * 2)
    }

    pub(crate) fn server(&self) -> ServerConfig {
        ServerConfig {
            mtu_bytes: self.mtu_bytes,
            timeout: self.timeout,
            max_packets_in_flight: self.max_packets_in_flight,
            max_bytes_per_tick: self.max_bytes_per_tick,
            connections_per_tick: self.connections_per_tick,
            max_objects: self.max_objects,
            max_connection_bytes: self.max_connection_bytes,
            share: self.share,
            measure: self.seed % 4 == 1,
            congestion_control: self.congestion_control,
            first_sequence: self.first_sequence,
            ..ServerConfig::default()
        }
    }

    /// Returns the size of the largest packet that the client with this number receives.
    pub(crate) fn client_bytes(&self, number: u32) -> usize {
        let mut rng = Rng::new(self.seed ^ u64::from(number) << 32).fork(34);
        if self.mixes_sizes { pick(&mut rng, &SIZES) } else { self.mtu_bytes }
    }

    pub(crate) fn client(&self, number: u32) -> ClientConfig {
        ClientConfig {
            mtu_bytes: self.client_bytes(number),
            timeout: self.timeout,
            max_objects: self.max_objects,
            measure: self.seed.is_multiple_of(4),
            first_sequence: self.first_sequence,
            ..ClientConfig::default()
        }
    }
}
