//! The enclosure: the block around all items of an expansion.
//!
//! *Invariant:* names of items in the block are invisible outside, and no lint checks the block.

use proc_macro2::TokenStream;
use quote::quote;

use crate::ast::Container;

/// Two derives for one type conflict in every trait that both implement. This implementation makes the
/// compiler's error say which derive to keep.
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

/// Puts items into a block of their own, so that they conflict with no other names.
pub(super) fn enclosed(container: &Container<'_>, items: &TokenStream) -> TokenStream {
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
