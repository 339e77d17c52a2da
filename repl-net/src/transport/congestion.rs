//! Congestion control: limits how fast a connection sends. Acks show how fast packets arrive at the client.
//!
//! The controller follows BBR (Cardwell and others, *BBR: Congestion-Based Congestion Control*, 2016;
//! draft-ietf-ccwg-bbr). The controller measures the rate at which packets arrive, and the shortest round
//! trip. The server sends at that rate, and keeps at most about twice the product of rate and round trip in
//! flight. A loss alone does not count as congestion, because the links of games lose packets at random. So
//! the controller does not react to loss as the third version of BBR does. Rates are measured as in
//! draft-cheng-iccrg-delivery-rate-estimation, once for all packets of a tick.
//!
//! *Invariant:* the controller reads no clock, and the same calls lead to the same limits.

use std::collections::VecDeque;
use std::time::Duration;

use super::sequence::{Sequence, WINDOW};
use super::spare::shrink_sparse;
use super::trial::{Link as TriedLink, Trial};

/// How many packets may be in flight before anything has been measured (RFC 6928). Later, at least this
/// number of packets may be in flight as long as acks arrive.
const INITIAL_PACKETS: u64 = 10;
/// A link is bad if at most this many of a thousand packets arrive. On a bad link only few packets arrive, so
/// [`BAD_GAIN`] times as many packets may always be in flight. A link that can carry the usual minimum counts
/// as bad only for a short time: it delivers a quarter of four times the minimum.
const BAD_SHARE: u64 = 250;
const BAD_GAIN: u64 = 4;
/// The packets of the minimum window are spread over at least this time, because a round trip may be far
/// shorter.
const LEAST_SPREAD: Duration = Duration::from_millis(100);
/// How many packets may be sent at the same time if the link is full or may be full.
const PACKETS_AT_ONCE: u64 = 2;
/// If at least this many of a thousand packets arrive, the link may be able to carry more than it is sent.
const GOOD_SHARE: u64 = 850;
/// If fewer than this many of a thousand packets arrive, a trial tests whether a lower rate is enough.
const TRIAL_SHARE: u64 = 700;
/// The share of packets that arrive is a mean over about this many packets.
const SHARE_PACKETS: u64 = 32;
/// How many packets may be in flight on a link that does not answer (R26).
const PROBE_PACKETS: u64 = 2;
/// A link counts as silent after this many tries without an ack. If nine of ten packets are lost in both
/// directions, a few tries without an ack are usual.
const SILENT_TRIES: u32 = 6;
/// Two gains in thousandths. With the first gain, 2 / ln 2, the delivered amount doubles in each round trip.
/// The second gain is the inverse of the first, and drains the queue that the first gain has filled.
const STARTUP_GAIN: u64 = 2_885;
const DRAIN_GAIN: u64 = 347;
/// Gains in thousandths, each for one round trip. The first gain looks for a higher rate, the second gain
/// drains the queue that the first has filled, and the others keep the rate.
const CYCLE: [u64; 8] = [1_250, 750, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000];
const WINDOW_GAIN: u64 = 2_000;
/// Over how many round trips the greatest rate is measured.
const RATE_ROUNDS: usize = 10;
/// The link counts as full if the rate grew by less than a quarter in this many round trips in a row.
const FULL_ROUNDS: u32 = 3;
/// How much may be in flight while the shortest round trip is measured: this many thousandths of the product
/// of rate and round trip, and at least [`PROBE_TRIP_PACKETS`]. The measurement lasts at least
/// [`PROBE_TRIP_TIME`].
const PROBE_TRIP_GAIN: u64 = 500;
const PROBE_TRIP_PACKETS: u64 = 4;
const PROBE_TRIP_TIME: Duration = Duration::from_millis(200);
/// How often a link that does not answer is retried (R9).
const RETRY_INTERVAL: Duration = Duration::from_millis(250);
/// For how long the shortest round trip counts: at least this time, and at most twice this time.
const SHORTEST_SPAN: Duration = Duration::from_secs(5);
/// The assumed length of a tick before two ticks have passed, and the longest length that is assumed later.
const TICK: Duration = Duration::from_millis(16);
const LONGEST_TICK: Duration = Duration::from_millis(250);

/// The phase of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Doubles the rate in each round trip.
    Startup,
    /// Drains the queue of the startup.
    Drain,
    /// Repeats the gains of [`CYCLE`]. `place` is the index of the current gain, used since the time `since`.
    Cruise { place: usize, since: Duration },
    /// Sends little since this time, so that the queue drains and the shortest round trip can be measured.
    /// `found` is the shortest round trip of packets that were sent in this phase. Only little was in flight
    /// when these packets were sent.
    ProbeRoundTrip { since: Duration, found: Option<Duration> },
}

/// The packets of one tick: when they were sent, and the state of the connection at that time.
#[derive(Clone, Copy, Debug)]
struct Flight {
    first: Sequence,
    sent_at: Duration,
    /// How many bytes had arrived at that time, and when the last of them had arrived.
    delivered: u64,
    delivered_at: Duration,
    /// When the newest packets that had arrived were sent.
    last_flight_at: Duration,
    /// Whether there was nothing more to send.
    is_idle: bool,
}

/// The congestion control of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    packet_bytes: u64,
    phase: Phase,
    /// The greatest rate of each of the last rounds, in bytes a second. A round lasts about one round trip.
    rates: [u64; RATE_ROUNDS],
    round: usize,
    /// The current round ends when a packet arrives that was sent after this many bytes had been delivered.
    round_ends: u64,
    full_rate: u64,
    full_rounds: u32,
    /// The shortest round trip of the current span of time and of the previous one.
    shortest: [Option<Duration>; 2],
    span_since: Duration,
    /// Whether there was nothing to send at some time in this span. In that case no queue in the link has
    /// lasted for the whole span.
    was_idle: bool,
    in_flight: u64,
    delivered: u64,
    delivered_at: Duration,
    last_flight_at: Duration,
    flights: VecDeque<Flight>,
    /// How many of a million packets have arrived recently.
    share: u64,
    /// How many bytes may be sent in this pass.
    credit: u64,
    last_pass: Option<Duration>,
    tick: Duration,
    /// How many tries in a row have brought no new ack. At most one try is counted in each retry interval.
    silent_tries: u32,
    last_try: Duration,
    /// The number of timeouts in a row when tries were counted last.
    timeouts: u32,
    /// Whether the last pass had more to send than the limits allowed.
    was_short: bool,
    /// Tests whether a rate below the minimum would deliver as much.
    trial: Trial,
    /// The number of the next packet.
    next: Sequence,
}

impl Congestion {
    /// Returns the controller of a connection whose packets have at most `packet_bytes` bytes.
    pub(crate) fn new(packet_bytes: usize) -> Self {
        let packet_bytes = packet_bytes as u64;
        Self {
            packet_bytes,
            phase: Phase::Startup,
            rates: [0; RATE_ROUNDS],
            round: 0,
            round_ends: 0,
            full_rate: 0,
            full_rounds: 0,
            shortest: [None; 2],
            span_since: Duration::ZERO,
            was_idle: false,
            in_flight: 0,
            delivered: 0,
            delivered_at: Duration::ZERO,
            last_flight_at: Duration::ZERO,
            flights: VecDeque::new(),
            share: 1_000_000,
            credit: packet_bytes * INITIAL_PACKETS,
            last_pass: None,
            tick: TICK,
            silent_tries: 0,
            last_try: Duration::ZERO,
            timeouts: 0,
            was_short: false,
            trial: Trial::new(),
            next: Sequence::default(),
        }
    }

    /// Begins the packets of a tick. `timeouts` is the number of timeouts in a row without an ack.
    pub(crate) fn begin_pass(&mut self, now: Duration, timeouts: u32) {
        let elapsed = self.last_pass.map_or(TICK, |last| now.saturating_sub(last)).min(LONGEST_TICK);
        self.last_pass = Some(now);
        self.count_tries(now, timeouts);
        if !elapsed.is_zero() {
            self.tick = elapsed;
        }
        self.advance(now);
        self.try_lower_rate(now);
        if self.silent_tries > 1 {
            let earned = u128::from(self.window()) * elapsed.as_nanos() / RETRY_INTERVAL.as_nanos();
            self.credit =
                self.credit.saturating_add(u64::try_from(earned).unwrap_or(u64::MAX)).min(self.window());
            return;
        }
        // Unused credit is limited, so that no burst overflows a short queue.
        let at_once =
            if self.trial.is_limit() { self.packet_bytes * PACKETS_AT_ONCE } else { self.least_window() };
        let most = at_once.max(bytes_in(self.pacing_rate(), self.tick * 2));
        self.credit = (self.credit + bytes_in(self.pacing_rate(), elapsed)).min(most);
    }

    /// Counts the tries without an ack. The packets of every tick have their own timeout, so several timeouts
    /// can belong to one try.
    fn count_tries(&mut self, now: Duration, timeouts: u32) {
        if timeouts == 0 {
            (self.silent_tries, self.timeouts) = (0, 0);
        } else if timeouts > self.timeouts && now.saturating_sub(self.last_try) >= RETRY_INTERVAL {
            (self.silent_tries, self.last_try) = (self.silent_tries.saturating_add(1), now);
            self.timeouts = timeouts;
        }
    }

    /// Ends the packets of a tick. `is_short` says whether there was more to send than the limits allowed.
    pub(crate) fn end_pass(&mut self, now: Duration, is_short: bool) {
        self.was_short = is_short;
        if let Some(flight) = self.flights.back_mut()
            && flight.sent_at == now
        {
            flight.is_idle = !is_short;
            self.was_idle |= !is_short;
        }
    }

    /// Returns whether the last pass had more to send than the limits allowed.
    pub(crate) const fn was_short(&self) -> bool {
        self.was_short
    }

    /// Returns whether one more packet may be sent.
    pub(crate) fn has_room(&self) -> bool {
        self.credit >= self.packet_bytes && self.in_flight + self.packet_bytes <= self.window()
    }

    /// Records that a packet was sent whose ack is expected.
    pub(crate) fn sent(&mut self, sequence: Sequence, bytes: usize, now: Duration) {
        if self.in_flight == 0 {
            (self.delivered_at, self.last_flight_at) = (now, now);
        }
        self.in_flight += bytes as u64;
        self.next = sequence.next();
        self.trial.sent(bytes as u64);
        self.credit = self.credit.saturating_sub(bytes as u64);
        if self.flights.back().is_none_or(|flight| flight.sent_at < now) {
            if self.flights.len() >= WINDOW as usize {
                self.flights.pop_front();
            }
            self.flights.push_back(Flight {
                first: sequence,
                sent_at: now,
                delivered: self.delivered,
                delivered_at: self.delivered_at,
                last_flight_at: self.last_flight_at,
                is_idle: false,
            });
        }
    }

    /// Records that a packet has arrived.
    pub(crate) fn arrived(&mut self, sequence: Sequence, bytes: usize) {
        self.trial.resolved(sequence, bytes as u64, true);
        self.in_flight = self.in_flight.saturating_sub(bytes as u64);
        self.delivered += bytes as u64;
        self.count_share(1_000_000);
    }

    /// Records that a packet was given up.
    pub(crate) fn lost(&mut self, sequence: Sequence, bytes: usize) {
        self.trial.resolved(sequence, bytes as u64, false);
        self.in_flight = self.in_flight.saturating_sub(bytes as u64);
        self.count_share(0);
    }

    fn count_share(&mut self, sample: u64) {
        self.share = (self.share * (SHARE_PACKETS - 1) + sample) / SHARE_PACKETS;
    }

    /// Ends the processing of an ack. `newest` is the newest packet that the ack contains.
    pub(crate) fn acked(&mut self, newest: Sequence, now: Duration) {
        let known = self.flights.partition_point(|flight| flight.first <= newest);
        let Some(flight) = known.checked_sub(1).and_then(|at| self.flights.get(at)).copied() else { return };
        self.flights.drain(..known);
        self.silent_tries = 0;
        self.last_try = now;
        self.observe(now.saturating_sub(flight.sent_at), now);
        let acking = now.saturating_sub(flight.delivered_at);
        let sending = flight.sent_at.saturating_sub(flight.last_flight_at);
        (self.delivered_at, self.last_flight_at) = (now, flight.sent_at);
        // The client sends acks once in a tick, so a shorter interval measures nothing.
        let interval = acking.max(sending).max(self.tick);
        let delivered = self.delivered.saturating_sub(flight.delivered);
        let rate = u64::try_from(u128::from(delivered) * 1_000_000_000 / interval.as_nanos().max(1));
        // If many packets are lost, more is sent than arrives, even when there is nothing more to send.
        let is_idle = flight.is_idle && self.share >= GOOD_SHARE * 1_000;
        self.measured(rate.unwrap_or(u64::MAX), flight.delivered, is_idle);
    }

    /// Adds a measured rate. The rate belongs to packets that were sent when `delivered` bytes had arrived.
    /// If there was nothing more to send, the link may be faster than this rate.
    fn measured(&mut self, rate: u64, delivered: u64, is_idle: bool) {
        if delivered >= self.round_ends && !is_idle {
            self.round_ends = self.delivered;
            self.check_full();
            self.round = (self.round + 1) % RATE_ROUNDS;
            self.rates[self.round] = 0;
        }
        if !is_idle || rate > self.rate() {
            self.rates[self.round] = self.rates[self.round].max(rate);
        }
    }

    fn check_full(&mut self) {
        if self.phase != Phase::Startup {
            return;
        }
        if self.rate() >= self.full_rate + self.full_rate / 4 {
            (self.full_rate, self.full_rounds) = (self.rate(), 0);
        } else {
            self.full_rounds += 1;
            if self.full_rounds >= FULL_ROUNDS {
                self.phase = Phase::Drain;
            }
        }
    }

    /// Adds a measured round trip.
    fn observe(&mut self, round_trip: Duration, now: Duration) {
        let is_over = now.saturating_sub(self.span_since) >= SHORTEST_SPAN;
        match &mut self.phase {
            Phase::ProbeRoundTrip { since, found } if now >= *since + round_trip => {
                *found = Some(found.map_or(round_trip, |found| found.min(round_trip)));
            }
            Phase::ProbeRoundTrip { .. } => {}
            Phase::Cruise { .. } if is_over && !self.was_idle && !self.trial.is_running() => {
                self.phase = Phase::ProbeRoundTrip { since: now, found: None };
            }
            // No queue lasted for the whole span, or the controller does not cruise.
            _ if is_over => self.end_span(self.shortest[0], now),
            _ => {}
        }
        let shortest = &mut self.shortest[0];
        *shortest = Some(shortest.map_or(round_trip, |shortest| shortest.min(round_trip)));
    }

    /// Ends a span of time in which the shortest round trip was measured. `found` is the shortest round trip
    /// without a queue in the link, if it is known. If the round trip has become so long that the window was
    /// too small for the link, the controller starts up again.
    fn end_span(&mut self, found: Option<Duration>, now: Duration) {
        let is_longer = found.is_some_and(|found| found > (self.shortest() + self.tick) * 2);
        self.shortest = [None, if is_longer { found } else { self.shortest[0] }];
        (self.span_since, self.was_idle) = (now, false);
        match self.phase {
            Phase::Cruise { .. } | Phase::ProbeRoundTrip { .. } if is_longer && !self.trial.is_running() => {
                (self.phase, self.full_rate, self.full_rounds) = (Phase::Startup, 0, 0);
                // The greatest rate may have been measured before the link changed. With the longer round
                // trip it would fill a long queue.
                let newest = self.rates[self.round];
                self.rates = [0; RATE_ROUNDS];
                self.rates[self.round] = newest;
            }
            Phase::ProbeRoundTrip { .. } => self.phase = Phase::Cruise { place: 2, since: now },
            _ => {}
        }
    }

    /// Moves to the next phase if it is time.
    fn advance(&mut self, now: Duration) {
        match self.phase {
            Phase::Drain if self.in_flight <= self.product().max(self.packet_bytes) => {
                self.phase = Phase::Cruise { place: 2, since: now };
            }
            Phase::Cruise { place, since } if now.saturating_sub(since) >= self.shortest().max(self.tick) => {
                self.phase = Phase::Cruise { place: (place + 1) % CYCLE.len(), since: now };
            }
            // A link that does not answer needs more than a few packets.
            Phase::ProbeRoundTrip { .. } if self.silent_tries > 0 => self.end_span(None, now),
            Phase::ProbeRoundTrip { since, found: Some(found) }
                if now.saturating_sub(since) >= PROBE_TRIP_TIME =>
            {
                self.end_span(Some(found), now);
            }
            _ => {}
        }
    }

    /// Returns the rate at which packets arrive, in bytes a second. Zero before the first measurement.
    pub(crate) fn rate(&self) -> u64 {
        self.rates.iter().copied().max().unwrap_or(0)
    }

    /// Returns the shortest round trip. Zero before the first measurement.
    fn shortest(&self) -> Duration {
        self.shortest.iter().flatten().min().copied().unwrap_or(Duration::ZERO)
    }

    /// Returns how many bytes are in flight if the connection sends at the measured rate and nothing waits in
    /// a queue. The result includes one tick, because acks wait for the client's tick and packets for the
    /// server's.
    fn product(&self) -> u64 {
        bytes_in(self.rate(), self.shortest() + self.tick)
    }

    /// Returns whether an ack arrived recently.
    fn has_recent_ack(&self) -> bool {
        self.shortest.iter().any(Option::is_some)
    }

    fn least_window(&self) -> u64 {
        let is_bad = self.has_recent_ack() && self.share < BAD_SHARE * 1_000;
        self.packet_bytes * INITIAL_PACKETS * if is_bad { BAD_GAIN } else { 1 }
    }

    /// Returns how many bytes may be in flight.
    pub(crate) fn window(&self) -> u64 {
        let gain = match self.phase {
            Phase::Startup => STARTUP_GAIN,
            Phase::ProbeRoundTrip { .. } => {
                return scaled(self.product(), PROBE_TRIP_GAIN).max(self.packet_bytes * PROBE_TRIP_PACKETS);
            }
            Phase::Drain | Phase::Cruise { .. } => WINDOW_GAIN,
        };
        let window =
            (scaled(self.product(), gain) + bytes_in(self.rate(), self.tick)).max(self.least_window());
        if self.silent_tries >= SILENT_TRIES {
            return self.packet_bytes * PROBE_PACKETS;
        }
        // From the second try on, each try halves the window. But the window stays large enough for the
        // retries of R9.
        let halvings = self.silent_tries.saturating_sub(1);
        window.checked_shr(halvings).unwrap_or(0).max(self.least_window())
    }

    fn pacing_rate(&self) -> u64 {
        let gain = match self.phase {
            Phase::Startup => STARTUP_GAIN,
            Phase::Drain => DRAIN_GAIN,
            Phase::Cruise { place, .. } => CYCLE[place],
            Phase::ProbeRoundTrip { .. } => 1_000,
        };
        scaled(self.rate(), gain).max(self.trial.rate(self.least_rate()))
    }

    /// Returns the rate that sends the minimum window in a round trip, or in [`LEAST_SPREAD`] if that is
    /// longer, in bytes a second.
    fn least_rate(&self) -> u64 {
        let time = (self.shortest() + self.tick).max(LEAST_SPREAD).as_nanos().max(1);
        let rate = u64::try_from(u128::from(self.least_window()) * 1_000_000_000 / time);
        rate.unwrap_or(u64::MAX)
    }

    /// If many packets are lost at the minimum rate, runs a trial: would a lower rate deliver as much?
    fn try_lower_rate(&mut self, now: Duration) {
        if self.silent_tries >= SILENT_TRIES {
            self.trial.give_up();
            return;
        }
        let greatest_rate = self.least_rate();
        let is_lossy = self.has_recent_ack() && self.share < TRIAL_SHARE * 1_000;
        let is_wanted = is_lossy && self.trial.rate(greatest_rate) > self.rate();
        let round_trip = self.shortest() + self.tick;
        let link = TriedLink { packet_bytes: self.packet_bytes, round_trip, greatest_rate };
        self.trial.advance(now, is_wanted, link, self.next);
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        shrink_sparse(&mut self.flights);
    }
}

/// Returns how many bytes are sent at this rate in this time.
fn bytes_in(rate: u64, time: Duration) -> u64 {
    u64::try_from(u128::from(rate) * time.as_nanos() / 1_000_000_000).unwrap_or(u64::MAX)
}

fn scaled(bytes: u64, gain: u64) -> u64 {
    bytes.saturating_mul(gain) / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: usize = 1_200;
    const STEP: Duration = Duration::from_millis(16);

    /// A simulated link: it has a rate in bytes a second, a queue and a fixed delay, and sends acks once in a
    /// tick.
    struct Link {
        congestion: Congestion,
        rate: u64,
        delay: Duration,
        now: Duration,
        idle_at: Duration,
        number: u64,
        /// The number of each packet, and when its ack arrives.
        acks: VecDeque<(u64, Duration)>,
        longest_queue: Duration,
        loss_of: u64,
        sent: u64,
        delivered: u64,
    }

    impl Link {
        fn new(rate: u64, delay: Duration) -> Self {
            let congestion = Congestion::new(PACKET);
            let (now, idle_at, longest_queue) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
            let acks = VecDeque::new();
            Self {
                congestion,
                rate,
                delay,
                now,
                idle_at,
                number: 0,
                acks,
                longest_queue,
                loss_of: 0,
                sent: 0,
                delivered: 0,
            }
        }

        fn run(&mut self, ticks: std::ops::Range<u32>, wanted: usize) {
            for _ in ticks {
                self.step(wanted);
            }
        }

        /// Advances the time by the wait before a retry after this many timeouts.
        fn wait(&mut self, timeouts: u32) {
            for _ in 0..16 {
                self.now += STEP;
                self.congestion.begin_pass(self.now, timeouts);
            }
        }

        /// Runs one tick with at most `wanted` packets to send. Returns how many packets were sent.
        fn step(&mut self, wanted: usize) -> usize {
            self.now += STEP;
            let mut newest = None;
            while self.acks.front().is_some_and(|(_, at)| *at <= self.now) {
                let Some((number, _)) = self.acks.pop_front() else { break };
                if self.loss_of > 0 && number % self.loss_of == 0 {
                    self.congestion.lost(Sequence::new(number), PACKET);
                } else {
                    self.congestion.arrived(Sequence::new(number), PACKET);
                    self.delivered += PACKET as u64;
                    newest = Some(Sequence::new(number));
                }
            }
            if let Some(newest) = newest {
                self.congestion.acked(newest, self.now);
            }
            self.congestion.begin_pass(self.now, 0);
            let mut sent = 0;
            while sent < wanted && self.congestion.has_room() {
                self.congestion.sent(Sequence::new(self.number), PACKET, self.now);
                self.idle_at = self.idle_at.max(self.now)
                    + Duration::from_nanos(PACKET as u64 * 1_000_000_000 / self.rate);
                self.longest_queue = self.longest_queue.max(self.idle_at - self.now);
                self.acks.push_back((self.number, self.idle_at + self.delay));
                (self.number, sent) = (self.number + 1, sent + 1);
            }
            self.sent += (sent * PACKET) as u64;
            self.congestion.end_pass(self.now, sent < wanted);
            sent
        }
    }

    #[test]
    fn the_first_flight_has_ten_packets() {
        assert_eq!(Link::new(1_000_000, Duration::from_millis(100)).step(100), 10);
    }

    #[test]
    fn a_link_is_filled_and_its_queue_kept_short() {
        for (rate, delay) in [(200_000, 100), (1_000_000, 40), (5_000_000, 2), (1_000_000, 200)] {
            let mut link = Link::new(rate, Duration::from_millis(delay));
            link.run(0..300, 1_000);
            let (before, steps) = (link.delivered, 600);
            link.longest_queue = Duration::ZERO;
            link.run(0..steps, 1_000);
            let could = bytes_in(rate, STEP * steps);
            let delivered = link.delivered - before;
            assert!(delivered > could * 8 / 10, "{delivered} of {could} bytes at {rate}");
            let round_trip = Duration::from_millis(delay) + STEP;
            assert!(
                link.longest_queue < round_trip * 3 + STEP * 2,
                "a queue of {:?} at {rate}",
                link.longest_queue
            );
        }
    }

    #[test]
    fn a_fast_link_is_filled_within_a_second() {
        let mut link = Link::new(100_000_000, Duration::from_millis(1));
        link.run(0..60, 10_000);
        assert!(link.congestion.rate() > 50_000_000, "{}", link.congestion.rate());
    }

    #[test]
    fn losses_at_random_do_not_slow_a_link_down() {
        let mut link = Link::new(500_000, Duration::from_millis(60));
        link.loss_of = 5;
        link.run(0..900, 1_000);
        let could = bytes_in(500_000, link.now);
        assert!(link.delivered > could / 2, "{} of {could} bytes", link.delivered);
    }

    /// Links that were used for a while when something changes: at several times between two measurements of
    /// the shortest round trip.
    fn used_links(rate: u64, delay: Duration) -> impl Iterator<Item = Link> {
        (375..720).step_by(23).map(move |steps| {
            let mut link = Link::new(rate, delay);
            link.run(0..steps, 1_000);
            link
        })
    }

    #[test]
    fn a_link_whose_round_trip_becomes_longer_is_filled_again() {
        let rate = 1_000_000;
        // There is always more to send than the link can carry, or there is less once in a while.
        for pause in [u32::MAX, 50, 200] {
            for mut link in used_links(rate, Duration::from_millis(20)) {
                link.delay = Duration::from_millis(300);
                let mut run = |steps: u32| {
                    let before = link.delivered;
                    (1..=steps).for_each(|step| _ = link.step(if step % pause == 0 { 1 } else { 1_000 }));
                    link.delivered - before
                };
                run(750);
                let (delivered, could) = (run(600), bytes_in(rate, STEP * 600));
                assert!(delivered > could * 8 / 10, "{delivered} of {could} bytes, pause {pause}");
            }
        }
    }

    #[test]
    fn the_queue_of_a_link_that_becomes_narrower_is_drained() {
        for rate in [300_000, 200_000, 100_000] {
            for mut link in used_links(1_000_000, Duration::from_millis(20)) {
                link.rate = rate;
                link.run(0..500, 1_000);
                link.longest_queue = Duration::ZERO;
                link.run(0..1_500, 1_000);
                let queue = link.longest_queue;
                assert!(queue < Duration::from_millis(500), "a queue of {queue:?} at {rate}");
            }
        }
    }

    #[test]
    fn little_to_send_does_not_lower_what_is_known() {
        let mut link = Link::new(1_000_000, Duration::from_millis(40));
        link.run(0..300, 1_000);
        let known = link.congestion.rate();
        link.run(0..1_000, 1);
        assert!(link.congestion.rate() >= known, "{} after {known}", link.congestion.rate());
    }

    #[test]
    fn r26_a_silent_link_is_probed_and_comes_back_whole() {
        let mut link = Link::new(1_000_000, Duration::from_millis(40));
        link.run(0..300, 1_000);
        let window = link.congestion.window();
        let mut windows = Vec::new();
        for timeouts in 0..80 {
            link.wait(timeouts);
            windows.push(link.congestion.window());
        }
        assert_eq!(windows[..2], [window; 2]);
        assert!(windows.is_sorted_by(|one, next| one >= next));
        assert_eq!(windows[79], 2 * PACKET as u64);
        link.congestion.begin_pass(link.now, 0);
        assert_eq!(link.congestion.window(), window);
    }

    #[test]
    fn r26_a_link_that_goes_silent_while_its_round_trip_is_measured_is_probed() {
        let mut link = Link::new(1_000_000, Duration::from_millis(40));
        while !matches!(link.congestion.phase, Phase::ProbeRoundTrip { .. }) {
            link.step(1_000);
        }
        (1..20).for_each(|timeouts| link.wait(timeouts));
        assert_eq!(link.congestion.window(), PROBE_PACKETS * PACKET as u64);
    }

    #[test]
    fn r09_timeouts_of_the_packets_of_each_tick_count_as_one_try() {
        let mut link = Link::new(1_000_000, Duration::from_millis(40));
        link.run(0..300, 1_000);
        let window = link.congestion.window();
        for timeouts in 1..15 {
            link.now += STEP;
            link.congestion.begin_pass(link.now, timeouts);
            assert_eq!(link.congestion.window(), window);
        }
        // An ack of a packet that counted as lost ends the silence, even though it does not change the number
        // of timeouts.
        for timeouts in 15..25 {
            link.wait(timeouts);
        }
        assert_eq!(link.congestion.window(), PROBE_PACKETS * PACKET as u64);
        link.congestion.acked(Sequence::new(link.number - 1), link.now);
        link.congestion.begin_pass(link.now, 25);
        assert!(link.congestion.window() > PROBE_PACKETS * PACKET as u64);
    }

    #[test]
    fn r09_where_nine_of_ten_are_lost_and_acks_come_more_than_the_usual_least_may_be_in_flight() {
        let mut congestion = Congestion::new(PACKET);
        let least = congestion.least_window();
        (0..100).for_each(|_| congestion.lost(Sequence::new(0), PACKET));
        assert_eq!(congestion.least_window(), least, "nobody was heard");
        congestion.sent(Sequence::new(0), PACKET, Duration::ZERO);
        congestion.acked(Sequence::new(0), STEP);
        assert_eq!(congestion.least_window(), least * BAD_GAIN);
        (0..SHARE_PACKETS).for_each(|_| congestion.arrived(Sequence::new(0), PACKET));
        assert_eq!(congestion.least_window(), least);
    }

    #[test]
    fn a_link_that_becomes_slower_is_known_to_be_slower() {
        let mut link = Link::new(1_000_000, Duration::from_millis(40));
        link.run(0..300, 1_000);
        assert!(link.congestion.rate() > 800_000, "{}", link.congestion.rate());
        link.rate = 500_000;
        link.run(0..600, 1_000);
        assert!(link.congestion.rate() < 600_000, "{}", link.congestion.rate());
    }

    /// Returns in how many of 1,000 ticks the controller was measuring the shortest round trip, and the least
    /// that was in flight in these ticks.
    fn probed(link: &mut Link, wanted: usize) -> (u32, u64) {
        let (mut ticks, mut least) = (0, u64::MAX);
        for _ in 0..1_000 {
            link.step(wanted);
            if let Phase::ProbeRoundTrip { .. } = link.congestion.phase {
                (ticks, least) = (ticks + 1, least.min(link.congestion.in_flight));
            }
        }
        (ticks, least)
    }

    #[test]
    fn a_busy_link_is_drained_to_measure_its_round_trip_and_an_idle_link_is_not() {
        let mut link = Link::new(1_000_000, Duration::from_millis(100));
        link.run(0..300, 1_000);
        let product = link.congestion.product();
        let (ticks, least) = probed(&mut link, 1_000);
        assert!((20..150).contains(&ticks), "{ticks} of 1,000 ticks");
        assert!(least <= product / 2, "{least} bytes, the link carries {product} in a round trip");
        // The first span of time was still busy for a part.
        link.run(0..400, 1);
        assert_eq!(probed(&mut link, 1).0, 0);
    }

    #[test]
    fn unused_credit_is_not_sent_in_one_burst() {
        let mut link = Link::new(1_000_000, Duration::from_millis(200));
        link.run(0..300, 1_000);
        link.run(0..300, 1);
        let burst = (link.step(10_000) * PACKET) as u64;
        let most = bytes_in(link.congestion.pacing_rate(), STEP * 2).max(link.congestion.least_window());
        assert!(burst <= most && link.congestion.window() > most * 2, "{burst} bytes at once, {most} may be");
    }

    /// Lets packets `packets` arrive, and acknowledges them.
    fn acknowledge(congestion: &mut Congestion, packets: std::ops::RangeInclusive<u64>, now: Duration) {
        let newest = Sequence::new(*packets.end());
        packets.for_each(|number| congestion.arrived(Sequence::new(number), PACKET));
        congestion.acked(newest, now);
    }

    #[test]
    fn packets_that_arrive_together_are_not_taken_for_a_fast_link() {
        let packet = PACKET as u64;
        // An ack that arrives within a tick shows at most the bytes that were sent in this tick.
        let mut congestion = Congestion::new(PACKET);
        (0..10).for_each(|number| congestion.sent(Sequence::new(number), PACKET, Duration::ZERO));
        acknowledge(&mut congestion, 0..=9, Duration::from_millis(1));
        assert_eq!(congestion.rate(), 10 * packet * 1_000 / 16);
        // The link stops for a second, and then delivers the packets that were sent in this second.
        let mut congestion = Congestion::new(PACKET);
        (0..60).for_each(|number| congestion.sent(Sequence::new(number), PACKET, STEP * number as u32));
        acknowledge(&mut congestion, 0..=0, STEP * 60);
        congestion.sent(Sequence::new(60), PACKET, STEP * 60);
        acknowledge(&mut congestion, 1..=60, STEP * 61);
        assert_eq!(congestion.rate(), 60 * packet * 1_000 / (16 * 60));
    }

    #[test]
    fn the_time_without_packets_in_flight_does_not_count() {
        let mut congestion = Congestion::new(PACKET);
        congestion.sent(Sequence::new(0), PACKET, Duration::ZERO);
        acknowledge(&mut congestion, 0..=0, STEP);
        let later = Duration::from_secs(10);
        (1..=10).for_each(|number| congestion.sent(Sequence::new(number), PACKET, later));
        acknowledge(&mut congestion, 1..=10, later + STEP);
        assert_eq!(congestion.rate(), 10 * PACKET as u64 * 1_000 / 16);
    }
    #[test]
    fn flights_that_are_never_acked_take_limited_memory() {
        let mut congestion = Congestion::new(PACKET);
        for number in 0..3 * WINDOW {
            congestion.sent(Sequence::new(number), PACKET, STEP * number as u32);
            congestion.lost(Sequence::new(number), PACKET);
        }
        assert_eq!(congestion.flights.len(), WINDOW as usize);
    }

    #[test]
    fn the_shortest_round_trip_counts_for_one_to_two_spans() {
        let mut congestion = Congestion::new(PACKET);
        let [short, long] = [20, 100].map(Duration::from_millis);
        congestion.observe(short, SHORTEST_SPAN - STEP);
        congestion.observe(long, SHORTEST_SPAN);
        congestion.observe(long, SHORTEST_SPAN * 2 - STEP);
        assert_eq!(congestion.shortest(), short);
        congestion.observe(long, SHORTEST_SPAN * 2);
        assert_eq!(congestion.shortest(), long);
    }

    #[test]
    fn where_many_packets_are_lost_little_to_send_lowers_what_is_known() {
        let mut link = Link::new(1_000_000, Duration::from_millis(40));
        link.run(0..300, 1_000);
        link.loss_of = 2;
        link.run(0..1_000, 1);
        let sent = PACKET as u64 * 1_000 / 16;
        assert!(link.congestion.rate() <= sent, "{} of {sent} bytes a second", link.congestion.rate());
    }

    #[test]
    fn a_server_that_stood_still_sends_no_burst() {
        let mut link = Link::new(1_000_000, Duration::from_millis(500));
        link.run(0..300, 1_000);
        link.run(0..300, 1);
        link.now += Duration::from_secs(10);
        let burst = (link.step(10_000) * PACKET) as u64;
        let most = bytes_in(link.congestion.pacing_rate(), LONGEST_TICK * 2);
        assert!(burst <= most, "{burst} bytes at once, {most} may be");
    }

    #[test]
    fn r09_a_silent_link_is_sent_one_window_in_each_retry_interval() {
        let mut link = Link::new(1_000_000, Duration::from_millis(40));
        link.run(0..300, 1_000);
        while let Some((number, _)) = link.acks.pop_front() {
            link.congestion.lost(Sequence::new(number), PACKET);
        }
        // For a while there is nothing to send.
        (0..40).for_each(|timeouts| link.wait(timeouts));
        let mut sent_at_once = || {
            let mut packets = 0;
            while link.congestion.has_room() {
                link.congestion.sent(Sequence::new(link.number), PACKET, link.now);
                link.congestion.lost(Sequence::new(link.number), PACKET);
                (link.number, packets) = (link.number + 1, packets + 1);
            }
            link.wait(40);
            packets
        };
        assert_eq!([sent_at_once(), sent_at_once(), sent_at_once()], [PROBE_PACKETS; 3]);
    }
    #[test]
    fn a_trial_sends_few_packets_at_once() {
        let mut link = Link::new(30_000, Duration::from_millis(40));
        link.loss_of = 2;
        let (mut steps, mut most) = (0, 0);
        for step in 0..3_000 {
            // The credit of a pause is not sent in one burst.
            let sent = link.step(if step % 8 == 0 { 1_000 } else { 0 });
            if link.congestion.trial.is_limit() {
                (steps, most) = (steps + 1, most.max(sent as u64));
            }
        }
        assert!(steps > 300, "{steps} steps of a trial");
        let in_two_ticks = bytes_in(link.congestion.least_rate(), STEP * 2) / PACKET as u64;
        assert!(most <= PACKETS_AT_ONCE.max(in_two_ticks), "{most} packets, {in_two_ticks} in two ticks");
    }
}
