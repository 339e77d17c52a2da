//! Congestion control: limits how fast the server sends to a client. The acks of the client show how fast
//! packets arrive at the client.
//!
//! The controller follows BBR (Cardwell and others, *BBR: Congestion-Based Congestion Control*, 2016;
//! draft-ietf-ccwg-bbr). The controller measures the rate at which packets arrive, and the shortest round
//! trip. The server sends at the measured rate, and has at most about twice the product of rate and round
//! trip in flight. A loss alone does not lower the rate, unlike in the third version of BBR, because the
//! links of games lose packets at random. But if many packets are lost, the window is larger, and a [`Trial`]
//! tests whether a lower rate delivers as much. Rates are measured as in
//! draft-cheng-iccrg-delivery-rate-estimation, but all packets of a tick count as one sample.
//!
//! *Invariant:* the controller reads no clock, and the same calls lead to the same limits.

use std::collections::VecDeque;
use std::time::Duration;

use super::rate_control::RateControl;
use crate::frame::sequence::{Sequence, WINDOW};
use crate::rate::trial::{LinkProperties as TriedLink, Trial};
use crate::spare::shrink_sparse;

/// The number of packets that may be in flight before any rate has been measured (RFC 6928). After that, at
/// least this number of packets may be in flight as long as acks arrive.
const INITIAL_PACKETS: u64 = 10;
/// A link counts as bad if at most this many of a thousand packets arrive. On a bad link, the minimum window
/// is [`BAD_GAIN`] times as large as usual, because only few packets arrive. A link that can carry the usual
/// minimum window counts as bad only for a short time: if it is sent four times as much, it still delivers a
/// quarter of the packets, which is [`BAD_SHARE`].
const BAD_SHARE: u64 = 250;
const BAD_GAIN: u64 = 4;
/// The packets of the minimum window are sent over at least this time, even if a round trip is far shorter.
const LEAST_SPREAD: Duration = Duration::from_millis(100);
/// The number of packets that may be sent at the same time if the link is full or may be full.
const PACKETS_AT_ONCE: u64 = 2;
/// If at least this many of a thousand packets arrive, the link may be able to carry more than the server
/// sends.
const GOOD_SHARE: u64 = 850;
/// If fewer than this many of a thousand packets arrive, the controller starts a [`Trial`], which tests
/// whether a lower rate delivers as much.
const TRIAL_SHARE: u64 = 700;
/// If fewer than this many of a thousand packets arrive, most packets are lost. In this share, a packet that
/// counted as lost and arrives later counts half.
const MOST_SHARE: u64 = 400;
/// The share of packets that arrive is computed as a mean over about this many packets.
const SHARE_PACKETS: u64 = 32;
/// The number of packets that may be in flight on a link that does not answer (R26).
const PROBE_PACKETS: u64 = 2;
/// A link counts as silent if this many tries to send on it brought no ack. If nine of ten packets are lost
/// in both directions, a few tries without an ack are usual.
const SILENT_TRIES: u32 = 6;
/// The gain of the startup phase, in thousandths of the measured rate. With a gain of 2 / ln 2, the send rate
/// doubles in each round trip. [`DRAIN_GAIN`] is 1 divided by the startup gain. It drains the queue that the
/// startup has filled.
const STARTUP_GAIN: u64 = 2_885;
const DRAIN_GAIN: u64 = 347;
/// Gains in thousandths of the measured rate. The controller uses each gain for one round trip. The first
/// gain looks for a higher rate, the second gain drains the queue that the first has filled, and the others
/// keep the rate.
const CYCLE: [u64; 8] = [1_250, 750, 1_000, 1_000, 1_000, 1_000, 1_000, 1_000];
const WINDOW_GAIN: u64 = 2_000;
/// `REST_GAIN` is the gain of the window for bulk messages (more than 64 KiB). `REST_PACE` is the gain of the
/// rate at which all data together is sent while bulk messages are sent. A twentieth of the rate stays
/// unused, so that the queue in the link stays short. In a long queue, state would wait. In the startup
/// phase, the rate of bulk messages alone can grow by a half in each round trip.
const REST_GAIN: u64 = 1_000;
const REST_STARTUP_GAIN: u64 = 1_500;
const REST_PACE: u64 = 950;
/// The rate of a link is the greatest rate that was measured in this many round trips.
const RATE_ROUNDS: usize = 10;
/// The link counts as full if the measured rate grew by less than a quarter in this many round trips in a
/// row.
const FULL_ROUNDS: u32 = 3;
/// The limit of the data in flight while the shortest round trip is measured: this many thousandths of the
/// product of rate and round trip, and at least [`PROBE_TRIP_PACKETS`]. The measurement of the shortest round
/// trip lasts at least [`PROBE_TRIP_TIME`].
const PROBE_TRIP_GAIN: u64 = 500;
const PROBE_TRIP_PACKETS: u64 = 4;
const PROBE_TRIP_TIME: Duration = Duration::from_millis(200);
/// The time between two tries to send on a link that does not answer (R9).
const RETRY_INTERVAL: Duration = Duration::from_millis(250);
/// The shortest time for which the measured shortest round trip is used. It is used for at most twice this
/// time.
const SHORTEST_SPAN: Duration = Duration::from_secs(5);
/// `TICK` is the assumed length of a tick until two ticks have passed. Later the length is measured, and a
/// tick that was longer than `LONGEST_TICK` counts as `LONGEST_TICK`.
const TICK: Duration = Duration::from_millis(16);
const LONGEST_TICK: Duration = Duration::from_millis(250);

/// The phase of the congestion controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// In this phase the controller doubles the rate in each round trip.
    Startup,
    /// In this phase the controller drains the queue that the startup has filled.
    Drain,
    /// In this phase the controller repeats the gains of [`CYCLE`]. `place` is the index of the current gain,
    /// and `since` is the time at which its use began.
    Cruise { place: usize, since: Duration },
    /// In this phase the controller has sent little since the time `since`, so that the queue in the link
    /// drains and the shortest round trip can be measured. `found` is the shortest round trip of packets that
    /// were sent in the phase `ProbeRoundTrip`. In this phase, only few bytes are in flight when a packet is
    /// sent.
    ProbeRoundTrip { since: Duration, found: Option<Duration> },
}

/// The packets of one tick: when they were sent, and the state of the connection at that time.
#[derive(Clone, Copy, Debug)]
struct Flight {
    first: Sequence,
    sent_at: Duration,
    /// The number of bytes that had arrived when these packets were sent, and the time when the last of these
    /// bytes had arrived.
    delivered: u64,
    delivered_at: Duration,
    /// The time at which the newest packets were sent that had arrived before these packets were sent.
    last_flight_at: Duration,
    /// Whether the server had nothing more to send in this tick.
    is_idle: bool,
}

/// The rate control that links have by default.
#[derive(Clone, Debug)]
pub struct Bbr {
    packet_bytes: u64,
    phase: Phase,
    /// The greatest measured rate in each of the last round trips, in bytes a second.
    rates: [u64; RATE_ROUNDS],
    round: usize,
    /// The current round trip ends when a packet is acked that was sent after this many bytes had been
    /// delivered.
    round_ends: u64,
    full_rate: u64,
    full_rounds: u32,
    /// The shortest round trip that was measured in the current time span, and the shortest in the previous
    /// time span.
    shortest: [Option<Duration>; 2],
    span_since: Duration,
    /// Whether the server had nothing to send at some time in the current time span. If so, no queue in the
    /// link has lasted for the whole time span.
    was_idle: bool,
    in_flight: u64,
    delivered: u64,
    delivered_at: Duration,
    last_flight_at: Duration,
    flights: VecDeque<Flight>,
    /// The share of recent packets that have arrived, in millionths.
    share: u64,
    /// The number of bytes that may still be sent in this tick.
    credit: u64,
    /// The number of bytes of bulk messages that may still be sent. It grows more slowly than `credit`, and
    /// the bytes of all packets are subtracted from it. It is negative after other data used more than this
    /// number.
    rest_credit: i64,
    last_pass: Option<Duration>,
    tick: Duration,
    /// The number of tries in a row after which no new ack arrived. At most one try is counted in each retry
    /// interval.
    silent_tries: u32,
    last_try: Duration,
    /// The number of timeouts in a row at the time when tries were last counted.
    timeouts: u32,
    /// Whether the server had more to send in the last tick than the limits allowed.
    was_short: bool,
    /// The trial that tests whether a rate below the minimum would deliver as much.
    trial: Trial,
    /// The number of the next packet.
    next: Sequence,
}

impl Bbr {
    /// Returns the controller for a connection. Packets have at most `packet_bytes` bytes.
    pub fn new(packet_bytes: usize) -> Self {
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
            rest_credit: 0,
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

    /// Counts the tries after which no ack arrived. The packets of every tick have their own timeout, so
    /// several timeouts can belong to one try.
    fn count_tries(&mut self, now: Duration, timeouts: u32) {
        if timeouts == 0 {
            (self.silent_tries, self.timeouts) = (0, 0);
        } else if timeouts > self.timeouts && now.saturating_sub(self.last_try) >= RETRY_INTERVAL {
            (self.silent_tries, self.last_try) = (self.silent_tries.saturating_add(1), now);
            self.timeouts = timeouts;
        }
    }

    fn count_share(&mut self, sample: u64) {
        self.share = (self.share * (SHARE_PACKETS - 1) + sample) / SHARE_PACKETS;
    }

    /// Adds a measured delivery rate. The rate was measured from packets that were sent when `delivered`
    /// bytes had arrived. If the server had nothing more to send, the link may be faster than the measured
    /// rate.
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
            // Either no queue in the link lasted for the whole time span, or the controller is not in the
            // phase `Cruise`.
            _ if is_over => self.end_span(self.shortest[0], now),
            _ => {}
        }
        let shortest = &mut self.shortest[0];
        *shortest = Some(shortest.map_or(round_trip, |shortest| shortest.min(round_trip)));
    }

    /// Ends a span of time in which the shortest round trip was measured. The argument `found` is the
    /// shortest round trip without a queue in the link, if it is known. If the round trip has become so long
    /// that the limit of the data in flight was too small for the link, the controller begins with the
    /// startup phase again.
    fn end_span(&mut self, found: Option<Duration>, now: Duration) {
        let is_longer = found.is_some_and(|found| found > (self.shortest() + self.tick) * 2);
        self.shortest = [None, if is_longer { found } else { self.shortest[0] }];
        (self.span_since, self.was_idle) = (now, false);
        match self.phase {
            Phase::Cruise { .. } | Phase::ProbeRoundTrip { .. } if is_longer && !self.trial.is_running() => {
                (self.phase, self.full_rate, self.full_rounds) = (Phase::Startup, 0, 0);
                // The greatest rate may have been measured before the link changed. Together with the longer
                // round trip, the old rate would fill a long queue in the link.
                let newest = self.rates[self.round];
                self.rates = [0; RATE_ROUNDS];
                self.rates[self.round] = newest;
            }
            Phase::ProbeRoundTrip { .. } => self.phase = Phase::Cruise { place: 2, since: now },
            _ => {}
        }
    }

    /// Begins the next phase of the controller if the current phase is over.
    fn advance(&mut self, now: Duration) {
        match self.phase {
            Phase::Drain if self.in_flight <= self.product().max(self.packet_bytes) => {
                self.phase = Phase::Cruise { place: 2, since: now };
            }
            Phase::Cruise { place, since } if now.saturating_sub(since) >= self.shortest().max(self.tick) => {
                self.phase = Phase::Cruise { place: (place + 1) % CYCLE.len(), since: now };
            }
            // A measurement of the round trip would allow only a few packets in flight, but a link that does
            // not answer needs more.
            Phase::ProbeRoundTrip { .. } if self.silent_tries > 0 => self.end_span(None, now),
            Phase::ProbeRoundTrip { since, found: Some(found) }
                if now.saturating_sub(since) >= PROBE_TRIP_TIME =>
            {
                self.end_span(Some(found), now);
            }
            _ => {}
        }
    }

    /// Returns the rate at which packets arrive, in bytes a second. The rate is zero before the first
    /// measurement.
    pub fn rate(&self) -> u64 {
        self.rates.iter().copied().max().unwrap_or(0)
    }

    /// Returns the shortest round trip that was measured recently. Returns zero before the first measurement.
    fn shortest(&self) -> Duration {
        self.shortest.iter().flatten().min().copied().unwrap_or(Duration::ZERO)
    }

    /// Returns how many bytes are in flight if the connection sends at the measured rate and no packet waits
    /// in a queue of the link. The product includes the bytes of one tick, because acks wait for the client's
    /// next tick and packets wait for the server's next tick.
    fn product(&self) -> u64 {
        bytes_in(self.rate(), self.shortest() + self.tick)
    }

    fn has_recent_ack(&self) -> bool {
        self.shortest.iter().any(Option::is_some)
    }

    fn least_window(&self) -> u64 {
        let is_bad = self.has_recent_ack() && self.share < BAD_SHARE * 1_000;
        self.packet_bytes * INITIAL_PACKETS * if is_bad { BAD_GAIN } else { 1 }
    }

    /// Returns how many bytes may be in flight on the connection.
    pub fn window(&self) -> u64 {
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
        // From the second try on, each try without an ack halves the window. The window always stays large
        // enough for the retries of R9.
        let halvings = self.silent_tries.saturating_sub(1);
        window.checked_shr(halvings).unwrap_or(0).max(self.least_window())
    }

    /// Returns the window for bulk messages: they may be sent only while fewer bytes than this are in flight.
    /// Bulk messages must not fill a queue in the link, because state would wait in this queue.
    fn rest_window(&self) -> u64 {
        let gain = match self.phase {
            Phase::ProbeRoundTrip { .. } => return self.window(),
            Phase::Startup => REST_STARTUP_GAIN,
            Phase::Drain | Phase::Cruise { .. } => REST_GAIN,
        };
        (scaled(self.product(), gain) + bytes_in(self.rate(), self.tick)).max(self.least_window())
    }

    /// Adds the bytes of bulk messages that may be sent for the time `elapsed`. Unused bytes expire, except
    /// for two packets or the bytes of two ticks, whichever is more.
    fn earn_rest(&mut self, elapsed: Duration) {
        let rate = scaled(self.pacing_rate(), REST_PACE);
        let most = bytes_in(rate, self.tick * 2).max(self.packet_bytes * PACKETS_AT_ONCE);
        self.rest_credit = (self.rest_credit + bytes_in(rate, elapsed) as i64).min(most as i64);
    }

    /// Returns the greatest credit. Unused credit is limited, so that a burst of packets does not overflow a
    /// short queue in the link.
    fn most_credit(&self) -> u64 {
        let at_once =
            if self.trial.is_limit() { self.packet_bytes * PACKETS_AT_ONCE } else { self.least_window() };
        at_once.max(bytes_in(self.pacing_rate(), self.tick * 2))
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

    /// Returns the least send rate in bytes a second. At the least rate, the minimum window is sent in one
    /// round trip, or in [`LEAST_SPREAD`] if that is longer.
    fn least_rate(&self) -> u64 {
        scale(self.least_window(), Duration::from_secs(1), (self.shortest() + self.tick).max(LEAST_SPREAD))
    }

    /// Runs a trial that tests whether a lower rate would deliver as much, if many packets are lost at the
    /// minimum rate.
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
}

impl RateControl for Bbr {
    fn set_packet_bytes(&mut self, bytes: usize) {
        self.packet_bytes = bytes as u64;
    }

    fn reset(&mut self) {
        *self = Self::new(self.packet_bytes as usize);
    }

    fn begin_pass(&mut self, now: Duration, timeouts: u32) {
        let elapsed = self.last_pass.map_or(TICK, |last| now.saturating_sub(last)).min(LONGEST_TICK);
        self.last_pass = Some(now);
        self.count_tries(now, timeouts);
        if !elapsed.is_zero() {
            self.tick = elapsed;
        }
        self.advance(now);
        self.try_lower_rate(now);
        if self.silent_tries > 1 {
            let earned = scale(self.window(), elapsed, RETRY_INTERVAL);
            self.credit = self.credit.saturating_add(earned).min(self.window());
            return;
        }
        self.credit = (self.credit + bytes_in(self.pacing_rate(), elapsed)).min(self.most_credit());
        self.earn_rest(elapsed);
    }

    fn has_rested(&mut self, until: Duration) {
        let elapsed = self.last_pass.map_or(Duration::ZERO, |last| until.saturating_sub(last));
        self.credit = self.credit.saturating_add(bytes_in(self.pacing_rate(), elapsed.min(LONGEST_TICK)));
        self.earn_rest(elapsed.min(LONGEST_TICK));
        self.last_pass = Some(until);
    }

    fn sent(&mut self, packet: u64, bytes: usize, now: Duration) {
        if self.in_flight == 0 {
            (self.delivered_at, self.last_flight_at) = (now, now);
            // After an idle time, no phase with little data in flight is needed to measure the round trip.
            self.was_idle |= !self.was_short && self.has_recent_ack();
        }
        self.in_flight += bytes as u64;
        self.next = Sequence::new(packet).next();
        self.trial.sent(bytes as u64);
        self.credit = self.credit.saturating_sub(bytes as u64);
        self.rest_credit = (self.rest_credit - bytes as i64).max(-(self.most_credit() as i64));
        if self.flights.back().is_none_or(|flight| flight.sent_at < now) {
            if self.flights.len() >= WINDOW as usize {
                self.flights.pop_front();
            }
            self.flights.push_back(Flight {
                first: Sequence::new(packet),
                sent_at: now,
                delivered: self.delivered,
                delivered_at: self.delivered_at,
                last_flight_at: self.last_flight_at,
                is_idle: false,
            });
        }
    }

    fn arrived(&mut self, packet: u64, bytes: usize) {
        self.trial.resolved(Sequence::new(packet), bytes as u64, true);
        self.in_flight = self.in_flight.saturating_sub(bytes as u64);
        self.delivered += bytes as u64;
        self.count_share(1_000_000);
    }

    fn lost(&mut self, packet: u64, bytes: usize) {
        self.trial.resolved(Sequence::new(packet), bytes as u64, false);
        self.in_flight = self.in_flight.saturating_sub(bytes as u64);
        self.count_share(0);
    }

    fn arrived_late(&mut self, bytes: usize) {
        self.delivered += bytes as u64;
        self.count_share(1_000_000);
    }

    fn acked(&mut self, newest: u64, now: Duration) {
        let known = self.flights.partition_point(|flight| flight.first.number() <= newest);
        let Some(flight) = known.checked_sub(1).and_then(|at| self.flights.get(at)).copied() else { return };
        self.flights.drain(..known);
        self.silent_tries = 0;
        self.last_try = now;
        self.observe(now.saturating_sub(flight.sent_at), now);
        let acking = now.saturating_sub(flight.delivered_at);
        let sending = flight.sent_at.saturating_sub(flight.last_flight_at);
        (self.delivered_at, self.last_flight_at) = (now, flight.sent_at);
        // The client sends acks once in a tick, so a rate in a shorter interval has no meaning.
        let interval = acking.max(sending).max(self.tick).max(Duration::from_nanos(1));
        let rate = scale(self.delivered.saturating_sub(flight.delivered), Duration::from_secs(1), interval);
        // If many packets are lost, the server sends more than arrives, even when it has nothing more to
        // send.
        let is_idle = flight.is_idle && self.share >= GOOD_SHARE * 1_000;
        self.measured(rate, flight.delivered, is_idle);
    }

    fn end_pass(&mut self, now: Duration, is_short: bool) {
        self.was_short = is_short;
        if let Some(flight) = self.flights.back_mut()
            && flight.sent_at == now
        {
            flight.is_idle = !is_short;
            self.was_idle |= !is_short;
        }
    }

    fn room_bytes(&self) -> usize {
        let room = self.credit.min(self.window().saturating_sub(self.in_flight));
        usize::try_from(room).unwrap_or(usize::MAX)
    }

    fn rest_bytes(&self) -> usize {
        if self.silent_tries > 0 {
            return self.room_bytes();
        }
        let credit = u64::try_from(self.rest_credit).unwrap_or(0).min(self.credit);
        let room = credit.min(self.rest_window().saturating_sub(self.in_flight));
        usize::try_from(room).unwrap_or(usize::MAX)
    }

    fn loses_most(&self) -> bool {
        self.share < MOST_SHARE * 1_000
    }

    fn end_round(&mut self) {
        shrink_sparse(&mut self.flights);
    }
}

fn bytes_in(rate: u64, time: Duration) -> u64 {
    scale(rate, time, Duration::from_secs(1))
}

/// Returns `number` × `time` / `unit`, or the greatest number if that is greater. `unit` is not zero.
fn scale(number: u64, time: Duration, unit: Duration) -> u64 {
    let (time, unit) = (time.as_nanos(), unit.as_nanos());
    // Divisions of 64 bits take much less time than divisions of 128 bits, and each connection makes several
    // in each tick.
    if let (Ok(short_time), Ok(short_unit)) = (u64::try_from(time), u64::try_from(unit))
        && let Some(product) = number.checked_mul(short_time)
    {
        return product / short_unit;
    }
    u64::try_from(u128::from(number).saturating_mul(time) / unit).unwrap_or(u64::MAX)
}

fn scaled(bytes: u64, gain: u64) -> u64 {
    bytes.saturating_mul(gain) / 1_000
}

#[cfg(test)]
mod tests;
