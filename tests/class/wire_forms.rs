//! The wire forms of messages and of other values that are sent as a unit: how they print, and what their
//! checksums cover.
//!
//! *Invariant:* two forms print alike if and only if they have the same checksum.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use repl::{
    BitReader, BitWriter, NetSerialize, ObjectRef, ReadError, ReferenceMap, Replicated, WireForm, WriteError,
    leaf,
};

/// A bearing in degrees with its own serialiser.
#[derive(Clone, Copy, Default)]
struct Bearing(u16);

impl NetSerialize for Bearing {
    const WIRE_NAME: &'static str = "Bearing";
    const WIRE_VERSION: u32 = 2;

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits(self.0.into(), 9);
        Ok(())
    }

    fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        reader.read_bits(9).map(|bits| Self(bits as u16))
    }
}
leaf!(Bearing);

/// An integer whose width is a parameter of the type.
#[derive(Clone, Copy, Default)]
struct Stepped<const BITS: u32>(u64);

impl<const BITS: u32> NetSerialize for Stepped<BITS> {
    const WIRE_NAME: &'static str = "Stepped";
    const WIRE_FORM: &'static WireForm = &WireForm::by_hand::<Self>().parameters(&[("width", BITS as u128)]);

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits(self.0, BITS);
        Ok(())
    }

    fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        reader.read_bits(BITS).map(Self)
    }
}
leaf!(Stepped<5>);
leaf!(Stepped<6>);

/// A module for `with`, with this name and version.
macro_rules! module {
    ($module:ident, $name:literal, $version:literal) => {
        mod $module {
            use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

            pub(super) const NAME: &str = $name;
            pub(super) const VERSION: u32 = $version;

            pub(super) fn write(value: &f32, writer: &mut BitWriter) -> Result<(), WriteError> {
                writer.write_bits(value.to_bits().into(), 32);
                Ok(())
            }

            pub(super) fn read(
                reader: &mut BitReader<'_>,
                _: &mut ReferenceMap<'_>,
            ) -> Result<f32, ReadError> {
                reader.read_bits(32).map(|bits| f32::from_bits(bits as u32))
            }
        }
    };
}

module!(fine, "fine", 1);
module!(fine_again, "fine", 1);
module!(finer, "fine", 2);
module!(coarse, "coarse", 1);

#[derive(Clone, NetSerialize)]
struct Input {
    #[replicated(range = 0..=359)]
    direction: u16,
    #[replicated(quantize(step = 0.01, range = -1.0..=1.0))]
    stick: [f32; 2],
    fires: bool,
    #[replicated(max_len = 24)]
    label: Option<String>,
    #[replicated(skip)]
    drawn: bool,
}

#[derive(Clone, Default, NetSerialize)]
enum Colour {
    #[default]
    Amber,
    Jade,
    #[replicated(name = "Ruby")]
    Red,
}

#[derive(Clone, NetSerialize)]
struct Who {
    player: ObjectRef<Pose>,
    colour: Colour,
}

#[derive(Clone, NetSerialize)]
enum Event {
    Joined { name: String, who: Who },
    Moved([f32; 3], #[replicated(with = fine)] Option<f32>),
    Left,
}

/// A struct. In an object, its fields are sent one by one.
#[derive(Clone, Default, Replicated)]
#[replicated(all)]
struct Pose {
    #[replicated(quantize(step = 0.5, range = -8.0..=8.0))]
    at: [f32; 2],
    colour: Colour,
}

#[derive(Clone, NetSerialize)]
struct Report {
    poses: Vec<Pose>,
    #[replicated(atomic)]
    last: Pose,
    by_name: BTreeMap<String, (Who, u8)>,
    seen: BTreeSet<u32>,
    queue: VecDeque<Who>,
    bearing: Box<Bearing>,
    width: Stepped<5>,
}

#[derive(Clone, NetSerialize)]
struct Pair<A, B = A> {
    first: A,
    second: B,
}

#[test]
fn the_form_of_a_struct_has_its_fields_in_order() {
    let Input { drawn, .. } = Input { direction: 0, stick: [0.0; 2], fires: false, label: None, drawn: true };
    assert!(drawn, "a skipped field is in no form");
    insta::assert_snapshot!(Input::WIRE_FORM);
}

#[test]
fn the_form_of_an_enum_has_its_variants_with_their_numbers() {
    insta::assert_snapshot!(Event::WIRE_FORM);
}

#[test]
fn the_form_of_a_value_shows_each_unit_inside_once() {
    insta::assert_snapshot!(Report::WIRE_FORM);
}

#[test]
fn the_form_of_a_generic_type_has_its_arguments() {
    insta::assert_snapshot!(Pair::<u16, Pair<Vec<Colour>>>::WIRE_FORM);
}

#[test]
fn the_form_of_a_serialiser_by_hand_has_its_version_and_its_parameters() {
    insta::assert_snapshot!(format!("{}\n{}", Bearing::WIRE_FORM, Stepped::<5>::WIRE_FORM));
}

#[test]
fn types_of_the_library_have_forms() {
    let forms = [
        <Vec<Option<u32>>>::WIRE_FORM,
        <(u8, Who)>::WIRE_FORM,
        <HashMap<u16, Pose>>::WIRE_FORM,
        <VecDeque<Bearing>>::WIRE_FORM,
        Pose::WIRE_FORM,
    ];
    insta::assert_snapshot!(forms.map(ToString::to_string).join("\n"));
}

#[test]
fn the_form_of_an_object_has_the_checksum_of_its_layout() {
    assert_eq!(Pose::WIRE_FORM.checksum(), Pose::LAYOUT.checksum());
}

/// Returns the printed form of a type without its checksum, and the checksum.
fn printed<T: NetSerialize>() -> (String, u64) {
    let (text, sum) = (T::WIRE_FORM.to_string(), T::WIRE_FORM.checksum());
    let (name, rest) = text.split_once(": checksum ").expect("the first line ends with the checksum");
    let (digits, table) = rest.split_at(16);
    assert_eq!(digits, format!("{sum:016x}"));
    (format!("{name}{table}"), sum)
}

/// Declares structs that have the same name on the wire, and returns the forms of all of them.
macro_rules! same_names {
    ($($name:ident { $($field:tt)* })*) => {{
        $(
            #[derive(NetSerialize, Clone, Default)]
            #[replicated(name = "Same")]
            #[allow(dead_code, reason = "only the form counts")]
            struct $name { $($field)* }
        )*
        vec![$((stringify!($name), printed::<$name>())),*]
    }};
}

/// Declares enums that have the same name on the wire, and returns the forms of all of them.
macro_rules! same_names_of_enums {
    ($($name:ident { $($variant:tt)* })*) => {{
        $(
            #[derive(NetSerialize, Clone)]
            #[replicated(name = "Same")]
            #[allow(dead_code, reason = "only the form counts")]
            enum $name { $($variant)* }
        )*
        vec![$((stringify!($name), printed::<$name>())),*]
    }};
}

#[test]
fn r21_two_forms_print_alike_exactly_if_their_checksums_are_the_same() {
    let mut forms = same_names! {
        Nothing {}
        Plain { a: u32 }
        Renamed { b: u32 }
        Signed { a: i32 }
        Pointer { a: usize }
        Wide { a: u64 }
        Widest { a: u128 }
        Narrow { #[replicated(bits = 31)] a: u32 }
        NarrowAsRange { #[replicated(range = 0..=2_147_483_647)] a: u32 }
        Ranged { #[replicated(range = 1..=4)] a: u32 }
        RangedElsewhere { #[replicated(range = 2..=5)] a: u32 }
        RangedWithin { #[replicated(range = 2..=5)] a: Option<u32> }
        RangedElsewhereWithin { #[replicated(range = 1..=4)] a: Option<u32> }
        Two { a: u32, b: u32 }
        TwoSwapped { b: u32, a: u32 }
        Tuple { a: (u32,) }
        Empty { a: () }
        NoElements { a: [u32; 0] }
        Fixed { a: [u32; 1] }
        FixedLonger { a: [u32; 2] }
        Growing { a: Vec<u32> }
        Limited { #[replicated(max_len = 9)] a: Vec<u32> }
        LimitedAsUsual { #[replicated(max_len = 2048)] a: Vec<u32> }
        LimitedWithin { #[replicated(max_len = 9)] a: Option<Vec<u32>> }
        UnlimitedWithin { a: Option<Vec<u32>> }
        LimitedInArray { #[replicated(max_len = 9)] a: [Vec<u32>; 2] }
        LimitedLessInArray { #[replicated(max_len = 10)] a: [Vec<u32>; 2] }
        Maybe { a: Option<u32> }
        MaybeTwice { a: Option<Option<u32>> }
        Text { a: String }
        BoxedText { a: Box<str> }
        ShortText { #[replicated(max_len = 9)] a: String }
        ShortTextWithin { #[replicated(max_len = 9)] a: Option<String> }
        ShorterTextWithin { #[replicated(max_len = 8)] a: Option<String> }
        TextWithin { a: Option<String> }
        ShortTexts { #[replicated(max_len = 9)] a: [String; 2] }
        Texts { a: [String; 2] }
        Letter { a: char }
        Float { a: f32 }
        Quantised { #[replicated(quantize(step = 0.5, range = 0.0..=8.0))] a: f32 }
        QuantisedFiner { #[replicated(quantize(step = 0.25, range = 0.0..=8.0))] a: f32 }
        QuantisedFurther { #[replicated(quantize(step = 0.25, range = 0.0..=8.25))] a: f32 }
        Rotation { #[replicated(quantize(smallest_three = 9))] a: [f32; 4] }
        RotationFiner { #[replicated(quantize(smallest_three = 10))] a: [f32; 4] }
        Rotations { #[replicated(quantize(smallest_three = 9))] a: Vec<[f32; 4]> }
        RotationsFiner { #[replicated(quantize(smallest_three = 10))] a: Vec<[f32; 4]> }
        Aims { #[replicated(quantize(unit_vector = 9))] a: Vec<[f32; 3]> }
        AimsFiner { #[replicated(quantize(unit_vector = 10))] a: Vec<[f32; 3]> }
        Reference { a: ObjectRef<u8> }
        ReferenceToPose { a: ObjectRef<Pose> }
        ByHand { a: Bearing }
        ByHandBoxed { a: Box<Bearing> }
        ByHandTwice { a: Vec<Bearing> }
        WithParameter { a: Stepped<5> }
        WithOtherParameter { a: Stepped<6> }
        Unit { a: Colour }
        UnitInQueue { a: VecDeque<Colour> }
        Struct { a: Pose }
        AtomicStruct { #[replicated(atomic)] a: Pose }
        Structs { a: Vec<Pose> }
        Module { #[replicated(with = fine)] a: f32 }
        ModuleOfTheSameName { #[replicated(with = fine_again)] a: f32 }
        ModuleOfAnotherVersion { #[replicated(with = finer)] a: f32 }
        AnotherModule { #[replicated(with = coarse)] a: f32 }
        ModuleInOption { #[replicated(with = fine)] a: Option<f32> }
        ModuleInVec { #[replicated(with = fine)] a: Vec<f32> }
        ModuleInQueue { #[replicated(with = fine)] a: VecDeque<f32> }
        ModuleInArray { #[replicated(with = fine)] a: [f32; 3] }
        ModuleInLongerArray { #[replicated(with = fine)] a: [f32; 4] }
        ModuleInMap { #[replicated(with = fine)] a: HashMap<u16, f32> }
        ModuleInSortedMap { #[replicated(with = fine)] a: BTreeMap<u16, f32> }
        ModuleInMapOfTexts { #[replicated(with = fine)] a: HashMap<String, f32> }
        Map { a: HashMap<u16, u8> }
        MapOfWiderKeys { a: HashMap<u32, u8> }
        MapOfWiderValues { a: HashMap<u16, u16> }
        MapOfFewer { #[replicated(max_len = 9)] a: HashMap<u16, u8> }
        MapInOption { a: Option<HashMap<u16, u8>> }
        MapOfFewerInOption { #[replicated(max_len = 9)] a: Option<HashMap<u16, u8>> }
        Set { a: BTreeSet<u16> }
        Array { a: repl::FastArray<u8> }
        Ordered { a: repl::OrderedFastArray<u8> }
        Generic { a: Option<u8>, b: Vec<(u8, [i8; 2])> }
    };
    forms.extend(same_names_of_enums! {
        One { A }
        OneOther { B }
        OneWithField { A(u8) }
        OneWithNamedField { A { a: u8 } }
        TwoVariants { A, B }
        TwoVariantsSwapped { B, A }
        FieldInFirst { A(u8), B }
        FieldInSecond { A, B(u8) }
        FieldsInBoth { A(u8), B(u8) }
        TwoFieldsInFirst { A(u8, u8), B }
        UnitInSecond { A, B(Colour) }
    });
    let mut alike = Vec::new();
    for (at, (name, (text, sum))) in forms.iter().enumerate() {
        for (other, (other_text, other_sum)) in &forms[..at] {
            assert_eq!(text == other_text, sum == other_sum, "{name} and {other}:\n{text}\n{other_text}");
            if sum == other_sum {
                alike.push((*other, *name));
            }
        }
    }
    let expected = [
        ("Narrow", "NarrowAsRange"),
        ("Growing", "LimitedAsUsual"),
        ("Text", "BoxedText"),
        ("Reference", "ReferenceToPose"),
        ("ByHand", "ByHandBoxed"),
        ("Module", "ModuleOfTheSameName"),
        ("ModuleInVec", "ModuleInQueue"),
        ("ModuleInMap", "ModuleInSortedMap"),
    ];
    assert_eq!(alike, expected);
}
