//! The state of a car as a rigid body. Its velocity and tilt are written relative to the direction of the
//! car.
//!
//! Nearly every update changes the whole state, so the state is one value and is sent whole. Within one
//! value, each part helps to predict the other parts: a car on its wheels is level, drives forward and hardly
//! slips. So roll, pitch, height and sideways velocity take only a few bits each.
//!
//! *Invariant:* a state that the short form cannot represent bit for bit is written raw.

use repl::{BitReader, BitWriter, NetSerialize, ReadError, ReferenceMap, WriteError};

use super::grid::{self, Rotation};
use super::heading::Heading;
use super::tables::{self, Motion};
use super::vector::{read_raw, write_raw};
use super::width::Widths;

/// The height of a car at rest, in hundredths of a unit (a unit is 1 cm).
const REST_HEIGHT: i64 = 1_701;
/// The pitch of a car at rest, in steps of the game's grid: its nose is half a degree down.
const REST_PITCH: i64 = 883;
/// The upward velocity of most cars at rest, in hundredths of a unit per second. This velocity is an artefact
/// of the game's physics.
const REST_RISE: i64 = 21;
/// The greatest roll and pitch of a car that counts as level, in steps: a sixth of a degree.
const LEVEL: i64 = 256;
/// The greatest roll and pitch of a car that counts as nearly level, in steps.
const NEARLY_LEVEL: i64 = 2_048;

/// The position of a car, and its motion.
#[derive(Clone, Copy, Debug, Default, NetSerialize)]
pub(crate) struct Body {
    /// The centre, in units of the game. A unit is 1 cm.
    pub(crate) location: [f32; 3],
    /// A unit quaternion: x, y, z, w.
    pub(crate) rotation: [f32; 4],
    /// `None` while the body sleeps.
    pub(crate) motion: Option<Moving>,
}

/// The motion of a body that is awake.
#[derive(Clone, Copy, Debug, Default, NetSerialize)]
pub(crate) struct Moving {
    /// The velocity in units per second.
    pub(crate) velocity: [f32; 3],
    /// The spin in hundredths of a radian per second.
    pub(crate) spin: [f32; 3],
}

/// The body as whole numbers of steps of the game's grids.
struct Numbers {
    rotation: Rotation,
    location: [i64; 3],
    motion: Option<[[i64; 3]; 2]>,
}

pub(crate) const NAME: &str = "body";

/// Writes a body. A body takes 165 to 200 bits on average, instead of 450 for raw floats.
pub(crate) fn write(body: &Body, writer: &mut BitWriter) -> Result<(), WriteError> {
    let start = writer.bit_len();
    writer.write_flag(true);
    let short = Numbers::of(body).and_then(|numbers| numbers.write(writer));
    if short.is_none() {
        writer.truncate(start);
        writer.write_flag(false);
        write_raw(body.location, writer);
        write_raw(body.rotation, writer);
        writer.write_flag(body.motion.is_some());
        if let Some(motion) = body.motion {
            write_raw(motion.velocity, writer);
            write_raw(motion.spin, writer);
        }
    }
    Ok(())
}

pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Body, ReadError> {
    if reader.read_flag()? {
        return Numbers::read(reader).map(|numbers| numbers.body());
    }
    let (location, rotation) = (read_raw(reader)?, read_raw(reader)?);
    let motion = if reader.read_flag()? {
        Some(Moving { velocity: read_raw(reader)?, spin: read_raw(reader)? })
    } else {
        None
    };
    Ok(Body { location, rotation, motion })
}

impl Numbers {
    fn of(body: &Body) -> Option<Self> {
        let motion = match body.motion {
            None => None,
            Some(Moving { velocity, spin }) => {
                Some([grid::vector_hundredths(velocity)?, grid::vector_hundredths(spin)?])
            }
        };
        let location = grid::vector_hundredths(body.location)?;
        Some(Self { rotation: Rotation::on_grid(body.rotation)?, location, motion })
    }

    fn body(&self) -> Body {
        let floats = |numbers: [i64; 3]| numbers.map(grid::from_hundredths);
        let motion =
            self.motion.map(|[velocity, spin]| Moving { velocity: floats(velocity), spin: floats(spin) });
        Body { location: floats(self.location), rotation: self.rotation.quaternion(), motion }
    }

    /// Writes the body. Returns `None` if a number is too wide for its table: then discard the bits that were
    /// written.
    fn write(&self, writer: &mut BitWriter) -> Option<()> {
        let heading = Heading::of(self.rotation);
        let tables = write_rotation(self.rotation, heading, writer)?;
        let [x, y, z] = self.location;
        put(&tables::CAR_X, x, writer)?;
        put(&tables::CAR_Y, y, writer)?;
        put(&tables.height, z - REST_HEIGHT, writer)?;
        writer.write_flag(self.motion.is_some());
        if let Some([[vx, vy, vz], [wx, wy, wz]]) = self.motion {
            let [forward, side] = heading.to_car([vx, vy]);
            put(&tables.forward, forward, writer)?;
            put(&tables.side, side, writer)?;
            put(&tables.up, vz - REST_RISE, writer)?;
            let [forward, side] = heading.to_car([wx, wy]);
            put(&tables.spin_forward, forward, writer)?;
            put(&tables.spin_side, side, writer)?;
            put(&tables.spin_up, wz, writer)?;
        }
        Some(())
    }

    fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let (rotation, heading, tables) = read_rotation(reader)?;
        let (x, y) = (tables::CAR_X.read(reader)?, tables::CAR_Y.read(reader)?);
        let location = [x, y, tables.height.read(reader)? + REST_HEIGHT];
        let motion = if reader.read_flag()? {
            let [vx, vy] = heading.to_world([tables.forward.read(reader)?, tables.side.read(reader)?]);
            let vz = tables.up.read(reader)? + REST_RISE;
            let [wx, wy] =
                heading.to_world([tables.spin_forward.read(reader)?, tables.spin_side.read(reader)?]);
            Some([[vx, vy, vz], [wx, wy, tables.spin_up.read(reader)?]])
        } else {
            None
        };
        Ok(Self { rotation, location, motion })
    }
}

/// Writes a rotation, and returns the tables for writing the rest of the body.
fn write_rotation(rotation: Rotation, heading: Heading, writer: &mut BitWriter) -> Option<&'static Motion> {
    writer.write_bits(u64::from(rotation.largest), 2);
    let [a, b, c] = rotation.others;
    if rotation.largest < 2 {
        for other in [a, b, c] {
            put(&tables::CAR_TUMBLING, other, writer)?;
        }
        return Some(&tables::LOOSE);
    }
    put(&tables::CAR_YAW, c, writer)?;
    let [roll, pitch] = heading.tilt_to_car([a, b]);
    put(&tables::CAR_ROLL, roll, writer)?;
    put(&tables::CAR_PITCH, pitch - REST_PITCH, writer)?;
    Some(motion_tables(roll, pitch - REST_PITCH))
}

fn read_rotation(reader: &mut BitReader<'_>) -> Result<(Rotation, Heading, &'static Motion), ReadError> {
    let mut rotation = Rotation { largest: reader.read_bits(2)? as u8, others: [0; 3] };
    let tables = if rotation.largest < 2 {
        for other in &mut rotation.others {
            *other = tables::CAR_TUMBLING.read(reader)?;
        }
        &tables::LOOSE
    } else {
        let yaw = tables::CAR_YAW.read(reader)?;
        let (roll, pitch) = (tables::CAR_ROLL.read(reader)?, tables::CAR_PITCH.read(reader)?);
        rotation.others = [0, 0, yaw];
        if !rotation.is_valid() {
            return Err(ReadError::OutOfRange);
        }
        let [a, b] = Heading::of(rotation).tilt_to_world([roll, pitch + REST_PITCH]);
        rotation.others = [a, b, yaw];
        motion_tables(roll, pitch)
    };
    if rotation.is_valid() {
        Ok((rotation, Heading::of(rotation), tables))
    } else {
        Err(ReadError::OutOfRange)
    }
}

/// Returns the tables for a car. `roll` and `pitch` are the differences between the tilt of the car and the
/// tilt of a car at rest.
fn motion_tables(roll: i64, pitch: i64) -> &'static Motion {
    let tilt = roll.abs().max(pitch.abs());
    if tilt < LEVEL {
        &tables::SETTLED
    } else if tilt < NEARLY_LEVEL {
        &tables::LEANING
    } else {
        &tables::LOOSE
    }
}

/// Writes a number if the table has a code for its width.
fn put(table: &Widths, number: i64, writer: &mut BitWriter) -> Option<()> {
    Widths::holds(number).then(|| table.write(number, writer))
}
