//! One run: a world, its clients, and the network between them, tick by tick.
//!
//! *Invariant:* a run is a pure function of its plan.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use repl::sim::{Clock, LinkId, Network, PeerId, Rng, SeedReport};
use repl::{
    BitReader, Client, ConnectionId, DisconnectReason, ReadError, ReceiveError, ServerEvent, Session,
};

use crate::canary::scan;
use crate::classes::{Actor, Bird, Chest, Creature, Dot, Golem, Hoard, Pack, Scroll, Sign, Vault};
use crate::follower::Follower;
use crate::host::{self, HostSeat};
use crate::ledger::hash;
use crate::patience::Watch;
use crate::plan::{Plan, SIZES};
use crate::seat::Seat;
use crate::silence::{SILENT_S, Silence};
use crate::talk::{self, Talks};
use crate::whispers::{Heard, Whisper, Whispers};
use crate::witness::Witness;
use crate::world::{View, World};

const SERVER: PeerId = PeerId(0);
/// The test checks the sleeping objects in one of this many ticks.
const SLEEP_CHECKS: u64 = 16;
/// For how many ticks a client repeats its acks if much is lost: 16 ticks, and the tick for which it waits
/// (R8).
const ACKS_LAST_TICKS: u32 = 17;
/// The first bits after the checksum of a hello: it is a control packet, and its type is hello.
const HELLO: u8 = 1;
const CHECKSUM_BYTES: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The hash of all deliveries.
    pub(crate) trace: u64,
    /// How many secrets were found in packets that may contain them.
    pub(crate) secrets: u64,
    /// The number of these secrets that are parameters of calls.
    pub(crate) secrets_of_calls: u64,
    /// How many calls with secrets clients have heard.
    pub(crate) heard: u64,
    /// How many calls hosts have heard, and how many calls of hosts ran.
    pub(crate) of_host: [u64; 2],
    pub(crate) packets_lost: u64,
    /// The number of objects that were spawned and removed between two polls, so that no update reported
    /// them.
    pub(crate) untold: u64,
    pub(crate) ticks: u64,
}

/// A side continues to send probes for this long after nothing is in flight any more.
const PROBES_LAST: Duration = Duration::from_millis(300);

pub(crate) struct Run {
    plan: Plan,
    world: World,
    network: Network,
    clock: Clock,
    rng: Rng,
    seats: BTreeMap<PeerId, Seat>,
    host: Option<HostSeat>,
    /// Clients that left. Late packets of these clients are passed to their old connections.
    left: BTreeMap<PeerId, ConnectionId>,
    next_peer: u32,
    bursts: Vec<u64>,
    secrets: u64,
    secrets_of_calls: u64,
    /// The generator for extremes.
    wild: Rng,
    /// The generator for changes of the sizes of packets.
    sizes: Rng,
    /// The generator for the assets of clients.
    shelving: Rng,
    /// The generator for the followers of clients.
    following: Rng,
    /// Packets that may arrive again: sender, receiver and bytes.
    kept: Vec<(PeerId, PeerId, Vec<u8>)>,
    packets: u64,
    is_settling: bool,
    /// The packets that were sent since the silence began.
    silence: Option<Silence>,
}

impl Run {
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut world = World::new(plan);
        let host = plan.host.map(|host| HostSeat::new(host, plan.seed, &mut world));
        let mut run = Self {
            host,
            world,
            network: Network::new(plan.seed),
            clock: Clock::at_hz(plan.hz),
            rng: Rng::new(plan.seed).fork(3),
            seats: BTreeMap::new(),
            left: BTreeMap::new(),
            next_peer: 1,
            bursts: plan.bursts.clone(),
            secrets: 0,
            secrets_of_calls: 0,
            wild: Rng::new(plan.seed).fork(12),
            sizes: Rng::new(plan.seed).fork(35),
            shelving: Rng::new(plan.seed).fork(71),
            following: Rng::new(plan.seed).fork(73),
            kept: Vec::new(),
            packets: 0,
            is_settling: false,
            silence: None,
            plan: plan.clone(),
        };
        for _ in 0..plan.clients {
            run.join();
        }
        run
    }

    /// Runs to the end.
    ///
    /// # Panics
    /// Panics if any check fails. The seed is printed in this case.
    pub(crate) fn finish(mut self) -> Outcome {
        let mut report = SeedReport::new(self.plan.seed);
        while self.clock.ticks() < self.plan.ticks {
            self.tick();
            report.reached(self.clock.ticks());
        }
        self.is_settling = true;
        self.world.calm();
        let links: Vec<LinkId> = self.network.links().map(|(link, ..)| link).collect();
        links.into_iter().for_each(|link| self.network.mend(link));
        self.start_watches();
        while let Some((seat, difference, patience)) = self.difference() {
            assert!(
                !seat.watch.is_over(patience),
                "not converged in {patience:?}: {difference}\n{:?}",
                self.plan
            );
            (0..5).for_each(|_| self.tick());
            report.reached(self.clock.ticks());
        }
        // The server may be silent when the last acks have arrived. If many packets are lost, convergence
        // takes longer.
        let times = if self.plan.loss() > 0.21 { 20 } else { 1 };
        self.start_watches();
        // A packet may be declared lost before the connection has its turn to send its content again.
        let mut ticks_at_rest = 0;
        while ticks_at_rest <= self.plan.turn_ticks {
            let Some((seat, rest)) = self.unrest() else {
                ticks_at_rest += 1;
                self.tick();
                continue;
            };
            ticks_at_rest = 0;
            let patience = self.plan.patience(seat.measured) * times;
            assert!(!seat.watch.is_over(patience), "{:?}: {rest}\n{:?}", seat.connection, self.plan);
            self.tick();
            report.reached(self.clock.ticks());
        }
        self.rest();
        let difference = self.difference().map(|(_, difference, _)| difference);
        assert_eq!(difference, None, "a difference after convergence");
        let packets_lost = self.network.total().lost;
        let untold = self.finish_following();
        let mut steps = BTreeMap::new();
        for seat in self.seats.values() {
            for (leaf, shown) in seat.witness.steps_in_margins(&seat.client, &self.world, seat.connection) {
                let known = *steps.entry(leaf).or_insert(shown);
                assert_eq!(known, shown, "two clients show {leaf:x?} as different steps");
            }
            assert!(seat.client.server_tick() <= Some(self.world.server.ticks()));
            seat.witness.check_all_notified(&seat.client, &self.world);
            assert!(seat.client.is_synchronized(), "{:?} was never told that it has joined", seat.connection);
        }
        Outcome {
            trace: self.network.trace(),
            secrets: self.secrets,
            secrets_of_calls: self.secrets_of_calls,
            heard: self.seats.values().map(|seat| seat.heard_calls.count()).sum(),
            of_host: self.host.as_ref().map_or([0; 2], HostSeat::counts),
            packets_lost,
            untold,
            ticks: self.clock.ticks(),
        }
    }

    /// Polls the last updates, and checks that no update is missing. Returns the number of objects that were
    /// spawned and removed between two polls, so that no update reported them.
    fn finish_following(&mut self) -> u64 {
        let mut untold = 0;
        for seat in self.seats.values_mut() {
            seat.follower.poll(&mut seat.client, &self.world);
            seat.follower.check_components(&seat.client);
            let told = seat.follower.came(seat.joined);
            untold += told.map_or(0, |told| seat.witness.arrivals() - told);
        }
        untold
    }

    /// Lets everything in flight arrive. Checks that after that only keep-alive packets are sent.
    fn rest(&mut self) {
        let arrival = self.clock.now()
            + self.plan.round_trip()
            + self.plan.time_of(ACKS_LAST_TICKS * self.plan.turn_ticks.max(1))
            + PROBES_LAST;
        while self.clock.now() < arrival {
            self.tick();
        }
        self.silence = Some(Silence::default());
        (0..SILENT_S * self.plan.hz).for_each(|_| self.tick());
        let silence = self.silence.take().expect("it has begun");
        silence.assert_silent(&self.plan, self.seats.len());
    }

    fn start_watches(&mut self) {
        let now = self.clock.now();
        for seat in self.seats.values_mut() {
            seat.watch = Watch::new(now, seat.taken_by_bursts(&self.network));
            let stats = self.world.server.connection_info(seat.connection).stats();
            seat.measured = stats.map_or(Duration::ZERO, |stats| stats.round_trip);
        }
    }

    /// Looks for clients with packets in flight, or with objects that should sleep and do not. Returns the
    /// client among them that has waited longest, and what is not at rest.
    fn unrest(&self) -> Option<(&Seat, String)> {
        let seats = self.seats.values().filter_map(|seat| {
            let stats = self.world.server.connection_info(seat.connection).stats()?;
            // The client has objects, but none of its acks has arrived. The client counts as one with a
            // packet in flight, even if there is none: the server may not be allowed to send more to the
            // client's address (R26).
            let is_unheard = !seat.has_acked && seat.witness.present().next().is_some();
            let of_client = seat.client.connection_info().stats().packets_in_flight;
            let packets = stats.packets_in_flight + of_client + usize::from(is_unheard);
            let in_flight = (packets > 0).then(|| format!("{packets} packets in flight"));
            let restless = || seat.witness.restless(&seat.client, &self.world, seat.connection);
            in_flight.or_else(restless).map(|rest| (seat, rest))
        });
        seats.max_by_key(|(seat, _)| seat.watch.counted())
    }

    /// Looks for clients that lack something. Returns the client among them that has waited longest, what it
    /// lacks, and for how long it may lack something.
    fn difference(&self) -> Option<(&Seat, String, Duration)> {
        let seats = self.seats.values().filter_map(|seat| {
            let difference = seat.witness.difference(&seat.client, &self.world, seat.connection);
            let is_waiting = !seat.client.is_connected();
            let difference = difference.or_else(|| is_waiting.then(|| "not welcomed".to_owned()));
            let (difference, patience) = match difference {
                Some(difference) => (difference, self.plan.patience(seat.measured)),
                None => match seat.talks.difference() {
                    Some(difference) => (difference, self.plan.patience_with_messages(seat.measured)),
                    None => (
                        self.world.views[&seat.connection].rights.missing()?,
                        self.plan.patience_with_calls(seat.measured),
                    ),
                },
            };
            Some((seat, format!("{:?}: {difference}", seat.connection), patience))
        });
        seats.max_by_key(|(seat, ..)| seat.watch.counted())
    }

    fn join(&mut self) {
        let peer = PeerId(self.next_peer);
        self.next_peer += 1;
        let mut client = Client::new(
            self.plan.client(peer.0),
            Session::for_tests(u64::from(peer.0) << 8 | self.plan.seed & 0xff),
        );
        if self.plan.seed.is_multiple_of(4) {
            client.walk_only();
        }
        client
            .register::<Dot>()
            .register::<Hoard>()
            .register::<Vault>()
            .register::<Chest>()
            .register::<Pack>()
            .register::<Scroll>()
            .register::<Actor>();
        if self.plan.has_birds() {
            client.register::<Bird>();
        }
        if self.plan.has_signs() {
            client.register_assets().register::<Sign>();
        }
        if self.plan.has_golems() {
            client.register::<Golem>();
        }
        if self.plan.whispers.is_some() {
            Whispers::register_on_client(&mut client, self.plan.has_birds());
        }
        if self.plan.host.is_some() {
            host::register(&mut client);
        }
        client.register_archetype(|| Actor::archetype(true));
        talk::register_on_client(&mut client);
        let now = self.clock.now();
        let is_replay = self.rng.chance(0.1);
        let server = &mut self.world.server;
        let connection = if is_replay { server.connect_replay(now) } else { server.connect(now) };
        let down = self.network.link(SERVER, peer, self.plan.down);
        let up = self.network.link(peer, SERVER, self.plan.up);
        let (witness, made_at) = (Witness::default(), HashMap::new());
        let (watch, is_deaf) = (Watch::new(now, 0), self.wild.chance(self.plan.extremes.deaf));
        let talks = Talks::new(self.plan.talk, self.plan.seed << 16 | u64::from(peer.0));
        let joined = self.clock.ticks();
        let mut follower = Follower::draw(&mut self.following, joined, self.plan.ticks);
        if follower.polls_after_packets(joined) || follower.polls_after_tick(joined) {
            // From now on, the client records updates.
            assert_eq!(follower.poll(&mut client, &self.world), []);
        }
        let seat = Seat {
            client,
            witness,
            follower,
            joined,
            connection,
            down,
            up,
            is_deaf,
            talks,
            heard_calls: Heard::default(),
            made_at,
            heard: 0,
            watch,
            measured: Duration::ZERO,
            has_acked: false,
            last_received: now,
        };
        self.seats.insert(peer, seat);
        self.world.views.insert(connection, View { is_replay, ..View::default() });
        self.world.refresh(self.clock.ticks());
    }

    fn leave(&mut self) {
        let peers: Vec<PeerId> = self.seats.keys().copied().collect();
        let Some(peer) = self.rng.pick(&peers).copied() else { return };
        let Some(mut seat) = self.seats.remove(&peer) else { return };
        if self.rng.chance(0.5) {
            seat.client.disconnect();
            while let Some(packet) = seat.client.poll_transmit() {
                self.network.send(self.clock.now(), peer, SERVER, packet);
            }
        } else {
            self.world.server.connection(seat.connection).disconnect();
        }
        // The disconnect packet may be lost. Then the server closes the connection after its timeout.
        self.world.views.remove(&seat.connection);
        self.left.insert(peer, seat.connection);
    }

    /// Runs the events of a tick that concern links and clients.
    fn disturb(&mut self) {
        let now = self.clock.now();
        let links: Vec<LinkId> =
            self.seats.values().flat_map(|seat| [seat.down, seat.down, seat.up]).collect();
        if self.rng.chance(self.plan.dead_links)
            && let Some(&link) = self.rng.pick(&links)
        {
            self.network.blackout(link, now + self.rng.duration(Duration::from_secs(4)));
        }
        if self.rng.chance(0.02)
            && let Some(&link) = self.rng.pick(&links)
            && let Some(packets) = self.bursts.pop()
        {
            self.network.lose_next(link, packets);
        }
        if self.plan.mixes_sizes {
            self.change_sizes();
        }
        if self.rng.chance(self.plan.joins) {
            if self.seats.len() < 16 && self.rng.chance(0.6) {
                self.join();
            } else if self.seats.len() > 1 {
                self.leave();
            }
        }
    }

    /// Changes the packet size of one side, as a transport does when it finds out which size its path
    /// carries.
    fn change_sizes(&mut self) {
        let sizes = &mut self.sizes;
        for seat in self.seats.values_mut() {
            if sizes.chance(0.01)
                && let Some(&bytes) = sizes.pick(&SIZES)
            {
                if sizes.chance(0.7) {
                    self.world.server.connection(seat.connection).set_packet_bytes(bytes);
                } else {
                    seat.client.set_packet_bytes(bytes);
                }
            }
        }
    }

    /// Lets clients add assets. References to these assets then become valid.
    fn add_assets(&mut self) {
        for seat in self.seats.values_mut() {
            if self.shelving.chance(self.plan.asset_arrivals) {
                seat.witness.shelf.add_one(&mut seat.client, &mut self.shelving);
                if seat.follower.is_immediate() {
                    // References to the asset become valid. The updates about them have the tick of the last
                    // packet.
                    assert_eq!(seat.follower.poll(&mut seat.client, &self.world), []);
                }
                seat.witness.look(&mut seat.client, &self.world);
            }
        }
    }

    fn tick(&mut self) {
        let now = self.clock.tick();
        let tick = self.clock.ticks();
        let changes = !self.is_settling && tick.is_multiple_of(self.plan.change_interval);
        if changes {
            self.disturb();
            self.world.mutate(&self.plan, tick);
            if let Some(host) = &mut self.host {
                host.disturb(&mut self.world, &self.plan, tick);
            }
            self.echo(now);
            self.add_assets();
        }
        self.deliver(now);
        self.server_events(tick);
        self.talk(changes);
        if self.plan.wakes_all {
            // An empty packet has no effect.
            self.seats.values().for_each(|seat| self.world.server.receive(seat.connection, now, &[]));
        }
        let mut sent = Vec::new();
        for (&peer, seat) in &mut self.seats {
            seat.client.tick(now);
            while let Some(packet) = seat.client.poll_transmit() {
                seat.made_at.insert(hash(packet), tick);
                // A client that has received nothing for long repeats its hello (R25). It may do so in
                // addition to its keep-alive packets.
                let is_hello = packet.get(CHECKSUM_BYTES).is_some_and(|first| first & 0xf == HELLO);
                match &mut self.silence {
                    Some(silence) if is_hello => {
                        let waited = now - seat.last_received;
                        assert!(waited >= self.plan.timeout / 10, "a hello after only {waited:?}");
                        silence.hello();
                    }
                    Some(silence) => silence.of_client(),
                    None => {}
                }
                self.network.send(now, peer, SERVER, packet);
                sent.push((peer, SERVER, packet.to_vec()));
            }
        }
        sent.iter().for_each(|(from, to, packet)| self.keep(*from, *to, packet));
        match self.plan.waits {
            Some(waits) if !self.is_settling => waits.tick(&mut self.world.server, now),
            _ => self.world.server.tick(now),
        }
        if let Some(host) = &mut self.host {
            host.check(&mut self.world);
        }
        // The values are recorded after the comparison, because the comparison chooses the ids of an array
        // that was assigned over another array.
        self.world.record(tick);
        self.server_events(tick);
        self.transmit(now);
        if tick.is_multiple_of(SLEEP_CHECKS) && self.plan.lives.dormancy + self.plan.lives.initial > 0.0 {
            for seat in self.seats.values() {
                seat.witness.check_sleepers(&seat.client, &self.world, seat.connection);
            }
        }
        let round_trip = self.plan.round_trip();
        for seat in self.seats.values_mut() {
            if seat.follower.polls_after_tick(tick) {
                seat.follower.poll(&mut seat.client, &self.world);
            }
            seat.watch.tick(now, seat.taken_by_bursts(&self.network), round_trip);
        }
    }

    /// Lets the clients and the server read their messages, and send new messages if the world changes.
    fn talk(&mut self, changes: bool) {
        if let Some(host) = &mut self.host {
            host.talk(&mut self.world, changes, self.plan.has_birds());
        }
        let server = &mut self.world.server;
        let mut talks: HashMap<ConnectionId, &mut Talks> = HashMap::new();
        for seat in self.seats.values_mut() {
            seat.talks.hear(&mut seat.client);
            if changes {
                seat.talks.speak(&mut seat.client, server, seat.connection);
            }
            talks.insert(seat.connection, &mut seat.talks);
        }
        talks.extend(self.host.as_mut().and_then(HostSeat::talks));
        talk::hear_on_server(server, &mut talks);
        if let Some(plan) = self.plan.whispers {
            let has_birds = self.plan.has_birds();
            for seat in self.seats.values_mut() {
                let to = (&mut self.world, seat.connection);
                seat.heard_calls.hear(&mut seat.client, to, plan, has_birds);
            }
            self.world.drop_own_calls(has_birds);
        }
    }

    /// Delivers an old packet again.
    fn echo(&mut self, now: Duration) {
        if self.wild.chance(self.plan.extremes.echoes)
            && let Some((from, to, packet)) = self.wild.pick(&self.kept)
        {
            self.network.send(now, *from, *to, packet);
        }
    }

    /// Stores some of the packets, to arrive again.
    fn keep(&mut self, from: PeerId, to: PeerId, packet: &[u8]) {
        self.packets += 1;
        if self.plan.extremes.echoes > 0.0 && self.packets.is_multiple_of(self.plan.extremes.echo_of) {
            self.kept.push((from, to, packet.to_vec()));
        }
    }

    fn deliver(&mut self, now: Duration) {
        let tick = self.clock.ticks();
        while let Some(delivery) = self.network.deliver(now) {
            if delivery.to != SERVER {
                let Some(seat) = self.seats.get_mut(&delivery.to) else { continue };
                match seat.client.receive(now, delivery.bytes) {
                    Ok(()) => seat.last_received = now,
                    // If the low 16 bits of a packet's number have wrapped around since it was sent, the
                    // packet counts as damaged.
                    Err(ReceiveError::Damaged)
                        if self.plan.down.corrupt > 0.0 || self.plan.extremes.echoes > 0.0 =>
                    {
                        continue;
                    }
                    Err(error) => panic!("{:?} refused a packet: {error}", seat.connection),
                }
                seat.witness.events(&mut seat.client);
                let polls = seat.follower.polls_after_packets(tick);
                let mut news =
                    if polls { seat.follower.poll(&mut seat.client, &self.world) } else { Vec::new() };
                if !seat.follower.is_immediate() {
                    news = seat.witness.look_for_news(&seat.client, &self.world);
                }
                for uid in seat.witness.note(news, &seat.client, &self.world, (seat.connection, tick)) {
                    if let Some(view) = self.world.views.get_mut(&seat.connection) {
                        view.lose(uid);
                    }
                }
                if seat.witness.takes_synchronized() {
                    for uid in
                        self.world.views.get(&seat.connection).iter().flat_map(|view| view.joined_with())
                    {
                        let is_lacking = self.world.is_alive(uid)
                            && !self.world.may_wait(uid)
                            && !seat.witness.has(&self.world, uid);
                        assert!(!is_lacking, "{:?} lacks object {uid}, which was there", seat.connection);
                    }
                }
                seat.witness.look(&mut seat.client, &self.world);
            } else if let Some(seat) = self.seats.get_mut(&delivery.from) {
                self.world.server.receive(seat.connection, now, delivery.bytes);
                seat.has_acked |= tells_acks(delivery.bytes);
                let made_at = seat.made_at.get(&hash(delivery.bytes)).copied().unwrap_or(0);
                if made_at <= seat.heard {
                    continue;
                }
                seat.heard = made_at;
                if tells_acks(delivery.bytes) {
                    let view = self.world.views.get_mut(&seat.connection).expect("a view for each seat");
                    let known = seat.witness.present().filter(|(_, since)| *since <= made_at);
                    let known = known.filter(|(uid, since)| {
                        view.shown_at.get(uid).is_some_and(|shown| shown < since) && view.seen.contains(uid)
                    });
                    view.acknowledged.extend(known.map(|(uid, _)| uid).collect::<Vec<_>>());
                }
            } else if let Some(&connection) = self.left.get(&delivery.from) {
                self.world.server.receive(connection, now, delivery.bytes);
            }
        }
    }

    fn server_events(&mut self, tick: u64) {
        while let Some(event) = self.world.server.poll_event() {
            match event {
                ServerEvent::Connected(connection) => {
                    let Some(view) = self.world.views.get_mut(&connection) else { continue };
                    let shown =
                        view.shown_at.iter().filter(|(uid, shown)| **shown < tick && view.seen.contains(uid));
                    view.joined = Some((tick, shown.map(|(uid, _)| *uid).collect()));
                    for shown in view.shown_at.values_mut() {
                        *shown = (*shown).max(tick);
                    }
                }
                ServerEvent::Disconnected(connection, reason) => {
                    assert!(!self.world.views.contains_key(&connection), "{connection:?} ended: {reason}");
                    assert!(
                        matches!(reason, DisconnectReason::Closed | DisconnectReason::Timeout),
                        "{reason}"
                    );
                }
                other => panic!("unexpected: {other:?}"),
            }
        }
    }

    fn transmit(&mut self, now: Duration) {
        let mut sent = Vec::new();
        for (&peer, seat) in &self.seats {
            let connection = seat.connection;
            let most = self.plan.mtu_bytes.min(self.plan.client_bytes(peer.0));
            while let Some(packet) = self.world.server.poll_transmit(connection) {
                let packet = packet.to_vec();
                assert!(packet.len() <= most, "a packet of {} bytes", packet.len());
                self.silence.iter_mut().for_each(|silence| silence.of_server(&packet));
                scan(&packet, |canary| {
                    self.secrets += 1;
                    self.secrets_of_calls += u64::from(Whisper::of(canary).is_some());
                    assert!(
                        self.world.may_see(connection, canary),
                        "{connection:?} was sent {canary:?} of {}",
                        self.world.describe(connection, canary.object)
                    );
                });
                let extremes = &self.plan.extremes;
                let is_heard = !seat.is_deaf || !seat.witness.is_connected || self.is_settling;
                if is_heard || packet.len() >= extremes.deaf_below_bytes {
                    self.network.send(now, SERVER, peer, &packet);
                }
                sent.push((SERVER, peer, packet));
            }
            let stats =
                self.world.server.connection_info(connection).stats().expect("a connection of the server");
            // If the server counts something as lost, it sends it again, so a packet is in flight.
            let is_resolved = stats.packets_in_flight == 0 && !self.plan.may_wait();
            if is_resolved || stats.packets_lost == 0 {
                let view = self.world.views.get_mut(&connection).expect("a view for each seat");
                view.opened.append(&mut view.acknowledged);
            }
            assert!(stats.memory_bytes <= self.plan.max_connection_bytes, "{stats:?}");
            assert!(stats.packets_in_flight <= self.plan.max_packets_in_flight, "{stats:?}");
        }
        sent.iter().for_each(|(from, to, packet)| self.keep(*from, *to, packet));
        let peers: Vec<(PeerId, ConnectionId)> =
            self.left.iter().map(|(&peer, &connection)| (peer, connection)).collect();
        for (peer, connection) in peers {
            while let Some(packet) = self.world.server.poll_transmit(connection) {
                let packet = packet.to_vec();
                self.network.send(now, SERVER, peer, &packet);
            }
        }
    }
}

/// Returns whether a packet of a client acknowledges anything. A hello and a keep-alive packet acknowledge
/// nothing.
fn tells_acks(packet: &[u8]) -> bool {
    let mut bits = BitReader::new(packet.get(4..).unwrap_or_default());
    let mut read = || -> Result<bool, ReadError> {
        if bits.read_flag()? {
            return Ok(false);
        }
        bits.read_bits(16)?;
        if bits.read_flag()? {
            bits.read_exp_golomb(2)?;
        }
        if bits.read_flag()? {
            bits.read_exp_golomb(5)?;
        }
        bits.read_flag()
    };
    read().unwrap_or(false)
}
