//! The network: links between peers, packets on their way, and what tests make happen to them.
//!
//! *Invariant:* of each link, what was sent and duplicated is what was delivered and lost and is in flight.

use super::conditions::LinkConditions;
use super::rng::Rng;
use super::trace::TraceHash;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

/// A peer, by a number of the test's choosing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub u32);

/// A link of a network: one direction between two peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(usize);

/// A packet that has arrived. Its bytes are lent until the next call on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// When it arrived: at or before the time for which it was asked.
    pub at: Duration,
    /// Who sent it.
    pub from: PeerId,
    /// For whom it is.
    pub to: PeerId,
    /// What arrived, which is what was sent but for a bit flipped by [`LinkConditions::corrupt`].
    pub bytes: &'a [u8],
}

/// What became of a link's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets sent.
    pub sent: u64,
    /// Packets delivered, repetitions included.
    pub delivered: u64,
    /// Packets lost, for whatever reason.
    pub lost: u64,
    /// Of those lost, packets above [`LinkConditions::mtu_bytes`].
    pub too_long: u64,
    /// Of those lost, packets that the queue of a link of limited bandwidth had no place for.
    pub congested: u64,
    /// Packets sent on their way a second time.
    pub duplicated: u64,
    /// Packets delivered after one that was sent later.
    pub reordered: u64,
    /// Packets sent on their way with a bit flipped, repetitions included.
    pub corrupted: u64,
    /// Bytes of all packets sent.
    pub bytes_sent: u64,
    /// Bytes of all packets delivered.
    pub bytes_delivered: u64,
}

impl LinkStats {
    /// Packets on their way, repetitions included.
    pub const fn in_flight(&self) -> u64 {
        self.sent + self.duplicated - self.delivered - self.lost
    }
}

impl std::ops::AddAssign for LinkStats {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.lost += other.lost;
        self.too_long += other.too_long;
        self.congested += other.congested;
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.corrupted += other.corrupted;
        self.bytes_sent += other.bytes_sent;
        self.bytes_delivered += other.bytes_delivered;
    }
}

/// Peers joined by links. See the [module](super) for an example.
///
/// Times are those of any epoch, one for all calls, and are expected not to go back. Sending and delivering cost O(log packets in flight)
/// and the copies of the bytes; after a while nothing is allocated.
#[derive(Debug)]
pub struct Network {
    rng: Rng,
    links: Vec<Link>,
    by_peers: BTreeMap<(PeerId, PeerId), LinkId>,
    in_flight: BinaryHeap<Reverse<Flight>>,
    /// How many packets were ever put into `in_flight`: the order among those that arrive at one time.
    flights: u64,
    /// The packet delivered last, whose bytes are lent.
    delivered: Vec<u8>,
    /// Buffers to use again.
    spare: Vec<Vec<u8>>,
    trace: TraceHash,
}

#[derive(Debug)]
struct Link {
    from: PeerId,
    to: PeerId,
    conditions: LinkConditions,
    /// Never drawn from: each packet has a fork of its own.
    rng: Rng,
    /// The state of [`Loss::GilbertElliott`](super::Loss::GilbertElliott).
    bad: bool,
    /// How many of the next packets to lose.
    lose_next: u64,
    blackout_until: Duration,
    severed: bool,
    /// When the last packet will have left, on a link of limited bandwidth.
    idle_at: Duration,
    /// The place of the latest packet delivered, from 1.
    latest_delivered: u64,
    stats: LinkStats,
}

/// A packet on its way.
#[derive(Debug)]
struct Flight {
    arrives_at: Duration,
    order: u64,
    link: LinkId,
    /// Its place among the packets of the link, from 1.
    place: u64,
    bytes: Vec<u8>,
}

impl Flight {
    const fn key(&self) -> (Duration, u64) {
        (self.arrives_at, self.order)
    }
}

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Flight {}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Network {
    /// A network without links, whose chances all come from `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed),
            links: Vec::new(),
            by_peers: BTreeMap::new(),
            in_flight: BinaryHeap::new(),
            flights: 0,
            delivered: Vec::new(),
            spare: Vec::new(),
            trace: TraceHash::default(),
        }
    }

    /// Makes the link from one peer to another, or gives the one there is these conditions.
    ///
    /// # Panics
    /// If a probability is not from 0 to 1, or the bandwidth is zero.
    pub fn link(&mut self, from: PeerId, to: PeerId, conditions: LinkConditions) -> LinkId {
        conditions.check();
        let new = LinkId(self.links.len());
        let id = *self.by_peers.entry((from, to)).or_insert(new);
        if id == new {
            let label = u64::from(from.0) << 32 | u64::from(to.0);
            self.links.push(Link::new(from, to, conditions, self.rng.fork(label)));
        } else {
            self.links[id.0].conditions = conditions;
        }
        id
    }

    /// Makes the links between two peers, there and back, of the same conditions.
    ///
    /// # Panics
    /// As [`link`](Self::link).
    pub fn connect(&mut self, one: PeerId, other: PeerId, conditions: LinkConditions) -> (LinkId, LinkId) {
        (self.link(one, other, conditions), self.link(other, one, conditions))
    }

    /// Sends a packet, which may arrive.
    ///
    /// # Panics
    /// If there is no link between the two.
    pub fn send(&mut self, now: Duration, from: PeerId, to: PeerId, bytes: &[u8]) {
        let Some(&id) = self.by_peers.get(&(from, to)) else {
            panic!("peer {} has no link to peer {}: make one with `link` or `connect`", from.0, to.0);
        };
        let link = &mut self.links[id.0];
        link.stats.sent += 1;
        link.stats.bytes_sent += bytes.len() as u64;
        let place = link.stats.sent;
        let mut rng = link.rng.fork(place);
        let struck = link.conditions.loss.strikes(&mut link.bad, &mut rng);
        let leaves_at = link.leaves_at(now, bytes.len());
        let Some(leaves_at) = leaves_at.filter(|_| !struck) else {
            link.stats.lost += 1;
            return;
        };
        let copies = 1 + u64::from(rng.chance(link.conditions.duplicate));
        link.stats.duplicated += copies - 1;
        for _ in 0..copies {
            let mut copy = self.spare.pop().unwrap_or_default();
            copy.clear();
            copy.extend_from_slice(bytes);
            let arrives_at = leaves_at + link.delay_and_damage(&mut copy, &mut rng);
            let flight = Flight { arrives_at, order: self.flights, link: id, place, bytes: copy };
            self.in_flight.push(Reverse(flight));
            self.flights += 1;
        }
    }

    /// The next packet that has arrived by `now`: in the order of arrival, and of sending where that is the same. None if there is none.
    pub fn deliver(&mut self, now: Duration) -> Option<Delivery<'_>> {
        if self.next_delivery_at()? > now {
            return None;
        }
        let Reverse(Flight { arrives_at: at, link, place, bytes, .. }) = self.in_flight.pop()?;
        self.spare.push(std::mem::replace(&mut self.delivered, bytes));
        let bytes = self.delivered.as_slice();
        let Link { from, to, latest_delivered, stats, .. } = &mut self.links[link.0];
        stats.delivered += 1;
        stats.bytes_delivered += bytes.len() as u64;
        stats.reordered += u64::from(place < *latest_delivered);
        *latest_delivered = place.max(*latest_delivered);
        self.trace.number(at.as_nanos() as u64);
        self.trace.number(u64::from(from.0) << 32 | u64::from(to.0));
        self.trace.bytes(bytes);
        Some(Delivery { at, from: *from, to: *to, bytes })
    }

    /// When the next packet arrives, if one is on its way.
    pub fn next_delivery_at(&self) -> Option<Duration> {
        self.in_flight.peek().map(|Reverse(flight)| flight.arrives_at)
    }

    /// Gives the link other conditions, for the packets sent from now on.
    ///
    /// # Panics
    /// As [`link`](Self::link), or if the link is of another network.
    pub fn set_conditions(&mut self, link: LinkId, conditions: LinkConditions) {
        conditions.check();
        self.links[link.0].conditions = conditions;
    }

    /// The link's conditions.
    ///
    /// # Panics
    /// If the link is of another network, as all that name a link.
    pub fn conditions(&self, link: LinkId) -> LinkConditions {
        self.links[link.0].conditions
    }

    /// Loses exactly the next `packets` sent over the link; those that blackouts and other losses take count among them. In place of
    /// what was left of an earlier call.
    pub fn lose_next(&mut self, link: LinkId, packets: u64) {
        self.links[link.0].lose_next = packets;
    }

    /// Loses all that is sent over the link before `until`; what is in flight arrives.
    pub fn blackout(&mut self, link: LinkId, until: Duration) {
        self.links[link.0].blackout_until = until;
    }

    /// Loses all that is sent over the link until it is [mended](Self::mend); what is in flight arrives. The link back is another.
    pub fn sever(&mut self, link: LinkId) {
        self.links[link.0].severed = true;
    }

    /// Ends whatever [`sever`](Self::sever), [`blackout`](Self::blackout) and [`lose_next`](Self::lose_next) began. The conditions stay.
    pub fn mend(&mut self, link: LinkId) {
        let link = &mut self.links[link.0];
        (link.severed, link.blackout_until, link.lose_next) = (false, Duration::ZERO, 0);
    }

    /// Whether the link will lose the next packet by script: it is severed, blacked out or has a burst to lose.
    pub fn is_cut(&self, link: LinkId, now: Duration) -> bool {
        let link = &self.links[link.0];
        link.severed || now < link.blackout_until || link.lose_next > 0
    }

    /// What became of the link's packets.
    pub fn stats(&self, link: LinkId) -> LinkStats {
        self.links[link.0].stats
    }

    /// What became of the packets of all links. O(links).
    pub fn total(&self) -> LinkStats {
        let mut total = LinkStats::default();
        self.links.iter().for_each(|link| total += link.stats);
        total
    }

    /// All links, in the order of their making, with the peers they lead from and to.
    pub fn links(&self) -> impl Iterator<Item = (LinkId, PeerId, PeerId)> + '_ {
        self.links.iter().enumerate().map(|(index, link)| (LinkId(index), link.from, link.to))
    }

    /// The hash of all deliveries so far: their times, peers and bytes, in order. Two runs that are the same have the same.
    pub const fn trace(&self) -> u64 {
        self.trace.value()
    }
}

impl Link {
    fn new(from: PeerId, to: PeerId, conditions: LinkConditions, rng: Rng) -> Self {
        Self {
            from,
            to,
            conditions,
            rng,
            bad: false,
            lose_next: 0,
            blackout_until: Duration::ZERO,
            severed: false,
            idle_at: Duration::ZERO,
            latest_delivered: 0,
            stats: LinkStats::default(),
        }
    }

    /// When a packet that is sent now is on the wire, if the link takes it.
    fn leaves_at(&mut self, now: Duration, length: usize) -> Option<Duration> {
        let in_burst = self.lose_next > 0;
        self.lose_next = self.lose_next.saturating_sub(1);
        if in_burst || self.severed || now < self.blackout_until {
            return None;
        }
        if length > self.conditions.mtu_bytes {
            self.stats.too_long += 1;
            return None;
        }
        let Some(rate) = self.conditions.bandwidth_bytes_per_second.map(u128::from) else {
            return Some(now);
        };
        let starts_at = self.idle_at.max(now);
        let waiting_bytes = (starts_at - now).as_nanos() * rate / 1_000_000_000;
        if waiting_bytes + length as u128 > self.conditions.queue_bytes as u128 {
            self.stats.congested += 1;
            return None;
        }
        let nanos = length as u128 * 1_000_000_000 / rate;
        self.idle_at = starts_at + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        Some(self.idle_at)
    }

    /// How long a copy of a packet is on the wire; and flips its bit, if it is one of those.
    fn delay_and_damage(&mut self, copy: &mut [u8], rng: &mut Rng) -> Duration {
        let mut delay = self.conditions.latency + rng.duration(self.conditions.jitter);
        if rng.chance(self.conditions.reorder) {
            delay += self.conditions.reorder_by;
        }
        if rng.chance(self.conditions.corrupt) && !copy.is_empty() {
            let bit = rng.below(copy.len() as u64 * 8) as usize;
            copy[bit / 8] ^= 1 << (bit % 8);
            self.stats.corrupted += 1;
        }
        delay
    }
}

#[cfg(test)]
mod tests;
