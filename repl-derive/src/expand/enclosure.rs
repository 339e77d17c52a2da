//! Puts the generated items of a derive into a separate block.
//!
//! *Invariant:* names of generated items are not visible outside the block, and no lint checks the block.

use proc_macro2::TokenStream;
use quote::quote;

use crate::ast::Container;

/// Returns an implementation that conflicts if a type has two derives of this crate. The compiler's error
/// then says which derive to keep.
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

/// Puts generated items into a separate block, so that their names do not conflict with names of the user.
pub(crate) fn enclosed(container: &Container<'_>, items: &TokenStream) -> TokenStream {
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
