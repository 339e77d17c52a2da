//! Finds a second `#[rpcs]` block for one type.
//!
//! A macro sees only its own block. Two blocks for one type would generate the same types twice, and the
//! compiler would report ten errors. To report only one error, this module looks for an earlier block in the
//! source file.
//!
//! *Invariant:* if two blocks may compile together without an error, neither is reported. If the file cannot
//! be read, nothing is reported.

use std::path::Path;

use syn::{Attribute, File, Item, ItemImpl, parse_file};

/// Returns whether an earlier item in the same module is a block with calls for the same type. `own` is the
/// block as the compiler passes it to the macro, and `file` is the source file with the block.
pub(super) fn is_repeated(own: &ItemImpl, file: &Path) -> bool {
    let source = std::fs::read_to_string(file).unwrap_or_default();
    is_repeated_in(own, &source)
}

fn is_repeated_in(own: &ItemImpl, source: &str) -> bool {
    // Most files have only one block, and need not be parsed.
    if source.matches("rpcs").count() < 2 {
        return false;
    }
    let Ok(File { items, .. }) = parse_file(source) else { return false };
    let mut found = Vec::new();
    search(own, &items, &mut found);
    // If the file contains this block several times, the macro does not know which of them it expands.
    found == [true]
}

/// Adds, for each block in these items that equals `own`, whether another block for its type comes before it.
fn search(own: &ItemImpl, items: &[Item], found: &mut Vec<bool>) {
    let mut has_earlier = false;
    for item in items {
        match item {
            Item::Mod(module) => search(own, module.content.as_ref().map_or(&[], |(_, items)| items), found),
            Item::Impl(block) if block.self_ty == own.self_ty => {
                let mut plain = block.clone();
                plain.attrs.retain(|attribute| !is_named(attribute, "rpcs"));
                if plain.attrs.len() == block.attrs.len() {
                    continue;
                }
                if plain == *own {
                    found.push(has_earlier);
                }
                has_earlier |= !plain.attrs.iter().any(|attribute| is_named(attribute, "cfg"));
            }
            _ => {}
        }
    }
}

/// Returns whether an attribute has this name, with or without a path before it.
fn is_named(attribute: &Attribute, name: &str) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "#[rpcs] impl Player { #[rpc(server, reliable)] fn fire(&mut self) {} }";
    const TWO: &str = "#[repl::rpcs] impl Player { #[rpc(client)] fn hit(&mut self); }";

    fn is_second(own: &str, source: &str) -> bool {
        let mut own: ItemImpl = syn::parse_str(own).expect("a block");
        own.attrs.clear();
        is_repeated_in(&own, source)
    }

    #[test]
    fn only_the_later_of_two_blocks_for_one_type_is_reported() {
        let source = format!("{ONE} struct Player; {TWO}");
        assert!(is_second(TWO, &source) && !is_second(ONE, &source));
        let source = format!("mod inner {{ {source} }}");
        assert!(is_second(TWO, &source) && !is_second(ONE, &source));
        let source = source.replace("rpcs]", "rpcs(crate = \"net\")]");
        assert!(is_second(TWO, &source) && !is_second(ONE, &source));
    }

    #[test]
    fn blocks_that_can_be_compiled_together_are_not_reported() {
        let other = TWO.replace("Player", "Door");
        for source in [
            format!("{ONE} {other} {}", TWO.replace("#[repl::rpcs]", "")),
            format!("mod a {{ {ONE} }} mod b {{ {TWO} }} "),
            format!("mod a {{ {ONE} {TWO} }} mod b {{ {TWO} }} "),
            format!("#[cfg(one)] {ONE} #[cfg(not(one))] {TWO}"),
            format!("fn one() {{ {ONE} }} fn two() {{ {TWO} }}"),
            format!("{ONE} {TWO} and no Rust"),
        ] {
            assert!(!is_second(TWO, &source), "{source}");
        }
    }
}
