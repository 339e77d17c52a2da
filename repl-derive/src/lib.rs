//! The derives of `repl`: [`Replicated`](macro@Replicated) for objects,
//! [`FastArrayItem`](macro@FastArrayItem) for items of fast arrays, [`NetSerialize`](macro@NetSerialize) for
//! values. The attribute [`rpcs`](macro@rpcs) makes functions of objects remote calls.
//!
//! Use the derives through `repl`, which re-exports them together with the traits of the same names. The
//! front page of `repl` explains numbers such as S1, R1 and W1 in descriptions. All derives read attributes
//! called `replicated`.
//!
//! *Invariant:* a derive generates data and one call. The arithmetic is in tested `const fn`s of `repl-core`,
//! and only this file uses `proc_macro`.
//!
//! The attributes are listed at [`Replicated`](macro@Replicated).
#![forbid(unsafe_code)]

mod ast;
mod attr;
mod check;
mod derive;
mod earlier;
mod error;
mod expand;
mod interpolate;
mod rpcs;
mod spelling;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

use crate::derive::Derive;

/// Makes a struct an object: its `#[replicated]` fields are replicated to clients. Makes an enum a part of
/// objects: the `#[replicated]` fields of its active variant are replicated one by one.
///
/// For a struct, implements `Property`, `NetSerialize` and `Replicated`. The struct must implement `Default`,
/// and all its fields must be `Send` and `Sync`. If the struct has `#[replicated(callbacks)]`, implement
/// `Callbacks` for it.
///
/// For an enum, implements `Property` and `NetSerialize`. When another variant becomes active, all its
/// replicated fields are sent together. A client makes the variant from nothing, so fields that are not
/// replicated must implement `Default`, and so must fields with `with` or `as`. The initial value of the enum
/// in new elements is the variant marked `#[default]`, or else the first. An enum that derives only
/// [`NetSerialize`](macro@NetSerialize) is always sent whole. The attributes `condition`, `notify`, `push`
/// and `location` are written on the field of the object that holds the enum.
#[doc = ""]
#[doc = include_str!("../attributes.md")]
#[proc_macro_derive(Replicated, attributes(replicated))]
pub fn derive_replicated(input: TokenStream) -> TokenStream {
    derived(Derive::Replicated, input)
}

/// Makes a struct an item of fast arrays: every field without `skip` is compared, sent and reported to
/// callbacks separately.
///
/// Only structs can be items, and only with this derive. A struct that derives only `Replicated` or
/// `NetSerialize` is not an item, and neither is an enum. Such types can be fields of items.
///
/// Implements `Property`, `NetSerialize` and `FastArrayItem`. The struct must implement `Default`. If the
/// struct has `#[replicated(callbacks)]`, implement `ItemCallbacks` for it. The attributes are listed at
/// [`Replicated`](macro@Replicated).
///
/// An item can also be a field of an object or of another item. Then each of its fields becomes a separate
/// property, as with a struct that derives `Replicated`. One of the derives is enough, and two derives on one
/// type are an error. For types that are spawned on their own, derive [`Replicated`](macro@Replicated)
/// instead.
#[proc_macro_derive(FastArrayItem, attributes(replicated))]
pub fn derive_fast_array_item(input: TokenStream) -> TokenStream {
    derived(Derive::FastArrayItem, input)
}

/// Makes a struct or an enum a value that is sent as a unit (always whole): every field without `skip` is
/// sent, in the order of declaration.
///
/// Implements `NetSerialize` and `Property`, so that the type can be a field. The type must implement
/// `Clone`. The key of a `HashMap` must also implement `Eq` and `Hash`, and the key of a `BTreeMap` `Ord`.
/// The initial value of a struct contains the initial value of each field. The initial value of an enum is
/// the variant marked `#[default]`, or else the first.
///
/// The constant `WIRE_FORM` is the table of everything that is sent. Print it in a snapshot test to see in a
/// review which fields or variants were changed.
#[proc_macro_derive(NetSerialize, attributes(replicated))]
pub fn derive_net_serialize(input: TokenStream) -> TokenStream {
    derived(Derive::NetSerialize, input)
}

/// Interpolates between two values of a struct, field by field.
///
/// Implements `Interpolate`, so all fields must implement it, except fields with `#[interpolate(step)]`. Such
/// a field has its old value until the next value is reached. This derive does not accept enums, so implement
/// `Interpolate` by hand for them. Do the same for the type of a field that must not change in a straight
/// line, such as an angle.
#[proc_macro_derive(Interpolate, attributes(interpolate))]
pub fn derive_interpolate(input: TokenStream) -> TokenStream {
    interpolate::derive(input.into()).into()
}

/// Makes functions of an object remote calls: one side calls them, and the other side runs them.
#[doc = ""]
#[doc = include_str!("../calls.md")]
#[proc_macro_attribute]
pub fn rpcs(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let file = proc_macro::Span::call_site().local_file();
    rpcs::rpcs(arguments.into(), item.into(), file.as_deref()).into()
}

/// Marks a function as a remote call. This attribute works only inside an `impl` block with
/// [`#[rpcs]`](macro@rpcs), which reads it.
#[proc_macro_attribute]
pub fn rpc(_: TokenStream, item: TokenStream) -> TokenStream {
    rpcs::rpc(item.into()).into()
}

/// Runs a derive, unless another derive of this crate comes before it.
fn derived(derive: Derive, input: TokenStream) -> TokenStream {
    let (input, file) = (input.into(), proc_macro::Span::call_site().local_file());
    match file.and_then(|file| earlier::refusal(derive, &input, &file)) {
        Some(error) => error.into_compile_error().into(),
        None => expand::derive(derive, input).into(),
    }
}
