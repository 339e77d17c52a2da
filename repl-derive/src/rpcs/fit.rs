//! Checks the signatures of user functions that generated code calls, such as validators.
//!
//! *Invariant:* if a function does not fit, the compiler's error is at the span that we choose, and says what
//! to write. The attribute with this text needs the standard prelude, so generated code for calls needs the
//! prelude, too.

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
    /// Generates a trait with a method that calls the function. The second implementation of the trait never
    /// applies. Because of it, the compiler reports with our message that the function does not implement the
    /// trait. With a single implementation, the compiler would report the condition of that implementation
    /// instead.
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

/// Escapes the braces of a text, because the attribute that contains the text replaces names in braces.
pub(super) fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// Generates the items that all traits of [`Fit`] use.
pub(super) fn common() -> TokenStream {
    quote! {
        enum __Fitting {}
        enum __Other {}
        trait __Never {}
    }
}
