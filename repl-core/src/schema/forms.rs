//! Forms: a form describes one part of a layout, as text and as a checksum. Two builds compare their forms to
//! find the first difference (R21).
//!
//! *Invariant:* the checksums of all forms together cover everything that the checksum of the layout covers,
//! in the order of declaration.

use crate::schema::checksum::Checksum;
use crate::schema::codec::Codec;
use crate::schema::condition::Condition;
use crate::schema::layout::Layout;
use crate::schema::shape::{Content, Field, Formatted, Kind, WireForm};
use crate::schema::type_text::{bits, brackets, type_name};

/// The description of one part of a layout: a property, or a part of a property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// The path of the part, for example `pose.position[]`. All elements of an array or collection have the
    /// same form.
    pub path: String,
    /// The wire form of the part, for example `u16 0..=99, 7 bits, OwnerOnly`.
    pub text: String,
    /// The checksum of the form. It covers everything in `text`, and details that `text` omits.
    pub sum: u64,
}

impl Layout {
    /// Returns the form of each part of the layout, in the order of declaration. Allocates, so use it for
    /// errors and not in every tick.
    #[must_use]
    pub fn forms(&self) -> Vec<Form> {
        let mut forms = Vec::new();
        for field in self.fields {
            add_field(field.formatted(), field, field.name.to_owned(), &mut forms);
        }
        forms
    }
}

impl Field {
    /// Returns the form of the field and of each of its parts, with paths that begin with `path`. Allocates,
    /// like [`Layout::forms`].
    #[must_use]
    pub fn forms(&self, path: String) -> Vec<Form> {
        let mut forms = Vec::new();
        add_field(self.formatted(), self, path, &mut forms);
        forms
    }
}

impl WireForm {
    /// Returns the form of the type and of each of its parts. The path of the type is empty, and the paths of
    /// its parts begin with a dot or a bracket. Allocates, like [`Layout::forms`].
    #[must_use]
    pub fn forms(&self) -> Vec<Form> {
        let mut forms = Vec::new();
        add_form(self, "", &mut forms);
        forms
    }
}

/// Adds the forms of a field to `forms`. The condition of a field is part of the field's first form.
fn add_field(property: Formatted, field: &Field, path: String, forms: &mut Vec<Form>) {
    let first = forms.len();
    add(property, path, forms);
    if let Some(form) = forms.get_mut(first).filter(|_| field.condition != Condition::None) {
        form.text = format!("{}, {}", form.text, field.condition.name());
        form.sum = Checksum::new().number(form.sum).number(field.condition as u64).finish();
    }
}

fn add(property: Formatted, path: String, forms: &mut Vec<Form>) {
    let named = Checksum::new().text(property.shape.name);
    let name = type_name(property);
    let mut push = |text: String, sum: Checksum| {
        forms.push(Form { path: path.clone(), text, sum: sum.finish() });
    };
    match property.kind() {
        Kind::Leaf(Codec::Opaque(_)) => {
            property.shape.form.into_iter().for_each(|form| add_form(form, &path, forms));
        }
        Kind::Leaf(codec) => {
            let width = bits(&codec);
            let unit = if codec.width_bits().is_some() { " bits" } else { "" };
            let text = if width == "–" { name } else { format!("{name}, {width}{unit}") };
            push(text, codec.checksum(named));
        }
        Kind::Struct(fields) => {
            // A struct has a form of its own here, so that a field that only one side has shows as a form
            // that only this side has.
            let is_tuple = property.shape.is_tuple();
            push(name, if is_tuple { named.number(fields.len() as u64) } else { named });
            for field in fields {
                add_field(property.field(field), field, format!("{path}.{}", field.name), forms);
            }
        }
        Kind::Enum(shape) => {
            push(format!("{name}, {}", number_of_variants(shape.variants.len())), named.text("enum"));
            for (number, variant) in shape.variants.iter().enumerate() {
                let path = format!("{path}.{}", variant.name);
                forms.push(of_variant(number, path.clone()));
                for field in variant.fields {
                    add_field(property.field(field), field, format!("{path}.{}", field.name), forms);
                }
            }
        }
        Kind::FixedArray { element, len } => {
            push(name, named.number(len as u64));
            add(property.element(element), format!("{path}[]"), forms);
        }
        kind @ (Kind::Array(_) | Kind::Items(_) | Kind::Entries(_)) => {
            let Some((element, len)) = property.elements() else { return };
            let brackets = brackets(property);
            push(if brackets == "?" { name } else { format!("{name}, ≤ {len}") }, named.number(len.into()));
            if let Kind::Entries(map) = kind {
                add(map.key.native(), format!("{path}{{key}}"), forms);
            }
            add(element, format!("{path}{brackets}"), forms);
        }
    }
}

/// Returns the number of the variants of an enum as text.
fn number_of_variants(count: usize) -> String {
    format!("{count} {}", if count == 1 { "variant" } else { "variants" })
}

/// Returns the form of a variant, without its fields.
fn of_variant(number: usize, path: String) -> Form {
    let sum = Checksum::new().number(number as u64).finish();
    Form { path, text: format!("variant {number}"), sum }
}

/// Adds the form of a unit (a value that is always sent whole) and of all its parts to `forms`.
fn add_form(form: &WireForm, path: &str, forms: &mut Vec<Form>) {
    let named = Checksum::new().text(form.name);
    let add_fields = |fields: &[Field], path: &str, forms: &mut Vec<Form>| {
        for field in fields {
            add_field(field.formatted(), field, format!("{path}.{}", field.name), forms);
        }
    };
    let mut push = |path: &str, text: String, sum: Checksum| {
        forms.push(Form { path: path.to_owned(), text, sum: sum.finish() });
    };
    match form.content {
        Content::ByHand { parameters, .. } => {
            let parameters = parameters.iter().map(|(name, number)| format!(", {name} {number}"));
            push(path, form.type_name() + &parameters.collect::<String>(), named.number(form.checksum));
        }
        Content::Derived { fields, variants: [] } => {
            push(path, form.type_name(), named);
            add_fields(fields, path, forms);
        }
        Content::Derived { variants, .. } => {
            let text = format!("{}, {}", form.type_name(), number_of_variants(variants.len()));
            push(path, text, named.text("enum"));
            for (number, (name, fields)) in form.variants().enumerate() {
                let path = format!("{path}.{name}");
                forms.push(of_variant(number, path.clone()));
                add_fields(fields, &path, forms);
            }
        }
        Content::Shape(property) => add(property, path.to_owned(), forms),
        Content::Around(around, inner) => {
            push(path, form.type_name(), named.number(around.checksum(0)));
            add_form(inner, &format!("{path}[]"), forms);
        }
    }
}
