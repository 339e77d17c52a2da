//! Everything that a seed decides before its arrivals begin.
//!
//! *Invariant:* a plan is a pure function of its seed.

use std::time::Duration;

use repl::sim::{LinkConditions, Loss, Rng};
use repl::{ClientConfig, EndpointConfig, Login, ServerConfig};

use super::acts::{self, Act};
use super::flood::FloodPlan;
use super::odds::Odds;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// The mean time between two hellos, and between two hellos of a client that waits for its login.
const HELLO_INTERVAL: Duration = Duration::from_millis(100);
const WAIT_INTERVAL: Duration = Duration::from_millis(250);
/// The longest time until a client notices that its address has changed.
const SILENCE: Duration = SECOND;
/// The longest time between two attempts to connect again.
pub(super) const LONGEST_DELAY: Duration = Duration::from_secs(8);
/// The least and the longest time that a step of a handshake may take.
const STEP: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(60)];
/// No step of a planned handshake takes longer than this time.
const LONGEST_STEP: Duration = Duration::from_secs(55);
/// Links have regular losses only in runs with at least this many ticks per second.
const SLOWEST_REGULAR_HZ: u32 = 8;
/// The most ticks of a run, summed over its clients.
const MOST_CLIENT_TICKS: f64 = 3_000.0;

#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) seed: u64,
    /// When the run begins.
    pub(super) start: Duration,
    /// Ticks per second.
    pub(super) hz: u32,
    pub(super) up: LinkConditions,
    pub(super) down: LinkConditions,
    pub(super) odds: Odds,
    pub(super) login: Login,
    /// The longest time in which the application decides about a login.
    pub(super) decision: Duration,
    pub(super) server_timeout: Duration,
    pub(super) client_timeout: Duration,
    pub(super) limits: EndpointConfig,
    /// At first each place has a client.
    pub(super) places: u32,
    /// How many places share one host.
    pub(super) places_per_host: u32,
    /// The acts, with their times after the start.
    pub(super) acts: Vec<(Duration, Act)>,
    pub(super) flood: Option<FloodPlan>,
    /// The chance that a packet arrives again, and the longest delay of such a packet.
    pub(super) echoes: f64,
    pub(super) echo_delay: Duration,
    /// The chance in a tick that the attacker forges a packet.
    pub(super) forgeries: f64,
    /// The chance in a tick that the server changes its object.
    pub(super) changes: f64,
    /// How many messages each side sends in a second.
    pub(super) chatter: f64,
}

fn pick<T: Clone>(rng: &mut Rng, items: &[T]) -> T {
    rng.pick(items).expect("something to pick from").clone()
}

impl Plan {
    pub(super) fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed).fork(40);
        let rng = &mut rng;
        let round_trip_ms = match rng.below(20) {
            0..4 => 0,
            4..12 => rng.range(1..300),
            12..17 => rng.range(300..5_000),
            _ => rng.range(5_000..30_001),
        };
        let login = pick(rng, &[Login::Open, Login::Ask]);
        let places = match rng.below(4) {
            0 => 1,
            1..3 => rng.range(2..6) as u32,
            _ => rng.range(6..13) as u32,
        };
        let mut plan = Self {
            seed,
            start: SECOND * rng.range(50..1_000) as u32 + rng.duration(SECOND),
            hz: pick(rng, &[4, 8, 10, 16, 20, 30, 60, 64, 128]),
            up: LinkConditions::perfect(),
            down: LinkConditions::perfect(),
            odds: Odds::new(&LinkConditions::perfect(), &LinkConditions::perfect(), SECOND, SECOND),
            login,
            decision: if login == Login::Ask { rng.duration(SECOND * 2) } else { Duration::ZERO },
            server_timeout: SECOND,
            client_timeout: SECOND,
            limits: EndpointConfig::default(),
            places,
            places_per_host: pick(rng, &[1, 1, 3]),
            acts: Vec::new(),
            flood: None,
            echoes: pick(rng, &[0.0, 0.02, 0.2]),
            echo_delay: pick(rng, &[SECOND / 10, SECOND * 3, SECOND * 70]),
            forgeries: pick(rng, &[0.0, 0.1, 0.5]),
            changes: pick(rng, &[0.0, 0.05, 1.0]),
            chatter: pick(rng, &[0.0, 0.3, 3.0]),
        };
        plan.draw_links(rng, MS * round_trip_ms as u32);
        plan.draw_timeouts(rng);
        let span = plan.joins_within() * pick(rng, &[1, 1, 2]);
        plan.acts = acts::draw(rng, plan.places, span);
        plan.draw_limits(rng);
        plan
    }

    /// Chooses random links on which a step of a handshake takes no longer than a server allows.
    fn draw_links(&mut self, rng: &mut Rng, round_trip: Duration) {
        let is_wild = rng.chance(0.4);
        let jitters = [0.0, 0.0, 0.1, 0.5, 2.0];
        let uneven = pick(rng, &[0.5, 0.5, 0.1, 0.9]);
        let losses = [self.draw_loss(rng), self.draw_loss(rng)];
        let longest_period = if round_trip > SECOND { 16 } else { 64 };
        let parts = [uneven, 1.0 - uneven];
        let links = losses.into_iter().zip(parts).map(|(loss, part)| LinkConditions {
            latency: round_trip.mul_f64(part),
            jitter: (round_trip / 4).min(SECOND / 5).mul_f64(pick(rng, &jitters)),
            loss,
            duplicate: if is_wild { rng.unit() * 0.3 } else { 0.0 },
            reorder: if is_wild { rng.unit() * 0.3 } else { 0.0 },
            reorder_by: (round_trip / 2).min(SECOND / 2),
            ..LinkConditions::perfect()
        });
        let links: Vec<LinkConditions> = links.collect();
        [self.up, self.down] = [links[0], links[1]];
        loop {
            self.set_losses(&losses, longest_period);
            let client_ticks = self.step().as_secs_f64() * 12.0 * f64::from(self.hz * self.places);
            if self.step() > LONGEST_STEP {
                for link in [&mut self.up, &mut self.down] {
                    (link.latency, link.reorder_by) = (link.latency / 2, link.reorder_by / 2);
                }
            } else if client_ticks > MOST_CLIENT_TICKS && self.hz > 4 {
                self.hz = (self.hz / 2).max(4);
            } else if client_ticks > MOST_CLIENT_TICKS && self.places > 1 {
                self.places -= 1;
            } else {
                return;
            }
        }
    }

    /// Chooses a random loss. The period of a regular loss is a number of ticks: each nanosecond stands for
    /// one tick.
    fn draw_loss(&self, rng: &mut Rng) -> Loss {
        match rng.below(8) {
            0..3 => Loss::None,
            3..5 => Loss::Independent(pick(rng, &[0.01, 0.1, 0.3, 0.5])),
            5 => Loss::bursts(pick(rng, &[0.05, 0.2, 0.4]), pick(rng, &[2.0, 3.0])),
            _ => {
                let period = if rng.chance(0.5) { rng.range(2..9) } else { rng.range(2..65) };
                let lost = if rng.chance(0.5) { period / 2 } else { rng.range(1..period / 2 + 1) };
                Loss::Regular { period: Duration::from_nanos(period), lost: Duration::from_nanos(lost) }
            }
        }
    }

    /// Sets the losses of the links, converted to the present tick rate.
    fn set_losses(&mut self, losses: &[Loss; 2], longest_period: u32) {
        let tick = self.tick();
        let of = |loss| match loss {
            // On slow servers, a link that loses every second tick could lose all repetitions of a change for
            // a long time.
            Loss::Regular { .. } if self.hz < SLOWEST_REGULAR_HZ => Loss::None,
            Loss::Regular { period, lost } => {
                let period = (period.as_nanos() as u32).min(longest_period);
                let lost = (lost.as_nanos() as u32).min(period / 2);
                Loss::Regular { period: tick * period, lost: tick * lost }
            }
            other => other,
        };
        (self.up.loss, self.down.loss) = (of(losses[0]), of(losses[1]));
        self.odds = Odds::new(&self.up, &self.down, self.start, tick);
        if self.odds.answered < 0.15 {
            // With losses in this direction too, each answer could be lost, and no client could join.
            self.down.loss = Loss::None;
            self.odds = Odds::new(&self.up, &self.down, self.start, tick);
        }
    }

    fn draw_timeouts(&mut self, rng: &mut Rng) {
        let factors = [1.0, 1.05, 1.5, 4.0];
        let timeout = self.step().max(SECOND);
        let mut draw = || timeout.mul_f64(pick(rng, &factors)).min(timeout.max(Duration::from_secs(20)));
        (self.server_timeout, self.client_timeout) = (draw(), draw());
        self.server_timeout = self.server_timeout.max(self.step());
    }

    fn draw_limits(&mut self, rng: &mut Rng) {
        if rng.chance(0.3) {
            self.limits = EndpointConfig {
                max_connections: 40 + rng.below(200) as usize,
                max_per_origin: 16 + rng.below(40) as usize,
                max_half_open: 40 + rng.below(100) as usize,
                max_ended: 1 + rng.below(100) as usize,
            };
        }
        if rng.chance(0.4) {
            self.flood = Some(FloodPlan::draw(rng, self));
            self.limits.max_ended = pick(rng, &[1, 10, 100]);
        }
        if rng.chance(0.1) {
            // While the server remembers ended connections, it may have no free place for some clients.
            self.limits.max_connections = self.places as usize + 1;
            self.echo_delay = self.echo_delay.min(SECOND * 3);
        }
    }

    pub(super) fn tick(&self) -> Duration {
        SECOND / self.hz
    }

    /// Returns the longest round trip, plus the ticks for which packets wait at both ends.
    pub(super) fn round_trip(&self) -> Duration {
        let of = |link: &LinkConditions| {
            let late = if link.reorder > 0.0 { link.reorder_by } else { Duration::ZERO };
            link.latency + link.jitter + late
        };
        of(&self.up) + of(&self.down) + self.tick() * 3
    }

    /// Returns the time in which a step of a handshake succeeds, even if all its tries except the last one
    /// are lost. It is the sum of the round trip, the longest outage, the number of tries times the mean
    /// interval, and one more interval, which may be one and a half times as long.
    pub(super) fn step(&self) -> Duration {
        let interval = if self.login == Login::Ask { WAIT_INTERVAL } else { HELLO_INTERVAL };
        let interval = interval.max(self.tick()) + self.tick() / 2;
        self.round_trip() + self.odds.outage + interval.mul_f64(self.odds.tries()) + WAIT_INTERVAL * 3 / 2
    }

    /// Returns the time in which a client joins without disturbances: one step each for the cookie, the
    /// welcome, the proof and the state, plus the decision about the login.
    pub(super) fn joins_within(&self) -> Duration {
        self.step() * 4 + self.decision + SECOND
    }

    /// Returns the time within which a client is connected after a disturbance. Either it is still in its
    /// session, or it must notice the end of the session and wait before it connects again.
    pub(super) fn recovers_within(&self) -> Duration {
        let timeout = self.client_timeout.max(self.server_timeout);
        timeout + self.step() * 2 + LONGEST_DELAY + self.joins_within()
    }

    /// Returns the time within which the server knows the new address of a client that has moved.
    pub(super) fn moves_within(&self) -> Duration {
        let timeout = self.client_timeout.min(self.server_timeout);
        SILENCE.max(timeout / 10).min(timeout / 4) + self.step() * 2
    }

    /// Returns the time after the last change within which all clients have the server's values and all
    /// messages. A part that is lost is sent again after about a round trip.
    pub(super) fn converges_within(&self) -> Duration {
        self.step() + self.round_trip().mul_f64(self.odds.tries().max(10.0)) + SECOND * 2
    }

    /// Returns how long the server remembers a connection that nobody ends.
    pub(super) fn forgets_within(&self) -> Duration {
        let step = self.server_timeout.clamp(STEP[0], STEP[1]);
        self.server_timeout + step + self.server_timeout.max(step * 2) + SECOND + self.decision
    }

    /// Returns when the last act happens and the flood ends.
    pub(super) fn last_act(&self) -> Duration {
        let acts = self.acts.last().map_or(Duration::ZERO, |(at, _)| *at);
        let flood = self.flood.as_ref().map_or(Duration::ZERO, |flood| flood.start + flood.lasts);
        self.start + acts.max(flood)
    }

    /// Returns whether strangers or other clients may occupy the places of honest clients.
    pub(super) fn is_crowded(&self) -> bool {
        self.limits.max_connections <= self.places as usize + 1
            || self.flood.as_ref().is_some_and(|flood| flood.takes_all(self))
    }

    pub(super) fn server(&self) -> ServerConfig {
        ServerConfig {
            timeout: self.server_timeout,
            login: self.login,
            max_objects: 16,
            login_timeout: self.decision + SECOND * 2,
            ..ServerConfig::default()
        }
    }

    pub(super) fn client(&self) -> ClientConfig {
        ClientConfig { timeout: self.client_timeout, max_objects: 16, ..ClientConfig::default() }
    }
}
