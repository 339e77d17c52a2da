//! The pilot of a client or of the host: it plays in place of a human, or by the keys of a human. It controls
//! its player by inputs, messages and calls to the server.
//!
//! *Invariant:* a pilot reads only the objects that its side sees, and sends only inputs, messages and calls.

use std::time::Duration;

use repl::prelude::*;
use repl::sim::Rng;

use crate::calls::{Chat, Input, MatchCall, SHOT_TICKS};
use crate::game::TICKS_PER_SECOND;
use crate::keys::Keys;
use crate::model::{Match, Phase, Pickup, Player, Team, Turret};
use crate::plan::{FIRE_RANGE, goal, nearest};
use crate::plane::{Vec2, along, distance, inside};

/// How long a pilot is silent between two lines of the chat.
const SILENCE_TICKS: u32 = 20 * TICKS_PER_SECOND;

/// How many shots a cheater calls in each tick.
const CHEATED_SHOTS: u32 = 4;

/// How far ahead the goal of a human is while a key is down, in metres. A player runs on for so long if the
/// next inputs are lost.
const STRIDE: f32 = 4.0;

/// Plays the player of one side.
pub struct Pilot {
    pub is_cheater: bool,
    /// How many times the pilot called `fire`.
    pub shots_called: u32,
    /// The number of explosions that its side has received.
    pub explosions: u64,
    pub lines_said: u32,
    /// All lines of the chat that the pilot has received.
    pub heard: Vec<Chat>,
    /// The keys of the human who plays. `None` if the pilot itself plays.
    pub keys: Option<Keys>,
    rng: Rng,
    /// The number of ticks played. The pilots of a match begin with different numbers, so that they do not
    /// all think in the same ticks.
    tick: u32,
    /// The input of the player until the pilot thinks again.
    input: Input,
    loaded_at_tick: u32,
}

impl Pilot {
    pub fn new(number: u32, seed: u64, is_cheater: bool) -> Self {
        Self {
            is_cheater,
            shots_called: 0,
            explosions: 0,
            lines_said: 0,
            heard: Vec::new(),
            keys: None,
            rng: Rng::new(seed).fork(u64::from(number) + 2),
            tick: number,
            input: Input::default(),
            loaded_at_tick: 0,
        }
    }

    /// Runs one tick of the player.
    pub fn act(&mut self, side: &mut impl LocalPlayer, now: Duration) {
        self.listen(side);
        let is_playing = |game: &Match| matches!(game.phase, Phase::Playing { .. });
        let me = side.owned_objects::<Player>().next().map(|(me, _)| me);
        let Some(me) = me.filter(|_| side.objects().any(|(_, game)| is_playing(game))) else { return };
        self.tick += 1;
        if self.keys.is_none() {
            self.chat(side);
        }
        self.steer(side, now);
        if self.is_cheater {
            (0..CHEATED_SHOTS).for_each(|_| self.fire(side, me, [0.0; 2]));
        }
        if !side.get(me).is_some_and(Player::is_alive) {
            return;
        }
        if let Some(keys) = self.keys {
            self.obey(keys, side, me);
            return;
        }
        if self.tick.is_multiple_of(15)
            && let Some(input) = self.think(side, me)
        {
            self.input = input;
        }
        self.aim(side, me);
    }

    /// Does what the keys say: runs to where they point, and shoots at the nearest foe, or ahead if none is
    /// near.
    fn obey(&mut self, keys: Keys, side: &mut impl LocalPlayer, me: ObjectRef<Player>) {
        let Some(&Player { position: here, team, .. }) = side.get(me) else { return };
        let foe = nearest_foe(side, here, team).filter(|&(_, there)| distance(here, there) < FIRE_RANGE);
        self.input = Input {
            goal: keys.direction().map_or(here, |ahead| inside(along(here, ahead, STRIDE))),
            target: foe.map_or(ObjectRef::NULL, |(foe, _)| foe),
        };
        if keys.fire {
            let at = foe.map_or(self.input.goal, |(_, there)| there);
            self.shoot(side, me, at);
        }
    }

    /// Handles the messages and the calls without a body that have arrived. Calls with a body run by
    /// themselves.
    fn listen(&mut self, side: &mut impl LocalPlayer) {
        self.heard.extend(std::iter::from_fn(|| side.poll_message::<Chat>()));
        while let Some(received) = side.poll_call::<Match>() {
            let MatchCall::Explode { .. } = received.call;
            self.explosions += 1;
        }
    }

    fn chat(&mut self, side: &mut impl LocalPlayer) {
        const LINES: [&str; 6] = ["hello", "over here", "nice one", "behind you", "my turret", "again"];
        if self.tick % SILENCE_TICKS != TICKS_PER_SECOND {
            return;
        }
        let text = self.rng.pick(&LINES).copied().unwrap_or_default().to_owned();
        self.lines_said += u32::from(side.send(&Chat { text, ..Chat::default() }).is_ok());
    }

    /// Chooses a target and a goal from the objects that its side sees.
    fn think(&mut self, side: &impl LocalPlayer, me: ObjectRef<Player>) -> Option<Input> {
        let Player { position: here, team, hit_by, .. } = *side.get(me)?;
        // A pilot shoots back.
        let attacker = side.get(hit_by).filter(|other| is_foe(other, team));
        let attacker = attacker.map(|other| (hit_by, other.position));
        let attacker = attacker.filter(|&(_, there)| distance(here, there) < FIRE_RANGE);
        let target = attacker.or_else(|| nearest_foe(side, here, team));
        let pickups = side.objects::<Pickup>().map(|(pickup, at)| (pickup, at.position));
        let turrets = side.objects::<Turret>().filter(|(_, turret)| turret.holder != me);
        let turrets = turrets.map(|(turret, at)| (turret, at.position));
        let [pickup, turret] =
            [nearest(here, pickups).map(|(_, there)| there), nearest(here, turrets).map(|(_, there)| there)];
        Some(Input {
            goal: goal(here, target.map(|(_, there)| there), pickup, turret, &mut self.rng),
            target: target.map_or(ObjectRef::NULL, |(target, _)| target),
        })
    }

    /// Sets the inputs that are due.
    fn steer(&self, side: &mut impl LocalPlayer, now: Duration) {
        for tick in side.due_inputs::<Input>(now) {
            side.set_input(tick, &self.input).expect("it is due, and within its ranges");
        }
    }

    /// Shoots at the target if it is near.
    fn aim(&mut self, side: &mut impl LocalPlayer, me: ObjectRef<Player>) {
        let Some(player) = side.get(me) else { return };
        let target = side.get(self.input.target).filter(|target| target.is_alive());
        let there = target.map(|target| target.position);
        let there = there.filter(|&there| distance(player.position, there) < FIRE_RANGE);
        if let Some(there) = there {
            self.shoot(side, me, there);
        }
    }

    /// Shoots at a point if the weapon is loaded, as far as its side knows.
    fn shoot(&mut self, side: &mut impl LocalPlayer, me: ObjectRef<Player>, at: Vec2) {
        let Some(player) = side.get(me) else { return };
        let (ammo, load_ticks) = (player.ammo, player.weapon.load_ticks());
        if ammo > 0 && self.tick >= self.loaded_at_tick {
            self.loaded_at_tick = self.tick + load_ticks.max(SHOT_TICKS);
            self.fire(side, me, at);
        }
    }

    fn fire(&mut self, side: &mut impl LocalPlayer, me: ObjectRef<Player>, at: Vec2) {
        self.shots_called += u32::from(side.call(me).fire(at).is_ok());
    }
}

fn is_foe(other: &Player, team: ObjectRef<Team>) -> bool {
    other.team != team && other.is_alive()
}

/// Returns the nearest living player of the other team that the side sees, with its position.
fn nearest_foe(
    side: &impl LocalPlayer,
    here: Vec2,
    team: ObjectRef<Team>,
) -> Option<(ObjectRef<Player>, Vec2)> {
    let foes = side.objects::<Player>().filter(|(_, other)| is_foe(other, team));
    nearest(here, foes.map(|(other, player)| (other, player.position)))
}
