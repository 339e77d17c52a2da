//! Random runs with calls, messages and inputs, while objects come and go, owners change, sessions end and
//! begin again, and the server is restarted.
//!
//! *Invariant:* a run is a pure function of its seed. The oracle decides what may run and what must run.

mod oracle;
mod unit;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use repl::prelude::*;
use repl::sim::{Clock, LinkConditions, LinkId, Loss, Network, PeerId, Rng, SeedReport};
use repl::{Channel, DisconnectReason, Endpoint, EndpointConfig};

use oracle::{About, Link, Oracle, Presence};
use unit::{Kind, Ran, Unit, call_of_client, call_of_server, polled, take_noted};

const SERVER: PeerId = PeerId(0);
const HZ: u32 = 60;
const TICKS: u64 = 900;
/// The silence after which each side ends a session.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The longest wait of a client before it connects again.
const LONGEST_DELAY: Duration = Duration::from_secs(8);
/// How long a call waits for the object that it refers to.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// A line of a chat from a client: its seat, its session and the number of the line.
#[derive(NetSerialize, Clone, Debug)]
struct Up(u32, u32, u32);

/// A line of a chat to a client: the server's number, the connection's number, and the number of the line.
#[derive(NetSerialize, Clone, Debug)]
struct Down(u32, u32, u32, #[replicated(max_len = 4096)] Vec<u8>);

/// An input, as a line of a chat.
#[derive(NetSerialize, Clone, Debug)]
struct Input(u32, u32, u32);

const INPUTS: Channel = Channel::Sequenced { copies: 3 };

/// What a seed decides before its run begins.
#[derive(Clone, Debug)]
struct Plan {
    seed: u64,
    seats: usize,
    units: usize,
    link: LinkConditions,
    mtu_bytes: usize,
    /// The chances in a tick that these events happen.
    calls: f64,
    talk: f64,
    churn: f64,
    flips: f64,
    outages: f64,
    leaves: f64,
    restarts: f64,
    /// Whether calls are polled on the server, and on every second client.
    polls: bool,
}

impl Plan {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed).fork(21);
        let mut pick = |values: &[f64]| *rng.pick(values).expect("values");
        let loss = pick(&[0.0, 0.02, 0.2, 0.2, 0.5]);
        let (latency, jitter) = (pick(&[0.0, 0.02, 0.08]), pick(&[0.0, 0.02, 0.1]));
        let link = LinkConditions {
            latency: Duration::from_secs_f64(latency),
            jitter: Duration::from_secs_f64(jitter),
            loss: Loss::Independent(loss),
            duplicate: pick(&[0.0, 0.2]),
            reorder: pick(&[0.0, 0.3]),
            reorder_by: Duration::from_millis(100),
            ..LinkConditions::perfect()
        };
        let (calls, talk) = (pick(&[0.3, 0.6, 0.9]), pick(&[0.05, 0.3]));
        let (churn, flips) = (pick(&[0.0, 0.05, 0.3]), pick(&[0.0, 0.05, 0.3]));
        let (outages, leaves) = (pick(&[0.0, 0.005, 0.01]), pick(&[0.0, 0.003]));
        let restarts = pick(&[0.0, 0.0, 0.002]);
        let (polls, mtu_bytes) = (pick(&[0.0, 1.0]) > 0.0, pick(&[400.0, 1_200.0]) as usize);
        let (seats, units) = (rng.range(1..4) as usize, rng.range(2..7) as usize);
        Self {
            seed,
            seats,
            units,
            link,
            mtu_bytes,
            calls,
            talk,
            churn,
            flips,
            outages,
            leaves,
            restarts,
            polls,
        }
    }

    /// Returns how long after the last change something may be missing. It is the sum of the time in which a
    /// session ends and the next one begins, the longest wait of a call, and the time that a run without new
    /// sessions and calls needs.
    fn patience(&self) -> Duration {
        let one_way = self.link.latency + self.link.jitter + self.link.reorder_by;
        let Loss::Independent(loss) = self.link.loss else { unreachable!("each packet by itself") };
        let of_link = if loss > 0.21 { Duration::from_secs(60) } else { one_way * 20 };
        of_link + Duration::from_secs(2) + TIMEOUT * 2 + LONGEST_DELAY + LONGEST_WAIT
    }

    fn server(&self) -> Server {
        let config = ServerConfig { timeout: TIMEOUT, mtu_bytes: self.mtu_bytes, ..ServerConfig::default() };
        let mut server = Server::new(config);
        server.register_message::<Down>(Channel::Ordered).register_message::<Input>(INPUTS);
        server.register_message::<Up>(Channel::Ordered).register_calls::<Unit>();
        server
    }

    fn client(&self, session: u64) -> Client {
        let config = ClientConfig { timeout: TIMEOUT, mtu_bytes: self.mtu_bytes, ..ClientConfig::default() };
        let mut client = Client::new(config, Session::for_tests(session));
        client.register_calls::<Unit>().register_message::<Up>(Channel::Ordered);
        client.register_message::<Down>(Channel::Ordered).register_message::<Input>(INPUTS);
        client
    }
}

struct Guest {
    client: Client,
    /// The number of the client's sessions so far.
    session: u32,
    inputs: u32,
    polls: bool,
    links: [LinkId; 2],
    /// The objects that the client had when its calls were last read, and the objects that arrived since
    /// then.
    had: BTreeSet<u32>,
    came: BTreeSet<u32>,
    end: Option<DisconnectReason>,
}

impl Guest {
    fn units(&self) -> BTreeSet<u32> {
        self.client.objects::<Unit>().map(|(_, unit)| unit.uid).collect()
    }

    fn events(&mut self) {
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Connected => self.session += 1,
                ClientEvent::Disconnected(reason) => self.end = Some(reason),
                _ => {}
            }
        }
        while let Some(update) = self.client.poll_update() {
            if update.what == UpdateKind::Spawned {
                let unit = update.cast::<Unit>().and_then(|unit| self.client.get(unit));
                self.came.extend(unit.map(|unit| unit.uid));
            }
        }
    }

    fn presence(&self, uid: u32, now: &BTreeSet<u32>) -> Presence {
        match (self.had.contains(&uid), now.contains(&uid)) {
            (true, true) if !self.came.contains(&uid) => Presence::Always,
            (false, false) if !self.came.contains(&uid) => Presence::Never,
            _ => Presence::Changed,
        }
    }

    /// Checks the calls that were read since the last time.
    fn check(&mut self, seat: usize, ran: Vec<Ran>, oracle: &mut Oracle, now: Duration) {
        let units = self.units();
        for ran in ran {
            let about = match (ran.about.is_null(), self.client.get(ran.about)) {
                (true, _) => About::Null,
                (false, Some(unit)) => About::Unit(unit.uid),
                (false, None) => About::Gone,
            };
            let presence =
                oracle.about(ran.number).map_or(Presence::Never, |about| self.presence(about, &units));
            let session = (seat, self.session, self.polls, !self.client.is_connected());
            oracle.ran_on_client(session, &ran, about, presence, now);
        }
        self.had = units;
        self.came.clear();
    }

    /// Sends the next line of the chat, if the client is connected and there is room.
    fn say(&mut self, seat: usize, oracle: &mut Oracle) {
        let lines = oracle.lines_of_client(seat, self.session);
        *lines += u32::from(self.client.send(&Up(seat as u32, self.session, *lines)).is_ok());
    }

    /// Reads everything that has arrived.
    fn read(&mut self, seat: usize, oracle: &mut Oracle, ids: &BTreeMap<u32, ConnectionId>, now: Duration) {
        self.events();
        while let Some(Down(server, serial, number, _)) = self.client.poll_message() {
            oracle.client_heard_chat((server, ids[&serial]), seat, self.session, number);
        }
        if self.polls {
            let mut ran = Vec::new();
            while let Some(received) = self.client.poll_call::<Unit>() {
                ran.push(polled(self.client[received.object].uid, None, &received.call));
            }
            self.check(seat, ran, oracle, now);
        }
    }
}

struct Run {
    plan: Plan,
    rng: Rng,
    clock: Clock,
    network: Network,
    server: Server,
    endpoint: Endpoint<PeerId>,
    /// The number of the server: how often it was restarted.
    number: u32,
    /// The clients by their seats, which are the numbers of their addresses too.
    guests: BTreeMap<usize, Guest>,
    next_seat: usize,
    units: BTreeMap<u32, ObjectRef<Unit>>,
    next_unit: u32,
    /// A number for each connection of all servers of the run.
    serials: BTreeMap<Link, u32>,
    ids: BTreeMap<u32, ConnectionId>,
    oracle: Oracle,
}

impl Run {
    fn new(plan: Plan) -> Self {
        let mut run = Self {
            rng: Rng::new(plan.seed).fork(22),
            clock: Clock::at_hz(HZ),
            network: Network::new(plan.seed),
            server: plan.server(),
            endpoint: Endpoint::new(EndpointConfig::default(), u128::from(plan.seed) << 64 | 1),
            number: 0,
            guests: BTreeMap::new(),
            next_seat: 1,
            units: BTreeMap::new(),
            next_unit: 0,
            serials: BTreeMap::new(),
            ids: BTreeMap::new(),
            oracle: Oracle::default(),
            plan,
        };
        (0..run.plan.seats).for_each(|_| run.enter());
        (0..run.plan.units).for_each(|_| run.spawn());
        run
    }

    fn now(&self) -> Duration {
        self.clock.now()
    }

    fn enter(&mut self) {
        let seat = self.next_seat;
        self.next_seat += 1;
        let address = PeerId(seat as u32);
        let links = [
            self.network.link(SERVER, address, self.plan.link),
            self.network.link(address, SERVER, self.plan.link),
        ];
        let client = self.plan.client((seat as u64) << 32 | self.plan.seed);
        let guest = Guest {
            client,
            session: 0,
            inputs: 0,
            polls: self.plan.polls == seat.is_multiple_of(2),
            links,
            had: BTreeSet::new(),
            came: BTreeSet::new(),
            end: None,
        };
        self.guests.insert(seat, guest);
    }

    fn spawn(&mut self) {
        let (uid, now) = (self.next_unit, self.now());
        self.next_unit += 1;
        let ballast = if self.rng.chance(0.2) { vec![uid as u8; 2_000] } else { Vec::new() };
        let unit = self.server.spawn(Unit { uid, health: 100, ballast });
        self.units.insert(uid, unit);
        self.oracle.spawned(uid, now);
        if self.rng.chance(0.8) {
            self.change_owner(uid);
        }
    }

    fn draw(&mut self) -> Option<(u32, ObjectRef<Unit>)> {
        let units: Vec<_> = self.units.iter().map(|(&uid, &unit)| (uid, unit)).collect();
        self.rng.pick(&units).copied()
    }

    fn change_owner(&mut self, uid: u32) {
        let links = self.oracle.links();
        let owner = self.rng.pick(&links).copied().filter(|_| self.rng.chance(0.9));
        self.server.object(self.units[&uid]).set_owner(owner.map(|(_, id)| id));
        self.oracle.owned(uid, owner, self.clock.now());
    }

    /// Changes objects and owners.
    fn change_world(&mut self) {
        if self.rng.chance(0.3)
            && let Some((_, unit)) = self.draw()
        {
            self.server[unit].health = self.rng.below(100) as u16;
        }
        if self.rng.chance(self.plan.churn) {
            if self.units.len() >= self.plan.units
                && let Some((uid, unit)) = self.draw()
            {
                self.server.despawn(unit);
                self.units.remove(&uid);
                self.oracle.despawned(uid);
            }
            if self.units.len() < self.plan.units || self.rng.chance(0.3) {
                self.spawn();
            }
        }
        if self.rng.chance(self.plan.flips)
            && let Some((uid, unit)) = self.draw()
        {
            let links = self.oracle.links();
            match self.rng.pick(&links).copied() {
                Some(link) if self.rng.chance(0.5) => {
                    let visible = self.oracle.is_hidden(uid, link);
                    self.server.object(unit).set_visible(link.1, visible);
                    self.oracle.set_visible(uid, link, visible, self.clock.now());
                }
                _ => self.change_owner(uid),
            }
        }
    }

    /// Runs the random events of links, clients and the server.
    fn disturb(&mut self) {
        let now = self.now();
        let seats: Vec<usize> = self.guests.keys().copied().collect();
        let Some(seat) = self.rng.pick(&seats).copied() else { return };
        if self.rng.chance(self.plan.outages) {
            let until = now + self.rng.duration(TIMEOUT * 2);
            let links = self.guests[&seat].links;
            let both = self.rng.chance(0.5);
            links.into_iter().skip(usize::from(!both)).for_each(|link| self.network.blackout(link, until));
        }
        if self.rng.chance(self.plan.leaves) {
            let mut guest = self.guests.remove(&seat).expect("a seat that was drawn");
            let link = self.oracle.links().into_iter().find(|link| self.oracle.seat_of(*link) == Some(seat));
            if self.rng.chance(0.5) {
                guest.client.disconnect();
                while let Some(packet) = guest.client.poll_transmit() {
                    self.network.send(now, PeerId(seat as u32), SERVER, packet);
                }
            } else if let Some((_, id)) = link {
                self.server.connection(id).disconnect();
            }
            self.enter();
        }
        if self.rng.chance(self.plan.restarts) {
            self.number += 1;
            self.oracle.restarted();
            self.units.clear();
            self.server = self.plan.server();
            let secret = u128::from(self.plan.seed) << 64 | u128::from(self.number + 1);
            self.endpoint = Endpoint::new(EndpointConfig::default(), secret);
            (0..self.plan.units).for_each(|_| self.spawn());
        }
    }

    fn speak(&mut self) {
        let now = self.now();
        while self.rng.chance(self.plan.calls)
            && let Some((uid, unit)) = self.draw()
        {
            let kind = *self.rng.pick(&Kind::OF_THE_SERVER).expect("kinds");
            // Few calls wait, because a call that waits for a hidden object delays other calls by up to 5 s.
            let kind = if kind == Kind::Follow && self.rng.chance(0.8) { Kind::Hit } else { kind };
            let about = self.draw().filter(|_| kind.refers());
            let about_unit = about.map_or(ObjectRef::NULL, |(_, unit)| unit);
            let number = self.oracle.next_call();
            let ok = call_of_server(&mut self.server, unit, kind, number, about_unit);
            self.oracle.server_called(uid, kind, about.map(|(uid, _)| uid), now, ok);
        }
        for (&seat, guest) in &mut self.guests {
            let owned: Vec<ObjectRef<Unit>> =
                guest.client.connection_info().owned_objects::<Unit>().map(|(unit, _)| unit).collect();
            let all: Vec<ObjectRef<Unit>> = guest.client.objects::<Unit>().map(|(unit, _)| unit).collect();
            while self.rng.chance(self.plan.calls * 0.7)
                && let Some(&unit) = self.rng.pick(&owned)
            {
                let kind = *self.rng.pick(&Kind::OF_CLIENTS).expect("kinds");
                let about = self.rng.pick(&all).copied().filter(|_| kind.refers()).unwrap_or(ObjectRef::NULL);
                let uid = guest.client[unit].uid;
                let about_uid = guest.client.get(about).map(|about| about.uid);
                let number = self.oracle.next_call();
                if call_of_client(&mut guest.client, unit, kind, number, about) {
                    self.oracle.client_called((seat, guest.session), uid, kind, about_uid, now);
                }
            }
            if self.rng.chance(self.plan.talk) {
                guest.say(seat, &mut self.oracle);
            }
            let input = Input(seat as u32, guest.session, guest.inputs);
            guest.inputs += u32::from(guest.client.send(&input).is_ok());
        }
        for link in self.oracle.links() {
            if self.rng.chance(self.plan.talk) {
                let bytes = if self.rng.chance(0.05) { 2_000 } else { 4 };
                let lines = self.oracle.lines_of_server(link);
                let down = Down(link.0, self.serials[&link], *lines, vec![0; bytes]);
                *lines += u32::from(self.server.connection(link.1).send(&down).is_ok());
            }
        }
    }

    fn server_events(&mut self) {
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Connected(id) => {
                    let link = (self.number, id);
                    let address = self.endpoint.address(id).expect("a client has an address");
                    let serial = self.serials.len() as u32;
                    self.serials.insert(link, serial);
                    self.ids.insert(serial, id);
                    self.oracle.connected(link, address.0 as usize, self.clock.now());
                }
                ServerEvent::Disconnected(id, reason) => {
                    let expected =
                        [DisconnectReason::Closed, DisconnectReason::Timeout, DisconnectReason::Replaced];
                    assert!(expected.contains(&reason), "{reason}");
                    self.oracle.disconnected((self.number, id));
                }
                other => panic!("unexpected: {other:?}"),
            }
        }
        self.oracle.check_connections();
    }

    /// Reads what has arrived at the server.
    fn read_on_server(&mut self) {
        self.server_events();
        while let Some((id, Up(seat, session, number))) = self.server.poll_message() {
            self.oracle.server_heard_chat((self.number, id), seat as usize, session, number);
        }
        while let Some((id, Input(seat, session, number))) = self.server.poll_message() {
            self.oracle.server_heard_input((self.number, id), seat as usize, session, number);
        }
        if self.plan.polls {
            while let Some(received) = self.server.poll_call::<Unit>() {
                let uid = self.server[received.object].uid;
                self.ran_on_server(&polled(uid, received.caller, &received.call));
            }
        }
    }

    fn ran_on_server(&mut self, ran: &Ran) {
        let about = self.server.get(ran.about).map_or(About::Gone, |unit| About::Unit(unit.uid));
        let about = if ran.about.is_null() { About::Null } else { about };
        self.oracle.ran_on_server(self.number, ran, about);
    }

    fn deliver(&mut self) {
        let now = self.now();
        while let Some(delivery) = self.network.deliver(now) {
            if delivery.to == SERVER {
                self.endpoint.receive(&mut self.server, now, delivery.from, delivery.bytes);
                self.read_on_server();
            } else if let Some(guest) = self.guests.get_mut(&(delivery.to.0 as usize)) {
                guest.client.receive(now, delivery.bytes).ok();
                guest.read(delivery.to.0 as usize, &mut self.oracle, &self.ids, now);
            }
        }
    }

    fn tick(&mut self, is_settling: bool) {
        let now = self.clock.tick();
        if !is_settling {
            self.disturb();
            self.change_world();
        }
        self.deliver();
        self.server_events();
        if !is_settling {
            self.speak();
        }
        for (&seat, guest) in &mut self.guests {
            guest.client.tick(now);
            // A client that polls has read all other calls already. So `tick` runs only calls that had to
            // wait for the objects they refer to.
            guest.check(seat, take_noted(), &mut self.oracle, now);
            guest.read(seat, &mut self.oracle, &self.ids, now);
            while let Some(packet) = guest.client.poll_transmit() {
                self.network.send(now, PeerId(seat as u32), SERVER, packet);
            }
        }
        self.server.tick(now);
        take_noted().iter().for_each(|ran| self.ran_on_server(ran));
        self.read_on_server();
        while let Some((to, packet)) = self.endpoint.poll_transmit(&mut self.server) {
            self.network.send(now, SERVER, to, packet);
        }
    }

    /// Returns what a client lacks of the state that it may see.
    fn difference(&self) -> Option<String> {
        for link in self.oracle.links() {
            let Some(guest) = self.oracle.seat_of(link).and_then(|seat| self.guests.get(&seat)) else {
                continue;
            };
            let shown: BTreeMap<u32, u16> =
                guest.client.objects::<Unit>().map(|(_, unit)| (unit.uid, unit.health)).collect();
            let visible = self.units.iter().filter(|(uid, _)| !self.oracle.is_hidden(**uid, link));
            let expected = visible.map(|(&uid, &unit)| (uid, self.server[unit].health)).collect();
            if shown != expected {
                return Some(format!("{link:?} shows {shown:?} and not {expected:?}"));
            }
        }
        let waiting = self.guests.iter().find(|(_, guest)| !guest.client.is_connected());
        waiting.map(|(seat, guest)| format!("seat {seat} is not connected: {:?}", guest.end))
    }

    /// Runs the whole run. Returns how many calls ran, and how many sessions began.
    fn finish(mut self) -> (usize, usize) {
        let mut report = SeedReport::new(self.plan.seed);
        while self.clock.ticks() < TICKS {
            self.tick(false);
            report.reached(self.clock.ticks());
        }
        let links: Vec<LinkId> = self.network.links().map(|(link, ..)| link).collect();
        links.into_iter().for_each(|link| self.network.mend(link));
        let end = self.now() + self.plan.patience();
        while let Some(missing) = self.difference().or_else(|| self.missing()) {
            assert!(self.now() < end, "not done in {:?}: {missing}\n{:?}", self.plan.patience(), self.plan);
            (0..5).for_each(|_| self.tick(true));
        }
        (0..HZ).for_each(|_| self.tick(true));
        (self.oracle.ran(), self.serials.len())
    }

    /// Each client sends a line if it has sent none in its session. Returns what has not arrived.
    fn missing(&mut self) -> Option<String> {
        for (&seat, guest) in &mut self.guests {
            if *self.oracle.lines_of_client(seat, guest.session) == 0 {
                guest.say(seat, &mut self.oracle);
            }
        }
        self.oracle.missing()
    }
}

/// Runs the seeds, and makes sure that there are enough calls and sessions.
pub(crate) fn run_all(seeds: impl Iterator<Item = u64>) {
    let outcomes: Vec<(usize, usize)> = seeds.map(|seed| Run::new(Plan::new(seed)).finish()).collect();
    let count = outcomes.len();
    let (calls, sessions) = outcomes.into_iter().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    assert!(count < 10 || calls > count * 500, "{calls} calls in {count} runs");
    assert!(count < 10 || sessions > count * 3, "{sessions} sessions in {count} runs");
}
