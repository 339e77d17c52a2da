//! Validators: functions that decide on the server whether a call may run.
//!
//! *Invariant:* the compiler's error for a wrong or missing validator contains the whole signature that it
//! must have.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, Path};

use super::context::{Context, bound};
use crate::ast::Variant;
use crate::expand::field::{generated_span, private_at};

/// Returns the calls with a validator, each with its variant and the path of the validator.
fn validated<'a>(context: &'a Context<'_>) -> impl Iterator<Item = (&'a Variant<'a>, &'a Path)> {
    context.calls().filter_map(|(call, variant)| Some((variant, &call.attrs.validate.as_ref()?.value)))
}

/// Returns the span of the last name in a path.
fn span_of(path: &Path) -> Span {
    generated_span(path.segments.last().map_or_else(Span::call_site, |last| last.ident.span()))
}

/// Generates the function that calls the validators. Each validator first becomes a function pointer, so that
/// the error for a wrong one shows the whole signature.
pub(super) fn allows(context: &Context<'_>) -> TokenStream {
    let (private, calls) = (context.private(), context.container.ident());
    let arms = validated(context).map(|(variant, path)| {
        let (pattern, span) = (context.pattern(variant), span_of(path));
        let types = variant.fields.iter().map(|field| field.ty);
        let private = private_at(context.container, span);
        let validator = match path.get_ident() {
            Some(method) => quote_spanned!(span=> Self::#method),
            None => quote!(#path),
        };
        let parameters = (0..variant.fields.len()).map(bound);
        quote_spanned! {span=>
            #pattern => {
                let validator: fn(&Self, #private::ConnectionId, #(&#types),*) -> ::core::primitive::bool =
                    #validator;
                validator(self, caller, #(#parameters),*)
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

/// Generates, for each method that a call names as its validator, a trait method of the same name that cannot
/// be called. If the user has defined the method, the compiler prefers it. Otherwise the compiler's error
/// contains our advice.
pub(super) fn missing(context: &Context<'_>) -> TokenStream {
    let mut seen = Vec::new();
    let mut fallbacks = TokenStream::new();
    for (variant, path) in validated(context) {
        let Some(method) = path.get_ident().filter(|method| !seen.contains(method)) else { continue };
        fallbacks.extend(missing_method(context, variant, method, seen.len()));
        seen.push(method);
    }
    fallbacks
}

fn missing_method(context: &Context<'_>, variant: &Variant<'_>, method: &Ident, index: usize) -> TokenStream {
    let (private, own) = (context.private(), context.own());
    let types = variant.fields.iter().map(|field| field.ty);
    let (fallback, has_method) =
        (format_ident!("__Fallback{}", index), format_ident!("__HasMethod{}", index));
    let parameters = variant.fields.iter().map(|field| {
        let (name, ty) = (&field.member, field.ty);
        format!(", {}: &{}", quote!(#name), plain(&quote!(#ty)))
    });
    let parameters = parameters.collect::<String>().replace('{', "{{").replace('}', "}}");
    let message = format!("`{{Self}}` has no method `{method}`");
    let note =
        format!("write in `impl {{Self}}`: `fn {method}(&self, caller: ConnectionId{parameters}) -> bool`");
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
