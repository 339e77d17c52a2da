//! Types of the standard library as fields: numbers, text, references, arrays, options and tuples.
//!
//! *Invariant:* each shape describes how its type is stored in memory. How a field's type is spelt does not
//! matter.
#![expect(unsafe_code, reason = "types state their own shapes")]

use std::ops::Deref;
use std::sync::Arc;

use crate::bits::{BitReader, BitWriter, ReadError, WriteError};
use crate::ids::asset::AssetRef;
use crate::ids::reference::{ObjectRef, ReferenceMap};
use crate::object::{arrays, whole};
use crate::schema::codec::{Codec, IntCodec, Repr, TextLeaf};
use crate::schema::limits;
use crate::schema::property::Property;
use crate::schema::shape::{Field, Shape, WireForm};
use crate::schema::value::NetSerialize;

/// Makes a type with a hand-written [`NetSerialize`] usable as a field: the type has one command in the
/// program, and is compared and sent as a unit. A type for `leaf!` must be `Clone` and `Default`.
#[macro_export]
macro_rules! leaf {
    ($type:ty) => {
        // SAFETY: `opaque` describes every such type, because it accesses the value only through the type's
        // own functions.
        unsafe impl $crate::__private::Property for $type {
            const SHAPE: &'static $crate::__private::Shape = &$crate::__private::Shape::opaque::<Self>();
            fn initial() -> Self {
                ::core::default::Default::default()
            }
        }
    };
}

/// Implements [`Property`] and [`NetSerialize`] for a standard type that is one leaf (a value that is sent as
/// a unit).
macro_rules! leaf_of_std {
    ($($type:ty, $name:literal, $bitwise:literal, $codec:expr;)*) => {$(
        // SAFETY: the codec matches how this type is stored in memory, and only types that consist of plain
        // bytes without padding are marked as bitwise.
        unsafe impl Property for $type {
            const SHAPE: &'static Shape = &Shape::leaf::<Self>($name, $bitwise, $codec);
            fn initial() -> Self {
                Self::default()
            }
        }
        net_serialize_by_shape!([] $type, $name);
    )*};
}

/// Implements [`NetSerialize`] with the shape of the type.
macro_rules! net_serialize_by_shape {
    ([$($generics:tt)*] $type:ty, $name:expr) => {
        impl<$($generics)*> NetSerialize for $type {
            const WIRE_NAME: &'static str = $name;
            const WIRE_FORM: &'static WireForm = &WireForm::of_shape(<Self as Property>::SHAPE);

            fn write(&self, writer: &mut BitWriter) -> Result<(), WriteError> {
                whole::write(self, &Field::new("", 0, <Self as Property>::SHAPE), writer)
            }

            fn read(reader: &mut BitReader<'_>, references: &mut ReferenceMap<'_>) -> Result<Self, ReadError> {
                whole::read(&Field::new("", 0, <Self as Property>::SHAPE), reader, references)
            }

            fn identical(&self, other: &Self) -> bool {
                whole::identical(self, other)
            }
        }
    };
}

pub(crate) use net_serialize_by_shape;

leaf_of_std! {
    bool, "bool", true, Codec::Bool;
    u8, "u8", true, Codec::Int(IntCodec::full(Repr::U8));
    u16, "u16", true, Codec::Int(IntCodec::full(Repr::U16));
    u32, "u32", true, Codec::Int(IntCodec::full(Repr::U32));
    u64, "u64", true, Codec::Int(IntCodec::full(Repr::U64));
    usize, "usize", true, Codec::Int(IntCodec::full(Repr::Usize));
    i8, "i8", true, Codec::Int(IntCodec::full(Repr::I8));
    i16, "i16", true, Codec::Int(IntCodec::full(Repr::I16));
    i32, "i32", true, Codec::Int(IntCodec::full(Repr::I32));
    i64, "i64", true, Codec::Int(IntCodec::full(Repr::I64));
    isize, "isize", true, Codec::Int(IntCodec::full(Repr::Isize));
    u128, "u128", true, Codec::Wide;
    i128, "i128", true, Codec::Wide;
    f32, "f32", true, Codec::F32;
    f64, "f64", true, Codec::F64;
    char, "char", true, Codec::Char;
    String, "String", false, text::<Self>(true);
    Box<str>, "String", false, text::<Self>(false);
}

/// Shared text: objects with the same text can share one copy.
// SAFETY: the codec was made for text in an `Arc`.
unsafe impl Property for Arc<str> {
    const SHAPE: &'static Shape = &Shape::leaf::<Self>("String", false, text::<Self>(false));
    fn initial() -> Self {
        Self::from("")
    }
}
net_serialize_by_shape!([] Arc<str>, "String");

/// Returns the codec for text in a `T`.
const fn text<T: Deref<Target = str> + From<String> + Clone + 'static>(is_string: bool) -> Codec {
    Codec::String { max_bytes: limits::MAX_STRING_BYTES, text: TextLeaf::of::<T>(is_string) }
}

// SAFETY: a reference is 64 plain bits, whatever type it refers to.
unsafe impl<T: ?Sized + 'static> Property for ObjectRef<T> {
    const SHAPE: &'static Shape = &Shape::leaf::<Self>("ObjectRef", true, Codec::Reference);
    fn initial() -> Self {
        Self::NULL
    }
}
net_serialize_by_shape!([T: ?Sized + 'static] ObjectRef<T>, "ObjectRef");

// SAFETY: a reference is 32 plain bits, whatever type it refers to.
unsafe impl<T: ?Sized + 'static> Property for AssetRef<T> {
    const SHAPE: &'static Shape = &Shape::leaf::<Self>("AssetRef", true, Codec::Asset);
    fn initial() -> Self {
        Self::NULL
    }
}
net_serialize_by_shape!([T: ?Sized + 'static] AssetRef<T>, "AssetRef");

// SAFETY: `N` values of `T` follow one another without padding.
unsafe impl<T: Property, const N: usize> Property for [T; N] {
    const SHAPE: &'static Shape = &Shape::fixed_array::<Self>("[;]", T::SHAPE, N);
    fn initial() -> Self {
        std::array::from_fn(|_| T::initial())
    }
}
net_serialize_by_shape!([T: Property, const N: usize] [T; N], "[;]");

// SAFETY: the functions in the shape were made for a `Vec<T>`.
unsafe impl<T: Property> Property for Vec<T> {
    const SHAPE: &'static Shape = &Shape::array::<Self>(
        "Vec",
        &arrays::array_shape(T::SHAPE, false, arrays::vec::parts::<T>, arrays::vec::resize::<T>),
    );
    fn initial() -> Self {
        Self::new()
    }
}
net_serialize_by_shape!([T: Property] Vec<T>, "Vec");

// SAFETY: the functions in the shape were made for an `Option<T>`.
unsafe impl<T: Property> Property for Option<T> {
    const SHAPE: &'static Shape = &Shape::array::<Self>(
        "Option",
        &arrays::array_shape(T::SHAPE, true, arrays::option::parts::<T>, arrays::option::resize::<T>),
    );
    fn initial() -> Self {
        None
    }
}
net_serialize_by_shape!([T: Property] Option<T>, "Option");

/// Implements [`Property`] and [`NetSerialize`] for a tuple, which is treated as a struct. Its fields are
/// named by number.
macro_rules! tuple {
    ($($type:ident $index:tt),*) => {
        // SAFETY: each element of the tuple lies at the stated offset, and its stated shape is the shape of
        // its type.
        unsafe impl<$($type: Property),*> Property for ($($type,)*) {
            const SHAPE: &'static Shape = &Shape::structure::<Self>(
                "()",
                &[$(Field::new(stringify!($index), std::mem::offset_of!(Self, $index), $type::SHAPE)),*],
            );
            fn initial() -> Self {
                ($($type::initial(),)*)
            }
        }
        net_serialize_by_shape!([$($type: Property),*] ($($type,)*), "()");
    };
}

// SAFETY: `()` has no memory to describe.
unsafe impl Property for () {
    const SHAPE: &'static Shape = &Shape::structure::<Self>("()", &[]);
    fn initial() -> Self {}
}
net_serialize_by_shape!([](), "()");

tuple!(A 0);
tuple!(A 0, B 1);
tuple!(A 0, B 1, C 2);
tuple!(A 0, B 1, C 2, D 3);
tuple!(A 0, B 1, C 2, D 3, E 4);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
tuple!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
