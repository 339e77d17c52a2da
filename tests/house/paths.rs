//! Finds the paths in a source file: its imports, and the paths that it uses elsewhere.
//!
//! *Invariant:* a path begins with `crate`, `self`, `super` or a name. This module does not resolve the path,
//! because that depends on the other files.

use crate::tokens::Token;

/// A path, and the line on which it is written.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
    /// The inline modules of the file in which the path is written.
    pub(crate) within: Vec<String>,
}

/// A path that a `use` brings into scope.
#[derive(Clone, Debug)]
pub(crate) struct Import {
    pub(crate) path: Path,
    /// The name that the import has in this file, or `*` if it imports everything in the path.
    pub(crate) name: String,
    /// Whether the import is a re-export.
    pub(crate) is_public: bool,
}

/// The paths and definitions of one source file.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    pub(crate) imports: Vec<Import>,
    /// The paths outside of imports.
    pub(crate) mentions: Vec<Path>,
    /// All names outside of imports.
    pub(crate) names: Vec<String>,
    /// The inline modules of the file.
    pub(crate) modules: Vec<Vec<String>>,
    /// The names that the file defines.
    pub(crate) definitions: Vec<String>,
    /// The macros that the file exports to the root of its crate.
    pub(crate) exported_macros: Vec<String>,
}

impl Paths {
    pub(crate) fn of(tokens: &[Token]) -> Self {
        let mut reader = Reader { tokens, at: 0, depth: 0, within: Vec::new(), paths: Self::default() };
        while reader.at < tokens.len() {
            reader.step();
        }
        reader.paths
    }
}

/// The keywords that a definition has before its name.
const DEFINING: [&str; 9] = ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod"];

struct Reader<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    /// The modules around the current position, each with its depth in braces.
    within: Vec<(String, usize)>,
    paths: Paths,
}

impl Reader<'_> {
    /// Returns the text of the token that is `places` tokens after the current one.
    fn ahead(&self, places: usize) -> &str {
        self.tokens.get(self.at + places).map_or("", |token| &token.text)
    }

    fn behind(&self, places: usize) -> &str {
        self.at.checked_sub(places).map_or("", |at| &self.tokens[at].text)
    }

    fn step(&mut self) {
        match self.ahead(0) {
            "{" => self.depth += 1,
            "}" => {
                self.depth = self.depth.saturating_sub(1);
                self.within.pop_if(|(_, depth)| *depth > self.depth);
            }
            "pub" if self.ahead(1) == "(" => {
                while !matches!(self.ahead(0), ")" | "") {
                    self.at += 1;
                }
            }
            "mod" if self.ahead(2) == "{" => {
                self.within.push((self.ahead(1).to_owned(), self.depth + 1));
                self.paths.modules.push(self.modules());
            }
            // `use<'a>` in a type is not an import.
            "use" if self.ahead(1) != "<" => return self.import(),
            "macro_rules" => self.macro_rules(),
            _ if self.tokens[self.at].is_name() && self.behind(1) != "::" => return self.mention(),
            _ => {}
        }
        self.at += 1;
    }

    fn modules(&self) -> Vec<String> {
        self.within.iter().map(|(name, _)| name.clone()).collect()
    }

    fn import(&mut self) {
        let is_public = self.behind(1) == "pub" || self.behind(1) == ")";
        self.at += 1;
        self.tree(&[], is_public);
    }

    /// Reads one path of an import, or a group of paths in braces. `before` is the part of the path before
    /// it.
    fn tree(&mut self, before: &[String], is_public: bool) {
        let mut segments = before.to_vec();
        loop {
            let (text, line) =
                (self.ahead(0).to_owned(), self.tokens.get(self.at).map_or(0, |token| token.line));
            self.at += 1;
            match text.as_str() {
                "::" if segments.is_empty() => segments.push(String::new()),
                "::" => {}
                "{" => {
                    while !matches!(self.ahead(0), "}" | "") {
                        self.tree(&segments, is_public);
                        self.at += usize::from(self.ahead(0) == ",");
                    }
                    self.at += 1;
                    return;
                }
                "self" if !segments.is_empty() => {}
                "" | ";" => return,
                _ => segments.push(text),
            }
            if matches!(self.ahead(0), "," | "}" | ";" | "as" | "") {
                return self.leaf(segments, line, is_public);
            }
        }
    }

    fn leaf(&mut self, mut segments: Vec<String>, line: usize, is_public: bool) {
        let mut name = segments.last().cloned().unwrap_or_default();
        if name == "*" {
            segments.pop();
        }
        if self.ahead(0) == "as" {
            name = self.ahead(1).to_owned();
            self.at += 2;
        }
        let path = Path { segments, line, within: self.modules() };
        self.paths.imports.push(Import { path, name, is_public });
    }

    fn macro_rules(&mut self) {
        let name = self.ahead(2).to_owned();
        let before = &self.tokens[self.at.saturating_sub(12)..self.at];
        // `#[macro_export]` is one of the attributes directly before the macro.
        let begin = before.iter().rposition(|token| token.is(";") || token.is("}")).map_or(0, |at| at + 1);
        if before[begin..].iter().any(|token| token.is("macro_export")) {
            self.paths.exported_macros.push(name.clone());
        }
        self.paths.definitions.push(name);
    }

    /// Reads a name, or a path that begins with it.
    fn mention(&mut self) {
        let first = &self.tokens[self.at];
        let (line, is_field) = (first.line, self.behind(1) == ".");
        let is_module = self.behind(1) == "mod";
        if DEFINING.contains(&self.behind(1)) {
            self.paths.definitions.push(first.text.clone());
        }
        let mut segments = vec![first.text.clone()];
        self.at += 1;
        while self.ahead(0) == "::" && self.tokens.get(self.at + 1).is_some_and(Token::is_name) {
            segments.push(self.ahead(1).to_owned());
            self.at += 2;
        }
        if !is_module {
            self.paths.names.extend(segments.iter().cloned());
        }
        if segments.len() > 1 && !is_field {
            self.paths.mentions.push(Path { segments, line, within: self.modules() });
        }
    }
}
