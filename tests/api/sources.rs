//! Reads the modules of a crate as syntax trees, and finds the definition to which a path refers.
//!
//! *Invariant:* the map contains each module once. Its key is its path from the root of the crate.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Item, UseTree, Visibility};

/// The path of a module from the root of its crate.
pub(crate) type ModulePath = Vec<String>;

/// What a name in a module refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    Module(ModulePath),
    /// The definition with this name in this module.
    Definition(ModulePath, String),
    /// A path to another crate.
    Elsewhere(String),
}

/// A name that a `use` brings into a module.
pub(crate) struct Import {
    pub(crate) name: String,
    pub(crate) path: ModulePath,
    pub(crate) is_public: bool,
}

/// All modules of a crate except its tests.
pub(crate) struct Sources(pub(crate) BTreeMap<ModulePath, Vec<Item>>);

/// Returns whether an item with these attributes is invisible to users: a test, or an item that is hidden
/// from the documentation.
pub(crate) fn is_hidden(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => {
            let arguments = list.tokens.to_string();
            (list.path.is_ident("doc") && arguments == "hidden")
                || (list.path.is_ident("cfg") && matches!(arguments.as_str(), "test" | "doctest"))
        }
        _ => false,
    })
}

impl Sources {
    /// Reads a crate from its `src` folder.
    pub(crate) fn read(folder: &Path) -> Self {
        let mut sources = Self(BTreeMap::new());
        sources.read_file(&folder.join("lib.rs"), folder, Vec::new());
        sources
    }

    /// Reads a module. The files of its submodules are in `folder`.
    fn read_file(&mut self, file: &Path, folder: &Path, path: ModulePath) {
        let text = fs::read_to_string(file).expect("a module has a file");
        let items = syn::parse_file(&text).expect("a source is Rust").items;
        self.insert(items, folder, path);
    }

    fn insert(&mut self, items: Vec<Item>, folder: &Path, path: ModulePath) {
        for item in &items {
            let Item::Mod(module) = item else { continue };
            if is_hidden(&module.attrs) {
                continue;
            }
            let name = module.ident.to_string();
            let child = [&path[..], std::slice::from_ref(&name)].concat();
            let inside = folder.join(&name);
            match &module.content {
                Some((_, items)) => self.insert(items.clone(), &inside, child),
                None => {
                    let files: [PathBuf; 2] = [inside.with_extension("rs"), inside.join("mod.rs")];
                    let file = files.iter().find(|file| file.is_file()).expect("a module has a file");
                    self.read_file(file, &inside, child);
                }
            }
        }
        self.0.insert(path, items);
    }

    pub(crate) fn imports(&self, module: &[String]) -> Vec<Import> {
        let mut imports = Vec::new();
        for item in self.0.get(module).into_iter().flatten() {
            if let Item::Use(item) = item {
                let is_public = matches!(item.vis, Visibility::Public(_));
                leaves(&item.tree, &mut Vec::new(), &mut |name, path| {
                    imports.push(Import { name, path, is_public });
                });
            }
        }
        imports
    }

    /// Returns the definition or module to which the path `path` refers, if it is written in `module`.
    pub(crate) fn resolve(&self, module: &[String], path: &[String]) -> Target {
        let (first, rest) = path.split_first().expect("a path has a segment");
        let begin = match first.as_str() {
            "crate" => Target::Module(Vec::new()),
            "self" => Target::Module(module.to_vec()),
            "super" => Target::Module(module[..module.len() - 1].to_vec()),
            _ => self.look_up(module, first),
        };
        rest.iter().fold(begin, |at, name| match at {
            Target::Module(module) if name == "super" => Target::Module(module[..module.len() - 1].to_vec()),
            Target::Module(module) => self.look_up(&module, name),
            Target::Elsewhere(path) => Target::Elsewhere(format!("{path}::{name}")),
            definition => definition,
        })
    }

    fn look_up(&self, module: &[String], name: &str) -> Target {
        let child = [module, &[name.to_owned()]].concat();
        if self.0.contains_key(&child) {
            return Target::Module(child);
        }
        let items = self.0.get(module).into_iter().flatten();
        if items.filter_map(name_of).any(|known| known == name) {
            return Target::Definition(module.to_vec(), name.to_owned());
        }
        let imports = self.imports(module);
        match imports.iter().find(|import| import.name == name && import.path[0] != name) {
            Some(import) => self.resolve(module, &import.path),
            None => Target::Elsewhere(name.to_owned()),
        }
    }
}

/// Returns the name that an item defines.
pub(crate) fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Calls `each` for each name that a `use` brings into scope, with the path to which the name refers.
/// `before` is the path before `tree`.
fn leaves(tree: &UseTree, before: &mut ModulePath, each: &mut dyn FnMut(String, ModulePath)) {
    let mut with = |last: String, name: String| each(name, [&before[..], &[last]].concat());
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            leaves(&path.tree, before, each);
            before.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            each(before.last().cloned().unwrap_or_default(), before.clone());
        }
        UseTree::Name(name) => with(name.ident.to_string(), name.ident.to_string()),
        UseTree::Rename(rename) => with(rename.ident.to_string(), rename.rename.to_string()),
        UseTree::Glob(_) => with("*".to_owned(), "*".to_owned()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, before, each)),
    }
}
