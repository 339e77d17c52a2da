//! The expansion of `#[derive(Replicated)]`.
//!
//! *Invariant:* the output is one table, one call that flattens it, and one call for each notify; it decides nothing at run time.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Generics, Ident, Path, parse_quote};

use super::{enclosed, field};
use crate::ast::{Container, Field};

pub(super) fn expand(container: &Container<'_>) -> TokenStream {
    let (ident, (_, parameters, _)) = (container.ident(), container.generics().split_for_impl());
    let generics =
        field::generics(container, vec![parse_quote!(#ident #parameters: ::core::default::Default)]);
    let serializers = field::serializers(container, &generics);
    let property = property(container, &generics);
    let net_serialize = net_serialize(container, &generics);
    let callbacks = callbacks(container, &generics);
    let missing = missing_methods(container, &generics);
    let replicated = replicated(container, &generics);
    enclosed(&quote!(#serializers #property #net_serialize #callbacks #missing #replicated))
}

/// The table of the struct, and where its objects start.
fn property(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let (private, ident, name) = (container.private(), container.ident(), container.wire_name());
    let (declared, parameters, bounds) = generics.split_for_impl();
    let fields = container.sent().into_iter().enumerate().map(|(index, field)| {
        let member = &field.member;
        field::entry(container, field, index, &quote!(::core::mem::offset_of!(Self, #member)))
    });
    let span = field::here(ident.span());
    let initial = quote_spanned!(span=> <Self as ::core::default::Default>::default());
    let types = container.sent().into_iter().map(|field| {
        let (member, ty) = (&field.member, field::type_of(container, field));
        quote!(let _: *const #ty = &raw const object.#member;)
    });
    // `unsafe` is spanned by `quote!` at the derive itself, so that a crate that forbids unsafe code can derive. It holds because each entry
    // takes the offset of a member and the shape of that member's type. That the member has this type is not taken on trust from the input,
    // which an attribute macro may yet change: the closure compiles only if it is so, raw pointers being coerced to no other type.
    quote! {
        #[automatically_derived]
        unsafe impl #declared #private::Property for #ident #parameters #bounds {
            const SHAPE: &'static #private::Shape = {
                let _: fn(&Self) = |object| {
                    #(#types)*
                };
                &#private::Shape::structure::<Self>(#name, &[#(#fields),*])
            };

            fn initial() -> Self {
                #initial
            }
        }
    }
}

/// The whole object as a value: every replicated field in order.
fn net_serialize(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let (private, ident, name) = (container.private(), container.ident(), container.wire_name());
    let (declared, parameters, bounds) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #declared #private::NetSerialize for #ident #parameters #bounds {
            const WIRE_NAME: &'static ::core::primitive::str = #name;
            const WIRE_CHECKSUM: ::core::primitive::u64 = <Self as #private::Replicated>::LAYOUT.checksum();

            fn write(
                &self,
                writer: &mut #private::BitWriter,
            ) -> ::core::result::Result<(), #private::WriteError> {
                #private::write_whole(self, writer)
            }

            fn read(
                reader: &mut #private::BitReader<'_>,
                references: &mut #private::ReferenceMap<'_>,
            ) -> ::core::result::Result<Self, #private::ReadError> {
                #private::read_whole(reader, references)
            }

            fn identical(&self, other: &Self) -> ::core::primitive::bool {
                #private::identical(self, other)
            }
        }
    }
}

/// An empty implementation, unless the user writes it.
fn callbacks(container: &Container<'_>, generics: &Generics) -> Option<TokenStream> {
    let (private, ident) = (container.private(), container.ident());
    let (declared, parameters, bounds) = generics.split_for_impl();
    let derived = quote! {
        #[automatically_derived]
        impl #declared #private::Callbacks for #ident #parameters #bounds {
            const HAS_CALLBACKS: ::core::primitive::bool = false;
        }
    };
    container.attrs.callbacks.is_none().then_some(derived)
}

fn replicated(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let (private, ident) = (container.private(), container.ident());
    let (declared, parameters, bounds) = generics.split_for_impl();
    let program = if container.is_generic() {
        quote!(#private::Program::build(<Self as #private::Replicated>::LAYOUT))
    } else {
        quote!(#private::static_program!(#ident))
    };
    let arms: Vec<_> = container
        .sent()
        .into_iter()
        .enumerate()
        .filter_map(|(index, field)| {
            let notify = &field.attrs.notify.as_ref()?.value;
            let span = field::here(notify.segments.last()?.ident.span());
            let (private, method) = (field::private_at(container, span), called(notify, span));
            let (member, ty) = (&field.member, field::type_of(container, field));
            Some(quote_spanned!(span=>
                #index => #private::Notified::<Self, #ty, _>::call(#method, self, &old.#member),
            ))
        })
        .collect();
    let notify = if arms.is_empty() {
        quote!(
            fn notify(&mut self, _: ::core::primitive::usize, _: &Self) {}
        )
    } else {
        quote! {
            fn notify(&mut self, field: ::core::primitive::usize, old: &Self) {
                match field {
                    #(#arms)*
                    _ => {}
                }
            }
        }
    };
    quote! {
        #[automatically_derived]
        impl #declared #private::Replicated for #ident #parameters #bounds {
            const LAYOUT: &'static #private::Layout = &#private::Layout::of::<Self>();

            fn program() -> #private::Program {
                #program
            }

            #notify
        }
    }
}

/// A name alone is a method of the object; a path is any function.
fn called(notify: &Path, span: Span) -> TokenStream {
    match notify.get_ident() {
        Some(method) => quote_spanned!(span=> Self::#method),
        None => quote!(#notify),
    }
}

/// For each method that a notify names, a trait's method of that name which can never be called: an inherent method goes before it, and
/// where there is none the compiler says in our words what to write. Empty types stand for the methods' names.
fn missing_methods(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let mut names: Vec<Ident> = Vec::new();
    let mut fallbacks = TokenStream::new();
    for field in container.sent() {
        let Some(method) = field.attrs.notify.as_ref().and_then(|notify| notify.value.get_ident()) else {
            continue;
        };
        if !names.contains(method) {
            let mut name = method.clone();
            name.set_span(Span::call_site());
            fallbacks.extend(missing_method(container, generics, field, &name, names.len()));
            names.push(name);
        }
    }
    if names.is_empty() {
        return fallbacks;
    }
    quote! {
        mod __methods {
            #(pub(super) enum #names {})*
        }

        #fallbacks
    }
}

fn missing_method(
    container: &Container<'_>,
    generics: &Generics,
    field: &Field<'_>,
    method: &Ident,
    index: usize,
) -> TokenStream {
    let (private, ident) = (container.private(), container.ident());
    let (declared, parameters, bounds) = generics.split_for_impl();
    let (fallback, ty) = (format_ident!("__Fallback{}", index), field::type_of(container, field));
    quote! {
        trait #fallback<Old> {
            fn #method(&mut self)
            where
                Self: #private::HasMethod<__methods::#method, Old>,
            {
            }
        }

        impl #declared #fallback<#ty> for #ident #parameters #bounds {}
    }
}
