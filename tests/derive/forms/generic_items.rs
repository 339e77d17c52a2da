//! Generic items, items with raw names, and items in a crate that renames the library.

#![allow(non_camel_case_types)]

mod vendor {
    pub mod replication {
        pub use ::repl::*;
    }
}

/// Hides the name `repl`, so that generated code cannot use it.
#[allow(dead_code)]
mod repl {}

use std::marker::PhantomData;

use vendor::replication::{FastArray, FastArrayItem, ItemCallbacks, NetSerialize, Replicated};

trait Rules: Send + Sync + 'static {
    type Amount;
}

struct Plain;

impl Rules for Plain {
    type Amount = u16;
}

#[derive(FastArrayItem)]
#[replicated(crate = "crate::generic_items::vendor::replication")]
struct Stack<R: Rules, T = u8, const N: usize = 2>
where
    T: Default,
{
    amount: R::Amount,
    #[replicated(bits = 3)]
    sizes: [T; N],
    #[replicated(max_len = 16)]
    log: Vec<Option<T>>,
    #[replicated(skip)]
    rules: PhantomData<fn() -> R>,
}

impl<R: Rules, T: Default, const N: usize> Default for Stack<R, T, N>
where
    R::Amount: Default,
{
    fn default() -> Self {
        Self {
            amount: R::Amount::default(),
            sizes: std::array::from_fn(|_| T::default()),
            log: Vec::new(),
            rules: PhantomData,
        }
    }
}

#[derive(FastArrayItem, Default)]
#[replicated(crate = crate::generic_items::vendor::replication, callbacks)]
struct r#struct<T: Default>
where
    T: Copy,
{
    r#type: T,
    r#match: u8,
}

impl<T: Default + Copy> ItemCallbacks for r#struct<T> {
    fn post_replicated_add(&mut self) {
        self.r#match += 1;
    }
}

#[derive(Replicated, Default)]
#[replicated(crate = crate::generic_items::vendor::replication, all)]
struct Bag {
    stacks: FastArray<Stack<Plain>>,
    structs: FastArray<r#struct<i32>>,
}

#[test]
fn these_forms_are_accepted() {
    let mut bag = Bag::default();
    bag.stacks.push(Stack { amount: 5, sizes: [1, 2], log: vec![None, Some(3)], rules: PhantomData });
    bag.structs.push(r#struct { r#type: -1, r#match: 2 });
    bag.structs[0].post_replicated_add();
    assert_eq!((bag.stacks[0].amount, bag.structs[0].r#match), (5, 3));
    Bag::program();
    assert_eq!(r#struct::<u8>::WIRE_NAME, "struct<u8>");
    assert_eq!(r#struct::<u8>::LAYOUT.property_name(r#struct::<u8>::LAYOUT.property("type")), "type");
    assert_ne!(Stack::<Plain, u8, 4>::LAYOUT.checksum(), Stack::<Plain, u8, 5>::LAYOUT.checksum());
    assert_ne!(r#struct::<u8>::WIRE_FORM.checksum(), r#struct::<u16>::WIRE_FORM.checksum());
}
