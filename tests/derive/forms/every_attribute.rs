//! Every attribute of an object's field, in a crate that forbids unsafe code and denies many lints.

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
#![allow(clippy::trivially_copy_pass_by_ref, clippy::use_self, reason = "nothing that the macros generate")]

use std::time::Duration;

use repl::{BitReader, BitWriter, Callbacks, NetSerialize, NoObjects, ObjectRef, ReferenceMap, Replicated};

mod milliseconds {
    use std::time::Duration;

    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub(crate) const NAME: &str = "milliseconds";

    pub(crate) fn write(value: &Duration, writer: &mut BitWriter) -> Result<(), WriteError> {
        let millis = u32::try_from(value.as_millis()).map_err(|_| WriteError::OutOfRange)?;
        writer.write_bits(millis.into(), 32);
        Ok(())
    }

    pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Duration, ReadError> {
        Ok(Duration::from_millis(reader.read_bits(32)?))
    }
}

const FARTHEST: f32 = 4096.0;
const MOST: usize = 64;

#[derive(Replicated, Default)]
#[replicated(name = "Hero", callbacks)]
struct Player {
    #[replicated]
    team: u8,
    #[replicated(notify = on_health)]
    health: u16,
    #[replicated(notify = Self::on_armour, notify_always, push)]
    armour: u16,
    #[replicated(notify = self::changed, name = "points")]
    score: i32,
    #[replicated(condition = OwnerOnly, range = 0..=999, saturate)]
    ammo: u16,
    #[replicated(condition = InitialOnly, max_len = MOST)]
    name: String,
    #[replicated(quantize(step = 0.01, range = -FARTHEST..=FARTHEST))]
    position: [f32; 3],
    #[replicated(quantize(step = 0.01, range = -1.0..=1.0, exact), saturate)]
    exact: f32,
    #[replicated(quantize(exact, smallest_three = 10))]
    exact_turn: [f32; 4],
    #[replicated(quantize(unit_vector = 12, exact))]
    exact_up: [f32; 3],
    #[replicated(quantize(smallest_three = 10))]
    rotation: [f32; 4],
    #[replicated(quantize(unit_vector = 12))]
    aim: [f32; 3],
    #[replicated(bits = 5, saturate)]
    lean: i8,
    #[replicated(with = milliseconds)]
    age: Duration,
    #[replicated(atomic)]
    score_by_round: (u16, u16),
    #[replicated]
    target: ObjectRef<Player>,
    calls: Vec<u32>,
}

impl Player {
    fn on_health(&mut self) {
        self.calls.push(u32::from(self.health));
    }

    fn on_armour(&mut self, old: &u16) {
        self.calls.push(u32::from(*old));
    }
}

fn changed(player: &mut Player, old: &i32) {
    player.calls.push(old.unsigned_abs());
}

impl Callbacks for Player {
    fn post_net_init(&mut self) {
        self.calls.clear();
    }
}

#[test]
fn these_forms_are_accepted() {
    let player = Player {
        team: 3,
        health: 100,
        name: "Ada".to_owned(),
        position: [1.0, 2.0, 3.0],
        exact_turn: [0.0, 0.0, 0.0, 1.0],
        exact_up: [0.0, 0.0, 1.0],
        rotation: [0.0, 0.0, 0.0, 1.0],
        aim: [0.0, 0.0, 1.0],
        lean: -99,
        age: Duration::from_millis(1500),
        score_by_round: (4, 5),
        ..Player::default()
    };
    let mut writer = BitWriter::new();
    player.write(&mut writer).expect("the value has a form");
    let bytes = writer.into_bytes();
    let mut read = Player::read(&mut BitReader::new(&bytes), &mut ReferenceMap::new(&NoObjects))
        .expect("it can be read");
    assert_eq!((read.team, read.health, read.name.as_str()), (3, 100, "Ada"));
    assert_eq!((read.age, read.score_by_round), (player.age, (4, 5)));
    assert_eq!((read.lean, read.ammo, read.target), (-16, 0, ObjectRef::NULL));

    let old = Player { armour: 7, score: -9, ..Player::default() };
    for field in 0..Player::LAYOUT.properties() {
        Replicated::notify(&mut read, field, &old);
    }
    assert_eq!(read.calls, [100, 7, 9]);
    read.post_net_init();
    assert!(read.calls.is_empty());
    assert_eq!(Player::WIRE_NAME, "Hero");
    assert_eq!(Player::WIRE_FORM.checksum(), Player::LAYOUT.checksum());
}
