//! Setters: the functions behind the setters of an [`Editor`](crate::schema::editor::Editor). There is one
//! function for each way to compare values. The functions do not depend on the type of the object, so the
//! setters of many classes share them.
//!
//! *Invariant:* a setter always writes the value, because the value may have parts that are not replicated.
//! It marks the property if and only if a replicated part differs from the old value.

use std::marker::PhantomData;

use crate::object::whole::{identical, identical_with};
use crate::schema::editor::Marker;
use crate::schema::property::Property;
use crate::schema::value::With;

/// Sets properties, and elements of properties, of the type `V`.
pub struct Set<V>(PhantomData<fn(V)>);

impl<V: Property> Set<V> {
    /// Sets the property with the index `property`. `field` is the value of the property in the object.
    #[inline]
    pub fn whole(field: &mut V, value: V, marker: &mut Marker<'_>, property: u16) {
        let is_same = identical(field, &value);
        *field = value;
        if !is_same {
            marker.mark(property);
        }
    }

    /// Sets the element `at` of the property with the index `property`. `field` is the value of the property
    /// in the object, a fixed array.
    ///
    /// # Panics
    /// Panics if there is no such element.
    #[inline]
    #[track_caller]
    pub fn element(field: &mut [V], at: usize, value: V, marker: &mut Marker<'_>, property: u16) {
        let len = field.len();
        let is_same = identical(&field[at], &value);
        field[at] = value;
        if !is_same {
            marker.mark_element(property, at, len);
        }
    }
}

/// Provides setters for a field with a type that cannot be replicated, so that the only compile error is at
/// the field. For all other types, the compiler prefers the functions of [`Set`].
pub trait SetOfAny<V>: Sized {
    /// Takes the place of [`Set::whole`].
    fn whole(field: &mut V, value: V, _: &mut Marker<'_>, _: u16) {
        *field = value;
    }

    /// Takes the place of [`Set::element`].
    fn element(field: &mut [V], at: usize, value: V, _: &mut Marker<'_>, _: u16) {
        field[at] = value;
    }
}

impl<V> SetOfAny<V> for Set<V> {}

/// Does the same as [`Set::whole`] for a property with its own serialiser. Two values count as the same if
/// they have the same bits on the wire.
pub fn set_with<V: 'static, W: With<V>>(field: &mut V, value: V, marker: &mut Marker<'_>, property: u16) {
    let is_same = identical_with::<V, W>(field, &value);
    *field = value;
    if !is_same {
        marker.mark(property);
    }
}
