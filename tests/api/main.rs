//! Snapshots of the public names of each crate. A change of a public name changes a snapshot, so a reviewer
//! sees it.
//!
//! *Invariant:* the lists are read from the sources, with all features, so no compiler and no build is
//! needed. Definitions in a macro are listed only once, with the names of the macro's parameters. The calls
//! of the macro are listed next to them.

mod lines;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sources::{ModulePath, Sources, Target, is_hidden, name_of};
use syn::{Item, Type};

/// A definition: its module and its name.
type Definition = (ModulePath, String);

/// The definitions of a crate that its users can name.
struct Api<'a> {
    sources: &'a Sources,
    root: &'a str,
    /// For each definition, the paths by which users can name it.
    paths: BTreeMap<Definition, BTreeSet<String>>,
    /// The re-exports from other crates.
    elsewhere: BTreeSet<String>,
}

impl<'a> Api<'a> {
    fn of(sources: &'a Sources, root: &'a str) -> Self {
        let mut api = Self { sources, root, paths: BTreeMap::new(), elsewhere: BTreeSet::new() };
        api.walk(&[], root);
        api
    }

    /// Adds everything that is public in a module. Users name the module by `path`.
    fn walk(&mut self, module: &[String], path: &str) {
        let sources = self.sources;
        for item in sources.0.get(module).into_iter().flatten() {
            let Some((visibility, attributes)) = visibility(item) else { continue };
            let is_exported_macro = matches!(item, Item::Macro(item)
                if item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")));
            if is_hidden(attributes) || !(is_exported_macro || visibility.is_some_and(lines::is_public)) {
                continue;
            }
            match item {
                Item::Mod(item) => {
                    let name = item.ident.to_string();
                    self.walk(&[module, std::slice::from_ref(&name)].concat(), &format!("{path}::{name}"));
                }
                item => self.define(module.to_vec(), name_of(item).expect("it has a name"), path),
            }
        }
        for import in sources.imports(module).into_iter().filter(|import| import.is_public) {
            match sources.resolve(module, &import.path) {
                Target::Module(module) => self.walk(&module, &format!("{path}::{}", import.name)),
                Target::Definition(module, name) => self.define_as(module, name, path, &import.name),
                Target::Elsewhere(from) => {
                    self.elsewhere.insert(format!("{path}::{} is {from}", import.name));
                }
            }
        }
    }

    fn define(&mut self, module: ModulePath, name: String, path: &str) {
        let known_as = name.clone();
        self.define_as(module, name, path, &known_as);
    }

    fn define_as(&mut self, module: ModulePath, name: String, path: &str, known_as: &str) {
        self.paths.entry((module, name)).or_default().insert(format!("{path}::{known_as}"));
    }

    /// Returns the definition of a type or trait. `path` is the name that `module` uses for it. Returns
    /// `None` if another crate defines it.
    fn definition(&self, module: &[String], path: &syn::Path) -> Option<Definition> {
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        match self.sources.resolve(module, &names) {
            Target::Definition(module, name) => Some((module, name)),
            _ => None,
        }
    }

    /// Returns whether users can name the definition. `None` stands for a definition of another crate, which
    /// counts as public.
    fn is_open(&self, definition: Option<&Definition>) -> bool {
        definition.is_none_or(|definition| self.paths.contains_key(definition))
    }

    /// Returns the whole list as text.
    fn print(&self) -> String {
        let mut sections: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for ((module, name), paths) in &self.paths {
            let items = self.sources.0[module].iter();
            // Several definitions can have this name, for different `cfg`s.
            let definitions = items.filter(|item| name_of(item).as_ref() == Some(name));
            sections.insert(heading(paths), definitions.flat_map(lines::lines).collect());
        }
        for (module, items) in &self.sources.0 {
            for item in items {
                self.add_impls(module, item, &mut sections);
            }
        }
        let mut text = String::new();
        for (heading, lines) in sections.iter_mut() {
            // The definition is first, and its `impl`s follow, sorted.
            let at = lines.iter().position(|line| line.contains("impl")).unwrap_or(lines.len());
            lines[at..].sort();
            text += heading;
            lines.iter().for_each(|line| text += &format!("\n    {line}"));
            text += "\n";
        }
        self.elsewhere.iter().for_each(|line| text += &format!("{line}\n"));
        text
    }

    fn add_impls(&self, module: &[String], item: &Item, sections: &mut BTreeMap<String, Vec<String>>) {
        match item {
            Item::Impl(item) if !is_hidden(&item.attrs) => {
                let of_type = match &*item.self_ty {
                    Type::Path(ty) => self.definition(module, &ty.path),
                    _ => None,
                };
                let of_trait = item.trait_.as_ref().and_then(|(path, _)| self.definition(module, path));
                if self.is_open(of_type.as_ref()) && self.is_open(of_trait.as_ref()) {
                    let place = of_type.or(of_trait).and_then(|place| self.paths.get(&place));
                    let lines = lines::impl_lines(item);
                    if !lines.is_empty() {
                        let section = place.map_or_else(|| "others".to_owned(), heading);
                        sections.entry(section).or_default().extend(lines);
                    }
                }
            }
            Item::Macro(item) => {
                let lines = self.macro_lines(module, item);
                let heading = match &item.ident {
                    Some(name) => format!("~ macro {name}! in {}", self.path_of(module)),
                    None => format!("~ calls in {}", self.path_of(module)),
                };
                if !lines.is_empty() {
                    sections.entry(heading).or_default().extend(lines);
                }
            }
            _ => {}
        }
    }

    /// Returns the lines of a macro: the public parts of its `impl`s. For a call of a macro, returns the
    /// types for which it is called.
    fn macro_lines(&self, module: &[String], item: &syn::ItemMacro) -> Vec<String> {
        if item.ident.is_none() {
            return vec![lines::call(&item.mac)];
        }
        let impls = lines::impls_of_macro(item.mac.tokens.clone()).into_iter();
        let open = impls.filter(|item| {
            let of_trait = item.trait_.as_ref().and_then(|(path, _)| self.definition(module, path));
            self.is_open(of_trait.as_ref())
        });
        open.flat_map(|item| lines::impl_lines(&item)).collect()
    }

    fn path_of(&self, module: &[String]) -> String {
        [&[self.root.to_owned()], module].concat().join("::")
    }
}

/// Returns the paths as a heading, with the shortest path first.
fn heading(paths: &BTreeSet<String>) -> String {
    let mut paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    paths.sort_by_key(|path| (path.matches("::").count(), *path));
    paths.join(", ")
}

/// Returns the visibility and the attributes of an item. `None` for items without a name.
fn visibility(item: &Item) -> Option<(Option<&syn::Visibility>, &[syn::Attribute])> {
    Some(match item {
        Item::Const(item) => (Some(&item.vis), &item.attrs),
        Item::Enum(item) => (Some(&item.vis), &item.attrs),
        Item::Fn(item) => (Some(&item.vis), &item.attrs),
        Item::Macro(item) if item.ident.is_some() => (None, &item.attrs),
        Item::Mod(item) => (Some(&item.vis), &item.attrs),
        Item::Static(item) => (Some(&item.vis), &item.attrs),
        Item::Struct(item) => (Some(&item.vis), &item.attrs),
        Item::Trait(item) => (Some(&item.vis), &item.attrs),
        Item::Type(item) => (Some(&item.vis), &item.attrs),
        Item::Union(item) => (Some(&item.vis), &item.attrs),
        _ => return None,
    })
}

/// Returns the list of public names of the crate in this folder.
fn api(folder: &str) -> String {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder).join("src");
    let sources = Sources::read(&src);
    let root = if folder.is_empty() { "repl".to_owned() } else { folder.replace('-', "_") };
    Api::of(&sources, &root).print()
}

#[test]
fn the_public_names_of_the_facade_are_the_reviewed_ones() {
    insta::assert_snapshot!("repl", api(""));
}

#[test]
fn the_public_names_of_the_core_are_the_reviewed_ones() {
    insta::assert_snapshot!("repl_core", api("repl-core"));
}

#[test]
fn the_public_names_of_the_derives_are_the_reviewed_ones() {
    insta::assert_snapshot!("repl_derive", api("repl-derive"));
}

#[test]
fn the_public_names_of_fast_arrays_are_the_reviewed_ones() {
    insta::assert_snapshot!("repl_fastarray", api("repl-fastarray"));
}

#[test]
fn the_public_names_of_server_and_client_are_the_reviewed_ones() {
    insta::assert_snapshot!("repl_net", api("repl-net"));
}

#[test]
fn the_public_names_of_the_link_are_the_reviewed_ones() {
    insta::assert_snapshot!("repl_link", api("repl-link"));
}

#[test]
fn the_public_names_of_the_simulated_network_are_the_reviewed_ones() {
    insta::assert_snapshot!("repl_sim", api("repl-sim"));
}

#[test]
fn the_public_names_of_the_plug_in_for_bevy_are_the_reviewed_ones() {
    insta::assert_snapshot!("repl_bevy", api("repl-bevy"));
}

#[test]
fn the_public_names_of_encrypted_connections_are_the_reviewed_ones() {
    insta::assert_snapshot!("repl_quic", api("repl-quic"));
}
