//! Comparing an object with its shadow: which changes are listed, copied and refused (S28, S58 to S64, S69,
//! S71).

use std::collections::{BTreeMap, BTreeSet};

use crate::pair::world::{World, changes};
use crate::pair::{Pair, handles};
use proptest::prelude::*;
use repl::tools::{Changelist, Class};
use repl::{FastArray, NetSerialize, OrderedFastArray, Replicated, WriteError};

#[derive(Replicated, Default)]
#[replicated(all)]
struct IntAndArray {
    a: i32,
    b: Vec<i32>,
}

fn with_elements(elements: &[i32]) -> Pair<IntAndArray> {
    Pair::from(|| IntAndArray { a: 0, b: elements.to_vec() })
}

#[test]
fn s28_one_shadow_serves_all_so_a_change_is_seen_once() {
    let mut pair = with_elements(&[]);
    assert_eq!(pair.edit(|object| object.a = 1).handles().len(), 1);
    assert!(pair.compare().is_empty());
    assert_eq!(pair.shadow.a, 1);
}

#[test]
fn s58_s59_an_array_is_listed_with_the_number_of_its_entries_and_a_terminator() {
    let mut pair = with_elements(&[0; 3]);
    let changes = pair.edit(|object| {
        object.a = 7;
        object.b[2] = 7;
    });
    assert_eq!(pair.flat(&changes), [1, 2, 1, 3, 0, 0]);
}

#[test]
fn s60_elements_past_the_old_length_are_listed_even_if_they_are_default() {
    let mut pair = with_elements(&[5]);
    let changes = pair.edit(|object| object.b.extend([0, 0]));
    assert_eq!(pair.flat(&changes), [2, 2, 2, 3, 0, 0]);
    assert_eq!(pair.shadow.b, [5, 0, 0]);
}

#[test]
fn s61_a_shrink_is_the_count_alone() {
    let mut pair = with_elements(&[1, 2, 3]);
    let changes = pair.edit(|object| object.b.truncate(1));
    assert_eq!(pair.flat(&changes), [2, 0, 0, 0]);
    // The list itself is checked: printing or sending it would omit elements after the end of the array, and
    // so hide the mistake.
    let mut count = Changelist::new();
    count.insert(2);
    assert_eq!(changes, count);
    assert_eq!(pair.shadow.b, [1]);
}

#[test]
fn s61_growth_by_empty_arrays_lists_the_new_elements() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Grid {
        rows: Vec<Vec<u8>>,
    }
    let mut pair = Pair::<Grid>::new();
    let changes = pair.edit(|grid| grid.rows.extend([vec![], vec![]]));
    assert_eq!(pair.flat(&changes), [1, 6, 1, 0, 0, 2, 0, 0, 0, 0]);
    pair.receive(&pair.encode(&changes)).unwrap();
    assert_eq!(pair.replica.rows, [[0_u8; 0]; 2]);
}

#[test]
fn s62_inserting_in_the_middle_changes_every_later_element_that_moved() {
    let mut pair = with_elements(&[1, 2, 2, 3]);
    let changes = pair.edit(|object| object.b.insert(1, 9));
    assert_eq!(pair.flat(&changes), [2, 3, 2, 4, 5, 0, 0], "the third is 2 as it was");
    let changes = pair.edit(|object| object.b = object.b.split_off(1));
    assert_eq!(pair.flat(&changes), [2, 3, 1, 2, 4, 0, 0]);
}

#[test]
fn s63_a_value_that_went_and_came_back_is_invisible() {
    let mut pair = with_elements(&[1]);
    let changes = pair.edit(|object| {
        object.a = 5;
        object.b.push(2);
        object.a = 0;
        object.b.pop();
    });
    assert!(changes.is_empty());
}

#[test]
fn s20_element_handles_count_the_handles_of_the_elements_before() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Rows {
        rows: Vec<(u8, Vec<u8>, [u8; 2])>,
    }
    let mut pair = Pair::<Rows>::from(|| Rows { rows: vec![(0, vec![0; 3], [0; 2]); 3] });
    let changes = pair.edit(|object| {
        object.rows[1].0 = 1;
        object.rows[1].2[1] = 1;
        object.rows[2].1[2] = 1;
    });
    assert_eq!(pair.flat(&changes), [1, 6, 5, 8, 10, 1, 3, 0, 0, 0]);
}

#[test]
fn s23_element_handles_do_not_wrap_at_16_bits() {
    #[derive(Replicated, Default)]
    struct Many {
        #[replicated(max_len = 20_000)]
        rows: Vec<(u8, u8, u8, u8, u8, u8, u8)>,
    }
    let mut pair = Pair::<Many>::from(|| Many { rows: vec![Default::default(); 10_000] });
    let changes = pair.edit(|object| object.rows[9_999].6 = 1);
    assert_eq!(pair.flat(&changes), [1, 1, 70_000, 0, 0]);
    let bits = pair.encode(&changes);
    assert!(bits.bit_len() < 80, "{}", bits.bit_len());
    pair.receive(&bits).unwrap();
    assert_eq!(pair.replica.rows[9_999].6, 1);
    assert_eq!(pair.replica.rows[65_535 / 7], Default::default());
}

#[test]
fn s64_floats_are_compared_by_bits_and_strings_by_letter() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Values {
        float: f32,
        name: String,
    }
    let mut pair = Pair::<Values>::new();
    assert!(!pair.edit(|object| object.float = f32::NAN).is_empty());
    assert!(pair.compare().is_empty(), "a NaN is sent once");
    pair.edit(|object| object.float = 0.0);
    assert!(!pair.edit(|object| object.float = -0.0).is_empty());
    pair.edit(|object| object.name = "ann".into());
    assert!(!pair.edit(|object| object.name = "Ann".into()).is_empty());
}

#[test]
fn s29_s69_values_of_the_archetype_are_listed_only_after_a_change() {
    let mut pair = Pair::<IntAndArray>::from(|| IntAndArray { a: 40, b: vec![1, 2] });
    assert!(pair.compare().is_empty());
    assert!(!pair.edit(|object| object.a = 41).is_empty());
    assert_eq!(pair.edit(|object| object.a = 40).handles(), &handles([1]));
}

#[test]
fn s69_a_shadow_holds_only_replicated_values() {
    #[derive(Replicated, Default, Clone)]
    struct Half {
        #[replicated]
        sent: Vec<String>,
        local: Vec<String>,
    }
    let archetype = Half { sent: vec!["a".into(); 3], local: vec!["b".into(); 3] };
    let shadow = Class::<Half>::new().shadow_of(&archetype);
    assert_eq!(shadow.sent, archetype.sent);
    assert!(shadow.local.is_empty());
}

/// Degrees that are sent as quarters of a circle.
mod quarters {
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub(super) const NAME: &str = "quarters";

    pub(super) fn write(degrees: &u16, writer: &mut BitWriter) -> Result<(), WriteError> {
        if *degrees >= 360 {
            return Err(WriteError::OutOfRange);
        }
        writer.write_bits(u64::from(degrees / 90), 2);
        Ok(())
    }

    pub(super) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<u16, ReadError> {
        Ok(reader.read_bits(2)? as u16 * 90)
    }
}

#[test]
fn s13_a_unit_is_compared_and_sent_as_a_whole() {
    #[derive(Replicated, Default, Clone, Debug, PartialEq)]
    #[replicated(all)]
    struct Pose {
        #[replicated(quantize(step = 0.5, range = 0.0..=8.0))]
        height: f32,
        joints: Vec<u8>,
    }
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Dancer {
        #[replicated(atomic)]
        pose: Pose,
        #[replicated(with = quarters)]
        facing: u16,
    }
    let mut pair = Pair::<Dancer>::from(|| {
        let pose = Pose { height: 1.0, joints: vec![1, 2, 3] };
        Dancer { pose, facing: 0 }
    });
    pair.replica.pose = Pose::default();
    let changes = pair.edit(|dancer| dancer.pose.joints[1] = 9);
    assert_eq!(pair.flat(&changes), [1, 0]);
    pair.receive(&pair.encode(&changes)).unwrap();
    assert_eq!(pair.replica.pose, pair.live.pose, "what did not change goes along");

    assert!(pair.edit(|dancer| dancer.pose.height = 1.1).is_empty(), "less than a step");
    assert!(pair.edit(|dancer| dancer.facing = 89).is_empty(), "the same quarter");
    let changes = pair.edit(|dancer| dancer.facing = 90);
    assert_eq!(pair.flat(&changes), [2, 0]);
    assert!(pair.edit(|dancer| dancer.facing = 400).is_empty());
    assert_eq!(pair.refusals.len(), 1);
}

#[test]
fn s13_a_unit_that_only_grows_or_only_shrinks_is_listed() {
    #[derive(Replicated, Default, Clone, Debug, PartialEq)]
    #[replicated(all)]
    struct Load {
        list: Vec<u8>,
        map: BTreeMap<u8, u8>,
        set: BTreeSet<u8>,
        name: String,
        maybe: Option<u8>,
        items: FastArray<u8>,
        queue: OrderedFastArray<u8>,
    }
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Cart {
        #[replicated(atomic)]
        load: Load,
    }
    let edits: [fn(&mut Load); 16] = [
        |load| load.list.push(0),
        |load| _ = load.map.insert(1, 0),
        |load| _ = load.set.insert(1),
        |load| load.name.push('a'),
        |load| load.maybe = Some(0),
        |load| _ = load.items.push(0),
        |load| _ = load.queue.push(0),
        |load| load.items[0] = 1,
        |load| load.queue.swap(0, 1),
        |load| _ = load.items.pop(),
        |load| _ = load.queue.pop(),
        |load| _ = load.list.pop(),
        |load| _ = load.map.remove(&1),
        |load| _ = load.set.remove(&1),
        |load| _ = load.name.pop(),
        |load| load.maybe = None,
    ];
    let mut pair = Pair::<Cart>::from(|| {
        let (map, set) = (BTreeMap::from([(7, 7)]), BTreeSet::from([7]));
        let (items, queue) = ([7].into(), [7].into());
        Cart { load: Load { list: vec![7], map, set, name: "g".into(), maybe: None, items, queue } }
    });
    for (at, edit) in edits.into_iter().enumerate() {
        let changes = pair.edit(|cart| edit(&mut cart.load));
        assert_eq!(pair.flat(&changes), [1, 0], "edit {at}");
        pair.receive(&pair.encode(&changes)).unwrap();
        assert_eq!(pair.replica.load, pair.live.load, "edit {at}");
        assert!(pair.compare().is_empty(), "edit {at} is in the shadow");
    }
}

#[derive(Replicated, Clone)]
#[replicated(all)]
struct Limited {
    #[replicated(max_len = 3)]
    list: Vec<u8>,
    #[replicated(max_len = 3)]
    name: String,
    #[replicated(range = 0..=200)]
    percent: u8,
    #[replicated(quantize(step = 0.5, range = 0.0..=1.0))]
    part: f32,
    #[replicated(quantize(smallest_three = 8))]
    rotation: [f32; 4],
    other: u8,
    #[replicated(quantize(step = 0.5, range = 0.0..=1.0, exact))]
    exact: f32,
}

impl Default for Limited {
    fn default() -> Self {
        let rotation = [0.0, 0.0, 0.0, 1.0];
        Self { list: Vec::new(), name: String::new(), percent: 0, part: 0.0, rotation, other: 0, exact: 0.0 }
    }
}

#[test]
fn s71_a_value_without_a_form_is_refused_and_does_not_hold_up_the_rest() {
    let mut pair = Pair::<Limited>::new();
    let changes = pair.edit(|object| {
        object.list = vec![1; 4];
        object.name = "long".into();
        object.percent = 201;
        object.part = f32::NAN;
        object.rotation = [1.0; 4];
        object.other = 1;
    });
    assert_eq!(pair.flat(&changes), [6, 0]);
    let errors: Vec<_> =
        pair.refusals.iter().map(|refusal| (refusal.handle(), refusal.error.clone())).collect();
    let too_long = WriteError::TooLong { len: 4, max: 3 };
    let expected = [
        (1, too_long.clone()),
        (2, too_long),
        (3, WriteError::OutOfRange),
        (4, WriteError::NotFinite),
        (5, WriteError::OutOfRange),
    ];
    assert_eq!(errors, expected);
    assert_eq!((&pair.shadow.list[..], &pair.shadow.name[..], pair.shadow.percent), (&[][..], "", 0));

    let changes = pair.edit(|object| object.list = vec![1; 3]);
    assert_eq!(pair.flat(&changes), [1, 3, 1, 2, 3, 0, 0], "what has a form again goes again");
}

#[test]
fn a_difference_of_less_than_a_step_is_no_change() {
    let mut pair = Pair::<Limited>::new();
    assert!(pair.edit(|object| object.exact = 0.2).is_empty());
    assert!(!pair.edit(|object| object.exact = 0.3).is_empty());
    assert!(pair.edit(|object| object.exact = 0.4).is_empty());
    assert!(!pair.edit(|object| object.exact = 0.2).is_empty());

    assert!(pair.edit(|object| object.part = 0.37).is_empty(), "it keeps its step within the margin");
    assert!(!pair.edit(|object| object.part = 0.38).is_empty());
    assert!(pair.edit(|object| object.part = 0.13).is_empty());
    assert!(!pair.edit(|object| object.part = 0.12).is_empty());
}

#[test]
fn new_elements_without_a_wire_form_are_reported_and_not_sent_until_they_have_one() {
    #[derive(Replicated, Default, Clone)]
    #[replicated(all)]
    struct Bone {
        #[replicated(quantize(smallest_three = 8))]
        rotation: [f32; 4],
        #[replicated(quantize(unit_vector = 8))]
        axis: [f32; 3],
        #[replicated(range = 3..=7)]
        kind: u8,
        #[replicated(quantize(step = 1.0, range = 1.0..=2.0))]
        length: f64,
        #[replicated(max_len = 2)]
        name: String,
        weight: u8,
    }
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Skeleton {
        bones: Vec<Bone>,
    }
    let mut pair = Pair::<Skeleton>::new();
    let bone = Bone { length: f64::NAN, name: "long".into(), weight: 9, ..Bone::default() };
    let changes = pair.edit(|object| object.bones = vec![bone]);
    assert_eq!(pair.refusals.len(), 5);
    assert!(changes.is_empty(), "it is not there yet");

    let changes = pair.edit(|object| object.bones[0].kind = 3);
    assert!(changes.is_empty(), "and not while any part of it has no form");
    let whole = Bone {
        rotation: [0.0, 0.0, 0.0, 1.0],
        axis: [0.0, 0.0, 1.0],
        kind: 3,
        length: 2.0,
        name: "ok".into(),
        weight: 9,
    };
    let changes = pair.edit(|object| object.bones[0] = whole);
    pair.receive(&pair.encode(&changes)).unwrap();
    let arrived = &pair.replica.bones[0];
    assert_eq!((arrived.rotation, arrived.axis), ([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0]));
    assert_eq!((arrived.kind, arrived.length, arrived.weight), (3, 2.0, 9));
    assert_eq!(arrived.name, "ok");
}

#[test]
fn the_scan_sees_more_strings_than_a_plan_holds() {
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Names {
        few: [String; 2],
        more: ([String; 7], String),
    }
    let class = Class::<Names>::new();
    let shadow = Names::default();
    assert!(!class.differs(&Names::default(), &shadow, &[]));
    for at in 0..10 {
        let mut live = Names::default();
        let Names { few, more: (more, last) } = &mut live;
        *few.iter_mut().chain(more).chain([last]).nth(at).unwrap() = "x".into();
        assert!(class.differs(&live, &shadow, &[]), "{at}");
    }
}

#[test]
fn the_scan_sees_more_stretches_than_a_plan_holds() {
    #[derive(Replicated, Clone, Default)]
    #[replicated(all)]
    #[repr(C)]
    struct Padded {
        wide: u64,
        narrow: u8,
    }
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Many {
        rows: [[Padded; 8]; 5],
    }
    let class = Class::<Many>::new();
    let shadow = Many::default();
    assert!(!class.differs(&Many::default(), &shadow, &[]));
    for at in 0..40 {
        let mut live = Many::default();
        live.rows[at / 8][at % 8].narrow = 1;
        assert!(class.differs(&live, &shadow, &[]), "{at}");
        live.rows[at / 8][at % 8] = Padded { wide: 1, narrow: 0 };
        assert!(class.differs(&live, &shadow, &[]), "{at}");
    }
}

/// Groups of fields of different sizes, with fields between them that are not replicated.
#[derive(Replicated, Clone, Debug, Default)]
#[repr(C)]
struct Stretches {
    #[replicated]
    one: u8,
    hole: u8,
    #[replicated]
    two: [u8; 2],
    holes: [u8; 3],
    #[replicated]
    three: [u8; 3],
    more: u8,
    #[replicated]
    seven: [u8; 7],
    last: u8,
    #[replicated]
    twelve: [u32; 3],
    padded: u8,
    #[replicated]
    thirty: ([u64; 3], [u8; 6]),
}

impl Stretches {
    fn sent(&mut self) -> Vec<&mut u8> {
        let Self { one, two, three, seven, thirty, .. } = self;
        std::iter::once(one).chain(two).chain(three).chain(seven).chain(&mut thirty.1).collect()
    }

    fn touch(&mut self, place: usize) {
        match place {
            0..19 => *self.sent()[place] ^= 1,
            19 => self.twelve[0] ^= 1 << 31,
            20 => self.twelve[2] ^= 1,
            21 => self.thirty.0[1] ^= 1 << 63,
            _ => {}
        }
        self.hole ^= 1;
        self.holes[place % 3] ^= 1;
        self.more ^= 1;
        self.last ^= 1;
        self.padded ^= 1;
    }
}

/// Returns all replicated values of an object as bits.
fn bits(object: &World) -> Vec<u8> {
    let mut writer = repl::BitWriter::new();
    object.write(&mut writer).unwrap();
    writer.into_bytes()
}

proptest! {
    #[test]
    fn s28_s60_a_shadow_holds_the_values_of_the_last_comparison(all in changes(30)) {
        let mut pair = Pair::<World>::new();
        for change in all {
            pair.edit(|world| world.change(change));
            prop_assert_eq!(bits(&pair.live), bits(&pair.shadow));
            prop_assert!(pair.refusals.is_empty());
            prop_assert!(pair.compare().is_empty());
        }
    }

    #[test]
    fn the_scan_of_a_column_finds_each_object_that_differs(places in prop::collection::vec(0..40_usize, 0..40)) {
        let class = Class::<Stretches>::new();
        let shadow = vec![Stretches::default(); places.len()];
        let mut live = shadow.clone();
        live.iter_mut().zip(&places).for_each(|(object, &place)| object.touch(place));
        let mut found = Vec::new();
        class.scan(&live, &shadow, &[], |at| found.push(at));
        let expected: Vec<_> = (0..places.len()).filter(|&at| places[at] < 22).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn the_scan_agrees_with_comparing(first in changes(12), second in changes(4)) {
        let mut pair = Pair::<World>::new();
        pair.edit(|world| first.iter().for_each(|&change| world.change(change)));
        prop_assert!(!pair.differs());
        second.iter().for_each(|&change| pair.live.change(change));
        let differs = pair.differs();
        let any = pair.class.any_changed(&pair.live, &pair.shadow, (1, pair.class.program().handles() + 1));
        prop_assert_eq!(differs, any);
        // A difference of less than a quantization step is not a change.
        let lists = !pair.compare().is_empty();
        prop_assert!(differs || !lists);
        prop_assert!(!pair.differs());
    }
}
