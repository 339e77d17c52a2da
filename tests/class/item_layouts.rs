//! The printed layouts of items of fast arrays, and of objects that contain such arrays.
//!
//! *Invariant:* if these texts change, then either the wire format or the printed form of layouts has
//! changed.
#![allow(dead_code, reason = "the tables are read, not the values")]

use repl::prelude::*;

#[derive(NetSerialize, Clone, Copy, Default)]
enum Colour {
    #[default]
    Amber,
    Jade,
}

#[derive(FastArrayItem, Clone, Default)]
struct Gem {
    colour: Colour,
    #[replicated(range = 0..=100, name = "charge_percent")]
    charge: u8,
}

/// One field for each attribute that a field of an item can have.
#[derive(FastArrayItem, Clone, Default)]
#[replicated(callbacks)]
struct Stack {
    kind: u16,
    #[replicated(bits = 7)]
    count: u8,
    #[replicated(range = 0..=100, saturate)]
    wear: u8,
    #[replicated(quantize(step = 0.5, range = 0.0..=50.0))]
    weight: f32,
    #[replicated(max_len = 24)]
    label: String,
    owner: ObjectRef<Trader>,
    #[replicated(atomic)]
    from: Place,
    #[replicated(max_len = 4)]
    marks: Vec<u8>,
    sockets: FastArray<Gem>,
    #[replicated(skip)]
    price: u32,
}

impl ItemCallbacks for Stack {}

#[derive(Replicated, Clone, Default)]
#[replicated(all)]
struct Place {
    x: i16,
    y: i16,
}

#[derive(Replicated, Default)]
struct Trader {
    #[replicated(condition = OwnerOnly, notify = on_stacks)]
    stacks: FastArray<Stack>,
    #[replicated(push)]
    numbers: FastArray<u16>,
    #[replicated(condition = InitialOnly)]
    names: FastArray<String>,
    #[replicated]
    friends: FastArray<ObjectRef<Self>>,
    purse: FastArray<u32>,
}

impl Trader {
    fn on_stacks(&mut self) {}
}

/// A struct with an array, for fields of several kinds.
#[derive(Replicated, Clone, Default)]
#[replicated(all)]
struct Chest {
    locked: bool,
    gems: FastArray<Gem>,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct House {
    chest: Chest,
    cellar: Option<Chest>,
    spare: Option<FastArray<Gem>>,
    rooms: [FastArray<u8>; 2],
    attic: Vec<Chest>,
    last: u8,
}

/// Arrays in three levels.
#[derive(FastArrayItem, Clone, Default)]
struct Shelf {
    stacks: FastArray<Stack>,
    number: u8,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Store {
    shelves: FastArray<Shelf>,
}

/// A generic item. One parameter is the type of a field, the other is not.
#[derive(FastArrayItem, Clone, Default)]
struct Slot<T: Default, const N: usize> {
    held: T,
    marks: Vec<u8>,
}

#[derive(NetSerialize, Clone, Default)]
struct Span<T: Default> {
    from: T,
    to: T,
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Rack {
    numbers: FastArray<Slot<u16, 2>>,
    gems: FastArray<Slot<Gem, 4>>,
    span: Span<Vec<u8>>,
}

#[test]
fn generic_types_print_with_their_arguments() {
    insta::assert_snapshot!(format!("{}\n{}", Rack::LAYOUT, <Slot<Gem, 4> as FastArrayItem>::LAYOUT));
}

#[test]
fn an_item_prints_as_a_reviewer_reads_it() {
    insta::assert_snapshot!(<Stack as FastArrayItem>::LAYOUT);
}

#[test]
fn a_leaf_is_an_item_with_one_property() {
    insta::assert_snapshot!(<u16 as FastArrayItem>::LAYOUT);
}

#[test]
fn an_array_prints_with_the_table_of_its_items() {
    insta::assert_snapshot!(Trader::LAYOUT);
}

#[test]
fn arrays_in_structs_options_and_vecs_print_where_they_are() {
    insta::assert_snapshot!(House::LAYOUT);
}

#[test]
fn arrays_in_items_of_arrays_print_at_any_depth() {
    insta::assert_snapshot!(Store::LAYOUT);
}

#[test]
fn skipped_fields_of_an_item_are_in_no_table() {
    for table in [<Stack as FastArrayItem>::LAYOUT, Trader::LAYOUT, Store::LAYOUT] {
        assert!(!table.to_string().contains("price"));
    }
}
