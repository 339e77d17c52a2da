//! `with = module` on fields that contain values of the module's type in an `Option`, a `Vec`, an array or a
//! map.
//!
//! *Invariant:* the module reads and writes only values of its type. Code outside the module writes lengths,
//! keys, and whether an option contains a value.

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::pair::Pair;
use repl::prelude::*;

/// A type that does not implement any trait of this library.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Heading(f32);

/// Headings in steps of one degree.
mod heading {
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    use super::Heading;

    pub(super) const NAME: &str = "heading";

    pub(super) fn write(value: &Heading, writer: &mut BitWriter) -> Result<(), WriteError> {
        if !(0.0..360.0).contains(&value.0) {
            return Err(WriteError::OutOfRange);
        }
        writer.write_bits(value.0 as u64, 9);
        Ok(())
    }

    pub(super) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Heading, ReadError> {
        match reader.read_bits(9)? {
            degrees @ 0..360 => Ok(Heading(degrees as f32)),
            _ => Err(ReadError::OutOfRange),
        }
    }
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
struct Fleet {
    #[replicated(with = heading)]
    one: Heading,
    #[replicated(with = heading)]
    maybe: Option<Heading>,
    #[replicated(with = heading)]
    many: Vec<Heading>,
    #[replicated(with = heading)]
    queue: VecDeque<Heading>,
    #[replicated(with = heading)]
    four: [Heading; 4],
    #[replicated(with = heading)]
    by_name: HashMap<String, Heading>,
    #[replicated(with = heading)]
    by_number: BTreeMap<u16, Vec<Option<Heading>>>,
}

fn fleet() -> Fleet {
    let heading = |degrees: u16| Heading(f32::from(degrees));
    Fleet {
        one: heading(1),
        maybe: Some(heading(2)),
        many: vec![heading(3), heading(359)],
        queue: [heading(4)].into(),
        four: [5, 6, 7, 8].map(heading),
        by_name: (0..20).map(|at| (format!("ship {at}"), heading(at))).collect(),
        by_number: BTreeMap::from([(7, vec![None, Some(heading(9))]), (300, vec![])]),
    }
}

#[test]
fn a_module_reaches_what_options_lists_arrays_and_maps_hold() {
    let mut pair = Pair::<Fleet>::new();
    pair.update(|live| *live = fleet());
    assert_eq!(pair.replica, fleet());
    assert!(pair.compare().is_empty());
    pair.update(|live| {
        live.maybe = None;
        live.many.remove(0);
        live.by_name.insert("ship 3".into(), Heading(90.0));
    });
    assert_eq!(pair.replica, pair.live);
}

#[test]
fn a_map_that_holds_the_same_in_another_order_is_the_same() {
    let mut pair = Pair::<Fleet>::new();
    pair.update(|live| *live = fleet());
    let rebuilt = |map: &HashMap<String, Heading>| map.clone().into_iter().collect::<HashMap<_, _>>();
    assert!(pair.edit(|live| live.by_name = rebuilt(&live.by_name)).is_empty());
}

#[test]
fn a_value_without_a_form_refuses_its_whole_field() {
    let mut pair = Pair::<Fleet>::new();
    pair.edit(|live| live.many = vec![Heading(1.0), Heading(400.0)]);
    assert_eq!((pair.refusals.len(), pair.shadow.many.len()), (1, 0));
}

#[test]
fn flags_counts_and_padding_are_written_around_the_module() {
    #[derive(Replicated, Default)]
    struct Ship {
        #[replicated(with = heading)]
        maybe: Option<Heading>,
        #[replicated(with = heading)]
        many: Vec<Heading>,
    }
    let mut writer = BitWriter::new();
    let ship = Ship { maybe: Some(Heading(5.0)), many: vec![Heading(6.0)] };
    NetSerialize::write(&ship, &mut writer).expect("it has a form");
    let bytes = writer.into_bytes();
    let mut bits = BitReader::new(&bytes);
    assert_eq!((bits.read_bits(1), bits.read_bits(9)), (Ok(1), Ok(5)));
    assert_eq!((bits.read_exp_golomb(3), bits.read_bits(9)), (Ok(1), Ok(6)));
    assert!(bits.remaining() < 8);
}

/// Returns the checksum of a layout with one field that uses `heading`.
macro_rules! checksum_with {
    ($type:ty) => {{
        #[derive(Replicated)]
        struct Ship {
            #[replicated(with = heading)]
            field: $type,
        }
        impl Default for Ship {
            fn default() -> Self {
                Self { field: Default::default() }
            }
        }
        Ship::LAYOUT.checksum()
    }};
}

#[test]
fn types_around_the_value_of_a_module_are_in_the_checksum() {
    let mut sums = [
        checksum_with!(Heading),
        checksum_with!(Option<Heading>),
        checksum_with!(Vec<Heading>),
        checksum_with!([Heading; 3]),
        checksum_with!([Heading; 4]),
        checksum_with!(Option<Vec<Heading>>),
        checksum_with!(HashMap<u16, Heading>),
        checksum_with!(HashMap<u32, Heading>),
    ];
    sums.sort_unstable();
    assert!(sums.is_sorted_by(|one, other| one < other), "each is another form");
    assert_eq!(checksum_with!(HashMap<u16, Heading>), checksum_with!(BTreeMap<u16, Heading>));
}
