//! The derives of `repl`: [`Replicated`](macro@Replicated) for objects,
//! [`FastArrayItem`](macro@FastArrayItem) for items of fast arrays, [`NetSerialize`](macro@NetSerialize) for
//! values.
//!
//! Use them through `repl`, which re-exports them beside the traits of the same names. Its front page
//! explains numbers such as S1, R1 and W1 in descriptions. All derives read attributes called `replicated`.
//!
//! *Invariant:* a derive emits data and one call. The arithmetic is in tested `const fn`s of `repl-core`, and
//! only this file uses `proc_macro`.
//!
//! The attributes are listed at [`Replicated`](macro@Replicated).
#![forbid(unsafe_code)]

mod ast;
mod attr;
mod check;
mod derive;
mod error;
mod expand;
mod spelling;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

use crate::derive::Derive;

/// Makes a struct an object: its `#[replicated]` fields are replicated to clients.
///
/// Implements `Property`, `NetSerialize` and `Replicated`. The struct must implement `Default`, and all its
/// fields must be `Send` and `Sync`. With `#[replicated(callbacks)]`, write `impl Callbacks for` it.
#[doc = ""]
#[doc = include_str!("../attributes.md")]
#[proc_macro_derive(Replicated, attributes(replicated))]
pub fn derive_replicated(input: TokenStream) -> TokenStream {
    expand::derive(Derive::Replicated, input.into()).into()
}

/// Makes a struct an item of fast arrays: every field without `skip` is compared, sent and reported to
/// callbacks separately.
///
/// Only structs can be items, and only with this derive. A struct that derives only `Replicated` or
/// `NetSerialize` is not an item, and neither is an enum. Fields of items can hold them.
///
/// Implements `Property`, `NetSerialize` and `FastArrayItem`. The struct must implement `Default`. With
/// `#[replicated(callbacks)]`, write `impl ItemCallbacks for` it. The attributes are listed at
/// [`Replicated`](macro@Replicated).
///
/// An item can also be a field of an object or of another item. There it is flattened like a struct that
/// derives `Replicated`. One derive is enough, and two for one type are an error. Derive
/// [`Replicated`](macro@Replicated) only for types that are spawned on their own.
#[proc_macro_derive(FastArrayItem, attributes(replicated))]
pub fn derive_fast_array_item(input: TokenStream) -> TokenStream {
    expand::derive(Derive::FastArrayItem, input.into()).into()
}

/// Makes a struct or an enum a value that is sent as a unit: every field without `skip`, in order.
///
/// Implements `NetSerialize` and `Property`, so that the type can be a field. The type must implement
/// `Clone`; as the key of a `HashMap` also `Eq` and `Hash`, as the key of a `BTreeMap` also `Ord`. The
/// initial value has initial values in its fields. For an enum, it is the variant marked `#[default]`, or
/// else the first. The attributes are listed at [`Replicated`](macro@Replicated).
#[proc_macro_derive(NetSerialize, attributes(replicated))]
pub fn derive_net_serialize(input: TokenStream) -> TokenStream {
    expand::derive(Derive::NetSerialize, input.into()).into()
}
