//! Hosts that say hello from one new port after another.
//!
//! *Invariant:* a port answers in the next tick, so a host costs the server as much as possible in a short
//! time.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::time::Duration;

use repl::BitWriter;
use repl::sim::Rng;

use super::meter::{cookie_of_retry, token_of_welcome};
use super::plan::Plan;
use crate::forge::seal;

/// A run has at most this many ports of flooding hosts.
const MOST_PORTS: u64 = 1_500;

/// At most this many ports finish the handshake.
const MOST_FINISHED: u64 = 40;

/// The server has room for a number of half-open connections. One host may have this number divided by
/// `SHARE`, but always `LEAST_SHARE`.
const SHARE: usize = 32;
const LEAST_SHARE: usize = 4;

/// What the flooding hosts do, and when.
#[derive(Clone, Debug)]
pub(super) struct FloodPlan {
    pub(super) hosts: u32,
    /// New ports per second, of all hosts together.
    pub(super) rate: u32,
    /// When the flood begins, counted from the start of the run.
    pub(super) start: Duration,
    pub(super) lasts: Duration,
    /// The chance that a port sends its cookie back, and the chance that such a port finishes the handshake.
    pub(super) cookies: f64,
    pub(super) finishes: f64,
    /// How many bytes of padding follow each hello.
    pub(super) padding: usize,
}

impl FloodPlan {
    pub(super) fn draw(rng: &mut Rng, plan: &Plan) -> Self {
        let hosts = *rng.pick(&[1, 1, 4, 16, 64]).expect("hosts");
        let rate = *rng.pick(&[10, 100, 1_000, 10_000]).expect("rates");
        let most = Duration::from_secs(MOST_PORTS) / rate;
        let first = plan.acts.first().map_or(Duration::ZERO, |(at, _)| *at);
        Self {
            hosts,
            rate,
            start: first.saturating_sub(most.min(Duration::from_secs(1)) / 2),
            lasts: most.min(plan.joins_within() * 2),
            cookies: *rng.pick(&[0.0, 0.5, 1.0, 1.0]).expect("chances"),
            finishes: *rng.pick(&[0.0, 0.0, 0.1]).expect("chances"),
            padding: *rng.pick(&[0, 0, 1_136]).expect("lengths"),
        }
    }

    /// Returns whether the flood may occupy all places, or all room for answers that wait.
    pub(super) fn takes_all(&self, plan: &Plan) -> bool {
        let hosts = self.hosts as usize;
        // Each place of an honest client counts as five connections: the client itself, and late hellos.
        let honest = plan.places as usize * 5;
        let half_open = if self.cookies > 0.0 { hosts * share_of(plan) } else { 0 };
        let finished = if self.finishes > 0.0 {
            (MOST_FINISHED as usize).min(hosts * plan.limits.max_per_origin)
        } else {
            0
        };
        hosts * 32 + honest > 1_024
            || half_open + honest > plan.limits.max_half_open
            || half_open + finished + honest > plan.limits.max_connections
    }
}

/// Returns how many half-open connections a host may have.
pub(super) fn share_of(plan: &Plan) -> usize {
    (plan.limits.max_half_open / SHARE).max(LEAST_SHARE)
}

/// A port of a flooding host.
struct Port {
    session: u64,
    sends_cookie: bool,
    finishes: bool,
}

/// The flooding hosts of a run.
pub(super) struct Flood {
    plan: FloodPlan,
    rng: Rng,
    /// The checksum of the classes and the four limits in a hello.
    classes: [u64; 5],
    opened: u64,
    finishing: u64,
    ports: BTreeMap<SocketAddr, Port>,
    /// The ports that have finished the handshake.
    pub(super) finished: BTreeSet<SocketAddr>,
    /// What the ports send in the next tick.
    replies: Vec<(SocketAddr, Vec<u8>)>,
}

impl Flood {
    pub(super) fn new(plan: FloodPlan, seed: u64, classes: [u64; 5]) -> Self {
        Self {
            plan,
            rng: Rng::new(seed).fork(41),
            classes,
            opened: 0,
            finishing: 0,
            ports: BTreeMap::new(),
            finished: BTreeSet::new(),
            replies: Vec::new(),
        }
    }

    /// Returns whether an address is of a flooding host.
    pub(super) fn is_of_flood(address: SocketAddr) -> bool {
        matches!(address, SocketAddr::V4(address) if address.ip().octets()[..3] == [198, 51, 100])
    }

    /// Returns what the hosts send, `passed` after the start of the run.
    pub(super) fn packets(&mut self, passed: Duration) -> Vec<(SocketAddr, Vec<u8>)> {
        let mut packets = std::mem::take(&mut self.replies);
        let flooding = passed.saturating_sub(self.plan.start).min(self.plan.lasts);
        let opened = (flooding.as_secs_f64() * f64::from(self.plan.rate)) as u64;
        while self.opened < opened.min(MOST_PORTS) {
            let (host, port) =
                (self.opened % u64::from(self.plan.hosts), self.opened / u64::from(self.plan.hosts));
            let address = SocketAddr::from(([198, 51, 100, host as u8], port as u16 + 1));
            self.opened += 1;
            let session = 1 << 62 | self.rng.next_u64() >> 2;
            let finishes = self.rng.chance(self.plan.finishes) && self.finishing < MOST_FINISHED;
            self.finishing += u64::from(finishes);
            let sends_cookie = finishes || self.rng.chance(self.plan.cookies);
            packets.push((address, self.hello(session, None)));
            self.ports.insert(address, Port { session, sends_cookie, finishes });
        }
        packets
    }

    /// Receives a packet of the server. The port answers it in the next tick.
    pub(super) fn receive(&mut self, at: SocketAddr, packet: &[u8]) {
        let Some(port) = self.ports.get(&at) else { return };
        if let Some(cookie) = cookie_of_retry(packet).filter(|_| port.sends_cookie) {
            let hello = self.hello(port.session, Some(cookie));
            self.replies.push((at, hello));
        }
        if let Some(token) = token_of_welcome(packet).filter(|_| port.finishes)
            && self.finished.insert(at)
        {
            // A packet without acks and without messages.
            self.replies.push((at, seal(&[0; 3], port.session ^ token)));
        }
    }

    fn hello(&self, session: u64, cookie: Option<u64>) -> Vec<u8> {
        let mut writer = BitWriter::new();
        writer.write_flag(true);
        writer.write_bits(0, 3);
        writer.write_bits(session, 64);
        for (number, width) in self.classes.into_iter().zip([64, 16, 32, 32, 32]) {
            writer.write_bits(number, width);
        }
        writer.write_flag(cookie.is_some());
        if let Some(cookie) = cookie {
            [cookie, 0].into_iter().for_each(|number| writer.write_bits(number, 64));
            writer.write_bits(0, 10);
        }
        let mut content = writer.into_bytes();
        content.resize(content.len() + self.plan.padding, 0);
        seal(&content, session)
    }
}
