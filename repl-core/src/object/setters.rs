//! Setters: the functions behind the setters of an [`Editor`](crate::schema::editor::Editor). There is one
//! for each way to compare, and none depends on the type of the object, so that the generated code of many
//! classes shares them.
//!
//! *Invariant:* a setter always writes the value, because it may have parts that are not replicated, and
//! marks the property if and only if a replicated part differs from the value before.

use std::marker::PhantomData;

use crate::object::whole::{identical, identical_with};
use crate::schema::editor::Marker;
use crate::schema::property::Property;
use crate::schema::value::With;

/// Sets properties, and elements of properties, of the type `V`.
pub struct Set<V>(PhantomData<fn(V)>);

impl<V: Property> Set<V> {
    /// Sets the property with an index, whose value is `field`.
    #[inline]
    pub fn whole(field: &mut V, value: V, marker: &mut Marker<'_>, property: u16) {
        let is_same = identical(field, &value);
        *field = value;
        if !is_same {
            marker.mark(property);
        }
    }

    /// Sets one element of the property with an index, whose value is the fixed array `field`.
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

/// Lets the setter of a field compile whose type cannot be replicated, because the compiler prefers the
/// functions of [`Set`] for all other types. So the only error is at the field.
pub trait SetOfAny<V>: Sized {
    /// Stands for [`Set::whole`].
    fn whole(field: &mut V, value: V, _: &mut Marker<'_>, _: u16) {
        *field = value;
    }

    /// Stands for [`Set::element`].
    fn element(field: &mut [V], at: usize, value: V, _: &mut Marker<'_>, _: u16) {
        field[at] = value;
    }
}

impl<V> SetOfAny<V> for Set<V> {}

/// Does the same as [`Set::whole`] for a property with a serialiser of its own: values with the same bits are
/// the same.
pub fn set_with<V: 'static, W: With<V>>(field: &mut V, value: V, marker: &mut Marker<'_>, property: u16) {
    let is_same = identical_with::<V, W>(field, &value);
    *field = value;
    if !is_same {
        marker.mark(property);
    }
}
