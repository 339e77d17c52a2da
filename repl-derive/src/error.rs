//! Errors: every mistake of one input, collected and reported together.
//!
//! *Invariant:* an [`Errors`] exists only inside [`collect`], so no mistake that was added can go unreported.

use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;

/// The mistakes found so far.
pub(crate) struct Errors(Option<syn::Error>);

/// Runs `work`, and gives what it made together with the mistakes it found.
pub(crate) fn collect<T>(work: impl FnOnce(&mut Errors) -> T) -> (T, Option<syn::Error>) {
    let mut errors = Errors(None);
    let made = work(&mut errors);
    (made, errors.0)
}

impl Errors {
    /// Adds a mistake that spans `tokens`.
    pub(crate) fn over(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    /// Adds a mistake at `span`.
    pub(crate) fn at(&mut self, span: Span, message: impl Display) {
        self.add(syn::Error::new(span, message));
    }

    /// Adds a mistake.
    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Takes a result apart: its value, or `None` after adding its error.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.add(error);
                None
            }
        }
    }
}
