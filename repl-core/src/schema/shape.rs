//! Shapes: a shape describes a type for replication, as a `'static` tree of constants. A shape says where
//! each replicated value is in memory and how it is written.
//!
//! *Invariant:* only implementations of [`Property`](crate::Property) make shapes, so the shape of a type
//! always matches the type.

use std::any::type_name;

use crate::ids::identity::Identity;
use crate::ids::item_id::ItemId;
use crate::ids::key::KeyBits;
use crate::schema::codec::{Codec, Format};
use crate::schema::condition::Condition;
use crate::schema::erased::Collection;

/// The shape of one type: how its values are stored in memory and written.
#[derive(Clone, Copy)]
pub struct Shape {
    /// The name of the type on the wire. The name is never taken from `type_name`, which compilers may
    /// change.
    pub(crate) name: &'static str,
    /// A function that returns the compiler's name of the type. The printed layout uses this name for the
    /// generic arguments of the type.
    pub(crate) rust_name: fn() -> &'static str,
    /// The size of the type in bytes. The size is also the distance between two elements of an array.
    pub(crate) size: usize,
    /// Whether two values of the type are the same if and only if their bytes are the same, and no byte of a
    /// value is padding.
    pub(crate) bitwise: bool,
    pub(crate) kind: Kind,
    /// The wire form, if this is a leaf with its own serialiser.
    pub(crate) form: Option<&'static WireForm>,
}

/// The wire form of a value that is sent as a unit: everything that decides its bits, as `'static` data.
///
/// [`NetSerialize::WIRE_FORM`](crate::NetSerialize::WIRE_FORM) is the form of a type. The format `{}` prints
/// it as a table for reviewers: each field or variant with its type, and its width or its greatest length.
/// The tables of the units inside the value follow, each once.
///
/// ```
/// use repl_core::NetSerialize;
///
/// let form = <(u8, [bool; 4], Option<String>)>::WIRE_FORM;
/// let table = form.to_string();
/// let (_, rows) = table.split_once('\n').unwrap(); // the first line has the name and the checksum
/// let expected = "\
/// field  type            bits
/// 0      u8                 8
/// 1      [bool; 4]          4
/// 2      Option<String>  0..1
/// ";
/// assert_eq!(rows, expected);
/// ```
#[derive(Clone, Copy)]
pub struct WireForm {
    pub(crate) name: &'static str,
    /// A function that returns the compiler's name of the type, for the generic arguments in printed tables.
    pub(crate) rust_name: fn() -> &'static str,
    pub(crate) content: Content,
    pub(crate) checksum: u64,
}

/// What a wire form consists of.
#[derive(Clone, Copy)]
pub(crate) enum Content {
    /// Functions that were written by hand. Two builds compare the version and the parameters.
    ByHand { version: u32, parameters: &'static [(&'static str, u128)] },
    /// The fields of a struct, or of all variants of an enum. `variants` contains the name of each variant
    /// and the number of its fields. A struct has no variants.
    Derived { fields: &'static [Field], variants: &'static [(&'static str, usize)] },
    /// All values that the shape describes, in the order of declaration, with the attributes of a field.
    Shape(Formatted),
    /// Values of another form, and the collections around them.
    Around(&'static Around, &'static WireForm),
}

/// The collections around values of a form. The lengths and keys of these collections are written around the
/// values.
#[derive(Clone, Copy)]
pub enum Around {
    /// Nothing is written around a single value.
    Nothing,
    /// A sequence of this name, for example `Vec` or `Option`.
    Sequence(&'static str, &'static Self),
    /// An array of this length.
    Array(usize, &'static Self),
    /// A map with keys of this shape.
    Map(&'static Shape, &'static Self),
}

impl Shape {
    /// Returns the name of the first field inside the type that has a condition.
    #[must_use]
    pub const fn conditional_field(&self) -> Option<&'static str> {
        match &self.kind {
            Kind::Leaf(_) => match self.form {
                Some(form) => form.conditional_field(),
                None => None,
            },
            Kind::Struct(fields) => conditional_field_of(fields),
            Kind::Enum(shape) => {
                let mut i = 0;
                while i < shape.variants.len() {
                    let inside = conditional_field_of(shape.variants[i].fields);
                    if inside.is_some() {
                        return inside;
                    }
                    i += 1;
                }
                None
            }
            Kind::FixedArray { element, .. } => element.conditional_field(),
            Kind::Array(array) => array.element.conditional_field(),
            Kind::Items(items) => items.element.conditional_field(),
            Kind::Entries(entries) => entries.elements.element.conditional_field(),
        }
    }
}

/// Returns the name of the first of these fields that has a condition, or that contains such a field.
const fn conditional_field_of(fields: &[Field]) -> Option<&'static str> {
    let mut i = 0;
    while i < fields.len() {
        let field = &fields[i];
        if !matches!(field.condition, Condition::None) {
            return Some(field.name);
        }
        let inside = field.shape.conditional_field();
        if inside.is_some() {
            return inside;
        }
        i += 1;
    }
    None
}

impl Shape {
    /// Returns whether the type has a fast array among its own properties. Fast arrays in a `Vec`, an
    /// `Option`, an enum or a map do not count, because clients copy these containers as a whole for a
    /// notify.
    #[must_use]
    pub const fn flattens_items(&self) -> bool {
        match &self.kind {
            Kind::Items(_) => true,
            Kind::FixedArray { element, .. } => element.flattens_items(),
            Kind::Struct(fields) => {
                let mut i = 0;
                while i < fields.len() {
                    if fields[i].shape.flattens_items() {
                        return true;
                    }
                    i += 1;
                }
                false
            }
            Kind::Leaf(_) | Kind::Array(_) | Kind::Enum(_) | Kind::Entries(_) => false,
        }
    }
}

impl Shape {
    /// Returns whether a field inside the type, or the type itself, is sent as differences.
    pub(crate) const fn has_deltas(&self) -> bool {
        match &self.kind {
            Kind::Leaf(Codec::Opaque(opaque)) => opaque.delta.is_some(),
            Kind::Leaf(_) => false,
            Kind::Struct(fields) => have_deltas(fields),
            Kind::Enum(shape) => {
                let mut i = 0;
                while i < shape.variants.len() {
                    if have_deltas(shape.variants[i].fields) {
                        return true;
                    }
                    i += 1;
                }
                false
            }
            Kind::FixedArray { element, .. } => element.has_deltas(),
            Kind::Array(array) => array.element.has_deltas(),
            Kind::Items(items) => items.element.has_deltas(),
            Kind::Entries(entries) => entries.elements.element.has_deltas(),
        }
    }
}

/// Returns whether a field, or a field inside one, is sent as differences.
pub(crate) const fn have_deltas(fields: &[Field]) -> bool {
    let mut i = 0;
    while i < fields.len() {
        if fields[i].shape.has_deltas() {
            return true;
        }
        i += 1;
    }
    false
}

/// The kind of property that a shape describes.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A value that is always sent whole. It has one command in the program.
    Leaf(Codec),
    /// A struct, or a tuple. The struct is flattened: it has the commands of its fields, in the order of
    /// declaration.
    Struct(&'static [Field]),
    /// An array `[T; N]`. Its program contains the commands of `T` N times.
    FixedArray { element: &'static Shape, len: usize },
    /// A `Vec<T>`, or an `Option<T>` as an array of at most one element. An array property has one command in
    /// the program, and inner commands for an element.
    Array(&'static ArrayShape),
    /// An enum whose variants are sent field by field. It has one command in the program, and inner commands
    /// for each variant.
    Enum(&'static EnumShape),
    /// A fast array: a collection of items with ids. A fast array has one command in the program, and inner
    /// commands for an item.
    Items(&'static CollectionShape<ItemId>),
    /// A map or set. A map or set has one command in the program, and inner commands for a value.
    Entries(&'static MapShape),
}

/// An array of variable length, with functions that access its elements without knowing their type.
pub(crate) struct ArrayShape {
    pub(crate) element: &'static Shape,
    /// Whether the array is an `Option`, which is an array of at most one element.
    pub(crate) optional: bool,
    /// The greatest number of elements that the array may have on the wire.
    pub(crate) max_len: u32,
    /// A function that takes a pointer to an array, and returns a pointer to the first element and the length
    /// of the array.
    pub(crate) parts: unsafe fn(*const u8) -> (*const u8, usize),
    /// A function that changes the length of an array. New elements have initial values. The function returns
    /// a pointer to the first element.
    pub(crate) resize: unsafe fn(*mut u8, usize) -> *mut u8,
    /// For an enum as an array: a function that returns whether two enums have the same variant and are equal
    /// in it byte for byte. The function may return `false` for equal enums.
    pub(crate) same_variant: Option<unsafe fn(*const u8, *const u8) -> bool>,
}

/// One variant of an enum, as the derive describes it.
#[derive(Clone, Copy)]
pub struct Variant {
    pub(crate) name: &'static str,
    /// The fields that are sent, in the order of declaration. Their offsets are not known at compile time, so
    /// the offsets in these entries are zero.
    pub(crate) fields: &'static [Field],
}

impl Variant {
    /// Makes a variant called `name` on the wire.
    #[must_use]
    pub const fn new(name: &'static str, fields: &'static [Field]) -> Self {
        Self { name, fields }
    }
}

/// Describes an enum, with functions that access it without knowing its type.
pub(crate) struct EnumShape {
    pub(crate) variants: &'static [Variant],
    /// The access to the enum as an array. Its only element is the enum itself. The length that is passed to
    /// `resize` is the index of a variant: if another variant is active, the variant is made with initial
    /// values.
    pub(crate) array: ArrayShape,
    /// A function that returns the index of the active variant of the enum at a pointer.
    pub(crate) active: unsafe fn(*const u8) -> usize,
    /// A function that returns the offset of a field of the active variant, in bytes from the start of the
    /// enum.
    pub(crate) offset: unsafe fn(*const u8, usize) -> Option<usize>,
    /// A function that returns the offsets of all sent fields of a variant.
    pub(crate) offsets: fn(usize) -> Vec<usize>,
    /// A function that replaces the enum at a pointer by another variant with initial values, and calls the
    /// given function. If the given function returns `false`, the enum gets its old value back.
    pub(crate) replace: Replace,
}

/// A function that replaces an enum of unknown type by another of its variants.
pub(crate) type Replace = unsafe fn(*mut u8, usize, &mut dyn FnMut() -> bool);

impl EnumShape {
    /// Returns the greatest number that is sent for a variant.
    pub(crate) const fn last(&self) -> u32 {
        (self.variants.len() as u32).saturating_sub(1)
    }
}

/// Describes how to access the elements of a collection without knowing their type.
pub(crate) struct CollectionShape<I: Identity> {
    pub(crate) element: &'static Shape,
    /// The greatest number of elements that a server sends, unless an attribute sets another limit.
    pub(crate) max_len: u32,
    pub(crate) has_callbacks: bool,
    /// The part of the shape that depends on whether the collection is a fast array or a map.
    pub(crate) form: I::Form,
    /// A function that converts a pointer to the collection into a read-only pointer to the trait
    /// `Collection`.
    pub(crate) as_ref: fn(*const u8) -> *const dyn Collection<I>,
    /// A function that converts a pointer to the collection into a mutable pointer to the trait `Collection`.
    pub(crate) as_mut: fn(*mut u8) -> *mut dyn Collection<I>,
    /// A function that creates an element with initial values, and passes it to the given function. The given
    /// function may use this element as a temporary copy.
    pub(crate) with_initial: fn(&mut dyn FnMut(*mut u8)),
}

/// Describes a map, or a set, which is a map without values.
pub(crate) struct MapShape {
    /// How to access the entries of the map.
    pub(crate) elements: CollectionShape<KeyBits>,
    /// The shape of the keys of the map. Attributes of the field do not apply to keys, but only to values.
    pub(crate) key: &'static Shape,
    pub(crate) is_set: bool,
}

/// Says when a client calls the notify of a property.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notify {
    /// The client never calls a notify, because the property names no method.
    #[default]
    None,
    /// The client calls the notify when an update changed the value of the property.
    OnChanged,
    /// The client calls the notify whenever it receives a value, and may call it twice for one value.
    Always,
}

/// One replicated field of a struct, as the derives describe it.
#[derive(Clone, Copy)]
pub struct Field {
    pub(crate) name: &'static str,
    pub(crate) offset: usize,
    pub(crate) shape: &'static Shape,
    pub(crate) format: Format,
    pub(crate) max_len: Option<u32>,
    pub(crate) condition: Condition,
    pub(crate) notify: Notify,
    pub(crate) push: bool,
    pub(crate) starts_off: bool,
}

impl Field {
    /// Makes a field called `name` on the wire, `offset` bytes from the start of its struct.
    #[must_use]
    pub const fn new(name: &'static str, offset: usize, shape: &'static Shape) -> Self {
        Self {
            name,
            offset,
            shape,
            format: Format::Native,
            max_len: None,
            condition: Condition::None,
            notify: Notify::None,
            push: false,
            starts_off: false,
        }
    }

    /// Returns the name of the field's type on the wire.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        self.shape.name
    }

    /// Sets another wire form for all leaves in the field.
    #[must_use]
    pub const fn format(self, format: Format) -> Self {
        Self { format, ..self }
    }

    /// Limits the field to `max_len` bytes of a string, elements of the outermost `Vec`, items of the
    /// outermost collection, or entries of the outermost map.
    #[must_use]
    pub const fn max_len(self, max_len: u32) -> Self {
        Self { max_len: Some(max_len), ..self }
    }

    /// Sends the field only to connections that `condition` allows.
    #[must_use]
    pub const fn condition(self, condition: Condition) -> Self {
        Self { condition, ..self }
    }

    /// Sets when clients call the field's notify method.
    #[must_use]
    pub const fn notify(self, notify: Notify) -> Self {
        Self { notify, ..self }
    }

    /// Compares the field only when the server's code marks it as changed.
    #[must_use]
    pub const fn push(self) -> Self {
        Self { push: true, ..self }
    }

    /// Makes the field's `Custom` condition switched off at first for each connection.
    #[must_use]
    pub const fn starts_off(self) -> Self {
        Self { starts_off: true, ..self }
    }
}

/// A shape together with the attributes of its field. Layouts and programs are made from these pairs.
#[derive(Clone, Copy)]
pub(crate) struct Formatted {
    pub(crate) shape: &'static Shape,
    pub(crate) format: Format,
    pub(crate) max_len: Option<u32>,
}

impl Formatted {
    /// Returns the kind of property that results from the shape and the attributes.
    pub(crate) const fn kind(self) -> Kind {
        match (self.format, self.shape.kind) {
            (Format::SmallestThree { bits, exact }, Kind::FixedArray { element, len: 4 })
                if element.is_f32() =>
            {
                Kind::Leaf(Codec::smallest_three(bits, exact))
            }
            (Format::UnitVector { bits, exact }, Kind::FixedArray { element, len: 3 })
                if element.is_f32() =>
            {
                Kind::Leaf(Codec::unit_vector(bits, exact))
            }
            (_, Kind::Leaf(codec)) => Kind::Leaf(codec.formatted(self.format, self.max_len)),
            // All formats are listed by name, so that the compiler reports this place when a new format is
            // added.
            (
                Format::Native
                | Format::Bits { .. }
                | Format::Range { .. }
                | Format::Quantize { .. }
                | Format::SmallestThree { .. }
                | Format::UnitVector { .. },
                kind,
            ) => kind,
        }
    }

    /// Returns the codec of a leaf without attributes. This is a fast path for the most frequent properties,
    /// because [`kind`](Self::kind) would copy the codec. Returns `None` for all other properties.
    pub(crate) const fn plain_leaf(&self) -> Option<&'static Codec> {
        match (&self.shape.kind, self.format, self.max_len) {
            (Kind::Leaf(codec), Format::Native, None) => Some(codec),
            _ => None,
        }
    }

    /// Returns the element of an array, with the attributes that apply to it.
    pub(crate) const fn element(self, element: &'static Shape) -> Self {
        let taken = match self.shape.kind {
            Kind::Array(array) => !array.optional,
            Kind::Items(_) | Kind::Entries(_) => true,
            _ => false,
        };
        Self { shape: element, format: self.format, max_len: if taken { None } else { self.max_len } }
    }

    /// Returns the elements of an array, collection or map, and the greatest number of elements. Returns
    /// `None` for any other property.
    pub(crate) const fn elements(self) -> Option<(Self, u32)> {
        match self.shape.kind {
            Kind::Leaf(_) | Kind::Struct(_) | Kind::Enum(_) | Kind::FixedArray { .. } => None,
            Kind::Array(array) => Some((self.element(array.element), self.array_len(array))),
            Kind::Items(items) => Some((self.element(items.element), self.collection_len(items))),
            Kind::Entries(map) => {
                Some((self.element(map.elements.element), self.collection_len(&map.elements)))
            }
        }
    }

    /// Returns a field inside a struct, a tuple or a variant, with the attributes that apply to it. If the
    /// field has its own attribute, that attribute takes precedence.
    pub(crate) const fn field(self, field: &Field) -> Self {
        match field.format {
            Format::Native => Self { shape: field.shape, format: self.format, max_len: field.max_len },
            format => Self { shape: field.shape, format, max_len: field.max_len },
        }
    }

    /// Returns the greatest number of elements that an array may have.
    pub(crate) const fn array_len(self, array: &ArrayShape) -> u32 {
        match self.max_len {
            Some(max_len) if !array.optional => max_len,
            _ => array.max_len,
        }
    }

    /// Returns the greatest number of elements of a collection that a server sends.
    pub(crate) const fn collection_len<I: Identity>(self, collection: &CollectionShape<I>) -> u32 {
        match self.max_len {
            Some(max_len) => max_len,
            None => collection.max_len,
        }
    }
}

impl Field {
    /// Returns the shape of the field together with the attributes of the field.
    pub(crate) const fn formatted(&self) -> Formatted {
        Formatted { shape: self.shape, format: self.format, max_len: self.max_len }
    }
}

impl Shape {
    pub(crate) fn is_tuple(&self) -> bool {
        matches!(self.kind, Kind::Struct(_)) && self.name == "()"
    }

    pub(crate) const fn is_f32(&self) -> bool {
        matches!(self.kind, Kind::Leaf(Codec::F32))
    }

    /// Returns the shape as it is without attributes.
    pub(crate) const fn native(&'static self) -> Formatted {
        Formatted { shape: self, format: Format::Native, max_len: None }
    }

    pub(crate) const fn leaf<T>(name: &'static str, bitwise: bool, codec: Codec) -> Self {
        Self {
            name,
            rust_name: type_name::<T>,
            size: size_of::<T>(),
            bitwise,
            kind: Kind::Leaf(codec),
            form: None,
        }
    }

    /// Returns the shape of the struct `T`: its replicated fields in the order of declaration.
    #[must_use]
    pub const fn structure<T>(name: &'static str, fields: &'static [Field]) -> Self {
        let mut bytes = 0;
        let mut bitwise = true;
        let mut i = 0;
        while i < fields.len() {
            bytes += fields[i].shape.size;
            bitwise = bitwise && fields[i].shape.bitwise;
            i += 1;
        }
        Self {
            name,
            rust_name: type_name::<T>,
            size: size_of::<T>(),
            bitwise: bitwise && bytes == size_of::<T>(),
            kind: Kind::Struct(fields),
            form: None,
        }
    }

    pub(crate) const fn fixed_array<A>(name: &'static str, element: &'static Self, len: usize) -> Self {
        let kind = Kind::FixedArray { element, len };
        Self {
            name,
            rust_name: type_name::<A>,
            size: size_of::<A>(),
            bitwise: element.bitwise,
            kind,
            form: None,
        }
    }

    pub(crate) const fn array<A>(name: &'static str, array: &'static ArrayShape) -> Self {
        Self {
            name,
            rust_name: type_name::<A>,
            size: size_of::<A>(),
            bitwise: false,
            kind: Kind::Array(array),
            form: None,
        }
    }
}
