//! Fields: what the tables say about one, and what its type must be able to do.
//!
//! *Invariant:* a field's type is never looked at, only named; what it must be able to do is said in bounds.

use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Generics, Ident, WherePredicate, parse_quote};

use crate::ast::{Container, Field};
use crate::attr::{Number, Quantize};

/// The field's type, in words that mean the same outside the type's own `impl`.
pub(super) fn type_of(container: &Container<'_>, field: &Field<'_>) -> TokenStream {
    let (ident, (_, generics, _)) = (container.ident(), container.generics().split_for_impl());
    let ty = field.ty;
    without_self(quote!(#ty), &quote!(#ident #generics))
}

fn without_self(tokens: TokenStream, own: &TokenStream) -> TokenStream {
    let replace = |token| match token {
        TokenTree::Ident(ident) if ident == "Self" => own.clone(),
        TokenTree::Group(group) => {
            let mut inner = proc_macro2::Group::new(group.delimiter(), without_self(group.stream(), own));
            inner.set_span(group.span());
            TokenTree::Group(inner).into()
        }
        other => other.into(),
    };
    tokens.into_iter().flat_map(replace).collect()
}

/// The shape of the field's type as a `&'static Shape`.
pub(super) fn shape(container: &Container<'_>, field: &Field<'_>, index: usize) -> TokenStream {
    let (private, ty) = (container.private(), type_of(container, field));
    if field.attrs.with.is_some() {
        let serializer = serializer(container, index);
        quote!(&#private::Shape::custom::<#ty, #serializer>())
    } else if field.attrs.atomic.is_some() {
        quote!(&#private::Shape::opaque::<#ty>())
    } else {
        quote!(<#ty as #private::Property>::SHAPE)
    }
}

/// The whole entry of the field in its struct's table. `index` counts the fields that travel.
pub(super) fn entry(container: &Container<'_>, field: &Field<'_>, index: usize, offset: &TokenStream) -> TokenStream {
    let private = container.private();
    let (name, shape) = (field.wire_name(), shape(container, field, index));
    let attrs = &field.attrs;
    let condition = attrs.condition.as_ref().map(|condition| {
        let condition = &condition.value;
        quote!(.condition(#private::Condition::#condition))
    });
    let notify = attrs.notify.as_ref().map(|_| {
        let when = format_ident!("{}", if attrs.notify_always.is_some() { "Always" } else { "OnChanged" });
        quote!(.notify(#private::Notify::#when))
    });
    let push = attrs.push.as_ref().map(|_| quote!(.push()));
    let format = format(container, field).map(|format| quote!(.format(#format)));
    let max_len = attrs.max_len.as_ref().map(|max_len| {
        let max_len = whole(&max_len.value, "u32", true);
        quote!(.max_len(#max_len))
    });
    quote!(#private::Field::new(#name, #offset, #shape) #condition #notify #push #format #max_len)
}

/// What the attributes ask of the numbers in the field.
fn format(container: &Container<'_>, field: &Field<'_>) -> Option<TokenStream> {
    let format = format_path(container);
    let attrs = &field.attrs;
    let saturate = attrs.saturate.is_some();
    if let Some(bits) = &attrs.bits {
        let bits = whole(&bits.value, "u8", false);
        return Some(quote!(#format::Bits { bits: #bits, saturate: #saturate }));
    }
    if let Some(range) = &attrs.range {
        let (min, max) = (whole(&range.value.min, "i128", true), whole(&range.value.max, "i128", true));
        return Some(quote!(#format::Range { min: #min, max: #max, saturate: #saturate }));
    }
    Some(match &attrs.quantize.as_ref()?.value {
        Quantize::Steps { step, range } => {
            let (step, min, max) = (float(step), float(&range.min), float(&range.max));
            quote!(#format::Quantize { step: #step, min: #min, max: #max, saturate: #saturate })
        }
        Quantize::SmallestThree(bits) => {
            let bits = whole(bits, "u8", false);
            quote!(#format::SmallestThree { bits: #bits })
        }
        Quantize::UnitVector(bits) => {
            let bits = whole(bits, "u8", false);
            quote!(#format::UnitVector { bits: #bits })
        }
    })
}

fn format_path(container: &Container<'_>) -> TokenStream {
    let private = container.private();
    quote!(#private::Format)
}

/// An integer of the type `ty`. A constant of the user's is converted only where that loses nothing worth keeping.
fn whole(number: &Number, ty: &str, convert: bool) -> TokenStream {
    let (expr, ty) = (&number.0, Ident::new(ty, proc_macro2::Span::call_site()));
    match number.whole() {
        Some(value) => {
            let digits = Literal::u128_unsuffixed(value.unsigned_abs());
            if value < 0 { quote!(-#digits) } else { quote!(#digits) }
        }
        None if convert => quote!((#expr) as ::core::primitive::#ty),
        None => quote!(#expr),
    }
}

fn float(number: &Number) -> TokenStream {
    let expr = &number.0;
    match number.literal() {
        Some(value) => {
            let digits = Literal::f64_unsuffixed(value.abs());
            if value.is_sign_negative() { quote!(-#digits) } else { quote!(#digits) }
        }
        None => quote!((#expr) as ::core::primitive::f64),
    }
}

/// The traits that a field's type must implement for what its attributes say.
fn traits(container: &Container<'_>, field: &Field<'_>) -> Vec<TokenStream> {
    let private = container.private();
    let attrs = &field.attrs;
    let mut traits = Vec::new();
    if attrs.bits.is_some() || attrs.range.is_some() {
        traits.push(quote!(#private::Ranged));
    }
    if let Some(quantize) = &attrs.quantize {
        traits.push(match quantize.value {
            Quantize::Steps { .. } => quote!(#private::Quantizable),
            Quantize::SmallestThree(_) => quote!(#private::UnitQuaternion),
            Quantize::UnitVector(_) => quote!(#private::UnitVector),
        });
    }
    if attrs.max_len.is_some() {
        traits.push(quote!(#private::Lengthy));
    }
    traits
}

/// Bounds for the types of fields that depend on a parameter.
pub(super) fn predicates(container: &Container<'_>) -> Vec<WherePredicate> {
    let private = container.private();
    let mut predicates = Vec::new();
    for field in container.sent().into_iter().filter(|field| container.depends_on_parameters(field.ty)) {
        let ty = type_of(container, field);
        let attrs = &field.attrs;
        if attrs.with.is_some() {
            predicates.push(parse_quote!(#ty: ::core::clone::Clone + 'static));
        } else if attrs.atomic.is_some() {
            predicates.push(parse_quote!(#ty: #private::Property + #private::NetSerialize + ::core::clone::Clone));
        } else {
            predicates.push(parse_quote!(#ty: #private::Property));
        }
        for required in traits(container, field) {
            predicates.push(parse_quote!(#ty: #required));
        }
    }
    predicates
}

/// The parameters of the type, with what replication asks of them and `more`.
pub(super) fn generics(container: &Container<'_>, more: Vec<WherePredicate>) -> Generics {
    let mut generics = container.generics().clone();
    let owned: Vec<WherePredicate> =
        generics.type_params().map(|parameter| &parameter.ident).map(|ident| parse_quote!(#ident: 'static)).collect();
    if container.is_generic() {
        let clause = generics.make_where_clause();
        clause.predicates.extend(owned.into_iter().chain(predicates(container)).chain(more));
    }
    generics
}

/// A function whose body says, at the type of each field, what that type must be able to do.
pub(super) fn assertions(container: &Container<'_>) -> Option<TokenStream> {
    let mut calls = Vec::new();
    for field in container.sent().into_iter().filter(|field| !container.depends_on_parameters(field.ty)) {
        let ty = type_of(container, field);
        for required in traits(container, field) {
            let span = field.ty.span();
            calls.push(quote_spanned!(span=> {
                fn attribute_fits_type<T: #required + ?::core::marker::Sized>() {}
                attribute_fits_type::<#ty>()
            }));
        }
    }
    if calls.is_empty() {
        return None;
    }
    Some(quote! {
        const _: fn() = || {
            #(#calls)*
        };
    })
}

/// The name of the serialiser made for the `index`th field that travels.
fn serializer_name(index: usize) -> Ident {
    format_ident!("__Serializer{}", index)
}

/// The serialiser as a type.
pub(super) fn serializer(container: &Container<'_>, index: usize) -> TokenStream {
    let (name, (_, parameters, _)) = (serializer_name(index), container.generics().split_for_impl());
    quote!(#name #parameters)
}

/// The serialisers that stand for the modules named by `with`.
pub(super) fn serializers(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let private = container.private();
    let (ident, (declared, parameters, bounds)) = (container.ident(), generics.split_for_impl());
    let (_, _, own_bounds) = container.generics().split_for_impl();
    let one = |(index, field): (usize, &Field<'_>)| {
        let module = &field.attrs.with.as_ref()?.value;
        let wire_name = module.segments.last()?.ident.to_string();
        let (name, ty) = (serializer_name(index), type_of(container, field));
        let own = container.generics();
        let own = own.split_for_impl().0;
        Some(quote! {
            struct #name #own (::core::marker::PhantomData<fn() -> #ident #parameters>) #own_bounds;

            impl #declared #private::With<#ty> for #name #parameters #bounds {
                const WIRE_NAME: &'static ::core::primitive::str = #wire_name;

                fn write(
                    value: &#ty,
                    writer: &mut #private::BitWriter,
                ) -> ::core::result::Result<(), #private::WriteError> {
                    #module::write(value, writer)
                }

                fn read(
                    reader: &mut #private::BitReader<'_>,
                    references: &mut #private::ReferenceMap<'_>,
                ) -> ::core::result::Result<#ty, #private::ReadError> {
                    #module::read(reader, references)
                }
            }
        })
    };
    container.sent().into_iter().enumerate().filter_map(one).collect()
}
