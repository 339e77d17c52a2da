//! The expansion of `#[derive(Replicated)]`.
//!
//! *Invariant:* the generated code is one table, one call that flattens the table, and one call for each
//! notify. The generated code makes no decisions at run time.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Generics, Ident, Path};

use super::enclosure::enclosed;
use super::{editor, field, location, structure};
use crate::ast::{Container, Field, mentions};

pub(super) fn expand(container: &Container<'_>) -> TokenStream {
    let generics = structure::generics(container);
    let structure = structure::expand(container, &generics);
    let missing = missing_methods(container, &generics);
    let replicated = replicated(container, &generics);
    let located = location::expand(container, &generics);
    let shared = shared_fields(container);
    let editor = editor::expand(container, &generics);
    enclosed(container, &quote!(#shared #structure #missing #replicated #editor #located))
}

/// Checks that fields with types that need not implement `Property` are `Send` and `Sync`. Without this
/// check, the error for such a field would point at the whole struct. The check is a struct before all other
/// generated items, so that its error comes first. In a generic type, only fields that do not depend on its
/// parameters are checked.
fn shared_fields(container: &Container<'_>) -> TokenStream {
    let is_property = |field: &Field<'_>| container.sends(field) && !field.attrs.has_serializer();
    let checked: Vec<_> = container
        .fields()
        .into_iter()
        .filter(|field| !is_property(field) && !container.depends_on_parameters(field.ty))
        .filter(|field| !(container.is_generic() && mentions_self(field)))
        .map(|field| {
            let span = field::generated_span(field.ty.span());
            let (private, ty) = (field::private_at(container, span), field::type_of(container, field));
            quote_spanned!(span=> #private::InAnObjectOf<#ty>)
        })
        .collect();
    if checked.is_empty() {
        return TokenStream::new();
    }
    quote!(struct __Shared(#(#checked),*);)
}

/// Returns whether the type of a field contains `Self`, and therefore the parameters of the struct.
fn mentions_self(field: &Field<'_>) -> bool {
    mentions(field.ty.to_token_stream(), &Ident::new("Self", Span::call_site()))
}

fn replicated(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let (private, ident) = (container.private(), container.ident());
    let (declared, parameters, bounds) = generics.split_for_impl();
    let program = if container.is_generic() {
        quote!(#private::Program::build(<Self as #private::Replicated>::LAYOUT))
    } else {
        quote!(#private::static_program!(__LAYOUT))
    };
    // In a generic type, the result would depend on the type arguments.
    let has_fast_arrays =
        if container.is_generic() { quote!(false) } else { quote!({ __LAYOUT.has_fast_arrays() }) };
    let arms: Vec<_> = container
        .sent()
        .into_iter()
        .enumerate()
        .filter_map(|(index, field)| {
            let notify = &field.attrs.notify.as_ref()?.value;
            let span = field::generated_span(notify.segments.last()?.ident.span());
            let (private, method) = (field::private_at(container, span), called(notify, span));
            let (member, ty) = (&field.member, field::type_of(container, field));
            let unit = field.attrs.has_serializer() || field.attrs.atomic.is_some();
            let fits =
                (!unit).then(|| quote_spanned!(span=> #private::NotifyOf::<Self, #ty>::fits(&notify);));
            let call = Ident::new(if unit { "call" } else { "call_by_parts" }, span);
            Some(quote_spanned! {span=>
                #index => {
                    let notify = #method;
                    #fits
                    #private::Notified::<Self, #ty, _>::#call(notify, self, &old.#member);
                }
            })
        })
        .collect();
    let notify = if arms.is_empty() {
        quote!(
            fn notify(&mut self, _: ::core::primitive::usize, _: &Self) {}
        )
    } else {
        quote! {
            fn notify(&mut self, field: ::core::primitive::usize, old: &Self) {
                use #private::NotifyOfAny as _;
                match field {
                    #(#arms)*
                    _ => {}
                }
            }
        }
    };
    let (callback_policy, layout) = (structure::callback_policy(container), structure::layout(container));
    let edit = editor::of_replicated(container);
    quote! {
        #[automatically_derived]
        impl #declared #private::Replicated for #ident #parameters #bounds {
            const LAYOUT: &'static #private::LayoutOf<Self> = &#private::LayoutOf::new(#layout);

            #callback_policy

            type FastArrays = #private::FastArrays<#has_fast_arrays>;

            fn program() -> #private::Program {
                #program
            }

            #edit

            #notify
        }
    }
}

/// Returns the function that a notify names. A single name is a method of the object, and a longer path is
/// any function.
fn called(notify: &Path, span: Span) -> TokenStream {
    match notify.get_ident() {
        Some(method) => quote_spanned!(span=> Self::#method),
        None => quote!(#notify),
    }
}

/// Generates, for each method that a notify names, a trait method of the same name that cannot be called. If
/// the user has defined the method, the compiler prefers the user's method. Otherwise, the compiler's error
/// contains our advice. For each method, also generates an empty type with the name of the method.
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
