//! The derives of `repl`: [`Replicated`](macro@Replicated) for objects, [`NetSerialize`](macro@NetSerialize) for values.
//!
//! Use them through `repl`, which re-exports them beside the traits of the same names. Both read attributes called `replicated`.
//!
//! *Invariant:* a derive emits data and one call; the arithmetic lives in tested `const fn`s of `repl-core`, and only this file
//! sees `proc_macro`.
//!
//! # Attributes of a type
//!
//! | write | and |
//! |---|---|
//! | `all` | every field is replicated, but those that say `skip` (`Replicated` only) |
//! | `name = "…"` | the type is called so on the wire |
//! | `callbacks` | you write `impl Callbacks` yourself (`Replicated` only) |
//! | `crate = "…"` | the generated code finds `repl` under this path |
//!
//! # Attributes of a field
//!
//! | write | and the field | in |
//! |---|---|---|
//! | nothing: `#[replicated]` | is replicated | `Replicated` |
//! | `skip` | stays here | both |
//! | `name = "…"` | is called so on the wire; a variant of an enum can say it too | both |
//! | `condition = OwnerOnly` | goes only where the condition holds | `Replicated` |
//! | `notify = method` | calls `fn method(&mut self)` or `fn method(&mut self, old: &Type)` on clients | `Replicated` |
//! | `notify_always` | calls it at every receipt, also of the same value | `Replicated` |
//! | `push` | is compared only when it is marked dirty | `Replicated` |
//! | `quantize(step = 0.01, range = -1.0..=1.0)` | is a float that travels as a number of steps | both |
//! | `quantize(smallest_three = 10)` | is a unit quaternion, three components of 10 bits | both |
//! | `quantize(unit_vector = 12)` | is a unit vector, two coordinates of 12 bits | both |
//! | `bits = 5` | is an integer of 5 bits | both |
//! | `range = 0..=100` | is an integer between two bounds | both |
//! | `saturate` | brings a value out of range to the nearest bound; without it such a value is refused | both |
//! | `max_len = 64` | is a string of at most 64 bytes, or a `Vec` of at most 64 elements | both |
//! | `with = module` | is written and read by `module::write` and `module::read` | both |
//! | `atomic` | travels as a unit, if it is a struct | both |

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
/// `Default`. The attributes are listed at the head of this crate.
#[proc_macro_derive(Replicated, attributes(replicated))]
pub fn derive_replicated(input: TokenStream) -> TokenStream {
    expand::derive(Derive::Replicated, input.into()).into()
}

/// Makes a struct or an enum a value that travels as a unit: every field that does not say `skip`, in order.
///
/// Implements `NetSerialize` and `Property`, so that the type can be a field. The type needs `Clone`. A fresh value is made of fresh
/// fields; of an enum it is the variant marked `#[default]`, else the first. The attributes are listed at the head of this crate.
#[proc_macro_derive(NetSerialize, attributes(replicated))]
pub fn derive_net_serialize(input: TokenStream) -> TokenStream {
    expand::derive(Derive::NetSerialize, input.into()).into()
}
