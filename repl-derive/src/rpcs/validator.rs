//! Validators: functions that decide on the server whether a call may run.
//!
//! *Invariant:* the compiler's error for a wrong or missing validator contains the complete correct
//! signature.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, Path};

use super::context::{Context, bound};
use super::fit::{Fit, escaped};
use crate::ast::Variant;
use crate::expand::field::generated_span;

/// Returns the calls with a validator, each with its variant and the path of the validator.
fn validated<'a>(context: &'a Context<'_>) -> impl Iterator<Item = (&'a Variant<'a>, &'a Path)> {
    context.calls().filter_map(|(call, variant)| Some((variant, &call.attrs.validate.as_ref()?.value)))
}

fn span_of(path: &Path) -> Span {
    generated_span(path.segments.last().map_or_else(Span::call_site, |last| last.ident.span()))
}

/// Returns the name of the trait that functions with the right signature for a validator implement.
fn trait_of(index: usize, span: Span) -> Ident {
    format_ident!("__Validator{}", index, span = span)
}

/// Generates the function that calls the validators.
pub(super) fn allows(context: &Context<'_>) -> TokenStream {
    let (private, calls) = (context.private(), context.container.ident());
    let arms = validated(context).enumerate().map(|(index, (variant, path))| {
        let (pattern, span) = (context.pattern(variant), span_of(path));
        let fitting = trait_of(index, span);
        let validator = match path.get_ident() {
            Some(method) => quote_spanned!(span=> Self::#method),
            None => quote!(#path),
        };
        let parameters = (0..variant.fields.len()).map(bound);
        quote_spanned! {span=>
            #pattern => {
                let validator = #validator;
                #fitting::call(validator, self, caller, #(#parameters),*)
            }
        }
    });
    quote! {
        fn allows(&self, caller: #private::ConnectionId, call: &#calls) -> ::core::primitive::bool {
            match call {
                #(#arms)*
                _ => true,
            }
        }
    }
}

/// Generates the traits that functions with the right signature for a validator implement.
pub(super) fn items(context: &Context<'_>) -> TokenStream {
    let mut seen = Vec::new();
    let mut items = TokenStream::new();
    for (index, (variant, path)) in validated(context).enumerate() {
        items.extend(fit(context, variant, path, index).items());
        if let Some(method) = path.get_ident().filter(|method| !seen.contains(method)) {
            items.extend(missing_method(context, variant, method, index));
            seen.push(method);
        }
    }
    items
}

/// Returns the signature that a validator of a call must have.
fn fit(context: &Context<'_>, variant: &Variant<'_>, path: &Path, index: usize) -> Fit {
    let (private, own) = (context.private(), context.own());
    let name = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    let object =
        if path.get_ident().is_some() { "&self".to_owned() } else { format!("object: &{}", plain(&own)) };
    let values = variant.fields.iter().map(|field| field.ty).map(|ty| quote!(&#ty));
    Fit {
        name: trait_of(index, Span::call_site()),
        parameters: [quote!(&#own), quote!(#private::ConnectionId)].into_iter().chain(values).collect(),
        output: quote!(::core::primitive::bool),
        error: [
            format!("`{name}` cannot validate `{}`", variant.wire_name()),
            "wrong parameters or a wrong result".to_owned(),
            format!("write `fn {name}({object}, {}) -> bool`", other_parameters(variant)),
        ],
    }
}

/// Returns the parameters of a validator after the object.
fn other_parameters(variant: &Variant<'_>) -> String {
    let parameters = variant.fields.iter().map(|field| {
        let (name, ty) = (&field.member, field.ty);
        format!(", {}: &{}", quote!(#name), plain(&quote!(#ty)))
    });
    format!("caller: ConnectionId{}", parameters.collect::<String>())
}

/// Generates, for a method that a call names as its validator, a trait method of the same name that cannot be
/// called. If the user has defined the method, the compiler prefers the user's method. Otherwise the
/// compiler's error contains our advice.
fn missing_method(context: &Context<'_>, variant: &Variant<'_>, method: &Ident, index: usize) -> TokenStream {
    let (private, own) = (context.private(), context.own());
    let types = variant.fields.iter().map(|field| field.ty);
    let (fallback, has_method) =
        (format_ident!("__Fallback{}", index), format_ident!("__HasMethod{}", index));
    let message = format!("`{{Self}}` has no method `{method}`");
    let parameters = escaped(&other_parameters(variant));
    let note = format!("write in `impl {{Self}}`: `fn {method}(&self, {parameters}) -> bool`");
    let elsewhere = format!(
        "for a function that is not a method of the object, write its path: `validate = self::{method}`"
    );
    let mut name = method.clone();
    name.set_span(Span::call_site());
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = "no such method", note = #note, note = #elsewhere)]
        trait #has_method {}

        trait #fallback {
            fn #name(&self, _: #private::ConnectionId, #(_: &#types),*) -> ::core::primitive::bool
            where
                Self: #has_method,
            {
                true
            }
        }

        impl #fallback for #own {}
    }
}

/// Returns tokens as a text without the spaces that the compiler's printer may add.
fn plain(tokens: &TokenStream) -> String {
    let text = tokens.to_string();
    [
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ;", ";"),
        (" ,", ","),
        (" :: ", "::"),
        (":: ", "::"),
        (" ::", "::"),
    ]
    .into_iter()
    .fold(text, |text, (wide, narrow)| text.replace(wide, narrow))
}
