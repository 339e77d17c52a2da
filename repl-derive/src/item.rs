//! Items: the attributes of one list, each a name and perhaps a value, before anyone asks what they mean.
//!
//! *Invariant:* an item's name is one that may stand in its place, and what is wrong with it is reported at the smallest span.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::{Parse, Parser};
use syn::{
    Attribute, Error, Expr, ExprLit, Ident, Lit, LitStr, MacroDelimiter, Meta, Path, RangeLimits, Result,
};

use crate::ast::Derive;
use crate::attr::At;
use crate::condition;
use crate::error::{Errors, nearest, same};
use crate::number::{Bounds, Number};

/// What may stand in one place: attributes' names, and how each is written.
pub(crate) struct Place {
    place: &'static str,
    forms: &'static [(&'static str, &'static str)],
    /// Names that are read here, so that it can be said why they are wrong, and never offered.
    refused: &'static [&'static str],
}

/// What can stand on a type.
const OF_TYPES: &[(&str, &str)] = &[
    ("all", "all"),
    ("name", "name = \"…\""),
    ("callbacks", "callbacks"),
    ("crate", "crate = \"path::to::repl\""),
];

static TYPE: Place = Place { place: "on a type", forms: OF_TYPES, refused: &[] };
static ITEM: Place = Place { place: "on an item", forms: OF_TYPES, refused: &["all"] };
static VALUE: Place = Place { place: "on a value", forms: OF_TYPES, refused: &["all", "callbacks"] };

/// What can stand on a field.
const OF_FIELDS: &[(&str, &str)] = &[
    ("skip", "skip"),
    ("condition", "condition = OwnerOnly"),
    ("starts_off", "starts_off"),
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
];

/// What belongs to properties of objects.
const OF_OBJECTS: &[&str] = &["condition", "starts_off", "notify", "notify_always", "push"];

static FIELD: Place = Place { place: "on a field", forms: OF_FIELDS, refused: &[] };
static FIELD_OF_ITEM: Place = Place { place: "on a field of an item", forms: OF_FIELDS, refused: OF_OBJECTS };
static FIELD_OF_VALUE: Place =
    Place { place: "on a field of a value", forms: OF_FIELDS, refused: OF_OBJECTS };

pub(crate) static VARIANT: Place =
    Place { place: "on a variant", forms: &[("name", "name = \"…\"")], refused: &[] };

pub(crate) static QUANTIZE: Place = Place {
    place: "in `quantize(…)`",
    forms: &[
        ("step", "step = 0.01"),
        ("range", "range = -1.0..=1.0"),
        ("smallest_three", "smallest_three = 10"),
        ("unit_vector", "unit_vector = 12"),
    ],
    refused: &[],
};

impl Place {
    /// On a type that is derived for.
    pub(crate) fn of_type(derive: Derive) -> &'static Self {
        match derive {
            Derive::Replicated => &TYPE,
            Derive::FastArrayItem => &ITEM,
            Derive::NetSerialize => &VALUE,
        }
    }

    /// On a field of such a type.
    pub(crate) fn of_field(derive: Derive) -> &'static Self {
        match derive {
            Derive::Replicated => &FIELD,
            Derive::FastArrayItem => &FIELD_OF_ITEM,
            Derive::NetSerialize => &FIELD_OF_VALUE,
        }
    }

    /// Whether fields stand here.
    fn is_field(&self) -> bool {
        std::ptr::eq(self.forms, OF_FIELDS)
    }

    /// The names that can be offered.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        self.forms.iter().map(|&(name, _)| name).filter(|name| !self.refused.contains(name))
    }
}

/// What attributes of fields are called elsewhere: in Unreal, in other derives, by habit.
const SYNONYMS: [(&str, &str); 16] = [
    ("cond", "condition"),
    ("when", "condition"),
    ("rep_notify", "notify"),
    ("replicated_using", "notify"),
    ("on_rep", "notify"),
    ("on_change", "notify"),
    ("callback", "notify"),
    ("ignore", "skip"),
    ("transient", "skip"),
    ("not_replicated", "skip"),
    ("rename", "name"),
    ("serialize_with", "with"),
    ("push_based", "push"),
    ("push_model", "push"),
    ("clamp", "saturate"),
    ("precision", "quantize"),
];

/// One attribute of a list: its name, and what follows.
pub(crate) struct Item {
    pub(crate) name: Ident,
    /// The name as text.
    pub(crate) key: String,
    form: &'static str,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    Nothing,
    /// After `=`.
    Equals(TokenStream),
    /// In parentheses.
    List(TokenStream),
}

impl Item {
    /// Fills `slot` with what `read` makes of the attribute.
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
        Ok(Number(expr))
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
    pub(crate) fn malformed(&self) -> Error {
        match &self.value {
            Value::Equals(tokens) | Value::List(tokens) if !tokens.is_empty() => {
                Error::new_spanned(tokens, format!("write `{}`", self.form))
            }
            _ => Error::new(self.name.span(), format!("`{}` needs a value: write `{}`", self.key, self.form)),
        }
    }
}

fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().is_ident("replicated")
}

/// Where our attribute stands, if it does.
pub(crate) fn mark(attributes: &[Attribute]) -> Option<Span> {
    let ours = attributes.iter().find(|attribute| is_ours(attribute))?;
    Some(ours.path().segments.first().map_or_else(Span::call_site, |segment| segment.ident.span()))
}

/// Gives each item of our attributes to `apply` and collects what is wrong with them; says whether anything was.
pub(crate) fn each(
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
pub(crate) fn items(list: TokenStream, place: &Place) -> Vec<Result<Item>> {
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
    let first = tokens.next();
    let Some(form) = form_in(place, &key) else {
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
    Ok(Item { name, key, form, value })
}

/// Says what an unknown attribute may have been meant to be.
fn unknown(key: &str, has_value: bool, place: &Place) -> String {
    let (on_a_field, in_quantize) = (place.is_field(), std::ptr::eq(place, &QUANTIZE));
    let has_conditions = !place.refused.contains(&"condition");
    // In what sends all fields anyway, `all` is as good as unknown.
    if let Some(form) = form_in(&TYPE, key).filter(|_| has_conditions || key != "all") {
        return format!("`{key}` belongs on the type: write `#[replicated({form})]` above it");
    }
    if let Some(form) = form_in(&FIELD, key) {
        return if in_quantize {
            format!("`{key}` stands beside `quantize(…)`, not in it: `quantize(…), {form}`")
        } else {
            format!(
                "`{key}` belongs on a field, as `#[replicated({form})]`; {} can stand {}",
                place.place,
                list_of(place)
            )
        };
    }
    if let Some(form) = form_in(&QUANTIZE, key) {
        return format!("`{key}` belongs in parentheses: `quantize({form})`");
    }
    if let (Some(condition), false) = (condition::spelled(key), in_quantize) {
        if !has_conditions {
            return format!(
                "`{key}` is a condition: say `condition = {condition}` on the field of the object that holds this"
            );
        }
        let field = if on_a_field { "" } else { "on a field " };
        return format!("`{key}` is a condition: {field}write `condition = {condition}`");
    }
    let meant = if on_a_field { meant_on_a_field(place, key, has_value) } else { nearest_in(place, key) };
    let hint = meant.map_or(".".to_owned(), |meant| format!(": did you mean `{meant}`?"));
    format!("unknown attribute `{key}`{hint} What can stand {}: {}", place.place, list_of(place))
}

/// What was probably meant on a field: an attribute's name, with its form if nothing was written beside it, or a condition.
fn meant_on_a_field(place: &Place, key: &str, has_value: bool) -> Option<String> {
    let synonym = SYNONYMS.iter().find(|(other, _)| same(other, key)).map(|&(_, own)| own.to_owned());
    let synonym = synonym.filter(|name| place.names().any(|known| known == name));
    match synonym.or_else(|| nearest_in(place, key)) {
        Some(name) if has_value => Some(name),
        Some(name) => form_in(place, &name).map(str::to_owned),
        None if place.refused.contains(&"condition") => None,
        None => condition::near(key).map(|name| format!("condition = {name}")),
    }
}

fn nearest_in(place: &Place, key: &str) -> Option<String> {
    nearest(key, place.names()).map(str::to_owned)
}

/// How the attribute `name` is written, if it can stand in `place`.
fn form_in(place: &Place, name: &str) -> Option<&'static str> {
    place.forms.iter().find(|&&(known, _)| known == name).map(|&(_, form)| form)
}

fn list_of(place: &Place) -> String {
    place.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
