//! Generates the code that objects and items share: the table of the struct, the struct as a value, and its
//! callbacks.
//!
//! *Invariant:* the tables of items and objects are generated in the same way. Only the names of the traits
//! differ.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Generics, parse_quote};

use super::{field, serializer, wire_name};
use crate::ast::Container;
use crate::derive::Derive;

/// Returns the type's generic parameters, with the bounds that its fields and its initial value need.
pub(super) fn generics(container: &Container<'_>) -> Generics {
    let (ident, (_, parameters, _)) = (container.ident(), container.generics().split_for_impl());
    field::generics(container, vec![parse_quote!(#ident #parameters: ::core::default::Default)])
}

/// Returns all generated code except the implementation of `Replicated` or `FastArrayItem`.
pub(super) fn expand(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let serializers = serializer::expand(container, generics);
    let property = property(container, generics);
    let net_serialize = net_serialize(container, generics, &wire_form(container));
    let callback_marker = callback_marker(container);
    let layout = constant_layout(container);
    quote!(#serializers #layout #property #net_serialize #callback_marker)
}

/// Returns the layout of an object without generic parameters, as a constant. All generated traits use this
/// constant, so the compiler evaluates it once. The constant is outside of all traits, so that an error in
/// the type is reported only once.
fn constant_layout(container: &Container<'_>) -> Option<TokenStream> {
    let (private, ident) = (container.private(), container.ident());
    let is_constant = container.derive == Derive::Replicated && !container.is_generic();
    is_constant.then(|| quote!(const __LAYOUT: &#private::Layout = &#private::Layout::of::<#ident>();))
}

/// Returns an expression for the layout, as a `&'static Layout`.
pub(super) fn layout(container: &Container<'_>) -> TokenStream {
    let private = container.private();
    if constant_layout(container).is_some() {
        quote!(__LAYOUT)
    } else {
        quote!(&#private::Layout::of::<Self>())
    }
}

/// Returns the table of the struct, and its initial value.
fn property(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let (private, ident, name) = (container.private(), container.ident(), wire_name::of(container));
    let (declared, parameters, bounds) = generics.split_for_impl();
    let fields = container.sent().into_iter().enumerate().map(|(index, field)| {
        let member = &field.member;
        field::entry(container, field, index, &quote!(::core::mem::offset_of!(Self, #member)))
    });
    let initial = match container.derive {
        Derive::Replicated => quote!(#private::initial_object::<Self>()),
        Derive::FastArrayItem | Derive::NetSerialize | Derive::Rpcs => {
            let span = field::generated_span(ident.span());
            quote_spanned!(span=> <Self as ::core::default::Default>::default())
        }
    };
    let types = container.sent().into_iter().map(|field| {
        let (member, ty) = (&field.member, field::type_of(container, field));
        quote!(let _: *const #ty = &raw const object.#member;)
    });
    let callbacks = value_callbacks(container);
    // In `quote!`, `unsafe` has the span of the derive itself, so that a crate that forbids unsafe code can
    // use the derive. The `unsafe impl` is sound because each entry has the offset of a field and the shape
    // of the field's type. An attribute macro could change the type of the field later, so the closure checks
    // the type. The closure compiles only with the right type, because raw pointers are not coerced to
    // another type.
    quote! {
        #[automatically_derived]
        unsafe impl #declared #private::Property for #ident #parameters #bounds {
            const SHAPE: &'static #private::Shape = {
                let _: fn(&Self) = |object| {
                    #(#types)*
                };
                &#private::Shape::structure::<Self>(#name, &[#(#fields),*])
            };

            #callbacks

            fn initial() -> Self {
                #initial
            }
        }
    }
}

/// Returns the callbacks for values of a map, if the type is an item with callbacks.
fn value_callbacks(container: &Container<'_>) -> Option<TokenStream> {
    let private = container.private();
    let has_callbacks =
        matches!(container.derive, Derive::FastArrayItem) && container.attrs.callbacks.is_some();
    has_callbacks.then(|| {
        quote! {
            const CALLBACKS: ::core::option::Option<#private::ValueCallbacks<Self>> =
                #private::value_callbacks::<Self>();
        }
    })
}

/// Returns an expression for the wire form of the whole object.
fn wire_form(container: &Container<'_>) -> TokenStream {
    let private = container.private();
    let layout = match container.derive {
        Derive::FastArrayItem => quote!(<Self as #private::FastArrayItem>::LAYOUT),
        Derive::Replicated | Derive::NetSerialize | Derive::Rpcs => layout(container),
    };
    quote!(&#private::WireForm::of_layout(#layout))
}

/// Returns the implementation that sends the whole object as one value: every replicated field in order.
/// `form` is an expression for its wire form.
pub(super) fn net_serialize(
    container: &Container<'_>,
    generics: &Generics,
    form: &TokenStream,
) -> TokenStream {
    let (private, ident, name) = (container.private(), container.ident(), wire_name::of(container));
    let (declared, parameters, bounds) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #declared #private::NetSerialize for #ident #parameters #bounds {
            const WIRE_NAME: &'static ::core::primitive::str = #name;
            const WIRE_FORM: &'static #private::WireForm = #form;

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

/// Returns the marker for a type with the attribute `callbacks`. The callback trait that the user implements
/// requires this marker.
fn callback_marker(container: &Container<'_>) -> Option<TokenStream> {
    container.attrs.callbacks.as_ref()?;
    let (private, ident) = (container.private(), container.ident());
    // The implementation has only the bounds of the type itself, because the user's implementation may have
    // only these bounds.
    let (declared, parameters, bounds) = container.generics().split_for_impl();
    let marker = match container.derive {
        Derive::FastArrayItem => quote!(SaysItemCallbacks),
        Derive::Replicated | Derive::NetSerialize | Derive::Rpcs => quote!(SaysCallbacks),
    };
    Some(quote! {
        #[automatically_derived]
        impl #declared #private::#marker for #ident #parameters #bounds {}
    })
}

/// Returns which callbacks the type has. Errors are reported at the attribute `callbacks`.
pub(super) fn callback_policy(container: &Container<'_>) -> TokenStream {
    match &container.attrs.callbacks {
        Some(callbacks) => {
            let span = field::generated_span(callbacks.span);
            let private = field::private_at(container, span);
            quote_spanned!(span=> type CallbackPolicy = #private::OwnCallbacks;)
        }
        None => {
            let private = container.private();
            quote!(type CallbackPolicy = #private::NoCallbacks;)
        }
    }
}
