//! The expansion of `#[derive(Replicated)]` for an enum: the table of its variants, and the functions that
//! make a variant and find its fields.
//!
//! *Invariant:* the offsets of fields in variants are never generated, because Rust does not tell them at
//! compile time. The generated code returns the addresses of fields.

use proc_macro2::{Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Generics, WherePredicate, parse_quote};

use super::enclosure::enclosed;
use super::{field, serializer, structure, wire_name};
use crate::ast::{Container, Field, Variant};

/// A variant, with the index of its first sent field among the sent fields of all variants.
struct Numbered<'a> {
    variant: &'a Variant<'a>,
    number: usize,
    first: usize,
}

pub(super) fn expand(container: &Container<'_>, variants: &[Variant<'_>]) -> TokenStream {
    let variants = numbered(container, variants);
    let generics = field::generics(container, predicates(container));
    let serializers = serializer::expand(container, &generics);
    let table = table(container, &generics, &variants);
    let property = property(container, &generics, &variants);
    let private = container.private();
    let form = quote! {
        &#private::WireForm::of_field(&#private::Field::new("", 0, <Self as #private::Property>::SHAPE))
    };
    let net_serialize = structure::net_serialize(container, &generics, &form);
    enclosed(container, &quote!(#serializers #property #table #net_serialize))
}

fn numbered<'a>(container: &Container<'_>, variants: &'a [Variant<'a>]) -> Vec<Numbered<'a>> {
    let mut first = 0;
    let number = |(number, variant): (usize, &'a Variant<'a>)| {
        let numbered = Numbered { variant, number, first };
        first += variant.fields.iter().filter(|field| container.sends(field)).count();
        numbered
    };
    variants.iter().enumerate().map(number).collect()
}

/// Returns whether a new variant gets the value of a field from `Default`, and not the initial value of a
/// property.
fn is_made_by_default(container: &Container<'_>, field: &Field<'_>) -> bool {
    !container.sends(field) || field.attrs.has_serializer()
}

/// Returns the bounds that a generic enum needs in addition to the bounds of its sent fields.
fn predicates(container: &Container<'_>) -> Vec<WherePredicate> {
    let fields = container.fields().into_iter().filter(|field| is_made_by_default(container, field));
    let fields = fields.filter(|field| container.depends_on_parameters(field.ty)).map(|field| {
        let ty = field::type_of(container, field);
        parse_quote!(#ty: ::core::default::Default)
    });
    fields.collect()
}

impl<'a> Numbered<'a> {
    /// Returns the sent fields of the variant, in the order of declaration.
    fn sent(&self, container: &Container<'_>) -> Vec<&'a Field<'a>> {
        self.variant.fields.iter().filter(|field| container.sends(field)).collect()
    }

    /// Returns an expression that makes the variant with initial values.
    fn make(&self, container: &Container<'_>) -> TokenStream {
        let ident = self.variant.ident;
        let fields = self.variant.fields.iter().map(|field| {
            let span = field::generated_span(field.ty.span());
            let private = field::private_at(container, span);
            let (member, ty) = (&field.member, field::type_of(container, field));
            if is_made_by_default(container, field) {
                quote_spanned!(span=> #member: <#ty as #private::MadeWithVariant>::make())
            } else {
                quote_spanned!(span=> #member: <#ty as #private::Property>::initial())
            }
        });
        quote!(Self::#ident { #(#fields),* })
    }

    /// Returns the entry of the variant in the table.
    fn entry(&self, container: &Container<'_>) -> TokenStream {
        let (private, name) = (container.private(), self.variant.wire_name());
        let fields = self.sent(container).into_iter().zip(self.first..);
        let fields = fields.map(|(field, index)| field::entry(container, field, index, &quote!(0)));
        quote!(#private::Variant::new(#name, &[#(#fields),*]))
    }
}

/// Returns the table of the variants, and the functions that access them.
fn table(container: &Container<'_>, generics: &Generics, variants: &[Numbered<'_>]) -> TokenStream {
    let (private, ident) = (container.private(), container.ident());
    let (declared, parameters, bounds) = generics.split_for_impl();
    let entries = variants.iter().map(|variant| variant.entry(container));
    let (active, field) = (active(variants), address(container, variants));
    let makes = variants.iter().map(|variant| {
        let (number, make) = (Literal::usize_unsuffixed(variant.number), variant.make(container));
        quote!(#number => ::core::option::Option::Some(#make),)
    });
    quote! {
        #[automatically_derived]
        impl #declared #private::Variants for #ident #parameters #bounds {
            const VARIANTS: &'static [#private::Variant] = &[#(#entries),*];

            fn active(&self) -> ::core::primitive::usize {
                #active
            }

            fn field(&self, field: ::core::primitive::usize) -> *const ::core::primitive::u8 {
                #field
            }

            fn make(variant: ::core::primitive::usize) -> ::core::option::Option<Self> {
                match variant {
                    #(#makes)*
                    _ => ::core::option::Option::None,
                }
            }
        }
    }
}

/// Returns an expression for the index of the active variant.
fn active(variants: &[Numbered<'_>]) -> TokenStream {
    let numbers = variants.iter().map(|Numbered { variant, number, .. }| {
        let (ident, number) = (variant.ident, Literal::usize_unsuffixed(*number));
        quote!(Self::#ident { .. } => #number,)
    });
    quote!(match self { #(#numbers)* })
}

/// Returns an expression for the address of a sent field of the active variant.
fn address(container: &Container<'_>, variants: &[Numbered<'_>]) -> TokenStream {
    let fields = variants.iter().flat_map(|variant| {
        let ident = variant.variant.ident;
        variant.sent(container).into_iter().enumerate().map(move |(index, field)| {
            let (member, index) = (&field.member, Literal::usize_unsuffixed(index));
            quote!((Self::#ident { #member: field, .. }, #index) => (&raw const *field).cast(),)
        })
    });
    quote! {
        match (self, field) {
            #(#fields)*
            _ => ::core::ptr::null(),
        }
    }
}

fn property(container: &Container<'_>, generics: &Generics, variants: &[Numbered<'_>]) -> TokenStream {
    let (private, ident, name) = (container.private(), container.ident(), wire_name::of(container));
    let (declared, parameters, bounds) = generics.split_for_impl();
    let initial = variants.iter().find(|variant| variant.variant.is_default).or(variants.first());
    let initial = initial.map(|variant| variant.make(container));
    let types = variants.iter().flat_map(|variant| {
        let ident = variant.variant.ident;
        variant.sent(container).into_iter().map(move |field| {
            let (member, ty) = (&field.member, field::type_of(container, field));
            quote! {
                if let Self::#ident { #member: field, .. } = object {
                    let _: *const #ty = &raw const *field;
                }
            }
        })
    });
    // The span and the reason why this is safe are the same as in the table of a struct: `Variants::field`
    // returns the address of a field that has the shape of its entry, because the closure checks the type.
    quote! {
        #[automatically_derived]
        unsafe impl #declared #private::Property for #ident #parameters #bounds {
            const SHAPE: &'static #private::Shape = {
                let _: fn(&Self) = |object| {
                    #(#types)*
                };
                &#private::Shape::variants::<Self>(#name)
            };

            fn initial() -> Self {
                #initial
            }
        }
    }
}
