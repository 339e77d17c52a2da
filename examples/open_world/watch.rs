//! Figures of a run: the times of the server, the sent bytes, and the waits of clients for changes.
//!
//! *Invariant:* a wait ends when the change arrives on the client, so it includes the time on the network.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use repl::prelude::*;

use crate::entry::{Entry, Rule};
use crate::guest::Guest;
use crate::sight::{distance, outer_border};
use crate::world::{TICKS_PER_SECOND, World};

/// The number of ticks from one comparison of clients with the server to the next.
const LOOK_TICKS: u32 = 5;

/// A wait of this number of ticks is longer than usual. Then the program asks the server for the reason.
const LONG_TICKS: u32 = 6;

/// If a client lacks a change for this number of ticks, the object counts as starved.
const STARVED_TICKS: u32 = 120;

/// The longest packet of the server, in bytes.
const PACKET_BYTES: u64 = 1_200;

/// The figures of one second, over all clients.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Second {
    pub(crate) mean_bytes: f64,
    pub(crate) most_bytes: f64,
    pub(crate) mean_in_sight: f64,
    pub(crate) most_in_sight: f64,
}

/// The figures of a run.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// For each tick, three times of the server: to receive, to tick, and to return its packets.
    times: [Vec<Duration>; 3],
    /// How many times a connection was sent more than its budget plus one packet in a second.
    pub(crate) over_budget: u64,
    /// The pairs of a connection's number and an object of which the client lacked a change for
    /// [`STARVED_TICKS`].
    starved: HashSet<(usize, ObjectRef<()>)>,
    /// How often the server returned each reason for a wait of at least [`LONG_TICKS`].
    pub(crate) reasons: BTreeMap<String, u64>,
    /// The longest time that a client lacked a change, in ticks, after it had received all objects of its
    /// join.
    pub(crate) oldest_wait: u32,
    pub(crate) leaks: u64,
    /// How many canaries were found in packets that may contain them.
    pub(crate) rightly_sent: u64,
    pub(crate) seconds: Vec<Second>,
    /// The first coordinates of all objects that are seen by distance, ascending, with the numbers of the
    /// objects.
    by_x: Vec<(f32, usize)>,
    in_sight: Vec<u32>,
}

impl Watch {
    pub(crate) fn note_times(&mut self, times: [Duration; 3]) {
        self.times.iter_mut().zip(times).for_each(|(all, time)| all.push(time));
    }

    pub(crate) fn note_canary(&mut self, is_allowed: bool) {
        *if is_allowed { &mut self.rightly_sent } else { &mut self.leaks } += 1;
    }

    /// Returns a percentile of the times of receiving (0), ticking (1) or returning packets (2), in
    /// microseconds.
    pub(crate) fn percentile_us(&self, which: usize, percent: usize) -> f64 {
        let mut sorted = self.times[which].clone();
        sorted.sort_unstable();
        let at = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e6)
    }

    pub(crate) fn starved(&self) -> usize {
        self.starved.len()
    }

    /// Compares the clients with the server every [`LOOK_TICKS`] ticks, and ends each second. Call it after
    /// each tick.
    pub(crate) fn look(&mut self, server: &Server, world: &World, guests: &mut [Guest], budget: u32) {
        if world.tick.is_multiple_of(LOOK_TICKS) {
            self.look_at_waits(server, world, guests);
        }
        if world.tick.is_multiple_of(TICKS_PER_SECOND) {
            self.end_second(guests, budget);
        }
    }

    fn look_at_waits(&mut self, server: &Server, world: &World, guests: &mut [Guest]) {
        let is_located = |(_, entry): &(usize, &Entry)| matches!(entry.rule, Rule::Located(_));
        self.by_x.clear();
        let located = world.entries.iter().enumerate().filter(is_located);
        self.by_x.extend(located.map(|(at, entry)| (entry.position[0], at)));
        self.by_x.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        self.in_sight.resize(guests.len(), 0);
        for (number, guest) in guests.iter_mut().enumerate() {
            if guest.synchronized.is_some() {
                self.look_at_waits_of(number, guest, server, world);
            }
        }
    }

    /// Measures how long a client has lacked changes of the objects near it.
    fn look_at_waits_of(&mut self, number: usize, guest: &mut Guest, server: &Server, world: &World) {
        let here = world.viewpoint(number);
        let reach = outer_border(crate::model::MOST_SIGHT);
        let first = self.by_x.partition_point(|(x, _)| *x < here[0] - reach);
        let near = self.by_x[first..].iter().take_while(|(x, _)| *x <= here[0] + reach);
        let mut in_sight = 0;
        let before = std::mem::take(&mut guest.missing);
        for &(_, at) in near {
            let entry = &world.entries[at];
            let Rule::Located(radius) = entry.rule else { continue };
            if distance(here, entry.position) > outer_border(radius) {
                continue;
            }
            let object = entry.object.erase();
            let wait = match entry.object.client_digests(&guest.client) {
                Some(digests) => {
                    in_sight += 1;
                    entry.wait(digests, world.tick)
                }
                None if server.object_info(object).is_relevant_to(guest.connection) => {
                    let since = before.get(&object).copied().unwrap_or(world.tick);
                    guest.missing.insert(object, since);
                    world.tick - since
                }
                None => 0,
            };
            // A client shows the last values of an object that went out of sight until it has removed the
            // object. That is no wait.
            if wait > self.oldest_wait && server.object_info(object).is_relevant_to(guest.connection) {
                self.oldest_wait = wait;
            }
            if wait >= LONG_TICKS
                && let Some(reason) = server.object_info(object).why_not_sent_to(guest.connection)
            {
                *self.reasons.entry(format!("{reason:?}")).or_default() += 1;
            }
            if wait >= STARVED_TICKS && server.object_info(object).is_relevant_to(guest.connection) {
                self.starved.insert((number, object));
            }
        }
        self.in_sight[number] = in_sight;
    }

    fn end_second(&mut self, guests: &mut [Guest], budget: u32) {
        let count = guests.len().max(1) as f64;
        let bytes: Vec<u64> = guests.iter_mut().map(|guest| std::mem::take(&mut guest.bytes)).collect();
        let over = bytes.iter().filter(|&&bytes| bytes > u64::from(budget) + PACKET_BYTES);
        self.over_budget += over.count() as u64;
        self.seconds.push(Second {
            mean_bytes: bytes.iter().sum::<u64>() as f64 / count,
            most_bytes: bytes.iter().max().copied().unwrap_or(0) as f64,
            mean_in_sight: f64::from(self.in_sight.iter().sum::<u32>()) / count,
            most_in_sight: f64::from(self.in_sight.iter().max().copied().unwrap_or(0)),
        });
    }
}
