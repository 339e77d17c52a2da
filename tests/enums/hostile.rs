//! Updates that no server sends: numbers without a variant, and fields of another variant than the active
//! one.
//!
//! *Invariant:* an update that is refused changes nothing, and nothing panics.

use repl::prelude::*;
use repl::sim::Rng;
use repl::{BitWriter, ReadError};

use crate::pair::Pair;

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
enum Shape {
    #[default]
    Point,
    Line {
        length: u16,
        ends: Vec<u8>,
    },
    Group(Option<Box<str>>, Vec<Shape2>),
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
enum Shape2 {
    #[default]
    Dot,
    Ring {
        radius: u8,
        items: FastArray<u16>,
    },
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
struct Drawing {
    number: u8,
    shape: Shape,
    others: Vec<Shape>,
}

fn with(shape: Shape) -> Pair<Drawing> {
    let mut pair = Pair::new();
    pair.update(|drawing: &mut Drawing| drawing.shape = shape);
    pair
}

fn line(length: u16) -> Shape {
    Shape::Line { length, ends: vec![1, 2] }
}

/// Returns the first `len` bits of an update.
fn copied(bits: &BitWriter, len: usize) -> BitWriter {
    let (mut from, mut copy) = (bits.clone(), BitWriter::new());
    let mut reader = from.as_slice().reader();
    (0..len).for_each(|_| copy.write_bits(reader.read_bits(1).unwrap(), 1));
    copy
}

#[test]
fn r28_a_number_without_a_variant_is_refused() {
    let mut pair = with(line(3));
    // The bits of a change of the variant to `Point`: the handles, and the number 0 in two bits at the end.
    let changes = pair.edit(|drawing| drawing.shape = Shape::Point);
    let bits = pair.encode(&changes);
    let mut forged = copied(&bits, bits.bit_len() - 2);
    forged.write_bits(3, 2);
    let before = pair.replica.clone();
    let error = pair.receive(&forged).expect_err("there are three variants");
    assert!(matches!(error.reason, ReadError::OutOfRange | ReadError::UnknownVariant), "{error}");
    assert_eq!(error.property, "shape");
    assert_eq!(pair.replica, before);
    pair.receive(&bits).unwrap();
}

#[test]
fn r28_fields_of_another_variant_than_the_active_one_are_refused() {
    let mut other = with(line(3));
    let changes = other.edit(|drawing| (drawing.number, drawing.shape) = (9, line(4)));
    let bits = other.encode(&changes);
    for shape in [Shape::Point, Shape::Group(None, vec![Shape2::Dot])] {
        let mut pair = with(shape);
        let before = pair.replica.clone();
        let error = pair.receive(&bits).expect_err("another variant is active");
        assert_eq!(error.property, "shape");
        assert_eq!(pair.replica, before, "the other properties of the update do not change either");
    }
    with(line(8)).receive(&bits).unwrap();
}

#[test]
fn r28_random_bits_are_refused_or_applied_and_never_panic() {
    let mut rng = Rng::new(28);
    let (mut applied, mut refused) = (0, 0);
    for _ in 0..3_000 {
        let mut pair = with(match rng.below(3) {
            0 => Shape::Point,
            1 => line(3),
            _ => Shape::Group(None, vec![Shape2::Ring { radius: 1, items: (0..3).collect() }]),
        });
        let changes = pair.edit(|it| (it.number, it.shape) = (it.number + 1, Shape::Group(None, Vec::new())));
        let own = pair.encode(&changes);
        let mut bits = copied(&own, rng.below(own.bit_len() as u64 + 1) as usize);
        (0..rng.below(80)).for_each(|_| bits.write_bits(rng.below(2), 1));
        let before = pair.replica.clone();
        match pair.receive(&bits) {
            Ok(()) => applied += 1,
            Err(_) => {
                refused += 1;
                assert_eq!(pair.replica, before);
            }
        }
    }
    assert!(applied > 5 && refused > 1_000, "{applied} applied, {refused} refused");
}
