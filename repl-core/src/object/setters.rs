//! Setters: the functions behind the setters of an [`Editor`](crate::schema::editor::Editor). There is one
//! for each way to compare, and none depends on the type of the object, so that the generated code of many
//! classes shares them.
//!
//! *Invariant:* a setter always writes the value, because it may have parts that are not replicated, and marks
//! the property if and only if a replicated part differs from the value before.

use crate::object::whole::{identical, identical_with};
use crate::schema::editor::Marker;
use crate::schema::property::Property;
use crate::schema::value::With;

/// Sets the property with an index, whose value is `field`.
#[inline]
pub fn set<V: Property>(field: &mut V, value: V, marker: &mut Marker<'_>, property: u16) {
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
pub fn set_element<V: Property>(
    field: &mut [V],
    at: usize,
    value: V,
    marker: &mut Marker<'_>,
    property: u16,
) {
    let len = field.len();
    let is_same = identical(&field[at], &value);
    field[at] = value;
    if !is_same {
        marker.mark_element(property, at, len);
    }
}

/// Does the same as [`set`] for a property with a serialiser of its own: values with the same bits are the
/// same.
pub fn set_with<V: 'static, W: With<V>>(field: &mut V, value: V, marker: &mut Marker<'_>, property: u16) {
    let is_same = identical_with::<V, W>(field, &value);
    *field = value;
    if !is_same {
        marker.mark(property);
    }
}
