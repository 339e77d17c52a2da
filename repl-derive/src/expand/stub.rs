//! Stubs: code that a derive generates instead if the input has a mistake.
//!
//! *Invariant:* a stub implements every trait that the derive would implement, without bounds on the fields.
//! So code that uses the type causes no further errors. A stub never runs, because the reported error stops
//! the build.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Generics, WherePredicate, parse_quote};

use super::enclosure::enclosed;
use super::{editor, location};
use crate::ast::Container;
use crate::derive::Derive;

pub(super) fn expand(container: &Container<'_>) -> TokenStream {
    let mut generics = container.generics().clone();
    if generics.lifetimes().next().is_some() {
        // A type with lifetimes gets no stub, because the traits of this library cannot be implemented for
        // it.
        return TokenStream::new();
    }
    let owned: Vec<WherePredicate> = generics
        .type_params()
        .map(|parameter| &parameter.ident)
        .map(|ident| parse_quote!(#ident: ::core::marker::Send + ::core::marker::Sync + 'static))
        .collect();
    generics.make_where_clause().predicates.extend(owned);
    let is_object = container.derive == Derive::Replicated && !container.is_enum();
    if container.is_generic() && is_object {
        let (ident, (_, parameters, _)) = (container.ident(), container.generics().split_for_impl());
        let has_default = parse_quote!(#ident #parameters: ::core::default::Default);
        generics.make_where_clause().predicates.push(has_default);
    }
    let value = value(container, &generics);
    let own = match container.derive {
        Derive::Replicated if is_object => object(container, &generics),
        Derive::FastArrayItem => item(container, &generics),
        Derive::Replicated | Derive::NetSerialize | Derive::Rpcs => TokenStream::new(),
    };
    enclosed(container, &quote!(#value #own))
}

/// Returns the stubs that every derive needs.
pub(crate) fn value(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let (private, ident) = (container.private(), container.ident());
    let (declared, parameters, bounds) = generics.split_for_impl();
    quote! {
        unsafe impl #declared #private::Property for #ident #parameters #bounds {
            const SHAPE: &'static #private::Shape = &#private::Shape::structure::<Self>("", &[]);

            fn initial() -> Self {
                ::core::unreachable!()
            }
        }

        impl #declared #private::NetSerialize for #ident #parameters #bounds {
            const WIRE_NAME: &'static ::core::primitive::str = "";

            fn write(&self, _: &mut #private::BitWriter) -> ::core::result::Result<(), #private::WriteError> {
                ::core::unreachable!()
            }

            fn read(
                _: &mut #private::BitReader<'_>,
                _: &mut #private::ReferenceMap<'_>,
            ) -> ::core::result::Result<Self, #private::ReadError> {
                ::core::unreachable!()
            }
        }
    }
}

fn object(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let (private, ident) = (container.private(), container.ident());
    let (declared, parameters, bounds) = generics.split_for_impl();
    let located = location::stub(container, generics);
    let (editor, edit) = (editor::stub(container, generics), editor::of_replicated(container));
    quote! {
        #located
        #editor

        impl #declared #private::SaysCallbacks for #ident #parameters #bounds {}

        impl #declared #private::Replicated for #ident #parameters #bounds {
            const LAYOUT: &'static #private::LayoutOf<Self> =
                &#private::LayoutOf::new(&#private::Layout::of::<Self>());

            type CallbackPolicy = #private::NoCallbacks;

            type FastArrays = #private::FastArrays<false>;

            fn program() -> #private::Program {
                ::core::unreachable!()
            }

            #edit

            fn notify(&mut self, _: ::core::primitive::usize, _: &Self) {}
        }
    }
}

fn item(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let (private, ident) = (container.private(), container.ident());
    let (declared, parameters, bounds) = generics.split_for_impl();
    quote! {
        impl #declared #private::SaysItemCallbacks for #ident #parameters #bounds {}

        impl #declared #private::FastArrayItem for #ident #parameters #bounds {
            const LAYOUT: &'static #private::Layout = &#private::Layout::of::<Self>();

            type CallbackPolicy = #private::NoCallbacks;
        }
    }
}
