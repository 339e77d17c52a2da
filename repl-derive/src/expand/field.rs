//! Generates code for one field: its entry in the struct's table, and the bounds on its type.
//!
//! *Invariant:* generated code names the type of a field, but the derive never inspects the type. Trait
//! bounds state which traits the type must implement.

use proc_macro2::{Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Generics, Ident, WherePredicate, parse_quote};

use crate::ast::{Container, Field, without_self};
use crate::attr::{Number, QuantizeForm};
use crate::derive::Derive;

/// Returns the field's type without `Self`, so that it has the same meaning outside the `impl` of the type.
pub(super) fn type_of(container: &Container<'_>, field: &Field<'_>) -> TokenStream {
    let (ident, (_, generics, _)) = (container.ident(), container.generics().split_for_impl());
    let ty = field.ty;
    without_self(quote!(#ty), &quote!(#ident #generics))
}

/// Returns a span for generated code that has the location of `span`. Names resolve as in generated code, and
/// lints treat the code as generated, but errors point at the user's code.
pub(crate) fn generated_span(span: Span) -> Span {
    Span::call_site().located_at(span)
}

/// Returns the type to which the attributes for numbers apply: the type of the field, or the type that `as`
/// names.
pub(super) fn formatted_type(container: &Container<'_>, field: &Field<'_>) -> TokenStream {
    match &field.attrs.form {
        Some(form) => {
            let (ident, (_, generics, _)) = (container.ident(), container.generics().split_for_impl());
            without_self(form.value.to_token_stream(), &quote!(#ident #generics))
        }
        None => type_of(container, field),
    }
}

/// Returns the path to the module `__private`, which exports everything that generated code uses, with the
/// given span.
pub(crate) fn private_at(container: &Container<'_>, span: Span) -> TokenStream {
    let moved = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    container.private().into_iter().map(moved).collect()
}

/// Returns the shape of the field's type as a `&'static Shape`.
fn shape(container: &Container<'_>, field: &Field<'_>, index: usize, span: Span) -> TokenStream {
    let (private, ty) = (private_at(container, span), type_of(container, field));
    if field.attrs.has_serializer() {
        let serializer = serializer(container, index);
        quote_spanned!(span=> &#private::Shape::custom::<#ty, #serializer>())
    } else if let Some(delta) = &field.attrs.delta {
        let by = match (&delta.value, &field.attrs.max_len) {
            (Some(_), _) => serializer(container, index),
            (None, None) => quote_spanned!(span=> <#ty as #private::ByDifference>::Delta),
            (None, Some(max_len)) => {
                let max_len = whole(container, &max_len.value);
                quote_spanned! {span=>
                    <#ty as #private::ByLimitedDifference>::Limited<{ #private::max_len(#max_len) }>
                }
            }
        };
        quote_spanned!(span=> &#private::Shape::delta::<#ty, #by>())
    } else if field.attrs.atomic.is_some() {
        quote_spanned!(span=> <#ty as #private::Unit>::PARTS)
    } else {
        match container.derive {
            Derive::Replicated | Derive::FastArrayItem => {
                quote_spanned!(span=> <#ty as #private::Property>::SHAPE)
            }
            Derive::NetSerialize | Derive::Rpcs => quote_spanned!(span=> <#ty as #private::Value>::TABLE),
        }
    }
}

/// Returns the field's entry in the table of its struct. `index` is the position of the field among the
/// fields that are sent.
pub(super) fn entry(
    container: &Container<'_>,
    field: &Field<'_>,
    index: usize,
    offset: &TokenStream,
) -> TokenStream {
    let span = generated_span(form_span(field));
    let private = private_at(container, span);
    let (name, shape) = (field.wire_name(), shape(container, field, index, span));
    let attrs = &field.attrs;
    let condition = attrs.condition.as_ref().map(|condition| {
        let condition = &condition.value;
        quote_spanned!(span=> .condition(#private::Condition::#condition))
    });
    let starts_off = attrs.starts_off.as_ref().map(|_| quote_spanned!(span=> .starts_off()));
    let notify = attrs.notify.as_ref().map(|_| {
        let when = format_ident!("{}", if attrs.notify_always.is_some() { "Always" } else { "OnChanged" });
        quote_spanned!(span=> .notify(#private::Notify::#when))
    });
    let push = attrs.push.as_ref().map(|_| quote_spanned!(span=> .push()));
    let atomic = attrs.atomic.as_ref().map(|_| {
        let ty = type_of(container, field);
        quote_spanned!(span=> .atomic::<#ty>())
    });
    let has_own_form = attrs.form.is_some() || attrs.delta.is_some();
    let numbers = (!has_own_form).then(|| numbers(container, field, span));
    quote_spanned! {span=>
        #private::Field::new(#name, #offset, #shape) #condition #starts_off #notify #push #atomic #numbers.checked()
    }
}

/// Returns method calls on a table entry that set the wire form of numbers and the greatest length.
pub(super) fn numbers(container: &Container<'_>, field: &Field<'_>, span: Span) -> TokenStream {
    let format = format(container, field, span);
    let max_len = field.attrs.max_len.as_ref().map(|max_len| {
        let (ty, max_len) = (formatted_type(container, field), whole(container, &max_len.value));
        quote_spanned!(span=> .max_len_of::<#ty>(#max_len))
    });
    quote!(#format #max_len)
}

/// Returns the span of the attribute that defines the field's wire form. Errors in the table entry are
/// reported at this span.
pub(super) fn form_span(field: &Field<'_>) -> Span {
    let forms = ["quantize", "bits", "range", "max_len", "with", "as", "atomic", "delta"];
    let said = field.attrs.names_and_spans().into_iter().find(|(name, _)| forms.contains(name));
    said.map_or_else(|| field.ty.span(), |(_, span)| span)
}

/// Returns a method call on the table entry that sets the wire form of the field's numbers. The call compiles
/// only if the field's type supports this form.
fn format(container: &Container<'_>, field: &Field<'_>, span: Span) -> Option<TokenStream> {
    let ty = formatted_type(container, field);
    let attrs = &field.attrs;
    let saturate = attrs.saturate.is_some();
    if let Some(bits) = &attrs.bits {
        let bits = whole(container, &bits.value);
        return Some(quote_spanned!(span=> .bits::<#ty>(#bits, #saturate)));
    }
    if let Some(range) = &attrs.range {
        let (min, max) = (whole(container, &range.value.min), whole(container, &range.value.max));
        return Some(quote_spanned!(span=> .range::<#ty>(#min, #max, #saturate)));
    }
    let quantize = &attrs.quantize.as_ref()?.value;
    let exact = quantize.exact.as_ref().map(|_| quote_spanned!(span=> .exact()));
    Some(match &quantize.form {
        QuantizeForm::Steps { step, range } => {
            let (step, min, max) = (float(step), float(&range.min), float(&range.max));
            quote_spanned!(span=> .quantize::<#ty>(#step, #min, #max, #saturate) #exact)
        }
        QuantizeForm::SmallestThree(bits) => {
            let bits = whole(container, bits);
            quote_spanned!(span=> .smallest_three::<#ty>(#bits) #exact)
        }
        QuantizeForm::UnitVector(bits) => {
            let bits = whole(container, bits);
            quote_spanned!(span=> .unit_vector::<#ty>(#bits) #exact)
        }
    })
}

/// Returns a literal, or a constant of the user as an `i128`.
pub(crate) fn whole(container: &Container<'_>, number: &Number) -> TokenStream {
    let expr = &number.0;
    match number.whole() {
        Some(value) => {
            let digits = Literal::u128_unsuffixed(value.unsigned_abs());
            if value < 0 { quote!(-#digits) } else { quote!(#digits) }
        }
        None => {
            let span = generated_span(expr.span());
            let private = private_at(container, span);
            quote_spanned!(span=> #private::whole_number(#expr) as ::core::primitive::i128)
        }
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

/// Returns the traits that a field's type must implement because of its attributes.
fn traits(container: &Container<'_>, field: &Field<'_>) -> Vec<TokenStream> {
    let private = container.private();
    let attrs = &field.attrs;
    let mut traits = Vec::new();
    if attrs.bits.is_some() || attrs.range.is_some() {
        traits.push(quote!(#private::Ranged));
    }
    if let Some(quantize) = &attrs.quantize {
        traits.push(match quantize.value.form {
            QuantizeForm::Steps { .. } => quote!(#private::Quantizable),
            QuantizeForm::SmallestThree(_) => quote!(#private::UnitQuaternion),
            QuantizeForm::UnitVector(_) => quote!(#private::UnitVector),
        });
    }
    if attrs.max_len.is_some() {
        traits.push(quote!(#private::Lengthy));
    }
    traits
}

/// Returns the bounds for types of fields that depend on a generic parameter.
pub(super) fn predicates(container: &Container<'_>) -> Vec<WherePredicate> {
    let mut predicates = Vec::new();
    let private = container.private();
    for field in container.sent().into_iter().filter(|field| container.depends_on_parameters(field.ty)) {
        let ty = type_of(container, field);
        let attrs = &field.attrs;
        if attrs.with.is_some() {
            predicates.push(parse_quote!(#ty: ::core::clone::Clone + 'static));
        } else if attrs.form.is_some() {
            let form = formatted_type(container, field);
            predicates.push(parse_quote!(#ty: ::core::clone::Clone + ::core::convert::Into<#form> + 'static));
            predicates.push(parse_quote!(#form: #private::Property + ::core::convert::Into<#ty>));
        } else if attrs.atomic.is_some() {
            predicates
                .push(parse_quote!(#ty: #private::Property + #private::NetSerialize + ::core::clone::Clone));
        } else {
            predicates.push(parse_quote!(#ty: #private::Property));
        }
        if container.derive == Derive::Replicated {
            predicates.push(parse_quote!(#ty: ::core::marker::Send + ::core::marker::Sync));
        }
        let formatted = formatted_type(container, field);
        for required in traits(container, field) {
            predicates.push(parse_quote!(#formatted: #required));
        }
    }
    predicates
}

/// Returns the type's generic parameters, with the bounds that replication needs and with `more`.
pub(super) fn generics(container: &Container<'_>, more: Vec<WherePredicate>) -> Generics {
    let mut generics = container.generics().clone();
    let owned: Vec<WherePredicate> = generics
        .type_params()
        .map(|parameter| &parameter.ident)
        .map(|ident| parse_quote!(#ident: ::core::marker::Send + ::core::marker::Sync + 'static))
        .collect();
    if container.is_generic() {
        let clause = generics.make_where_clause();
        clause.predicates.extend(owned.into_iter().chain(predicates(container)).chain(more));
    }
    generics
}

/// Returns the name of the generated serialiser for the field with this index among the fields that are sent.
pub(super) fn serializer_name(index: usize) -> Ident {
    format_ident!("__Serializer{}", index)
}

/// Returns the type of the generated serialiser.
pub(super) fn serializer(container: &Container<'_>, index: usize) -> TokenStream {
    let (name, (_, parameters, _)) = (serializer_name(index), container.generics().split_for_impl());
    quote!(#name #parameters)
}
