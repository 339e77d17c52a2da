//! The expansion of `#[derive(NetSerialize)]`.
//!
//! *Invariant:* the generated `read` reads the bits that `write` writes, in the order of declaration. A
//! struct is treated as an enum with one variant. The number of this variant takes no bits.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{Generics, Ident, WherePredicate, parse_quote};

use super::enclosure::enclosed;
use super::{field, serializer, wire_name};
use crate::ast::{Body, Container, Field};

/// A struct, or one variant of an enum.
struct Form<'a> {
    /// The path of the constructor: `Self` or `Self::Variant`.
    constructor: TokenStream,
    wire_name: Option<String>,
    fields: Vec<Part<'a>>,
    is_default: bool,
}

struct Part<'a> {
    field: &'a Field<'a>,
    /// The field's index among all fields of the type that are sent. It is `None` if the field is skipped.
    sent: Option<usize>,
}

pub(super) fn expand(container: &Container<'_>) -> TokenStream {
    enclosed(container, &items(container))
}

/// Returns the generated items. The caller puts them into a separate block.
pub(crate) fn items(container: &Container<'_>) -> TokenStream {
    let forms = forms(container);
    let generics = field::generics(container, predicates(container));
    let serializers = serializer::expand(container, &generics);
    let table = table(container, &generics);
    let property = property(container, &generics, &forms);
    let net_serialize = net_serialize(container, &generics, &forms);
    quote!(#serializers #table #property #net_serialize)
}

/// Returns a form for each variant of an enum. A struct has a single form, and this form has no name.
fn forms<'a>(container: &'a Container<'a>) -> Vec<Form<'a>> {
    let mut next = 0;
    let mut parts = |fields: &'a [Field<'a>]| {
        let part = |field| {
            let sent = container.sends(field).then_some(next);
            next += usize::from(sent.is_some());
            Part { field, sent }
        };
        fields.iter().map(part).collect()
    };
    match &container.body {
        Body::Struct(fields) => {
            vec![Form { constructor: quote!(Self), wire_name: None, fields: parts(fields), is_default: true }]
        }
        Body::Enum(variants) => variants
            .iter()
            .map(|variant| {
                let ident = variant.ident;
                Form {
                    constructor: quote!(Self::#ident),
                    wire_name: Some(variant.wire_name()),
                    fields: parts(&variant.fields),
                    is_default: variant.is_default,
                }
            })
            .collect(),
        Body::Union => Vec::new(),
    }
}

/// Returns the bounds that a generic value needs in addition to the bounds of its fields. The value needs
/// `Clone` for the shadow. The type needs `Default` for fields that are never sent and for fields with their
/// own serialiser.
fn predicates(container: &Container<'_>) -> Vec<WherePredicate> {
    let made_by_default = |field: &&Field<'_>| !container.sends(field) || field.attrs.has_serializer();
    let (ident, (_, parameters, _)) = (container.ident(), container.generics().split_for_impl());
    let own = std::iter::once(parse_quote!(#ident #parameters: ::core::clone::Clone));
    let fields = container.fields().into_iter().filter(made_by_default);
    let fields = fields.filter(|field| container.depends_on_parameters(field.ty)).map(|field| {
        let ty = field::type_of(container, field);
        parse_quote!(#ty: ::core::default::Default)
    });
    own.chain(fields).collect()
}

/// Returns a trait that contains the table entries of all fields that are sent. For a generic type, constants
/// that depend on its parameters can only be in a trait.
fn table(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let (private, ident) = (container.private(), container.ident());
    let (declared, parameters, bounds) = generics.split_for_impl();
    let entries = container.sent().into_iter().enumerate();
    let entries = entries.map(|(index, field)| field::entry(container, field, index, &quote!(0)));
    quote! {
        trait __Fields {
            const FIELDS: &'static [#private::Field];
        }

        impl #declared __Fields for #ident #parameters #bounds {
            const FIELDS: &'static [#private::Field] = &[#(#entries),*];
        }
    }
}

fn property(container: &Container<'_>, generics: &Generics, forms: &[Form<'_>]) -> TokenStream {
    let (private, ident) = (container.private(), container.ident());
    let (declared, parameters, bounds) = generics.split_for_impl();
    let fresh = forms.iter().find(|form| form.is_default).or(forms.first()).map(|form| {
        let constructor = &form.constructor;
        let fields = form.fields.iter().map(|part| {
            let (member, ty) = (&part.field.member, field::type_of(container, part.field));
            if part.sent.is_some() && !part.field.attrs.has_serializer() {
                quote!(#member: <#ty as #private::Value>::fresh())
            } else {
                quote!(#member: <#ty as ::core::default::Default>::default())
            }
        });
        quote!(#constructor { #(#fields),* })
    });
    let span = field::generated_span(ident.span());
    let shape = {
        let value = quote_spanned!(span=> Self);
        quote!(&#private::Shape::opaque::<#value>())
    };
    // The span and the reason why this is safe are the same as in the derive of `Replicated`. The generated
    // shape is the shape of an opaque value, which describes only the size of the memory.
    quote! {
        #[automatically_derived]
        unsafe impl #declared #private::Property for #ident #parameters #bounds {
            const SHAPE: &'static #private::Shape = #shape;

            fn initial() -> Self {
                #fresh
            }
        }
    }
}

fn net_serialize(container: &Container<'_>, generics: &Generics, forms: &[Form<'_>]) -> TokenStream {
    let (private, ident, name) = (container.private(), container.ident(), wire_name::of(container));
    let (declared, parameters, bounds) = generics.split_for_impl();
    let form = wire_form(container, forms);
    let write = write(container, forms);
    let read = read(container, forms);
    let identical = identical(container, forms);
    quote! {
        #[automatically_derived]
        impl #declared #private::NetSerialize for #ident #parameters #bounds {
            const WIRE_NAME: &'static ::core::primitive::str = #name;
            const WIRE_FORM: &'static #private::WireForm = #form;

            fn write(
                &self,
                writer: &mut #private::BitWriter,
            ) -> ::core::result::Result<(), #private::WriteError> {
                #write
            }

            fn read(
                reader: &mut #private::BitReader<'_>,
                references: &mut #private::ReferenceMap<'_>,
            ) -> ::core::result::Result<Self, #private::ReadError> {
                #read
            }

            fn identical(&self, other: &Self) -> ::core::primitive::bool {
                #identical
            }
        }
    }
}

/// Returns an expression for the wire form: the fields, and each variant with the number of its fields.
fn wire_form(container: &Container<'_>, forms: &[Form<'_>]) -> TokenStream {
    let private = container.private();
    let variants = forms.iter().filter_map(|form| {
        let (name, count) = (form.wire_name.as_ref()?, form.sent().len());
        Some(quote!((#name, #count)))
    });
    quote!(&#private::WireForm::derived::<Self>(<Self as __Fields>::FIELDS, &[#(#variants),*]))
}

fn write(container: &Container<'_>, forms: &[Form<'_>]) -> TokenStream {
    let private = container.private();
    let count = forms.len() as u64;
    let arms = forms.iter().enumerate().map(|(tag, form)| {
        let tag = tag as u64;
        let tag = (count > 1).then(|| quote!(writer.write_below(#tag, #count);));
        let pattern = form.pattern("value");
        let writes = form.sent().map(|(field, index)| {
            let (value, entry) = (bound("value", index), entry(index));
            match serializer(container, field, index) {
                Some(serializer) => quote!(#serializer::write(#value, writer)?;),
                None => {
                    let ty = field::type_of(container, field);
                    quote!(<#ty as #private::Value>::write_as(#value, #entry, writer)?;)
                }
            }
        });
        quote!(#pattern => { #tag #(#writes)* })
    });
    quote! {
        match self {
            #(#arms)*
        }
        ::core::result::Result::Ok(())
    }
}

fn read(container: &Container<'_>, forms: &[Form<'_>]) -> TokenStream {
    let private = container.private();
    let values = forms.iter().map(|form| {
        let constructor = &form.constructor;
        let fields = form.fields.iter().map(|part| {
            let (member, ty) = (&part.field.member, field::type_of(container, part.field));
            let Some(index) = part.sent else {
                return quote!(#member: <#ty as ::core::default::Default>::default());
            };
            let entry = entry(index);
            match serializer(container, part.field, index) {
                Some(serializer) => quote!(#member: #serializer::read(reader, references)?),
                None => quote!(#member: <#ty as #private::Value>::read_as(#entry, reader, references)?),
            }
        });
        quote!(::core::result::Result::Ok(#constructor { #(#fields),* }))
    });
    if let [_] = forms {
        return quote!(#(#values)*);
    }
    let (count, tags) = (forms.len() as u64, 0..forms.len() as u64);
    quote! {
        match reader.read_below(#count)? {
            #(#tags => #values,)*
            _ => ::core::result::Result::Err(#private::ReadError::UnknownVariant),
        }
    }
}

fn identical(container: &Container<'_>, forms: &[Form<'_>]) -> TokenStream {
    let private = container.private();
    let arms = forms.iter().map(|form| {
        let (ours, theirs) = (form.pattern("ours"), form.pattern("theirs"));
        let equal = form.sent().map(|(field, index)| {
            let (ours, theirs, ty) =
                (bound("ours", index), bound("theirs", index), field::type_of(container, field));
            if field.attrs.has_serializer() {
                let serializer = field::serializer(container, index);
                quote!(#private::identical_with::<#ty, #serializer>(#ours, #theirs))
            } else {
                quote!(<#ty as #private::Value>::same_as(#ours, #theirs))
            }
        });
        let mut equal: Vec<_> = equal.collect();
        if equal.is_empty() {
            equal.push(quote!(true));
        }
        quote!((#ours, #theirs) => #(#equal)&&*,)
    });
    let others = (forms.len() > 1).then(|| quote!(_ => false,));
    quote! {
        match (self, other) {
            #(#arms)*
            #others
        }
    }
}

impl<'a> Form<'a> {
    /// Returns the fields that are sent, with their indices.
    fn sent(&self) -> impl ExactSizeIterator<Item = (&'a Field<'a>, usize)> {
        let sent: Vec<_> = self.fields.iter().filter_map(|part| Some((part.field, part.sent?))).collect();
        sent.into_iter()
    }

    /// Returns a pattern that binds each sent field to a name, which consists of `prefix` and the field's
    /// index.
    fn pattern(&self, prefix: &str) -> TokenStream {
        let constructor = &self.constructor;
        let fields = self.sent().map(|(field, index)| {
            let (member, name) = (&field.member, bound(prefix, index));
            quote!(#member: #name,)
        });
        quote!(#constructor { #(#fields)* .. })
    }
}

fn bound(prefix: &str, index: usize) -> Ident {
    format_ident!("{}_{}", prefix, index)
}

fn entry(index: usize) -> TokenStream {
    quote!(&<Self as __Fields>::FIELDS[#index])
}

fn serializer(container: &Container<'_>, field: &Field<'_>, index: usize) -> Option<TokenStream> {
    if !field.attrs.has_serializer() {
        return None;
    }
    let (private, ty) = (container.private(), field::type_of(container, field));
    let serializer = field::serializer(container, index);
    Some(quote!(<#serializer as #private::With<#ty>>))
}
