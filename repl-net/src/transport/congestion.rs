//! Congestion control: limits the send rate to the rate at which acks show that packets arrive.
//!
//! The controller follows BBR (Cardwell and others, *BBR: Congestion-Based Congestion Control*, 2016;
//! draft-ietf-ccwg-bbr). It measures the rate at which packets arrive and the shortest round trip. It sends
//! at that rate and keeps at most about twice their product in flight. A loss alone does not count as
//! congestion, because the links of games lose at random; so the reaction to loss of BBR's third version is
//! left out. Rates are measured as in draft-cheng-iccrg-delivery-rate-estimation, once for all packets of a
//! tick.
//!
//! *Invariant:* the controller reads no clock, and the same calls lead to the same limits.

use std::collections::VecDeque;
use std::time::Duration;

use super::sequence::{Sequence, WINDOW};
use super::spare::give_back_room;
use super::trial::{Link as TriedLink, Trial};

/// Packets in flight before anything is known, and always allowed while acks come (RFC 6928).
const INITIAL_PACKETS: u64 = 10;
/// A link is bad if at most this many of a thousand packets arrive. On a bad link only many tries get
/// anything through, so what may always be in flight is multiplied by [`BAD_GAIN`]. A link that carries the
/// usual minimum is never called bad for long: of four times as much it still delivers a quarter.
const BAD_SHARE: u64 = 250;
const BAD_GAIN: u64 = 4;
/// The least time over which the minimum window is spread. A round trip may be far shorter.
const LEAST_SPREAD: Duration = Duration::from_millis(100);
/// Packets that may be sent at once to a link that is full or may be full.
const PACKETS_AT_ONCE: u64 = 2;
/// If at least this many of a thousand packets arrive, the link may carry more than there is to send.
const SOUND_SHARE: u64 = 850;
/// If fewer than this many of a thousand packets arrive, a trial tests whether a lower rate is enough.
const TRIED_SHARE: u64 = 700;
/// The share of packets that arrive is a mean over about this many packets.
const SHARE_PACKETS: u64 = 32;
/// Packets in flight to a link that is silent (R26).
const PROBE_PACKETS: u64 = 2;
/// After this many tries without an ack a link counts as silent. Where nine packets of ten are lost in both
/// directions, a few such tries are usual.
const SILENT_TRIES: u32 = 6;
/// In thousandths: 2 / ln 2, at which the delivered amount doubles in each round trip; and its inverse, which
/// drains the queue that this built up.
const STARTUP_GAIN: u64 = 2_885;
const DRAIN_GAIN: u64 = 347;
/// Gains in thousandths, one round trip each: look for a higher rate, drain what that queued, then go on.
const CYCLE: [u64; 8] = [1_250, 750, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000];
const WINDOW_GAIN: u64 = 2_000;
/// The greatest rate is taken over this many round trips.
const RATE_ROUNDS: usize = 10;
/// After this many round trips in a row without a quarter more, the link counts as full.
const FULL_ROUNDS: u32 = 3;
/// While the round trip is measured: how much is in flight, and for how long besides a round trip.
const SOUND_GAIN: u64 = 500;
const SOUND_PACKETS: u64 = 4;
const SOUND_TIME: Duration = Duration::from_millis(200);
/// How often a link that does not answer is retried (R9).
const RETRY_INTERVAL: Duration = Duration::from_millis(250);
/// How long the shortest round trip counts: at least this, at most twice as long.
const SHORTEST_SPAN: Duration = Duration::from_secs(5);
/// The assumed length of a tick before two ticks were seen, and the longest.
const TICK: Duration = Duration::from_millis(16);
const LONGEST_TICK: Duration = Duration::from_millis(250);

/// The phase of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Doubles the rate in each round trip.
    Startup,
    /// Drains the queue of the startup.
    Drain,
    /// Repeats the cycle: the index in it, and since when.
    Cruise { place: usize, since: Duration },
    /// Sends little until this time, so that the queue drains and the round trip can be measured.
    Sound { until: Duration },
}

/// The packets of one tick: when they were sent, and the state at that time.
#[derive(Clone, Copy, Debug)]
struct Flight {
    first: Sequence,
    sent_at: Duration,
    /// Bytes that had arrived, and when the last of them had.
    delivered: u64,
    delivered_at: Duration,
    /// When the newest packets that had arrived were sent.
    last_flight_at: Duration,
    /// Whether there was no more to send.
    is_idle: bool,
}

/// The congestion control of one connection.
#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    packet_bytes: u64,
    phase: Phase,
    /// The greatest rate of each of the last rounds, in bytes a second.
    rates: [u64; RATE_ROUNDS],
    round: usize,
    /// The round ends when a packet arrives that was sent after this many bytes were delivered.
    round_ends: u64,
    full_rate: u64,
    full_rounds: u32,
    /// The shortest round trip of this span and of the previous one.
    shortest: [Option<Duration>; 2],
    span_since: Duration,
    /// Whether there was nothing to send at some time of this span. Then a queue cannot have persisted.
    was_idle: bool,
    in_flight: u64,
    delivered: u64,
    delivered_at: Duration,
    last_flight_at: Duration,
    flights: VecDeque<Flight>,
    /// How many of a million packets arrived recently.
    share: u64,
    /// Bytes that may be sent in this pass.
    credit: u64,
    last_pass: Option<Duration>,
    tick: Duration,
    /// How many tries in a row brought no ack of anything new. Counted at most once per retry.
    silent_tries: u32,
    last_try: Duration,
    /// The number of timeouts in a row at the last count.
    timeouts: u32,
    /// Whether the last pass had more to send than was allowed.
    was_short: bool,
    /// Tests whether less than the minimum rate would deliver as much.
    trial: Trial,
    /// The number of the next packet.
    next: Sequence,
}

impl Congestion {
    /// For packets of at most `packet_bytes` bytes.
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

    /// Begins the packets of a tick. `timeouts` timeouts in a row brought no ack.
    pub(crate) fn begin_pass(&mut self, now: Duration, timeouts: u32) {
        let elapsed = self.last_pass.map_or(TICK, |last| now.saturating_sub(last)).min(LONGEST_TICK);
        self.last_pass = Some(now);
        self.count_tries(now, timeouts);
        if !elapsed.is_zero() {
            self.tick = elapsed;
        }
        self.advance(now);
        self.try_less(now);
        if self.silent_tries > 1 {
            let earned = u128::from(self.window()) * elapsed.as_nanos() / RETRY_INTERVAL.as_nanos();
            self.credit =
                self.credit.saturating_add(u64::try_from(earned).unwrap_or(u64::MAX)).min(self.window());
            return;
        }
        // Unused credit is capped, so that no burst overflows a short queue.
        let at_once =
            if self.trial.is_limit() { self.packet_bytes * PACKETS_AT_ONCE } else { self.least_window() };
        let most = at_once.max(bytes_in(self.pacing_rate(), self.tick * 2));
        self.credit = (self.credit + bytes_in(self.pacing_rate(), elapsed)).min(most);
    }

    /// Counts the tries without an ack. Each tick's packets have their own timeout, so several timeouts can
    /// belong to one try.
    fn count_tries(&mut self, now: Duration, timeouts: u32) {
        if timeouts == 0 {
            (self.silent_tries, self.timeouts) = (0, 0);
        } else if timeouts > self.timeouts && now.saturating_sub(self.last_try) >= RETRY_INTERVAL {
            (self.silent_tries, self.last_try) = (self.silent_tries.saturating_add(1), now);
            self.timeouts = timeouts;
        }
    }

    /// Ends the packets of a tick. `is_short` says that there was more to send than was allowed.
    pub(crate) fn end_pass(&mut self, now: Duration, is_short: bool) {
        self.was_short = is_short;
        if let Some(flight) = self.flights.back_mut()
            && flight.sent_at == now
        {
            flight.is_idle = !is_short;
            self.was_idle |= !is_short;
        }
    }

    /// Whether the last pass had more to send than was allowed.
    pub(crate) const fn was_short(&self) -> bool {
        self.was_short
    }

    /// Whether one more packet may be sent.
    pub(crate) fn has_room(&self) -> bool {
        self.credit >= self.packet_bytes && self.in_flight + self.packet_bytes <= self.window()
    }

    /// Notes that a packet was sent that asks for an ack.
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

    /// Notes that a packet arrived.
    pub(crate) fn arrived(&mut self, sequence: Sequence, bytes: usize) {
        self.trial.resolved(sequence, bytes as u64, true);
        self.in_flight = self.in_flight.saturating_sub(bytes as u64);
        self.delivered += bytes as u64;
        self.count_share(1_000_000);
    }

    /// Notes that a packet was given up.
    pub(crate) fn lost(&mut self, sequence: Sequence, bytes: usize) {
        self.trial.resolved(sequence, bytes as u64, false);
        self.in_flight = self.in_flight.saturating_sub(bytes as u64);
        self.count_share(0);
    }

    fn count_share(&mut self, sample: u64) {
        self.share = (self.share * (SHARE_PACKETS - 1) + sample) / SHARE_PACKETS;
    }

    /// Ends the processing of an ack. `newest` is the newest packet in it.
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
        // Acks come once per tick, so a shorter interval has no meaning.
        let interval = acking.max(sending).max(self.tick).max(self.shortest());
        let delivered = self.delivered.saturating_sub(flight.delivered);
        let rate = u64::try_from(u128::from(delivered) * 1_000_000_000 / interval.as_nanos().max(1));
        // Where much is lost, more is sent than arrives, even if there was no more to send.
        let is_idle = flight.is_idle && self.share >= SOUND_SHARE * 1_000;
        self.measured(rate.unwrap_or(u64::MAX), flight.delivered, is_idle);
    }

    /// Adds a measured rate of packets that were sent when `delivered` bytes had arrived. If there was no
    /// more to send, the rate is only a lower bound.
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
        if now.saturating_sub(self.span_since) >= SHORTEST_SPAN {
            self.shortest = [None, self.shortest[0]];
            self.span_since = now;
            let is_cruising = matches!(self.phase, Phase::Cruise { .. });
            if !std::mem::take(&mut self.was_idle) && is_cruising && !self.trial.is_running() {
                self.phase = Phase::Sound { until: now + SOUND_TIME + self.shortest() };
            }
        }
        let shortest = &mut self.shortest[0];
        *shortest = Some(shortest.map_or(round_trip, |shortest| shortest.min(round_trip)));
    }

    /// Moves to the next phase when it is time.
    fn advance(&mut self, now: Duration) {
        match self.phase {
            Phase::Drain if self.in_flight <= self.product().max(self.packet_bytes) => {
                self.phase = Phase::Cruise { place: 2, since: now };
            }
            Phase::Cruise { place, since } if now.saturating_sub(since) >= self.shortest().max(self.tick) => {
                self.phase = Phase::Cruise { place: (place + 1) % CYCLE.len(), since: now };
            }
            Phase::Sound { until } if now >= until => {
                self.phase = Phase::Cruise { place: 2, since: now };
            }
            _ => {}
        }
    }

    /// The rate at which packets arrive, in bytes a second. Zero before the first measurement.
    pub(crate) fn rate(&self) -> u64 {
        self.rates.iter().copied().max().unwrap_or(0)
    }

    /// The shortest round trip. Zero before the first measurement.
    fn shortest(&self) -> Duration {
        self.shortest.iter().flatten().min().copied().unwrap_or(Duration::ZERO)
    }

    /// The bytes in flight when everything is sent at the rate and nothing queues. It includes a tick,
    /// because acks wait for the client's tick and packets for the server's.
    fn product(&self) -> u64 {
        bytes_in(self.rate(), self.shortest() + self.tick)
    }

    /// Whether an ack came recently.
    fn is_heard(&self) -> bool {
        self.shortest.iter().any(Option::is_some)
    }

    fn least_window(&self) -> u64 {
        let is_bad = self.is_heard() && self.share < BAD_SHARE * 1_000;
        self.packet_bytes * INITIAL_PACKETS * if is_bad { BAD_GAIN } else { 1 }
    }

    /// The most bytes that may be in flight.
    pub(crate) fn window(&self) -> u64 {
        let gain = match self.phase {
            Phase::Startup => STARTUP_GAIN,
            Phase::Sound { .. } => {
                return scaled(self.product(), SOUND_GAIN).max(self.packet_bytes * SOUND_PACKETS);
            }
            Phase::Drain | Phase::Cruise { .. } => WINDOW_GAIN,
        };
        let window =
            (scaled(self.product(), gain) + bytes_in(self.rate(), self.tick)).max(self.least_window());
        if self.silent_tries >= SILENT_TRIES {
            return self.packet_bytes * PROBE_PACKETS;
        }
        // From the second try on the window is halved each time, but stays as large as R9's retries need.
        let halvings = self.silent_tries.saturating_sub(1);
        window.checked_shr(halvings).unwrap_or(0).max(self.least_window())
    }

    fn pacing_rate(&self) -> u64 {
        let gain = match self.phase {
            Phase::Startup => STARTUP_GAIN,
            Phase::Drain => DRAIN_GAIN,
            Phase::Cruise { place, .. } => CYCLE[place],
            Phase::Sound { .. } => 1_000,
        };
        scaled(self.rate(), gain).max(self.trial.rate(self.least_rate()))
    }

    /// The rate that sends the minimum window in a round trip, or in [`LEAST_SPREAD`] if that is longer. In
    /// bytes a second.
    fn least_rate(&self) -> u64 {
        let time = (self.shortest() + self.tick).max(LEAST_SPREAD).as_nanos().max(1);
        let rate = u64::try_from(u128::from(self.least_window()) * 1_000_000_000 / time);
        rate.unwrap_or(u64::MAX)
    }

    /// Runs a trial where much of the minimum rate is lost: would a lower rate deliver as much?
    fn try_less(&mut self, now: Duration) {
        if self.silent_tries >= SILENT_TRIES {
            self.trial.give_up();
            return;
        }
        let greatest_rate = self.least_rate();
        let is_lossy = self.is_heard() && self.share < TRIED_SHARE * 1_000;
        let is_wanted = is_lossy && self.trial.rate(greatest_rate) > self.rate();
        let round_trip = self.shortest() + self.tick;
        let link = TriedLink { packet_bytes: self.packet_bytes, round_trip, greatest_rate };
        self.trial.advance(now, is_wanted, link, self.next);
    }

    /// Frees memory that was not needed recently.
    pub(crate) fn end_round(&mut self) {
        give_back_room(&mut self.flights);
    }
}

/// The bytes that are sent at this rate in this time.
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

    /// A link of so many bytes a second with a queue, a fixed delay, and acks by tick.
    struct Link {
        congestion: Congestion,
        rate: u64,
        delay: Duration,
        now: Duration,
        idle_at: Duration,
        number: u64,
        /// When each packet's ack comes.
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

        /// As long as a retry waits, after so many timeouts.
        fn wait(&mut self, timeouts: u32) {
            for _ in 0..16 {
                self.now += STEP;
                self.congestion.begin_pass(self.now, timeouts);
            }
        }

        /// One tick with so many packets to send at most; how many were.
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
    fn r09_timeouts_of_the_packets_of_each_tick_count_as_one_try() {
        let mut link = Link::new(1_000_000, Duration::from_millis(40));
        link.run(0..300, 1_000);
        let window = link.congestion.window();
        for timeouts in 1..15 {
            link.now += STEP;
            link.congestion.begin_pass(link.now, timeouts);
            assert_eq!(link.congestion.window(), window);
        }
        // An ack of what was held for lost, which leaves the timeouts as they are, ends the silence.
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
}
