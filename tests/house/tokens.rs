//! Splits a source file into tokens: names and signs with their lines. This module reads only as much of the
//! syntax as imports need.
//!
//! *Invariant:* no token is from a comment, a string or a test.

/// A name or a punctuation sign. `::` is one token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Token {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub(crate) fn is_name(&self) -> bool {
        self.text.starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
    }
}

/// Returns the tokens of `source` without its tests, and the names of its test modules that are in other
/// files.
pub(crate) fn tokens(source: &str) -> (Vec<Token>, Vec<String>) {
    without_tests(&Reader { rest: source, line: 1, tokens: Vec::new() }.read())
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
    tokens: Vec<Token>,
}

impl Reader<'_> {
    fn read(mut self) -> Vec<Token> {
        while let Some(first) = self.rest.chars().next() {
            if self.rest.starts_with("//") {
                self.skip(self.rest.find('\n').unwrap_or(self.rest.len()));
            } else if self.rest.starts_with("/*") {
                self.skip(length_of_comment(self.rest));
            } else if let Some(length) = length_of_text(self.rest) {
                self.skip(length);
            } else if let Some(name) = self.rest.strip_prefix("r#") {
                self.skip(2);
                self.take(length_of_name(name));
            } else if first.is_alphanumeric() || first == '_' {
                self.take(length_of_name(self.rest));
            } else if self.rest.starts_with("::") {
                self.take(2);
            } else if first.is_whitespace() {
                self.skip(first.len_utf8());
            } else {
                self.take(first.len_utf8());
            }
        }
        self.tokens
    }

    fn take(&mut self, length: usize) {
        self.tokens.push(Token { text: self.rest[..length].to_owned(), line: self.line });
        self.skip(length);
    }

    fn skip(&mut self, length: usize) {
        let (skipped, rest) = self.rest.split_at(length);
        self.line += skipped.matches('\n').count();
        self.rest = rest;
    }
}

fn length_of_name(rest: &str) -> usize {
    rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len())
}

/// Returns the length of a comment, which may contain other comments.
fn length_of_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// Returns the length of a string, a character or a lifetime, if one begins here.
fn length_of_text(rest: &str) -> Option<usize> {
    let plain = rest.trim_start_matches(['b', 'c']);
    let prefix = rest.len() - plain.len();
    if prefix > 1 {
        return None;
    }
    if let Some(raw) = plain.strip_prefix('r') {
        let fence = &raw[..raw.len() - raw.trim_start_matches('#').len()];
        let inner = raw[fence.len()..].strip_prefix('"')?;
        let end = inner.find(&format!("\"{fence}")).map_or(inner.len(), |at| at + 1 + fence.len());
        return Some(rest.len() - inner.len() + end);
    }
    if let Some(inner) = plain.strip_prefix('"') {
        return Some(rest.len() - inner.len() + closing(inner, '"'));
    }
    let inner = plain.strip_prefix('\'')?;
    let mut letters = inner.chars();
    let is_character = letters.next() == Some('\\') || letters.next() == Some('\'');
    let length = if is_character { closing(inner, '\'') } else { length_of_name(inner) };
    Some(rest.len() - inner.len() + length)
}

/// Returns the length of a string up to the sign that closes it.
fn closing(inner: &str, sign: char) -> usize {
    let mut letters = inner.char_indices();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' {
            letters.next();
        } else if letter == sign {
            return at + 1;
        }
    }
    inner.len()
}

const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];

fn without_tests(tokens: &[Token]) -> (Vec<Token>, Vec<String>) {
    let (mut code, mut tests, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        let begins = tokens[at..].iter().zip(TEST).filter(|(token, text)| token.is(text)).count();
        if begins < TEST.len() {
            code.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let end = at + TEST.len() + end_of_item(&tokens[at + TEST.len()..]);
        for pair in tokens[at..end].windows(3) {
            if pair[0].is("mod") && pair[2].is(";") {
                tests.push(pair[1].text.clone());
            }
        }
        at = end;
    }
    (code, tests)
}

/// Returns where an item ends: after its braces, or after a semicolon that is not in braces.
fn end_of_item(tokens: &[Token]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.text.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (token.is(";") || token.is("}")) {
            return at + 1;
        }
    }
    tokens.len()
}
