//! The number of bits that the game's own replication used for each part of a frame.
//!
//! *Invariant:* the sizes follow only from the decoded values. The number of a property counts as six bits,
//! although its width differs between classes. The length of the whole stream is not computed: it is in the
//! file.

use boxcars::{Attribute, Loadout, NewActor, Product, ProductValue, RemoteId, Rotation, UniqueId, Vector3f};

/// One bit for "another actor follows", 11 bits for the actor's number, and one bit for whether the actor is
/// alive.
pub(crate) const ACTOR_BITS: u64 = 13;
/// An update of an actor: one bit for "not new", and one bit for "no further property follows".
pub(crate) const UPDATE_BITS: u64 = 2;
/// One bit for "another property follows", and the number of the property.
pub(crate) const PROPERTY_BITS: u64 = 7;

const TEXT_LENGTH_BITS: u64 = 32;
const REFERENCE_BITS: u64 = 33;

/// Returns the number of bits of the opening of an actor, without the actor's number.
pub(crate) fn opening_bits(actor: &NewActor, net_version: i32) -> u64 {
    let name = if actor.name_id.is_some() { 32 } else { 0 };
    let location = actor.initial_trajectory.location;
    let location = location.map_or(0, |at| vector_bits([at.x, at.y, at.z], net_version));
    let rotation = actor.initial_trajectory.rotation.as_ref().map_or(0, turn_bits);
    1 + name + 1 + 32 + location + rotation
}

/// Returns the number of bits of a value.
pub(crate) fn value_bits(attribute: &Attribute, net_version: i32) -> u64 {
    let vector = |value: &Vector3f| hundredths_bits(value, net_version);
    match attribute {
        Attribute::Boolean(_) => 1,
        Attribute::Byte(_) => 8,
        Attribute::Enum(_) => 11,
        Attribute::PlayerHistoryKey(_) => 14,
        Attribute::Int(_) | Attribute::Float(_) | Attribute::ReplicatedBoost(_) => 32,
        Attribute::Int64(_) | Attribute::QWord(_) => 64,
        Attribute::ActiveActor(_) | Attribute::StatEvent(_) => REFERENCE_BITS,
        Attribute::String(value) => text_bits(value),
        Attribute::Location(value) => vector(value),
        Attribute::Rotation(value) => turn_bits(value),
        Attribute::RigidBody(body) => {
            let rotation = if net_version >= 7 { 56 } else { 48 };
            let motion = [body.linear_velocity, body.angular_velocity];
            1 + vector(&body.location) + rotation + motion.iter().flatten().map(vector).sum::<u64>()
        }
        Attribute::TeamPaint(_) => 88,
        Attribute::CamSettings(lens) => {
            let later = if lens.camera_accel_rate.is_some() { 98 } else { 0 };
            6 * 32 + if lens.transition.is_some() { 32 } else { 0 } + later
        }
        Attribute::AppliedDamage(hits) => 8 + vector(&hits.position) + 64,
        Attribute::DamageState(tile) => 8 + 1 + 32 + vector(&tile.ball_position) + 2,
        Attribute::Demolish(wreck) => {
            2 * REFERENCE_BITS + vector(&wreck.attack_velocity) + vector(&wreck.victim_velocity)
        }
        Attribute::DemolishExtended(wreck) => {
            5 * REFERENCE_BITS + 1 + vector(&wreck.attacker_velocity) + vector(&wreck.victim_velocity)
        }
        Attribute::Explosion(blast) => REFERENCE_BITS + vector(&blast.location),
        Attribute::ExtendedExplosion(blast) => 2 * REFERENCE_BITS + vector(&blast.explosion.location),
        Attribute::Pickup(pad) => 1 + if pad.instigator.is_some() { 32 } else { 0 } + 1,
        Attribute::PickupNew(pad) => 1 + if pad.instigator.is_some() { 32 } else { 0 } + 8,
        Attribute::UniqueId(id) => account_bits(id, net_version),
        Attribute::PartyLeader(id) => id.as_deref().map_or(8, |id| account_bits(id, net_version)),
        Attribute::Reservation(seat) => {
            let name = seat.name.as_deref().map_or(0, text_bits);
            3 + account_bits(&seat.unique_id, net_version)
                + name
                + 2
                + if seat.unknown3.is_some() { 6 } else { 0 }
        }
        Attribute::Loadout(outfit) => outfit_bits(outfit),
        Attribute::TeamLoadout(outfits) => outfit_bits(&outfits.blue) + outfit_bits(&outfits.orange),
        Attribute::LoadoutsOnline(parts) => parts_bits(&parts.blue) + parts_bits(&parts.orange) + 2,
        _ => 0,
    }
}

fn hundredths_bits(value: &Vector3f, net_version: i32) -> u64 {
    vector_bits([value.x, value.y, value.z].map(|component| (component * 100.0).round() as i32), net_version)
}

/// Returns the number of bits of a vector: 4 or 5 bits for the width of the components, plus the three
/// components.
fn vector_bits(vector: [i32; 3], net_version: i32) -> u64 {
    let most = if net_version >= 7 { 22 } else { 20 };
    let widest = vector.iter().map(|component| i32::BITS - component.unsigned_abs().leading_zeros()).max();
    let width = u64::from(widest.unwrap_or(0).saturating_sub(1));
    let width_bits = if width % 16 + 16 < most { 5 } else { 4 };
    width_bits + 3 * (width + 2)
}

fn turn_bits(turn: &Rotation) -> u64 {
    [turn.yaw, turn.pitch, turn.roll].iter().map(|angle| if angle.is_some() { 9 } else { 1 }).sum()
}

/// Returns the number of bits of a text: its length, then its characters and a zero. All characters take one
/// byte each if they can, otherwise two bytes each.
fn text_bits(text: &str) -> u64 {
    if text.is_empty() {
        return TEXT_LENGTH_BITS;
    }
    let unit_bits = if text.chars().all(|character| (character as u32) < 256) { 8 } else { 16 };
    TEXT_LENGTH_BITS + unit_bits * (text.encode_utf16().count() as u64 + 1)
}

fn account_bits(id: &UniqueId, net_version: i32) -> u64 {
    let remote = match &id.remote_id {
        RemoteId::SplitScreen(_) => 24,
        RemoteId::PlayStation(_) => (16 + if net_version >= 1 { 16 } else { 8 } + 8) * 8,
        RemoteId::PsyNet(_) if net_version >= 10 => 64,
        RemoteId::PsyNet(_) | RemoteId::Switch(_) => 64 + 24 * 8,
        RemoteId::Epic(name) => text_bits(name),
        _ => 64,
    };
    8 + remote + 8
}

fn outfit_bits(outfit: &Loadout) -> u64 {
    let Loadout { unknown2, engine_audio, trail, goal_explosion, banner, product_id, .. } = outfit;
    let later = [unknown2, engine_audio, trail, goal_explosion, banner, product_id];
    let unnamed = if outfit.version >= 22 { 3 } else { 0 };
    8 + 32 * (7 + later.iter().filter(|part| part.is_some()).count() as u64 + unnamed)
}

fn parts_bits(slots: &[Vec<Product>]) -> u64 {
    8 + slots.iter().map(|parts| 8 + parts.iter().map(part_bits).sum::<u64>()).sum::<u64>()
}

fn part_bits(part: &Product) -> u64 {
    let value = match &part.value {
        ProductValue::NoColor => 1,
        ProductValue::Absent => 0,
        ProductValue::OldColor(_) | ProductValue::NewColor(_) => 32,
        ProductValue::OldPaint(_) | ProductValue::OldTeamEdition(_) => 4,
        ProductValue::Title(text) => text_bits(text),
        ProductValue::Certified { .. } => 63,
        _ => 31,
    };
    1 + 32 + value
}
