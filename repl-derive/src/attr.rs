//! Attributes: what stands in `#[replicated(…)]`, read into named slots.
//!
//! *Invariant:* each attribute has one slot and fills it once; whether attributes go together is decided in `check`, not here.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::parse::Parse;
use syn::{
    Attribute, Error, Expr, ExprLit, ExprRange, ExprUnary, Ident, Lit, LitStr, MacroDelimiter, Meta, Path, RangeLimits, Result, UnOp,
};

use crate::condition;
use crate::error::{Errors, nearest};

/// A value and the attribute's name that gave it.
pub(crate) struct At<T> {
    pub(crate) span: Span,
    pub(crate) value: T,
}

/// An attribute that is given or not.
pub(crate) type Flag = Option<At<()>>;

/// What a type says about itself.
#[derive(Default)]
pub(crate) struct ContainerAttrs {
    pub(crate) all: Flag,
    pub(crate) krate: Option<At<Path>>,
    pub(crate) name: Option<At<LitStr>>,
    pub(crate) callbacks: Flag,
}

/// What a field says about itself.
#[derive(Default)]
pub(crate) struct FieldAttrs {
    /// The field has the attribute, whatever stands in it.
    pub(crate) marked: Option<Span>,
    /// Something that the field says could not be read.
    pub(crate) faulty: bool,
    pub(crate) skip: Flag,
    pub(crate) condition: Option<At<Ident>>,
    pub(crate) notify: Option<At<Path>>,
    pub(crate) notify_always: Flag,
    pub(crate) push: Flag,
    pub(crate) quantize: Option<At<Quantize>>,
    pub(crate) bits: Option<At<Number>>,
    pub(crate) range: Option<At<Bounds>>,
    pub(crate) saturate: Flag,
    pub(crate) max_len: Option<At<Number>>,
    pub(crate) with: Option<At<Path>>,
    pub(crate) atomic: Flag,
    pub(crate) name: Option<At<LitStr>>,
}

/// What a variant says about itself.
#[derive(Default)]
pub(crate) struct VariantAttrs {
    pub(crate) name: Option<At<LitStr>>,
}

/// The three forms of `quantize(…)`.
pub(crate) enum Quantize {
    Steps { step: Number, range: Bounds },
    SmallestThree(Number),
    UnitVector(Number),
}

/// A number: a literal, or a constant of the user's.
pub(crate) struct Number(pub(crate) Expr);

/// Two bounds, both included.
pub(crate) struct Bounds {
    pub(crate) whole: ExprRange,
    pub(crate) min: Number,
    pub(crate) max: Number,
}

/// What may stand in one place: attributes' names, and how each is written.
struct Place {
    name: &'static str,
    forms: &'static [(&'static str, &'static str)],
}

const TYPE: Place = Place {
    name: "a type",
    forms: &[
        ("all", "all"),
        ("name", "name = \"…\""),
        ("callbacks", "callbacks"),
        ("crate", "crate = \"path::to::repl\""),
    ],
};

const FIELD: Place = Place {
    name: "a field",
    forms: &[
        ("skip", "skip"),
        ("condition", "condition = OwnerOnly"),
        ("notify", "notify = method"),
        ("notify_always", "notify_always"),
        ("push", "push"),
        ("quantize", "quantize(step = 0.01, range = -1.0..=1.0)"),
        ("bits", "bits = 5"),
        ("range", "range = 0..=100"),
        ("saturate", "saturate"),
        ("max_len", "max_len = 64"),
        ("with", "with = module"),
        ("atomic", "atomic"),
        ("name", "name = \"…\""),
    ],
};

const VARIANT: Place = Place { name: "a variant", forms: &[("name", "name = \"…\"")] };

const QUANTIZE: Place = Place {
    name: "`quantize(…)`",
    forms: &[
        ("step", "step = 0.01"),
        ("range", "range = -1.0..=1.0"),
        ("smallest_three", "smallest_three = 10"),
        ("unit_vector", "unit_vector = 12"),
    ],
};

impl ContainerAttrs {
    pub(crate) fn parse(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        each(attributes, &TYPE, errors, |item| match item.key.as_str() {
            "all" => item.put(&mut attrs.all, Item::flag),
            "name" => item.put(&mut attrs.name, Item::text),
            "callbacks" => item.put(&mut attrs.callbacks, Item::flag),
            _ => item.put(&mut attrs.krate, Item::path_or_text),
        });
        attrs
    }
}

impl FieldAttrs {
    pub(crate) fn parse(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut attrs = Self { marked: attributes.iter().find(|a| is_ours(a)).map(span_of), ..Self::default() };
        attrs.faulty = each(attributes, &FIELD, errors, |item| match item.key.as_str() {
            "skip" => item.put(&mut attrs.skip, Item::flag),
            "condition" => item.put(&mut attrs.condition, |item| condition::named(&item.path()?)),
            "notify" => item.put(&mut attrs.notify, Item::path),
            "notify_always" => item.put(&mut attrs.notify_always, Item::flag),
            "push" => item.put(&mut attrs.push, Item::flag),
            "quantize" => item.put(&mut attrs.quantize, Quantize::parse),
            "bits" => item.put(&mut attrs.bits, Item::number),
            "range" => item.put(&mut attrs.range, Item::bounds),
            "saturate" => item.put(&mut attrs.saturate, Item::flag),
            "max_len" => item.put(&mut attrs.max_len, Item::number),
            "with" => item.put(&mut attrs.with, Item::path),
            "atomic" => item.put(&mut attrs.atomic, Item::flag),
            _ => item.put(&mut attrs.name, Item::text),
        });
        attrs
    }

    /// The spans and names of everything the field says, in a fixed order.
    pub(crate) fn given(&self) -> Vec<(&'static str, Span)> {
        fn of<T>(slot: &Option<At<T>>) -> Option<Span> {
            slot.as_ref().map(|at| at.span)
        }
        let slots = [
            ("skip", of(&self.skip)),
            ("condition", of(&self.condition)),
            ("notify", of(&self.notify)),
            ("notify_always", of(&self.notify_always)),
            ("push", of(&self.push)),
            ("quantize", of(&self.quantize)),
            ("bits", of(&self.bits)),
            ("range", of(&self.range)),
            ("saturate", of(&self.saturate)),
            ("max_len", of(&self.max_len)),
            ("with", of(&self.with)),
            ("atomic", of(&self.atomic)),
            ("name", of(&self.name)),
        ];
        slots.into_iter().filter_map(|(name, span)| Some((name, span?))).collect()
    }
}

impl VariantAttrs {
    pub(crate) fn parse(attributes: &[Attribute], errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        each(attributes, &VARIANT, errors, |item| item.put(&mut attrs.name, Item::text));
        attrs
    }
}

impl Quantize {
    fn parse(item: &Item) -> Result<Self> {
        let Value::List(list) = &item.value else { return Err(item.malformed()) };
        let (mut step, mut range, mut smallest_three, mut unit_vector) = (None, None, None, None);
        for inner in items(list.clone(), &QUANTIZE) {
            let inner = inner?;
            match inner.key.as_str() {
                "step" => inner.put(&mut step, Item::number)?,
                "range" => inner.put(&mut range, Item::bounds)?,
                "smallest_three" => inner.put(&mut smallest_three, Item::number)?,
                _ => inner.put(&mut unit_vector, Item::number)?,
            }
        }
        match (step, range, smallest_three, unit_vector) {
            (Some(step), Some(range), None, None) => Ok(Self::Steps { step: step.value, range: range.value }),
            (None, None, Some(bits), None) => Ok(Self::SmallestThree(bits.value)),
            (None, None, None, Some(bits)) => Ok(Self::UnitVector(bits.value)),
            (Some(step), None, None, None) => {
                Err(Error::new(step.span, "a step needs its range: `quantize(step = 0.01, range = -1.0..=1.0)`"))
            }
            (None, Some(range), None, None) => {
                Err(Error::new(range.span, "a range needs its step: `quantize(step = 0.01, range = -1.0..=1.0)`"))
            }
            _ => Err(Error::new(
                item.name.span(),
                "write one of `quantize(step = 0.01, range = -1.0..=1.0)`, `quantize(smallest_three = 10)` and \
                 `quantize(unit_vector = 12)`",
            )),
        }
    }
}

impl Number {
    /// The number, if it is a literal.
    pub(crate) fn literal(&self) -> Option<f64> {
        match signed(&self.0)? {
            (sign, Lit::Int(lit)) => lit.base10_parse::<f64>().ok().map(|value| sign * value),
            (sign, Lit::Float(lit)) => lit.base10_parse::<f64>().ok().map(|value| sign * value),
            _ => None,
        }
    }

    /// The number, if it is a literal without a fraction.
    pub(crate) fn whole(&self) -> Option<i128> {
        match signed(&self.0)? {
            (sign, Lit::Int(lit)) => lit.base10_parse::<i128>().ok().map(|value| sign as i128 * value),
            _ => None,
        }
    }
}

/// A literal and its sign.
fn signed(expr: &Expr) -> Option<(f64, &Lit)> {
    match expr {
        Expr::Lit(ExprLit { lit, .. }) => Some((1.0, lit)),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => signed(expr).map(|(sign, lit)| (-sign, lit)),
        Expr::Paren(paren) => signed(&paren.expr),
        Expr::Group(group) => signed(&group.expr),
        _ => None,
    }
}

/// One attribute of a list: its name, and what follows.
struct Item {
    name: Ident,
    /// The name as text.
    key: String,
    form: &'static str,
    value: Value,
}

enum Value {
    Nothing,
    /// After `=`.
    Equals(TokenStream),
    /// In parentheses.
    List(TokenStream),
}

impl Item {
    /// Fills `slot` with what `read` makes of the attribute.
    fn put<T>(&self, slot: &mut Option<At<T>>, read: impl FnOnce(&Self) -> Result<T>) -> Result<()> {
        if slot.is_some() {
            return Err(Error::new(self.name.span(), format!("`{}` is given twice: remove one", self.key)));
        }
        *slot = Some(At { span: self.name.span(), value: read(self)? });
        Ok(())
    }

    fn flag(&self) -> Result<()> {
        match &self.value {
            Value::Nothing => Ok(()),
            _ => Err(Error::new(self.name.span(), format!("`{0}` takes no value: write `{0}`", self.key))),
        }
    }

    fn path(&self) -> Result<Path> {
        self.parsed()
    }

    fn text(&self) -> Result<LitStr> {
        let text: LitStr = self.parsed()?;
        if text.value().is_empty() {
            return Err(Error::new(text.span(), "a name on the wire cannot be empty"));
        }
        Ok(text)
    }

    fn path_or_text(&self) -> Result<Path> {
        match self.parsed::<LitStr>() {
            Ok(text) => text.parse_with(Path::parse_mod_style).map_err(|_| self.malformed()),
            Err(_) => match &self.value {
                Value::Equals(tokens) => {
                    syn::parse::Parser::parse2(Path::parse_mod_style, tokens.clone()).map_err(|_| self.malformed())
                }
                _ => Err(self.malformed()),
            },
        }
    }

    fn number(&self) -> Result<Number> {
        let number = Number(self.parsed()?);
        match &number.0 {
            Expr::Lit(ExprLit { lit: Lit::Int(_) | Lit::Float(_), .. }) => Ok(number),
            Expr::Lit(_) | Expr::Range(_) => Err(self.malformed()),
            _ => Ok(number),
        }
    }

    fn bounds(&self) -> Result<Bounds> {
        let Expr::Range(whole) = self.parsed()? else { return Err(self.malformed()) };
        let (Some(min), Some(max)) = (whole.start.as_deref().cloned(), whole.end.as_deref().cloned()) else {
            return Err(Error::new_spanned(&whole, format!("a range needs both bounds: `{}`", self.form)));
        };
        if let RangeLimits::HalfOpen(dots) = whole.limits {
            return Err(Error::new_spanned(dots, format!("both bounds are included, so write `..=`: `{}`", self.form)));
        }
        Ok(Bounds { whole, min: Number(min), max: Number(max) })
    }

    /// What stands after `=`.
    fn parsed<T: Parse>(&self) -> Result<T> {
        match &self.value {
            Value::Equals(tokens) => syn::parse2(tokens.clone()).map_err(|_| self.malformed()),
            _ => Err(self.malformed()),
        }
    }

    /// The error for a value of the wrong kind, at the value or, without one, at the name.
    fn malformed(&self) -> Error {
        let message = format!("write `{}`", self.form);
        match &self.value {
            Value::Equals(tokens) | Value::List(tokens) if !tokens.is_empty() => Error::new_spanned(tokens, message),
            _ => Error::new(self.name.span(), message),
        }
    }
}

fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().is_ident("replicated")
}

fn span_of(attribute: &Attribute) -> Span {
    attribute.path().segments.first().map_or_else(Span::call_site, |segment| segment.ident.span())
}

/// Gives each item of our attributes to `apply` and collects what is wrong with them; says whether anything was.
fn each(
    attributes: &[Attribute],
    place: &Place,
    errors: &mut Errors,
    mut apply: impl FnMut(&Item) -> Result<()>,
) -> bool {
    let mut faulty = false;
    for attribute in attributes.iter().filter(|a| is_ours(a)) {
        let found = match &attribute.meta {
            Meta::Path(_) => Vec::new(),
            Meta::List(list) if matches!(list.delimiter, MacroDelimiter::Paren(_)) => {
                items(list.tokens.clone(), place)
            }
            other => {
                let message = "write the attributes in parentheses: `#[replicated(…)]`";
                vec![Err(Error::new_spanned(other, message))]
            }
        };
        for item in found {
            let applied = item.and_then(|item| apply(&item));
            faulty |= errors.take(applied).is_none();
        }
    }
    faulty
}

/// The items of a list, separated by commas.
fn items(list: TokenStream, place: &Place) -> Vec<Result<Item>> {
    let mut pieces = vec![TokenStream::new()];
    for token in list {
        match (&token, pieces.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == ',' => pieces.push(TokenStream::new()),
            (_, Some(piece)) => piece.extend([token]),
            (_, None) => {}
        }
    }
    pieces.into_iter().filter(|piece| !piece.is_empty()).map(|piece| item(piece, place)).collect()
}

fn item(piece: TokenStream, place: &Place) -> Result<Item> {
    let mut tokens = piece.clone().into_iter();
    let Some(TokenTree::Ident(name)) = tokens.next() else {
        return Err(Error::new_spanned(piece, format!("write the name of an attribute: {}", list_of(place))));
    };
    let key = name.to_string();
    let Some(&(_, form)) = place.forms.iter().find(|&&(known, _)| known == key) else {
        return Err(Error::new(name.span(), unknown(&key, place)));
    };
    let first = tokens.next();
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
    Ok(Item { name, key, form, value })
}

/// Says what an unknown attribute may have been meant to be.
fn unknown(key: &str, place: &Place) -> String {
    let form_in = |other: &Place| other.forms.iter().find(|&&(name, _)| name == key).map(|&(_, form)| form);
    if let Some(form) = form_in(&TYPE) {
        return format!("`{key}` belongs on the type: write `#[replicated({form})]` above it");
    }
    if let Some(form) = form_in(&FIELD) {
        return format!("`{key}` belongs on a field, as `#[replicated({form})]`; on {} can stand {}", place.name, list_of(place));
    }
    if let Some(form) = form_in(&QUANTIZE) {
        return format!("`{key}` belongs in parentheses: `quantize({form})`");
    }
    let near = nearest(key, place.forms.iter().map(|&(name, _)| name));
    let hint = near.map_or(".".to_owned(), |near| format!(": did you mean `{near}`?"));
    format!("unknown attribute `{key}`{hint} On {} can stand {}", place.name, list_of(place))
}

fn list_of(place: &Place) -> String {
    place.forms.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
