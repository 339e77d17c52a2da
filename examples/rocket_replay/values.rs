//! Values as this example replicates them: each type has the same content as a type of the decoder.
//!
//! *Invariant:* a value that is made from a decoded value contains all its fields, without rounding. The
//! patterns below name all fields, so the compiler checks this where the decoder's type allows it.

use boxcars::{ActorId, Attribute, ObjectId, ProductValue, RemoteId, Vector3f, Vector3i};
use repl::prelude::*;

use crate::codec::body::{Body, Moving};
use crate::codec::{body, number, vector};

/// A value that can be made from a decoded `B`.
pub(crate) trait Mirror<B: ?Sized>: Sized {
    /// Makes the same value.
    fn of(decoded: &B) -> Self;
}

macro_rules! same {
    ($($type:ty)*) => {$(
        impl Mirror<$type> for $type {
            fn of(decoded: &$type) -> Self {
                decoded.clone()
            }
        }
    )*};
}
same!(bool u8 u16 u32 u64 i8 i32 i64 f32 String);

impl<T: Mirror<B>, B> Mirror<Vec<B>> for Vec<T> {
    fn of(decoded: &Vec<B>) -> Self {
        decoded.iter().map(T::of).collect()
    }
}

impl<T: Mirror<B>, B> Mirror<Option<B>> for Option<T> {
    fn of(decoded: &Option<B>) -> Self {
        decoded.as_ref().map(T::of)
    }
}

impl<T: Mirror<B>, B> Mirror<Box<B>> for T {
    fn of(decoded: &Box<B>) -> Self {
        T::of(decoded)
    }
}

impl<T: Mirror<B>, B> Mirror<[B; 3]> for [T; 3] {
    fn of(decoded: &[B; 3]) -> Self {
        decoded.each_ref().map(T::of)
    }
}

impl Mirror<ActorId> for i32 {
    fn of(decoded: &ActorId) -> Self {
        decoded.0
    }
}

impl Mirror<ObjectId> for i32 {
    fn of(decoded: &ObjectId) -> Self {
        decoded.0
    }
}

impl Mirror<Vector3f> for [f32; 3] {
    fn of(decoded: &Vector3f) -> Self {
        let Vector3f { x, y, z } = *decoded;
        [x, y, z]
    }
}

impl Mirror<Vector3i> for [i32; 3] {
    fn of(decoded: &Vector3i) -> Self {
        let Vector3i { x, y, z } = *decoded;
        [x, y, z]
    }
}

impl Mirror<boxcars::Quaternion> for [f32; 4] {
    fn of(decoded: &boxcars::Quaternion) -> Self {
        let boxcars::Quaternion { x, y, z, w } = *decoded;
        [x, y, z, w]
    }
}

impl Mirror<boxcars::RigidBody> for Body {
    fn of(decoded: &boxcars::RigidBody) -> Self {
        // The decoder sets velocities only for bodies that are awake.
        let boxcars::RigidBody { sleeping: _, location, rotation, linear_velocity, angular_velocity } =
            decoded;
        let motion = linear_velocity.as_ref().zip(angular_velocity.as_ref());
        let motion =
            motion.map(|(velocity, spin)| Moving { velocity: Mirror::of(velocity), spin: Mirror::of(spin) });
        Self { location: Mirror::of(location), rotation: Mirror::of(rotation), motion }
    }
}

/// Declares structs with the same fields as the decoder's structs. `[..]` marks structs of the decoder to
/// which later versions may add fields.
macro_rules! mirrors {
    ($(
        $(#[$attribute:meta])*
        $name:ident of $decoded:ident $([$open:tt])? { $($(#[$of_field:meta])* $field:ident: $type:ty,)* }
    )*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, NetSerialize)]
        pub(crate) struct $name { $($(#[$of_field])* $field: $type,)* }

        impl Mirror<boxcars::$decoded> for $name {
            fn of(decoded: &boxcars::$decoded) -> Self {
                let boxcars::$decoded { $($field,)* $($open)? } = decoded;
                Self { $($field: Mirror::of($field),)* }
            }
        }
    )*};
}

mirrors! {
    /// A reference as the game sends it: to an actor, or to an object that both sides have. It contains the
    /// numbers of the recording. A game would use an `ObjectRef`.
    Link of ActiveActor {
        active: bool,
        #[replicated(with = number::index)]
        actor: i32,
    }

    /// A rotation in 256ths of a turn.
    Turn of Rotation {
        yaw: Option<i8>,
        pitch: Option<i8>,
        roll: Option<i8>,
    }

    /// The colours of a car.
    Paint of TeamPaint {
        team: u8,
        primary_color: u8,
        accent_color: u8,
        primary_finish: u32,
        accent_finish: u32,
    }

    /// The camera settings of a player.
    Lens of CamSettings [..] {
        fov: f32,
        height: f32,
        angle: f32,
        distance: f32,
        stiffness: f32,
        swivel: f32,
        transition: Option<f32>,
        camera_accel_rate: Option<f32>,
        camera_decel_rate: Option<f32>,
        free_look_speed: Option<f32>,
        unconstrain_rotation: Option<bool>,
        free_look_smoothing: Option<bool>,
    }

    /// Hits on a ball that breaks the floor.
    Hits of AppliedDamage {
        id: u8,
        #[replicated(with = vector::spin)]
        position: [f32; 3],
        #[replicated(with = number::small)]
        damage_index: i32,
        #[replicated(with = number::small)]
        total_damage: i32,
    }

    /// The state of one tile of the floor.
    Tile of DamageState {
        #[replicated(bits = 2)]
        tile_state: u8,
        damaged: bool,
        #[replicated(with = number::index)]
        offender: i32,
        #[replicated(with = vector::place)]
        ball_position: [f32; 3],
        direct_hit: bool,
        unknown1: bool,
    }

    /// A car that another car wrecked.
    Wreck of Demolish {
        attacker_flag: bool,
        #[replicated(with = number::index)]
        attacker: i32,
        victim_flag: bool,
        #[replicated(with = number::index)]
        victim: i32,
        #[replicated(with = vector::velocity)]
        attack_velocity: [f32; 3],
        #[replicated(with = vector::velocity)]
        victim_velocity: [f32; 3],
    }

    /// [`Wreck`] in newer recordings.
    WreckExtended of DemolishExtended {
        attacker_pri: Link,
        self_demo: Link,
        self_demolish: bool,
        goal_explosion_owner: Link,
        attacker: Link,
        victim: Link,
        #[replicated(with = vector::velocity)]
        attacker_velocity: [f32; 3],
        #[replicated(with = vector::velocity)]
        victim_velocity: [f32; 3],
    }

    /// A ball that exploded in a goal.
    Blast of Explosion {
        flag: bool,
        #[replicated(with = number::index)]
        actor: i32,
        #[replicated(with = vector::place)]
        location: [f32; 3],
    }

    /// A [`Blast`] together with the player who scored.
    BlastExtended of ExtendedExplosion {
        explosion: Blast,
        unknown1: bool,
        #[replicated(with = number::index)]
        secondary_actor: i32,
    }

    /// A boost pad, taken or not.
    Pad of Pickup {
        instigator: Option<i32>,
        picked_up: bool,
    }

    /// [`Pad`] in newer recordings.
    PadCounted of PickupNew {
        instigator: Option<i32>,
        picked_up: u8,
    }

    /// The remaining boost of a car, in newer recordings.
    Tank of ReplicatedBoost {
        grant_count: u8,
        boost_amount: u8,
        unused1: u8,
        unused2: u8,
    }

    /// An event for the statistics.
    Stat of StatEvent {
        unknown1: bool,
        #[replicated(with = number::index)]
        object_id: i32,
    }

    /// The identity of a player.
    Account of UniqueId {
        system_id: u8,
        remote_id: Remote,
        local_id: u8,
    }

    /// A reserved seat for a player.
    Seat of Reservation {
        #[replicated(bits = 3)]
        number: u32,
        unique_id: Account,
        name: Option<String>,
        unknown1: bool,
        unknown2: bool,
        unknown3: Option<u8>,
    }

    /// The parts of a car.
    Outfit of Loadout [..] {
        version: u8,
        body: u32,
        decal: u32,
        wheels: u32,
        rocket_trail: u32,
        antenna: u32,
        topper: u32,
        unknown1: u32,
        unknown2: Option<u32>,
        engine_audio: Option<u32>,
        trail: Option<u32>,
        goal_explosion: Option<u32>,
        banner: Option<u32>,
        product_id: Option<u32>,
    }

    /// The parts of a car for each team.
    Outfits of TeamLoadout {
        blue: Outfit,
        orange: Outfit,
    }

    /// A part of a car, with its attributes.
    Part of Product {
        unknown: bool,
        #[replicated(with = number::index)]
        object_ind: i32,
        value: PartValue,
    }

    /// The parts of a player's cars.
    Parts of LoadoutsOnline {
        blue: Vec<Vec<Part>>,
        orange: Vec<Vec<Part>>,
        unknown1: bool,
        unknown2: bool,
    }
}

/// An account on one of the platforms.
#[derive(Clone, Debug, NetSerialize)]
pub(crate) enum Remote {
    /// Another player at the same machine.
    SplitScreen(u32),
    Steam(u64),
    PlayStation {
        online_id: u64,
        name: String,
        unknown1: Vec<u8>,
    },
    PsyNet {
        online_id: u64,
        unknown1: Vec<u8>,
    },
    Switch {
        online_id: u64,
        unknown1: Vec<u8>,
    },
    Xbox(u64),
    Qq(u64),
    Epic(String),
    /// A platform that is newer than this example.
    Unknown,
}

impl Default for Remote {
    fn default() -> Self {
        Self::SplitScreen(0)
    }
}

impl Mirror<RemoteId> for Remote {
    fn of(decoded: &RemoteId) -> Self {
        match decoded {
            RemoteId::SplitScreen(id) => Self::SplitScreen(*id),
            RemoteId::Steam(id) => Self::Steam(*id),
            RemoteId::PlayStation(id) => Self::PlayStation {
                online_id: id.online_id,
                name: id.name.clone(),
                unknown1: id.unknown1.clone(),
            },
            RemoteId::PsyNet(id) => Self::PsyNet { online_id: id.online_id, unknown1: id.unknown1.clone() },
            RemoteId::Switch(id) => Self::Switch { online_id: id.online_id, unknown1: id.unknown1.clone() },
            RemoteId::Xbox(id) => Self::Xbox(*id),
            RemoteId::QQ(id) => Self::Qq(*id),
            RemoteId::Epic(id) => Self::Epic(id.clone()),
            _ => Self::Unknown,
        }
    }
}

/// An attribute of a part.
#[derive(Clone, Debug, Default, NetSerialize)]
pub(crate) enum PartValue {
    NoColor,
    #[default]
    Absent,
    OldColor(u32),
    NewColor(u32),
    OldPaint(u32),
    NewPaint(u32),
    Title(String),
    SpecialEdition(u32),
    OldTeamEdition(u32),
    NewTeamEdition(u32),
    Certified {
        stat: u32,
        value: u32,
    },
    /// An attribute that is newer than this example.
    Unknown,
}

impl Mirror<ProductValue> for PartValue {
    fn of(decoded: &ProductValue) -> Self {
        match decoded {
            ProductValue::NoColor => Self::NoColor,
            ProductValue::Absent => Self::Absent,
            ProductValue::OldColor(value) => Self::OldColor(*value),
            ProductValue::NewColor(value) => Self::NewColor(*value),
            ProductValue::OldPaint(value) => Self::OldPaint(*value),
            ProductValue::NewPaint(value) => Self::NewPaint(*value),
            ProductValue::Title(value) => Self::Title(value.clone()),
            ProductValue::SpecialEdition(value) => Self::SpecialEdition(*value),
            ProductValue::OldTeamEdition(value) => Self::OldTeamEdition(*value),
            ProductValue::NewTeamEdition(value) => Self::NewTeamEdition(*value),
            ProductValue::Certified { stat, value } => Self::Certified { stat: *stat, value: *value },
            _ => Self::Unknown,
        }
    }
}

/// Any value of a property that has no field.
#[derive(Clone, Debug, NetSerialize)]
pub(crate) enum Value {
    Flag(bool),
    Byte(u8),
    Int(#[replicated(with = number::small)] i32),
    Wide(i64),
    Unsigned(u64),
    Float(f32),
    Enum(u16),
    History(u16),
    Text(String),
    Link(Link),
    Vector(#[replicated(with = vector::place)] [f32; 3]),
    Turn(Turn),
    Body(#[replicated(with = body)] Body),
    Paint(Paint),
    Lens(Lens),
    Hits(Hits),
    Tile(Tile),
    Wreck(Wreck),
    WreckExtended(WreckExtended),
    Blast(Blast),
    BlastExtended(BlastExtended),
    Pad(Pad),
    PadCounted(PadCounted),
    Tank(Tank),
    Stat(Stat),
    Account(Account),
    Leader(Option<Account>),
    Seat(Seat),
    Outfit(Outfit),
    Outfits(Outfits),
    Parts(Parts),
}

impl Default for Value {
    fn default() -> Self {
        Self::Flag(false)
    }
}

impl Value {
    /// Returns the value of an attribute; `None` for the kinds that do not occur in our recordings.
    pub(crate) fn of(attribute: &Attribute) -> Option<Self> {
        Some(match attribute {
            Attribute::Boolean(value) => Self::Flag(*value),
            Attribute::Byte(value) => Self::Byte(*value),
            Attribute::Int(value) => Self::Int(*value),
            Attribute::Int64(value) => Self::Wide(*value),
            Attribute::QWord(value) => Self::Unsigned(*value),
            Attribute::Float(value) => Self::Float(*value),
            Attribute::Enum(value) => Self::Enum(*value),
            Attribute::PlayerHistoryKey(value) => Self::History(*value),
            Attribute::String(value) => Self::Text(value.clone()),
            Attribute::ActiveActor(value) => Self::Link(Mirror::of(value)),
            Attribute::Location(value) => Self::Vector(Mirror::of(value)),
            Attribute::Rotation(value) => Self::Turn(Mirror::of(value)),
            Attribute::RigidBody(value) => Self::Body(Mirror::of(value)),
            Attribute::TeamPaint(value) => Self::Paint(Mirror::of(value)),
            Attribute::CamSettings(value) => Self::Lens(Mirror::of(value)),
            Attribute::AppliedDamage(value) => Self::Hits(Mirror::of(value)),
            Attribute::DamageState(value) => Self::Tile(Mirror::of(value)),
            Attribute::Demolish(value) => Self::Wreck(Mirror::of(value)),
            Attribute::DemolishExtended(value) => Self::WreckExtended(Mirror::of(value)),
            Attribute::Explosion(value) => Self::Blast(Mirror::of(value)),
            Attribute::ExtendedExplosion(value) => Self::BlastExtended(Mirror::of(value)),
            Attribute::Pickup(value) => Self::Pad(Mirror::of(value)),
            Attribute::PickupNew(value) => Self::PadCounted(Mirror::of(value)),
            Attribute::ReplicatedBoost(value) => Self::Tank(Mirror::of(value)),
            Attribute::StatEvent(value) => Self::Stat(Mirror::of(value)),
            Attribute::UniqueId(value) => Self::Account(Mirror::of(value)),
            Attribute::PartyLeader(value) => Self::Leader(Mirror::of(value)),
            Attribute::Reservation(value) => Self::Seat(Mirror::of(value)),
            Attribute::Loadout(value) => Self::Outfit(Mirror::of(value)),
            Attribute::TeamLoadout(value) => Self::Outfits(Mirror::of(value)),
            Attribute::LoadoutsOnline(value) => Self::Parts(Mirror::of(value)),
            _ => return None,
        })
    }
}
