//! Generates serialisers for fields that do not use the serialiser of their type. They use the functions of a
//! module (`with`), or are sent as another type (`as`).
//!
//! *Invariant:* each serialiser is a separate type, and all its functions are static.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Generics, Ident, Path};

use super::field;
use crate::ast::{Container, Field};

/// Returns the serialisers. They call the modules that the user names with `with`, or convert to the types
/// that the user names with `as`.
pub(super) fn expand(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let sent = container.sent().into_iter().enumerate();
    sent.filter_map(|(index, field)| {
        if let Some(module) = field.attrs.delta.as_ref().and_then(|delta| delta.value.as_ref()) {
            return Some(delta_of(container, generics, field, index, module));
        }
        let body = match (&field.attrs.with, &field.attrs.form) {
            (Some(module), _) => module_body(container, field, &module.value),
            (None, Some(form)) => conversion_body(container, field, index, generics, form.value.span()),
            (None, None) => return None,
        };
        Some(serializer_of(container, generics, field, index, &body))
    })
    .collect()
}

/// Returns the name and the version of a module's wire form. Without a name, the compiler's error says
/// what to write.
fn wire_form(private: &TokenStream, module: &Path, span: Span) -> [TokenStream; 2] {
    ["NAME", "VERSION"].map(|constant| optional(constant, private, module, span))
}

/// Returns an item of a module. If the module does not define it, its name resolves to the default in
/// the outer block.
fn optional(item: &str, private: &TokenStream, module: &Path, span: Span) -> TokenStream {
    let item = Ident::new(item, span);
    quote_spanned! {span=>
        {
            use #private::unsaid::*;
            {
                use #module::*;
                #item
            }
        }
    }
}

/// The parts of a serialiser that depend on how the field is written.
struct Body {
    /// Items that are generated in addition to the serialiser.
    items: TokenStream,
    constants: TokenStream,
    write: TokenStream,
    read: TokenStream,
}

/// Returns the parts of a serialiser that calls the functions of a module.
fn module_body(container: &Container<'_>, field: &Field<'_>, module: &Path) -> Body {
    let ty = field::type_of(container, field);
    let span =
        field::generated_span(module.segments.last().map_or_else(Span::call_site, |last| last.ident.span()));
    let private = field::private_at(container, span);
    let [wire_name, wire_version] = wire_form(&private, module, span);
    let named = quote_spanned!(span=> #private::assert_named(#wire_name););
    let around = quote_spanned!(span=> #private::around::<#ty, _, _>(&#module::write));
    Body {
        items: quote!(const _: () = #named),
        constants: quote! {
            const WIRE_NAME: &'static ::core::primitive::str = #wire_name;
            const WIRE_VERSION: ::core::primitive::u32 = #wire_version;
            const AROUND: &'static #private::Around = #around;
        },
        write: quote_spanned!(span=> #private::write_with(#module::write, value, writer)),
        read: quote_spanned!(span=> #private::read_with(#module::read, reader, references)),
    }
}

/// Returns the parts of a serialiser that converts the field. The attributes for numbers apply to the type to
/// which the field is converted.
fn conversion_body(
    container: &Container<'_>,
    field: &Field<'_>,
    index: usize,
    generics: &Generics,
    span: Span,
) -> Body {
    let (ty, form) = (field::type_of(container, field), field::formatted_type(container, field));
    let span = field::generated_span(span);
    let (private, own) = (field::private_at(container, span), field::serializer(container, index));
    let numbers = field::numbers(container, field, field::generated_span(field::form_span(field)));
    let (declared, _, bounds) = generics.split_for_impl();
    // A generic type needs no check, because its bounds require the same traits.
    let checked = (!container.is_generic()).then(|| {
        let name = format_ident!("__Form{}", index);
        quote_spanned!(span=> struct #name(#private::FormOf<#form>);)
    });
    let conversion = quote_spanned!(span=> #private::ConversionOf::<#ty>::new::<#form, _>());
    Body {
        items: quote_spanned! {span=>
            #checked

            impl #declared #own #bounds {
                const ENTRY: &'static #private::Field =
                    &#private::Field::new("", 0, <#form as #private::Property>::SHAPE) #numbers.checked();
                const CONVERSION: #private::ConversionOf<#ty> = #conversion;
            }
        },
        constants: quote! {
            const WIRE_NAME: &'static ::core::primitive::str = Self::ENTRY.type_name();
            const WIRE_VERSION: ::core::primitive::u32 = 1;
            const FORM: &'static #private::WireForm = &#private::WireForm::of_field(Self::ENTRY);
            const AROUND: &'static #private::Around = Self::CONVERSION.around;
        },
        write: quote!((Self::CONVERSION.write)(value, Self::ENTRY, writer)),
        read: quote!((Self::CONVERSION.read)(Self::ENTRY, reader, references)),
    }
}

/// Returns the type that has the functions of a serialiser.
fn declaration(container: &Container<'_>, generics: &Generics, index: usize) -> TokenStream {
    let (ident, name) = (container.ident(), field::serializer_name(index));
    let (_, parameters, _) = generics.split_for_impl();
    let (declared, _, bounds) = container.generics().split_for_impl();
    quote!(struct #name #declared (::core::marker::PhantomData<fn() -> #ident #parameters>) #bounds;)
}

/// Returns a type that calls the functions of the module that the user names by `delta`.
fn delta_of(
    container: &Container<'_>,
    generics: &Generics,
    field: &Field<'_>,
    index: usize,
    module: &Path,
) -> TokenStream {
    let span =
        field::generated_span(module.segments.last().map_or_else(Span::call_site, |last| last.ident.span()));
    let private = field::private_at(container, span);
    let declaration = declaration(container, generics, index);
    let (declared, parameters, bounds) = generics.split_for_impl();
    let (name, ty) = (field::serializer_name(index), field::type_of(container, field));
    let [wire_name, wire_version] = wire_form(&private, module, span);
    let named = quote_spanned!(span=> #private::assert_named(#wire_name););
    let check_of_state = check_of_state(&private, module, span);
    let module_of_field = module_of_field(container, (&name, &ty), generics, (&private, module), span);
    let state = quote_spanned!(span=> <#name #parameters as #private::DeltaModule>::State);
    // With their types, the compiler's errors say which signatures the functions of the module should have.
    let with = |call: &str, function: TokenStream, arguments: TokenStream| {
        let call = Ident::new(call, span);
        let types = if call == "is_same_with" { quote!(#ty, _) } else { quote!(#ty, #state, _) };
        quote_spanned!(span=> #private::#call::<#types>(#function, #arguments))
    };
    let make = with("state_with", optional("state", &private, module, span), quote!(value));
    let is_same = with("is_same_with", optional("is_same", &private, module, span), quote!(one, other));
    let write =
        with("write_difference_with", quote_spanned!(span=> #module::write), quote!((base, value), writer));
    let read =
        with("read_difference_with", quote_spanned!(span=> #module::read), quote!(base, reader, references));
    quote! {
        const _: () = #named

        #check_of_state

        #declaration

        #module_of_field

        impl #declared #private::Delta<#ty> for #name #parameters #bounds {
            const NAME: &'static ::core::primitive::str = #wire_name;
            const VERSION: ::core::primitive::u32 = #wire_version;
            type State = #state;

            fn state(value: &#ty) -> Self::State {
                #make
            }

            fn is_same(one: &#ty, other: &#ty) -> ::core::primitive::bool {
                #is_same
            }

            fn write(
                base: &Self::State,
                value: &#ty,
                writer: &mut #private::BitWriter,
            ) -> ::core::result::Result<(), #private::WriteError> {
                #write
            }

            fn read(
                base: &Self::State,
                reader: &mut #private::BitReader<'_>,
                references: &mut #private::ReferenceMap<'_>,
            ) -> ::core::result::Result<#ty, #private::ReadError> {
                #read
            }
        }
    }
}

/// Returns code that does not compile if a `delta` module has no type `State`.
fn check_of_state(private: &TokenStream, module: &Path, span: Span) -> TokenStream {
    quote_spanned! {span=>
        const _: () = {
            use #private::unsaid::*;
            const _: fn() = {
                use #private::HasState as _;
                use #module::*;
                #private::StateOf::<State>::check::<#private::unsaid::State>
            };
        };
    }
}

/// Returns the implementation by which other code finds the type `State` of a `delta` module. If the module
/// has none, `State` is the type of the field, so that the compiler reports nothing else. In a generic
/// container, the type of the field cannot be named there.
fn module_of_field(
    container: &Container<'_>,
    (name, ty): (&Ident, &TokenStream),
    generics: &Generics,
    (private, module): (&TokenStream, &Path),
    span: Span,
) -> TokenStream {
    let (declared, parameters, bounds) = generics.split_for_impl();
    let is_generic = !container.generics().params.is_empty();
    let instead = if is_generic { quote!(#private::unsaid::State) } else { quote!(#ty) };
    let state = quote_spanned!(span=> State);
    quote! {
        const _: () = {
            #[allow(dead_code)]
            type #state = #instead;
            const _: () = {
                #[allow(unused_imports)]
                use #module::*;
                impl #declared #private::DeltaModule for #name #parameters #bounds {
                    type State = #state;
                }
            };
        };
    }
}

fn serializer_of(
    container: &Container<'_>,
    generics: &Generics,
    field: &Field<'_>,
    index: usize,
    body: &Body,
) -> TokenStream {
    let (private, declaration) = (container.private(), declaration(container, generics, index));
    let (declared, parameters, bounds) = generics.split_for_impl();
    let (name, ty) = (field::serializer_name(index), field::type_of(container, field));
    let Body { items, constants, write, read } = body;
    quote! {
        #items

        #declaration

        impl #declared #private::With<#ty> for #name #parameters #bounds {
            #constants

            fn write(
                value: &#ty,
                writer: &mut #private::BitWriter,
            ) -> ::core::result::Result<(), #private::WriteError> {
                #write
            }

            fn read(
                reader: &mut #private::BitReader<'_>,
                references: &mut #private::ReferenceMap<'_>,
            ) -> ::core::result::Result<#ty, #private::ReadError> {
                #read
            }
        }
    }
}
