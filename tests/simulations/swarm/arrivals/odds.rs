//! The chance that a try of a client gets an answer, and how long a client must try until it gets one.
//!
//! *Invariant:* a client tries at irregular times, so only the losses decide about the number of tries.

use std::time::Duration;

use repl::sim::{LinkConditions, Loss};

/// The chance that a client gets no answer, although it has made as many tries as [`Odds::tries`] returns.
const MISSED: f64 = 1e-7;

/// The number of parts into which the jitter of a link is divided.
const JITTERS: u32 = 8;

/// How the losses of a link affect the tries of a client.
#[derive(Clone, Copy, Debug)]
pub(super) struct Odds {
    /// The mean chance that a try and its answer both arrive.
    pub(super) answered: f64,
    /// The longest time in which hardly any try is answered, because of regular losses.
    pub(super) outage: Duration,
    /// How many packets in a row a burst may lose, in addition to the mean chance.
    burst_packets: f64,
}

impl Odds {
    /// Returns the odds of tries that begin in ticks of this length, counted from `start` on. The server
    /// answers in the tick in which a try arrives.
    pub(super) fn new(up: &LinkConditions, down: &LinkConditions, start: Duration, tick: Duration) -> Self {
        let ticks = ticks_of_period(up, tick) * ticks_of_period(down, tick);
        let chances: Vec<f64> =
            (0..ticks).map(|number| chance_of(up, down, start + tick * number, start, tick)).collect();
        let answered = chances.iter().sum::<f64>() / f64::from(ticks);
        let (mut longest, mut row) = (0, 0);
        for chance in chances.iter().chain(&chances) {
            row = if *chance < answered / 2.0 { row + 1 } else { 0 };
            longest = longest.max(row);
        }
        let burst_packets = [up, down].into_iter().map(burst_packets).sum();
        Self { answered, outage: tick * longest.min(ticks), burst_packets }
    }

    /// Returns how many tries a client needs at most, except for one client in ten million.
    pub(super) fn tries(self) -> f64 {
        let independent = if self.answered < 1.0 { MISSED.ln() / (1.0 - self.answered).ln() } else { 1.0 };
        independent.ceil() + self.burst_packets
    }
}

/// Returns how many packets in a row a burst of a link loses at most, except for one burst in ten million.
fn burst_packets(link: &LinkConditions) -> f64 {
    match link.loss {
        Loss::GilbertElliott { bad_to_good, .. } => MISSED.ln() / (1.0 - bad_to_good).ln(),
        _ => 0.0,
    }
}

fn ticks_of_period(link: &LinkConditions, tick: Duration) -> u32 {
    match link.loss {
        Loss::Regular { period, .. } => (period.as_nanos() / tick.as_nanos()) as u32,
        _ => 1,
    }
}

/// Returns the chance that a try that is sent at the time `at` arrives, and its answer too.
fn chance_of(
    up: &LinkConditions,
    down: &LinkConditions,
    at: Duration,
    start: Duration,
    tick: Duration,
) -> f64 {
    let answered = |step: u32| {
        let arrival = at + up.latency + up.jitter * step / JITTERS;
        let ticks = (arrival - start).as_nanos().div_ceil(tick.as_nanos()) as u32;
        1.0 - lost(down, start + tick * ticks)
    };
    (1.0 - lost(up, at)) * (0..JITTERS).map(answered).sum::<f64>() / f64::from(JITTERS)
}

/// Returns the chance that a packet which is sent at this time is lost.
pub(super) fn lost(link: &LinkConditions, at: Duration) -> f64 {
    match link.loss {
        Loss::None => 0.0,
        Loss::Independent(loss) => loss,
        Loss::Regular { period, lost } => {
            f64::from(u8::from(at.as_nanos() % period.as_nanos() < lost.as_nanos()))
        }
        Loss::GilbertElliott { good_to_bad, bad_to_good, .. } => good_to_bad / (good_to_bad + bad_to_good),
    }
}
