//! The simulated network: links between peers, packets in flight, and the functions with which a test changes
//! links.
//!
//! *Invariant:* for each link, the number of sent and duplicated packets equals the number of packets that
//! were delivered, were lost, or are in flight.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use repl_link::Address;

use super::conditions::LinkConditions;
use super::rng::Rng;
use super::trace::TraceHash;

/// A peer, identified by a number that the test chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerId(pub u32);

impl Address for PeerId {}

/// A link of a network, which transports packets in one direction between two peers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(usize);

/// A packet that has arrived at its receiver. The bytes of a delivered packet are borrowed until the next
/// call on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// The time when the packet arrived. The time of arrival is not later than the time that was passed to
    /// [`Network::deliver`].
    pub at: Duration,
    /// The peer that sent the packet.
    pub from: PeerId,
    /// The peer that receives the packet.
    pub to: PeerId,
    /// The bytes of the packet as they arrived. They are the same as the bytes that were sent, except for one
    /// bit that [`LinkConditions::corrupt`] may flip.
    pub bytes: &'a [u8],
}

/// The numbers of packets of a link that were sent, delivered, lost, duplicated or damaged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// The number of packets that were sent.
    pub sent: u64,
    /// The number of packets that were delivered, including duplicates.
    pub delivered: u64,
    /// The number of packets that were lost, for any reason.
    pub lost: u64,
    /// The number of lost packets that were longer than [`LinkConditions::mtu_bytes`].
    pub too_long: u64,
    /// The number of lost packets for which the queue of a link with limited bandwidth had no room.
    pub congested: u64,
    /// The number of packets that were duplicated.
    pub duplicated: u64,
    /// The number of packets that were delivered after a packet that was sent later.
    pub reordered: u64,
    /// The number of packets and duplicates in which a bit was flipped.
    pub corrupted: u64,
    /// The number of bytes of all packets that were sent.
    pub bytes_sent: u64,
    /// The number of bytes of all packets that were delivered.
    pub bytes_delivered: u64,
}

impl LinkStats {
    /// Returns the number of packets in flight, including duplicates.
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

/// A simulated network of peers that are connected by links. The [module](super) has an example of a network.
///
/// The times that are passed to a network may count from any start, but all calls must use the same start.
/// The times that are passed to a network should not decrease. Sending and delivering take O(log packets in
/// flight), plus copying the bytes. Buffers are reused, so after a while the network allocates no more
/// memory.
#[derive(Debug)]
pub struct Network {
    rng: Rng,
    links: Vec<LinkState>,
    by_peers: BTreeMap<(PeerId, PeerId), LinkId>,
    in_flight: BinaryHeap<Reverse<Flight>>,
    /// The number of packets that were put into `in_flight` so far. This number orders packets that arrive at
    /// the same time.
    flights: u64,
    /// The packet that was delivered last. The caller of `deliver` borrows the bytes of this packet.
    delivered: Vec<u8>,
    /// Buffers of packets, for reuse.
    spare: Vec<Vec<u8>>,
    trace: TraceHash,
}

#[derive(Debug)]
struct LinkState {
    from: PeerId,
    to: PeerId,
    conditions: LinkConditions,
    /// The random number generator of this link. The random numbers for each packet come from a separate fork
    /// of this generator.
    rng: Rng,
    /// Whether the link is in the bad state, in the model
    /// [`Loss::GilbertElliott`](super::Loss::GilbertElliott).
    bad: bool,
    /// How many of the next packets the link loses, whatever its conditions are.
    lose_next: u64,
    blackout_until: Duration,
    severed: bool,
    /// The link whose queue the packets of this link wait in. Usually this is the link itself.
    queue: LinkId,
    /// The time when the last packet leaves the queue of this link. Used only if the bandwidth is limited.
    idle_at: Duration,
    /// The number of the latest packet that was delivered. The first packet on a link has the number 1.
    latest_delivered: u64,
    stats: LinkStats,
}

#[derive(Debug)]
struct Flight {
    arrives_at: Duration,
    order: u64,
    link: LinkId,
    /// The number of the packet on its link. The first packet on a link has the number 1.
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
    /// Returns a simulated network without links. All random decisions of the network come from `seed`.
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

    /// Makes a link from one peer to another. If the link exists already, its conditions are set instead.
    ///
    /// # Panics
    /// Panics if a probability is not from 0 to 1, or the bandwidth is zero.
    pub fn link(&mut self, from: PeerId, to: PeerId, conditions: LinkConditions) -> LinkId {
        conditions.check();
        let new = LinkId(self.links.len());
        let id = *self.by_peers.entry((from, to)).or_insert(new);
        if id == new {
            let label = u64::from(from.0) << 32 | u64::from(to.0);
            self.links.push(LinkState::new(id, from, to, conditions, self.rng.fork(label)));
        } else {
            self.links[id.0].conditions = conditions;
        }
        id
    }

    /// Makes the links between two peers, one in each direction, with the same conditions.
    ///
    /// # Panics
    /// Panics in the same cases as [`link`](Self::link).
    pub fn connect(&mut self, one: PeerId, other: PeerId, conditions: LinkConditions) -> (LinkId, LinkId) {
        (self.link(one, other, conditions), self.link(other, one, conditions))
    }

    /// Sends a packet, which may be lost.
    ///
    /// # Panics
    /// Panics if there is no link from the peer `from` to the peer `to`.
    pub fn send(&mut self, now: Duration, from: PeerId, to: PeerId, bytes: &[u8]) {
        let Some(&id) = self.by_peers.get(&(from, to)) else {
            panic!("peer {} has no link to peer {}: make one with `link` or `connect`", from.0, to.0);
        };
        let link = &mut self.links[id.0];
        link.stats.sent += 1;
        link.stats.bytes_sent += bytes.len() as u64;
        let place = link.stats.sent;
        let mut rng = link.rng.fork(place);
        let is_lost = link.conditions.loss.loses_next(now, &mut link.bad, &mut rng);
        let (is_taken, queue) = (link.takes(now, bytes.len()), link.queue);
        let leaves_at = if is_taken { self.links[queue.0].enqueue(now, bytes.len()) } else { None };
        let link = &mut self.links[id.0];
        link.stats.congested += u64::from(is_taken && leaves_at.is_none());
        let Some(leaves_at) = leaves_at.filter(|_| !is_lost) else {
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

    /// Returns the next packet that has arrived by the time `now`. Packets are returned in the order of
    /// arrival. Packets that arrive at the same time are returned in the order of sending. Returns `None` if
    /// there are no more packets.
    pub fn deliver(&mut self, now: Duration) -> Option<Delivery<'_>> {
        if self.next_delivery_at()? > now {
            return None;
        }
        let Reverse(Flight { arrives_at: at, link, place, bytes, .. }) = self.in_flight.pop()?;
        self.spare.push(std::mem::replace(&mut self.delivered, bytes));
        let bytes = self.delivered.as_slice();
        let LinkState { from, to, latest_delivered, stats, .. } = &mut self.links[link.0];
        stats.delivered += 1;
        stats.bytes_delivered += bytes.len() as u64;
        stats.reordered += u64::from(place < *latest_delivered);
        *latest_delivered = place.max(*latest_delivered);
        self.trace.number(at.as_nanos() as u64);
        self.trace.number(u64::from(from.0) << 32 | u64::from(to.0));
        self.trace.bytes(bytes);
        Some(Delivery { at, from: *from, to: *to, bytes })
    }

    /// Returns the time when the next packet arrives. Returns `None` if no packet is in flight.
    pub fn next_delivery_at(&self) -> Option<Duration> {
        self.in_flight.peek().map(|Reverse(flight)| flight.arrives_at)
    }

    /// Changes the conditions of the link, for packets that are sent from now on.
    ///
    /// # Panics
    /// Panics in the same cases as [`link`](Self::link). The method also panics if the link belongs to
    /// another network.
    pub fn set_conditions(&mut self, link: LinkId, conditions: LinkConditions) {
        conditions.check();
        self.links[link.0].conditions = conditions;
    }

    /// Returns the conditions of the link.
    ///
    /// # Panics
    /// Panics if the link belongs to another network. All methods that take a link panic if the link belongs
    /// to another network.
    pub fn conditions(&self, link: LinkId) -> LinkConditions {
        self.links[link.0].conditions
    }

    /// Makes the packets of `link` wait in the queue of `bottleneck`, together with the packets of
    /// `bottleneck` and of all other links that use this queue. The bandwidth and the length of the queue are
    /// those in the conditions of `bottleneck`. The other conditions of `link` do not change. Packets leave
    /// the queue in the order in which they were sent. To give `link` its own queue again, pass `link` as
    /// both arguments.
    ///
    /// ```
    /// # mod repl { pub(crate) use repl_sim as sim; }
    /// use repl::sim::{LinkConditions, Network, PeerId};
    ///
    /// let (server, one, other) = (PeerId(0), PeerId(1), PeerId(2));
    /// let line = LinkConditions { bandwidth_bytes_per_second: Some(1_000), ..LinkConditions::perfect() };
    /// let mut network = Network::new(7);
    /// let (down, _up) = network.connect(server, one, line);
    /// let (other_down, _up) = network.connect(server, other, LinkConditions::perfect());
    /// network.share_queue(down, other_down);
    /// network.send(std::time::Duration::ZERO, server, one, &[0; 500]);
    /// network.send(std::time::Duration::ZERO, server, other, &[0; 250]);
    /// let arrivals = std::iter::from_fn(|| {
    ///     let at = network.next_delivery_at()?;
    ///     network.deliver(at).map(|delivery| (delivery.to, at.as_millis()))
    /// });
    /// assert_eq!(arrivals.collect::<Vec<_>>(), [(one, 500), (other, 750)]);
    /// ```
    ///
    /// # Panics
    /// Panics if a link belongs to another network.
    pub fn share_queue(&mut self, bottleneck: LinkId, link: LinkId) {
        assert!(bottleneck.0 < self.links.len(), "the bottleneck is a link of this network");
        self.links[link.0].queue = bottleneck;
    }

    /// Makes the network lose exactly the next `packets` packets that are sent over the link. Packets that
    /// are lost for other reasons are also counted. A new call of `lose_next` replaces the rest of an earlier
    /// call.
    pub fn lose_next(&mut self, link: LinkId, packets: u64) {
        self.links[link.0].lose_next = packets;
    }

    /// Makes the network lose all packets that are sent over the link before `until`. Packets that are
    /// already in flight still arrive.
    pub fn blackout(&mut self, link: LinkId, until: Duration) {
        self.links[link.0].blackout_until = until;
    }

    /// Makes the network lose all packets that are sent over the link until it is [mended](Self::mend).
    /// Packets that are already in flight still arrive. The link in the other direction is not affected.
    pub fn sever(&mut self, link: LinkId) {
        self.links[link.0].severed = true;
    }

    /// Ends the effects of [`sever`](Self::sever), [`blackout`](Self::blackout) and
    /// [`lose_next`](Self::lose_next). The conditions of the link do not change.
    pub fn mend(&mut self, link: LinkId) {
        let link = &mut self.links[link.0];
        (link.severed, link.blackout_until, link.lose_next) = (false, Duration::ZERO, 0);
    }

    /// Returns whether the next packet on the link is certainly lost, either because the link is severed or
    /// blacked out, or because of [`lose_next`](Self::lose_next).
    pub fn is_cut(&self, link: LinkId, now: Duration) -> bool {
        let link = &self.links[link.0];
        link.severed || now < link.blackout_until || link.lose_next > 0
    }

    /// Returns how many packets of the link were sent, delivered, lost, duplicated or damaged.
    pub fn stats(&self, link: LinkId) -> LinkStats {
        self.links[link.0].stats
    }

    /// Returns the sums of the [`LinkStats`] of all links. Costs O(links).
    pub fn total(&self) -> LinkStats {
        let mut total = LinkStats::default();
        self.links.iter().for_each(|link| total += link.stats);
        total
    }

    /// Returns all links in the order in which they were made, each with its sender and receiver.
    pub fn links(&self) -> impl Iterator<Item = (LinkId, PeerId, PeerId)> + '_ {
        self.links.iter().enumerate().map(|(index, link)| (LinkId(index), link.from, link.to))
    }

    /// Returns a hash of all deliveries so far: their times, peers and bytes, in order. Two equal runs have
    /// equal hashes.
    pub const fn trace(&self) -> u64 {
        self.trace.value()
    }
}

impl LinkState {
    fn new(id: LinkId, from: PeerId, to: PeerId, conditions: LinkConditions, rng: Rng) -> Self {
        Self {
            from,
            to,
            conditions,
            rng,
            queue: id,
            bad: false,
            lose_next: 0,
            blackout_until: Duration::ZERO,
            severed: false,
            idle_at: Duration::ZERO,
            latest_delivered: 0,
            stats: LinkStats::default(),
        }
    }

    /// Returns whether a packet that is sent at the time `now` reaches the queue of the link.
    fn takes(&mut self, now: Duration, length: usize) -> bool {
        let in_burst = self.lose_next > 0;
        self.lose_next = self.lose_next.saturating_sub(1);
        if in_burst || self.severed || now < self.blackout_until {
            return false;
        }
        let is_too_long = length > self.conditions.mtu_bytes;
        self.stats.too_long += u64::from(is_too_long);
        !is_too_long
    }

    /// Puts a packet into the queue of this link. Returns the time when the packet leaves the queue, or
    /// `None` if the queue has no room for it.
    fn enqueue(&mut self, now: Duration, length: usize) -> Option<Duration> {
        let Some(rate) = self.conditions.bandwidth_bytes_per_second.map(u128::from) else {
            return Some(now);
        };
        let starts_at = self.idle_at.max(now);
        let waiting_bytes = (starts_at - now).as_nanos() * rate / 1_000_000_000;
        if waiting_bytes + length as u128 > self.conditions.queue_bytes as u128 {
            return None;
        }
        let nanos = length as u128 * 1_000_000_000 / rate;
        self.idle_at = starts_at + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        Some(self.idle_at)
    }

    /// Returns the delay of a copy of a packet. Also flips a bit of the copy, with the probability
    /// [`LinkConditions::corrupt`].
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
