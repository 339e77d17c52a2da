//! The derives of `repl`: [`Replicated`](macro@Replicated) for objects, [`FastArrayItem`](macro@FastArrayItem) for items of fast arrays,
//! [`NetSerialize`](macro@NetSerialize) for values.
//!
//! Use them through `repl`, which re-exports them beside the traits of the same names. All read attributes called `replicated`.
//!
//! *Invariant:* a derive emits data and one call; the arithmetic lives in tested `const fn`s of `repl-core`, and only this file
//! sees `proc_macro`.
//!
//! The attributes are listed at [`Replicated`](macro@Replicated).

mod ast;
mod attr;
mod check;
mod condition;
mod error;
mod expand;
mod item;
mod number;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

use crate::ast::Derive;

/// Makes a struct an object: what its `#[replicated]` fields hold, clients come to hold.
///
/// Implements `Property`, `NetSerialize`, `Callbacks` (unless the struct says `callbacks`) and `Replicated`. The struct needs
/// `Default`.
#[doc = ""]
#[doc = include_str!("../attributes.md")]
#[proc_macro_derive(Replicated, attributes(replicated))]
pub fn derive_replicated(input: TokenStream) -> TokenStream {
    expand::derive(Derive::Replicated, input.into()).into()
}

/// Makes a struct an item of fast arrays: every field that does not say `skip` is compared, sent and told of by itself.
///
/// Implements `Property`, so that the struct can be a field too, `NetSerialize`, `ItemCallbacks` (unless the struct says `callbacks`) and
/// `FastArrayItem`. The struct needs `Default`. The attributes are listed at [`Replicated`](macro@Replicated).
#[proc_macro_derive(FastArrayItem, attributes(replicated))]
pub fn derive_fast_array_item(input: TokenStream) -> TokenStream {
    expand::derive(Derive::FastArrayItem, input.into()).into()
}

/// Makes a struct or an enum a value that travels as a unit: every field that does not say `skip`, in order.
///
/// Implements `NetSerialize` and `Property`, so that the type can be a field. The type needs `Clone`. A fresh value is made of fresh
/// fields; of an enum it is the variant marked `#[default]`, else the first. The attributes are listed at [`Replicated`](macro@Replicated).
#[proc_macro_derive(NetSerialize, attributes(replicated))]
pub fn derive_net_serialize(input: TokenStream) -> TokenStream {
    expand::derive(Derive::NetSerialize, input.into()).into()
}
