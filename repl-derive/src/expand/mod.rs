//! Expansion: generates code from input without mistakes.
//!
//! *Invariant:* generating code cannot fail. Every path starts at `::core` or at the path of `crate = "…"`,
//! so that generated code needs no prelude and does not depend on the user's names.

mod editor;
pub(crate) mod enclosure;
mod fast_array_item;
pub(crate) mod field;
mod location;
pub(crate) mod net_serialize;
mod replicated;
mod serializer;
mod structure;
pub(crate) mod stub;
mod variants;
mod wire_name;

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::ast::{Body, Container};
use crate::check;
use crate::derive::Derive;
use crate::error;

pub(crate) fn derive(derive: Derive, input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let (container, errors) = error::collect(|errors| {
        let container = Container::read(derive, &input, errors);
        check::check(&container, errors);
        container
    });
    let expansion = match (&errors, derive) {
        (Some(_), _) => stub::expand(&container),
        (None, Derive::Replicated) => match &container.body {
            Body::Enum(variants) => variants::expand(&container, variants),
            Body::Struct(_) | Body::Union => replicated::expand(&container),
        },
        (None, Derive::FastArrayItem) => fast_array_item::expand(&container),
        (None, Derive::NetSerialize | Derive::Rpcs) => net_serialize::expand(&container),
    };
    let errors = errors.map(syn::Error::into_compile_error);
    quote!(#errors #expansion)
}
