//! The attribute check: while the layout of a type is made, this code refuses attributes that do not fit the
//! type of their field.
//!
//! *Invariant:* each refusal is a panic at the caller's location, so the compiler shows the error only at the
//! user's field.

use crate::schema::attributes::Unit;
use crate::schema::codec::{Codec, Format};
use crate::schema::condition::Condition;
use crate::schema::const_text::Text;
use crate::schema::layout::count;
use crate::schema::shape::{ArrayShape, CollectionShape, Field, Formatted, Kind, Notify, Shape, have_deltas};

impl Field {
    /// Applies the attribute `atomic` to a field of type `T`. Before this call, the field's entry in its
    /// layout describes `T` by its parts. After the call, the entry describes `T` as one value.
    ///
    /// # Panics
    /// Panics at compile time if a field inside `T` has an attribute that only a property of an object can
    /// obey.
    #[must_use]
    #[track_caller]
    pub const fn atomic<T: Unit>(self) -> Self {
        Self { shape: T::WHOLE, ..self.checked() }
    }

    /// Returns the field's entry after checking that the attributes of the field fit its type. Mistakes are
    /// reported here, so that the compile error points to the field and not to the derive.
    ///
    /// # Panics
    /// Panics at compile time if the attributes do not fit.
    #[must_use]
    #[track_caller]
    pub const fn checked(self) -> Self {
        match check_attributes(self.formatted()) {
            Some(AttributeError::Form(why)) => panic!("{}", why),
            Some(AttributeError::Bits { most }) => {
                let text = Text::of("`bits` must be a whole number from 1 to ").and_number(most as i128);
                panic!("{}", text.and(", because the field's integer type has no more bits").as_str())
            }
            Some(AttributeError::Range { least, most }) => {
                let text = Text::of(
                    "the range is empty, or does not fit the field's integer type: write its least value first, and bounds from ",
                );
                let text = text.and_number(least).and(" to ").and_number(most);
                panic!("{}", text.and(", or take a larger type").as_str())
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
    /// The attribute is for other types, or for other kinds of numbers. The text names them.
    Form(&'static str),
    /// `bits` is greater than the number of bits of the integer type.
    Bits { most: u8 },
    /// The range is empty, or not within the range of the integer type.
    Range { least: i128, most: i128 },
    /// A field of a nested struct has an attribute that only a property of an object can have.
    Inside(Inside),
}

/// A field of a nested struct, if this field has a condition, a notify or `push`. Such an attribute would
/// have no effect inside a nested struct or inside a value that is sent as a unit.
struct Inside {
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
        Kind::Enum(shape) => {
            let mut i = 0;
            while i < shape.variants.len() {
                let fields = shape.variants[i].fields;
                let error =
                    if have_deltas(fields) { Some(NESTED_DELTA) } else { check_struct(property, fields) };
                if error.is_some() {
                    return error;
                }
                i += 1;
            }
            None
        }
        Kind::FixedArray { element, len } => match (property.format, len) {
            (Format::SmallestThree { .. }, 4) | (Format::UnitVector { .. }, 3) if element.is_f32() => None,
            _ => check_attributes(property.element(element)),
        },
        Kind::Array(ArrayShape { element, .. }) | Kind::Items(CollectionShape { element, .. }) => {
            check_element(property, element)
        }
        Kind::Entries(entries) => match check_attributes(entries.key.native()) {
            None => check_element(property, entries.elements.element),
            error => error,
        },
    }
}

/// Checks the elements of an array, collection or map. Clients have no bases for the fields of elements.
const fn check_element(property: Formatted, element: &'static Shape) -> Option<AttributeError> {
    if element.has_deltas() {
        return Some(NESTED_DELTA);
    }
    check_attributes(property.element(element))
}

const NESTED_DELTA: AttributeError = AttributeError::Form(
    "a field inside has `delta`, which works only in an object and in structs that are fields of it: remove `delta` there, or move the field to the object",
);

const fn check_leaf(codec: Codec, format: Format) -> Option<AttributeError> {
    let (fits, otherwise) = match (codec, format) {
        (_, Format::Native) => return None,
        (Codec::Int(int), Format::Bits { bits, .. }) => {
            (bits >= 1 && bits <= int.bits, AttributeError::Bits { most: int.bits })
        }
        (Codec::Int(int), Format::Range { min, max, .. }) => {
            let (least, most) = int.bounds();
            (min <= max && least <= min && max <= most, AttributeError::Range { least, most })
        }
        (Codec::F32 | Codec::F64, Format::Quantize { step, min, max, .. }) => (
            step > 0.0 && min < max,
            AttributeError::Form(
                "`quantize` takes a step above zero, and a range that begins with its least value",
            ),
        ),
        _ => (
            false,
            AttributeError::Form(
                "the attribute does not fit the field's type: `bits` and `range` are for integers, `quantize` is for floats",
            ),
        ),
    };
    if fits { None } else { Some(otherwise) }
}

/// Refuses conditions, notifies and `push` inside a nested struct or a variant, because they would have no
/// effect there. Only fields of objects may have conditions, notifies and `push`.
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
