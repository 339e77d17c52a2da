//! The derive of `Interpolate`, which interpolates a struct field by field.
//!
//! *Invariant:* every mistake is reported, and no code is generated for an input with mistakes.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Attribute, Data, DeriveInput, Field, Index, LitStr, Meta, Path, Token, Type, WherePredicate};

use crate::error::{Errors, collect};

#[derive(Default)]
struct Arguments {
    krate: Option<Path>,
    /// Whether the field is not interpolated: it changes in one step when the next value is reached.
    has_steps: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Struct,
    Field,
}

impl Place {
    /// Returns a text that says what can be written at this place.
    fn usage(self) -> &'static str {
        match self {
            Self::Struct => "the attribute of a struct is `#[interpolate(crate = \"path\")]`",
            Self::Field => "the attribute of a field is `#[interpolate(step)]`",
        }
    }
}

pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let input: DeriveInput = match syn::parse2(input) {
        Ok(input) => input,
        Err(error) => return error.into_compile_error(),
    };
    let (made, error) = collect(|errors| expand(&input, errors));
    error.map_or(made, syn::Error::into_compile_error)
}

fn expand(input: &DeriveInput, errors: &mut Errors) -> TokenStream {
    let Data::Struct(data) = &input.data else {
        errors.over(
            &input.ident,
            "only structs have values in between: implement `Interpolate` by hand, and say when one variant becomes another",
        );
        return TokenStream::new();
    };
    let library = arguments(&input.attrs, Place::Struct, errors).krate;
    let library = library.map_or_else(|| quote!(::repl), ToTokens::into_token_stream);
    let fields: Vec<_> = data.fields.iter().enumerate().map(|(at, field)| mixed(at, field, errors)).collect();
    let (plain, over): (Vec<_>, Vec<_>) =
        fields.iter().map(|(name, how)| (how.plain(name, &library), how.over(name, &library))).unzip();
    let names: Vec<_> = fields.iter().map(|(name, _)| name).collect();
    let mut generics = input.generics.clone();
    let bounds = data.fields.iter().zip(&fields).map(|(field, (_, how))| how.bound(&field.ty, &library));
    if !input.generics.params.is_empty() {
        generics.make_where_clause().predicates.extend(bounds);
    }
    let (parameters, arguments, bounds) = generics.split_for_impl();
    let ident = &input.ident;
    quote! {
        impl #parameters #library::Interpolate for #ident #arguments #bounds {
            fn interpolate(&self, next: &Self, fraction: f64) -> Self {
                Self { #(#names: #plain),* }
            }

            fn interpolate_over(&self, next: &Self, fraction: f64, ticks: f64) -> Self {
                Self { #(#names: #over),* }
            }
        }
    }
}

/// How a field is interpolated.
enum Mix<'a> {
    /// With the `Interpolate` implementation of the field's type.
    Between(&'a Type),
    Step,
}

impl Mix<'_> {
    fn plain(&self, name: &TokenStream, library: &TokenStream) -> TokenStream {
        match self {
            // The code names the type, so that the compiler shows it if it does not implement `Interpolate`.
            Self::Between(ty) => {
                quote!(<#ty as #library::Interpolate>::interpolate(&self.#name, &next.#name, fraction))
            }
            Self::Step => step(name),
        }
    }

    fn over(&self, name: &TokenStream, library: &TokenStream) -> TokenStream {
        match self {
            Self::Between(ty) => {
                quote!(<#ty as #library::Interpolate>::interpolate_over(&self.#name, &next.#name, fraction, ticks))
            }
            Self::Step => step(name),
        }
    }

    fn bound(&self, ty: &Type, library: &TokenStream) -> WherePredicate {
        match self {
            Self::Between(_) => syn::parse_quote!(#ty: #library::Interpolate),
            Self::Step => syn::parse_quote!(#ty: ::core::clone::Clone),
        }
    }
}

fn step(name: &TokenStream) -> TokenStream {
    quote!(::core::clone::Clone::clone(if fraction < 1.0 { &self.#name } else { &next.#name }))
}

/// Returns the name of a field, and how the field is interpolated.
fn mixed<'a>(at: usize, field: &'a Field, errors: &mut Errors) -> (TokenStream, Mix<'a>) {
    let name = match &field.ident {
        Some(name) => name.to_token_stream(),
        None => Index::from(at).to_token_stream(),
    };
    let has_steps = arguments(&field.attrs, Place::Field, errors).has_steps;
    (name, if has_steps { Mix::Step } else { Mix::Between(&field.ty) })
}

fn arguments(attributes: &[Attribute], place: Place, errors: &mut Errors) -> Arguments {
    let mut arguments = Arguments::default();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("interpolate")) {
        let parsed = attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
        for meta in errors.take(parsed).unwrap_or_default() {
            match &meta {
                Meta::Path(path) if place == Place::Field && path.is_ident("step") => {
                    arguments.has_steps = true;
                }
                Meta::NameValue(pair) if place == Place::Struct && pair.path.is_ident("crate") => {
                    let value = &pair.value;
                    let path = syn::parse2::<LitStr>(value.to_token_stream());
                    arguments.krate = errors.take(path.and_then(|path| path.parse()));
                }
                _ => errors.over(&meta, place.usage()),
            }
        }
    }
    arguments
}
