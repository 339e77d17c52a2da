//! Items: fields are replicated unless skipped, with every attribute that an item's field can have, in a
//! crate that forbids unsafe code and denies many lints.

#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    unused_qualifications,
    elided_lifetimes_in_paths,
    unreachable_pub,
    single_use_lifetimes,
    trivial_casts,
    unused_results,
    clippy::all,
    clippy::pedantic
)]
#![allow(clippy::assertions_on_constants, reason = "nothing that the macros generate")]

use std::time::Duration;

use crate::round_trip;
use repl::tools::Keyed;
use repl::{ChangedProperties, FastArray, FastArrayItem, ItemCallbacks, NetSerialize, ObjectRef, Replicated};

mod seconds {
    use std::time::Duration;

    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub(crate) const NAME: &str = "seconds";

    pub(crate) fn write(value: &Duration, writer: &mut BitWriter) -> Result<(), WriteError> {
        let seconds = u16::try_from(value.as_secs()).map_err(|_| WriteError::OutOfRange)?;
        writer.write_bits(seconds.into(), 16);
        Ok(())
    }

    pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Duration, ReadError> {
        Ok(Duration::from_secs(reader.read_bits(16)?))
    }
}

#[derive(FastArrayItem, Clone, Default)]
#[replicated(name = "Slot", callbacks)]
struct Item {
    kind: u16,
    #[replicated(range = 0..=99, saturate)]
    count: u16,
    #[replicated(bits = 3)]
    tier: u8,
    #[replicated(quantize(step = 0.5, range = 0.0..=8.0))]
    weight: f32,
    #[replicated(quantize(smallest_three = 10))]
    rotation: [f32; 4],
    #[replicated(quantize(unit_vector = 12))]
    aim: [f32; 3],
    #[replicated(max_len = 8, name = "label")]
    text: String,
    #[replicated(with = seconds)]
    age: Duration,
    #[replicated(atomic)]
    range: (u8, u8),
    #[replicated]
    said: bool,
    maker: ObjectRef<Bag>,
    marks: Vec<u8>,
    sockets: FastArray<Socket>,
    #[replicated(skip)]
    price: u32,
    #[replicated(skip)]
    calls: Vec<String>,
}

impl ItemCallbacks for Item {
    fn post_replicated_change(&mut self, changed: &ChangedProperties<'_>) {
        self.calls.extend(changed.iter().map(str::to_owned));
    }
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Socket {
    gem: u8,
}

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Pair(u8, #[replicated(skip)] u32, bool);

#[derive(FastArrayItem, Clone, Debug, Default, PartialEq)]
struct Present;

/// An item is a property, too, and can be a field of an object.
#[derive(Replicated, Default)]
#[replicated(all)]
struct Bag {
    #[replicated(notify = on_items)]
    items: FastArray<Item>,
    pairs: FastArray<Pair>,
    presents: FastArray<Present>,
    #[replicated(condition = OwnerOnly)]
    hand: Item,
}

impl Bag {
    fn on_items(&mut self) {
        self.items.clear();
    }
}

#[test]
fn these_forms_are_accepted() {
    let item = Item {
        kind: 7,
        count: 200,
        rotation: [0.0, 0.0, 0.0, 1.0],
        aim: [0.0, 0.0, 1.0],
        text: "old".to_owned(),
        age: Duration::from_secs(9),
        range: (1, 2),
        price: 5,
        ..Item::default()
    };
    let read = round_trip(&item);
    assert_eq!((read.kind, read.count, read.text.as_str(), read.price), (7, 99, "old", 0));
    assert_eq!((read.age, read.range), (item.age, item.range));
    assert_eq!(round_trip(&Pair(3, 4, true)), Pair(3, 0, true));
    assert_eq!(round_trip(&Present), Present);

    let names: Vec<_> = ["kind", "label", "sockets"]
        .iter()
        .map(|name| Item::LAYOUT.property_name(Item::LAYOUT.property(name)))
        .collect();
    assert_eq!(names, ["kind", "label", "sockets"]);
    assert_eq!(
        (Item::LAYOUT.properties(), Pair::LAYOUT.properties(), Present::LAYOUT.properties()),
        (13, 2, 0)
    );
    assert_eq!((Item::WIRE_NAME, Item::WIRE_FORM.checksum()), ("Slot", Item::LAYOUT.checksum()));
    assert!(FastArray::<Item>::HAS_CALLBACKS && !FastArray::<Socket>::HAS_CALLBACKS);

    let mut bag = Bag { items: FastArray::from([item]), ..Bag::default() };
    Replicated::notify(&mut bag, 0, &Bag::default());
    assert!(bag.items.is_empty());
    let _ = Bag::program();
}
