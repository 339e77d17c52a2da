//! Remote calls: the attribute `#[rpcs]` on an impl block, and `#[rpc]` on its functions.
//!
//! *Invariant:* the user's functions stay unchanged, except for attributes. A call is a value of a generated
//! enum, and this enum is expanded in the same way as with `derive(NetSerialize)`.

mod block;
mod check;
mod context;
mod expand;
mod fit;
mod repeated;
mod run;
mod validator;
mod values;

use std::path::Path;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Error, ImplItemFn, Item, parse2};

use crate::ast::Container;
use crate::derive::Derive;
use crate::error;
use crate::expand::field::generated_span;

use block::Block;
use context::Context;

#[cfg(test)]
pub(crate) use check::MAX_CALLS;

/// Expands `#[rpcs]`. `file` is the source file, if the compiler knows it.
pub(crate) fn rpcs(arguments: TokenStream, item: TokenStream, file: Option<&Path>) -> TokenStream {
    let own = match parse2(item.clone()) {
        Ok(Item::Impl(own)) => own,
        Ok(_) => {
            let message = "`#[rpcs]` belongs above an `impl` block: write the functions that the other side calls in \
                           `impl Type { … }`, and `#[rpcs]` above it";
            return with_error(&Error::new(Span::call_site(), message), &item);
        }
        Err(error) => return with_error(&error, &item),
    };
    let is_repeated = file.is_some_and(|file| repeated::is_repeated(&own, file));
    let (expansion, errors) = error::collect(|errors| {
        let block = Block::read(arguments, own, errors);
        if is_repeated {
            let message = "the type has a block with `#[rpcs]` already: put all its calls into one block";
            errors.over(&block.own.self_ty, message);
            return block.own.to_token_stream();
        }
        check::check(&block, errors);
        let Some(ident) = block.type_name() else { return block.own.to_token_stream() };
        let span = generated_span(ident.span());
        let input = values::input(&block, &format_ident!("{}Call", ident, span = span));
        let container = Container::read(Derive::Rpcs, &input, errors);
        crate::check::check(&container, errors);
        let caller = format_ident!("{}Caller", ident, span = span);
        let context = Context { block: &block, container: &container, caller: &caller };
        if !errors.is_empty() { expand::stub(&context) } else { expand::expand(&context) }
    });
    let errors = errors.map(Error::into_compile_error);
    quote!(#errors #expansion)
}

/// Expands `#[rpc]` outside of a block with `#[rpcs]`. This is always a mistake.
pub(crate) fn rpc(item: TokenStream) -> TokenStream {
    let message =
        "`#[rpc]` works only inside an `impl` block with `#[rpcs]`: write `#[rpcs]` above the `impl`";
    let error = Error::new(Span::call_site(), message);
    if block::is_bodiless(&item) {
        return error.into_compile_error();
    }
    match parse2::<ImplItemFn>(item.clone()) {
        Ok(mut function) => {
            block::remove_our_attributes(&mut function.attrs, &mut function.sig);
            with_error(&error, &function)
        }
        Err(_) => with_error(&error, &item),
    }
}

fn with_error(error: &Error, item: &impl ToTokens) -> TokenStream {
    let error = error.to_compile_error();
    quote!(#error #item)
}
