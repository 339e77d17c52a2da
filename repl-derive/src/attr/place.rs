//! The places where attributes are written: on a type, on a field, on a variant, in `quantize(…)`. Each place
//! has a list of the attributes that it allows, and how each is written.
//!
//! *Invariant:* no error message suggests an attribute that is refused at its place.

use crate::derive::Derive;
use crate::spelling::nearest;

/// The attributes that one place allows, and how each is written.
pub(super) struct Place {
    /// The place in words, for error messages: "on a field".
    pub(super) name: &'static str,
    forms: &'static [(&'static str, &'static str)],
    /// Names that are read at this place only to explain why they are wrong. Error messages never suggest
    /// these names.
    refused: &'static [&'static str],
}

/// The attributes of types.
const TYPE_ATTRIBUTES: &[(&str, &str)] = &[
    ("all", "all"),
    ("name", "name = \"…\""),
    ("callbacks", "callbacks"),
    ("crate", "crate = \"path::to::repl\""),
];

pub(super) static TYPE: Place = Place { name: "on a type", forms: TYPE_ATTRIBUTES, refused: &[] };
static ITEM: Place = Place { name: "on an item", forms: TYPE_ATTRIBUTES, refused: &["all"] };
static VALUE: Place = Place { name: "on a value", forms: TYPE_ATTRIBUTES, refused: &["all", "callbacks"] };

/// The attributes of fields.
const FIELD_ATTRIBUTES: &[(&str, &str)] = &[
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

/// The attributes that are allowed only on fields of objects.
const OBJECT_ONLY_ATTRIBUTES: &[&str] = &["condition", "starts_off", "notify", "notify_always", "push"];

pub(super) static FIELD: Place = Place { name: "on a field", forms: FIELD_ATTRIBUTES, refused: &[] };
static FIELD_OF_ITEM: Place =
    Place { name: "on a field of an item", forms: FIELD_ATTRIBUTES, refused: OBJECT_ONLY_ATTRIBUTES };
static FIELD_OF_VALUE: Place =
    Place { name: "on a field of a value", forms: FIELD_ATTRIBUTES, refused: OBJECT_ONLY_ATTRIBUTES };

pub(super) static VARIANT: Place =
    Place { name: "on a variant", forms: &[("name", "name = \"…\"")], refused: &[] };

pub(super) static QUANTIZE: Place = Place {
    name: "in `quantize(…)`",
    forms: &[
        ("step", "step = 0.01"),
        ("range", "range = -1.0..=1.0"),
        ("smallest_three", "smallest_three = 10"),
        ("unit_vector", "unit_vector = 12"),
    ],
    refused: &[],
};

impl Place {
    /// Returns the rules for attributes on a type with this derive.
    pub(super) fn of_type(derive: Derive) -> &'static Self {
        match derive {
            Derive::Replicated => &TYPE,
            Derive::FastArrayItem => &ITEM,
            Derive::NetSerialize => &VALUE,
        }
    }

    /// Returns the rules for attributes on a field of a type with this derive.
    pub(super) fn of_field(derive: Derive) -> &'static Self {
        match derive {
            Derive::Replicated => &FIELD,
            Derive::FastArrayItem => &FIELD_OF_ITEM,
            Derive::NetSerialize => &FIELD_OF_VALUE,
        }
    }

    /// Whether the attributes of this place are written on a field.
    pub(super) fn is_field(&self) -> bool {
        std::ptr::eq(self.forms, FIELD_ATTRIBUTES)
    }

    /// Whether this place is inside `quantize(…)`.
    pub(super) fn is_quantize(&self) -> bool {
        std::ptr::eq(self, &QUANTIZE)
    }

    /// Whether this place allows a condition.
    pub(super) fn has_conditions(&self) -> bool {
        !self.refused.contains(&"condition")
    }

    /// Returns how the attribute `name` is written, if this place reads it.
    pub(super) fn form(&self, name: &str) -> Option<&'static str> {
        self.forms.iter().find(|&&(known, _)| known == name).map(|&(_, form)| form)
    }

    /// Returns the names that an error message may suggest at this place.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.forms.iter().map(|&(name, _)| name).filter(|name| !self.refused.contains(name))
    }

    /// Returns the names that may be suggested, as a text.
    pub(super) fn list(&self) -> String {
        self.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }

    /// Returns the name that the user probably meant by `key`.
    pub(super) fn nearest(&self, key: &str) -> Option<&'static str> {
        nearest(key, self.names())
    }
}
