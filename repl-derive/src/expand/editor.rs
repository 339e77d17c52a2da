//! Generates the editor of an object: a type with setters for the fields that are sent.
//!
//! *Invariant:* a generated setter is one call of a function in `repl-core`. This function does not depend on
//! the object's type.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Lifetime, LifetimeParam, Member, Type};

use super::field;
use crate::ast::{Body, Container, Field, without_self};

pub(super) fn expand(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let setters = Setters::of(container, |code| code);
    setters.expand(container, generics)
}

/// Generates an editor with setters that are never called.
pub(super) fn stub(container: &Container<'_>, generics: &Generics) -> TokenStream {
    let setters = Setters::of(container, |_| quote!(::core::unreachable!()));
    setters.expand(container, generics)
}

/// Returns the part of the implementation of `Replicated` that belongs to the editor.
pub(super) fn of_replicated(container: &Container<'_>) -> TokenStream {
    let (private, name) = (container.private(), name(container));
    let own = with_lifetime(container.generics(), "'__edit");
    let elided = with_lifetime(container.generics(), "'_");
    let ((_, own, _), (_, elided, _)) = (own.split_for_impl(), elided.split_for_impl());
    quote! {
        type Edit<'__edit> = #name #own;

        fn edit(editor: #private::Editor<'_, Self>) -> #name #elided {
            #name(editor)
        }
    }
}

/// Returns the name of the editor's type, which compile errors show.
fn name(container: &Container<'_>) -> Ident {
    format_ident!("__{}Edit", container.ident().unraw(), span = Span::call_site())
}

fn with_lifetime(generics: &Generics, name: &str) -> Generics {
    let mut generics = generics.clone();
    let lifetime = LifetimeParam::new(Lifetime::new(name, Span::call_site()));
    generics.params.insert(0, GenericParam::Lifetime(lifetime));
    generics
}

struct Setters(Vec<TokenStream>);

impl Setters {
    /// Generates the setters of all fields that are sent. `body` may replace the code of each setter.
    fn of(container: &Container<'_>, body: impl Fn(TokenStream) -> TokenStream) -> Self {
        let Body::Struct(_) = &container.body else { return Self(Vec::new()) };
        let sent = container.sent();
        let names: Vec<Ident> = sent.iter().map(|field| setter_name(field)).collect();
        let mut setters = Vec::new();
        for (index, field) in (0_u16..).zip(sent) {
            let setter = Setter { container, field, index, names: &names };
            setters.push(setter.whole(&body));
            setters.extend(setter.access(&body));
            setters.extend(setter.element(&body));
        }
        Self(setters)
    }

    fn expand(self, container: &Container<'_>, generics: &Generics) -> TokenStream {
        let (Self(setters), private, ident) = (self, container.private(), container.ident());
        let (name, vis) = (name(container), &container.input.vis);
        let (_, object, _) = container.generics().split_for_impl();
        let own = with_lifetime(container.generics(), "'__edit");
        let (own, _, own_bounds) = own.split_for_impl();
        let full = with_lifetime(generics, "'__edit");
        let (declared, parameters, bounds) = full.split_for_impl();
        let doc = format!(" Edits an object of the type `{}`. `Server::edit` returns it.", ident.unraw());
        quote! {
            #[doc = #doc]
            #vis struct #name #own (#private::Editor<'__edit, #ident #object>) #own_bounds;

            use #private::SetOfAny as _;

            #[automatically_derived]
            impl #declared #name #parameters #bounds {
                #(#setters)*
            }

            #[automatically_derived]
            impl #declared ::core::ops::Deref for #name #parameters #bounds {
                type Target = #ident #object;

                fn deref(&self) -> &Self::Target {
                    self.0.object
                }
            }
        }
    }
}

/// The data to generate the setters of one field.
struct Setter<'a> {
    container: &'a Container<'a>,
    field: &'a Field<'a>,
    /// The position of the field among the fields that are sent.
    index: u16,
    names: &'a [Ident],
}

impl Setter<'_> {
    /// Generates the setter for the whole value, which is named like the field.
    fn whole(&self, body: &impl Fn(TokenStream) -> TokenStream) -> TokenStream {
        let Self { container, field, index, .. } = self;
        let (private, member, vis, docs) = (container.private(), &field.member, field.vis, &field.docs);
        let (name, ty) = (setter_name(field), field::type_of(container, field));
        let doc = self.doc(&format!("Sets `{}`, and marks it if the new value differs.", name.unraw()));
        let call = if field.attrs.has_serializer() {
            let serializer = field::serializer(container, (*index).into());
            quote!(set_with::<#ty, #serializer>)
        } else {
            quote!(Set::<#ty>::whole)
        };
        let body = body(quote! {
            #private::#call(&mut self.0.object.#member, value, &mut self.0.marker, #index);
            self
        });
        quote! {
            #(#docs)*
            #doc
            #[inline]
            #vis fn #name(&mut self, value: #ty) -> &mut Self {
                #body
            }
        }
    }

    /// Generates the method that marks the field and returns a reference to its value.
    fn access(&self, body: &impl Fn(TokenStream) -> TokenStream) -> Option<TokenStream> {
        let Self { container, field, index, .. } = self;
        let (member, vis, docs) = (&field.member, field.vis, &field.docs);
        let (name, ty) = (self.other_name("mut")?, field::type_of(container, field));
        let own = setter_name(field).unraw();
        let doc = self.doc(&format!("Marks `{own}`, and returns a mutable reference to its value."));
        let body = body(quote! {
            self.0.marker.mark(#index);
            &mut self.0.object.#member
        });
        Some(quote! {
            #(#docs)*
            #doc
            #[inline]
            #vis fn #name(&mut self) -> &mut #ty {
                #body
            }
        })
    }

    /// Generates the setter for one element of a field whose type is written as a fixed array.
    fn element(&self, body: &impl Fn(TokenStream) -> TokenStream) -> Option<TokenStream> {
        let Self { container, field, index, .. } = self;
        let element = element_type(field.ty)?;
        if field.attrs.has_serializer() || container.depends_on_parameters(element) {
            return None;
        }
        let (private, member, vis, docs) = (container.private(), &field.member, field.vis, &field.docs);
        let (ident, (_, object, _)) = (container.ident(), container.generics().split_for_impl());
        let element = without_self(quote!(#element), &quote!(#ident #object));
        let name = self.other_name("at")?;
        let own = setter_name(field).unraw();
        let text = format!(
            "Sets one element of `{own}`, and marks this element if the new value differs.\n\n# Panics\nPanics if there is no such element."
        );
        let doc = self.doc(&text);
        let body = body(quote! {
            #private::Set::<#element>::element(&mut self.0.object.#member, at, value, &mut self.0.marker, #index);
            self
        });
        Some(quote! {
            #(#docs)*
            #doc
            #[inline]
            #[track_caller]
            #vis fn #name(&mut self, at: ::core::primitive::usize, value: #element) -> &mut Self {
                #body
            }
        })
    }

    /// Returns documentation that is added after the field's documentation.
    fn doc(&self, text: &str) -> TokenStream {
        let has_docs = self.field.docs.iter().any(|attribute| attribute.path().is_ident("doc"));
        let separator = has_docs.then(|| quote!(#[doc = ""]));
        // Each line begins with a space, as in a comment.
        let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") });
        quote!(#separator #(#[doc = #lines])*)
    }

    /// Returns the name of another method of the field. Returns `None` if a field has this name, because the
    /// setter of that field takes precedence.
    fn other_name(&self, suffix: &str) -> Option<Ident> {
        let own = setter_name(self.field);
        let name = format_ident!("{}_{}", own.unraw(), suffix, span = own.span());
        (!self.names.contains(&name)).then_some(name)
    }
}

/// Returns the name of a field's setter. For a field of a tuple, the name is the number with the prefix
/// `field_`.
fn setter_name(field: &Field<'_>) -> Ident {
    let span = field::generated_span(match &field.member {
        Member::Named(ident) => ident.span(),
        Member::Unnamed(_) => field.ty.span(),
    });
    match &field.member {
        Member::Named(ident) => {
            let mut name = ident.clone();
            name.set_span(span);
            name
        }
        Member::Unnamed(index) => format_ident!("field_{}", index.index, span = span),
    }
}

/// Returns the type of the elements, if a type is written as a fixed array.
fn element_type(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Array(array) => Some(&array.elem),
        Type::Group(group) => element_type(&group.elem),
        Type::Paren(paren) => element_type(&paren.elem),
        _ => None,
    }
}
