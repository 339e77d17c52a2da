//! Arguments of `#[replicated(…)]` and `#[rpc(…)]`: splits the list into the names of attributes and their
//! values. Later, `check` checks whether the attributes may be combined.
//!
//! *Invariant:* each argument has a name that the attribute (`replicated` or `rpc`) allows on this kind of
//! item, such as a field or a function. Mistakes are reported at the smallest span.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, Parser};
use syn::{
    Attribute, Error, Expr, ExprLit, Ident, Lit, LitStr, MacroDelimiter, Meta, Path, RangeLimits, Result,
    Type,
};

use super::condition;
use super::number::{Bounds, Number};
use super::place::Place;
use super::unknown::unknown;
use crate::error::Errors;

/// A value, and the span of the attribute's name.
pub(crate) struct At<T> {
    pub(crate) span: Span,
    pub(crate) value: T,
}

/// An attribute without a value: it is present or not.
pub(crate) type Flag = Option<At<()>>;

/// One argument of an attribute: the name of an attribute, and its value.
pub(crate) struct Argument {
    pub(crate) name: Ident,
    pub(crate) key: String,
    form: &'static str,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    Nothing,
    /// The value in `name = value`.
    Equals(TokenStream),
    /// The value in `name(value)`.
    List(TokenStream),
}

impl Argument {
    /// Calls `read` with this argument and stores the result in `slot`. Returns an error if the slot is
    /// already filled.
    pub(crate) fn put<T>(
        &self,
        slot: &mut Option<At<T>>,
        read: impl FnOnce(&Self) -> Result<T>,
    ) -> Result<()> {
        if slot.is_some() {
            return Err(Error::new(self.name.span(), format!("`{}` is given twice: remove one", self.key)));
        }
        *slot = Some(At { span: self.name.span(), value: read(self)? });
        Ok(())
    }

    pub(crate) fn flag(&self) -> Result<()> {
        let instead = match &self.value {
            Value::Nothing => return Ok(()),
            Value::Equals(value) if value.to_string() == "false" => "remove it".to_owned(),
            _ => format!("write `{}`", self.key),
        };
        Err(Error::new(self.name.span(), format!("`{}` takes no value: {instead}", self.key)))
    }

    pub(crate) fn path(&self) -> Result<Path> {
        if let Ok(text) = self.parsed::<LitStr>() {
            return Err(Error::new(
                text.span(),
                format!("write it without quotes: `{} = {}`", self.key, text.value()),
            ));
        }
        if let Value::List(list) = &self.value
            && let Ok(path) = Path::parse_mod_style.parse2(list.clone())
        {
            let written = path.to_token_stream().to_string().replace(' ', "");
            return Err(Error::new_spanned(
                path,
                format!("write it without parentheses: `{} = {written}`", self.key),
            ));
        }
        self.parsed()
    }

    /// Reads a path, or nothing if the attribute has no value.
    pub(crate) fn path_or_nothing(&self) -> Result<Option<Path>> {
        if let Value::Nothing = self.value { Ok(None) } else { self.path().map(Some) }
    }

    pub(crate) fn ty(&self) -> Result<Type> {
        self.parsed()
    }

    pub(crate) fn text(&self) -> Result<LitStr> {
        let text: LitStr = self.parsed()?;
        if text.value().is_empty() {
            return Err(Error::new(text.span(), "a name on the wire cannot be empty"));
        }
        Ok(text)
    }

    pub(crate) fn path_or_text(&self) -> Result<Path> {
        match self.parsed::<LitStr>() {
            Ok(text) => text.parse_with(Path::parse_mod_style).map_err(|_| self.malformed()),
            Err(_) => match &self.value {
                Value::Equals(tokens) => {
                    Path::parse_mod_style.parse2(tokens.clone()).map_err(|_| self.malformed())
                }
                _ => Err(self.malformed()),
            },
        }
    }

    pub(crate) fn number(&self) -> Result<Number> {
        let expr: Expr = self.parsed()?;
        let number = matches!(expr, Expr::Lit(ExprLit { lit: Lit::Int(_) | Lit::Float(_), .. }));
        if !number && matches!(expr, Expr::Lit(_) | Expr::Range(_)) {
            return Err(self.malformed());
        }
        representable(Number(expr))
    }

    pub(crate) fn bounds(&self) -> Result<Bounds> {
        let mut expr: Expr = self.parsed()?;
        while let Expr::Group(group) = expr {
            expr = *group.expr;
        }
        let Expr::Range(whole) = expr else { return Err(self.malformed()) };
        let (Some(min), Some(max)) = (whole.start.as_deref().cloned(), whole.end.as_deref().cloned()) else {
            return Err(Error::new_spanned(&whole, format!("a range needs both bounds: `{}`", self.form)));
        };
        if let RangeLimits::HalfOpen(dots) = whole.limits {
            return Err(Error::new_spanned(
                dots,
                format!("both bounds are included, so write `..=`: `{}`", self.form),
            ));
        }
        Ok(Bounds { whole, min: representable(Number(min))?, max: representable(Number(max))? })
    }

    pub(crate) fn condition(&self) -> Result<Ident> {
        if let Value::Equals(tokens) = &self.value {
            condition::one(tokens)?;
        }
        condition::named(&self.path()?)
    }

    fn parsed<T: Parse>(&self) -> Result<T> {
        match &self.value {
            Value::Equals(tokens) => syn::parse2(tokens.clone()).map_err(|_| self.malformed()),
            _ => Err(self.malformed()),
        }
    }

    /// Returns the error for a value of the wrong kind. The error points at the value, or at the name if
    /// there is no value.
    pub(crate) fn malformed(&self) -> Error {
        match &self.value {
            Value::Equals(tokens) | Value::List(tokens) if !tokens.is_empty() => {
                Error::new_spanned(tokens, format!("write `{}`", self.form))
            }
            _ => Error::new(self.name.span(), format!("`{}` needs a value: write `{}`", self.key, self.form)),
        }
    }
}

/// Refuses a literal that is too large for every attribute.
fn representable(number: Number) -> Result<Number> {
    if number.is_too_large() {
        return Err(Error::new_spanned(&number.0, "the number is too large"));
    }
    Ok(number)
}

/// Returns the span of the first attribute that belongs to `place`, if there is one.
pub(crate) fn mark(attributes: &[Attribute], place: &Place) -> Option<Span> {
    let first = attributes.iter().find(|attribute| place.reads(attribute))?;
    Some(first.path().segments.last().map_or_else(Span::call_site, |segment| segment.ident.span()))
}

/// Calls `apply` with each argument of all attributes that belong to `place`, and collects the errors.
/// Returns whether there were errors.
pub(crate) fn each(
    attributes: &[Attribute],
    place: &Place,
    errors: &mut Errors,
    mut apply: impl FnMut(&Argument) -> Result<()>,
) -> bool {
    let mut faulty = false;
    for attribute in attributes.iter().filter(|attribute| place.reads(attribute)) {
        let found = match &attribute.meta {
            Meta::Path(_) => Vec::new(),
            Meta::List(list) if matches!(list.delimiter, MacroDelimiter::Paren(_)) => {
                arguments(list.tokens.clone(), place)
            }
            other => {
                let message = format!("write the attributes in parentheses: `#[{}(…)]`", place.attribute);
                vec![Err(Error::new_spanned(other, message))]
            }
        };
        faulty |= apply_all(found, errors, &mut apply);
    }
    faulty
}

/// Calls `apply` with each argument, and collects the errors. Returns whether there were errors.
pub(crate) fn apply_all(
    arguments: Vec<Result<Argument>>,
    errors: &mut Errors,
    mut apply: impl FnMut(&Argument) -> Result<()>,
) -> bool {
    let mut faulty = false;
    for argument in arguments {
        let applied = argument.and_then(|argument| apply(&argument));
        faulty |= errors.take(applied).is_none();
    }
    faulty
}

/// Splits an argument list at its commas. The commas between the generic arguments of a path do not count.
pub(crate) fn arguments(list: TokenStream, place: &Place) -> Vec<Result<Argument>> {
    let mut pieces = vec![TokenStream::new()];
    let (mut depth, mut previous) = (0_u32, ' ');
    for token in list {
        let punct = if let TokenTree::Punct(punct) = &token { punct.as_char() } else { ' ' };
        match punct {
            // In other places, `<` is the operator "less than", or a part of a shift.
            '<' if depth > 0 || matches!(previous, ':' | '=') => depth += 1,
            '>' if previous != '-' => depth = depth.saturating_sub(1),
            _ => {}
        }
        previous = punct;
        match (&token, pieces.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' && depth == 0 => {
                pieces.push(TokenStream::new());
            }
            (_, Some(piece)) => piece.extend([token]),
            (_, None) => {}
        }
    }
    pieces.into_iter().filter(|piece| !piece.is_empty()).map(|piece| argument(piece, place)).collect()
}

fn argument(piece: TokenStream, place: &Place) -> Result<Argument> {
    let mut tokens = piece.clone().into_iter();
    let Some(TokenTree::Ident(name)) = tokens.next() else {
        return Err(Error::new_spanned(piece, format!("write the name of an attribute: {}", place.list())));
    };
    let key = name.to_string();
    let first = tokens.next();
    let Some(form) = place.form(&key) else {
        return Err(Error::new(name.span(), unknown(&key, first.is_some(), place)));
    };
    let rest: TokenStream = tokens.collect();
    let value = match first {
        None => Value::Nothing,
        Some(TokenTree::Punct(punct)) if punct.as_char() == '=' => Value::Equals(rest),
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis && rest.is_empty() => {
            Value::List(group.stream())
        }
        Some(stray) => {
            return Err(Error::new(
                stray.span(),
                format!("this does not belong here: write `{form}`, and a comma before the next attribute"),
            ));
        }
    };
    Ok(Argument { name, key, form, value })
}
