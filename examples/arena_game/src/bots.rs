//! One tick of a player: it runs, aims, shoots and picks things up. Bots choose for players without a client.
//!
//! *Invariant:* a player changes only itself; it affects others only through the rules in `game.rs`.

use std::time::Duration;

use repl::prelude::*;

use crate::calls::Input;
use crate::game::{Arena, TICKS_PER_SECOND};
use crate::model::*;
use crate::plan::{FIRE_RANGE, goal, nearest};
use crate::plane::{Vec2, along, degrees, distance, inside, toward};

const REACH: f32 = 1.5;

impl Arena {
    pub fn wait(&mut self, server: &mut Server, me: ObjectRef<Player>) {
        let step = Duration::from_secs(1) / TICKS_PER_SECOND;
        let left = server[me].respawn_in.saturating_sub(step);
        server[me].respawn_in = left;
        if left.is_zero() {
            self.respawn(server, me);
        }
    }

    pub fn live(&mut self, server: &mut Server, me: ObjectRef<Player>) {
        let turn = self.tick + me.guid().map_or(0, |guid| guid.slot());
        if turn.is_multiple_of(15) {
            if server.object_info(me).owner().is_none() {
                self.think(server, me);
            }
            server[me].use_pack();
        }
        if turn.is_multiple_of(TICKS_PER_SECOND) {
            age_perks(&mut server[me]);
        }
        self.run(server, me);
        self.aim(server, me);
        self.take_what_is_near(server, me);
    }

    /// Chooses a target, and where to go, for a player without a client.
    fn think(&mut self, server: &mut Server, me: ObjectRef<Player>) {
        let here = server[me].position;
        let foes = self.players.iter().copied().filter(|&other| is_foe(server, me, other));
        let target = nearest(here, foes.map(|other| (other, server[other].position)));
        let pickups = self.pickups.iter().map(|&pickup| (pickup, server[pickup].position));
        let turrets = self.turrets.iter().copied().filter(|&turret| server[turret].holder != me);
        let turrets = turrets.map(|turret| (turret, server[turret].position));
        let [pickup, turret] =
            [nearest(here, pickups).map(|(_, there)| there), nearest(here, turrets).map(|(_, there)| there)];
        let goal = goal(here, target.map(|(_, there)| there), pickup, turret, &mut self.rng);
        let player = &mut server[me];
        player.mind.goal = goal;
        player.target = target.map_or(ObjectRef::NULL, |(target, _)| target);
    }

    /// Handles an input of the client that plays this player. A client may send any point and any reference,
    /// so both are checked here.
    pub fn steer(&self, server: &mut Server, me: ObjectRef<Player>, input: &Input) {
        let is_allowed = input.target.is_null() || is_foe(server, me, input.target);
        let player = &mut server[me];
        player.mind.goal = inside(input.goal);
        if is_allowed && player.is_alive() {
            player.target = input.target;
        }
    }

    fn run(&mut self, server: &mut Server, me: ObjectRef<Player>) {
        let player = &mut server[me];
        let speed = if player.has(PerkKind::Haste) { 9.0 } else { 6.0 };
        let left = distance(player.position, player.mind.goal);
        if left < 0.2 {
            player.gait = Gait::Standing;
            player.stamina = (player.stamina + 1).min(100);
            return;
        }
        let direction = toward(player.position, player.mind.goal);
        let step = (speed / TICKS_PER_SECOND as f32).min(left);
        player.position = inside(along(player.position, direction, step));
        player.heading = degrees(direction);
        player.gait = Gait::Running;
        if self.tick.is_multiple_of(8) {
            player.stamina = player.stamina.saturating_sub(1);
        }
    }

    /// Turns to the target, and shoots if the weapon is ready. A bot shoots at the target. A client says by
    /// the call `fire` at which point it shoots.
    fn aim(&mut self, server: &mut Server, me: ObjectRef<Player>) {
        let player = &mut server[me];
        player.mind.cooldown = player.mind.cooldown.saturating_sub(1);
        if let Weapon::Blaster { heat } = &mut player.weapon
            && self.tick.is_multiple_of(12)
        {
            *heat = heat.saturating_sub(1);
        }
        let (here, target) = (player.position, player.target);
        let has_laser = matches!(player.weapon, Weapon::Launcher { .. });
        let there = server.get(target).filter(|other| other.is_alive()).map(|other| other.position);
        let there = there.filter(|&there| distance(here, there) < FIRE_RANGE);
        self.switch_laser(server, me, has_laser && there.is_some());
        let is_bot = server.object_info(me).owner().is_none();
        let player = &mut server[me];
        if is_bot {
            player.mind.aims_at = there;
        }
        if let Some(there) = there {
            player.laser = there;
            player.heading = degrees(toward(here, there));
        }
        if player.mind.cooldown == 0
            && let Some(at) = player.mind.aims_at.take()
            && player.ammo > 0
        {
            self.shoot(server, me, at);
        }
    }

    /// Switches the end of the beam on or off. While it is switched off, no client receives it.
    pub fn switch_laser(&mut self, server: &mut Server, player: ObjectRef<Player>, on: bool) {
        if server[player].mind.laser_on != on {
            server[player].mind.laser_on = on;
            server.object(player).set_custom_active(Player::LASER, on);
        }
    }

    fn shoot(&mut self, server: &mut Server, me: ObjectRef<Player>, there: Vec2) {
        let player = &mut server[me];
        let from = player.position;
        let path = Path { from, direction: toward(from, there), since_tick: self.tick };
        player.mind.cooldown = player.weapon.load_ticks();
        let (archetype, shot) = match &mut player.weapon {
            Weapon::Unarmed => return,
            Weapon::Blaster { heat } => {
                *heat = (*heat + 2).min(10);
                (self.archetypes.bolt, Projectile { expires_at_tick: self.tick + 60, ..Projectile::bolt() })
            }
            Weapon::Launcher { rockets, lock } => {
                (*lock, *rockets) = (player.target, *rockets - 1);
                let prey = *lock;
                if *rockets == 0 {
                    player.weapon = Weapon::Blaster { heat: 0 };
                }
                let expires_at_tick = self.tick + 150;
                (self.archetypes.rocket, Projectile { prey, expires_at_tick, ..Projectile::rocket() })
            }
        };
        player.ammo -= 1;
        self.shots.push(server.spawn_from(archetype, Projectile { shooter: me, path, ..shot }));
    }

    fn take_what_is_near(&mut self, server: &mut Server, me: ObjectRef<Player>) {
        let here = server[me].position;
        let is_near = |point| distance(here, point) < REACH;
        if let Some(at) = self.pickups.iter().position(|&pickup| is_near(server[pickup].position)) {
            let pickup = self.pickups.swap_remove(at);
            let kind = server[pickup].kind.clone();
            server.despawn(pickup);
            take(&mut server[me], kind);
            self.restock(server);
        }
        // A player that owns a turret and stands next to it keeps it.
        let is_held = |turret: &Turret| {
            server.get(turret.holder).is_some_and(|holder| distance(holder.position, turret.position) < REACH)
        };
        let mut turrets = self.turrets.iter().copied();
        let free = turrets.find(|&turret| is_near(server[turret].position) && !is_held(&server[turret]));
        if let Some(turret) = free.filter(|&turret| server[turret].holder != me) {
            self.capture(server, turret, me);
        }
    }
}

fn take(player: &mut Player, kind: PickupKind) {
    match kind {
        PickupKind::Health if player.health > 50 => {
            player.stow(Supply { kind: SupplyKind::Bandages, amount: 2, ..Supply::default() })
        }
        PickupKind::Health => player.health += 50,
        PickupKind::Ammo { rounds } => {
            player.stow(Supply { kind: SupplyKind::Rounds, amount: rounds, ..Supply::default() })
        }
        PickupKind::Loot(supply) => player.stow(supply),
        PickupKind::Launcher => player.weapon = Weapon::Launcher { rockets: 4, lock: ObjectRef::NULL },
        PickupKind::Perk(kind) => {
            if kind == PerkKind::Cloak {
                player.mind.cloaked = 3 * TICKS_PER_SECOND;
            }
            player.perks.retain(|perk| perk.kind != kind);
            player.perks.push(Perk { kind, seconds_left: 12 });
        }
    }
}

/// Counts down, by one second, the effects that last for a while.
fn age_perks(player: &mut Player) {
    player.perks.iter_mut().for_each(|perk| perk.seconds_left -= 1);
    player.perks.retain(|perk| perk.seconds_left > 0);
    player.mind.cloaked = player.mind.cloaked.saturating_sub(TICKS_PER_SECOND);
}

fn is_foe(server: &Server, me: ObjectRef<Player>, other: ObjectRef<Player>) -> bool {
    let team = server[me].team;
    server.get(other).is_some_and(|other| other.team != team && other.is_alive() && other.mind.cloaked == 0)
}
