//! The tables of a type: parents, commands, handles and checksums (S1 to S23), and how they print.

use crate::pair::Pair;
use repl::tools::Class;
use repl::{
    BitReader, BitWriter, NetSerialize, ObjectRef, ReadError, ReferenceMap, Replicated, WriteError, leaf,
};

/// Returns the handles (numbers in packets) of a property.
fn handles_of<T: Replicated>(property: &str) -> Vec<u32> {
    Class::<T>::new().conditions().handles_of(T::LAYOUT.property(property).erase()).iter().collect()
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Base {
    health: u16,
    name: String,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Knight {
    base: Base,
    shield: u8,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Wizard {
    base: Base,
    mana: f64,
    spells: Vec<u16>,
}

#[test]
fn s01_an_embedded_base_has_the_same_handles_in_every_struct_that_begins_with_it() {
    assert_eq!(handles_of::<Knight>("base"), [1, 2]);
    assert_eq!(handles_of::<Wizard>("base"), [1, 2]);
    assert_eq!(handles_of::<Wizard>("spells"), [4]);
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Arrays {
    first: bool,
    four: [u16; 4],
    pairs: [(u8, u8); 2],
    none: [u16; 0],
    last: bool,
}

#[test]
fn s02_s06_a_fixed_array_makes_a_parent_for_each_element_and_is_one_property() {
    assert_eq!(Arrays::LAYOUT.counts().parents, 1 + 4 + 2 + 1);
    assert_eq!(Arrays::LAYOUT.properties(), 5);
    assert_eq!(handles_of::<Arrays>("four"), [2, 3, 4, 5]);
    assert_eq!(handles_of::<Arrays>("pairs"), [6, 7, 8, 9]);
    assert_eq!(handles_of::<Arrays>("none"), []);
    assert_eq!(handles_of::<Arrays>("last"), [10]);
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Mixed {
    z: u8,
    a: u64,
    m: (u8, u64, u8),
    b: u32,
}

#[test]
fn s03_s11_properties_and_members_keep_the_order_of_declaration_whatever_their_offsets() {
    let table = Mixed::LAYOUT.to_string();
    let paths: Vec<_> = table.lines().skip(2).filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(paths, ["z", "a", "m.0", "m.1", "m.2", "b"]);
    // The handles are in the same order, although the compiler sorts the properties by their alignments.
    let mut pair = Pair::<Mixed>::new();
    let changes = pair.edit(|mixed| mixed.z = 1);
    assert_eq!(pair.flat(&changes), [1, 0]);
    let changes = pair.edit(|mixed| mixed.m.0 = 1);
    assert_eq!(pair.flat(&changes), [3, 0]);
}

/// A struct whose members the compiler sorts by their sizes.
#[derive(Replicated, Default)]
#[replicated(all)]
struct Wheel {
    worn: u8,
    angle: u64,
    punctures: Vec<u8>,
    axle: Axle,
    tread: u16,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Axle {
    bent: bool,
    load: u32,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Cart {
    wheel: Wheel,
    spare: Wheel,
}

#[test]
fn s11_the_commands_of_the_members_stand_in_the_place_of_a_struct() {
    // There is a command for each leaf (single value) and each array, one for the element of an array, one
    // return for each array, and one return for the object. A wheel or an axle has no command.
    assert_eq!(Cart::LAYOUT.counts().commands, 2 * (6 + 2) + 1);
    assert_eq!((Cart::LAYOUT.counts().parents, Cart::LAYOUT.counts().handles), (2, 12));
    let table = Cart::LAYOUT.to_string();
    let paths: Vec<_> = table.lines().skip(2).filter_map(|line| line.split_whitespace().nth(1)).collect();
    let of = |wheel| {
        ["worn", "angle", "punctures", "punctures[]", "axle.bent", "axle.load", "tread"]
            .map(|member| format!("{wheel}.{member}"))
    };
    let expected = [of("wheel"), of("spare")].concat();
    assert_eq!(paths, expected);
    // The handles are in the same order, although the members are in another order in memory.
    let mut pair = Pair::<Cart>::new();
    let changes = pair.edit(|cart| (cart.spare.axle.load, cart.spare.worn, cart.wheel.tread) = (1, 2, 3));
    assert_eq!(pair.flat(&changes), [6, 7, 11, 0]);
}

#[derive(Replicated, Default)]
struct Hidden {
    #[replicated(condition = Never)]
    kept: u8,
    #[replicated]
    sent: u8,
    local: u8,
}

#[test]
fn s05_s37_a_property_that_is_never_sent_still_has_its_parent_and_its_handle() {
    let class = Class::<Hidden>::new();
    assert_eq!(Hidden::LAYOUT.counts().parents, 2);
    assert_eq!(handles_of::<Hidden>("kept"), [1]);
    assert!(!class.conditions().ordinary().contains(1));
    assert!(class.conditions().ordinary().contains(2));
    let _ = Hidden::default().local;
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct IntAndArray {
    a: i32,
    b: Vec<i32>,
}

#[test]
fn s06_s07_s08_s09_s10_parents_own_ranges_of_commands_and_arrays_end_with_a_return() {
    let expected = "\
IntAndArray: 2 parents, 5 commands
parent  commands  handles   property
     0  0..1      1..2      a
     1  1..4      2..3      b
command  handle    what
      0  1         leaf
      1  2         array to 4, 1 handle an element
      2    1       leaf
      3            return
      4            return
";
    assert_eq!(format!("{:?}", IntAndArray::program()), expected);
}

#[derive(NetSerialize, Clone, Default)]
struct Stack {
    kind: u16,
    count: u8,
    #[replicated(skip)]
    price: u32,
}

#[derive(Replicated, Default)]
struct Chest {
    #[replicated]
    first: Stack,
    open: bool,
}

#[test]
fn s12_objects_name_what_they_send_and_values_name_what_they_do_not() {
    assert_eq!(Chest::LAYOUT.properties(), 1);
    let mut writer = BitWriter::new();
    let stack = Stack { kind: 1, count: 2, price: 3 };
    stack.write(&mut writer).unwrap();
    assert_eq!(writer.bit_len(), 16 + 8, "without a price of {}", stack.price);
    let _ = Chest::default().open;
}

#[derive(Clone, Copy, Default)]
struct Heading(u16);

impl NetSerialize for Heading {
    const WIRE_NAME: &'static str = "Heading";

    fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits(u64::from(self.0 % 360), 9);
        Ok(())
    }

    fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
        Ok(Self(reader.read_bits(9)? as u16))
    }
}
leaf!(Heading);

#[derive(Replicated, Default, Clone)]
#[replicated(all)]
struct Pose {
    at: [f32; 3],
    turns: Vec<u8>,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Units {
    heading: Heading,
    stack: Stack,
    #[replicated(atomic)]
    pose: Pose,
    #[replicated(quantize(smallest_three = 9))]
    rotation: [f32; 4],
}

#[test]
fn s13_a_type_with_its_own_serialiser_is_one_command_and_one_handle() {
    let counts = Units::LAYOUT.counts();
    assert_eq!((counts.parents, counts.handles, counts.commands), (4, 4, 5));
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Empty {}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Nothings {
    units: Vec<()>,
    empty: Vec<Vec<Empty>>,
    one_value: Vec<(Empty, ())>,
    there: Option<()>,
}

#[test]
fn s06_s16_properties_without_bits_have_no_command() {
    assert_eq!(handles_of::<Nothings>("units"), []);
    assert_eq!(handles_of::<Nothings>("empty"), []);
    assert_eq!(handles_of::<Nothings>("one_value"), []);
    assert_eq!(handles_of::<Nothings>("there"), [1]);
    assert_eq!(Nothings::LAYOUT.counts().parents, 4);
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Nested {
    before: u8,
    grid: Vec<Vec<(u8, u16)>>,
    maybe: Option<Vec<u8>>,
    after: u8,
}

#[test]
fn s18_s19_s22_an_array_takes_one_handle_and_its_element_has_a_table_of_its_own() {
    let counts = Nested::LAYOUT.counts();
    assert_eq!(counts.handles, 4);
    assert_eq!(counts.tables, 4 + (1 + 2) + (1 + 1));
    assert_eq!(handles_of::<Nested>("before"), [1]);
    assert_eq!(handles_of::<Nested>("after"), [4]);
    let expected = "\
command  handle    what
      0  1         leaf
      1  2         array to 7, 1 handle an element
      2    1       array to 6, 2 handles an element
      3      1     leaf
      4      2     leaf
      5            return
      6            return
      7  3         array to 12, 1 handle an element
      8    1       array to 11, 1 handle an element
      9      1     leaf
     10            return
     11            return
     12  4         leaf
     13            return
";
    let listing = format!("{:?}", Nested::program());
    assert!(listing.ends_with(expected), "{listing}");

    // Each value arrives in the right field, so no two levels have the same table.
    let mut pair = Pair::<Nested>::new();
    pair.update(|nested| {
        (nested.before, nested.after) = (1, 2);
        nested.grid = vec![vec![(3, 400)], vec![]];
        nested.maybe = Some(vec![5, 6]);
    });
    let Nested { before, grid, maybe, after } = &pair.replica;
    assert_eq!((*before, *after), (1, 2));
    assert_eq!((grid, maybe), (&vec![vec![(3, 400)], vec![]], &Some(vec![5, 6])));
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Generic<T: 'static> {
    values: [Vec<T>; 3],
    other: T,
}

#[test]
fn generic_types_have_the_tables_of_the_same_type_written_out() {
    let counts = <Generic<(u8, bool)> as Replicated>::LAYOUT.counts();
    assert_eq!((counts.parents, counts.handles, counts.tables), (4, 5, 5 + 3 * 2));
    let listing = format!("{:?}", Generic::<(u8, bool)>::program());
    assert_eq!(listing.lines().count(), 1 + 1 + 4 + 1 + counts.commands);
}

#[test]
fn invalid_layouts_are_refused_when_the_table_is_made() {
    use repl::__private::Property;

    fn refused<T: Property>() -> String {
        let Err(panic) = std::panic::catch_unwind(repl::Layout::of::<T>) else { return "a layout".into() };
        (*panic.downcast::<&str>().unwrap()).to_owned()
    }
    type Four<T> = Vec<Vec<Vec<Vec<T>>>>;
    assert_eq!(refused::<(Four<Four<Four<Vec<Vec<Vec<u8>>>>>>,)>(), "a layout");
    assert!(refused::<(Four<Four<Four<Four<u8>>>>,)>().starts_with("more than 15 `Vec`s and `Option`s"));
    assert_eq!(refused::<([u8; 65_535],)>(), "a layout");
    assert!(refused::<([u8; 65_535], bool)>().starts_with("the struct has more than 65,535 handles"));
}

#[test]
#[should_panic(
    expected = "`Wizard` has no property `manna`: did you mean `mana`? Its replicated fields: `base`, `mana`, `spells`"
)]
fn a_property_that_is_nearly_named_is_suggested() {
    let _ = Wizard::LAYOUT.property("manna");
}

#[test]
#[should_panic(expected = "`Knight` has no property `health`. Its replicated fields: `base`, `shield`")]
fn a_property_that_is_not_there_is_answered_with_those_that_are() {
    let _ = Knight::LAYOUT.property("health");
}

#[derive(NetSerialize, Clone, Default)]
struct Impostor;

impl Replicated for Impostor {
    const LAYOUT: &'static repl::tools::LayoutOf<Self> = &repl::tools::LayoutOf::new(Mixed::LAYOUT.table());

    type CallbackPolicy = repl::__private::NoCallbacks;

    type FastArrays = repl::__private::FastArrays<false>;

    fn program() -> repl::tools::Program {
        Mixed::program()
    }

    type Edit<'a> = repl::__private::Editor<'a, Self>;

    fn edit(editor: repl::__private::Editor<'_, Self>) -> Self::Edit<'_> {
        editor
    }

    fn notify(&mut self, _: usize, _: &Self) {}
}

#[test]
#[should_panic(expected = "the program of another type")]
fn a_class_refuses_the_program_of_another_type() {
    let _ = Class::<Impostor>::new();
}

/// A module for `with` that writes a `u16` in this many bits.
macro_rules! form {
    ($module:ident, $bits:literal, $($name:literal $(, $version:literal)?)?) => {
        pub(super) mod $module {
            use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

            $(
                pub(crate) const NAME: &str = $name;
                $(pub(crate) const VERSION: u32 = $version;)?
            )?

            pub(crate) fn write(value: &u16, writer: &mut BitWriter) -> Result<(), WriteError> {
                writer.write_bits((*value).into(), $bits);
                Ok(())
            }

            pub(crate) fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<u16, ReadError> {
                Ok(reader.read_bits($bits)? as u16)
            }
        }
    };
}

mod fine {
    form!(angle, 16, "fine angle");
}

mod coarse {
    form!(angle, 8, "coarse angle");
    form!(second_angle, 9, "coarse angle", 2);
    form!(renamed, 8, "coarse angle", 1);
}

macro_rules! checksums_differ {
    ($($name:ident { $($field:tt)* })*) => {{
        $(
            #[derive(Replicated, Default)]
            #[replicated(all, name = "Same")]
            #[allow(dead_code, reason = "only the table counts")]
            struct $name { $($field)* }
        )*
        let sums = [$($name::LAYOUT.checksum()),*];
        let names = [$(stringify!($name)),*];
        for (index, sum) in sums.iter().enumerate() {
            let same = sums[..index].iter().position(|other| other == sum);
            assert_eq!(same.map(|same| names[same]), None, "the same checksum as {}", names[index]);
        }
    }};
}

#[test]
fn r21_checksums_distinguish_names_types_widths_conditions_and_quantisers() {
    checksums_differ! {
        Plain { a: u32 }
        Renamed { b: u32 }
        Signed { a: i32 }
        Pointer { a: usize }
        Wide { a: u64 }
        Narrow { #[replicated(bits = 31)] a: u32 }
        Ranged { #[replicated(range = 1..=4)] a: u32 }
        RangedElsewhere { #[replicated(range = 2..=5)] a: u32 }
        Owner { #[replicated(condition = OwnerOnly)] a: u32 }
        Two { a: u32, b: u32 }
        Tuple { a: (u32,) }
        Fixed { a: [u32; 1] }
        Growing { a: Vec<u32> }
        Limited { #[replicated(max_len = 9)] a: Vec<u32> }
        Maybe { a: Option<u32> }
        Text { a: String }
        ShortText { #[replicated(max_len = 9)] a: String }
        Float { a: f32 }
        Quantised { #[replicated(quantize(step = 0.5, range = 0.0..=8.0))] a: f32 }
        QuantisedFiner { #[replicated(quantize(step = 0.25, range = 0.0..=8.0))] a: f32 }
        Opaque { a: Heading }
        Composed { a: Stack }
        FineForm { #[replicated(with = fine::angle)] a: u16 }
        CoarseForm { #[replicated(with = coarse::angle)] a: u16 }
        CoarseFormOfTwo { #[replicated(with = coarse::second_angle)] a: u16 }
    }
}

#[test]
fn r21_forms_of_modules_are_compared_by_name_and_version() {
    macro_rules! angle {
        ($with:path) => {{
            #[derive(Replicated, Default)]
            #[replicated(all)]
            struct Angle {
                #[replicated(with = $with)]
                _a: u16,
            }
            Angle::LAYOUT
        }};
    }
    assert_eq!(
        angle!(coarse::angle).checksum(),
        angle!(coarse::renamed).checksum(),
        "not the module's own name"
    );
    let second = angle!(coarse::second_angle);
    assert_ne!(angle!(coarse::angle).checksum(), second.checksum());
    assert!(second.to_string().contains("coarse angle v2"), "{second}");
}

#[test]
fn r21_a_serialiser_by_hand_has_a_version() {
    macro_rules! heading {
        ($version:literal) => {{
            #[derive(Clone, Default)]
            struct Turn;
            impl NetSerialize for Turn {
                const WIRE_NAME: &'static str = "Turn";
                const WIRE_VERSION: u32 = $version;

                fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
                    writer.write_bits(0, $version);
                    Ok(())
                }

                fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
                    reader.read_bits($version).map(|_| Self)
                }
            }
            leaf!(Turn);

            #[derive(Replicated, Default)]
            #[replicated(all)]
            struct Wheel {
                _turn: Turn,
            }
            Wheel::LAYOUT.checksum()
        }};
    }
    assert_ne!(heading!(1), heading!(2));
}

#[test]
fn r21_checksums_do_not_cover_local_details() {
    mod one {
        #[derive(repl::Replicated, Default)]
        pub(super) struct Player {
            #[replicated]
            pub(super) health: u16,
        }
    }
    mod other {
        #[derive(repl::Replicated, Default)]
        #[repr(C)]
        pub(super) struct Player {
            pub(super) local: u64,
            #[replicated(push, notify = on_health)]
            pub(super) health: u16,
        }

        impl Player {
            fn on_health(&mut self) {
                self.local += 1;
            }
        }
    }
    assert_eq!(one::Player::LAYOUT.checksum(), other::Player::LAYOUT.checksum());
}

#[derive(Replicated, Default)]
#[repr(C)]
struct Player {
    #[replicated(notify = on_health)]
    health: u16,
    #[replicated(condition = OwnerOnly, push)]
    ammo: u16,
    #[replicated(condition = InitialOnly, max_len = 24)]
    name: String,
    #[replicated(quantize(step = 0.01, range = -4096.0..=4096.0))]
    position: [f32; 3],
    #[replicated(quantize(smallest_three = 10))]
    rotation: [f32; 4],
    #[replicated]
    target: ObjectRef<Self>,
    #[replicated]
    items: Vec<(u16, Option<Stack>)>,
    #[replicated(range = -3..=3)]
    tilt: i8,
    cooldown: f32,
}

impl Player {
    fn on_health(&mut self) {
        self.cooldown = 0.0;
    }
}

#[test]
fn a_table_prints_as_a_reviewer_reads_it() {
    insta::assert_snapshot!(Player::LAYOUT);
}

#[test]
fn a_switch_that_starts_off_is_in_the_table_and_changes_no_bits() {
    mod on {
        #[derive(repl::Replicated, Default)]
        pub(super) struct Agent {
            #[replicated(condition = Custom, push)]
            pub(super) plan: u16,
        }
    }
    mod off {
        #[derive(repl::Replicated, Default)]
        pub(super) struct Agent {
            #[replicated(condition = Custom, starts_off, push)]
            pub(super) plan: u16,
        }
    }
    insta::assert_snapshot!(off::Agent::LAYOUT);
    assert_eq!(on::Agent::LAYOUT.checksum(), off::Agent::LAYOUT.checksum());
    assert_eq!((on::Agent::default().plan, off::Agent::default().plan), (0, 0));
}

#[test]
fn the_alternate_form_adds_what_the_compiler_decides() {
    #[derive(Replicated, Default)]
    #[repr(C)]
    struct Fixed {
        #[replicated]
        a: u32,
        #[replicated]
        b: u32,
        local: u32,
        #[replicated(range = 1..=9)]
        c: u8,
        #[replicated]
        d: [u8; 3],
    }
    insta::assert_snapshot!(format!("{:#}", Fixed::LAYOUT));
    let _ = Fixed::default().local;
}

#[test]
fn nested_tables_print_under_their_arrays() {
    insta::assert_snapshot!(Nested::LAYOUT);
}

#[test]
fn units_print_as_one_row() {
    insta::assert_snapshot!(Units::LAYOUT);
}

#[test]
fn atomic_arrays_and_tuples_print_as_they_are_written() {
    #[derive(Replicated, Default)]
    struct Whole {
        #[replicated(atomic)]
        position: [f32; 3],
        #[replicated(atomic)]
        pair: (u8, bool),
        #[replicated(atomic)]
        nested: [(u16, Option<ObjectRef<Base>>); 2],
    }
    insta::assert_snapshot!(Whole::LAYOUT);
    let _ = Whole::default();
}

#[test]
fn s14_s19_a_collection_takes_one_handle_and_its_items_have_handles_of_their_own() {
    use repl::{FastArray, FastArrayItem};

    #[derive(FastArrayItem, Default)]
    struct Item {
        kind: u16,
        count: u16,
        #[replicated(skip)]
        price: u32,
    }
    #[derive(Replicated, Default)]
    #[replicated(all)]
    struct Bag {
        before: u8,
        items: FastArray<Item>,
        behind: u8,
    }
    assert_eq!(Bag::LAYOUT.paths(), ["before", "items", "behind"]);
    assert_eq!(Item::LAYOUT.paths(), ["kind", "count"]);
    assert_eq!((handles_of::<Bag>("items"), handles_of::<Bag>("behind")), (vec![2], vec![3]));
    // Three commands plus the final return. For the collection, two commands of its items plus their return.
    assert_eq!(Bag::LAYOUT.counts().commands, 3 + 1 + 2 + 1);
    assert_eq!(Item::default().price, 0);
}

#[test]
fn generic_types_print_by_their_shape() {
    insta::assert_snapshot!(<Generic<(u8, bool)> as Replicated>::LAYOUT);
}
