//! The attribute check: while the table of a type is made, refuses attributes that do not fit the type of
//! their field.
//!
//! *Invariant:* each refusal is a panic at the caller's location, so the compiler shows the error only at the
//! user's field.

use std::ops::RangeInclusive;

use crate::schema::attributes::Unit;
use crate::schema::codec::{Codec, Format, is_within};
use crate::schema::condition::Condition;
use crate::schema::const_text::Text;
use crate::schema::layout::count;
use crate::schema::quantize::{SMALLEST_THREE_BITS, UNIT_VECTOR_BITS};
use crate::schema::shape::{ArrayShape, CollectionShape, Field, Formatted, Kind, Notify};

impl Field {
    /// Applies the attribute `atomic` to a field of type `T`. Before this call the table entry describes the
    /// parts of `T` instead of the whole.
    ///
    /// # Panics
    /// Panics at compile time if a field inside `T` has an attribute that only a property of an object can
    /// obey.
    #[must_use]
    #[track_caller]
    pub const fn atomic<T: Unit>(self) -> Self {
        Self { shape: T::WHOLE, ..self.checked() }
    }

    /// Returns the entry after checking that the attributes of the field fit its type. Because the function
    /// `checked` reports them, the compile error points to the field and not to the derive.
    ///
    /// # Panics
    /// Panics at compile time if the attributes do not fit.
    #[must_use]
    #[track_caller]
    pub const fn checked(self) -> Self {
        match check_attributes(self.formatted()) {
            Some(AttributeError::Form(why)) => panic!("{}", why),
            Some(AttributeError::Width { attribute, least, most }) => {
                let text = Text::of("`").and(attribute).and("` must be a whole number from ");
                panic!("{}", text.and_number(least).and(" to ").and_number(most).as_str())
            }
            Some(AttributeError::Inside(inside)) => panic!("{}", inside.refusal(self.name).as_str()),
            None => {}
        }
        let _ = count(self.formatted()); // Panics for mistakes that only counting finds.
        self
    }
}

/// The reason why an attribute is refused for a field.
enum AttributeError {
    /// The attribute is for other types, or for other numbers.
    Form(&'static str),
    /// The number of bits is outside the range that the attribute allows.
    Width { attribute: &'static str, least: u8, most: u8 },
    /// A field of a nested struct has an attribute that only a property of an object can have.
    Inside(Inside),
}

/// Describes a field of a nested struct that has a condition, a notify or `push`. A condition, a notify or
/// `push` would have no effect inside a nested struct, nor inside a value that is sent as a unit.
struct Inside {
    /// The name of the nested struct.
    owner: &'static str,
    field: &'static Field,
}

const fn check_attributes(property: Formatted) -> Option<AttributeError> {
    match property.shape.kind {
        Kind::Leaf(codec) => match (check_leaf(codec, property.format), property.shape.form) {
            (None, Some(form)) => match form.content.marked() {
                Some(shape) => check_attributes(shape.native()),
                None => None,
            },
            (error, _) => error,
        },
        Kind::Struct(fields) => check_struct(property, fields),
        Kind::FixedArray { element, len } => match (property.format, len) {
            (Format::SmallestThree { bits }, 4) if element.is_f32() => {
                check_width("smallest_three", bits, &SMALLEST_THREE_BITS)
            }
            (Format::UnitVector { bits }, 3) if element.is_f32() => {
                check_width("unit_vector", bits, &UNIT_VECTOR_BITS)
            }
            _ => check_attributes(property.element(element)),
        },
        Kind::Array(ArrayShape { element, .. }) | Kind::Items(CollectionShape { element, .. }) => {
            check_attributes(property.element(element))
        }
        Kind::Entries(entries) => match check_attributes(entries.key.native()) {
            None => check_attributes(property.element(entries.elements.element)),
            error => error,
        },
    }
}

const fn check_width(
    attribute: &'static str,
    bits: u8,
    widths: &RangeInclusive<u8>,
) -> Option<AttributeError> {
    if is_within(bits, widths) {
        None
    } else {
        Some(AttributeError::Width { attribute, least: *widths.start(), most: *widths.end() })
    }
}

const fn check_leaf(codec: Codec, format: Format) -> Option<AttributeError> {
    let (fits, otherwise) = match (codec, format) {
        (_, Format::Native) => (true, ""),
        (Codec::Int(int), Format::Bits { bits, .. }) => {
            (bits >= 1 && bits <= int.bits, "`bits` must be from 1 to the width of the field's integer type")
        }
        (Codec::Int(int), Format::Range { min, max, .. }) => {
            let least = int.min as i64 as i128;
            (
                min <= max && least <= min && max <= least + int.span as i128,
                "the range is empty, or does not fit the field's integer type: write its least value first, or take a larger type",
            )
        }
        (Codec::F32 | Codec::F64, Format::Quantize { step, min, max, .. }) => (
            step > 0.0 && min < max,
            "`quantize` takes a step above zero, and a range that begins with its least value",
        ),
        _ => (
            false,
            "the attribute does not fit the field's type: `bits` and `range` are for integers, `quantize` is for floats",
        ),
    };
    if fits { None } else { Some(AttributeError::Form(otherwise)) }
}

/// Refuses conditions, notifies and `push` inside a nested struct, where the library could not obey them.
/// Only fields of objects may have conditions, notifies and `push`.
const fn check_struct(property: Formatted, fields: &'static [Field]) -> Option<AttributeError> {
    let mut i = 0;
    while i < fields.len() {
        let field = &fields[i];
        let is_plain =
            matches!((field.condition, field.notify, field.push), (Condition::None, Notify::None, false));
        if !is_plain {
            return Some(AttributeError::Inside(Inside { owner: property.shape.name, field }));
        }
        let error = check_attributes(property.field(field));
        if error.is_some() {
            return error;
        }
        i += 1;
    }
    None
}

impl Inside {
    /// Returns the error text for the field called `holder`, which contains the nested struct.
    const fn refusal(&self, holder: &str) -> Text {
        let (word, value) = match (self.field.condition, self.field.notify) {
            (Condition::None, Notify::None) => ("push", ""),
            (Condition::None, _) => ("notify", "method"),
            (condition, _) => ("condition", condition.name()),
        };
        Text::of("`")
            .and(self.owner)
            .and(".")
            .and(self.field.name)
            .and("` has the attribute `")
            .and(word)
            .and("`, which has no effect inside another object: remove it there, and write `#[replicated(")
            .and(word)
            .and(if value.is_empty() { "" } else { " = " })
            .and(value)
            .and(")]` on the object's field `")
            .and(holder)
            .and("`")
    }
}
