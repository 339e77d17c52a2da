//! The actors of a match as replicated structs: one for each important class, and `Thing` for all others.
//!
//! A property that changes often has a field. All other properties are in the list `others`. So every
//! property of every actor is replicated.
//!
//! *Invariant:* at any time each decoded property is in exactly one place of its struct: a field or `others`.

use boxcars::{Attribute, NewActor};
use repl::prelude::*;

use crate::codec::body::Body;
use crate::codec::{body, number, vector};
use crate::values::{Lens, Link, Mirror, Pad, Paint, Tank, Tile, Turn, Value};

/// One of the classes below.
pub(crate) trait Actor: Replicated + Default + Clone {
    /// The name of the class in reports.
    const NAME: &'static str;

    /// Returns the content of the update that opened the actor.
    fn opened(&self) -> &Opening;

    /// Returns the same content for writing: a recording can open an actor again.
    fn opening(&mut self) -> &mut Opening;

    /// Sets a property to the values that one frame of the recording has for it. Returns false if the class
    /// has no field for these values.
    fn set(&mut self, property: &Key<'_>, values: &[&Attribute]) -> bool;

    /// Returns whether the property has exactly these values, bit for bit.
    fn holds(&self, property: &Key<'_>, values: &[&Attribute]) -> bool;
}

/// The name of a property and its number in the recording.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a> {
    pub(crate) name: &'a str,
    pub(crate) number: i32,
}

/// The content of the opening of an actor. A key frame (a frame with the whole state) opens the actor again,
/// perhaps at another position.
#[derive(Clone, Debug, Default, NetSerialize)]
pub(crate) struct Opening {
    /// The number by which other actors refer to this actor.
    #[replicated(with = number::index)]
    pub(crate) actor: i32,
    /// The number of the archetype in the recording.
    #[replicated(with = number::index)]
    pub(crate) object: i32,
    pub(crate) name: Option<i32>,
    pub(crate) location: Option<[i32; 3]>,
    pub(crate) rotation: Option<Turn>,
}

impl Mirror<NewActor> for Opening {
    fn of(decoded: &NewActor) -> Self {
        let NewActor { actor_id, name_id, object_id, initial_trajectory } = decoded;
        Self {
            actor: Mirror::of(actor_id),
            object: Mirror::of(object_id),
            name: *name_id,
            location: Mirror::of(&initial_trajectory.location),
            rotation: Mirror::of(&initial_trajectory.rotation),
        }
    }
}

/// A property without a field: all values that the last frame with this property had for it. Usually this is
/// one value, but some properties are written several times in a frame.
#[derive(Clone, Debug, Default, NetSerialize)]
pub(crate) struct Other {
    #[replicated(with = number::index)]
    property: i32,
    values: Vec<Value>,
}

/// Declares the classes: for each a struct, and for each field the property that is stored in it.
macro_rules! actors {
    ($(
        $(#[$attribute:meta])*
        $class:ident { $($(#[$of_field:meta])* $field:ident: $type:ty = $property:literal,)* }
    )*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, Replicated)]
        #[replicated(all)]
        pub(crate) struct $class {
            $($(#[$of_field])* $field: $type,)*
            opening: Opening,
            others: Vec<Other>,
        }

        impl Actor for $class {
            const NAME: &'static str = stringify!($class);

            fn opened(&self) -> &Opening {
                &self.opening
            }

            fn opening(&mut self) -> &mut Opening {
                &mut self.opening
            }

            fn set(&mut self, property: &Key<'_>, values: &[&Attribute]) -> bool {
                match property.name {
                    $($property => set_field(&mut self.$field, values),)*
                    _ => set_other(&mut self.others, property, values),
                }
            }

            fn holds(&self, property: &Key<'_>, values: &[&Attribute]) -> bool {
                match property.name {
                    $($property => field_holds(&self.$field, values),)*
                    _ => others_hold(&self.others, property, values),
                }
            }
        }
    )*};
}

actors! {
    /// The ball.
    Ball {
        body: BallBody = "TAGame.RBActor_TA:ReplicatedRBState",
        hit_team: u8 = "TAGame.Ball_TA:HitTeamNum",
        game_event: Link = "TAGame.Ball_TA:GameEvent",
    }

    /// A car: two thirds of all data of a match.
    Car {
        #[replicated(with = body)]
        body: Body = "TAGame.RBActor_TA:ReplicatedRBState",
        #[replicated(with = number::stick)]
        steer: u8 = "TAGame.Vehicle_TA:ReplicatedSteer",
        #[replicated(with = number::stick)]
        throttle: u8 = "TAGame.Vehicle_TA:ReplicatedThrottle",
        handbrake: bool = "TAGame.Vehicle_TA:bReplicatedHandbrake",
        driving: bool = "TAGame.Vehicle_TA:bDriving",
        player: Link = "Engine.Pawn:PlayerReplicationInfo",
        paint: Paint = "TAGame.Car_TA:TeamPaint",
    }

    /// A car's boost.
    Boost {
        amount: u8 = "TAGame.CarComponent_Boost_TA:ReplicatedBoostAmount",
        active: u8 = "TAGame.CarComponent_TA:ReplicatedActive",
        tank: Tank = "TAGame.CarComponent_Boost_TA:ReplicatedBoost",
        vehicle: Link = "TAGame.CarComponent_TA:Vehicle",
    }

    /// Other abilities of a car: jump, dodge, flip, use an item.
    Component {
        active: u8 = "TAGame.CarComponent_TA:ReplicatedActive",
        #[replicated(with = vector::spin)]
        dodge: [f32; 3] = "TAGame.CarComponent_Dodge_TA:DodgeTorque",
        activity_time: f32 = "TAGame.CarComponent_TA:ReplicatedActivityTime",
        #[replicated(with = number::small)]
        activations: i32 = "TAGame.CarComponent_AirActivate_TA:AirActivateCount",
        vehicle: Link = "TAGame.CarComponent_TA:Vehicle",
    }

    /// A player.
    Player {
        time_played: f32 = "TAGame.PRI_TA:TotalGameTimePlayed",
        ping: u8 = "Engine.PlayerReplicationInfo:Ping",
        #[replicated(with = number::small)]
        score: i32 = "TAGame.PRI_TA:MatchScore",
        #[replicated(with = number::small)]
        shots: i32 = "TAGame.PRI_TA:MatchShots",
        #[replicated(with = number::small)]
        saves: i32 = "TAGame.PRI_TA:MatchSaves",
        #[replicated(with = number::small)]
        goals: i32 = "TAGame.PRI_TA:MatchGoals",
        #[replicated(with = number::small)]
        damage: i32 = "TAGame.PRI_TA:MatchBreakoutDamage",
        #[replicated(with = number::small)]
        time_till_item: i32 = "TAGame.PRI_TA:TimeTillItem",
        worst_net_quality: u8 = "TAGame.PRI_TA:ReplicatedWorstNetQualityBeyondLatency",
        camera: Link = "TAGame.PRI_TA:PersistentCamera",
        team: Link = "Engine.PlayerReplicationInfo:Team",
        name: String = "Engine.PlayerReplicationInfo:PlayerName",
    }

    /// A player's camera.
    Camera {
        pitch: u8 = "TAGame.CameraSettingsActor_TA:CameraPitch",
        yaw: u8 = "TAGame.CameraSettingsActor_TA:CameraYaw",
        watches_ball: bool = "TAGame.CameraSettingsActor_TA:bUsingSecondaryCamera",
        behind_view: bool = "TAGame.CameraSettingsActor_TA:bUsingBehindView",
        player: Link = "TAGame.CameraSettingsActor_TA:PRI",
        lens: Lens = "TAGame.CameraSettingsActor_TA:ProfileSettings",
    }

    /// A team.
    Team {
        #[replicated(with = number::small)]
        score: i32 = "Engine.TeamInfo:Score",
        game_event: Link = "TAGame.Team_TA:GameEvent",
    }

    /// The course of the match.
    Game {
        #[replicated(with = number::small)]
        seconds_left: i32 = "TAGame.GameEvent_Soccar_TA:SecondsRemaining",
        #[replicated(with = number::index)]
        state: i32 = "TAGame.GameEvent_TA:ReplicatedStateName",
        #[replicated(with = number::small)]
        round: i32 = "TAGame.GameEvent_Soccar_TA:RoundNum",
        #[replicated(with = number::small)]
        countdown: i32 = "TAGame.GameEvent_TA:ReplicatedRoundCountDownNumber",
        ball_was_hit: bool = "TAGame.GameEvent_Soccar_TA:bBallHasBeenHit",
    }

    /// A boost pad on the floor.
    BoostPad {
        pad: Pad = "TAGame.VehiclePickup_TA:ReplicatedPickupData",
    }

    /// A tile of a floor that can break.
    Platform {
        tile: Tile = "TAGame.BreakOutActor_Platform_TA:DamageState",
    }

    /// An actor of any other class.
    Thing {}
}

/// The state of a ball. Each part is a property of its own, because a ball in flight keeps its spin.
#[derive(Clone, Debug, Default, Replicated)]
#[replicated(all)]
pub(crate) struct BallBody {
    #[replicated(with = vector::place)]
    location: [f32; 3],
    #[replicated(with = vector::velocity)]
    velocity: [f32; 3],
    #[replicated(with = vector::rotation)]
    rotation: [f32; 4],
    #[replicated(with = vector::spin)]
    spin: [f32; 3],
    awake: bool,
}

impl Mirror<boxcars::RigidBody> for BallBody {
    fn of(decoded: &boxcars::RigidBody) -> Self {
        let Body { location, rotation, motion } = Body::of(decoded);
        let awake = motion.is_some();
        let motion = motion.unwrap_or_default();
        Self { location, velocity: motion.velocity, rotation, spin: motion.spin, awake }
    }
}

/// The type of a field, with the conversion from an attribute (a value of the decoder).
trait OfAttribute: NetSerialize {
    /// Returns the attribute's value; `None` if the attribute is of another kind.
    fn of_attribute(attribute: &Attribute) -> Option<Self>;
}

macro_rules! of_attribute {
    ($($type:ty: $kind:ident;)*) => {$(
        impl OfAttribute for $type {
            fn of_attribute(attribute: &Attribute) -> Option<Self> {
                if let Attribute::$kind(value) = attribute { Some(Mirror::of(value)) } else { None }
            }
        }
    )*};
}

of_attribute! {
    bool: Boolean;
    u8: Byte;
    i32: Int;
    f32: Float;
    String: String;
    [f32; 3]: Location;
    Link: ActiveActor;
    Body: RigidBody;
    BallBody: RigidBody;
    Paint: TeamPaint;
    Lens: CamSettings;
    Pad: Pickup;
    Tank: ReplicatedBoost;
    Tile: DamageState;
}

fn set_field<T: OfAttribute>(field: &mut T, values: &[&Attribute]) -> bool {
    let [attribute] = values else { return false };
    T::of_attribute(attribute).map(|value| *field = value).is_some()
}

fn field_holds<T: OfAttribute>(field: &T, values: &[&Attribute]) -> bool {
    let [attribute] = values else { return false };
    T::of_attribute(attribute).is_some_and(|value| value.identical(field))
}

fn set_other(others: &mut Vec<Other>, property: &Key<'_>, values: &[&Attribute]) -> bool {
    let Some(values) = values.iter().map(|attribute| Value::of(attribute)).collect::<Option<Vec<_>>>() else {
        return false;
    };
    match others.iter_mut().find(|other| other.property == property.number) {
        Some(other) => other.values = values,
        None => others.push(Other { property: property.number, values }),
    }
    true
}

fn others_hold(others: &[Other], property: &Key<'_>, values: &[&Attribute]) -> bool {
    others.iter().find(|other| other.property == property.number).is_some_and(|other| {
        let same = |(held, attribute): (&Value, &&Attribute)| {
            Value::of(attribute).is_some_and(|value| value.identical(held))
        };
        other.values.len() == values.len() && other.values.iter().zip(values).all(same)
    })
}
