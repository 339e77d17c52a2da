//! Random worlds of fast arrays. A seed decides how the arrays and the links change, and what each client may
//! see. After each packet, each client is compared with a model that is built only from callbacks. In the end
//! all clients are compared with the server. The kind of an item never changes, so a test notices if a client
//! confuses one item with another (S137).
//!
//! *Invariant:* a run is a pure function of its seed.

use std::collections::BTreeMap;
use std::time::Duration;

use repl::prelude::*;
use repl::sim::{Clock, LinkConditions, LinkId, Loss, Network, PeerId, Rng, SeedReport, seeds};
use repl::{DisconnectReason, Guid, ItemId};

use super::classes::{Bag, List, Plain, PlainItem, by_id, list};
use super::ops::{Dice, change_bag};
use super::replay::Listener;

const SERVER: PeerId = PeerId(0);
/// An upper bound on the size of a packet without state, in bytes: a header and a few ranges of acks.
const SIGNAL_BYTES: usize = 40;
/// Lengths of bursts of losses, in packets: near the sizes of Unreal's windows, and one longer than all of
/// them.
const BURSTS: [u64; 5] = [31, 33, 63, 65, 300];

/// The parameters of a run, which a seed decides before the run begins.
#[derive(Clone, Debug)]
struct Plan {
    ticks: u64,
    objects: u32,
    longest: usize,
    changes: usize,
    flips: f64,
    link: LinkConditions,
    mtu_bytes: usize,
    bursts: usize,
    first_id: ItemId,
    share: bool,
}

impl Plan {
    fn new(rng: &mut Rng) -> Self {
        let mut pick = |items: &[f64]| *rng.pick(items).expect("something to pick from");
        let loss = pick(&[0.0, 0.0, 0.02, 0.1, 0.3, 0.6]);
        let link = LinkConditions {
            latency: Duration::from_millis(pick(&[0.0, 20.0, 80.0]) as u64),
            jitter: Duration::from_millis(pick(&[0.0, 0.0, 30.0, 120.0]) as u64),
            loss: Loss::Independent(loss),
            duplicate: pick(&[0.0, 0.2]),
            reorder: pick(&[0.0, 0.3]),
            reorder_by: Duration::from_millis(120),
            ..LinkConditions::perfect()
        };
        Self {
            ticks: pick(&[60.0, 120.0, 240.0]) as u64,
            objects: pick(&[1.0, 2.0, 3.0]) as u32,
            longest: pick(&[3.0, 8.0, 20.0, 60.0]) as usize,
            changes: pick(&[1.0, 2.0, 6.0]) as usize,
            flips: pick(&[0.0, 0.03, 0.1]),
            link,
            mtu_bytes: pick(&[160.0, 400.0, 1_200.0]) as usize,
            bursts: pick(&[0.0, 0.0, 1.0, 3.0]) as usize,
            first_id: match pick(&[0.0, 0.0, 1.0]) as u32 {
                0 => ItemId::FIRST,
                _ => ItemId::new(ItemId::LAST.number() - 5).expect("an id"),
            },
            share: pick(&[0.0, 1.0]) > 0.5,
        }
    }
}

/// A client and its links.
struct Seat {
    client: Client,
    listener: Listener,
    connection: ConnectionId,
    down: LinkId,
    up: LinkId,
    /// For each object, the numbers that the client's user added to its array.
    local: BTreeMap<u32, Vec<u16>>,
}

struct Run {
    plan: Plan,
    server: Server,
    network: Network,
    clock: Clock,
    rng: Rng,
    seats: BTreeMap<PeerId, Seat>,
    objects: BTreeMap<u32, ObjectRef<Bag>>,
    alive: Vec<u32>,
    /// The numbers of the objects that are hidden from each connection.
    hidden: BTreeMap<ConnectionId, Vec<u32>>,
    next_peer: u32,
    updates: u64,
    loud: Option<usize>,
    /// How long a client may take to converge after the changes have stopped.
    patience: Duration,
}

impl Run {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed).fork(7);
        let plan = Plan::new(&mut rng);
        let config = ServerConfig {
            mtu_bytes: plan.mtu_bytes,
            timeout: Duration::from_secs(900),
            share: plan.share,
            congestion_control: repl::CongestionControl::Off,
            ..ServerConfig::default()
        };
        let mut run = Self {
            server: Server::new(config),
            network: Network::new(seed),
            clock: Clock::at_hz(60),
            rng,
            seats: BTreeMap::new(),
            objects: BTreeMap::new(),
            alive: Vec::new(),
            hidden: BTreeMap::new(),
            next_peer: 1,
            updates: 0,
            loud: None,
            patience: Duration::from_secs(60),
            plan,
        };
        run.server.register::<Bag>();
        (0..run.plan.objects).for_each(|_| run.spawn());
        (0..3).for_each(|_| run.join());
        run
    }

    fn spawn(&mut self) {
        let number = self.objects.len() as u32;
        let start = || FastArray::with_next_id(self.plan.first_id);
        let mut bag = Bag { number, items: start(), ..Bag::default() };
        bag.numbers = FastArray::with_next_id(self.plan.first_id);
        let guids = self.guids();
        let mut dice = Dice { rng: &mut self.rng, guids: &guids, first_id: self.plan.first_id };
        (0..dice.below(30)).for_each(|_| change_bag(&mut bag, self.plan.longest, &mut dice));
        let object = self.server.spawn(bag);
        self.objects.insert(number, object);
        self.alive.push(number);
    }

    fn guids(&self) -> Vec<Guid> {
        self.objects.values().filter_map(|object| object.guid()).collect()
    }

    fn join(&mut self) {
        let peer = PeerId(self.next_peer);
        self.next_peer += 1;
        let config = ClientConfig {
            mtu_bytes: self.plan.mtu_bytes,
            timeout: Duration::from_secs(900),
            ..ClientConfig::default()
        };
        let mut client = Client::new(config, Session::for_tests(u64::from(peer.0) + 77));
        client.register::<Bag>();
        let now = self.clock.now();
        // One client in five records a replay (S153).
        let is_replay = self.rng.chance(0.2);
        let connection = if is_replay { self.server.connect_replay(now) } else { self.server.connect(now) };
        let down = self.network.link(SERVER, peer, self.plan.link);
        let up = self.network.link(peer, SERVER, self.plan.link);
        let (listener, local) = (Listener::default(), BTreeMap::new());
        self.seats.insert(peer, Seat { client, listener, connection, down, up, local });
        self.hidden.insert(connection, Vec::new());
    }

    fn leave(&mut self) {
        let peers: Vec<PeerId> = self.seats.keys().copied().collect();
        let Some(seat) = self.rng.pick(&peers).and_then(|peer| self.seats.remove(peer)) else { return };
        self.server.connection(seat.connection).disconnect();
        self.hidden.remove(&seat.connection);
        self.updates += seat.listener.updates;
    }

    /// Changes the arrays, and moves arrays between objects.
    fn mutate(&mut self) {
        let guids = self.guids();
        for _ in 0..self.rng.below(self.plan.changes as u64 + 1) {
            let (Some(&one), Some(&other)) = (self.rng.pick(&self.alive), self.rng.pick(&self.alive)) else {
                return;
            };
            let (one, other) = (self.objects[&one], self.objects[&other]);
            if self.rng.chance(0.03) && one != other {
                let mut taken = std::mem::take(&mut self.server[one].items);
                std::mem::swap(&mut taken, &mut self.server[other].items);
                self.server[one].items = taken;
            }
            let mut dice = Dice { rng: &mut self.rng, guids: &guids, first_id: self.plan.first_id };
            change_bag(&mut self.server[one], self.plan.longest, &mut dice);
        }
    }

    /// Changes which clients are connected, what they may see, and which links work.
    fn flip(&mut self) {
        if self.plan.bursts > 0 && self.rng.chance(0.03) {
            let links: Vec<LinkId> = self.seats.values().flat_map(|seat| [seat.down, seat.up]).collect();
            let (link, burst) = (self.rng.pick(&links).copied(), self.rng.pick(&BURSTS).copied());
            if let (Some(link), Some(burst)) = (link, burst) {
                self.plan.bursts -= 1;
                // If nothing arrives, the server sends a packet every 250 ms (R9).
                self.patience += Duration::from_millis(250) * burst as u32;
                self.network.lose_next(link, burst);
            }
        }
        if !self.rng.chance(self.plan.flips) {
            return;
        }
        let connections: Vec<ConnectionId> = self.hidden.keys().copied().collect();
        let (Some(&connection), Some(&number)) = (self.rng.pick(&connections), self.rng.pick(&self.alive))
        else {
            return;
        };
        let object = self.objects[&number];
        match self.rng.below(12) {
            0 if self.seats.len() < 5 => self.join(),
            1 if self.seats.len() > 1 => {
                self.leave();
                self.join();
            }
            2 if self.alive.len() < 5 => self.spawn(),
            3 if self.alive.len() > 1 => {
                self.server.despawn(object);
                self.alive.retain(|known| *known != number);
            }
            4..8 => {
                let owner = self.rng.chance(0.8).then_some(connection);
                self.server.object(object).set_owner(owner);
            }
            _ => {
                let hidden = self.hidden.get_mut(&connection).expect("a connection");
                let was_hidden = hidden.contains(&number);
                hidden.retain(|known| *known != number);
                if !was_hidden {
                    hidden.push(number);
                }
                self.server.object(object).set_visible(connection, was_hidden);
            }
        }
    }

    /// Sometimes lets a client's user add items of its own (S183).
    fn predict(&mut self) {
        for seat in self.seats.values_mut() {
            let numbers: Vec<u32> = self.objects.keys().copied().collect();
            let Some(&number) = self.rng.pick(&numbers) else { return };
            if seat.connection.index() % 2 == 1
                && self.rng.chance(0.02)
                && let Some(bag) = seat.client.get_mut(self.objects[&number])
            {
                let own = self.rng.below(1_000) as u16;
                assert!(bag.numbers.id(bag.numbers.len()).is_none());
                assert!(bag.numbers.push(own).is_local());
                seat.local.entry(number).or_default().push(own);
            }
        }
    }

    fn tick(&mut self, is_settling: bool) {
        let now = self.clock.tick();
        if !is_settling {
            self.mutate();
            self.flip();
            self.predict();
        }
        self.deliver(now);
        for (&peer, seat) in &mut self.seats {
            seat.client.tick(now);
            while let Some(packet) = seat.client.poll_transmit() {
                self.network.send(now, peer, SERVER, packet);
            }
        }
        self.server.tick(now);
        while let Some(event) = self.server.poll_event() {
            assert!(
                matches!(
                    event,
                    ServerEvent::Connected(_) | ServerEvent::Disconnected(_, DisconnectReason::Closed)
                ),
                "unexpected: {event:?}"
            );
        }
        for (&peer, seat) in &self.seats {
            while let Some(packet) = self.server.poll_transmit(seat.connection) {
                let packet = packet.to_vec();
                assert!(packet.len() <= self.plan.mtu_bytes);
                if let Some(loud) = &mut self.loud {
                    *loud += usize::from(packet.len() > SIGNAL_BYTES);
                }
                self.network.send(now, SERVER, peer, &packet);
            }
        }
    }

    fn deliver(&mut self, now: Duration) {
        while let Some(delivery) = self.network.deliver(now) {
            if delivery.to == SERVER {
                if let Some(seat) = self.seats.get(&delivery.from) {
                    self.server.receive(seat.connection, now, delivery.bytes);
                }
                continue;
            }
            let Some(seat) = self.seats.get_mut(&delivery.to) else { continue };
            seat.client.receive(now, delivery.bytes).expect("a packet of the server");
            seat.listener.listen(&seat.client, &self.objects);
            while let Some(event) = seat.client.poll_event() {
                let is_expected = matches!(event, ClientEvent::Connected | ClientEvent::Synchronized);
                assert!(is_expected, "unexpected: {event:?}");
            }
            while let Some(update) = seat.client.poll_update() {
                match update.what {
                    UpdateKind::Despawned(_) => {
                        let gone = update.object.guid();
                        let number = self.objects.iter().find(|(_, object)| object.guid() == gone);
                        let number = *number.expect("an object of the server").0;
                        seat.listener.lose(number);
                        seat.local.remove(&number);
                    }
                    // The owners of objects change in this world, and with them the roles on clients.
                    // `tests/client/client_view.rs` tests the updates of roles.
                    UpdateKind::Spawned | UpdateKind::Changed | UpdateKind::Owner => {}
                    other => panic!("unexpected: {other:?}"),
                }
            }
        }
    }

    /// Returns how some client differs from the state that it must show in the end, or `None` if none
    /// differs.
    fn difference(&self) -> Option<String> {
        self.seats.values().find_map(|seat| {
            let connection = seat.connection;
            self.objects.iter().find_map(|(number, &object)| {
                let is_seen = self.alive.contains(number) && !self.hidden[&connection].contains(number);
                let found = seat.client.get(object);
                match (self.server.get(object).filter(|_| is_seen), found) {
                    (None, None) => None,
                    (Some(live), Some(bag)) => {
                        let is_owner = self.server.object_info(object).owner() == Some(connection);
                        let difference = differing(live, bag, is_owner, &seat.client)?;
                        Some(format!("{connection:?} object {number}: {difference}"))
                    }
                    (live, found) => Some(format!(
                        "{connection:?} object {number}: {} {}",
                        live.is_some(),
                        found.is_some()
                    )),
                }
            })
        })
    }

    fn packets_in_flight(&self) -> usize {
        let stats =
            self.seats.values().filter_map(|seat| self.server.connection_info(seat.connection).stats());
        stats.map(|stats| stats.packets_in_flight).sum()
    }

    /// Runs until all clients must have converged. Returns how many updates of arrays the callbacks reported.
    fn finish(mut self, seed: u64) -> u64 {
        let mut report = SeedReport::new(seed);
        while self.clock.ticks() < self.plan.ticks {
            self.tick(false);
            report.reached(self.clock.ticks());
        }
        let end = self.clock.now() + self.patience;
        while let Some(difference) = self.difference() {
            assert!(self.clock.now() < end, "not converged: {difference}\n{:?}", self.plan);
            (0..8).for_each(|_| self.tick(true));
            report.reached(self.clock.ticks());
        }
        let end = end + Duration::from_secs(120);
        while self.packets_in_flight() > 0 {
            assert!(self.clock.now() < end, "{} packets in flight", self.packets_in_flight());
            self.tick(true);
            report.reached(self.clock.ticks());
        }
        // Delivers the packets that are still in flight.
        (0..40).for_each(|_| self.tick(true));
        self.loud = Some(0);
        (0..60).for_each(|_| self.tick(true));
        assert_eq!(self.loud, Some(0), "packets with state in a world where nothing happens");
        assert_eq!(self.difference(), None, "a difference after convergence");
        for seat in self.seats.values() {
            seat.listener.assert_complete(&seat.client, &self.objects);
            for (number, own) in &seat.local {
                let Some(bag) = seat.client.get(self.objects[number]) else { continue };
                let ids = bag.numbers.ids().iter().filter(|id| id.is_local());
                let mut found: Vec<u16> = ids.filter_map(|id| bag.numbers.by_id(*id).copied()).collect();
                let mut own = own.clone();
                found.sort_unstable();
                own.sort_unstable();
                assert_eq!(found, own, "what the user of a client added stays");
            }
            self.updates += seat.listener.updates;
        }
        self.updates
    }
}

/// Replaces references to objects that the client does not have by null.
fn seen(mut items: List<PlainItem>, client: &Client) -> List<PlainItem> {
    for (_, item) in &mut items {
        item.target = item.target.filter(|guid| client.contains(ObjectRef::<Bag>::new(*guid)));
        item.sockets = by_id(std::mem::take(&mut item.sockets));
        for (_, socket) in &mut item.sockets {
            socket.tags = by_id(std::mem::take(&mut socket.tags));
        }
    }
    by_id(items)
}

/// Returns the first array in which a client's object differs from the server's, compared as sets by id.
fn differing(live: &Bag, found: &Bag, is_owner: bool, client: &Client) -> Option<String> {
    fn set<T: Plain>(array: &FastArray<T>) -> List<T::Form> {
        by_id(list(array))
    }
    let all_rows = |bag: &Bag| bag.rows.iter().map(set).collect::<Vec<_>>();
    let items = |array: &FastArray<_>| seen(list(array), client);
    let checks = [
        ("items", items(&live.items) == items(&found.items)),
        ("spare", items(&live.spare) == items(&found.spare)),
        ("cards", set(&live.hand.cards) == set(&found.hand.cards)),
        ("held", live.hand.held == found.hand.held),
        ("maybe", live.maybe.as_ref().map(set) == found.maybe.as_ref().map(set)),
        ("secret", !is_owner || set(&live.secret) == set(&found.secret)),
        ("numbers", set(&live.numbers) == set(&found.numbers)),
        ("rows", all_rows(live) == all_rows(found)),
    ];
    let name = checks.iter().find(|(_, same)| !same)?.0;
    Some(format!("{name}: {live:?} is shown as {found:?}"))
}

fn run_all(seeds: impl Iterator<Item = u64>) {
    let updates: Vec<u64> = seeds.map(|seed| Run::new(seed).finish(seed)).collect();
    assert!(updates.len() < 10 || updates.iter().sum::<u64>() > 1_000, "callbacks are heard");
}

#[test]
fn even_seeds_show_the_state_of_the_server_and_report_it() {
    run_all(seeds(0..400).filter(|seed| seed % 2 == 0));
}

#[test]
fn odd_seeds_show_the_state_of_the_server_and_report_it() {
    run_all(seeds(0..400).filter(|seed| seed % 2 == 1));
}
