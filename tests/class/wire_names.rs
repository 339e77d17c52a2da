//! The wire names of generic types.

use repl::prelude::*;
use repl::{Layout, Property};

#[derive(NetSerialize, Clone, Default)]
struct Apple;

#[derive(NetSerialize, Clone, Default)]
#[replicated(name = "Sword")]
struct Blade;

/// A slot that holds one thing.
#[derive(Replicated, Default)]
struct Slot<T: Default> {
    #[replicated]
    thing: T,
    #[replicated]
    count: u8,
}

/// A shelf that holds several things.
#[derive(Replicated, Default)]
#[replicated(name = "Rack")]
struct Shelf<T, const N: usize> {
    #[replicated]
    things: FastArray<T>,
    room: std::marker::PhantomData<[(); N]>,
}

#[derive(FastArrayItem, Clone, Default)]
struct Stack<T: Default>(T);

#[derive(NetSerialize, Clone)]
enum Either<L, R> {
    Left(L),
    Right(R),
}

impl<L: Default, R> Default for Either<L, R> {
    fn default() -> Self {
        Self::Left(L::default())
    }
}

/// A class whose argument is in no property.
#[derive(Replicated, Default)]
struct Tagged<T> {
    #[replicated]
    number: u8,
    tag: std::marker::PhantomData<T>,
}

/// A class whose type argument has its own serialiser.
#[derive(Replicated, Default)]
struct Wrapped<T: Default> {
    #[replicated(as = [u8; 2])]
    inner: T,
}

fn name<T: Property>() -> &'static str {
    Layout::of::<T>().name()
}

#[test]
fn instances_of_a_generic_class_have_the_wire_names_of_their_arguments() {
    assert_eq!((name::<Slot<Apple>>(), name::<Slot<Blade>>()), ("Slot<Apple>", "Slot<Sword>"));
    assert_eq!(name::<Slot<Either<u8, Option<Apple>>>>(), "Slot<Either<u8, Option<Apple>>>");
    assert_eq!(name::<Slot<Slot<u16>>>(), "Slot<Slot<u16>>");
    assert_ne!(Slot::<Apple>::LAYOUT.checksum(), Slot::<Blade>::LAYOUT.checksum());
}

#[test]
fn numbers_are_arguments_and_collections_show_what_is_in_them() {
    assert_eq!(name::<Shelf<Stack<u8>, 2>>(), "Rack<FastArray<Stack<u8>>, 2>");
    assert_ne!(name::<Shelf<Stack<u8>, 2>>(), name::<Shelf<Stack<u8>, 3>>());
}

#[test]
fn arguments_that_are_not_sent_by_the_library_are_not_in_the_name() {
    assert_eq!((name::<Tagged<Apple>>(), name::<Wrapped<[u8; 2]>>()), ("Tagged", "Wrapped"));
}

#[test]
fn messages_have_the_names_of_their_arguments_too() {
    assert_eq!(<Either<Apple, u8> as NetSerialize>::WIRE_NAME, "Either<Apple, u8>");
}

#[test]
fn names_print_with_their_arguments_once() {
    let table = <Slot<Either<u8, Apple>>>::LAYOUT.to_string();
    assert!(table.contains(" Either<u8, Apple> ") && !table.contains("><"), "{table}");
}
