//! Generates the code that runs calls: it passes each call to the function of its variant.
//!
//! *Invariant:* if the first parameter has a wrong type, the compiler's error points at this type.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{FnArg, Ident, ReceiverKind, Type};

use super::block::Call;
use super::context::{Context, bound};
use super::fit::Fit;
use crate::attr::Kind;
use crate::expand::field::generated_span;

/// How a function accesses its object.
enum Access {
    /// Through `&self` or `&mut self`. The field is the name of the method of the invocation that returns
    /// this reference.
    Object(Ident),
    /// Through a parameter such as `&mut ServerCall<'_, Self>`. The field is the span of the parameter's
    /// type.
    Call(Span),
}

fn access(call: &Call) -> Access {
    let object = match &call.object {
        Some(FnArg::Receiver(receiver)) => match &receiver.kind {
            ReceiverKind::Reference(_, _, Some(_)) => "object_mut",
            _ => "object",
        },
        Some(FnArg::Typed(typed)) => return Access::Call(generated_span(span_of_name(&typed.ty))),
        None => return Access::Call(generated_span(call.ident().span())),
    };
    Access::Object(Ident::new(object, Span::call_site()))
}

/// Returns whether the function of a call uses the client that runs it.
pub(super) fn needs_client(call: &Call) -> bool {
    call.has_body && call.kind() == Kind::Client && matches!(access(call), Access::Call(_))
}

/// Returns the span of the name in a type such as `&mut ServerCall<'_, Self>`.
fn span_of_name(ty: &Type) -> Span {
    match ty {
        Type::Reference(reference) => span_of_name(&reference.elem),
        Type::Path(path) => path.path.segments.last().map_or_else(|| ty.span(), |last| last.ident.span()),
        _ => ty.span(),
    }
}

/// Returns the name of the trait that functions with the right signature for a call implement.
fn trait_of(index: usize, span: Span) -> Ident {
    format_ident!("__Function{}", index, span = span)
}

/// Generates a trait for each function with a parameter such as `&mut ServerCall`.
pub(super) fn items(context: &Context<'_>) -> TokenStream {
    let (private, own) = (context.private(), context.own());
    let calls = context.calls().enumerate().filter(|(_, (call, _))| call.has_body);
    let fits = calls.filter_map(|(index, (call, variant))| {
        let Access::Call(_) = access(call) else { return None };
        let (kind, function) = (call.kind(), call.ident());
        let (name, ty) = (kind.name(), kind.call_type());
        let call_type = Ident::new(ty, Span::call_site());
        let object = quote!(&mut #private::#call_type<'_, #own>);
        let others = variant.fields.iter().map(|field| field.ty).map(|ty| quote!(#ty));
        let fit = Fit {
            name: trait_of(index, Span::call_site()),
            parameters: [object].into_iter().chain(others).collect(),
            output: quote!(()),
            error: [
                format!("`{function}` is a `{name}` call, so it cannot have this first parameter"),
                format!("not a `{ty}` of this type"),
                format!("write `&mut {ty}<'_, Self>`, `&mut self` or `&self`"),
            ],
        };
        Some(fit.items())
    });
    quote!(#(#fits)*)
}

/// Generates the function that runs a call.
pub(super) fn run(context: &Context<'_>) -> TokenStream {
    let (private, calls) = (context.private(), context.container.ident());
    let arms = context.calls().enumerate().map(|(index, (call, variant))| {
        let pattern = context.pattern(variant);
        if !call.has_body {
            return quote!(#pattern => {});
        }
        let function = call.ident();
        let parameters: Vec<Ident> = (0..variant.fields.len()).map(bound).collect();
        let (access, run) = match access(call) {
            Access::Object(access) => (access, quote!(Self::#function(call, #(#parameters),*);)),
            Access::Call(span) => {
                let fitting = trait_of(index, span);
                let run = quote_spanned! {span=>
                    let function = Self::#function;
                    #fitting::call(function, &mut call, #(#parameters),*);
                };
                (on(call.kind()), run)
            }
        };
        quote! {
            #pattern => {
                if let ::core::option::Option::Some(mut call) = invocation.#access() {
                    #run
                }
            }
        }
    });
    quote! {
        fn run(invocation: #private::Invocation<'_, Self>, call: #calls) {
            match call {
                #(#arms)*
            }
        }
    }
}

/// Returns the name of the method of an invocation that returns the first parameter for calls of this kind.
fn on(kind: Kind) -> Ident {
    let method = match kind {
        Kind::Server => "on_server",
        Kind::Client => "on_client",
        Kind::Multicast => "on_either",
    };
    Ident::new(method, Span::call_site())
}
