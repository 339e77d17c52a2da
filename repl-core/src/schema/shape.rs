//! Shapes: what a type looks like to replication, as a `'static` tree of plain data.
//!
//! Invariant: a shape says where each replicated value lies in memory and how it travels, and nothing about who owns
//! the object or who may see it; only [`Property`](crate::Property) implementations make shapes, so that a shape and the type it
//! describes never part.

use std::any::type_name;

use crate::bits::{BitReader, ReadError};
use crate::ids::key::KeyBits;
use crate::ids::reference::Guid;
use crate::schema::codec::{Codec, Format};
use crate::schema::condition::Condition;
use crate::schema::erased::{Collection, Entries};

/// The shape of one type.
#[derive(Clone, Copy)]
pub struct Shape {
    /// The type's name on the wire; never `type_name`, which compilers may change.
    pub(crate) name: &'static str,
    /// What the compiler calls the type, for printing what it is generic over.
    pub(crate) rust_name: fn() -> &'static str,
    /// `size_of` the type: its stride inside arrays.
    pub(crate) size: usize,
    /// Whether two values are the same exactly if their bytes are, and no byte of a value is padding.
    pub(crate) bitwise: bool,
    pub(crate) kind: Kind,
}

/// What kind of property a shape describes.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// One command: a value that travels as a unit.
    Leaf(Codec),
    /// Flattened: its fields' commands in the order of their declaration.
    Struct(&'static [Field]),
    /// `[T; N]`: the commands of `T`, N times.
    FixedArray { element: &'static Shape, len: usize },
    /// `Vec<T>`, and `Option<T>` as an array of at most one: one command with inner commands.
    Array(&'static ArrayShape),
    /// A collection of identified items: one command with inner commands.
    Keyed(&'static KeyedShape),
    /// A map or set: one command with inner commands.
    Map(&'static MapShape),
}

/// A growing array: how to reach its elements without knowing their type.
pub(crate) struct ArrayShape {
    pub(crate) element: &'static Shape,
    /// Whether it is an `Option`, an array of at most one.
    pub(crate) optional: bool,
    /// The most elements it may hold on the wire.
    pub(crate) max_len: u32,
    /// From a pointer to the array: its first element and its length.
    pub(crate) parts: unsafe fn(*const u8) -> (*const u8, usize),
    /// Cuts the array, or grows it with initial values; gives its first element.
    pub(crate) resize: unsafe fn(*mut u8, usize) -> *mut u8,
}

/// A collection of identified items: how to reach them without knowing their type.
pub(crate) struct KeyedShape {
    pub(crate) element: &'static Shape,
    /// The most items that a server sends, where no attribute says another number.
    pub(crate) max_len: u32,
    pub(crate) has_callbacks: bool,
    /// Whether items have labels.
    pub(crate) ordered: bool,
    /// From a pointer to the collection to the same with what it can do.
    pub(crate) as_ref: fn(*const u8) -> *const dyn Collection,
    /// The same, to be written.
    pub(crate) as_mut: fn(*mut u8) -> *mut dyn Collection,
    /// Calls a function with an initial item, to hold for a while what another had.
    pub(crate) with_initial: fn(&mut dyn FnMut(*mut u8)),
}

/// A map, or a set, whose values are nothing: how to reach its entries without knowing their types.
pub(crate) struct MapShape {
    /// Keys travel whole and as they are, whatever an attribute asks of the values.
    pub(crate) key: &'static Shape,
    pub(crate) value: &'static Shape,
    /// Whether it is a set.
    pub(crate) is_set: bool,
    /// The most entries it may hold on the wire.
    pub(crate) max_len: u32,
    /// Whether values are told what came of them.
    pub(crate) has_callbacks: bool,
    /// From a pointer to the map to the same with what it can do.
    pub(crate) as_ref: fn(*const u8) -> *const dyn Entries,
    /// The same, to be written.
    pub(crate) as_mut: fn(*mut u8) -> *mut dyn Entries,
    /// Reads a key.
    pub(crate) read_key: fn(&mut BitReader<'_>, &mut Vec<Guid>) -> Result<KeyBits, ReadError>,
    /// Calls a function with an initial value, to hold for a while what another had.
    pub(crate) with_initial: fn(&mut dyn FnMut(*mut u8)),
}

/// When a property's notify is called on a client (S49).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notify {
    /// Never: the property names no method.
    #[default]
    None,
    /// When the local value changed by what was received.
    OnChanged,
    /// At every receipt; may fire twice for one value (R5).
    Always,
}

/// One replicated field of a struct. Made by the derives.
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
    /// A field called `name` on the wire, `offset` bytes into its struct.
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

    /// With another form on the wire, for all leaves below.
    #[must_use]
    pub const fn format(self, format: Format) -> Self {
        Self { format, ..self }
    }

    /// With at most `max_len` bytes in a string, elements in the outermost `Vec`, items in the outermost collection or entries in the outermost map.
    #[must_use]
    pub const fn max_len(self, max_len: u32) -> Self {
        Self { max_len: Some(max_len), ..self }
    }

    /// Sent only where `condition` holds.
    #[must_use]
    pub const fn condition(self, condition: Condition) -> Self {
        Self { condition, ..self }
    }

    /// With a method called on clients.
    #[must_use]
    pub const fn notify(self, notify: Notify) -> Self {
        Self { notify, ..self }
    }

    /// Compared only when marked dirty (S123).
    #[must_use]
    pub const fn push(self) -> Self {
        Self { push: true, ..self }
    }

    /// Under a custom condition that begins switched off for each connection.
    #[must_use]
    pub const fn starts_off(self) -> Self {
        Self { starts_off: true, ..self }
    }
}

/// A shape with what an attribute asks of it: what the tables are made from.
#[derive(Clone, Copy)]
pub(crate) struct Formatted {
    pub(crate) shape: &'static Shape,
    pub(crate) format: Format,
    pub(crate) max_len: Option<u32>,
}

impl Formatted {
    /// The kind of property that comes of it.
    pub(crate) const fn kind(self) -> Kind {
        match (self.format, self.shape.kind) {
            (Format::SmallestThree { bits }, Kind::FixedArray { element, len: 4 }) if element.is_f32() => {
                Kind::Leaf(Codec::smallest_three(bits))
            }
            (Format::UnitVector { bits }, Kind::FixedArray { element, len: 3 }) if element.is_f32() => {
                Kind::Leaf(Codec::unit_vector(bits))
            }
            (_, Kind::Leaf(codec)) => Kind::Leaf(codec.formatted(self.format, self.max_len)),
            (_, kind) => kind,
        }
    }

    /// What the attribute makes of the elements of an array.
    pub(crate) const fn element(self, element: &'static Shape) -> Self {
        let taken = match self.shape.kind {
            Kind::Array(array) => !array.optional,
            Kind::Keyed(_) | Kind::Map(_) => true,
            _ => false,
        };
        Self { shape: element, format: self.format, max_len: if taken { None } else { self.max_len } }
    }

    /// What the attribute makes of a field inside a struct or tuple; the field's own attribute comes first.
    pub(crate) const fn field(self, field: &Field) -> Self {
        match field.format {
            Format::Native => Self { shape: field.shape, format: self.format, max_len: field.max_len },
            format => Self { shape: field.shape, format, max_len: field.max_len },
        }
    }

    /// The most elements of an array.
    pub(crate) const fn array_len(self, array: &ArrayShape) -> u32 {
        match self.max_len {
            Some(max_len) if !array.optional => max_len,
            _ => array.max_len,
        }
    }

    /// The most items of a collection that a server sends.
    pub(crate) const fn keyed_len(self, keyed: &KeyedShape) -> u32 {
        match self.max_len {
            Some(max_len) => max_len,
            None => keyed.max_len,
        }
    }

    /// The most entries of a map.
    pub(crate) const fn map_len(self, map: &MapShape) -> u32 {
        match self.max_len {
            Some(max_len) => max_len,
            None => map.max_len,
        }
    }
}

impl Field {
    /// The field's shape with its attribute.
    pub(crate) const fn formatted(&self) -> Formatted {
        Formatted { shape: self.shape, format: self.format, max_len: self.max_len }
    }
}

impl Shape {
    const fn is_f32(&self) -> bool {
        matches!(self.kind, Kind::Leaf(Codec::F32))
    }

    /// The shape alone.
    pub(crate) const fn native(&'static self) -> Formatted {
        Formatted { shape: self, format: Format::Native, max_len: None }
    }

    pub(crate) const fn leaf<T>(name: &'static str, bitwise: bool, codec: Codec) -> Self {
        Self { name, rust_name: type_name::<T>, size: size_of::<T>(), bitwise, kind: Kind::Leaf(codec) }
    }

    /// The shape of the struct `T`: its replicated fields in the order of their declaration.
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
        }
    }

    /// The shape of `[T; N]`.
    pub(crate) const fn fixed_array<A>(name: &'static str, element: &'static Self, len: usize) -> Self {
        let kind = Kind::FixedArray { element, len };
        Self { name, rust_name: type_name::<A>, size: size_of::<A>(), bitwise: element.bitwise, kind }
    }

    /// The shape of a growing array.
    pub(crate) const fn array<A>(name: &'static str, array: &'static ArrayShape) -> Self {
        Self {
            name,
            rust_name: type_name::<A>,
            size: size_of::<A>(),
            bitwise: false,
            kind: Kind::Array(array),
        }
    }
}
