//! The fields of variants have the attributes of fields: they are compared, limited and quantised like the
//! fields of a struct.
//!
//! *Invariant:* clients never get a variant with a value that has no wire form.

use repl::WriteError;
use repl::prelude::*;

use crate::pair::Pair;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Metres(f32);

impl From<Metres> for f32 {
    fn from(metres: Metres) -> Self {
        metres.0
    }
}

impl From<f32> for Metres {
    fn from(metres: f32) -> Self {
        Self(metres)
    }
}

#[derive(Replicated, Debug, Default, PartialEq)]
enum Engine {
    #[default]
    Off,
    Steam {
        #[replicated(quantize(step = 0.5, range = 0.0..=100.0))]
        pressure: f32,
        #[replicated(range = 0..=99)]
        coal: u8,
        #[replicated(max_len = 4)]
        crew: Vec<u8>,
        #[replicated(as = f32, quantize(step = 0.5, range = 0.0..=100.0))]
        height: Metres,
        /// This field stays on the server.
        plan: u32,
    },
    Diesel(#[replicated] u16, #[replicated(max_len = 8)] String),
}

#[derive(Replicated, Default)]
struct Train {
    #[replicated]
    engine: Engine,
    #[replicated]
    cars: u8,
}

fn steam() -> Engine {
    Engine::Steam { pressure: 8.0, coal: 50, crew: vec![1, 2], height: Metres(3.0), plan: 9 }
}

/// Returns a train of which the client has this engine.
fn train(engine: Engine) -> Pair<Train> {
    let mut pair = Pair::new();
    pair.update(|train: &mut Train| train.engine = engine);
    pair
}

#[test]
fn r28_only_the_changed_field_of_the_active_variant_is_listed_and_sent() {
    let mut pair = train(steam());
    let changes = pair.edit(|train| {
        let Engine::Steam { coal, .. } = &mut train.engine else { unreachable!() };
        *coal = 49;
    });
    assert_eq!(pair.flat(&changes), [1, 1, 2, 0, 0], "the second field of the enum at handle 1");
    let bits = pair.encode(&changes);
    assert!(bits.bit_len() < 24, "{} bits", bits.bit_len());
    pair.receive(&bits).unwrap();
    let Engine::Steam { coal, crew, .. } = &pair.replica.engine else { panic!("another variant") };
    assert_eq!((*coal, &crew[..]), (49, &[1, 2][..]));
}

#[test]
fn r28_a_value_in_the_margin_of_its_step_sends_nothing() {
    let mut pair = train(steam());
    let changes = pair.edit(|train| {
        let Engine::Steam { pressure, .. } = &mut train.engine else { unreachable!() };
        *pressure = 8.3;
    });
    assert!(changes.is_empty());
}

#[test]
fn r28_fields_that_are_not_sent_keep_the_values_of_each_side() {
    let mut pair = train(steam());
    assert!(pair.edit(|train| set_plan(&mut train.engine, 10)).is_empty());
    let Engine::Steam { plan, .. } = pair.replica.engine else { panic!("another variant") };
    assert_eq!(plan, 0, "a client makes a variant with the defaults of its other fields");
    set_plan(&mut pair.replica.engine, 77);
    pair.update(|train| {
        let Engine::Steam { coal, .. } = &mut train.engine else { unreachable!() };
        *coal = 1;
    });
    assert!(matches!(pair.replica.engine, Engine::Steam { plan: 77, coal: 1, .. }));
}

fn set_plan(engine: &mut Engine, to: u32) {
    if let Engine::Steam { plan, .. } = engine {
        *plan = to;
    }
}

#[test]
fn r28_a_variant_comes_with_all_its_fields_also_with_initial_ones() {
    let mut pair = train(steam());
    for engine in [Engine::Diesel(7, "Rex".into()), Engine::Off, Engine::Diesel(0, String::new()), steam()] {
        pair.update(|train| train.engine = engine);
        set_plan(&mut pair.live.engine, 0);
        assert_eq!(pair.replica.engine, pair.live.engine);
    }
}

#[test]
fn r28_a_variant_that_was_left_and_entered_again_begins_anew() {
    let mut pair = train(Engine::Diesel(7, "Rex".into()));
    let changes = pair.edit(|train| train.engine = steam());
    let mut merged = changes.clone();
    merged.merge(&pair.edit(|train| train.engine = Engine::Diesel(7, String::new())));
    let bits = pair.encode(&merged);
    pair.receive(&bits).unwrap();
    assert_eq!(pair.replica.engine, Engine::Diesel(7, String::new()));
}

#[test]
fn r28_changes_of_a_former_variant_are_void() {
    let mut pair = train(steam());
    let mut list = pair.edit(|train| {
        let Engine::Steam { crew, .. } = &mut train.engine else { unreachable!() };
        crew.push(3);
    });
    let later = pair.edit(|train| train.engine = Engine::Diesel(1, "a".into()));
    list.subtract(&later);
    assert!(list.is_empty(), "{list:?}");
}

#[test]
fn r28_a_variant_with_a_value_without_a_form_leaves_clients_the_old_variant() {
    let mut pair = train(steam());
    let changes = pair.edit(|train| train.engine = Engine::Diesel(7, "longer than eight".into()));
    assert!(changes.is_empty());
    assert_eq!(pair.shadow.engine.name(), "Steam");
    let refusal = pair.refusals.pop().expect("the name is refused");
    assert!(matches!(refusal.error, WriteError::TooLong { len: 17, max: 8 }));
    assert_eq!(refusal.path(pair.class.program().layout()), "engine.Diesel.1");
    pair.update(|train| train.engine = Engine::Diesel(7, "short".into()));
    assert_eq!(pair.replica.engine, Engine::Diesel(7, "short".into()));
}

impl Engine {
    fn name(&self) -> &'static str {
        match self {
            Self::Off => "Off",
            Self::Steam { .. } => "Steam",
            Self::Diesel(..) => "Diesel",
        }
    }
}

#[test]
fn r28_a_refused_field_leaves_the_other_fields_their_changes() {
    let mut pair = train(steam());
    pair.update(|train| {
        let Engine::Steam { coal, crew, .. } = &mut train.engine else { unreachable!() };
        (*coal, *crew) = (20, vec![0; 5]);
    });
    let Engine::Steam { coal, crew, .. } = &pair.replica.engine else { panic!("another variant") };
    assert_eq!((*coal, &crew[..]), (20, &[1, 2][..]));
    assert_eq!(pair.refusals.len(), 1);
    assert_eq!(pair.refusals[0].path(pair.class.program().layout()), "engine.Steam.crew");
}

#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(all)]
enum Flag {
    #[default]
    Low,
    High {
        height: u8,
        colours: [u32; 8],
    },
}

#[derive(Replicated, Default)]
struct Mast {
    #[replicated(atomic)]
    flag: Flag,
}

#[test]
fn r28_an_atomic_enum_is_sent_whole() {
    let mut pair = Pair::<Mast>::new();
    let whole = pair.update(|mast| mast.flag = Flag::High { height: 3, colours: [7; 8] });
    let changed = pair.update(|mast| mast.flag = Flag::High { height: 4, colours: [7; 8] });
    assert_eq!(whole, changed);
    assert_eq!(pair.replica.flag, pair.live.flag);
    assert_eq!(Mast::LAYOUT.counts().handles, 1);
}
