//! Expansion: checked input to code.
//!
//! *Invariant:* no expansion fails; every path starts at `::core` or at the crate that the input names, so that neither a prelude nor
//! the user's names matter.

mod fast_array_item;
mod field;
mod net_serialize;
mod replicated;
mod structure;
mod stub;

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use crate::ast::{Container, Derive};
use crate::check;
use crate::error;

/// Does the whole work of one derive.
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
    match (errors, derive) {
        (Some(errors), _) => {
            let (errors, stub) = (errors.into_compile_error(), stub::expand(&container));
            quote!(#errors #stub)
        }
        (None, Derive::Replicated) => replicated::expand(&container),
        (None, Derive::FastArrayItem) => fast_array_item::expand(&container),
        (None, Derive::NetSerialize) => net_serialize::expand(&container),
    }
}

/// Puts items where they are nobody's neighbours.
fn enclosed(items: &TokenStream) -> TokenStream {
    quote! {
        #[doc(hidden)]
        #[allow(
            deprecated,
            non_camel_case_types,
            unused,
            unused_qualifications,
            clippy::all,
            clippy::pedantic,
            clippy::nursery,
            clippy::restriction
        )]
        const _: () = {
            #items
        };
    }
}
