//! The server: uses the inputs of the players, and judges their shots by what they saw.
//!
//! *Invariant:* the server judges no shot by a state older than the cap (`--cap-ms`), whichever tick a client
//! claims to have seen.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::Rng;
use repl::{History, InputCounts};

use crate::model::{Body, Fighter, HZ, Steer, hits, register};

/// The probability in a tick that the server shoves a fighter: about once a minute. A player who shoots
/// before the shove arrives shoots from another position than predicted.
const SHOVES: f64 = 0.0003;

/// The server with its players.
pub(crate) struct Referee {
    pub(crate) server: Server,
    pub(crate) players: Vec<Seat>,
    past: History<Fighter, [f32; 2]>,
    rng: Rng,
}

/// A player on the server.
pub(crate) struct Seat {
    pub(crate) id: ConnectionId,
    pub(crate) fighter: ObjectRef<Fighter>,
    pub(crate) body: Body,
    pub(crate) score: Score,
}

/// The results of a player's shots, for inputs that arrived in time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Score {
    pub(crate) shots: u64,
    pub(crate) hits: u64,
    /// The shots that would have hit without lag compensation, which means at the position that the target
    /// had when the shot arrived.
    pub(crate) uncompensated: u64,
    /// The shots at a state that is older than the cap (`--cap-ms`).
    pub(crate) beyond: u64,
}

impl Referee {
    pub(crate) fn new(seed: u64, cap_ms: u64) -> Self {
        let ticks = cap_ms * u64::from(HZ) / 1_000;
        let mut server =
            Server::new(ServerConfig { remember_removed_ticks: ticks, ..ServerConfig::default() });
        register(&mut server);
        Self { server, players: Vec::new(), past: History::new(ticks), rng: Rng::new(seed) }
    }

    /// Adds a player with a fighter, and returns the connection of the player.
    pub(crate) fn join(&mut self, position: [f32; 2]) -> ConnectionId {
        let id = self.server.connect(Duration::ZERO);
        let fighter = self.server.spawn(Fighter { position, ..Fighter::default() });
        self.server.object(fighter).set_owner(Some(id));
        let body = Body { position, ..Body::default() };
        self.players.push(Seat { id, fighter, body, score: Score::default() });
        id
    }

    /// Plays a tick. `shoves` says whether the server may shove fighters, which clients cannot predict.
    pub(crate) fn tick(&mut self, now: Duration, shoves: bool) {
        let tick = self.server.next_tick();
        for at in 0..self.players.len() {
            let input = self.server.connection(self.players[at].id).input::<Steer>(tick);
            if let TickInput::Made(steer) = input {
                self.judge(at, &steer);
            }
            let seat = &mut self.players[at];
            seat.body.step(&input.or_last().unwrap_or_default());
            if shoves && self.rng.chance(SHOVES) {
                seat.body.velocity =
                    [8.0, -8.0].map(|speed| if self.rng.chance(0.5) { speed } else { -speed });
            }
            let fighter = &mut self.server[seat.fighter];
            fighter.confirmed.set(tick, seat.body);
            fighter.position = seat.body.position;
        }
        for Seat { fighter, body, .. } in &self.players {
            self.past.record(tick, *fighter, body.position);
        }
        self.server.tick(now);
    }

    /// Judges the shot of a player, if the input has one.
    fn judge(&mut self, shooter: usize, steer: &Steer) {
        let Some(target) = self.players.iter().find(|seat| seat.fighter == steer.target) else { return };
        let (from, is_at) = (self.players[shooter].body.position, target.body.position);
        let client = self.server.connection_info(self.players[shooter].id);
        let then = self.past.rewind(client, steer.shown.near(self.server.ticks()));
        let (was_at, is_beyond) = (then.get(steer.target), then.ticks_beyond() > 0.0);
        let score = &mut self.players[shooter].score;
        score.shots += 1;
        score.hits += u64::from(was_at.is_some_and(|was_at| hits(from, steer.aim, was_at)));
        score.uncompensated += u64::from(hits(from, steer.aim, is_at));
        score.beyond += u64::from(is_beyond);
    }

    pub(crate) fn shots(&self) -> u64 {
        self.players.iter().map(|seat| seat.score.shots).sum()
    }

    pub(crate) fn counts(&mut self, player: usize) -> InputCounts {
        self.server.connection(self.players[player].id).input_counts::<Steer>()
    }
}
