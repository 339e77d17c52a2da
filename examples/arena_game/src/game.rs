//! The rules of the arena. The rules run only on the server.
//!
//! The rules read and write objects through the server. The rules send nothing, because the server sends the
//! changes.
//!
//! *Invariant:* the same seed and the same inputs and calls in each tick make the same match. What a client
//! may change is decided here and in `bots.rs`, never by the client.

use std::time::Duration;

use repl::Condition;
use repl::prelude::*;
use repl::sim::Rng;

use crate::calls::MOST_FIRE_TICKS;
use crate::model::*;
use crate::plane::{anywhere, distance, inside, toward};
use crate::secrets::{Rule, Secrets};

pub const TICKS_PER_SECOND: u32 = 60;
const ROUND_TICKS: u32 = 240;
const BREAK_TICKS: u32 = 60;
pub const FULL_HEALTH: u8 = 100;

/// The objects of the match, as references; the server owns the objects.
pub struct Arena {
    pub rng: Rng,
    pub secrets: Secrets,
    pub tick: u32,
    last_tick: u32,
    pub archetypes: Archetypes,
    pub game: ObjectRef<Match>,
    pub teams: [ObjectRef<Team>; 2],
    pub players: Vec<ObjectRef<Player>>,
    pub turrets: Vec<ObjectRef<Turret>>,
    pub pickups: Vec<ObjectRef<Pickup>>,
    pub shots: Vec<ObjectRef<Projectile>>,
    /// How many pickups there are at any time, without the loot of dead players.
    stock: usize,
}

impl Arena {
    /// Spawns everything that exists from the beginning. The match lasts `ticks` ticks.
    pub fn new(server: &mut Server, players: u32, ticks: u32, seed: u64) -> Self {
        let rng = Rng::new(seed);
        let team = |name: &str| Team { name: name.to_owned(), ..Team::default() };
        let mut arena = Self {
            secrets: Secrets::new(rng.fork(1)),
            rng: rng.fork(2),
            tick: 0,
            last_tick: ticks,
            archetypes: register(server),
            game: server.spawn(Match::default()),
            teams: [server.spawn(team("Herons")), server.spawn(team("Otters"))],
            players: Vec::new(),
            turrets: Vec::new(),
            pickups: Vec::new(),
            shots: Vec::new(),
            stock: players.max(12) as usize,
        };
        (0..players).for_each(|number| arena.add_player(server, number));
        for position in [[0.0, 0.0], [-14.0, 10.0], [14.0, -10.0]] {
            let turret = server.spawn(Turret { position, ..Turret::default() });
            server[turret].first_secret = arena.secrets.draw(turret, Rule::InitialOnly, 0);
            server[turret].others_secret = arena.secrets.draw(turret, Rule::SkipOwner, 0);
            arena.turrets.push(turret);
        }
        arena.restock(server);
        arena
    }

    fn add_player(&mut self, server: &mut Server, number: u32) {
        const NAMES: [&str; 8] = ["Ada", "Bo", "Cleo", "Dag", "Eve", "Finn", "Gro", "Hal"];
        let name = NAMES[number as usize % NAMES.len()];
        let player = server.spawn(Player {
            name: if number < 8 { name.to_owned() } else { format!("{name} {}", number / 8 + 1) },
            team: self.teams[number as usize % 2],
            fire_ticks: MOST_FIRE_TICKS,
            ..Player::default()
        });
        server[player].owners_secret = self.secrets.draw(player, Rule::OwnerOnly, 0);
        server[player].others_secret = self.secrets.draw(player, Rule::SkipOwner, 0);
        server[player].first_secret = self.secrets.draw(player, Rule::InitialOnly, 0);
        server.object(player).set_custom_active(Player::LASER, false);
        self.players.push(player);
        self.respawn(server, player);
    }

    /// Spawns pickups until there are enough.
    pub fn restock(&mut self, server: &mut Server) {
        while self.pickups.len() < self.stock {
            self.add_pickup(server);
        }
    }

    fn add_pickup(&mut self, server: &mut Server) {
        let kind = match self.rng.below(8) {
            0 | 1 => PickupKind::Health,
            2 | 3 => PickupKind::Ammo { rounds: 10 + self.rng.below(20) as u8 },
            4 => PickupKind::Launcher,
            5 => PickupKind::Perk(PerkKind::Haste),
            6 => PickupKind::Perk(PerkKind::Scanner),
            _ => PickupKind::Perk(PerkKind::Cloak),
        };
        let position = anywhere(&mut self.rng);
        self.pickups.push(server.spawn(Pickup { kind, position }));
    }

    /// Plays one tick.
    pub fn play(&mut self, server: &mut Server) {
        self.tick += 1;
        self.keep_time(server);
        if !matches!(server[self.game].phase, Phase::Playing { .. }) {
            return;
        }
        for player in self.players.clone() {
            if server[player].is_alive() {
                self.live(server, player);
            } else {
                self.wait(server, player);
            }
        }
        for shot in self.shots.clone() {
            self.fly(server, shot);
        }
        // All turrets turn. The loop writes to all objects of a class. The server finds the changes by one
        // scan over their memory.
        for (_, turret) in server.objects_mut::<Turret>() {
            turret.heading = (turret.heading + 0.5) % 360.0;
        }
    }

    /// Allows more shots to the clients. Call it in each tick, also after the match: a client learns late
    /// that the match is over.
    pub fn allow_shots(server: &mut Server) {
        for (_, player) in server.objects_mut::<Player>() {
            player.fire_ticks = (player.fire_ticks + 1).min(MOST_FIRE_TICKS);
        }
    }

    /// Advances the match: its rounds, the breaks between them, and its end.
    fn keep_time(&mut self, server: &mut Server) {
        let cycle = self.tick % (ROUND_TICKS + BREAK_TICKS);
        let round = (self.tick / (ROUND_TICKS + BREAK_TICKS)) as u16 + 1;
        if self.tick >= self.last_tick {
            let [one, other] = self.teams;
            let winner = match server[one].score.cmp(&server[other].score) {
                std::cmp::Ordering::Less => other,
                std::cmp::Ordering::Equal => ObjectRef::NULL,
                std::cmp::Ordering::Greater => one,
            };
            self.enter(server, Phase::Over { winner });
        } else if cycle < ROUND_TICKS {
            self.enter(server, Phase::Playing { round });
        } else {
            self.enter(server, Phase::Break { after: round });
        }
        if cycle == ROUND_TICKS + BREAK_TICKS / 2 {
            self.draw_omens(server);
        }
        let seconds_left = (self.last_tick.saturating_sub(self.tick)).div_ceil(TICKS_PER_SECOND) as u16;
        server[self.game].seconds_left = seconds_left;
    }

    fn enter(&mut self, server: &mut Server, phase: Phase) {
        if server[self.game].phase == phase {
            return;
        }
        let is_playing = matches!(phase, Phase::Playing { .. });
        server[self.game].phase = phase;
        let best = |team| {
            let of_team = self.players.iter().copied().filter(|&player| server[player].team == team);
            of_team.max_by_key(|&player| server[player].tally.kills)
        };
        server[self.game].leaders = self.teams.into_iter().filter_map(best).collect();
        for &player in &self.players {
            let audience = if is_playing { Condition::OwnerOnly } else { Condition::None };
            server.object(player).set_dynamic_condition(Player::TALLY, audience);
            server[player].gait = Gait::Standing;
            server[player].mind.aims_at = None;
            server[player].emote =
                if is_playing { None } else { self.rng.pick(&['☺', '☹', '♥']).copied() };
            server.object(player).mark_dirty(Player::EMOTE);
        }
        self.shots.drain(..).for_each(|shot| server.despawn(shot));
    }

    /// Replaces the secrets of initial-only properties by new random ones. Only clients that first see the
    /// objects from now on receive them. Other clients keep the old secrets.
    pub fn draw_omens(&mut self, server: &mut Server) {
        for &player in &self.players {
            server[player].first_secret = self.secrets.draw(player, Rule::InitialOnly, self.tick);
        }
        for &turret in &self.turrets {
            server[turret].first_secret = self.secrets.draw(turret, Rule::InitialOnly, self.tick);
        }
    }

    pub fn respawn(&mut self, server: &mut Server, me: ObjectRef<Player>) {
        let position = anywhere(&mut self.rng);
        let player = &mut server[me];
        player.position = position;
        player.health = FULL_HEALTH;
        player.ammo = 20;
        player.stamina = 100;
        player.weapon = Weapon::Blaster { heat: 0 };
        player.mind = Mind { goal: position, ..Mind::default() };
        player.stow(Supply { kind: SupplyKind::Rounds, amount: 20, ..Supply::default() });
        player.owners_secret = self.secrets.draw(me, Rule::OwnerOnly, self.tick);
    }

    /// Gives a turret a new owner, so other clients may now see its hidden properties.
    pub fn capture(&mut self, server: &mut Server, turret: ObjectRef<Turret>, me: ObjectRef<Player>) {
        let last = std::mem::replace(&mut server[turret].holder, me);
        if server.contains(last) {
            server[last].keys.retain(|key| key.turret != turret);
        }
        let code = self.secrets.draw(me, Rule::OwnerOnly, self.tick);
        server[me].keys.push(Key { turret, code });
        server[turret].code = self.secrets.draw(turret, Rule::OwnerOnly, self.tick);
        server[turret].others_secret = self.secrets.draw(turret, Rule::SkipOwner, self.tick);
        let owner = server.object_info(me).owner();
        server.object(turret).set_owner(owner);
        server[me].shield = Some(Shield { strength: 50, giver: turret });
        let team = server[me].team;
        for team in self.teams {
            server[team].turrets.retain(|&held| held != turret);
        }
        server[team].turrets.push(turret);
    }

    /// Runs one tick of a projectile: it hits, expires, or, if it is a rocket, turns towards its target.
    fn fly(&mut self, server: &mut Server, shot: ObjectRef<Projectile>) {
        let Projectile { shooter, prey, damage, explodes, expires_at_tick, .. } = server[shot];
        let here = server[shot].position(self.tick);
        let team = server[shooter].team;
        let hit = self.players.iter().copied().find(|&other| {
            let other = &server[other];
            other.team != team && other.is_alive() && distance(here, other.position) < 1.0
        });
        if let Some(victim) = hit {
            self.hit(server, victim, shooter, damage);
            if explodes {
                server.call(self.game).explode(inside(here)).ok();
            }
        }
        if hit.is_some() || self.tick >= expires_at_tick {
            server.despawn(shot);
            self.shots.retain(|&other| other != shot);
        } else if let Some(prey) = server.get(prey)
            && self.tick.is_multiple_of(15)
        {
            let direction = toward(here, prey.position);
            server[shot].path = Path { from: here, direction, since_tick: self.tick };
        }
    }

    fn hit(&mut self, server: &mut Server, victim: ObjectRef<Player>, by: ObjectRef<Player>, damage: u8) {
        // The call fails if no client owns the player. Then nobody is told of the hit.
        let is_told = server.call(victim).hit(by).is_ok();
        let player = &mut server[victim];
        player.hits_told += u32::from(is_told);
        let absorbed = player.shield.as_mut().map_or(0, |shield| {
            let absorbed = shield.strength.min(damage);
            shield.strength -= absorbed;
            absorbed
        });
        player.shield = player.shield.take().filter(|shield| shield.strength > 0);
        player.health = player.health.saturating_sub(damage - absorbed);
        player.wounds += u32::from(damage - absorbed);
        if player.is_alive() {
            return;
        }
        player.gait = Gait::Dead;
        player.weapon = Weapon::Unarmed;
        player.target = ObjectRef::NULL;
        player.perks.clear();
        player.mind.cloaked = 0;
        player.respawn_in = Duration::from_millis(1_500);
        player.tally.deaths += 1;
        self.switch_laser(server, victim, false);
        self.spill(server, victim);
        server[by].tally.kills += 1;
        server[by].others_secret = self.secrets.draw(by, Rule::SkipOwner, self.tick);
        let team = server[by].team;
        server[team].score += 1;
    }
}
