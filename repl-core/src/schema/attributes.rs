//! Traits for generated code. The traits decide to which types an attribute can be applied, and how the
//! method of a notify is called.
//!
//! *Invariant:* the traits in this file contain no data and do not affect the wire form. Because of the
//! traits, the compiler reports a misplaced attribute at the attribute itself, with advice on what to write.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::marker::PhantomData;
use std::ops::RangeInclusive;

use crate::schema::codec::Format;
use crate::schema::keyed::Keyed;
use crate::schema::property::Property;
use crate::schema::quantize::{SMALLEST_THREE_BITS, UNIT_VECTOR_BITS};
use crate::schema::shape::{Field, Shape};
use crate::schema::whole_number::within;

/// A type to which `quantize(step = …, range = …)` can be applied: floats, and arrays and tuples of them.
///
/// Implement this trait for your own struct of floats, to quantise all of them with one attribute on the
/// field that contains the struct. If any value in the struct is not a float, the code does not compile.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be quantised in steps",
    label = "not a float",
    note = "`quantize(step = …, range = …)` is for `f32` and `f64`, and for arrays, `Vec`s, `Option`s and tuples of them",
    note = "it also works for a fast array of `f32` or `f64`; if the items are structs, write it on the fields of the struct",
    note = "for an integer write `range = a..=b` or `bits = n` without `quantize`"
)]
pub trait Quantizable {}

/// A type to which `bits` and `range` can be applied: integers of up to 64 bits, and arrays and tuples of
/// them. A struct of integers of up to 64 bits may implement this trait too, in the same way as
/// [`Quantizable`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot have `bits` or `range`",
    label = "not an integer of up to 64 bits",
    note = "`bits = n` and `range = a..=b` are for integers of up to 64 bits, and for arrays, `Vec`s, `Option`s and tuples of them",
    note = "they also work for a fast array of such integers; if the items are structs, write them on the fields of the struct",
    note = "for a float write `quantize(step = 0.01, range = a..=b)`; the length of a `String` or `Vec` is limited by `max_len = n`"
)]
pub trait Ranged {}

/// A type to which `max_len` can be applied: strings, `Vec`s, fast arrays, maps and sets, and arrays and
/// `Option`s of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no length to limit",
    label = "neither a `String` nor a collection",
    note = "`max_len = n` limits the bytes of a `String`, the elements of a `Vec` or a fast array, and the entries of a map or set; an array `[T; N]` has a fixed length",
    note = "for an integer write `range = a..=b` or `bits = n`"
)]
pub trait Lengthy {}

/// A type to which `quantize(smallest_three = n)` can be applied.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a unit quaternion",
    label = "not `[f32; 4]`",
    note = "`quantize(smallest_three = n)` is for a unit quaternion `[f32; 4]`, and for arrays, `Vec`s and `Option`s of these",
    note = "for a direction `[f32; 3]` write `quantize(unit_vector = n)`, for other floats `quantize(step = 0.01, range = a..=b)`"
)]
pub trait UnitQuaternion {}

/// A type to which `quantize(unit_vector = n)` can be applied.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a unit vector",
    label = "not `[f32; 3]`",
    note = "`quantize(unit_vector = n)` is for a unit vector `[f32; 3]`, and for arrays, `Vec`s and `Option`s of these",
    note = "for a rotation `[f32; 4]` write `quantize(smallest_three = n)`, for other floats `quantize(step = 0.01, range = a..=b)`"
)]
pub trait UnitVector {}

/// Implements a trait for the given types, and for containers of all types that implement the trait.
macro_rules! fits {
    ($trait:ident: $($type:ty),*; $($container:tt)*) => {
        $(impl $trait for $type {})*
        fits!(@in $trait $($container)*);
    };
    (@in $trait:ident) => {};
    (@in $trait:ident array $($rest:tt)*) => {
        impl<T: $trait, const N: usize> $trait for [T; N] {}
        fits!(@in $trait $($rest)*);
    };
    (@in $trait:ident vec $($rest:tt)*) => {
        impl<T: $trait> $trait for Vec<T> {}
        fits!(@in $trait $($rest)*);
    };
    (@in $trait:ident option $($rest:tt)*) => {
        impl<T: $trait> $trait for Option<T> {}
        fits!(@in $trait $($rest)*);
    };
    (@in $trait:ident tuples $($rest:tt)*) => {
        fits!(@tuple $trait A B C D E F G H);
        fits!(@in $trait $($rest)*);
    };
    (@tuple $trait:ident) => {};
    (@tuple $trait:ident $first:ident $($other:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<$first: $trait, $($other: $trait),*> $trait for ($first, $($other,)*) {}
        fits!(@tuple $trait $($other)*);
    };
}

fits!(Quantizable: f32, f64; array vec option tuples);
fits!(Ranged: u8, u16, u32, u64, usize, i8, i16, i32, i64, isize; array vec option tuples);
fits!(Lengthy: String, Box<str>, std::sync::Arc<str>; array option);
impl<T> Lengthy for Vec<T> {}

/// Implements the traits for maps if the values of the map implement them, and [`Lengthy`] for all maps and
/// sets.
macro_rules! fits_maps {
    ($([$($generics:ident),*] $type:ty: $value:ident;)* sets $([$($of_set:ident),*] $set:ty;)*) => {
        $(
            impl<$($generics),*> Lengthy for $type {}
            #[diagnostic::do_not_recommend]
            impl<$($generics),*> Quantizable for $type where $value: Quantizable {}
            #[diagnostic::do_not_recommend]
            impl<$($generics),*> Ranged for $type where $value: Ranged {}
            #[diagnostic::do_not_recommend]
            impl<$($generics),*> UnitQuaternion for $type where $value: UnitQuaternion {}
            #[diagnostic::do_not_recommend]
            impl<$($generics),*> UnitVector for $type where $value: UnitVector {}
        )*
        $(impl<$($of_set),*> Lengthy for $set {})*
    };
}

fits_maps! {
    [K, V, S] std::collections::HashMap<K, V, S>: V;
    [K, V] std::collections::BTreeMap<K, V>: V;
    sets
    [K, S] std::collections::HashSet<K, S>;
    [K] std::collections::BTreeSet<K>;
}
fits!(UnitQuaternion: [f32; 4]; vec option);
fits!(UnitVector: [f32; 3]; vec option);
impl<T: UnitQuaternion, const N: usize> UnitQuaternion for [T; N] {}
impl<T: UnitVector, const N: usize> UnitVector for [T; N] {}

impl Field {
    /// Applies `quantize(step = …, range = …)` to a field of type `T`.
    #[must_use]
    pub const fn quantize<T: Quantizable + ?Sized>(
        self,
        step: f64,
        min: f64,
        max: f64,
        saturate: bool,
    ) -> Self {
        self.format(Format::Quantize { step, min, max, saturate, exact: false })
    }

    /// Applies `quantize(smallest_three = …)` to a field of type `T`.
    ///
    /// # Panics
    /// Panics at compile time if `bits` is not in [`SMALLEST_THREE_BITS`].
    #[must_use]
    #[track_caller]
    pub const fn smallest_three<T: UnitQuaternion + ?Sized>(self, bits: i128) -> Self {
        let bits = width("smallest_three", bits, &SMALLEST_THREE_BITS);
        self.format(Format::SmallestThree { bits, exact: false })
    }

    /// Applies `quantize(unit_vector = …)` to a field of type `T`.
    ///
    /// # Panics
    /// Panics at compile time if `bits` is not in [`UNIT_VECTOR_BITS`].
    #[must_use]
    #[track_caller]
    pub const fn unit_vector<T: UnitVector + ?Sized>(self, bits: i128) -> Self {
        let bits = width("unit_vector", bits, &UNIT_VECTOR_BITS);
        self.format(Format::UnitVector { bits, exact: false })
    }

    /// Applies `exact` to a field that has a form of `quantize(…)`.
    #[must_use]
    pub const fn exact(self) -> Self {
        let format = match self.format {
            Format::Quantize { step, min, max, saturate, .. } => {
                Format::Quantize { step, min, max, saturate, exact: true }
            }
            Format::SmallestThree { bits, .. } => Format::SmallestThree { bits, exact: true },
            Format::UnitVector { bits, .. } => Format::UnitVector { bits, exact: true },
            format @ (Format::Native | Format::Bits { .. } | Format::Range { .. }) => format,
        };
        self.format(format)
    }

    /// Applies `bits = …` to a field of type `T`. The width of the field's integer type is checked later.
    ///
    /// # Panics
    /// Panics at compile time if no integer type has so many bits.
    #[must_use]
    #[track_caller]
    pub const fn bits<T: Ranged + ?Sized>(self, bits: i128, saturate: bool) -> Self {
        self.format(Format::Bits { bits: width("bits", bits, &(1..=64)), saturate })
    }

    /// Applies `range = …` to a field of type `T`.
    #[must_use]
    pub const fn range<T: Ranged + ?Sized>(self, min: i128, max: i128, saturate: bool) -> Self {
        self.format(Format::Range { min, max, saturate })
    }

    /// Applies `max_len = …` to a field of type `T`.
    ///
    /// # Panics
    /// Panics at compile time if `max_len` is zero, or does not fit in a `u32`.
    #[must_use]
    #[track_caller]
    pub const fn max_len_of<T: Lengthy + ?Sized>(self, max_len: i128) -> Self {
        self.max_len(self::max_len(max_len))
    }
}

/// Returns the value of `max_len = …`.
///
/// # Panics
/// Panics at compile time if `max_len` is zero, or does not fit in a `u32`.
#[must_use]
#[track_caller]
pub const fn max_len(max_len: i128) -> u32 {
    within("max_len", max_len, 1, u32::MAX as i128) as u32
}

/// Returns `bits`, the number of bits that an attribute sets, after checking that it is in `widths`.
#[track_caller]
const fn width(attribute: &str, bits: i128, widths: &RangeInclusive<u8>) -> u8 {
    within(attribute, bits, *widths.start() as i128, *widths.end() as i128) as u8
}

/// The trait that the generated code requires of the type of a field with the attribute `atomic`. It combines
/// several requirements, so that the compiler reports an unsuitable type only once.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be `atomic`",
    label = "not a value that can be cloned and replicated",
    note = "derive `Replicated` or `NetSerialize` for it, and `Clone`",
    note = "a fast array is sent item by item, so it cannot be `atomic`: write `atomic` on a field of its items, or use a `Vec`",
    note = "for a type of another crate, write `#[replicated(as = Form)]`, where `Form` is a type that can be replicated, such as `[f32; 3]`, and converts to and from it, or `#[replicated(with = module)]`",
    note = "if it is a map or a set: its keys are compared by `Eq` and `Hash`, or by `Ord` if it is sorted, so a float cannot be a key: use an integer, for example a number of millimetres"
)]
pub trait Unit: Sized {
    /// The shape that describes the type by its parts.
    const PARTS: &'static Shape;

    /// The shape that describes the whole value as one command of the program (S13).
    const WHOLE: &'static Shape;
}

/// Requires `Clone`, because a type that is always sent whole must be `Clone`. The trait `CloneAsUnit` is a
/// separate trait, so that the compile error for a type without `Clone` states the reason.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is sent as a whole, but is not `Clone`",
    label = "not `Clone`",
    note = "write `#[derive(Clone)]` on it: the server stores a copy of each value that it sends, to detect changes"
)]
pub trait CloneAsUnit: Clone {}

#[diagnostic::do_not_recommend]
impl<T: Clone> CloneAsUnit for T {}

/// Each derive implements this trait for the type. The trait improves the compile error for a type that has
/// two derives, because the error prints the names of the trait's parameters.
pub trait OnlyOneDerive<A, B, C> {}

/// The name that a compile error prints for `derive(Replicated)`, which is for objects, and for structs that
/// are fields of objects.
pub enum ReplicatedForObjects {}

/// The name that a compile error prints for `derive(FastArrayItem)`, which is for items, and for structs that
/// are both items and fields.
pub enum FastArrayItemForItemsAndFields {}

/// The name that a compile error prints for `derive(NetSerialize)`, which is for values that are sent as a
/// unit.
pub enum NetSerializeForUnits {}

/// A trait that no type implements. Generated code requires this trait when a notify names a method that the
/// object does not have. `Method` is a type that has the same name as the missing method. `Old` is the type
/// of the field, which is also the type of the old value that the notify receives.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no method `{Method}`",
    label = "no such method",
    note = "write in `impl {Self}`: `fn {Method}(&mut self)`, or `fn {Method}(&mut self, old: &{Old})` to receive the old value",
    note = "for a function that is not a method of the object, write its path: `notify = self::{Method}`"
)]
pub trait HasMethod<Method, Old> {}

/// A function that the attribute `notify` can name for a field of type `Old` in a struct `Object`. `Form`
/// distinguishes the two forms of notify functions, so that each can have its own implementation. The
/// compiler always infers `Form`.
#[diagnostic::on_unimplemented(
    message = "this function cannot be a notify of the field",
    label = "wrong parameters",
    note = "a notify is `fn(&mut {Object})`, or `fn(&mut {Object}, old: &{Old})` to receive the old value; it is called after the packet has \
            been applied"
)]
pub trait Notified<Object, Old, Form>: Sized {
    /// Whether the function has a parameter for the old value.
    const TAKES_OLD: bool;

    /// Calls the function for `object`. Before the update, the value of the object's field was `old`.
    fn call(self, object: &mut Object, old: &Old);

    /// Does the same as [`call`](Self::call) for a field that is replicated by its parts. Refuses, at compile
    /// time, a function with a parameter for the old value if clients do not store the whole old value.
    fn call_by_parts(self, object: &mut Object, old: &Old)
    where
        Old: Property,
    {
        const {
            assert!(
                !(Self::TAKES_OLD && Old::SHAPE.flattens_items()),
                "the notify of a struct or array that has a fast array in it cannot receive the old value, because the old items are not stored: \
                 remove the parameter `old` from the notify, or write the notify on another field"
            );
        }
        self.call(object, old);
    }
}

/// The form of a notify with the object as its only parameter.
pub enum Alone {}

/// The form of a notify with two parameters: the object and the old value of the field.
pub enum WithOld {}

impl<Object, Old, F: FnOnce(&mut Object)> Notified<Object, Old, Alone> for F {
    const TAKES_OLD: bool = false;

    fn call(self, object: &mut Object, _: &Old) {
        self(object);
    }
}

impl<Object, Old, F: FnOnce(&mut Object, &Old)> Notified<Object, Old, WithOld> for F {
    const TAKES_OLD: bool = true;

    fn call(self, object: &mut Object, old: &Old) {
        self(object, old);
    }
}

/// The form that the notify of a fast array must have. It has no parameter for the old value, because clients
/// do not store the old items.
#[diagnostic::on_unimplemented(
    message = "the notify of a collection cannot receive the old value",
    label = "has a parameter for the old collection",
    note = "the old items are not stored: write `fn(&mut {Object})`",
    note = "to learn which items were added, changed or removed, write `#[replicated(callbacks)]` on the type of the items and implement `ItemCallbacks` for it"
)]
pub trait WithoutOld<Object> {}

impl<Object> WithoutOld<Object> for Alone {}

/// Checks the requirements for the notify of a field of type `Old` in an `Object` that [`Notified`] does not
/// state. The function `fits` of this type takes precedence over the function `fits` of [`NotifyOfAny`], but
/// exists only for collections.
pub struct NotifyOf<Object, Old>(PhantomData<fn(Object, Old)>);

impl<Object, Old: Keyed> NotifyOf<Object, Old> {
    /// Accepts only a notify without the old value, because this implementation is for collections.
    pub fn fits<F: Notified<Object, Old, Form>, Form: WithoutOld<Object>>(_: &F) {}
}

/// Provides the function `fits` for fields that are not collections. For these fields, [`NotifyOf`] itself
/// has no function `fits`.
pub trait NotifyOfAny {
    /// Accepts every notify function.
    fn fits<F>(_: &F) {}
}

impl<Object, Old> NotifyOfAny for NotifyOf<Object, Old> {}

#[cfg(test)]
mod tests {
    use super::*;

    struct Door {
        open: u8,
        seen: Vec<u8>,
    }

    impl Door {
        fn alone(&mut self) {
            self.seen.push(self.open);
        }

        fn with_old(&mut self, old: &u8) {
            self.seen.push(*old);
        }
    }

    #[test]
    fn s52_a_notify_takes_the_object_alone_or_the_old_value_too() {
        let mut door = Door { open: 1, seen: Vec::new() };
        Notified::call(Door::alone, &mut door, &0u8);
        Notified::call(Door::with_old, &mut door, &0u8);
        Notified::call(|door: &mut Door, old: &u8| door.seen.push(*old + 7), &mut door, &0u8);
        assert_eq!(door.seen, [1, 0, 7]);
    }

    #[test]
    fn attributes_fit_leaves_and_their_containers() {
        fn quantizable<T: Quantizable>() {}
        fn ranged<T: Ranged>() {}
        fn lengthy<T: Lengthy>() {}
        quantizable::<Vec<Option<[(f32, f64); 3]>>>();
        ranged::<(u8, [i64; 2], Option<usize>, Vec<i8>)>();
        lengthy::<Option<[String; 2]>>();
        lengthy::<Vec<bool>>();
    }

    #[test]
    fn unit_attributes_fit_arrays_of_three_and_four() {
        fn quaternion<T: UnitQuaternion>() {}
        fn vector<T: UnitVector>() {}
        quaternion::<[[f32; 4]; 8]>();
        vector::<Vec<[f32; 3]>>();
    }
}
