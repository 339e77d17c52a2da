//! Written values are read back bit for bit, and no bytes make the reader panic.

use std::fmt::Debug;

use repl::sim::Rng;
use repl::{BitReader, BitWriter, NoObjects, ReadError, ReferenceMap, WriteError};

use super::body::{self, Body, Moving};
use super::grid::{self, Rotation};
use super::heading::Heading;
use super::number::{index, small, stick};
use super::vector::{place, rotation, spin, velocity};

type Write<T> = fn(&T, &mut BitWriter) -> Result<(), WriteError>;
type Read<T> = fn(&mut BitReader<'_>, &mut ReferenceMap<'_>) -> Result<T, ReadError>;

/// Writes and reads `value`. Returns the value that was read, and how many bits it took.
fn round_trip<T: Debug>(value: &T, write: Write<T>, read: Read<T>) -> (T, usize) {
    let mut writer = BitWriter::new();
    write(value, &mut writer).expect("every value has a form");
    let bits = writer.bit_len();
    let mut reader = BitReader::new(writer.finish());
    let back = read(&mut reader, &mut ReferenceMap::new(&NoObjects)).expect("what was written is a value");
    assert_eq!(reader.position(), bits, "{value:?}");
    (back, bits)
}

/// Returns a vector on the grid of hundredths, with components below 2 to the power of `width_bits`.
fn vector(rng: &mut Rng, width_bits: u32) -> [f32; 3] {
    [(); 3].map(|()| {
        grid::from_hundredths((rng.next_u64() >> (64 - width_bits)) as i64 - (1 << (width_bits - 1)))
    })
}

fn quaternion(rng: &mut Rng) -> [f32; 4] {
    // The numbers are small enough that the sum of the squares is below one, so the largest component is
    // real.
    let others = [(); 3].map(|()| rng.below(130_000) as i64 - 65_000);
    Rotation { largest: rng.below(4) as u8, others }.quaternion()
}

#[test]
fn numbers_come_back() {
    for number in [0, 1, -1, 3, -4, 4, 1_000, i32::MAX, i32::MIN] {
        assert_eq!(round_trip(&number, small::write, small::read).0, number);
        assert_eq!(round_trip(&number, index::write, index::read).0, number);
    }
    for position in 0..=u8::MAX {
        assert_eq!(round_trip(&position, stick::write, stick::read).0, position);
    }
}

#[test]
fn vectors_on_and_off_the_grid_come_back() {
    let mut rng = Rng::new(1);
    for round in 0..5_000 {
        let mut vector = vector(&mut rng, 2 + round % 22);
        if round % 100 == 0 {
            vector[1] = [f32::NAN, -0.0, f32::INFINITY, 1e30, 0.1234][round as usize / 100 % 5];
        }
        for (write, read) in [
            (place::write as Write<_>, place::read as Read<_>),
            (velocity::write, velocity::read),
            (spin::write, spin::read),
        ] {
            let (back, bits) = round_trip(&vector, write, read);
            assert_eq!(back.map(f32::to_bits), vector.map(f32::to_bits));
            assert!(bits <= 1 + 3 * (25 + 15));
        }
    }
}

#[test]
fn rotations_on_and_off_the_grid_come_back() {
    let mut rng = Rng::new(2);
    for _ in 0..5_000 {
        let on_grid = quaternion(&mut rng);
        let (back, bits) = round_trip(&on_grid, rotation::write, rotation::read);
        assert_eq!((back.map(f32::to_bits), bits), (on_grid.map(f32::to_bits), 57));
        let off_grid = on_grid.map(|component| component * 0.9);
        let (back, _) = round_trip(&off_grid, rotation::write, rotation::read);
        assert_eq!(back.map(f32::to_bits), off_grid.map(f32::to_bits));
    }
}

#[test]
fn turning_into_a_cars_frame_has_an_inverse() {
    let mut rng = Rng::new(3);
    for _ in 0..20_000 {
        let rotation = Rotation::on_grid(quaternion(&mut rng)).expect("it was made from steps");
        let heading = Heading::of(rotation);
        let vector = [(); 2].map(|()| rng.below(1 << 25) as i64 - (1 << 24));
        assert_eq!(heading.to_world(heading.to_car(vector)), vector);
        assert_eq!(heading.tilt_to_world(heading.tilt_to_car(vector)), vector);
    }
}

#[test]
fn a_driving_car_is_narrow_in_its_own_frame() {
    // An eighth of a turn to the left, at 1,000 units per second.
    let yaw = std::f64::consts::FRAC_PI_8;
    let rotation = [0.0, 0.0, yaw.sin() as f32, yaw.cos() as f32];
    let steps =
        rotation.map(|component| (f64::from(component) * 131_071.5 * std::f64::consts::SQRT_2) as i64);
    let heading = Heading::of(Rotation { largest: 3, others: [0, 0, steps[2]] });
    let [forward, side] = heading.to_car([70_711, 70_711]);
    assert!((forward - 100_000).abs() < 5 && side.abs() < 5, "{forward}, {side}");
}

#[test]
fn bodies_come_back() {
    let mut rng = Rng::new(4);
    for round in 0..5_000 {
        let moving = Moving { velocity: vector(&mut rng, 19), spin: vector(&mut rng, 17) };
        let motion = (round % 10 > 0).then_some(moving);
        let mut body = Body { location: vector(&mut rng, 20), rotation: quaternion(&mut rng), motion };
        if round % 50 == 0 {
            body.location[2] += 0.001;
        }
        let (back, _) = round_trip(&body, body::write, body::read);
        assert_eq!(format!("{back:?}"), format!("{body:?}"));
    }
}

#[test]
fn any_bytes_are_a_value_or_an_error() {
    let mut rng = Rng::new(5);
    for _ in 0..20_000 {
        let mut bytes = [0; 48];
        bytes.fill_with(|| rng.next_u64() as u8);
        let bytes = &bytes[..rng.below(49) as usize];
        let mut references = ReferenceMap::new(&NoObjects);
        let _ = body::read(&mut BitReader::new(bytes), &mut references);
        let _ = place::read(&mut BitReader::new(bytes), &mut references);
        let _ = rotation::read(&mut BitReader::new(bytes), &mut references);
        let _ = small::read(&mut BitReader::new(bytes), &mut references);
    }
}
