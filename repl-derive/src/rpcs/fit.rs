//! Functions of the user that generated code calls. They must have a certain signature.
//!
//! *Invariant:* the compiler's error for a function that does not fit is at the span that we choose, and says
//! what to write. The attribute with this text is in the standard prelude, so generated code for calls needs
//! the prelude.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// A signature that a function must have.
pub(super) struct Fit {
    /// The name of the trait that functions with this signature implement.
    pub(super) name: Ident,
    pub(super) parameters: Vec<TokenStream>,
    pub(super) output: TokenStream,
    /// The message, the label and the note of the error for another signature.
    pub(super) error: [String; 3],
}

impl Fit {
    /// Generates a trait with a method that calls the function. The second implementation never applies.
    /// Because of it the compiler reports that the trait is missing, with our message. With a single
    /// implementation, it would report the condition of this implementation.
    pub(super) fn items(&self) -> TokenStream {
        let Self { name, parameters, output, error } = self;
        let [message, label, note] = error.each_ref().map(|text| escaped(text));
        let names: Vec<Ident> = (0..parameters.len()).map(|index| format_ident!("value_{}", index)).collect();
        quote! {
            #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
            trait #name<Form> {
                fn call(self, #(#names: #parameters),*) -> #output;
            }

            impl<F: ::core::ops::FnOnce(#(#parameters),*) -> #output> #name<__Fitting> for F {
                fn call(self, #(#names: #parameters),*) -> #output {
                    self(#(#names),*)
                }
            }

            impl<F: __Never> #name<__Other> for F {
                fn call(self, #(#names: #parameters),*) -> #output {
                    ::core::unreachable!()
                }
            }
        }
    }
}

/// Returns a text for an attribute that would replace names in braces.
pub(super) fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// Generates what all traits of [`Fit`] use.
pub(super) fn common() -> TokenStream {
    quote! {
        enum __Fitting {}
        enum __Other {}
        trait __Never {}
    }
}
