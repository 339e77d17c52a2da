//! Objects as text, by the tables of their classes.
//!
//! *Invariant:* fields that are not replicated are not printed.

use std::collections::BTreeMap;

use repl::prelude::*;
use repl::{BitReader, BitWriter, ByLayout, ReadError, ReferenceMap, WriteError};

#[derive(Replicated, Default)]
struct Player {
    #[replicated]
    name: String,
    #[replicated(quantize(step = 0.5, range = -100.0..=100.0))]
    position: [f32; 2],
    #[replicated]
    health: i16,
    #[replicated]
    pose: Pose,
    #[replicated]
    path: Vec<Pose>,
    #[replicated]
    bag: FastArray<Stack>,
    #[replicated]
    scores: BTreeMap<u8, u32>,
    #[replicated]
    mount: Option<ObjectRef<Self>>,
    #[replicated]
    mesh: AssetRef<str>,
    #[replicated]
    heading: Heading,
    #[replicated]
    letter: char,
    secret: u32,
}

#[derive(Replicated, Clone, Default, PartialEq)]
#[replicated(all)]
struct Pose {
    angle: f64,
    is_down: bool,
}

#[derive(FastArrayItem, Clone, Default, PartialEq)]
struct Stack {
    count: u8,
    marks: Vec<u16>,
}

/// A heading in degrees with its own serialiser, which refuses whole turns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Heading(u16);

impl NetSerialize for Heading {
    const WIRE_NAME: &'static str = "Heading";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        if self.0 >= 360 {
            return Err(WriteError::OutOfRange);
        }
        writer.write_bits(self.0.into(), 9);
        Ok(())
    }

    fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        Ok(Self(reader.read_bits(9)? as u16))
    }
}
repl::leaf!(Heading);

#[test]
fn an_object_is_printed_by_the_paths_of_its_table() {
    let mut player = Player {
        name: "Ada \"1\"".to_owned(),
        position: [1.25, -3.0],
        health: -7,
        path: vec![Pose::default(), Pose { angle: 0.5, is_down: true }],
        mount: Some(ObjectRef::NULL),
        letter: 'ß',
        secret: 99,
        ..Player::default()
    };
    assert!(player.secret > 0);
    player.bag.push(Stack { count: 3, marks: vec![9, 8] });
    player.bag.push(Stack { count: 4, marks: Vec::new() });
    player.scores.insert(7, 70);
    let expected = [
        r#"Player { name: "Ada \"1\"", position[0]: 1.25, position[1]: -3.0, health: -7"#,
        "pose.angle: 0.0, pose.is_down: false",
        "path[0].angle: 0.0, path[0].is_down: false, path[1].angle: 0.5, path[1].is_down: true",
        "bag{1}.count: 3, bag{1}.marks[0]: 9, bag{1}.marks[1]: 8, bag{2}.count: 4, scores{}: 70",
        "mount?: null, mesh: null, heading: <9 bits>, letter: 'ß' }",
    ];
    assert_eq!(format!("{:?}", ByLayout(&player)), expected.join(", "));
    player.heading = Heading(360);
    let text = format!("{:#?}", ByLayout(&player));
    assert!(text.contains("\n    heading: <the value is outside its range>,\n"), "{text}");
}

/// A generic class. Its program (the list of its commands) is made at run time.
#[derive(Replicated, Default)]
struct Pair<T: repl::Property + Default> {
    #[replicated]
    both: [T; 2],
}

#[test]
fn a_generic_object_and_wide_numbers_are_printed_too() {
    let pair = Pair { both: [u128::MAX, 1] };
    let wide = format!("Pair {{ both[0]: {:#x}, both[1]: 0x1 }}", u128::MAX);
    assert!(format!("{:?}", ByLayout(&pair)).ends_with(&wide["Pair".len()..]), "{:?}", ByLayout(&pair));
}
