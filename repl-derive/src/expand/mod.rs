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
    let expansion = match (&errors, derive) {
        (Some(_), _) => stub::expand(&container),
        (None, Derive::Replicated) => replicated::expand(&container),
        (None, Derive::FastArrayItem) => fast_array_item::expand(&container),
        (None, Derive::NetSerialize) => net_serialize::expand(&container),
    };
    let errors = errors.map(syn::Error::into_compile_error);
    quote!(#errors #expansion)
}

/// Two derives for one type conflict in every trait that both implement; here the compiler's words for that say which to keep.
fn only_one(container: &Container<'_>) -> TokenStream {
    let (private, ident) = (container.private(), container.ident());
    let (declared, parameters, bounds) = container.generics().split_for_impl();
    quote! {
        #[automatically_derived]
        impl #declared
            #private::OnlyOneDerive<
                #private::ReplicatedForObjects,
                #private::FastArrayItemForItemsAndFields,
                #private::NetSerializeForUnits,
            > for #ident #parameters #bounds
        {
        }
    }
}

/// Puts items where they are nobody's neighbours.
fn enclosed(container: &Container<'_>, items: &TokenStream) -> TokenStream {
    let only_one = only_one(container);
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
            #only_one

            #items
        };
    }
}
