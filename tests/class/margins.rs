//! A quantised value keeps its step until it is a quarter of a step beyond the border. Random walks are
//! compared with a naive model of this rule, wherever the value is in the object.
//!
//! *Invariant:* the model computes numbers without the library. For rotations and unit vectors, it asks the
//! library only for the wire form of one value.

use std::collections::BTreeMap;

use proptest::prelude::*;
use repl::prelude::*;
use repl::{BitReader, BitWriter, NetSerialize, NoObjects, ReferenceMap};

use crate::pair::{Pair, handles};

/// One value of each quantised form, between other values.
#[derive(FastArrayItem, Clone, Debug, PartialEq)]
struct Body {
    before: u8,
    #[replicated(quantize(step = 0.01, range = -4.0..=4.0))]
    place: [f32; 2],
    #[replicated(quantize(step = 0.01, range = -4.0..=4.0, exact))]
    exact: f32,
    #[replicated(quantize(step = 0.5, range = 1.0..=9.2), saturate)]
    height: f64,
    #[replicated(quantize(smallest_three = 9))]
    turn: [f32; 4],
    between: u16,
    #[replicated(quantize(unit_vector = 9))]
    up: [f32; 3],
    #[replicated(quantize(smallest_three = 9, exact))]
    exact_turn: [f32; 4],
}

impl Default for Body {
    fn default() -> Self {
        let (turn, up) = ([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0]);
        Self { before: 0, place: [0.0; 2], exact: 0.0, height: 1.0, turn, between: 0, up, exact_turn: turn }
    }
}

/// An object whose values are all in plain memory.
#[derive(Replicated, Clone, Debug, Default)]
#[replicated(all)]
struct Plain {
    body: Body,
    bodies: [Body; 2],
    #[replicated(push, quantize(step = 0.01, range = -4.0..=4.0))]
    pushed: f32,
    last: u8,
}

/// The same values in arrays and collections.
#[derive(Replicated, Clone, Debug, Default)]
#[replicated(all)]
struct Nested {
    body: Body,
    list: Vec<Body>,
    maybe: Option<Body>,
    items: FastArray<Body>,
    map: BTreeMap<u8, Body>,
}

/// Single values, whose wire forms the model uses.
#[derive(NetSerialize, Clone)]
struct Turn(#[replicated(quantize(smallest_three = 9))] [f32; 4]);
#[derive(NetSerialize, Clone)]
struct Up(#[replicated(quantize(unit_vector = 9))] [f32; 3]);

fn bits<T: NetSerialize>(value: &T) -> Vec<u8> {
    let mut writer = BitWriter::new();
    value.write(&mut writer).unwrap();
    writer.into_bytes()
}

/// Returns the value that clients show if the server sends `value` without a margin.
fn shown<T: NetSerialize>(value: &T) -> T {
    T::read(&mut BitReader::new(&bits(value)), &mut ReferenceMap::new(&NoObjects)).unwrap()
}

/// Quantisation in steps, as a naive model computes it.
#[derive(Clone, Copy)]
struct Steps {
    least: f64,
    greatest: f64,
    step: f64,
}

const PLACE: Steps = Steps { least: -4.0, greatest: 4.0, step: 0.01 };
const HEIGHT: Steps = Steps { least: 1.0, greatest: 9.0, step: 0.5 };

impl Steps {
    /// Returns the number of the step nearest to a value.
    fn nearest(self, value: f64) -> f64 {
        let last = ((self.greatest - self.least) / self.step).round();
        ((value - self.least) / self.step + 0.5).floor().clamp(0.0, last)
    }

    /// Returns the number of the step that clients show for `value`. Before, they showed the step `known`.
    fn after(self, known: f64, value: f64) -> f64 {
        let is_kept = ((value - self.least) / self.step - known).abs() <= 0.75;
        if is_kept { known } else { self.nearest(value) }
    }

    fn value(self, step: f64) -> f64 {
        self.least + step * self.step
    }
}

/// Returns whether the directions of two unit vectors differ in no component by more than `most`.
fn is_near<const N: usize>(one: [f32; N], other: [f32; N], most: f64) -> bool {
    let length = |vector: [f32; N]| vector.iter().map(|part| f64::from(*part).powi(2)).sum::<f64>().sqrt();
    let (of_one, of_other) = (length(one), length(other));
    one.iter()
        .zip(other)
        .all(|(one, other)| (f64::from(*one) / of_one - f64::from(other) / of_other).abs() <= most)
}

/// The values of a body that clients have, as the naive model of the rule computes them.
#[derive(Clone, Debug)]
struct Model {
    place: [f64; 2],
    height: f64,
    turn: [f32; 4],
    up: [f32; 3],
    /// The present values of the server, without a margin.
    last: Body,
}

impl Model {
    /// Returns the model of a new body: the nearest form of each value.
    fn of(body: &Body) -> Self {
        Self {
            place: body.place.map(|part| PLACE.nearest(part.into())),
            height: HEIGHT.nearest(body.height),
            turn: body.turn,
            up: body.up,
            last: body.clone(),
        }
    }

    fn follow(&mut self, body: &Body) {
        for (known, part) in self.place.iter_mut().zip(body.place) {
            *known = PLACE.after(*known, part.into());
        }
        self.height = HEIGHT.after(self.height, body.height);
        let quarter = std::f64::consts::FRAC_1_SQRT_2 / 255.0 / 4.0;
        let dot: f32 = self.turn.iter().zip(body.turn).map(|(one, other)| one * other).sum();
        let known = if dot < 0.0 { self.turn.map(|part| -part) } else { self.turn };
        if bits(&Turn(body.turn)) == bits(&Turn(self.turn)) || !is_near(known, body.turn, quarter) {
            self.turn = body.turn;
        }
        if bits(&Up(body.up)) == bits(&Up(self.up)) || !is_near(self.up, body.up, 1.0 / 255.0 / 4.0) {
            self.up = body.up;
        }
        self.last = body.clone();
    }

    /// Returns the body that clients show.
    fn shown(&self) -> Body {
        Body {
            place: self.place.map(|step| PLACE.value(step) as f32),
            exact: PLACE.value(PLACE.nearest(self.last.exact.into())) as f32,
            height: HEIGHT.value(self.height),
            turn: shown(&Turn(self.turn)).0,
            up: shown(&Up(self.up)).0,
            exact_turn: shown(&Turn(self.last.exact_turn)).0,
            ..self.last.clone()
        }
    }
}

/// One small change: the number of the value, and by how many steps it changes.
type Change = (u8, [f64; 3]);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let small = prop_oneof![4 => -0.8..0.8_f64, 1 => Just(0.5), 1 => -40.0..40.0_f64];
    prop::collection::vec((any::<u8>(), [small.clone(), small.clone(), small]), 1..60)
}

/// Returns a unit vector near `vector`.
fn turned<const N: usize>(vector: [f32; N], by: [f64; 3], sign: f64) -> [f32; N] {
    let mut parts: [f64; N] = vector.map(f64::from);
    parts.iter_mut().zip(by).for_each(|(part, by)| *part += by * 0.003);
    let length = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
    parts.map(|part| (sign * part / length) as f32)
}

impl Body {
    fn change(&mut self, (which, by): Change) {
        match which % 8 {
            0 | 1 => {
                let part = &mut self.place[usize::from(which % 2)];
                *part = (*part + by[0] as f32 * 0.01).clamp(-4.0, 4.0);
            }
            2 => self.exact = (self.exact + by[0] as f32 * 0.01).clamp(-4.0, 4.0),
            3 => self.height += by[0] * 0.5,
            4 => self.turn = turned(self.turn, by, by[2].signum()),
            5 => self.up = turned(self.up, by, 1.0),
            6 => self.exact_turn = turned(self.exact_turn, by, 1.0),
            _ => self.between = self.between.wrapping_add(1),
        }
    }
}

proptest! {
    #[test]
    fn random_walks_of_plain_values_follow_a_naive_model(all in changes()) {
        let mut pair = Pair::<Plain>::new();
        let mut models = [(); 3].map(|()| Model::of(&Body::default()));
        for (at, change) in all.into_iter().enumerate() {
            let which = usize::from(change.0 / 8) % 3;
            pair.update(|plain| {
                let bodies = std::iter::once(&mut plain.body).chain(&mut plain.bodies);
                bodies.skip(which).take(1).for_each(|body| body.change(change));
            });
            models[which].follow(if which == 0 { &pair.live.body } else { &pair.live.bodies[which - 1] });
            let shown = std::iter::once(&pair.replica.body).chain(&pair.replica.bodies);
            for (shown, model) in shown.zip(&models) {
                prop_assert_eq!(shown, &model.shown(), "after change {}", at);
            }
            prop_assert!(!pair.differs(), "an object that was compared is at rest");
        }
    }

    #[test]
    fn random_walks_in_arrays_and_collections_follow_a_naive_model(all in changes()) {
        let mut pair = Pair::<Nested>::new();
        let mut models: [Option<Model>; 5] = [Some(Model::of(&Body::default())), None, None, None, None];
        for (at, change) in all.into_iter().enumerate() {
            let which = usize::from(change.0 / 8) % 5;
            pair.update(|nested| {
                let body = match which {
                    0 => &mut nested.body,
                    1 => {
                        nested.list.resize_with(1, Body::default);
                        &mut nested.list[0]
                    }
                    2 => nested.maybe.get_or_insert_default(),
                    3 => {
                        if nested.items.is_empty() {
                            nested.items.push(Body::default());
                        }
                        &mut nested.items[0]
                    }
                    _ => nested.map.entry(1).or_default(),
                };
                body.change(change);
            });
            let bodies = |nested: &Nested| {
                let Nested { body, list, maybe, items, map } = nested.clone();
                let item = items.first().cloned();
                [Some(body), list.first().cloned(), maybe, item, map.get(&1).cloned()]
            };
            let live = bodies(&pair.live)[which].clone().unwrap();
            match &mut models[which] {
                Some(model) => model.follow(&live),
                // A new element has the nearest step.
                new => *new = Some(Model::of(&live)),
            }
            let expected = models.clone().map(|model| model.map(|model| model.shown()));
            prop_assert_eq!(bodies(&pair.replica), expected, "after change {}", at);
        }
    }
}

#[test]
fn a_value_that_rests_in_its_margin_is_no_difference_and_is_shown_as_before() {
    let mut pair = Pair::<Plain>::new();
    pair.update(|plain| plain.body.place = [0.011, 1.0]);
    let shown = pair.replica.body.clone();
    for place in [0.0173, 0.016, 0.0174, 0.0027, 0.004] {
        assert!(pair.edit(|plain| plain.body.place[0] = place).is_empty(), "{place} keeps 0.01");
        assert!(!pair.differs());
        assert!(pair.compare().is_empty());
        assert_eq!(pair.replica.body, shown);
    }
    pair.update(|plain| plain.body.place[0] = 0.0177);
    assert_eq!(pair.replica.body.place[0], 0.02, "it has left its step by more than a quarter");
}

#[test]
fn what_is_sent_again_is_what_clients_have() {
    let mut pair = Pair::<Plain>::new();
    pair.update(|plain| (plain.body.place[0], plain.body.turn) = (0.011, [0.6, 0.0, 0.0, 0.8]));
    let early = pair.replica.clone();
    pair.update(|plain| (plain.body.place[0], plain.body.turn) = (0.0173, [-0.6001, 0.0, 0.0, -0.7999]));
    // A client that joins late receives the values of the shadow (the server's copy).
    let all = pair.class.program().handles();
    let mut list = repl::tools::Changelist::new();
    pair.class.insert_whole(&repl::tools::HandleSet::up_to(all), &mut list);
    pair.replica = Plain::default();
    pair.receive(&pair.encode(&list)).unwrap();
    assert_eq!((early.body.place, early.body.turn), (pair.replica.body.place, pair.replica.body.turn));
}

#[test]
fn a_value_out_of_scope_is_found_until_it_is_compared() {
    let mut pair = Pair::<Plain>::new();
    pair.live.body.place = [0.013, 0.013];
    pair.live.body.height = 1.3;
    let (place, other) = (handles([2]), handles([3]));
    assert_eq!(pair.compare_some(&place).handles().iter().collect::<Vec<_>>(), [2]);
    assert!(pair.differs(), "the other coordinate was not compared");
    assert_eq!(pair.compare_some(&other).handles().iter().collect::<Vec<_>>(), [3]);
    assert!(pair.differs(), "the height was not compared");
    pair.compare();
    assert!(!pair.differs());
}

#[test]
fn a_refused_value_at_rest_is_found_and_refused_again() {
    let mut pair = Pair::<Plain>::new();
    pair.update(|plain| plain.body.place = [3.99; 2]);
    for refused in [f32::NAN, 4.006, f32::NEG_INFINITY] {
        for _ in 0..3 {
            assert!(pair.edit(|plain| plain.body.place[0] = refused).is_empty());
            assert!(pair.differs(), "{refused} has no wire form");
            assert_eq!(pair.refusals.drain(..).count(), 1, "{refused}");
        }
    }
    assert!(pair.edit(|plain| plain.body.place[0] = 3.997).is_empty(), "it keeps the step from before");
    assert!(!pair.differs());
    assert!(pair.refusals.is_empty());
}

#[test]
fn a_push_value_in_its_margin_keeps_its_step() {
    let mut pair = Pair::<Plain>::new();
    pair.update(|plain| plain.pushed = 0.011);
    assert!(pair.edit(|plain| plain.pushed = 0.017).is_empty());
    pair.update(|plain| plain.pushed = 0.018);
    assert_eq!(pair.replica.pushed, 0.02);
}

#[test]
fn a_value_beyond_a_bound_that_saturates_is_at_rest_there() {
    let mut pair = Pair::<Plain>::new();
    pair.update(|plain| plain.body.height = 8.8);
    for beyond in [9.0, 9.3, 77.0, 9.24, 8.63] {
        assert!(pair.edit(|plain| plain.body.height = beyond).is_empty(), "{beyond} is the last step");
        assert!(!pair.differs());
    }
    for (height, shown) in [(8.62, 8.5), (8.87, 8.5), (8.88, 9.0)] {
        pair.update(|plain| plain.body.height = height);
        assert_eq!(pair.replica.body.height, shown, "{height}");
    }
}

#[test]
fn a_rotation_and_its_negative_are_at_rest_in_the_same_form() {
    let mut pair = Pair::<Plain>::new();
    let turn = [0.1, 0.2, 0.3, 0.86_f32.sqrt()];
    pair.update(|plain| plain.body.turn = turn);
    for sign in [-1.0, 1.0, -1.0] {
        let turned = [0.1002_f32, 0.1999, 0.3, 0.86_f32.sqrt()].map(|part| part * sign);
        assert!(pair.edit(|plain| plain.body.turn = turned).is_empty());
        assert!(!pair.differs());
    }
}

/// A class with more alternating stretches of quantised and other values than a plan (the table of stretches)
/// holds.
#[derive(Replicated, Clone, Debug, Default)]
#[replicated(all)]
struct Striped {
    stripes: [[Stripe; 8]; 5],
}

#[derive(Replicated, Clone, Debug, Default)]
#[replicated(all)]
#[repr(C)]
struct Stripe {
    #[replicated(quantize(step = 0.01, range = -4.0..=4.0))]
    place: f32,
    number: u32,
}

#[test]
fn values_without_seen_bytes_keep_their_steps_too() {
    let mut pair = Pair::<Striped>::new();
    assert_eq!(pair.class.seen_bytes(), 0);
    pair.update(|striped| {
        striped.stripes.as_flattened_mut().iter_mut().for_each(|stripe| stripe.place = 0.011)
    });
    assert!(!pair.differs());
    assert!(pair.edit(|striped| striped.stripes[4][7].place = 0.017).is_empty());
    assert!(pair.differs(), "it is compared as long as it rests in its margin");
    pair.update(|striped| striped.stripes[4][7].place = 0.018);
    assert!(!pair.differs());
}

#[test]
fn only_values_with_a_margin_have_seen_bytes() {
    // Each body has two coordinates, a height, a rotation and a direction.
    let body = 2 * 4 + 8 + 16 + 12;
    assert_eq!(Pair::<Plain>::new().class.seen_bytes(), 3 * body + 4);
    assert_eq!(Pair::<Nested>::new().class.seen_bytes(), body);
}
