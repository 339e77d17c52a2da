//! Finds an earlier derive of this crate on the same type.
//!
//! A derive does not see the other derives of its type. Two derives would implement the same traits twice,
//! and the compiler would report an error for each trait. To report only one error, this module looks for an
//! earlier derive in the source file.
//!
//! *Invariant:* code that would compile is never reported. If the file cannot be read, nothing is reported.

use std::path::Path;

use proc_macro2::{Span, TokenStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, DeriveInput, Error, File, Ident, Item, Token, parse_file, parse2};

use crate::derive::Derive;

/// Returns an error if the type in `input` has another derive of this crate before `derive`. `file` is the
/// source file with the type.
pub(crate) fn refusal(derive: Derive, input: &TokenStream, file: &Path) -> Option<Error> {
    let source = std::fs::read_to_string(file).unwrap_or_default();
    // Most files have no type with two derives, and need not be parsed.
    if !lists_two(&source) {
        return None;
    }
    let own: DeriveInput = parse2(input.clone()).ok()?;
    let earlier = earlier_in(derive, &own.ident, &source)?;
    Some(Error::new(Span::call_site(), message(&own.ident, earlier, derive)))
}

/// Returns whether any list of derives in the source has two names of derives of this crate.
fn lists_two(source: &str) -> bool {
    let mut lists = source.split("derive(").skip(1).filter_map(|rest| rest.split(')').next());
    let ours = |list: &str| list.split([',', ':']).filter_map(|name| Derive::named(name.trim())).count();
    lists.any(|list| ours(list) > 1)
}

/// Returns the first derive of this crate on the type `ident`, if it comes before `derive`.
fn earlier_in(derive: Derive, ident: &Ident, source: &str) -> Option<Derive> {
    let File { items, .. } = parse_file(source).ok()?;
    let mut found = Vec::new();
    search(derive, ident, &items, &mut found);
    // If the file has several types with this name, the derive does not know which of them it expands.
    let [first] = found[..] else { return None };
    (first != derive).then_some(first)
}

/// Searches these items for types that are called `ident` and have `derive`. Adds the first derive of this
/// crate on each such type to `found`.
fn search(derive: Derive, ident: &Ident, items: &[Item], found: &mut Vec<Derive>) {
    for item in items {
        let (name, attributes) = match item {
            Item::Struct(item) => (&item.ident, &item.attrs),
            Item::Enum(item) => (&item.ident, &item.attrs),
            Item::Mod(module) => {
                search(derive, ident, module.content.as_ref().map_or(&[], |(_, items)| items), found);
                continue;
            }
            _ => continue,
        };
        let derives: Vec<_> = attributes.iter().flat_map(derives_of).collect();
        if let (true, true, Some(&first)) = (name == ident, derives.contains(&derive), derives.first()) {
            found.push(first);
        }
    }
}

fn derives_of(attribute: &Attribute) -> Vec<Derive> {
    if !attribute.path().is_ident("derive") {
        return Vec::new();
    }
    let list = attribute.parse_args_with(Punctuated::<syn::Path, Token![,]>::parse_terminated);
    let ours = |path: &syn::Path| match path.segments.len() {
        1 => Derive::named(&path.segments[0].ident.to_string()),
        2 if path.segments[0].ident == "repl" => Derive::named(&path.segments[1].ident.to_string()),
        _ => None,
    };
    list.iter().flatten().filter_map(ours).collect()
}

/// Returns the error text, which says what to write instead of two derives.
fn message(ident: &Ident, earlier: Derive, derive: Derive) -> String {
    let (first, second) = (earlier.name(), derive.name());
    let remedy = match (earlier, derive) {
        (Derive::NetSerialize, _) => format!(
            "remove `NetSerialize`, because `{second}` makes it a value as well, or remove `{second}` to send the type only as a unit"
        ),
        (_, Derive::NetSerialize) => {
            format!("remove `NetSerialize`, because `{first}` makes it a value as well")
        }
        _ => "keep `Replicated` if it is spawned on its own, or `FastArrayItem` if it is an item of arrays, which can be a field of objects, too"
            .to_owned(),
    };
    format!("`{ident}` derives `{first}` already, and a type has one of these derives: {remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earlier(derive: Derive, source: &str) -> Option<Derive> {
        let ident = Ident::new("Player", Span::call_site());
        lists_two(source).then(|| earlier_in(derive, &ident, source))?
    }

    #[test]
    fn only_the_later_of_two_derives_is_reported() {
        for source in [
            "#[derive(Replicated, Clone, NetSerialize)] struct Player;",
            "#[derive(repl::Replicated, repl::NetSerialize)] struct Player;",
            "mod inner { #[derive(Replicated, NetSerialize)] enum Player {} }",
        ] {
            assert!(earlier(Derive::NetSerialize, source) == Some(Derive::Replicated), "{source}");
            assert!(earlier(Derive::Replicated, source).is_none(), "{source}");
        }
    }

    #[test]
    fn derives_that_can_be_compiled_together_are_not_reported() {
        for source in [
            "#[derive(Replicated)] struct Player; #[derive(NetSerialize)] struct Item;",
            "#[derive(Replicated, NetSerialize)] struct Item; #[derive(NetSerialize)] struct Player;",
            "#[derive(other::Replicated, NetSerialize)] struct Player;",
            "mod a { #[derive(Replicated, NetSerialize)] struct Player; } mod b { #[derive(NetSerialize)] struct Player; }",
            "#[derive(Replicated, NetSerialize)] struct Player; and no Rust",
        ] {
            assert!(earlier(Derive::NetSerialize, source).is_none(), "{source}");
        }
    }
}
