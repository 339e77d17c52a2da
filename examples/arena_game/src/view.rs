//! Checks whether a client has exactly the state that it may see.
//!
//! *Invariant:* values are compared with the server's objects, property by property, not with the data that
//! was sent.

use repl::prelude::*;

use crate::game::Arena;
use crate::model::*;
use crate::plane::Vec2;
use crate::secrets::Rule;
use crate::sight::Sight;

/// Computes from the server's objects what one client must have, and compares.
pub struct View<'a> {
    pub server: &'a Server,
    pub arena: &'a Arena,
    pub sight: &'a Sight,
    pub client: &'a Client,
    pub connection: ConnectionId,
}

/// Pairs of a property and whether the client's value is right.
type Checks = Vec<(&'static str, bool)>;

impl View<'_> {
    /// Returns the first wrong property, or `None` if the client has exactly the values that it may see.
    pub fn first_difference(&self) -> Option<String> {
        let arena = self.arena;
        self.class(&[arena.game], Self::of_match)
            .or_else(|| self.class(&arena.teams, Self::of_team))
            .or_else(|| self.class(&arena.players, Self::of_player))
            .or_else(|| self.class(&arena.turrets, Self::of_turret))
            .or_else(|| self.class(&arena.pickups, Self::of_pickup))
            .or_else(|| self.class(&arena.shots, Self::of_projectile))
    }

    /// Returns the first difference among all objects of a class: a missing object, an extra one, or a wrong
    /// property.
    fn class<T: Replicated>(
        &self,
        objects: &[ObjectRef<T>],
        check: impl Fn(&Self, ObjectRef<T>, &T, &T) -> Checks,
    ) -> Option<String> {
        let name = T::LAYOUT.name();
        let mut seen = 0;
        for &object in objects.iter().filter(|&&object| self.sees(object)) {
            seen += 1;
            let Some(replica) = self.client.get(object) else {
                return Some(format!("the {name} {object:?} is missing"));
            };
            let checks = check(self, object, &self.server[object], replica);
            if let Some((property, _)) = checks.iter().find(|(_, is_right)| !is_right) {
                return Some(format!("{name}.{property} of {object:?} differs"));
            }
        }
        let surplus = self.client.objects::<T>().count() - seen;
        (surplus > 0).then(|| format!("{surplus} of {name} should not exist any more"))
    }

    fn sees<T>(&self, object: ObjectRef<T>) -> bool {
        self.sight.sees(self.server, self.connection, object)
    }

    /// Returns the reference as the client must read it: null if it does not see the object.
    fn read<T>(&self, reference: ObjectRef<T>) -> ObjectRef<T> {
        if self.sees(reference) { reference } else { ObjectRef::NULL }
    }

    fn read_all<T>(&self, references: &[ObjectRef<T>]) -> Vec<ObjectRef<T>> {
        references.iter().map(|&reference| self.read(reference)).collect()
    }

    fn of_match(&self, _: ObjectRef<Match>, game: &Match, replica: &Match) -> Checks {
        let phase = match &game.phase {
            Phase::Over { winner } => Phase::Over { winner: self.read(*winner) },
            other => other.clone(),
        };
        vec![
            ("phase", phase == replica.phase),
            ("seconds_left", game.seconds_left == replica.seconds_left),
            ("leaders", self.read_all(&game.leaders) == replica.leaders),
        ]
    }

    fn of_team(&self, _: ObjectRef<Team>, team: &Team, replica: &Team) -> Checks {
        vec![
            ("name", team.name == replica.name),
            ("score", team.score == replica.score),
            ("turrets", self.read_all(&team.turrets) == replica.turrets),
        ]
    }

    fn of_player(&self, object: ObjectRef<Player>, player: &Player, replica: &Player) -> Checks {
        let owns = self.server.object_info(object).owner() == Some(self.connection);
        let is_playing = matches!(self.server[self.arena.game].phase, Phase::Playing { .. });
        let seat = self.sight.seats.get(&self.connection);
        let scans = seat.is_some_and(|&seat| seat == object || self.server[seat].has(PerkKind::Scanner));
        let weapon = match player.weapon.clone() {
            Weapon::Launcher { rockets, lock } => Weapon::Launcher { rockets, lock: self.read(lock) },
            other => other,
        };
        let shield = player.shield.clone().map(|shield| Shield { giver: self.read(shield.giver), ..shield });
        vec![
            ("name", player.name == replica.name),
            ("team", self.read(player.team) == replica.team),
            ("position", near(player.position, replica.position, 0.01)),
            ("heading", owns || is_kept(player.heading, replica.heading, 2.0)),
            ("health", player.health == replica.health),
            ("ammo", !owns || player.ammo == replica.ammo),
            ("weapon", weapon == replica.weapon),
            ("target", self.read(player.target) == replica.target),
            ("perks", player.perks == replica.perks),
            ("pack", same_items(&player.pack, &replica.pack, |supply| self.of_supply(supply))),
            ("keys", !owns || same_items(&player.keys, &replica.keys, |key| self.of_key(key))),
            ("shield", shield == replica.shield),
            ("tally", is_playing && !owns || player.tally == replica.tally),
            ("laser", !player.mind.laser_on || near(player.laser, replica.laser, 0.1)),
            ("wounds", !scans || player.wounds == replica.wounds),
            ("gait", owns || player.gait == replica.gait),
            ("stamina", !owns || player.stamina == replica.stamina),
            ("respawn_in", !owns || tenths::of(&player.respawn_in) == tenths::of(&replica.respawn_in)),
            ("emote", player.emote == replica.emote),
            ("owners_secret", !owns || player.owners_secret == replica.owners_secret),
            ("others_secret", owns || player.others_secret == replica.others_secret),
            ("first_secret", self.arena.secrets.belongs(replica.first_secret, object, Rule::InitialOnly)),
        ]
    }

    fn of_turret(&self, object: ObjectRef<Turret>, turret: &Turret, replica: &Turret) -> Checks {
        let owns = self.server.object_info(object).owner() == Some(self.connection);
        vec![
            ("position", near(turret.position, replica.position, 0.1)),
            ("heading", is_kept(turret.heading, replica.heading, 3.0)),
            ("holder", self.read(turret.holder) == replica.holder),
            ("code", !owns || turret.code == replica.code),
            ("others_secret", owns || turret.others_secret == replica.others_secret),
            ("first_secret", self.arena.secrets.belongs(replica.first_secret, object, Rule::InitialOnly)),
        ]
    }

    /// Returns a supply as the client must have it.
    fn of_supply(&self, supply: &Supply) -> Supply {
        Supply { loser: self.read(supply.loser), ..supply.clone() }
    }

    /// Returns a key as its owner must have it.
    fn of_key(&self, key: &Key) -> Key {
        Key { turret: self.read(key.turret), ..key.clone() }
    }

    fn of_pickup(&self, _: ObjectRef<Pickup>, pickup: &Pickup, replica: &Pickup) -> Checks {
        let kind = match &pickup.kind {
            PickupKind::Loot(supply) => PickupKind::Loot(self.of_supply(supply)),
            other => other.clone(),
        };
        vec![("kind", kind == replica.kind), ("position", near(pickup.position, replica.position, 0.1))]
    }

    fn of_projectile(&self, _: ObjectRef<Projectile>, shot: &Projectile, replica: &Projectile) -> Checks {
        let path = &shot.path;
        let is_same_path = nearest(path.from, replica.path.from, 0.01)
            && nearest(path.direction, replica.path.direction, 0.001)
            && path.since_tick == replica.path.since_tick;
        vec![
            ("shooter", self.read(shot.shooter) == replica.shooter),
            ("prey", self.read(shot.prey) == replica.prey),
            ("path", is_same_path),
            ("damage", shot.damage == replica.damage),
            ("speed", shot.speed == replica.speed),
            ("flashed", replica.flashed),
        ]
    }
}

/// Returns whether two arrays have the same items by id, in any order. `expected` maps an item of the server
/// to the item that the client must have.
fn same_items<T: PartialEq>(live: &FastArray<T>, replica: &FastArray<T>, expected: impl Fn(&T) -> T) -> bool {
    let mut items = live.ids().iter().zip(live);
    live.len() == replica.len() && items.all(|(&id, item)| replica.by_id(id) == Some(&expected(item)))
}

/// Returns whether a client may show `replica` when the server has `value`, with steps of this size. The
/// server keeps a sent step until the value is a quarter of a step beyond the border, so the difference is at
/// most ¾ of a step. The rest of the tolerance is for rounding of floats.
fn is_kept(value: f32, replica: f32, step: f32) -> bool {
    (value - replica).abs() <= step * 0.76
}

/// Returns whether a client may show the point `other` when the server has the point `one`.
fn near(one: Vec2, other: Vec2, step: f32) -> bool {
    one.iter().zip(&other).all(|(one, other)| is_kept(*one, *other, step))
}

/// Returns whether two points are equal up to rounding to steps of this size. A path is sent as a unit, so it
/// is always rounded to the nearest steps.
fn nearest(one: Vec2, other: Vec2, step: f32) -> bool {
    one.iter().zip(&other).all(|(one, other)| (one - other).abs() <= step * 0.51)
}
