//! A server, its clients, and the transport between them.
//!
//! *Invariant:* a client learns everything by packets, and every packet to a client was searched for secrets.

use std::collections::BTreeSet;
use std::io;
use std::time::Duration;

use repl::DisconnectReason;
use repl::prelude::*;

use crate::calls::{self, Chat, Input, MatchCall};
use crate::chat::Log;
use crate::game::Arena;
use crate::guest::{Guest, SPECTATOR};
use crate::host::HostPlayer;
use crate::model;
use crate::pace::Pace;
use crate::pilot::Pilot;
use crate::secrets::Drawn;
use crate::sight::Sight;
use crate::transport::Transport;
use crate::view::View;

/// How long clients may take to converge after the match.
const PATIENCE: Duration = Duration::from_secs(60);

/// The settings of a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    pub players: u32,
    pub ticks: u32,
    pub seed: u64,
    /// Whether there is a host: a player in the process of the server.
    pub has_host: bool,
    /// The number of the client that cheats, if one does. Clients are numbered from 1.
    pub cheater: Option<u32>,
    /// Whether a client may only watch. If not, each client plays as long as there are players.
    pub has_spectators: bool,
}

pub struct Session {
    pub server: Server,
    pub arena: Arena,
    pub sight: Sight,
    /// The clients that only watch.
    spectators: BTreeSet<ConnectionId>,
    pub guests: Vec<Guest>,
    /// The player in the process of the server, if there is one.
    pub host: Option<HostPlayer>,
    pub transport: Box<dyn Transport>,
    pace: Pace,
    pub chat: Log,
    /// How many explosions the server announced.
    pub explosions: u64,
    settings: Settings,
    /// How many secrets were found in packets that may not hold them.
    pub leaks: u64,
    /// How many secrets were found in packets that may hold them.
    pub rightly_sent: u64,
    found: Vec<(ConnectionId, Drawn)>,
}

impl Session {
    /// Returns a server with an arena, and no client yet.
    pub fn new(settings: Settings, transport: Box<dyn Transport>, pace: Pace) -> Self {
        let Settings { players, ticks, seed, has_host, has_spectators, .. } = settings;
        let login = if has_spectators { Login::Ask } else { Login::Open };
        let mut server = Server::new(ServerConfig { login, ..ServerConfig::default() });
        calls::register(&mut server);
        let arena = Arena::new(&mut server, players, ticks, seed);
        let host = has_host.then(|| HostPlayer::new(&mut server, Pilot::new(0, seed, false)));
        Self {
            arena,
            host,
            server,
            sight: Sight::default(),
            spectators: BTreeSet::new(),
            guests: Vec::new(),
            transport,
            pace,
            chat: Log::default(),
            explosions: 0,
            settings,
            leaks: 0,
            rightly_sent: 0,
            found: Vec::new(),
        }
    }

    /// Adds a client, which says hello in the next tick.
    pub fn connect(&mut self) -> io::Result<()> {
        let number = self.guests.len() as u32 + 1;
        let connection = self.transport.connect(&mut self.server, number, self.pace.now())?;
        let pilot = Pilot::new(number, self.settings.seed, self.settings.cheater == Some(number));
        let guest = Guest::new(number, pilot, repl::Session::for_tests(number.into()));
        self.guests.push(Guest { connection, ..guest });
        Ok(())
    }

    /// Runs one tick of the match, the server and all clients.
    pub fn play(&mut self) -> io::Result<()> {
        let now = self.begin_tick()?;
        self.move_players();
        self.send(now)
    }

    /// Runs one tick of the server and all clients, in which nothing happens in the match.
    pub fn rest(&mut self) -> io::Result<()> {
        let now = self.begin_tick()?;
        self.decide_sight();
        self.send(now)
    }

    /// Waits for the next tick, and lets the server handle the packets that have arrived. Returns the time.
    pub fn begin_tick(&mut self) -> io::Result<Duration> {
        let now = self.pace.tick();
        self.transport.deliver(&mut self.server, &mut self.guests, now)?;
        while let Some(event) = self.server.poll_event() {
            match event {
                ServerEvent::Login(connection, login) => self.admit(connection, &login),
                ServerEvent::Connected(connection) => self.join(connection),
                ServerEvent::Disconnected(connection, reason) => self.leave(connection, &reason),
                ServerEvent::PacketBytesChanged(..) | ServerEvent::PacketsTruncated { .. } => {}
                other => eprintln!("arena: {other:?}"),
            }
        }
        self.listen();
        Ok(now)
    }

    pub fn move_players(&mut self) {
        self.steer();
        self.arena.play(&mut self.server);
        self.decide_sight();
    }

    /// Steers the players by the inputs for this tick. If an input is missing, its player continues as
    /// before.
    fn steer(&mut self) {
        let tick = self.server.next_tick();
        for (&connection, &player) in &self.sight.seats {
            let input = self.server.connection(connection).input::<Input>(tick);
            if let Some(input) = input.or_last() {
                self.arena.steer(&mut self.server, player, &input);
            }
        }
    }

    /// Decides what each client sees in this tick.
    fn decide_sight(&mut self) {
        Arena::allow_shots(&mut self.server);
        self.sight.look(&mut self.server, &self.arena);
    }

    /// Runs the ticks of the server, the clients and the host.
    pub fn send(&mut self, now: Duration) -> io::Result<()> {
        self.server.tick(now);
        self.send_of_server(now)?;
        for guest in &mut self.guests {
            guest.tick(now);
            self.transport.send_of(guest, now)?;
        }
        if let Some(host) = &mut self.host {
            host.tick(&mut self.server, now);
        }
        Ok(())
    }

    /// Accepts a client, to play or only to watch.
    fn admit(&mut self, connection: ConnectionId, login: &[u8]) {
        if login == SPECTATOR {
            self.spectators.insert(connection);
        }
        self.server.connection(connection).accept(&[]);
    }

    fn join(&mut self, connection: ConnectionId) {
        if !self.spectators.contains(&connection) {
            self.sight.join(&mut self.server, &self.arena, connection);
        }
        self.chat.join(connection);
        let number = self.transport.number_of(connection);
        if let Some(guest) = self.guests.iter_mut().find(|guest| Some(guest.number) == number) {
            guest.connection = Some(connection);
        }
    }

    fn leave(&mut self, connection: ConnectionId, reason: &DisconnectReason) {
        self.sight.leave(&mut self.server, connection);
        self.spectators.remove(&connection);
        self.chat.leave(connection);
        let mut guests = self.guests.iter_mut();
        if let Some(guest) = guests.find(|guest| guest.connection == Some(connection)) {
            guest.is_rejected = matches!(reason, DisconnectReason::Rejected(_));
        }
    }

    /// Handles the messages of the clients, and counts the explosions. The server runs the calls with a body
    /// in its tick.
    fn listen(&mut self) {
        while let Some((from, Chat { text, .. })) = self.server.poll_message::<Chat>() {
            if let Some(&player) = self.sight.seats.get(&from) {
                let name = self.server[player].name.clone();
                self.chat.pass_on(&mut self.server, Chat { name, text });
            }
        }
        while let Some(received) = self.server.poll_call::<model::Match>() {
            let MatchCall::Explode { .. } = received.call;
            self.explosions += 1;
        }
    }

    /// Sends the packets of the server, and searches them for secrets that their clients may not see.
    fn send_of_server(&mut self, now: Duration) -> io::Result<()> {
        let Self { server, arena, sight, guests, transport, found, .. } = self;
        let mut in_packet = Vec::new();
        transport.send(server, now, &mut |connection, packet| {
            arena.secrets.find(packet, &mut in_packet);
            found.extend(in_packet.drain(..).map(|secret| (connection, secret)));
        })?;
        for (connection, secret) in found.drain(..) {
            let may_see = sight.may_see(server, connection, &secret);
            *if may_see { &mut self.rightly_sent } else { &mut self.leaks } += 1;
        }
        for Guest { client, connection, .. } in guests {
            let Some(connection) = *connection else { continue };
            let stats = server.connection_info(connection).stats();
            if stats.is_some_and(|stats| stats.packets_in_flight == 0) {
                sight.settled(connection, client, arena);
            }
        }
        Ok(())
    }

    /// Runs until every client has exactly the state that it may see, and the host has received all messages
    /// and calls. Returns false if this takes longer than `PATIENCE`.
    pub fn converge(&mut self) -> io::Result<bool> {
        self.run_until(|session| {
            session.guests.iter().all(|guest| session.difference(guest).is_none())
                && session.difference_of_host().is_none()
        })
    }

    /// Runs until clients have acknowledged everything. Returns false if this takes longer than `PATIENCE`.
    pub fn fall_silent(&mut self) -> io::Result<bool> {
        self.run_until(|session| {
            let connections = session.guests.iter().filter_map(|guest| guest.connection);
            let stats =
                connections.filter_map(|connection| session.server.connection_info(connection).stats());
            stats.map(|stats| stats.packets_in_flight).sum::<usize>() == 0
        })
    }

    fn run_until(&mut self, is_reached: impl Fn(&Self) -> bool) -> io::Result<bool> {
        let deadline = self.pace.now() + PATIENCE;
        while self.pace.now() < deadline {
            if is_reached(self) {
                return Ok(true);
            }
            self.rest()?;
        }
        Ok(false)
    }

    /// Replaces the initial-only secrets by new ones and writes to their objects. Call it after everything
    /// has arrived: then all clients already have the objects, so none may receive the new secrets.
    pub fn encore(&mut self) {
        self.arena.tick += 1;
        self.arena.draw_omens(&mut self.server);
        for (_, player) in self.server.objects_mut::<model::Player>() {
            player.health = player.health.saturating_sub(1);
        }
        for (_, turret) in self.server.objects_mut::<model::Turret>() {
            turret.heading = (turret.heading + 90.0) % 360.0;
        }
    }

    /// Returns the first difference between the state, chat and calls that a client has and must have.
    /// Returns `None` if there is no difference. For a cheater, checks only that its session has ended.
    pub fn difference(&self, guest: &Guest) -> Option<String> {
        if guest.pilot.is_cheater {
            let is_stopped = guest.is_rejected && guest.ended.is_some();
            return (!is_stopped).then(|| "not stopped".to_owned());
        }
        if let Some(ended) = &guest.ended {
            return Some(ended.clone());
        }
        let Guest { client, connection, .. } = guest;
        let Some(connection) = connection.filter(|_| client.is_connected()) else {
            return Some("not connected".to_owned());
        };
        View { server: &self.server, arena: &self.arena, sight: &self.sight, client, connection }
            .first_difference()
            .or_else(|| self.disagreement(client).map(str::to_owned))
            .or_else(|| self.missing(connection, &guest.pilot, |seat| client.get(seat)).map(str::to_owned))
    }

    /// Returns the messages, calls or updates that the host missed or got twice. The host sees the objects of
    /// the server itself, so no value can differ.
    pub fn difference_of_host(&self) -> Option<&'static str> {
        let HostPlayer { pilot, connection, spawned, despawned } = self.host.as_ref()?;
        if *spawned != self.objects() as u64 + despawned {
            Some("the host did not see each object come and go")
        } else if pilot.explosions != self.explosions {
            Some("the host did not see each explosion")
        } else {
            self.missing(*connection, pilot, |seat| self.server.get(seat))
        }
    }

    /// Returns a quantised property of which two clients show different steps. For a value near the border of
    /// two steps, clients may show either step, but all of them must show the same step.
    fn disagreement(&self, client: &Client) -> Option<&'static str> {
        let others = self.guests.iter().filter(|other| other.client.is_connected() && other.ended.is_none());
        others.map(|other| &other.client).find_map(|other| {
            if show_differently(client, other, |player: &model::Player| player.position) {
                Some("two clients show a player at different places")
            } else {
                show_differently(client, other, |turret: &model::Turret| turret.heading)
                    .then_some("two clients show a turret in different directions")
            }
        })
    }

    /// Returns the messages or calls that a player missed or got twice. `own` returns the player as its owner
    /// sees it.
    fn missing<'a>(
        &'a self,
        connection: ConnectionId,
        pilot: &Pilot,
        own: impl FnOnce(ObjectRef<model::Player>) -> Option<&'a model::Player>,
    ) -> Option<&'static str> {
        let seat = *self.sight.seats.get(&connection)?;
        let player = &self.server[seat];
        if pilot.heard != self.chat.since_joined(connection) {
            Some("the chat differs")
        } else if pilot.shots_called != player.shots_called {
            Some("the server did not run each call once")
        } else if own(seat).is_none_or(|own| own.hits_felt != player.hits_told) {
            Some("the client did not run each call once")
        } else {
            (pilot.explosions > self.explosions).then_some("an explosion was shown twice")
        }
    }

    pub fn objects(&self) -> usize {
        let Arena { teams, players, turrets, pickups, shots, .. } = &self.arena;
        1 + teams.len() + players.len() + turrets.len() + pickups.len() + shots.len()
    }

    /// Returns the bytes and the packets that were made for all clients together.
    pub fn sent(&self) -> (u64, u64) {
        let connections = self.guests.iter().filter_map(|guest| guest.connection);
        let stats = connections.filter_map(|connection| self.server.connection_info(connection).stats());
        stats.fold((0, 0), |(bytes, packets), stats| (bytes + stats.bytes_sent, packets + stats.packets_sent))
    }
}

/// Returns whether two clients show a value of some object differently.
fn show_differently<T: Replicated, V: PartialEq>(one: &Client, other: &Client, value: fn(&T) -> V) -> bool {
    let mut copies = one.objects::<T>().filter_map(|(object, copy)| Some((copy, other.get(object)?)));
    copies.any(|(copy, other)| value(copy) != value(other))
}
