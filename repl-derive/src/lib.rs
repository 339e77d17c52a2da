//! The derives of `repl`: [`Replicated`](macro@Replicated) for objects, [`FastArrayItem`](macro@FastArrayItem) for items of fast arrays,
//! [`NetSerialize`](macro@NetSerialize) for values.
//!
//! Use them through `repl`, which re-exports them beside the traits of the same names, and whose front page says what the numbers S1, R1 and W1
//! of descriptions mean. All read attributes called `replicated`.
//!
//! *Invariant:* a derive emits data and one call; the arithmetic lives in tested `const fn`s of `repl-core`, and only this file
//! sees `proc_macro`.
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

/// Makes a struct an object: what its `#[replicated]` fields hold, clients come to hold.
///
/// Implements `Property`, `NetSerialize` and `Replicated`. The struct needs `Default`, and all its fields are `Send`. With
/// `#[replicated(callbacks)]` you write `impl Callbacks for` it.
#[doc = ""]
#[doc = include_str!("../attributes.md")]
#[proc_macro_derive(Replicated, attributes(replicated))]
pub fn derive_replicated(input: TokenStream) -> TokenStream {
    expand::derive(Derive::Replicated, input.into()).into()
}

/// Makes a struct an item of fast arrays: every field that does not say `skip` is compared, sent and told of by itself.
///
/// Only structs are items, and only by this derive: one that says `Replicated` or `NetSerialize` alone is none, nor is an enum. They stand in the
/// fields of items.
///
/// Implements `Property`, `NetSerialize` and `FastArrayItem`. The struct needs `Default`. With `#[replicated(callbacks)]` you write
/// `impl ItemCallbacks for` it. The attributes are listed at [`Replicated`](macro@Replicated).
///
/// An item can be a field of an object or of another item, too, and is flattened there like a struct that derives `Replicated`: one derive
/// is enough, and two for one type are an error. Only what is spawned by itself derives [`Replicated`](macro@Replicated).
#[proc_macro_derive(FastArrayItem, attributes(replicated))]
pub fn derive_fast_array_item(input: TokenStream) -> TokenStream {
    expand::derive(Derive::FastArrayItem, input.into()).into()
}

/// Makes a struct or an enum a value that travels as a unit: every field that does not say `skip`, in order.
///
/// Implements `NetSerialize` and `Property`, so that the type can be a field. The type needs `Clone`; as the key of a `HashMap` also `Eq` and
/// `Hash`, of a `BTreeMap` `Ord`. A fresh value is made of fresh
/// fields; of an enum it is the variant marked `#[default]`, else the first. The attributes are listed at [`Replicated`](macro@Replicated).
#[proc_macro_derive(NetSerialize, attributes(replicated))]
pub fn derive_net_serialize(input: TokenStream) -> TokenStream {
    expand::derive(Derive::NetSerialize, input.into()).into()
}
