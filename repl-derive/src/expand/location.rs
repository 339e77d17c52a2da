//! Generates the implementation of `Located` for an object with a `location` field.
//!
//! *Invariant:* an error about the type of the position points at this type.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Generics, parse_quote};

use super::field;
use crate::ast::{Container, Field};

/// Returns the implementation, or `None` if no field has the attribute `location`. `generics` are the same as
/// for the other implementations.
pub(super) fn expand(container: &Container<'_>, generics: &Generics) -> Option<TokenStream> {
    let located = located(container)?;
    let (span, ty) = (field::generated_span(located.ty.span()), field::type_of(container, located));
    let (private, own_private) = (field::private_at(container, span), container.private());
    let mut generics = generics.clone();
    if container.depends_on_parameters(located.ty) {
        generics.make_where_clause().predicates.push(parse_quote!(#ty: #own_private::Coordinates));
    }
    let (ident, member) = (container.ident(), &located.member);
    let (declared, parameters, bounds) = generics.split_for_impl();
    let is_flat = quote_spanned!(span=> <#ty as #private::Coordinates>::IS_FLAT);
    let location = quote_spanned!(span=> <#ty as #private::Coordinates>::coordinates(&self.#member));
    Some(quote! {
        #[automatically_derived]
        impl #declared #own_private::Located for #ident #parameters #bounds {
            const IS_FLAT: ::core::primitive::bool = #is_flat;

            fn location(&self) -> [::core::primitive::f32; 3] {
                #location
            }
        }
    })
}

/// Returns the implementation that is generated after an error, instead of the normal implementation.
pub(super) fn stub(container: &Container<'_>, generics: &Generics) -> Option<TokenStream> {
    located(container)?;
    let (private, ident) = (container.private(), container.ident());
    let (declared, parameters, bounds) = generics.split_for_impl();
    Some(quote! {
        impl #declared #private::Located for #ident #parameters #bounds {
            const IS_FLAT: ::core::primitive::bool = true;

            fn location(&self) -> [::core::primitive::f32; 3] {
                ::core::unreachable!()
            }
        }
    })
}

fn located<'c, 'a>(container: &'c Container<'a>) -> Option<&'c Field<'a>> {
    container.fields().into_iter().find(|field| field.attrs.location.is_some())
}
