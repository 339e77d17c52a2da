//! The rules for blocks of calls, each with its reason.
//!
//! *Invariant:* code can be generated without errors for a block that breaks no rule here, if its enum breaks
//! no rule for values. The compiler finds mistakes in types.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{FnArg, ReceiverKind, ReturnType, Safety, Type};

use super::block::{Block, Call};
use crate::attr::Kind;
use crate::check::within;
use crate::error::Errors;

/// The most calls of one type. With this limit, the number of a call takes at most one byte.
pub(crate) const MAX_CALLS: usize = 256;

/// The most calls a second that `per_second` may allow.
const MAX_PER_SECOND: i128 = 10_000;

/// Applies every rule for calls. The rules for values are applied to the enum of the calls separately.
pub(super) fn check(block: &Block, errors: &mut Errors) {
    target(block, errors);
    something_is_called(block, errors);
    few_calls(block, errors);
    incomplete(block, errors);
    distinct_variants(block, errors);
    for call in &block.calls {
        qualifiers(call, errors);
        always_there(call, errors);
        no_generics(call, errors);
        no_result(call, errors);
        object(call, errors);
        parameters(call, errors);
        if !call.attrs.faulty {
            kind(call, errors);
            reliability(call, errors);
            only_on_servers(call, errors);
            waits(call, errors);
        }
    }
}

/// Refuses a block that is not an inherent impl of one type. The library finds calls by this type, and the
/// names of generated types contain its name.
fn target(block: &Block, errors: &mut Errors) {
    if let Some((path, _)) = &block.own.trait_ {
        errors.over(
            path,
            "calls belong to a type, not to a trait: write the functions with `#[rpc]` in an `impl` without a trait",
        );
    }
    let generics = &block.own.generics;
    if !generics.params.is_empty() {
        errors.over(
            generics,
            "a type with calls cannot be generic: write the block for one type, such as `impl Squad<u8>`",
        );
    }
    if block.type_name().is_none() {
        errors
            .over(&block.own.self_ty, "`#[rpcs]` belongs above `impl` of a struct that derives `Replicated`");
    }
}

/// Refuses a block without calls. Its author probably forgot `#[rpc]`.
fn something_is_called(block: &Block, errors: &mut Errors) {
    if block.calls.is_empty() && block.incomplete.is_empty() {
        errors.at(
            block.own.impl_token.span,
            "this block has no calls: write `#[rpc(server, reliable)]` above each function that clients call, \
             `#[rpc(client, reliable)]` or `#[rpc(multicast, unreliable)]` above each function that the server calls",
        );
    }
}

fn few_calls(block: &Block, errors: &mut Errors) {
    if let Some(call) = block.calls.get(MAX_CALLS) {
        errors.at(
            call.ident().span(),
            format!(
                "a type has at most {MAX_CALLS} calls: combine some, with an enum that derives `NetSerialize` as the parameter"
            ),
        );
    }
}

/// Refuses functions without a body that are not calls. Only a call may have no body. It runs no code, and
/// waits until the program polls it.
fn incomplete(block: &Block, errors: &mut Errors) {
    for signature in &block.incomplete {
        let ident = &signature.ident;
        errors.at(
            ident.span(),
            format!("`{ident}` has no body: write one, or make it a call that is polled, with `#[rpc(server, reliable)]`"),
        );
    }
}

/// Refuses two calls with the same variant. The rules for values check the names on the wire.
fn distinct_variants(block: &Block, errors: &mut Errors) {
    let mut seen = Vec::new();
    for call in &block.calls {
        let ident = call.ident();
        let Some(variant) = call.variant() else {
            errors.at(
                ident.span(),
                format!("no variant of an enum can be named after `{ident}`: give the function another name"),
            );
            continue;
        };
        let wire_name = call.wire_name();
        if seen.iter().any(|(other, name)| *other == variant && *name != wire_name) {
            errors.at(
                ident.span(),
                format!("two calls have the variant `{variant}`: give one of the functions another name"),
            );
        }
        seen.push((variant, wire_name));
    }
}

/// Refuses `const`, `async`, `unsafe` and `extern` calls, because the library itself calls the function when
/// a call arrives.
fn qualifiers(call: &Call, errors: &mut Errors) {
    let signature = &call.signature;
    let qualifiers: [(Option<Span>, &str, &str); 4] = [
        (
            signature.constness.map(|token| token.span),
            "const",
            "it runs when it arrives, not at compile time",
        ),
        (
            signature.asyncness.map(|token| token.span),
            "async",
            "it runs when it arrives, and nothing polls its future",
        ),
        (
            match signature.safety {
                Safety::Unsafe(token) => Some(token.span),
                _ => None,
            },
            "unsafe",
            "its parameters come from another machine, so they can guarantee nothing",
        ),
        (signature.abi.as_ref().map(Spanned::span), "extern", "only generated Rust code calls it"),
    ];
    for (span, name, why) in qualifiers {
        if let Some(span) = span {
            errors.at(span, format!("a call cannot be `{name}`, because {why}: remove `{name}`"));
        }
    }
}

/// Refuses `cfg` on a call or a parameter, because both sides must have the same calls with the same
/// parameters.
fn always_there(call: &Call, errors: &mut Errors) {
    let of_parameters = call.parameters.iter().flat_map(|parameter| &parameter.attributes);
    for attribute in call.attributes.iter().chain(of_parameters) {
        if attribute.path().is_ident("cfg") {
            errors.over(
                attribute,
                "server and client must have the same calls: remove `cfg`, or write it inside the function",
            );
        }
    }
}

/// Refuses a generic call. The types of parameters are not sent, so the types must be the same in each call.
fn no_generics(call: &Call, errors: &mut Errors) {
    let generics = &call.signature.generics;
    if generics.params.is_empty() {
        return;
    }
    let message = if generics.params.len() == generics.lifetimes().count() {
        "a call cannot be generic: write `'_` instead of the lifetime"
    } else {
        "a call cannot be generic: each parameter has one type, which server and client know"
    };
    errors.over(generics, message);
}

/// Refuses a return type. The caller does not wait for the call, so it cannot receive a value (S224).
fn no_result(call: &Call, errors: &mut Errors) {
    if let ReturnType::Type(arrow, ty) = &call.signature.output {
        let mut output = arrow.to_token_stream();
        ty.to_tokens(&mut output);
        let answer = match call.kind() {
            Kind::Server => "client",
            Kind::Client | Kind::Multicast => "server",
        };
        errors.over(
            output,
            format!("a call returns nothing: remove the type, and answer with a call of the kind `{answer}`"),
        );
    }
}

/// Refuses a wrong first parameter. A function with a body accesses its object through the first parameter. A
/// function without a body has no parameter for the object.
fn object(call: &Call, errors: &mut Errors) {
    let own = format!("&mut {}<'_, Self>", call.kind().call_type());
    match (&call.object, call.has_body) {
        (None, true) => {
            let ident = call.ident();
            let span = call.parameters.first().map_or_else(|| ident.span(), |first| first.pattern.span());
            errors.at(
                span,
                format!("`{ident}` has no parameter for its object: let it begin with `&mut self`, `&self` or `call: {own}`"),
            );
        }
        (Some(FnArg::Receiver(receiver)), true) => {
            if !matches!(receiver.kind, ReceiverKind::Reference(..)) {
                errors.over(
                    receiver,
                    format!("a call borrows its object: write `&mut self`, `&self` or `call: {own}`"),
                );
            }
        }
        (Some(FnArg::Typed(typed)), true) => {
            if let Type::Reference(reference) = &*typed.ty
                && reference.mutability.is_none()
            {
                errors.over(
                    reference.and_token,
                    format!("the first parameter must be `&mut self`, `&self` or `{own}`"),
                );
            }
        }
        (Some(first), false) => errors.over(
            first,
            "a call without a body is only polled, and what is polled has the object: remove this parameter, or write a body",
        ),
        (None, false) => {}
    }
}

/// Refuses a parameter without a name, or with a type that does not own its values. Each parameter is a field
/// of the enum of the calls.
fn parameters(call: &Call, errors: &mut Errors) {
    for parameter in &call.parameters {
        if parameter.ident().is_none() {
            errors.over(
                &parameter.pattern,
                "each parameter needs a name, which is its name on the wire: write a name, and take the value apart in the body",
            );
        }
        match foreign_token(parameter.ty.to_token_stream()) {
            Some(TokenTree::Ident(_)) => errors.over(
                &parameter.ty,
                "a parameter has one type, which server and client know: write the type instead of `impl`",
            ),
            Some(_) => errors.over(
                &parameter.ty,
                "a parameter is sent, so it must own its value: replace `&str` by `String`, a slice by `Vec`, and a reference to an object \
                 by `ObjectRef`",
            ),
            None => {}
        }
    }
}

/// Returns the first token which shows that a type is `impl Trait`, or contains a reference or a lifetime.
pub(super) fn foreign_token(tokens: TokenStream) -> Option<TokenTree> {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_foreign = match &token {
            TokenTree::Ident(ident) => ident == "impl",
            TokenTree::Punct(sign) if sign.as_char() == '\'' => {
                !matches!(tokens.peek(), Some(TokenTree::Ident(name)) if name == "static")
            }
            TokenTree::Punct(sign) => sign.as_char() == '&',
            TokenTree::Group(group) => match foreign_token(group.stream()) {
                None => false,
                found => return found,
            },
            TokenTree::Literal(_) => false,
        };
        if is_foreign {
            return Some(token);
        }
    }
    None
}

/// Refuses a call without a kind or with two kinds, because a call has exactly one kind: `server`, `client`
/// or `multicast`.
fn kind(call: &Call, errors: &mut Errors) {
    match call.attrs.kinds.given().as_slice() {
        [] if call.attrs.reliable.is_none() && call.attrs.unreliable.is_none() => errors.at(
            call.attrs.span,
            "write where the call runs, and whether it is sent again after a loss: for example `#[rpc(server, reliable)]`",
        ),
        [] => errors.at(
            call.attrs.span,
            "write where the call runs: `server`, `client` (the one that owns the object) or `multicast` (the server and all clients)",
        ),
        [(first, _), others @ ..] => {
            for (other, span) in others {
                errors.at(
                    *span,
                    format!("a call has one kind: remove `{}` or `{}`", first.name(), other.name()),
                );
            }
        }
    }
}

/// Refuses a call without `reliable` or `unreliable`, and a call with both. A reader of the function must see
/// whether the call can be lost.
fn reliability(call: &Call, errors: &mut Errors) {
    match (&call.attrs.reliable, &call.attrs.unreliable) {
        (Some(_), Some(unreliable)) => {
            errors.at(unreliable.span, "a call is either `reliable` or `unreliable`: remove one of them")
        }
        (None, None) if !call.attrs.kinds.given().is_empty() => errors.at(
            call.attrs.span,
            "write `reliable` if the call must arrive, or `unreliable` if it may be lost",
        ),
        _ => {}
    }
}

/// Refuses `validate` and `per_second` on calls that clients run, because clients trust their server.
fn only_on_servers(call: &Call, errors: &mut Errors) {
    if let Some(per_second) = &call.attrs.per_second {
        within(&per_second.value, 1, MAX_PER_SECOND, "per_second", errors);
    }
    if call.kind() == Kind::Server {
        return;
    }
    let name = call.kind().name();
    if let Some(validate) = &call.attrs.validate {
        errors.at(
            validate.span,
            format!("only `server` calls are validated, because clients trust their server: remove `validate` from this `{name}` call"),
        );
    }
    if let Some(per_second) = &call.attrs.per_second {
        errors.at(
            per_second.span,
            format!("only `server` calls have a limit, because clients trust their server: remove `per_second` from this `{name}` call"),
        );
    }
}

/// Refuses `waits` on a server call, because only clients lack objects that exist on the other side. Refuses
/// `waits` on an unreliable call, because such a call may be lost anyway (S223).
fn waits(call: &Call, errors: &mut Errors) {
    let Some(waits) = &call.attrs.waits else { return };
    if call.kind() == Kind::Server {
        errors.at(
            waits.span,
            "a `server` call never waits, because the server has all objects: remove `waits`",
        );
    } else if call.attrs.unreliable.is_some() {
        errors.at(
            waits.span,
            "only a `reliable` call can wait for an object: write `reliable`, or remove `waits`",
        );
    }
}
