//! The input of a derive as a tree: the type, its fields and its variants, each with its parsed attributes.
//!
//! *Invariant:* this module does not check the meaning of attributes: every input that parses as Rust has a
//! [`Container`].

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, GenericParam, Generics, Ident, Index, LitStr, Member, Type, Visibility,
};

use crate::attr::{At, ContainerAttrs, FieldAttrs, VariantAttrs};
use crate::derive::Derive;
use crate::error::Errors;

/// The type that a derive is applied to.
pub(crate) struct Container<'a> {
    pub(crate) derive: Derive,
    pub(crate) input: &'a DeriveInput,
    pub(crate) attrs: ContainerAttrs,
    pub(crate) body: Body<'a>,
}

pub(crate) enum Body<'a> {
    Struct(Vec<Field<'a>>),
    Enum(Vec<Variant<'a>>),
    Union,
}

pub(crate) struct Variant<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) attrs: VariantAttrs,
    pub(crate) fields: Vec<Field<'a>>,
    pub(crate) is_default: bool,
}

pub(crate) struct Field<'a> {
    /// The name or number by which code accesses the field.
    pub(crate) member: Member,
    pub(crate) ty: &'a Type,
    pub(crate) vis: &'a Visibility,
    /// The documentation and the `deprecated` attribute of the field. They are copied to the setters of the
    /// field.
    pub(crate) docs: Vec<&'a Attribute>,
    pub(crate) attrs: FieldAttrs,
}

impl<'a> Container<'a> {
    pub(crate) fn read(derive: Derive, input: &'a DeriveInput, errors: &mut Errors) -> Self {
        let attrs = ContainerAttrs::parse(derive, &input.attrs, errors);
        let body = match &input.data {
            Data::Struct(data) => Body::Struct(fields(derive, &data.fields, errors)),
            Data::Enum(data) => Body::Enum(
                data.variants
                    .iter()
                    .map(|variant| Variant {
                        ident: &variant.ident,
                        attrs: VariantAttrs::parse(&variant.attrs, errors),
                        fields: fields(derive, &variant.fields, errors),
                        is_default: variant
                            .attrs
                            .iter()
                            .any(|attribute| attribute.path().is_ident("default")),
                    })
                    .collect(),
            ),
            Data::Union(_) => Body::Union,
        };
        Self { derive, input, attrs, body }
    }

    pub(crate) fn ident(&self) -> &'a Ident {
        &self.input.ident
    }

    pub(crate) fn generics(&self) -> &'a Generics {
        &self.input.generics
    }

    pub(crate) fn wire_name(&self) -> String {
        wire_name(self.attrs.name.as_ref(), || self.ident().unraw().to_string())
    }

    /// Returns the path to the module `__private`, which exports everything that generated code uses.
    pub(crate) fn private(&self) -> TokenStream {
        match &self.attrs.krate {
            Some(At { value, .. }) => {
                let span = Span::call_site().located_at(value.span());
                quote_spanned!(span=> #value::__private)
            }
            None => quote!(::repl::__private),
        }
    }

    /// Returns whether the type has generic parameters. Its tables may depend on them.
    pub(crate) fn is_generic(&self) -> bool {
        !self.generics().params.is_empty()
    }

    pub(crate) fn is_enum(&self) -> bool {
        matches!(self.body, Body::Enum(_))
    }

    /// Returns all fields. For an enum, the fields of all variants.
    pub(crate) fn fields(&self) -> Vec<&Field<'a>> {
        match &self.body {
            Body::Struct(fields) => fields.iter().collect(),
            Body::Enum(variants) => variants.iter().flat_map(|variant| &variant.fields).collect(),
            Body::Union => Vec::new(),
        }
    }

    /// Returns the fields that are replicated, in the order of declaration.
    pub(crate) fn sent(&self) -> Vec<&Field<'a>> {
        self.fields().into_iter().filter(|field| self.sends(field)).collect()
    }

    /// Returns whether a field is sent. A field of an object or of a variant is sent if it is marked
    /// `replicated`. A field of an item or a value is sent unless it is marked `skip` (S12).
    pub(crate) fn sends(&self, field: &Field<'_>) -> bool {
        let opt_out = self.derive != Derive::Replicated || self.attrs.all.is_some();
        field.attrs.skip.is_none() && (opt_out || field.attrs.marked.is_some())
    }

    /// Returns whether `ty` contains a generic parameter of this type. If `ty` contains a parameter, the
    /// traits that `ty` implements are known only where the parameter is known.
    pub(crate) fn depends_on_parameters(&self, ty: &Type) -> bool {
        self.generics().params.iter().any(|parameter| match parameter {
            GenericParam::Type(parameter) => mentions(ty.to_token_stream(), &parameter.ident),
            GenericParam::Const(parameter) => mentions(ty.to_token_stream(), &parameter.ident),
            GenericParam::Lifetime(_) => false,
        })
    }
}

impl Variant<'_> {
    pub(crate) fn wire_name(&self) -> String {
        wire_name(self.attrs.name.as_ref(), || self.ident.unraw().to_string())
    }
}

impl Field<'_> {
    /// Returns the field's name on the wire. The name of a raw identifier is written without `r#`, and the
    /// name of a field of a tuple is its number.
    pub(crate) fn wire_name(&self) -> String {
        wire_name(self.attrs.name.as_ref(), || match &self.member {
            Member::Named(ident) => ident.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        })
    }
}

fn wire_name(given: Option<&At<LitStr>>, own: impl FnOnce() -> String) -> String {
    given.map_or_else(own, |name| name.value.value())
}

fn fields<'a>(derive: Derive, fields: &'a syn::Fields, errors: &mut Errors) -> Vec<Field<'a>> {
    let read = |(index, field): (usize, &'a syn::Field)| Field {
        member: match &field.ident {
            Some(ident) => Member::Named(ident.clone()),
            None => {
                let mut index = Index::from(index);
                index.span = field.ty.span();
                Member::Unnamed(index)
            }
        },
        ty: &field.ty,
        vis: &field.vis,
        docs: field.attrs.iter().filter(|attribute| is_documentation(attribute)).collect(),
        attrs: FieldAttrs::parse(derive, &field.attrs, errors),
    };
    fields.iter().enumerate().map(read).collect()
}

fn is_documentation(attribute: &Attribute) -> bool {
    ["doc", "deprecated"].iter().any(|name| attribute.path().is_ident(name))
}

/// Replaces `Self` by `own`, so that the tokens have the same meaning outside the `impl` of the type. At the
/// start of a path such as `Self::MOST`, a type with arguments needs brackets.
pub(crate) fn without_self(tokens: TokenStream, own: &TokenStream) -> TokenStream {
    let is_punct =
        |token: &TokenTree, char| matches!(token, TokenTree::Punct(punct) if punct.as_char() == char);
    let has_arguments = own.clone().into_iter().any(|token| is_punct(&token, '<'));
    let is_bracketed = own.clone().into_iter().next().is_some_and(|token| is_punct(&token, '<'));
    let mut tokens = tokens.into_iter().peekable();
    let mut replaced = TokenStream::new();
    while let Some(token) = tokens.next() {
        let begins_path = tokens.peek().is_some_and(|next| is_punct(next, ':'));
        replaced.extend(match token {
            TokenTree::Ident(ident) if ident == "Self" => {
                if begins_path && has_arguments && !is_bracketed {
                    quote!(<#own>)
                } else {
                    own.clone()
                }
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_self(group.stream(), own));
                inner.set_span(group.span());
                TokenTree::Group(inner).into()
            }
            other => other.into(),
        });
    }
    replaced
}

pub(crate) fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == *name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        _ => false,
    })
}
