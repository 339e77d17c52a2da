//! The expansion of `#[rpcs]`: the user's block, the enum of the calls, and a type that makes the calls.
//!
//! *Invariant:* the generated code makes only one decision at run time: it matches a value to its call.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;

use super::block::Call;
use super::context::{Context, bound};
use super::{fit, run, validator, values};
use crate::ast::{Variant, without_self};
use crate::attr::{Kind, Number};
use crate::expand::enclosure::enclosed;
use crate::expand::field::generated_span;
use crate::expand::{field, net_serialize, stub};

/// The default number of calls that one client may make in a second.
const DEFAULT_PER_SECOND: u32 = 60;

/// Expands a block without mistakes.
pub(super) fn expand(context: &Context<'_>) -> TokenStream {
    let value = net_serialize::items(context.container);
    let (common, validators, functions) = (fit::common(), validator::items(context), run::items(context));
    let (entries, number, debug) = (entries(context), number(context), debug(context));
    let (allows, run) = (validator::allows(context), run::run(context));
    let private = context.private();
    let table = quote!(&#private::CallTable::new(<Self as #private::NetSerialize>::WIRE_NAME, __CALLS));
    let rpcs = implementation(context, &table, &quote!(#number #allows #run));
    let send = |variant: &Variant<'_>| {
        let (calls, name) = (context.container.ident(), variant.ident);
        let parameters = variant.fields.iter().map(|field| &field.member);
        quote!(self.0.send(#calls::#name { #(#parameters),* }))
    };
    assemble(context, send, &quote!(#value #common #validators #functions #entries #debug #rpcs))
}

/// Returns the code for a block with mistakes. It defines the names that the user's code may use, but does
/// nothing.
pub(super) fn stub(context: &Context<'_>) -> TokenStream {
    let (private, calls) = (context.private(), context.container.ident());
    let value = stub::value(context.container, context.container.generics());
    let table = quote!(&#private::CallTable::new("", &[]));
    let functions = quote! {
        fn number(_: &#calls) -> ::core::primitive::usize {
            ::core::unreachable!()
        }

        fn allows(&self, _: #private::ConnectionId, _: &#calls) -> ::core::primitive::bool {
            ::core::unreachable!()
        }

        fn run(_: #private::Invocation<'_, Self>, _: #calls) {}
    };
    let rpcs = implementation(context, &table, &functions);
    let debug = debug_by(context, &quote!(::core::unreachable!()));
    assemble(context, |_| quote!(::core::unreachable!()), &quote!(#value #debug #rpcs))
}

/// Returns the user's block, both generated types, and `items` in a separate block. `send` returns the body
/// of the method that makes a call.
fn assemble(
    context: &Context<'_>,
    send: impl Fn(&Variant<'_>) -> TokenStream,
    items: &TokenStream,
) -> TokenStream {
    let (private, own, block) = (context.private(), context.own(), &context.block.own);
    let calls = values::definition(context.container.input);
    let (caller, lints) = (context.caller, lints());
    let docs = format!(
        "Makes calls of a `{}`: it has a method for each call. `Server::call` and `Client::call` return it.",
        own.to_string().replace(' ', "")
    );
    let methods = context.calls().map(|(call, variant)| method(context, call, variant, &send(variant)));
    let (is_an_object, enclosed) = (is_an_object(context), enclosed(context.container, items));
    quote! {
        #block

        #lints
        #[derive(::core::clone::Clone)]
        #calls

        #lints
        #[doc = #docs]
        pub struct #caller<'a>(#private::CallSender<'a, #own>);

        #lints
        impl #caller<'_> #is_an_object {
            #(#methods)*
        }

        #enclosed
    }
}

/// Returns the attribute that turns off lints for generated types. The lints would be wrong, because the user
/// does not choose the visibility and the use of these types.
fn lints() -> TokenStream {
    quote! {
        #[allow(
            deprecated,
            missing_docs,
            non_snake_case,
            private_interfaces,
            unreachable_pub,
            trivial_bounds,
            unused,
            clippy::all,
            clippy::pedantic
        )]
    }
}

/// Returns the method that makes a call. The compiler's errors about its visibility point at the function of
/// the user.
fn method(context: &Context<'_>, call: &Call, variant: &Variant<'_>, send: &TokenStream) -> TokenStream {
    let (docs, span) = (values::docs(call), generated_span(call.ident().span()));
    let private = field::private_at(context.container, span);
    let (visibility, ident) = (&call.visibility, call.ident());
    let parameters = variant.fields.iter().map(|field| {
        let (name, ty) = (&field.member, field.ty);
        quote!(#name: #ty)
    });
    quote_spanned! {span=>
        #(#docs)*
        #visibility fn #ident(
            &mut self,
            #(#parameters),*
        ) -> ::core::result::Result<(), #private::CallError> {
            #send
        }
    }
}

/// Returns the `where` bound that the type is an object. Because of this bound, the compiler reports a type
/// that is not an object only once, at the name of the type.
fn is_an_object(context: &Context<'_>) -> TokenStream {
    let span = generated_span(context.block.own.self_ty.span());
    let (private, own) = (field::private_at(context.container, span), context.own());
    quote_spanned!(span=> where #own: #private::Replicated)
}

fn implementation(context: &Context<'_>, table: &TokenStream, functions: &TokenStream) -> TokenStream {
    let (private, own) = (context.private(), context.own());
    let (calls, caller) = (context.container.ident(), context.caller);
    let is_an_object = is_an_object(context);
    quote! {
        #[automatically_derived]
        #[allow(trivial_bounds)]
        impl #private::Rpcs for #own #is_an_object {
            type Call = #calls;
            type Caller<'a> = #caller<'a>;

            const CALLS: &'static #private::CallTable = #table;

            fn caller(sender: #private::CallSender<'_, Self>) -> #caller<'_> {
                #caller(sender)
            }

            #functions
        }
    }
}

/// Returns the entries of the table of the calls, as a constant. Each parameter refers to its field in the
/// `FIELDS` table of the enum of calls.
fn entries(context: &Context<'_>) -> TokenStream {
    let (private, calls) = (context.private(), context.container.ident());
    let mut fields = 0_usize..;
    let entries = context.calls().map(|(call, variant)| {
        let parameters = variant.fields.iter().zip(&mut fields).map(|(parameter, index)| {
            let name = parameter.wire_name();
            quote! {
                #private::Parameter { name: #name, field: &<#calls as __Fields>::FIELDS[#index] }
            }
        });
        entry(context, call, variant, &quote!(#(#parameters),*))
    });
    quote! {
        const __CALLS: &[#private::CallEntry] = &[#(#entries),*];
    }
}

fn entry(context: &Context<'_>, call: &Call, variant: &Variant<'_>, parameters: &TokenStream) -> TokenStream {
    let (private, attrs) = (context.private(), &call.attrs);
    let kind = match call.kind() {
        Kind::Server => quote!(Server),
        Kind::Client => quote!(Client),
        Kind::Multicast => quote!(Multicast),
    };
    let per_second = match &attrs.per_second {
        Some(number) => per_second(context, &number.value),
        None => quote!(#DEFAULT_PER_SECOND),
    };
    let (name, is_reliable, is_validated) =
        (variant.wire_name(), attrs.reliable.is_some(), attrs.validate.is_some());
    let (waits, is_polled) = (attrs.waits.is_some(), !call.has_body);
    let needs_client = run::needs_client(call);
    quote! {
        #private::CallEntry {
            name: #name,
            kind: #private::CallKind::#kind,
            is_reliable: #is_reliable,
            is_validated: #is_validated,
            waits: #waits,
            per_second: #per_second,
            is_polled: #is_polled,
            needs_client: #needs_client,
            parameters: &[#parameters],
        }
    }
}

/// Returns the value of `per_second`. A constant of the user is checked when the compiler evaluates it.
fn per_second(context: &Context<'_>, number: &Number) -> TokenStream {
    let (span, own) = (generated_span(number.0.span()), context.own());
    let private = field::private_at(context.container, span);
    let value = without_self(field::whole(context.container, number), &quote!(<#own>));
    match number.whole() {
        Some(_) => value,
        None => quote_spanned!(span=> #private::checked_per_second(#value)),
    }
}

fn number(context: &Context<'_>) -> TokenStream {
    let calls = context.container.ident();
    let arms = context.calls().enumerate().map(|(index, (_, variant))| {
        let name = variant.ident;
        quote!(#calls::#name { .. } => #index,)
    });
    quote! {
        fn number(call: &#calls) -> ::core::primitive::usize {
            match call {
                #(#arms)*
            }
        }
    }
}

/// Returns the implementation of `Debug` for the enum of the calls.
fn debug(context: &Context<'_>) -> TokenStream {
    let private = context.private();
    let arms = context.calls().map(|(_, variant)| {
        let (pattern, name) = (context.pattern(variant), variant.ident.unraw().to_string());
        let fields = variant.fields.iter().enumerate().map(|(index, field)| {
            let (name, value) = (field.wire_name(), bound(index));
            quote!(.field(#name, (&#private::Printed(#value)).printed()))
        });
        quote!(#pattern => formatter.debug_struct(#name) #(#fields)* .finish(),)
    });
    let body = quote! {
        use #private::{ByDebug as _, ByMark as _};
        match self {
            #(#arms)*
        }
    };
    debug_by(context, &body)
}

/// Returns the implementation of `Debug` for the enum of the calls, with this body.
fn debug_by(context: &Context<'_>, body: &TokenStream) -> TokenStream {
    let calls = context.container.ident();
    quote! {
        #[automatically_derived]
        impl ::core::fmt::Debug for #calls {
            fn fmt(&self, formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #body
            }
        }
    }
}
