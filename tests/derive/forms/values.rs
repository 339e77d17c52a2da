//! Structs and enums of every form as values. A skipped field has its default value on the receiving side.

use repl::{BitReader, BitWriter, NetSerialize, NoObjects, ReferenceMap, Replicated};

use crate::round_trip;

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Unit;

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Empty {}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
struct Tuple(u8, #[replicated(skip)] u8, #[replicated(bits = 3)] u8);

#[derive(NetSerialize, Clone, Debug, PartialEq)]
enum Single {
    Only(#[replicated(range = -5..=5)] i8),
}

#[derive(NetSerialize, Clone, Debug, Default, PartialEq)]
enum Event {
    Joined {
        #[replicated(max_len = 5)]
        name: String,
        #[replicated(skip)]
        seen: bool,
    },
    Moved(#[replicated(quantize(step = 0.5, range = 0.0..=10.0), saturate)] [f32; 2], Tuple),
    #[default]
    #[replicated(name = "Gone")]
    Left,
}

#[derive(Replicated, Default)]
struct Log {
    #[replicated]
    unit: Unit,
    #[replicated]
    empty: Empty,
    #[replicated]
    single: Option<Single>,
    #[replicated]
    events: Vec<Event>,
}

#[test]
fn these_forms_are_accepted() {
    let log = Log {
        unit: Unit,
        empty: Empty {},
        single: Some(Single::Only(-5)),
        events: vec![
            Event::Left,
            Event::Joined { name: "Grace".to_owned(), seen: true },
            Event::Moved([0.5, 99.0], Tuple(1, 2, 7)),
        ],
    };
    let read = round_trip(&log);
    assert_eq!((read.unit, read.empty, read.single), (Unit, Empty {}, Some(Single::Only(-5))));
    let joined = Event::Joined { name: "Grace".to_owned(), seen: false };
    assert_eq!(read.events, [Event::Left, joined, Event::Moved([0.5, 10.0], Tuple(1, 0, 7))]);

    let mut writer = BitWriter::new();
    assert!(Event::Joined { name: "Kathleen".to_owned(), seen: true }.write(&mut writer).is_err());
    assert!(Single::Only(6).write(&mut writer).is_err());
    let mut bits = BitReader::new(&[0b1111_1111]);
    assert!(Event::read(&mut bits, &mut ReferenceMap::new(&NoObjects)).is_err());
    assert_eq!(<Event as repl::__private::Property>::initial(), Event::Left);
}
