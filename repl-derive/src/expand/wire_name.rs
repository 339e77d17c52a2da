//! The wire name of a type, with the wire names of its generic arguments. So two instances of a generic type
//! have different names.
//!
//! *Invariant:* a name needs no other bounds than the fields need.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericParam, Ident, Type};

use super::field;
use crate::ast::{Container, mentions};

/// Returns an expression for the wire name of the type, as a `&'static str`.
///
/// A generic argument that is a number is part of the name. A generic argument that is a type is part of the
/// name if it occurs in the type of a field that the library itself sends. If a field has exactly this type,
/// the name contains the wire name of the argument. Otherwise it contains the wire name of the first such
/// field's type. The names of other arguments are not known, so they are left out.
pub(super) fn of(container: &Container<'_>) -> TokenStream {
    let (private, name) = (container.private(), container.wire_name());
    let arguments: Vec<_> = container
        .generics()
        .params
        .iter()
        .filter_map(|parameter| match parameter {
            GenericParam::Type(parameter) => {
                let ty = sent_type(container, &parameter.ident)?;
                Some(quote!(.argument(<#ty as #private::Property>::SHAPE)))
            }
            GenericParam::Const(parameter) => {
                let ident = &parameter.ident;
                Some(quote!(.number(#ident as ::core::primitive::i128)))
            }
            GenericParam::Lifetime(_) => None,
        })
        .collect();
    if arguments.is_empty() {
        return quote!(#name);
    }
    quote!(const { &#private::WireName::of(#name) #(#arguments)*.finish() }.as_str())
}

/// Returns the type of a sent field that contains the type parameter `ident`, if there is such a field.
fn sent_type(container: &Container<'_>, ident: &Ident) -> Option<TokenStream> {
    let sent = container.sent();
    let shaped: Vec<_> = sent.into_iter().filter(|field| !field.attrs.has_serializer()).collect();
    let is_own = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident(ident));
    let own = shaped.iter().find(|field| is_own(field.ty));
    let first = || shaped.iter().find(|field| mentions(field.ty.to_token_stream(), ident));
    own.or_else(first).map(|field| field::type_of(container, field))
}
