//! One run: the server, its guests and strangers, and the network between them, tick by tick.
//!
//! *Invariant:* a run is a pure function of its plan.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use repl::prelude::*;
use repl::sim::{LinkId, Network, PeerId, Rng, SeedReport, TraceHash};

use super::acts::{Act, Place};
use super::flood::Flood;
use super::forgery;
use super::guest::{Beacon, Cause, Guest, register};
use super::hall::Hall;
use super::meter::classes_of_hello;
use super::plan::Plan;

const SERVER: PeerId = PeerId(0);

/// The port of the first place.
const FIRST_PORT: u16 = 4_000;

/// The address of the attacker who forges packets.
const FORGER: ([u8; 4], u16) = ([203, 0, 113, 9], 9);

/// A link of a place and its latest blackout.
struct Spot {
    up: LinkId,
    down: LinkId,
    is_cut_until: Duration,
    /// The session of the last client that had shown its token to the server, and when this client left.
    last: Option<(u64, Duration)>,
}

pub(super) struct Run {
    plan: Plan,
    rng: Rng,
    now: Duration,
    ticks: u32,
    hall: Hall,
    network: Network,
    spots: Vec<Spot>,
    guests: Vec<Guest>,
    numbers: u32,
    flood: Option<Flood>,
    acts_done: usize,
    /// Packets that arrive once more: when, from, to.
    echoes: BTreeMap<(Duration, u64), (PeerId, PeerId, Vec<u8>)>,
    echo_count: u64,
    trace: TraceHash,
}

impl Run {
    pub(super) fn new(plan: &Plan) -> Self {
        let mut rng = Rng::new(plan.seed).fork(42);
        let mut network = Network::new(plan.seed);
        let spot = |place: Place| Spot {
            up: network.link(PeerId(place), SERVER, plan.up),
            down: network.link(SERVER, PeerId(place), plan.down),
            is_cut_until: Duration::ZERO,
            last: None,
        };
        let spots = (1..=plan.places + 1).map(spot).collect();
        let flood = plan.flood.clone().map(|flood| Flood::new(flood, plan.seed, classes(plan)));
        Self {
            hall: Hall::new(plan, &mut rng),
            rng,
            now: plan.start,
            ticks: 0,
            network,
            spots,
            guests: Vec::new(),
            numbers: 0,
            flood,
            acts_done: 0,
            echoes: BTreeMap::new(),
            echo_count: 0,
            trace: TraceHash::default(),
            plan: plan.clone(),
        }
    }

    /// Runs to the end. Returns the hash of all deliveries.
    ///
    /// # Panics
    /// Panics if a check fails. The seed is printed in this case.
    pub(super) fn finish(mut self) -> u64 {
        let mut report = SeedReport::new(self.plan.seed);
        while self.now < self.plan.last_act() {
            self.tick(true);
            report.reached(self.ticks.into());
        }
        self.converge(&mut report);
        let rested = self.now + self.plan.client_timeout.max(self.plan.server_timeout) * 5 / 4;
        while self.now < rested {
            self.tick(false);
            report.reached(self.ticks.into());
        }
        // Sessions may have ended in the meantime for a recorded cause.
        self.converge(&mut report);
        self.part();
        report.reached(self.ticks.into());
        self.hall.check_empty(&self.plan);
        self.trace.number(self.network.trace());
        self.trace.value()
    }

    /// Runs until all guests have joined and have all values of the server.
    fn converge(&mut self, report: &mut SeedReport) {
        let calm = self.now;
        while let Some(difference) = self.difference() {
            let due = self.guests.iter().map(|guest| guest.due).max().unwrap_or(calm);
            let patience = self.plan.converges_within();
            assert!(self.now <= calm.max(due) + patience, "{difference}\n{:?}", self.plan);
            self.tick(false);
            report.reached(self.ticks.into());
        }
    }

    fn address(&self, place: Place) -> SocketAddr {
        let host = (place - 1) / self.plan.places_per_host;
        SocketAddr::from(([192, 0, 2, host as u8 + 1], FIRST_PORT + place as u16))
    }

    fn place_of(&self, address: SocketAddr) -> Option<Place> {
        let place = Place::from(address.port().checked_sub(FIRST_PORT)?);
        (1..=self.plan.places + 1).find(|&other| other == place && self.address(other) == address)
    }

    fn spot(&mut self, place: Place) -> &mut Spot {
        &mut self.spots[place as usize - 1]
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Start { place, same_session } => self.start(place, same_session),
            Act::Vanish { place } => {
                self.note_last(place);
                self.guests.retain(|guest| guest.place != place);
            }
            Act::Move { from, to } => self.move_between(from, to),
            Act::Leave { place } => {
                for guest in self.guests.iter_mut().filter(|guest| guest.place == place) {
                    guest.has_left = true;
                    guest.client.disconnect();
                }
                self.note_last(place);
            }
            Act::Restart => {
                self.hall = Hall::new(&self.plan, &mut self.rng);
                for guest in &mut self.guests {
                    guest.connection = None;
                    guest.disturb(Cause::Restart, self.now, &self.plan);
                }
                self.spots.iter_mut().for_each(|spot| spot.last = None);
            }
            Act::Blackout { place, is_up, lasts } => {
                let until = self.now + lasts;
                let spot = &mut self.spots[place as usize - 1];
                self.network.blackout(if is_up { spot.up } else { spot.down }, until);
                spot.is_cut_until = spot.is_cut_until.max(until);
                self.notice_blackouts(lasts);
            }
        }
    }

    /// Remembers the session of the client at a place.
    fn note_last(&mut self, place: Place) {
        if let Some(guest) = self.guests.iter().rev().find(|guest| guest.place == place) {
            self.spots[place as usize - 1].last = guest.is_settled().then_some((guest.session, self.now));
        }
    }

    fn start(&mut self, place: Place, same_session: bool) {
        if self.guests.iter().any(|guest| guest.place == place && !guest.has_left) {
            self.spot(place).last = None;
        }
        self.guests.retain(|guest| guest.place != place);
        self.numbers += 1;
        // A new client repeats a session only if no late packet of the earlier client can arrive any more.
        // Such a packet would count as a packet of the new client.
        let (pause, is_echoing) = (self.plan.round_trip() * 2, self.plan.echoes > 0.0);
        let may_repeat = |went: Duration| same_session && !is_echoing && went + pause <= self.now;
        let last = self.spots[place as usize - 1].last.take().filter(|(_, went)| may_repeat(*went));
        let session = last.map_or(self.rng.next_u64() >> 2, |(session, _)| session);
        let mut guest = Guest::new(self.numbers, place, session, &self.plan, self.now);
        if last.is_some() {
            guest.disturb(Cause::SameSession, self.now, &self.plan);
        }
        if self.plan.is_crowded() {
            let until = self.plan.last_act().max(self.now) + self.plan.forgets_within();
            guest.disturb(Cause::Crowd, until, &self.plan);
        }
        self.guests.push(guest);
        let address = self.address(place);
        for other in self.guests.iter_mut().filter(|guest| guest.place != place) {
            // The other client has left this place, and the server may not know that yet.
            let is_known = other.connection.and_then(|id| self.hall.endpoint.address(id));
            if is_known == Some(address) || other.connection.is_none() {
                other.disturb(Cause::Successor, self.now, &self.plan);
            }
        }
        self.notice_blackouts(Duration::ZERO);
    }

    fn move_between(&mut self, from: Place, to: Place) {
        if from == to {
            return;
        }
        let mut has_moved = false;
        for guest in &mut self.guests {
            let place = match guest.place {
                place if place == from => to,
                place if place == to => from,
                _ => continue,
            };
            (guest.place, has_moved) = (place, true);
            let timeout = self.plan.client_timeout.min(self.plan.server_timeout);
            if self.plan.moves_within() > timeout || !guest.is_settled() {
                guest.disturb(Cause::Silence, self.now, &self.plan);
            }
            if !guest.is_settled() {
                guest.disturb(Cause::Move, self.now, &self.plan);
            }
            guest.due = guest.due.max(self.now + self.plan.moves_within() + self.plan.joins_within());
        }
        // A client that joins at a place replaces the session of the client that has left the place, unless
        // the server already knows that this client has moved.
        let is_joining = self
            .guests
            .iter()
            .any(|guest| [from, to].contains(&guest.place) && !guest.has_left && !guest.is_settled());
        for guest in self.guests.iter_mut().filter(|guest| [from, to].contains(&guest.place) && is_joining) {
            guest.disturb(Cause::Successor, self.now, &self.plan);
        }
        if has_moved {
            [from, to].into_iter().for_each(|place| self.spot(place).last = None);
        }
        self.notice_blackouts(Duration::ZERO);
    }

    /// Records for which guests packets may be lost for a while. `lasts` is the length of a blackout that
    /// begins now.
    fn notice_blackouts(&mut self, lasts: Duration) {
        let timeout = self.plan.client_timeout.min(self.plan.server_timeout);
        for guest in &mut self.guests {
            let until = self.spots[guest.place as usize - 1].is_cut_until;
            let is_harmless = guest.is_settled() && lasts + self.plan.step() < timeout;
            if until > self.now && !is_harmless {
                guest.disturb(Cause::Silence, until, &self.plan);
            }
        }
    }

    /// Runs a tick of everyone. While `is_busy`, the acts happen, the server changes its object, and messages
    /// are sent.
    fn tick(&mut self, is_busy: bool) {
        self.ticks += 1;
        self.now = self.plan.start + Duration::from_secs(1) * self.ticks / self.plan.hz;
        let (now, passed) = (self.now, self.now - self.plan.start);
        while let Some(&(_, act)) = self.plan.acts.get(self.acts_done).filter(|(at, _)| *at <= passed) {
            self.acts_done += 1;
            self.act(act);
        }
        for guest in &mut self.guests {
            guest.client.tick(now);
            guest.look(&self.plan, now);
        }
        self.send_of_guests();
        let flooding = self.flood.as_mut().map(|flood| flood.packets(passed));
        for (from, packet) in flooding.into_iter().flatten() {
            self.hall.receive(now, from, &packet, &mut self.trace);
        }
        self.deliver();
        self.attend(is_busy);
        self.hall.server.tick(now);
        self.send_of_server();
        self.check();
    }

    fn send_of_guests(&mut self) {
        let mut sent = Vec::new();
        for guest in &mut self.guests {
            while let Some(packet) = guest.client.poll_transmit() {
                sent.push((PeerId(guest.place), packet.to_vec()));
            }
        }
        sent.into_iter().for_each(|(from, packet)| self.send(from, SERVER, packet));
    }

    fn send_of_server(&mut self) {
        for (to, packet) in self.hall.poll() {
            if let Some(place) = self.place_of(to) {
                self.send(SERVER, PeerId(place), packet);
            } else if let Some(flood) = &mut self.flood {
                flood.receive(to, &packet);
            }
        }
    }

    fn send(&mut self, from: PeerId, to: PeerId, packet: Vec<u8>) {
        self.network.send(self.now, from, to, &packet);
        if self.now < self.plan.last_act() && self.rng.chance(self.plan.echoes) {
            self.echo_count += 1;
            let at = self.now + self.rng.duration(self.plan.echo_delay);
            self.echoes.insert((at, self.echo_count), (from, to, packet));
        }
    }

    fn deliver(&mut self) {
        while let Some(delivery) = self.network.deliver(self.now) {
            let (from, to, packet) = (delivery.from, delivery.to, delivery.bytes.to_vec());
            self.arrive(from, to, &packet);
        }
        while let Some(entry) = self.echoes.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (from, to, packet) = entry.remove();
            self.arrive(from, to, &packet);
        }
        if self.rng.chance(self.plan.forgeries) {
            self.forge();
        }
    }

    fn arrive(&mut self, from: PeerId, to: PeerId, packet: &[u8]) {
        if to == SERVER {
            return self.hall.receive(self.now, self.address(from.0), packet, &mut self.trace);
        }
        self.trace.bytes(packet);
        for guest in self.guests.iter_mut().filter(|guest| guest.place == to.0) {
            guest.client.receive(self.now, packet).ok();
            guest.look(&self.plan, self.now);
        }
    }

    /// The attacker forges a packet of a guest or of the server.
    fn forge(&mut self) {
        let settled = self.guests.iter().filter(|guest| guest.is_settled() && !guest.has_left);
        let victims: Vec<(Place, u64, u64)> = settled
            .filter_map(|guest| {
                Some((guest.place, guest.session, guest.client.connection_info().server_instance()?))
            })
            .collect();
        let Some(&(place, session, instance)) = self.rng.pick(&victims) else { return };
        let packet = forgery::packet(&mut self.rng, session, instance);
        match self.rng.below(3) {
            0 => self.arrive(SERVER, PeerId(place), &packet),
            1 => self.arrive(PeerId(place), SERVER, &packet),
            _ => self.hall.receive(self.now, FORGER.into(), &packet, &mut self.trace),
        }
    }

    /// Runs the application of the server, and the guests.
    fn attend(&mut self, is_busy: bool) {
        let ended = self.hall.attend(self.now, self.plan.decision, &mut self.rng);
        for (id, reason) in ended {
            let Some(talk) = self.hall.talks.get(&id).copied() else { continue };
            let guest = self.guests.iter().find(|guest| {
                (guest.number, guest.begun, guest.has_left) == (talk.guest, talk.session, false)
            });
            let Some(guest) = guest.filter(|guest| guest.client.is_connected()) else { continue };
            assert!(
                guest.may_end(&reason, self.now),
                "the server ended guest {} at {:?}: {reason}",
                guest.number,
                self.now - self.plan.start
            );
        }
        for guest in &mut self.guests {
            if guest.connection.is_none() && guest.client.is_connected() {
                let mut talks = self.hall.talks.iter();
                let is_own =
                    |talk: &super::hall::Talk| (talk.guest, talk.session) == (guest.number, guest.begun);
                guest.connection = talks.find(|(_, talk)| is_own(talk)).map(|(id, _)| *id);
            }
        }
        if !is_busy {
            return;
        }
        let chance = self.plan.chatter / f64::from(self.plan.hz);
        for guest in &mut self.guests {
            if self.rng.chance(chance) {
                guest.say();
            }
            if let Some(id) = guest.connection.filter(|_| self.rng.chance(chance)) {
                self.hall.say(id);
            }
        }
        if self.rng.chance(self.plan.changes) {
            let beacon = self.hall.beacon;
            self.hall.server[beacon].light += 1;
        }
    }

    fn check(&self) {
        self.hall.check_limits(&self.plan, self.flood.as_ref());
        for guest in self.guests.iter().filter(|guest| !guest.has_left) {
            assert!(
                guest.has_joined() || self.now <= guest.due,
                "guest {} has not joined after {:?}\n{:?}",
                guest.number,
                self.now - self.plan.start,
                self.plan
            );
        }
    }

    /// Returns what a guest lacks.
    fn difference(&self) -> Option<String> {
        let light = self.hall.server[self.hall.beacon].light;
        let mut lacking = self.guests.iter().filter(|guest| !guest.has_left).filter_map(|guest| {
            let shown = guest.client.objects::<Beacon>().next().map(|(_, beacon)| beacon.light);
            let talk = guest.connection.and_then(|id| self.hall.talks.get(&id));
            let what = match talk {
                _ if !guest.has_joined() => "it has not joined".to_owned(),
                None => "the server has no message of it".to_owned(),
                _ if shown != Some(light) => format!("it shows {shown:?}, not {light}"),
                Some(talk) if talk.heard != guest.sent => {
                    format!("{} of {} messages", talk.heard, guest.sent)
                }
                Some(talk) if guest.heard != talk.sent => format!("it has {} of {}", guest.heard, talk.sent),
                Some(_) => return None,
            };
            Some(format!("guest {} at place {}: {what}", guest.number, guest.place))
        });
        lacking.next()
    }

    /// All guests leave, with or without a disconnect packet. Time passes until the server has forgotten
    /// them.
    fn part(&mut self) {
        self.guests.retain_mut(|guest| {
            guest.has_left = true;
            guest.client.disconnect();
            self.rng.chance(0.5)
        });
        self.tick(false);
        self.guests.clear();
        // Late packets may make connections, which end again.
        let late = self.echoes.last_key_value().map_or(self.now, |((at, _), _)| *at);
        let end = self.now.max(late) + self.plan.round_trip() + self.plan.forgets_within();
        let stride = (self.plan.server_timeout.as_nanos() / 4 / self.plan.tick().as_nanos()) as u32;
        while self.now < end {
            self.ticks += stride.max(1) - 1;
            self.tick(false);
        }
    }
}

/// Returns the checksum of the classes and the four limits in the hello of a client of this plan.
fn classes(plan: &Plan) -> [u64; 5] {
    let mut client = Client::new(plan.client(), Session::for_tests(1));
    register(&mut client);
    client.tick(Duration::ZERO);
    client.poll_transmit().and_then(classes_of_hello).expect("a hello")
}
