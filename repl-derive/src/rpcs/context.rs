//! A block of calls together with the names that are generated for it.
//!
//! *Invariant:* generated code binds parameters to generated names, so that a parameter may have any name.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::Ident;

use super::block::{Block, Call};
use crate::ast::{Body, Container, Variant};

/// A block of calls with the names that its expansion uses.
pub(super) struct Context<'a> {
    pub(super) block: &'a Block,
    pub(super) container: &'a Container<'a>,
    /// The name of the generated type with a method for each call.
    pub(super) caller: &'a Ident,
}

impl Context<'_> {
    /// Returns the path to the module `__private`, which exports everything that generated code uses.
    pub(super) fn private(&self) -> TokenStream {
        self.container.private()
    }

    /// Returns the type of the block.
    pub(super) fn own(&self) -> TokenStream {
        self.block.own.self_ty.to_token_stream()
    }

    /// Returns the calls that have a variant, each with its variant.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&Call, &Variant<'_>)> {
        let variants = match &self.container.body {
            Body::Enum(variants) => variants.as_slice(),
            Body::Struct(_) | Body::Union => &[],
        };
        self.block.calls.iter().filter(|call| call.variant().is_some()).zip(variants)
    }

    /// Returns a pattern for a call that binds each parameter to a generated name.
    pub(super) fn pattern(&self, variant: &Variant<'_>) -> TokenStream {
        let (calls, variant_name) = (self.container.ident(), variant.ident);
        let fields = variant.fields.iter().enumerate().map(|(index, field)| {
            let (member, bound) = (&field.member, bound(index));
            quote!(#member: #bound)
        });
        quote!(#calls::#variant_name { #(#fields),* })
    }
}

/// Returns the name to which a pattern binds a parameter.
pub(super) fn bound(index: usize) -> Ident {
    format_ident!("parameter_{}", index)
}
