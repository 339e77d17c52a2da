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

/// The one of `names` that `wrong` was probably meant to be.
pub(crate) fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = plain(wrong);
    let limit = wrong.len().div_ceil(3).max(1);
    names
        .into_iter()
        .map(|name| (distance(&wrong, &plain(name)), name))
        .filter(|&(d, _)| d <= limit)
        .min()
        .map(|(_, name)| name)
}

/// Whether two names are the same but for their style: `OwnerOnly` and `owner_only`.
pub(crate) fn same(a: &str, b: &str) -> bool {
    plain(a) == plain(b)
}

/// What is left of a name when its style is ignored.
fn plain(name: &str) -> Vec<char> {
    name.chars().filter(|&c| c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

/// How many characters must be inserted, removed, replaced or exchanged with their neighbour to make `b` of `a`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn nearest_finds_slips_and_other_styles_but_not_other_words() {
        let names = ["condition", "notify", "notify_always", "skip"];
        assert_eq!(nearest("conditon", names), Some("condition"));
        assert_eq!(nearest("notfiy", names), Some("notify"));
        assert_eq!(nearest("NotifyAlways", names), Some("notify_always"));
        assert_eq!(nearest("serialize", names), None);
        assert_eq!(nearest("", names), None);
    }
}
