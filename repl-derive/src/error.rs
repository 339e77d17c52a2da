//! Collects all errors of one input, so that they are reported together.
//!
//! *Invariant:* an [`Errors`] exists only inside [`collect`], so every error that was added is reported.

use std::fmt::Display;

use proc_macro2::Span;
use quote::ToTokens;

pub(crate) struct Errors(Option<syn::Error>);

/// Runs `work`. Returns the result of `work` together with all errors that `work` added.
pub(crate) fn collect<T>(work: impl FnOnce(&mut Errors) -> T) -> (T, Option<syn::Error>) {
    let mut errors = Errors(None);
    let made = work(&mut errors);
    (made, errors.0)
}

impl Errors {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn over(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.add(syn::Error::new_spanned(tokens, message));
    }

    pub(crate) fn at(&mut self, span: Span, message: impl Display) {
        self.add(syn::Error::new(span, message));
    }

    pub(crate) fn add(&mut self, error: syn::Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// Returns the value of a result. On an error, adds the error and returns `None`.
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
