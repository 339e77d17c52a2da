//! The enum of the calls: a variant for each call, a field for each parameter.
//!
//! *Invariant:* the enum is expanded by the same code as `derive(NetSerialize)`, so a call is an ordinary
//! value on the wire.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Data, DeriveInput, Ident, parse_quote};

use super::block::{Block, Call, Parameter};
use super::check::foreign_token;
use crate::ast::without_self;
use crate::attr::is_replicated;

/// Returns the enum with the attributes that its expansion reads. Leaves out calls that cannot be variants
/// and parameters that cannot be fields, because `check` reports them. On the wire, all enums of calls have
/// the same name, because the table of the calls has the name of the class.
pub(super) fn input(block: &Block, name: &Ident) -> DeriveInput {
    let own = block.own.self_ty.to_token_stream();
    let krate = block.attrs.krate.as_ref().map(|krate| {
        let path = &krate.value;
        quote!(#[replicated(crate = #path)])
    });
    let variants = block.calls.iter().filter_map(|call| variant(call, &own));
    let docs = format!("The calls of `{}`, each with its parameters.", own.to_string().replace(' ', ""));
    parse_quote! {
        #krate
        #[replicated(name = "Call")]
        #[doc = #docs]
        pub enum #name {
            #(#variants),*
        }
    }
}

fn variant(call: &Call, own: &TokenStream) -> Option<TokenStream> {
    let ident = call.variant()?;
    let docs = docs(call);
    let name = match &call.attrs.name {
        Some(name) => name.value.clone(),
        None => syn::LitStr::new(&call.wire_name(), call.ident().span()),
    };
    let fields: Vec<_> = call.parameters.iter().filter_map(|parameter| field(parameter, own)).collect();
    let fields = (!fields.is_empty()).then(|| quote!({ #(#fields),* }));
    Some(quote!(#(#docs)* #[replicated(name = #name)] #ident #fields))
}

fn field(parameter: &Parameter, own: &TokenStream) -> Option<TokenStream> {
    let (ident, ty) = (parameter.ident()?, type_of(parameter, own)?);
    // In an expression such as `Self::MOST`, a type with arguments needs its own brackets.
    let bracketed = quote!(<#own>);
    let attributes =
        parameter.replicated().map(|attribute| without_self(attribute.to_token_stream(), &bracketed));
    Some(quote!(#(#attributes)* #ident: #ty))
}

/// Returns the type of a parameter without `Self`, if it can be the type of a field.
pub(super) fn type_of(parameter: &Parameter, own: &TokenStream) -> Option<TokenStream> {
    let ty = parameter.ty.to_token_stream();
    foreign_token(ty.clone()).is_none().then(|| without_self(ty, own))
}

pub(super) fn docs(call: &Call) -> impl Iterator<Item = &Attribute> {
    call.attributes.iter().filter(|attribute| attribute.path().is_ident("doc"))
}

/// Returns the enum as it is generated: without our attributes and without repeated variants.
pub(super) fn definition(input: &DeriveInput) -> DeriveInput {
    let mut input = input.clone();
    input.attrs.retain(|attribute| !is_replicated(attribute));
    if let Data::Enum(data) = &mut input.data {
        let mut seen = Vec::new();
        for mut pair in std::mem::take(&mut data.variants) {
            if !seen.contains(&pair.ident) {
                seen.push(pair.ident.clone());
                pair.attrs.retain(|attribute| !is_replicated(attribute));
                pair.fields.iter_mut().for_each(|field| field.attrs.clear());
                data.variants.push(pair);
            }
        }
    }
    input
}
