//! Layouts: the table of one object type, as `'static` data.
//!
//! *Invariant:* a layout depends only on the shape of the type, with fields in the order of declaration.
//! Unreal sorts fields by offset (S3, S11). In this library nothing that is sent depends on the compiler's
//! choice of offsets.

use crate::bits::count::LEAST_BITS;
use crate::ids::property_index::PropertyIndex;
use crate::schema::checksum::Checksum;
use crate::schema::const_text::{Text, typos};
use crate::schema::contents::{depth, has_referring_keys, holds_items, travels};
use crate::schema::property::Property;
use crate::schema::shape::{ArrayShape, EnumShape, Field, Formatted, Kind, Shape, Variant};
use std::any::TypeId;
use std::ops::Range;

/// The table of one object type. The format `{}` prints the layout for reviewers, and `{:#}` adds everything
/// that depends on the compiler.
pub struct Layout {
    /// The type that this layout describes. Only [`Layout::of`] sets `type_id`, together with the shape of
    /// the same type.
    type_id: fn() -> TypeId,
    pub(crate) shape: &'static Shape,
    pub(crate) fields: &'static [Field],
    pub(crate) counts: Counts,
    checksum: u64,
}

/// The sizes of the program that is made from a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The number of parents: one for each field. A field that is a fixed array has one parent for each
    /// element.
    pub parents: usize,
    /// The number of commands: one for each leaf, array, enum, variant, collection and map, a return command
    /// for each of them except leaves, and one return command for the whole object.
    pub commands: usize,
    /// The number of handles of the object itself, without the handles inside elements of its arrays and
    /// collections.
    pub handles: usize,
    /// The number of handles of the object itself plus the handles of one element of each array and
    /// collection, plus the variants of each enum and the handles of each variant, at any depth.
    pub tables: usize,
}

/// The greatest number of handles of an object, or of one element.
pub(crate) const MAX_HANDLES: usize = 65_535;

/// The greatest depth to which arrays can be nested. A collection or map counts as two levels. This limit
/// bounds the length of paths and the depth of recursion.
pub(crate) const MAX_DEPTH: usize = 15;

impl Layout {
    /// Returns the layout of the struct `T`. Compiles only if `T` is a struct with fields that are sent one
    /// by one. For example, a number has no layout, and a struct that derives only `NetSerialize` has none,
    /// because it is sent as a unit.
    ///
    /// # Panics
    /// Panics if `T` has two fields of the same name, or has more than 65,535 handles. In a constant, this
    /// panic is a compile error.
    #[must_use]
    #[track_caller]
    pub const fn of<T: Property>() -> Self {
        let shape = T::SHAPE;
        let fields = const { fields_of(T::SHAPE) };
        assert_distinct_names(fields);
        let mut counts = Counts { parents: 0, commands: 1, handles: 0, tables: 0 };
        let mut i = 0;
        while i < fields.len() {
            let of_field = count(fields[i].formatted());
            counts.parents += parents_of(&fields[i]);
            counts.commands += of_field.commands;
            counts.handles += of_field.handles;
            counts.tables += of_field.tables;
            i += 1;
        }
        assert!(
            counts.handles <= MAX_HANDLES,
            "the struct has more than 65,535 handles: shorten its fixed arrays, or make them `Vec`s"
        );
        assert!(
            depth(shape.native()) <= MAX_DEPTH,
            "more than 15 `Vec`s and `Option`s lie within one another: keep some of them in objects of their own"
        );
        Self {
            type_id: TypeId::of::<T>,
            shape,
            fields,
            counts,
            checksum: checksum(shape.native(), Checksum::new()).finish(),
        }
    }

    pub(crate) fn describes<T: 'static>(&self) -> bool {
        (self.type_id)() == TypeId::of::<T>()
    }

    /// Returns the type's name on the wire.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.shape.name
    }

    /// Returns the compiler's name of the type, with its path. The compiler's name of a type appears in
    /// printed texts and is never sent.
    #[must_use]
    pub fn rust_name(&self) -> &'static str {
        (self.shape.rust_name)()
    }

    /// Returns the sizes of the program that is made from this layout.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns a checksum of everything that decides the meaning of this type's bits: names, types, widths,
    /// conditions, quantisers.
    #[must_use]
    pub const fn checksum(&self) -> u64 {
        self.checksum
    }

    /// Returns the index of the property called `name`.
    ///
    /// # Panics
    /// Panics if there is no such property. In a constant, this panic is a compile error.
    #[must_use]
    #[track_caller]
    pub const fn property(&self, name: &str) -> PropertyIndex {
        let mut i = 0;
        while i < self.fields.len() {
            if same(self.fields[i].name, name) {
                return PropertyIndex::new(i);
            }
            i += 1;
        }
        panic!("{}", self.no_property(name).as_str())
    }

    /// Returns an error text that says that there is no property called `name`, and lists the properties that
    /// exist.
    #[cold]
    const fn no_property(&self, name: &str) -> Text {
        let (mut nearest, mut least) = ("", usize::MAX);
        let mut names = Text::of("");
        let mut i = 0;
        while i < self.fields.len() {
            let known = self.fields[i].name;
            names = names.and(if i == 0 { "`" } else { ", `" }).and(known).and("`");
            if let Some(typos) = typos(name, known)
                && typos < least
            {
                (nearest, least) = (known, typos);
            }
            i += 1;
        }
        let text = Text::of("`").and(self.name()).and("` has no property `").and(name).and("`");
        let text = match least {
            usize::MAX => text.and("."),
            _ => text.and(": did you mean `").and(nearest).and("`?"),
        };
        text.and(" Its replicated fields: ").and(names.as_str())
    }

    /// Returns the name of a property.
    #[must_use]
    pub fn property_name(&self, property: PropertyIndex) -> &'static str {
        self.fields.get(property.index()).map_or("?", |field| field.name)
    }

    /// Returns whether the replicated values contain a fast array, at any depth.
    #[must_use]
    pub const fn has_fast_arrays(&self) -> bool {
        holds_items(self.shape.native())
    }

    /// Returns whether ordinary updates compare only marked properties. This is true if each property that
    /// they may send has `push`.
    #[must_use]
    pub const fn compares_only_marked(&self) -> bool {
        let mut i = 0;
        while i < self.fields.len() {
            let field = &self.fields[i];
            if field.condition.is_compared_each_tick() && !field.push {
                return false;
            }
            i += 1;
        }
        true
    }

    /// Returns whether the keys of a map in an object may refer to objects: they contain a reference, or have
    /// a serialiser of their own.
    #[must_use]
    pub fn keys_may_refer(&self) -> bool {
        has_referring_keys(self.shape.native())
    }

    /// Returns the number of properties, which are the replicated fields.
    #[must_use]
    pub const fn properties(&self) -> usize {
        self.fields.len()
    }
}

/// Returns the fields of a struct.
///
/// # Panics
/// Panics at compile time if the shape does not belong to a struct with fields that are sent one by one.
#[track_caller]
const fn fields_of(shape: &Shape) -> &'static [Field] {
    match shape.kind {
        Kind::Struct(fields) => fields,
        _ => panic!(
            "only a struct that derives `Replicated` or `FastArrayItem`, or a tuple, has a layout: a value that is sent as a unit can only be a \
             field"
        ),
    }
}

/// Returns how many parents a field has: one parent, or for a fixed array one parent for each element (S2).
pub(crate) const fn parents_of(field: &Field) -> usize {
    match field.formatted().kind() {
        Kind::FixedArray { len, .. } => len,
        _ => 1,
    }
}

/// Returns how many parents, commands and handles a property adds to its level: to the object, or to the
/// element that contains it.
#[track_caller]
pub(crate) const fn count(property: Formatted) -> Counts {
    let mut counts = Counts { parents: 0, commands: 0, handles: 0, tables: 0 };
    match property.kind() {
        Kind::Leaf(_) => {
            if travels(property) {
                counts = Counts { parents: 0, commands: 1, handles: 1, tables: 1 };
            }
        }
        Kind::Struct(fields) => counts = count_fields(property, fields),
        Kind::Enum(shape) => {
            if travels(property) {
                counts = count_enum(property, shape);
            }
        }
        Kind::FixedArray { element, len } => counts = counts.plus(count(property.element(element)), len),
        Kind::Array(array) => {
            let inner = count(property.element(array.element));
            assert!(
                property.array_len(array) > 0,
                "an array of at most no elements says nothing: leave `max_len` out, or the field"
            );
            assert!(
                (property.array_len(array) as u64) * (inner.handles as u64) < u32::MAX as u64,
                "an array's length times the handles of its element must stay below 2^32: give it a smaller `max_len`"
            );
            if travels(property) {
                counts = inner.around();
            }
        }
        Kind::Items(items) => {
            let inner = count(property.element(items.element));
            assert!(
                property.collection_len(items) > 0,
                "a collection of at most no items says nothing: leave `max_len` out, or the field"
            );
            assert!(inner.handles <= MAX_HANDLES, "an item has more than 65,535 handles");
            counts = inner.around();
        }
        Kind::Entries(entries) => {
            let inner = count(property.element(entries.elements.element));
            assert!(
                property.collection_len(&entries.elements) > 0,
                "a map of at most no entries says nothing: leave `max_len` out, or the field"
            );
            assert!(inner.handles <= MAX_HANDLES, "a value of a map has more than 65,535 handles");
            counts = inner.around();
        }
    }
    counts
}

/// Returns how many commands and handles the fields of a struct or of a variant add to their level.
#[track_caller]
pub(crate) const fn count_fields(owner: Formatted, fields: &'static [Field]) -> Counts {
    let mut counts = Counts { parents: 0, commands: 0, handles: 0, tables: 0 };
    let mut i = 0;
    while i < fields.len() {
        counts = counts.plus(count(owner.field(&fields[i])), 1);
        i += 1;
    }
    counts
}

/// Does the same as [`count`] for an enum whose variants are sent field by field.
#[track_caller]
const fn count_enum(property: Formatted, shape: &'static EnumShape) -> Counts {
    let mut counts = Counts { parents: 0, commands: 0, handles: 0, tables: 0 };
    let mut i = 0;
    while i < shape.variants.len() {
        let fields = count_fields(property, shape.variants[i].fields);
        counts = counts.plus(fields.around(), 1);
        counts.handles += fields.handles;
        i += 1;
    }
    assert!(counts.handles <= MAX_HANDLES, "the variants of an enum have more than 65,535 handles");
    counts.around()
}

impl Counts {
    const fn plus(self, other: Self, times: usize) -> Self {
        Self {
            parents: 0,
            commands: self.commands + other.commands * times,
            handles: self.handles + other.handles * times,
            tables: self.tables + other.tables * times,
        }
    }

    /// Returns the counts of an array, collection or map. `self` contains the counts of its elements.
    const fn around(self) -> Self {
        Self { parents: 0, commands: self.commands + 2, handles: 1, tables: self.tables + 1 }
    }
}

const fn checksum(property: Formatted, sum: Checksum) -> Checksum {
    match property.kind() {
        Kind::Leaf(codec) => codec.checksum(sum.text(property.shape.name)),
        Kind::Struct(fields) => checksum_of_fields(property, fields, sum.text(property.shape.name)),
        Kind::Enum(shape) => {
            let mut sum = sum.text("enum").text(property.shape.name).number(shape.variants.len() as u64);
            let mut i = 0;
            while i < shape.variants.len() {
                let Variant { name, fields } = shape.variants[i];
                sum = checksum_of_fields(property, fields, sum.text(name));
                i += 1;
            }
            sum
        }
        Kind::FixedArray { element, len } => {
            checksum(property.element(element), sum.text("[;]").number(len as u64))
        }
        kind @ (Kind::Array(_) | Kind::Items(_) | Kind::Entries(_)) => {
            let Some((element, max_len)) = property.elements() else { return sum };
            let sum = sum.text(property.shape.name).number(max_len as u64);
            checksum(
                element,
                if let Kind::Entries(map) = kind { checksum(map.key.native(), sum) } else { sum },
            )
        }
    }
}

/// Adds the fields of a struct or of a variant to the checksum.
const fn checksum_of_fields(owner: Formatted, fields: &'static [Field], sum: Checksum) -> Checksum {
    let mut sum = sum.number(fields.len() as u64);
    let mut i = 0;
    while i < fields.len() {
        sum = sum.text(fields[i].name).number(fields[i].condition as u64);
        sum = checksum(owner.field(&fields[i]), sum);
        i += 1;
    }
    sum
}

impl Checksum {
    /// Adds a field to the checksum: its name, its type and everything that decides its bits.
    #[must_use]
    pub const fn field(self, field: &Field) -> Self {
        checksum(field.formatted(), self.text(field.name))
    }
}

#[track_caller]
const fn assert_distinct_names(fields: &[Field]) {
    // The compiler runs this loop slowly. So a name is compared with the earlier names only if one of them
    // may have the same length and the same last byte.
    let (mut seen, mut i) = (0_u64, 0);
    while i < fields.len() {
        let name = fields[i].name.as_bytes();
        let last = if name.is_empty() { 0 } else { name[name.len() - 1] as usize };
        let kind = 1 << ((last + name.len() * 16) % 64);
        let mut j = if seen & kind == 0 { i } else { 0 };
        while j < i {
            assert!(!same(fields[i].name, fields[j].name), "two fields have the same name on the wire");
            j += 1;
        }
        seen |= kind;
        i += 1;
    }
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// Returns the minimum size of a new element of an array in bits. The minimum ensures that a few bits from a
/// peer cannot allocate much memory. It is 8 bits. It is 0 if the values alone ensure this: each value takes
/// at least one bit on the wire for every two bytes in memory. The minimum depends only on the wire types,
/// never on sizes that vary with the compiler.
pub(crate) const fn least_bits(array: &ArrayShape, element: Formatted) -> u32 {
    if array.optional {
        // An `Option` allocates nothing, because its value is stored inside the object.
        return 0;
    }
    match element.kind() {
        Kind::Leaf(codec) => match (codec.width_bits(), codec.bytes()) {
            (Some(bits), Some(bytes)) if bits.saturating_mul(2) >= bytes => 0,
            _ => LEAST_BITS,
        },
        _ => LEAST_BITS,
    }
}

impl Layout {
    /// Returns the handles of a property of the object or item itself, counted from one. Elements of arrays
    /// and collections have handles of their own. Costs O(properties).
    #[must_use]
    pub fn handles_of(&self, property: PropertyIndex) -> Range<u32> {
        let handles = |fields: &[Field]| {
            fields.iter().map(|field| count(field.formatted()).handles as u32).sum::<u32>()
        };
        let first = 1 + handles(self.fields.get(..property.index()).unwrap_or_default());
        first..first + handles(self.fields.get(property.index()..=property.index()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::panic::catch_unwind;

    use super::*;

    #[test]
    fn two_fields_of_the_same_name_are_refused_wherever_they_are() {
        const NAMES: [&str; 8] = ["a", "b", "ab", "bb", "aab", "r", "position", "rotation"];
        for number in 0..NAMES.len().pow(4) {
            let names = [0, 3, 6, 9].map(|shift| NAMES[number >> shift & 7]);
            let are_distinct = HashSet::from(names).len() == names.len();
            let checked = catch_unwind(|| {
                assert_distinct_names(&names.map(|name| Field::new(name, 0, <u8 as Property>::SHAPE)));
            });
            assert_eq!(checked.is_ok(), are_distinct, "{names:?}");
        }
    }
}
