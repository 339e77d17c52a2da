//! The places where attributes are written: on a type, on a field, on a variant, in `quantize(…)`, on a
//! function. Each place has a list of the allowed attributes, with the form of each attribute.
//!
//! *Invariant:* no error message suggests an attribute that is refused at its place.

use syn::Attribute;

use crate::derive::Derive;
use crate::spelling::nearest;

/// The attributes that one place allows, with the form of each attribute.
pub(super) struct Place {
    /// The attribute that contains this place: `replicated`, `rpc` or `rpcs`.
    pub(super) attribute: &'static str,
    /// The place in words, for error messages: "on a field".
    pub(super) name: &'static str,
    forms: &'static [(&'static str, &'static str)],
    /// Names that are read at this place only to explain why they are wrong. Error messages never suggest
    /// these names.
    refused: &'static [&'static str],
}

const TYPE_ATTRIBUTES: &[(&str, &str)] = &[
    ("all", "all"),
    ("name", "name = \"…\""),
    ("callbacks", "callbacks"),
    ("crate", "crate = \"path::to::repl\""),
];

pub(super) static TYPE: Place = replicated("on a type", TYPE_ATTRIBUTES, &[]);
static ITEM: Place = replicated("on an item", TYPE_ATTRIBUTES, &["all"]);
static VALUE: Place = replicated("on a value", TYPE_ATTRIBUTES, &["all", "callbacks"]);

const FIELD_ATTRIBUTES: &[(&str, &str)] = &[
    ("skip", "skip"),
    ("condition", "condition = OwnerOnly"),
    ("starts_off", "starts_off"),
    ("notify", "notify = method"),
    ("notify_always", "notify_always"),
    ("push", "push"),
    ("location", "location"),
    ("quantize", "quantize(step = 0.01, range = -1.0..=1.0)"),
    ("bits", "bits = 5"),
    ("range", "range = 0..=100"),
    ("saturate", "saturate"),
    ("max_len", "max_len = 64"),
    ("with", "with = module"),
    ("as", "as = [f32; 3]"),
    ("atomic", "atomic"),
    ("delta", "delta"),
    ("name", "name = \"…\""),
];

/// The attributes that are allowed only on fields of objects.
pub(crate) const OBJECT_ONLY_ATTRIBUTES: &[&str] =
    &["condition", "starts_off", "notify", "notify_always", "push", "location", "delta"];

pub(super) static FIELD: Place = replicated("on a field", FIELD_ATTRIBUTES, &[]);
static FIELD_OF_ITEM: Place = replicated("on a field of an item", FIELD_ATTRIBUTES, OBJECT_ONLY_ATTRIBUTES);
static FIELD_OF_VALUE: Place = replicated("on a field of a value", FIELD_ATTRIBUTES, OBJECT_ONLY_ATTRIBUTES);
pub(super) static PARAMETER: Place = replicated("on a parameter", FIELD_ATTRIBUTES, NOT_FOR_PARAMETERS);

/// The attributes of fields that a parameter of a call cannot have.
const NOT_FOR_PARAMETERS: &[&str] =
    &["skip", "condition", "starts_off", "notify", "notify_always", "push", "location", "delta"];

pub(super) static VARIANT: Place = replicated("on a variant", &[("name", "name = \"…\"")], &[]);

pub(super) static QUANTIZE: Place = replicated(
    "in `quantize(…)`",
    &[
        ("step", "step = 0.01"),
        ("range", "range = -1.0..=1.0"),
        ("smallest_three", "smallest_three = 10"),
        ("unit_vector", "unit_vector = 12"),
        ("exact", "exact"),
    ],
    &[],
);

pub(super) static CALL: Place = Place {
    attribute: "rpc",
    name: "in `#[rpc(…)]`",
    forms: &[
        ("server", "server"),
        ("client", "client"),
        ("multicast", "multicast"),
        ("reliable", "reliable"),
        ("unreliable", "unreliable"),
        ("validate", "validate = method"),
        ("per_second", "per_second = 10"),
        ("waits", "waits"),
        ("name", "name = \"…\""),
    ],
    refused: &[],
};

/// The options of an impl block with calls.
pub(super) static BLOCK: Place = Place {
    attribute: "rpcs",
    name: "in `#[rpcs(…)]`",
    forms: &[("crate", "crate = \"path::to::repl\"")],
    refused: &[],
};

/// Returns a place inside `#[replicated(…)]`.
const fn replicated(
    name: &'static str,
    forms: &'static [(&'static str, &'static str)],
    refused: &'static [&'static str],
) -> Place {
    Place { attribute: "replicated", name, forms, refused }
}

impl Place {
    /// Returns the rules for attributes on a type with this derive.
    pub(super) fn of_type(derive: Derive) -> &'static Self {
        match derive {
            Derive::Replicated => &TYPE,
            Derive::FastArrayItem => &ITEM,
            Derive::NetSerialize | Derive::Rpcs => &VALUE,
        }
    }

    /// Returns the rules for attributes on a field of a type with this derive.
    pub(super) fn of_field(derive: Derive) -> &'static Self {
        match derive {
            Derive::Replicated => &FIELD,
            Derive::FastArrayItem => &FIELD_OF_ITEM,
            Derive::NetSerialize => &FIELD_OF_VALUE,
            Derive::Rpcs => &PARAMETER,
        }
    }

    /// Returns whether an attribute belongs to this place. The name of a macro may be a complete path, such
    /// as `repl::rpc`.
    pub(super) fn reads(&self, attribute: &Attribute) -> bool {
        let path = attribute.path();
        path.is_ident(self.attribute)
            || (self.is_of_calls() && path.segments.last().is_some_and(|last| last.ident == self.attribute))
    }

    /// Returns whether this place is inside `#[rpc(…)]` or `#[rpcs(…)]`.
    pub(super) fn is_of_calls(&self) -> bool {
        self.attribute != FIELD.attribute
    }

    /// Returns whether the attributes of this place are written on a field.
    pub(super) fn is_field(&self) -> bool {
        std::ptr::eq(self.forms, FIELD_ATTRIBUTES)
    }

    pub(super) fn is_quantize(&self) -> bool {
        std::ptr::eq(self, &QUANTIZE)
    }

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

    pub(super) fn list(&self) -> String {
        self.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }

    /// Returns the name that the user probably meant by `key`.
    pub(super) fn nearest(&self, key: &str) -> Option<&'static str> {
        nearest(key, self.names())
    }
}
