//! Finds the methods that a source file defines, and the methods that it calls on values of known types: on
//! `self`, and on parameters that are references to a named type.
//!
//! *Invariant:* an `impl` block needs no import of the other `impl` blocks of its type, so only these calls
//! show which files of a type depend on each other.

use crate::tokens::Token;

#[derive(Debug)]
pub(crate) struct Method {
    /// The path of the type as the file writes it, without its generic arguments.
    pub(crate) of: Vec<String>,
    pub(crate) name: String,
    /// Whether the method is in an `impl` block of a trait.
    pub(crate) is_of_trait: bool,
}

#[derive(Debug)]
pub(crate) struct MethodCall {
    /// The path of the type as the file writes it, without its generic arguments.
    pub(crate) of: Vec<String>,
    pub(crate) name: String,
    pub(crate) line: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Methods {
    pub(crate) definitions: Vec<Method>,
    pub(crate) calls: Vec<MethodCall>,
}

impl Methods {
    pub(crate) fn of(tokens: &[Token]) -> Self {
        let mut methods = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            at = match tokens[at].text.as_str() {
                "impl" if begins_item(tokens, at) => methods.block(tokens, at),
                "fn" => methods.function(tokens, at, None),
                _ => at + 1,
            };
        }
        methods
    }

    /// Reads an `impl` block that begins at `at`. Returns where it ends.
    fn block(&mut self, tokens: &[Token], at: usize) -> usize {
        let Some(open) = (at..tokens.len()).find(|&at| tokens[at].is("{")) else { return tokens.len() };
        let end = end_of_group(tokens, open);
        let (of, is_of_trait) = type_of_block(&tokens[at + 1..open]);
        let mut at = open + 1;
        while at < end {
            at = if tokens[at].is("fn") {
                if let (Some(of), Some(name)) = (&of, tokens.get(at + 1)) {
                    let (of, name) = (of.clone(), name.text.clone());
                    self.definitions.push(Method { of, name, is_of_trait });
                }
                self.function(tokens, at, of.as_deref())
            } else {
                at + 1
            };
        }
        end
    }

    /// Reads a function that begins at `at`, of the type `of` if it is a method. Returns where it ends.
    fn function(&mut self, tokens: &[Token], at: usize, of: Option<&[String]>) -> usize {
        let Some(open) = parameters(tokens, at) else { return at + 1 };
        let end_of_parameters = end_of_group(tokens, open);
        let mut receivers = references(&tokens[open..end_of_parameters], of);
        receivers.extend(of.map(|of| ("self".to_owned(), of.to_vec())));
        let Some(body) = body(tokens, end_of_parameters) else { return end_of_parameters };
        let (mut at, end) = (body + 1, end_of_group(tokens, body));
        while at < end {
            if tokens[at].is("fn") {
                at = self.function(tokens, at, None);
                continue;
            }
            self.calls.extend(call(&tokens[at - 1..], of, &receivers));
            at += 1;
        }
        end
    }
}

/// Returns the method call at the second of `tokens`, if the type of its receiver is known.
fn call(tokens: &[Token], of: Option<&[String]>, receivers: &[(String, Vec<String>)]) -> Option<MethodCall> {
    let [before, first, sign, name, after, ..] = tokens else { return None };
    if !first.is_name() || before.is(".") || before.is("::") || !(after.is("(") || after.is("::")) {
        return None;
    }
    let of = match sign.text.as_str() {
        "." => receivers.iter().find(|(name, _)| first.is(name)).map(|(_, of)| of.clone()),
        "::" if first.is("Self") => of.map(<[_]>::to_vec),
        "::" => Some(vec![first.text.clone()]),
        _ => None,
    };
    of.map(|of| MethodCall { of, name: name.text.clone(), line: first.line })
}

/// Returns whether the `impl` at `at` begins an `impl` block, and is not part of a type such as `impl Trait`.
fn begins_item(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).map(|at| tokens[at].text.as_str());
    matches!(before, None | Some(";" | "}" | "{" | "]" | "unsafe"))
}

/// Returns the path of the type of an `impl` block with this head, and whether the block is for a trait.
fn type_of_block(head: &[Token]) -> (Option<Vec<String>>, bool) {
    let head = &head[end_of_generics(head)..];
    let is_trait = |at: usize| head[at].is("for") && !head.get(at + 1).is_some_and(|token| token.is("<"));
    match (0..head.len()).find(|&at| is_trait(at)) {
        Some(at) => (path_of(&head[at + 1..]), true),
        None => (path_of(head), false),
    }
}

/// Returns the path at the start of `tokens`, without its generic arguments.
fn path_of(tokens: &[Token]) -> Option<Vec<String>> {
    let (first, mut rest) = tokens.split_first().filter(|(first, _)| first.is_name())?;
    let mut path = vec![first.text.clone()];
    while let [sign, name, ..] = rest
        && sign.is("::")
        && name.is_name()
    {
        path.push(name.text.clone());
        rest = &rest[2..];
    }
    Some(path)
}

/// Returns the index of the parenthesis that opens the parameters of the function at `at`.
fn parameters(tokens: &[Token], at: usize) -> Option<usize> {
    let after_name = at + 2;
    let open = after_name + end_of_generics(tokens.get(after_name..)?);
    tokens.get(open).filter(|token| token.is("(")).map(|_| open)
}

/// Returns the index of the brace that opens a function's body. `at` is after the parameters. `None` if the
/// function has no body.
fn body(tokens: &[Token], mut at: usize) -> Option<usize> {
    loop {
        match tokens.get(at)?.text.as_str() {
            "{" => return Some(at),
            ";" => return None,
            // The return type may be an array, which contains a semicolon.
            "(" | "[" => at = end_of_group(tokens, at),
            _ => at += 1,
        }
    }
}

/// Returns how many tokens the generic parameters at the start of `tokens` have. The `>` of `->` closes
/// nothing.
fn end_of_generics(tokens: &[Token]) -> usize {
    if !tokens.first().is_some_and(|token| token.is("<")) {
        return 0;
    }
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        let is_arrow = at > 0 && tokens[at - 1].is("-");
        match token.text.as_str() {
            "<" => depth += 1,
            ">" if !is_arrow => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Returns the index after the bracket that closes the group at `open`.
fn end_of_group(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Returns each parameter that is a reference to a named type: its name, and the path of the type.
fn references(parameters: &[Token], of: Option<&[String]>) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for (at, window) in parameters.windows(3).enumerate() {
        let [name, colon, reference] = window else { continue };
        if !(name.is_name() && colon.is(":") && reference.is("&")) {
            continue;
        }
        let is_mutable = parameters.get(at + 3).is_some_and(|token| token.is("mut"));
        let path = path_of(&parameters[at + 3 + usize::from(is_mutable)..]);
        let path = path.and_then(|path| if path == ["Self"] { of.map(<[_]>::to_vec) } else { Some(path) });
        found.extend(path.map(|path| (name.text.clone(), path)));
    }
    found
}
