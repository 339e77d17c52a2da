//! Enums that derive `Replicated`: variants of every form, generic ones, and their initial values.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use repl::{FastArray, ObjectRef, Property, Replicated};

use crate::round_trip;

/// The fields of this enum are replicated if they are marked, as in a struct.
#[derive(Replicated, Clone, Debug, Default, PartialEq)]
#[replicated(name = "Deed")]
enum Action {
    Empty {},
    #[default]
    Unit,
    Nothing(),
    Tuple(#[replicated] u8, Secret, #[replicated(max_len = 4)] String),
    #[replicated(name = "Named")]
    Fields {
        #[replicated(name = "kind")]
        r#type: u16,
        #[replicated(quantize(step = 0.5, range = 0.0..=8.0))]
        at: [f32; 3],
        hidden: Secret,
        #[replicated(atomic)]
        whole: (u8, u8),
        #[replicated(with = doubled)]
        by_hand: u32,
    },
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Secret(u8);

mod doubled {
    use repl::{BitReader, BitWriter, ReadError, ReferenceMap, WriteError};

    pub const NAME: &str = "doubled";
    pub const VERSION: u32 = 1;

    pub fn write(value: &u32, writer: &mut BitWriter) -> Result<(), WriteError> {
        writer.write_bits((*value / 2).into(), 31);
        Ok(())
    }

    pub fn read(reader: &mut BitReader<'_>, _: &mut ReferenceMap<'_>) -> Result<u32, ReadError> {
        Ok(reader.read_bits(31)? as u32 * 2)
    }
}

#[derive(Replicated, Clone, Debug, PartialEq)]
#[replicated(all)]
enum Tree<T: Clone, const N: usize> {
    Leaf(T),
    Row([T; N]),
    Many {
        list: Vec<T>,
        map: BTreeMap<u8, T>,
        #[replicated(skip)]
        cache: Option<T>,
    },
}

#[derive(Replicated, Default)]
#[replicated(all)]
struct Forest {
    action: Action,
    first: Option<Tree<u16, 3>>,
    second: Vec<Tree<String, 2>>,
    third: BTreeMap<u8, Tree<Action, 1>>,
    fourth: Option<Owned>,
}

#[derive(Replicated)]
#[replicated(all)]
enum Owned {
    By(ObjectRef<Forest>),
    Items(FastArray<u16>),
}

fn fields() -> Action {
    Action::Fields { r#type: 3, at: [0.5; 3], hidden: Secret(0), whole: (1, 2), by_hand: 8 }
}

#[test]
fn r28_enums_are_written_whole_where_they_are_units() {
    for action in [Action::Unit, Action::Empty {}, Action::Nothing(), fields()] {
        assert_eq!(round_trip(&action), action);
    }
    let tuple = Action::Tuple(7, Secret(9), "abc".to_owned());
    assert_eq!(round_trip(&tuple), Action::Tuple(7, Secret(0), "abc".to_owned()));
    let many = Tree::<u16, 3>::Many { list: vec![1, 2], map: BTreeMap::from([(3, 4)]), cache: None };
    assert_eq!(round_trip(&many), many);
    assert_eq!(round_trip(&Tree::<u16, 3>::Row([1, 2, 3])), Tree::Row([1, 2, 3]));
}

#[test]
fn r28_the_initial_value_is_the_default_variant_or_the_first() {
    assert_eq!(Action::initial(), Action::Unit);
    assert_eq!(Tree::<u16, 3>::initial(), Tree::Leaf(0));
}

#[test]
fn r28_names_of_variants_and_types_are_those_of_the_attributes() {
    let table = Forest::LAYOUT.to_string();
    for text in ["action.Named.kind", "Deed", "Tree<u16, 3>", "third{}.Leaf.0.Tuple.2", "fourth?.Items.0"] {
        assert!(table.contains(text), "{text} is missing in\n{table}");
    }
    assert!(!table.contains("hidden") && !table.contains("Tuple.1") && !table.contains("cache"));
}
