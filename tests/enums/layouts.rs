//! The tables of classes with enums, as a reviewer reads them, and their checksums.
//!
//! *Invariant:* everything that decides the bits of an enum is in the table and in the checksum.

use repl::ByLayout;
use repl::prelude::*;
use repl::tools::Class;

#[derive(Replicated, Default)]
#[replicated(all)]
enum Door {
    #[default]
    Shut,
    Open {
        #[replicated(range = 0..=90)]
        angle: u8,
        by: ObjectRef<House>,
    },
    Locked(#[replicated(max_len = 12)] Vec<Key>, u16),
}

#[derive(Replicated, Default)]
#[replicated(all)]
enum Key {
    #[default]
    Iron,
    Code {
        #[replicated(quantize(step = 0.5, range = 0.0..=9.0))]
        number: f32,
    },
}

#[derive(Replicated, Default)]
struct House {
    #[replicated(notify = on_door)]
    door: Door,
    #[replicated(condition = OwnerOnly)]
    back: Option<Door>,
    #[replicated]
    number: u16,
}

impl House {
    fn on_door(&mut self) {}
}

#[test]
fn r28_a_table_shows_the_variants_and_their_fields_with_handles() {
    insta::assert_snapshot!(House::LAYOUT);
}

#[test]
fn r28_a_program_has_commands_for_each_variant() {
    insta::assert_snapshot!(format!("{:?}", Class::<House>::new().program()));
}

#[test]
fn r28_the_form_of_an_enum_that_is_sent_whole_shows_its_fields() {
    insta::assert_snapshot!(Door::WIRE_FORM);
}

#[test]
fn r28_an_object_prints_only_the_fields_of_the_active_variant() {
    let door = Door::Locked(vec![Key::Iron, Key::Code { number: 4.5 }], 8);
    let house = House { door, back: Some(Door::Open { angle: 3, by: ObjectRef::NULL }), number: 1 };
    assert_eq!(
        format!("{:?}", ByLayout(&house)),
        "House { door.Locked.0[1].Code.number: 4.5, door.Locked.1: 8, back?.Open.angle: 3, back?.Open.by: null, \
         number: 1 }"
    );
}

/// Declares a class `Lamp` with an enum of these variants, and returns its checksum.
macro_rules! checksum_of {
    ($($variants:tt)*) => {{
        #[derive(Replicated, Default)]
        #[replicated(all)]
        enum Light { $($variants)* }

        #[derive(Replicated, Default)]
        #[replicated(all)]
        struct Lamp { light: Light }

        Lamp::LAYOUT.checksum()
    }};
}

#[test]
fn r28_everything_that_decides_the_bits_is_in_the_checksum() {
    let own = checksum_of!(
        #[default]
        Off,
        On { power: u8 }
    );
    let others = [
        checksum_of!(
            #[default]
            Off,
            On { power: u16 }
        ),
        checksum_of!(
            #[default]
            Off,
            On { strength: u8 }
        ),
        checksum_of!(
            #[default]
            Off,
            Lit { power: u8 }
        ),
        checksum_of!(
            On { power: u8 },
            #[default]
            Off
        ),
        checksum_of!(
            #[default]
            Off,
            On { power: u8 },
            Broken
        ),
        checksum_of!(
            #[default]
            Off,
            On {
                #[replicated(range = 0..=9)]
                power: u8
            }
        ),
    ];
    assert!(others.iter().all(|other| *other != own));
    assert_eq!(
        own,
        checksum_of!(
            #[default]
            Off,
            On {
                power: u8,
                #[replicated(skip)]
                _heat: u8
            }
        )
    );
}
