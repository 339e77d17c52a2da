//! The server: uses the inputs of the players, and judges their shots by what they saw.
//!
//! *Invariant:* nobody is hit further back than the cap, whatever a client says that it saw.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::Rng;
use repl::{History, InputCounts};

use crate::model::{Body, Fighter, HZ, Steer, hits, register};

/// How probable it is in a tick that something else moves a fighter: about once a minute. A player who
/// shoots before he knows of it shoots from elsewhere than he thinks.
const SHOVES: f64 = 0.0003;

/// The server with its players.
pub(crate) struct Referee {
    pub(crate) server: Server,
    pub(crate) players: Vec<Seat>,
    past: History<Fighter, [f32; 2]>,
    rng: Rng,
}

/// A player as the server knows him.
pub(crate) struct Seat {
    pub(crate) id: ConnectionId,
    pub(crate) fighter: ObjectRef<Fighter>,
    pub(crate) body: Body,
    pub(crate) score: Score,
}

/// What became of a player's shots whose inputs arrived in time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Score {
    pub(crate) shots: u64,
    pub(crate) hits: u64,
    /// The shots that would have hit the target where it was when the shot arrived.
    pub(crate) uncompensated: u64,
    /// The shots at something that was shown longer ago than the cap.
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

    /// Adds a player with a fighter, and returns his connection.
    pub(crate) fn join(&mut self, position: [f32; 2]) -> ConnectionId {
        let id = self.server.connect(Duration::ZERO);
        let fighter = self.server.spawn(Fighter { position, ..Fighter::default() });
        self.server.object(fighter).set_owner(Some(id));
        let body = Body { position, ..Body::default() };
        self.players.push(Seat { id, fighter, body, score: Score::default() });
        id
    }

    /// Plays a tick. `shoves` says whether something else may move the fighters, of which no client knows
    /// before.
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

    /// Judges the shot of a player, if his input has one.
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
