//! Wire names of types with generic parameters. A wire name consists of the name of the type and its
//! arguments, and is made at compile time.
//!
//! *Invariant:* a name depends only on wire names and numbers, so two builds of the same source agree on it.

use crate::schema::const_text::Text;
use crate::schema::shape::{Kind, Shape};

/// The greatest length of a name, in bytes.
const LONGEST: usize = 255;

/// The wire name of a type with generic parameters, for example `Slot<Apple, 4>`.
#[derive(Clone, Copy)]
pub struct WireName {
    text: Text,
    has_arguments: bool,
}

impl WireName {
    /// Makes the name of a type that has no arguments yet.
    #[must_use]
    #[track_caller]
    pub const fn of(name: &str) -> Self {
        Self { text: Text::of(""), has_arguments: false }.and(name)
    }

    /// Adds the type of a shape as the next argument.
    #[must_use]
    #[track_caller]
    pub const fn argument(self, shape: &Shape) -> Self {
        self.separated().and_type(shape)
    }

    /// Adds a number as the next argument.
    #[must_use]
    #[track_caller]
    pub const fn number(self, number: i128) -> Self {
        self.separated().and_number(number)
    }

    /// Closes the list of arguments.
    #[must_use]
    #[track_caller]
    pub const fn finish(self) -> Self {
        if self.has_arguments { self.and(">") } else { self }
    }

    /// Returns the name as text.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        self.text.as_str()
    }

    /// Opens the list of arguments, or separates the next argument from the last one.
    #[track_caller]
    const fn separated(self) -> Self {
        let separated = self.and(if self.has_arguments { ", " } else { "<" });
        Self { has_arguments: true, ..separated }
    }

    #[track_caller]
    const fn and(self, piece: &str) -> Self {
        self.with(self.text.and(piece))
    }

    #[track_caller]
    const fn and_number(self, number: i128) -> Self {
        self.with(self.text.and_number(number))
    }

    /// Replaces the text by a longer one.
    #[track_caller]
    const fn with(self, text: Text) -> Self {
        assert!(
            text.is_whole() && text.as_str().len() <= LONGEST,
            "the wire name of the type, with the names of its arguments, is longer than 255 bytes: give the type or an argument a shorter name with `#[replicated(name = \"…\")]`"
        );
        Self { text, ..self }
    }

    /// Adds the type of a shape, with the types of the elements of arrays, collections and tuples.
    #[track_caller]
    const fn and_type(self, shape: &Shape) -> Self {
        match shape.kind {
            Kind::FixedArray { element, len } if is_same(shape.name, "[;]") => {
                self.and("[").and_type(element).and("; ").and_number(len as i128).and("]")
            }
            Kind::Array(array) => self.and(shape.name).and("<").and_type(array.element).and(">"),
            Kind::Items(items) => self.and(shape.name).and("<").and_type(items.element).and(">"),
            Kind::Entries(map) => {
                let key = self.and(shape.name).and("<").and_type(map.key);
                let entry = if map.is_set { key } else { key.and(", ").and_type(map.elements.element) };
                entry.and(">")
            }
            Kind::Struct(fields) if is_same(shape.name, "()") => {
                let (mut name, mut i) = (self.and("("), 0);
                while i < fields.len() {
                    name = if i > 0 { name.and(", ") } else { name }.and_type(fields[i].shape);
                    i += 1;
                }
                name.and(")")
            }
            Kind::Leaf(_) | Kind::Struct(_) | Kind::Enum(_) | Kind::FixedArray { .. } => self.and(shape.name),
        }
    }
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut i = 0;
    while i < one.len() && i < other.len() && one[i] == other[i] {
        i += 1;
    }
    i == one.len() && i == other.len()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use super::*;
    use crate::schema::property::Property;

    /// Returns the name of a type `Slot` whose only argument is `T`.
    fn slot_of<T: Property>() -> String {
        WireName::of("Slot").argument(T::SHAPE).finish().as_str().to_owned()
    }

    #[test]
    fn the_name_of_an_argument_shows_what_is_in_it() {
        assert_eq!(slot_of::<u16>(), "Slot<u16>");
        assert_eq!(slot_of::<[Vec<u8>; 3]>(), "Slot<[Vec<u8>; 3]>");
        assert_eq!(slot_of::<(Option<bool>, ())>(), "Slot<(Option<bool>, ())>");
        assert_eq!(slot_of::<BTreeSet<char>>(), "Slot<BTreeSet<char>>");
        assert_eq!(slot_of::<HashMap<u8, u16>>(), "Slot<HashMap<u8, u16>>");
    }

    #[test]
    fn arguments_are_separated_and_numbers_have_signs() {
        const NAME: WireName = WireName::of("Grid").argument(u8::SHAPE).number(-12).number(0).finish();
        assert_eq!(NAME.as_str(), "Grid<u8, -12, 0>");
        assert_eq!(WireName::of("Grid").finish().as_str(), "Grid");
    }

    #[test]
    #[should_panic(expected = "longer than 255 bytes")]
    fn a_name_that_is_too_long_is_refused() {
        let _ = WireName::of(&"x".repeat(250)).argument(u32::SHAPE).finish().number(1);
    }
}
