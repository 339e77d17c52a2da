//! The graph of a crate: its files, which file imports from which, and which file calls methods of a type
//! that are in another file.
//!
//! *Invariant:* an import leads to the file that has the definition, however many files re-export it. A file
//! that only re-exports from files below it is called a door, and counts as importing nothing.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::methods::Methods;
use crate::paths::{Import, Path, Paths};
use crate::tokens::tokens;

/// The path of a module from the root of its crate.
type Place = Vec<String>;

/// The files of one crate without its tests.
pub(crate) struct Graph {
    files: Vec<File>,
    /// All modules, each with the index of its file.
    modules: BTreeMap<Place, usize>,
    pub(crate) edges: Vec<Edge>,
}

struct File {
    path: String,
    place: Place,
    paths: Paths,
    methods: Methods,
}

/// A type of the crate: the file that defines it, and its name.
type Type = (usize, String);

/// An import or a call from one file to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The line of the first import or call.
    pub(crate) line: usize,
    /// `None` for an import.
    pub(crate) call: Option<Call>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Call {
    /// The name of the type that has the method.
    pub(crate) of: String,
    pub(crate) name: String,
}

/// The most re-exports that are followed for one name.
const MOST_DOORS: usize = 16;

impl Graph {
    /// Builds the graph from the sources, each as its path relative to `src`, and its text.
    pub(crate) fn of(sources: &[(String, String)]) -> Self {
        let (mut files, mut tests) = (Vec::new(), BTreeSet::new());
        for (path, text) in sources {
            let (tokens, names) = tokens(text);
            let place = place_of(path);
            tests.extend(names.into_iter().map(|name| joined(&place, &[name])));
            files.push(File {
                path: path.clone(),
                place,
                paths: Paths::of(&tokens),
                methods: Methods::of(&tokens),
            });
        }
        files.retain(|file| !tests.iter().any(|test| file.place.starts_with(test)));
        let mut modules = BTreeMap::new();
        for (index, file) in files.iter().enumerate() {
            modules.insert(file.place.clone(), index);
            modules.extend(file.paths.modules.iter().map(|within| (joined(&file.place, within), index)));
        }
        let mut graph = Self { files, modules, edges: Vec::new() };
        graph.edges = graph.find_imports();
        graph.edges.extend(graph.find_calls());
        graph
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns the path of a file relative to the folder `src`.
    pub(crate) fn path(&self, file: usize) -> &str {
        &self.files[file].path
    }

    /// Returns the folder directly below `src` that contains a file. For a file directly in `src` returns its
    /// name, and for the root of the crate an empty text.
    pub(crate) fn folder(&self, file: usize) -> &str {
        self.files[file].place.first().map_or("", String::as_str)
    }

    pub(crate) fn folders(&self) -> BTreeSet<&str> {
        (0..self.len()).map(|file| self.folder(file)).filter(|folder| !folder.is_empty()).collect()
    }

    fn find_imports(&self) -> Vec<Edge> {
        let mut edges: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (from, file) in self.files.iter().enumerate() {
            let imported = file.paths.imports.iter().filter(|import| !self.is_door(file, import));
            let paths = imported.map(|import| &import.path).chain(&file.paths.mentions);
            for path in paths {
                let Some(to) = self.absolute(file, path).and_then(|path| self.file_of(&path, MOST_DOORS))
                else {
                    continue;
                };
                if to != from {
                    let line = edges.entry((from, to)).or_insert(path.line);
                    *line = path.line.min(*line);
                }
            }
        }
        edges.into_iter().map(|((from, to), line)| Edge { from, to, line, call: None }).collect()
    }

    /// Finds the calls of methods that are defined in another file.
    fn find_calls(&self) -> Vec<Edge> {
        let homes = self.homes();
        let mut edges: BTreeMap<(usize, usize, Type), (usize, &str)> = BTreeMap::new();
        for (from, file) in self.files.iter().enumerate() {
            for called in &file.methods.calls {
                let Some(of) = self.type_of(from, &called.of) else { continue };
                let home = |is_of_trait| homes.get(&(of.clone(), called.name.as_str(), is_of_trait));
                // A method of the type itself hides the methods of its traits.
                let Some(homes) = home(false).or_else(|| home(true)) else { continue };
                for &to in homes.iter().filter(|_| !homes.contains(&from)) {
                    edges.entry((from, to, of.clone())).or_insert((called.line, &called.name));
                }
            }
        }
        let edge = |((from, to, (_, of)), (line, name)): ((_, _, Type), (_, &str))| {
            let call = Some(Call { of, name: name.to_owned() });
            Edge { from, to, line, call }
        };
        edges.into_iter().map(edge).collect()
    }

    /// Returns the files that define each method. A key is a type, the method's name, and whether it is of a
    /// trait.
    fn homes(&self) -> BTreeMap<(Type, &str, bool), BTreeSet<usize>> {
        let mut homes: BTreeMap<_, BTreeSet<usize>> = BTreeMap::new();
        for (at, file) in self.files.iter().enumerate() {
            for method in &file.methods.definitions {
                let Some(of) = self.type_of(at, &method.of) else { continue };
                homes.entry((of, method.name.as_str(), method.is_of_trait)).or_default().insert(at);
            }
        }
        homes
    }

    /// Returns the type to which a path in a file leads. `None` if the type is not of this crate.
    fn type_of(&self, file: usize, path: &[String]) -> Option<Type> {
        if let [name] = path
            && self.files[file].paths.definitions.contains(name)
        {
            return Some((file, name.clone()));
        }
        let path = Path { segments: path.to_vec(), line: 0, within: Vec::new() };
        let path = self.absolute(&self.files[file], &path)?;
        let name = path.last()?.clone();
        self.file_of(&path, MOST_DOORS).map(|file| (file, name))
    }

    /// Returns whether the file re-exports this import from a module below itself, without using it.
    fn is_door(&self, file: &File, import: &Import) -> bool {
        let is_below = |path: Place| {
            let holder = &self.files[self.modules[self.module_of(&path)]].place;
            holder.starts_with(&file.place) && holder.len() > file.place.len()
        };
        import.is_public
            && !file.paths.names.contains(&import.name)
            && self.absolute(file, &import.path).is_some_and(is_below)
    }

    /// Returns the module to which a path leads: the longest start of the path that is a module.
    fn module_of<'a>(&self, path: &'a [String]) -> &'a [String] {
        let len = (0..=path.len()).rev().find(|&len| self.modules.contains_key(&path[..len]));
        &path[..len.unwrap_or_default()]
    }

    /// Returns a path that is written in `file` as a path from the root of the crate. `None` if the path
    /// leads to another crate.
    fn absolute(&self, file: &File, path: &Path) -> Option<Place> {
        let mut place = joined(&file.place, &path.within);
        let mut segments = path.segments.as_slice();
        let first = segments.first()?;
        match first.as_str() {
            "crate" => return Some(segments[1..].to_vec()),
            "self" => segments = &segments[1..],
            "super" => {
                while let Some(("super", rest)) =
                    segments.split_first().map(|(first, rest)| (first.as_str(), rest))
                {
                    place.pop()?;
                    segments = rest;
                }
            }
            _ if self.modules.contains_key(&joined(&place, &segments[..1])) => {}
            _ => {
                let import = file.paths.imports.iter().find(|import| import.name == *first)?;
                // An import whose path begins with its own name, such as `use serde;`, is of another crate.
                let import = Some(import).filter(|import| import.path.segments.first() != Some(first))?;
                return Some(joined(&self.absolute(file, &import.path)?, &segments[1..]));
            }
        }
        Some(joined(&place, segments))
    }

    /// Returns the file with the definition to which a path from the root leads. Follows at most `doors`
    /// re-exports.
    fn file_of(&self, path: &[String], doors: usize) -> Option<usize> {
        let (module, rest) = path.split_at(self.module_of(path).len());
        let holder = self.modules[module];
        let file = &self.files[holder];
        let Some((name, behind)) = rest.split_first().filter(|_| doors > 0) else { return Some(holder) };
        let here =
            || file.paths.imports.iter().filter(|import| joined(&file.place, &import.path.within) == module);
        if let Some(import) = here().find(|import| import.name == *name) {
            let beyond = joined(&self.absolute(file, &import.path)?, behind);
            return self.file_of(&beyond, doors - 1);
        }
        if file.paths.definitions.contains(name) {
            return Some(holder);
        }
        if module.is_empty()
            && let Some(macros) = self.files.iter().position(|file| file.paths.exported_macros.contains(name))
        {
            return Some(macros);
        }
        let globs = here().filter(|import| import.name == "*");
        for glob in globs.filter_map(|glob| self.absolute(file, &glob.path)) {
            let found = self.file_of(&joined(&glob, rest), doors - 1);
            if found.is_some_and(|found| self.files[found].paths.definitions.contains(name)) {
                return found;
            }
        }
        Some(holder)
    }

    /// Returns circles of files that import or call each other, each as the list of its edges. Finds one
    /// circle for each group of files that are connected by circles.
    pub(crate) fn circles(&self) -> Vec<Vec<&Edge>> {
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for edge in &self.edges {
            if seen.contains(&edge.from) {
                continue;
            }
            if let Some(way) = self.way(edge.to, edge.from) {
                let circle: Vec<&Edge> = [edge].into_iter().chain(way).collect();
                seen.extend(circle.iter().map(|edge| edge.from));
                circles.push(circle);
            }
        }
        circles
    }

    /// Returns the shortest chain of edges from one file to another.
    fn way(&self, from: usize, to: usize) -> Option<Vec<&Edge>> {
        let mut ways: BTreeMap<usize, Vec<&Edge>> = BTreeMap::from([(from, Vec::new())]);
        let mut next = VecDeque::from([from]);
        while let Some(file) = next.pop_front() {
            if file == to {
                return ways.remove(&file);
            }
            for edge in self.edges.iter().filter(|edge| edge.from == file) {
                if !ways.contains_key(&edge.to) {
                    let way = ways[&file].iter().copied().chain([edge]).collect();
                    ways.insert(edge.to, way);
                    next.push_back(edge.to);
                }
            }
        }
        None
    }
}

fn joined(place: &[String], segments: &[String]) -> Place {
    place.iter().chain(segments).cloned().collect()
}

fn place_of(path: &str) -> Place {
    let mut place: Place = path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if matches!(place.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        place.pop();
    }
    place
}
