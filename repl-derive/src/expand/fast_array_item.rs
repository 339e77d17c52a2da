//! The expansion of `#[derive(FastArrayItem)]`.
//!
//! *Invariant:* the table and the layout of an item are the same as for an object with the same fields. An
//! item has no program and no notify.

use proc_macro2::TokenStream;
use quote::quote;

use super::enclosure::enclosed;
use super::structure;
use crate::ast::Container;

pub(super) fn expand(container: &Container<'_>) -> TokenStream {
    let (private, ident, generics) = (container.private(), container.ident(), structure::generics(container));
    let structure = structure::expand(container, &generics);
    let callback_policy = structure::callback_policy(container);
    let (declared, parameters, bounds) = generics.split_for_impl();
    enclosed(
        container,
        &quote! {
            #structure

            #[automatically_derived]
            impl #declared #private::FastArrayItem for #ident #parameters #bounds {
                const LAYOUT: &'static #private::Layout = &#private::Layout::of::<Self>();

                #callback_policy
            }
        },
    )
}
