//! The replicated classes of the arena.
//!
//! An object is a struct that derives `Replicated`. A field without `#[replicated]` never leaves its side.
//!
//! *Invariant:* this file does not depend on the rules of the game. Server and clients share only this file
//! and `calls.rs`.

use std::time::Duration;

use repl::PropertyIndex;
use repl::prelude::*;

use crate::plane::Vec2;
use crate::secrets::Secret;

/// The match. There is one object of this class.
#[derive(Replicated, Default)]
pub struct Match {
    #[replicated(notify = on_phase)]
    pub phase: Phase,
    #[replicated(range = 0..=900, saturate)]
    pub seconds_left: u16,
    /// The best player of each team, in the order of the teams.
    #[replicated(max_len = 2)]
    pub leaders: Vec<ObjectRef<Player>>,
    /// On a client: how many times its notify has seen a phase other than `Waiting` end.
    pub phases_seen: u32,
}

impl Match {
    fn on_phase(&mut self, old: &Phase) {
        self.phases_seen += u32::from(*old != Phase::Waiting);
    }
}

/// An enum with data is one value and is sent whole.
#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub enum Phase {
    #[default]
    Waiting,
    Playing {
        round: u16,
    },
    Break {
        after: u16,
    },
    Over {
        /// Null if nobody won.
        winner: ObjectRef<Team>,
    },
}

/// One of two teams.
#[derive(Replicated, Default)]
pub struct Team {
    #[replicated(condition = InitialOnly, max_len = 24)]
    pub name: String,
    #[replicated]
    pub score: u16,
    #[replicated(max_len = 8)]
    pub turrets: Vec<ObjectRef<Turret>>,
}

/// A fighter. A client that joins becomes the owner of a player and plays it. A bot plays the others.
#[derive(Replicated, Default)]
pub struct Player {
    #[replicated(condition = InitialOnly, max_len = 24)]
    pub name: String,
    #[replicated]
    pub team: ObjectRef<Team>,
    #[replicated(quantize(step = 0.01, range = -25.0..=25.0))]
    pub position: Vec2,
    /// The direction in degrees. The owner does not need this value, because the owner chooses the direction.
    #[replicated(condition = SkipOwner, quantize(step = 2.0, range = 0.0..=360.0))]
    pub heading: f32,
    #[replicated(range = 0..=100, notify = on_health)]
    pub health: u8,
    #[replicated(condition = OwnerOnly, range = 0..=99)]
    pub ammo: u8,
    #[replicated]
    pub weapon: Weapon,
    /// The reference is null on a client while the client does not see the target, and becomes valid again
    /// when the client sees it.
    #[replicated]
    pub target: ObjectRef<Self>,
    #[replicated(max_len = 8)]
    pub perks: Vec<Perk>,
    /// The supplies that the player carries. An update contains only the supplies that were added, changed or
    /// removed.
    #[replicated]
    pub pack: FastArray<Supply>,
    /// The keys to the turrets that the player holds. Only the player's owner sees the keys.
    #[replicated(condition = OwnerOnly)]
    pub keys: FastArray<Key>,
    #[replicated]
    pub shield: Option<Shield>,
    /// Sent only to the owner during a round, and to everyone between rounds.
    #[replicated(atomic, condition = Dynamic)]
    pub tally: Tally,
    /// The end of a launcher's beam. The property is switched off together with the beam.
    #[replicated(condition = Custom, quantize(step = 0.1, range = -25.0..=25.0))]
    pub laser: Vec2,
    /// Health lost so far. The property is switched on for the connections of players with a scanner.
    #[replicated(condition = Custom)]
    pub wounds: u32,
    #[replicated(condition = SimulatedOnly)]
    pub gait: Gait,
    #[replicated(condition = AutonomousOnly, range = 0..=100)]
    pub stamina: u8,
    #[replicated(condition = OwnerOnly, with = tenths)]
    pub respawn_in: Duration,
    /// Changes rarely, so the server compares it only when it is marked.
    #[replicated(push)]
    pub emote: Option<char>,
    /// Only the client that owns the player sees this value. A client that becomes the owner again shows the
    /// value that it had before.
    #[replicated(condition = OwnerOnly)]
    pub owners_secret: Secret,
    /// All clients except the owner see this value.
    #[replicated(condition = SkipOwner)]
    pub others_secret: Secret,
    /// From time to time the server replaces the value by a new random value. Only clients that receive the
    /// player for the first time receive the new value.
    #[replicated(condition = InitialOnly)]
    pub first_secret: Secret,

    /// On the server: what the player is about to do.
    pub mind: Mind,
    /// On the server: the saved ticks that shots of the client use up. Each tick adds one, up to
    /// `MOST_FIRE_TICKS`, and each call of `fire` takes away `SHOT_TICKS`.
    pub fire_ticks: u32,
    /// On the server: how many shots the client called.
    pub shots_called: u32,
    /// On the server: how many calls of `hit` the server sent to the player's owner.
    pub hits_told: u32,
    /// On the owner's side: how many calls of `hit` arrived.
    pub hits_felt: u32,
    /// On the owner's side: who hit the player last.
    pub hit_by: ObjectRef<Self>,
    /// On a client, or on the server for its host: how much health the player has lost, as counted by
    /// notifies.
    pub damage_seen: u32,
    /// On a client, or on the server for its host: how many times the player has died, as counted by
    /// notifies.
    pub deaths_seen: u32,
}

impl Player {
    pub const TALLY: PropertyIndex<Self> = Self::LAYOUT.property("tally");
    pub const LASER: PropertyIndex<Self> = Self::LAYOUT.property("laser");
    pub const WOUNDS: PropertyIndex<Self> = Self::LAYOUT.property("wounds");
    pub const EMOTE: PropertyIndex<Self> = Self::LAYOUT.property("emote");

    pub fn is_alive(&self) -> bool {
        self.health > 0
    }

    pub fn has(&self, kind: PerkKind) -> bool {
        self.perks.iter().any(|perk| perk.kind == kind)
    }

    fn on_health(&mut self, old: &u8) {
        self.damage_seen += u32::from(old.saturating_sub(self.health));
        self.deaths_seen += u32::from(*old > 0 && self.health == 0);
    }
}

/// The next actions of a player. They are chosen by a bot, or by the client that plays the player. Times are
/// in ticks.
#[derive(Default)]
pub struct Mind {
    pub goal: Vec2,
    /// Where to shoot as soon as the weapon is ready.
    pub aims_at: Option<Vec2>,
    pub cooldown: u32,
    pub cloaked: u32,
    pub laser_on: bool,
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub enum Weapon {
    #[default]
    Unarmed,
    Blaster {
        #[replicated(range = 0..=10, saturate)]
        heat: u8,
    },
    Launcher {
        #[replicated(bits = 3)]
        rockets: u8,
        lock: ObjectRef<Player>,
    },
}

impl Weapon {
    /// Returns how many ticks pass from a shot with this weapon to the next one.
    pub fn load_ticks(&self) -> u32 {
        match self {
            Self::Blaster { heat: ..=6 } => 14,
            Self::Blaster { .. } => 40,
            Self::Unarmed | Self::Launcher { .. } => 60,
        }
    }
}

/// An element of a list. If one field of one element changes, only that field is sent.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
pub struct Perk {
    pub kind: PerkKind,
    #[replicated(bits = 5)]
    pub seconds_left: u8,
}

#[derive(NetSerialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PerkKind {
    #[default]
    Haste,
    /// Shows the player who has it how much health each player has lost (`Player::wounds`).
    Scanner,
    /// Hides the player from the other team.
    Cloak,
}

/// An item of a pack. An item keeps its id wherever it is in the array, and only its changes are sent.
#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
pub struct Supply {
    pub kind: SupplyKind,
    #[replicated(range = 0..=99)]
    pub amount: u8,
    /// The player who lost the supply. The reference is null if nobody lost it. The reference is also null on
    /// clients that do not see that player now.
    pub loser: ObjectRef<Player>,
}

#[derive(NetSerialize, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SupplyKind {
    #[default]
    Rounds,
    Bandages,
}

/// A key to a turret. Each player who captures the turret gets a new code.
#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
pub struct Key {
    pub turret: ObjectRef<Turret>,
    pub code: Secret,
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
pub struct Shield {
    #[replicated(range = 0..=50)]
    pub strength: u8,
    pub giver: ObjectRef<Turret>,
}

/// Kills and deaths belong together: no client ever sees one without the other.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
pub struct Tally {
    pub kills: u16,
    pub deaths: u16,
}

#[derive(NetSerialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gait {
    #[default]
    Standing,
    Running,
    Dead,
}

/// A projectile. Bolts and rockets are two archetypes (numbered sets of initial values), so their speed and
/// damage need not be sent.
#[derive(Replicated, Clone, Default)]
#[replicated(callbacks)]
pub struct Projectile {
    #[replicated]
    pub shooter: ObjectRef<Player>,
    #[replicated]
    pub prey: ObjectRef<Player>,
    #[replicated(atomic)]
    pub path: Path,
    #[replicated(range = 0..=100)]
    pub damage: u8,
    /// Metres per second.
    #[replicated]
    pub speed: f32,
    /// On the server: whether the projectile explodes where it hits.
    pub explodes: bool,
    /// On the server: when the projectile expires.
    pub expires_at_tick: u32,
    /// On a client: whether the muzzle flash was shown.
    pub flashed: bool,
}

impl Projectile {
    pub fn bolt() -> Self {
        Self { damage: 20, speed: 26.0, ..Self::default() }
    }

    pub fn rocket() -> Self {
        Self { damage: 45, speed: 14.0, explodes: true, ..Self::default() }
    }

    /// Returns the position. Both sides compute the position from the path, so only a new path is sent.
    pub fn position(&self, tick: u32) -> Vec2 {
        let seconds = tick.saturating_sub(self.path.since_tick) as f32 / 60.0;
        crate::plane::along(self.path.from, self.path.direction, self.speed * seconds)
    }
}

impl Callbacks for Projectile {
    fn post_net_init(&mut self) {
        self.flashed = true;
    }
}

/// A straight flight. The path is atomic: no client ever sees the start of one path with the direction of
/// another.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
pub struct Path {
    #[replicated(quantize(step = 0.01, range = -60.0..=60.0), saturate)]
    pub from: Vec2,
    /// A vector of length one.
    #[replicated(quantize(step = 0.001, range = -1.0..=1.0), saturate)]
    pub direction: Vec2,
    #[replicated(bits = 20)]
    pub since_tick: u32,
}

/// A pickup. Clients see the pickups near their player.
#[derive(Replicated, Default)]
pub struct Pickup {
    #[replicated(condition = InitialOnly)]
    pub kind: PickupKind,
    #[replicated(condition = InitialOnly, quantize(step = 0.1, range = -25.0..=25.0))]
    pub position: Vec2,
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
pub enum PickupKind {
    #[default]
    Health,
    Ammo {
        rounds: u8,
    },
    /// The supplies that fell out of a pack.
    Loot(Supply),
    Launcher,
    Perk(PerkKind),
}

/// A gun on a mast. A player who stands next to the turret becomes its owner.
#[derive(Replicated, Default)]
pub struct Turret {
    #[replicated(condition = InitialOnly, quantize(step = 0.1, range = -25.0..=25.0))]
    pub position: Vec2,
    /// Degrees.
    #[replicated(quantize(step = 3.0, range = 0.0..=360.0))]
    pub heading: f32,
    #[replicated]
    pub holder: ObjectRef<Player>,
    /// Opens the turret. Only the turret's owner sees the code, and each owner gets a new one.
    #[replicated(condition = OwnerOnly)]
    pub code: Secret,
    /// Hidden from the owner of the turret.
    #[replicated(condition = SkipOwner)]
    pub others_secret: Secret,
    #[replicated(condition = InitialOnly)]
    pub first_secret: Secret,
}

/// The wire form of a duration: tenths of a second, at most 10 s.
pub mod tenths {
    use std::time::Duration;

    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    const MOST: u64 = 100;

    pub fn of(time: &Duration) -> u64 {
        (time.as_millis() as u64).div_ceil(100)
    }

    pub const NAME: &str = "tenths";

    pub fn write(time: &Duration, writer: &mut BitWriter) -> Result<(), WriteError> {
        match of(time) {
            tenths @ 0..=MOST => writer.write_bits(tenths, 7),
            _ => return Err(WriteError::OutOfRange),
        }
        Ok(())
    }

    pub fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Duration, ReadError> {
        match reader.read_bits(7)? {
            tenths @ 0..=MOST => Ok(Duration::from_millis(tenths * 100)),
            _ => Err(ReadError::OutOfRange),
        }
    }
}

#[derive(Clone, Copy)]
pub struct Archetypes {
    pub bolt: ArchetypeId<Projectile>,
    pub rocket: ArchetypeId<Projectile>,
}

/// Registers every class at a server or a client.
pub fn register(side: &mut impl Register) -> Archetypes {
    side.register::<Match>().register::<Team>().register::<Player>();
    side.register::<Projectile>().register::<Pickup>().register::<Turret>();
    Archetypes {
        bolt: side.register_archetype(Projectile::bolt),
        rocket: side.register_archetype(Projectile::rocket),
    }
}
