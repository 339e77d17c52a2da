//! Codecs for the state of a ball. Each part is a property of its own, so unchanged parts are not sent.
//!
//! *Invariant:* a vector of whole hundredths takes one bit plus the bits of the table. Any other vector takes
//! 97 bits.

use repl::{BitReader, BitWriter, ReadError};

use super::grid::{self, Rotation, STEPS};
use super::tables;
use super::width::Widths;

/// The position of a ball.
pub(crate) mod place {
    use super::*;
    use repl::{ReferenceMap, WriteError};

    const TABLES: [&Widths; 3] = [&tables::BALL_X, &tables::BALL_Y, &tables::BALL_Z];

    pub(crate) const NAME: &str = "place";

    pub(crate) fn write(place: &[f32; 3], writer: &mut BitWriter) -> Result<(), WriteError> {
        write_by(TABLES, *place, writer);
        Ok(())
    }

    pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<[f32; 3], ReadError> {
        read_by(TABLES, reader)
    }
}

/// The velocity of a ball.
pub(crate) mod velocity {
    use super::*;
    use repl::{ReferenceMap, WriteError};

    const TABLES: [&Widths; 3] = [&tables::BALL_V, &tables::BALL_V, &tables::BALL_VZ];

    pub(crate) const NAME: &str = "velocity";

    pub(crate) fn write(velocity: &[f32; 3], writer: &mut BitWriter) -> Result<(), WriteError> {
        write_by(TABLES, *velocity, writer);
        Ok(())
    }

    pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<[f32; 3], ReadError> {
        read_by(TABLES, reader)
    }
}

/// The spin of a ball, and any other vector that is mostly zero.
pub(crate) mod spin {
    use super::*;
    use repl::{ReferenceMap, WriteError};

    const TABLES: [&Widths; 3] = [&tables::BALL_W, &tables::BALL_W, &tables::BALL_W];

    pub(crate) const NAME: &str = "spin";

    pub(crate) fn write(spin: &[f32; 3], writer: &mut BitWriter) -> Result<(), WriteError> {
        write_by(TABLES, *spin, writer);
        Ok(())
    }

    pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<[f32; 3], ReadError> {
        read_by(TABLES, reader)
    }
}

/// The rotation of a ball. All rotations are equally likely, so the game's 56 bits cannot be shortened.
pub(crate) mod rotation {
    use super::*;
    use repl::{ReferenceMap, WriteError};

    const STEP_BITS: u32 = STEPS.ilog2();

    pub(crate) const NAME: &str = "rotation";

    pub(crate) fn write(quaternion: &[f32; 4], writer: &mut BitWriter) -> Result<(), WriteError> {
        let rotation = Rotation::on_grid(*quaternion);
        writer.write_flag(rotation.is_some());
        if let Some(rotation) = rotation {
            writer.write_bits(u64::from(rotation.largest), 2);
            for other in rotation.others {
                writer.write_bits((other + i64::from(STEPS / 2)) as u64, STEP_BITS);
            }
        } else {
            write_raw(*quaternion, writer);
        }
        Ok(())
    }

    pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<[f32; 4], ReadError> {
        if !reader.read_flag()? {
            return read_raw(reader);
        }
        let largest = reader.read_bits(2)? as u8;
        let mut others = [0; 3];
        for other in &mut others {
            *other = reader.read_bits(STEP_BITS)? as i64 - i64::from(STEPS / 2);
        }
        Ok(Rotation { largest, others }.quaternion())
    }
}

/// Writes 32 bits for each component.
pub(super) fn write_raw<const N: usize>(vector: [f32; N], writer: &mut BitWriter) {
    for component in vector {
        writer.write_bits(u64::from(component.to_bits()), 32);
    }
}

/// Reads 32 bits for each component.
pub(super) fn read_raw<const N: usize>(reader: &mut BitReader<'_>) -> Result<[f32; N], ReadError> {
    let mut vector = [0.0; N];
    for component in &mut vector {
        *component = f32::from_bits(reader.read_bits(32)? as u32);
    }
    Ok(vector)
}

fn write_by(tables: [&Widths; 3], vector: [f32; 3], writer: &mut BitWriter) {
    let on_grid =
        grid::vector_hundredths(vector).filter(|numbers| numbers.iter().all(|number| Widths::holds(*number)));
    writer.write_flag(on_grid.is_some());
    if let Some(numbers) = on_grid {
        for (table, number) in tables.into_iter().zip(numbers) {
            table.write(number, writer);
        }
    } else {
        write_raw(vector, writer);
    }
}

fn read_by(tables: [&Widths; 3], reader: &mut BitReader<'_>) -> Result<[f32; 3], ReadError> {
    if !reader.read_flag()? {
        return read_raw(reader);
    }
    let mut vector = [0.0; 3];
    for (component, table) in vector.iter_mut().zip(tables) {
        *component = grid::from_hundredths(table.read(reader)?);
    }
    Ok(vector)
}
