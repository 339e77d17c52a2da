//! Editors: an editor is a borrowed object with a setter for each property. The setters mark the properties
//! that they write to.
//!
//! The server lends an [`Editor`]: a mutable reference to the object, and a [`Marker`] that sets the marks of
//! this object. The derive wraps the editor in a type with setters
//! ([`Replicated::Edit`](crate::Replicated::Edit)). Each setter calls one function of `object/setters`. This
//! function compares the new value with the old one, writes it, and marks the property if the value changed.
//! The next comparison compares a `push` property only if it is marked.
//!
//! *Invariant:* a marker marks only properties in [`Marker::accepted`], and reports an object to
//! [`EditedObjects`] only after its first mark.

use crate::ids::handles::HandleSet;
use crate::ids::property_index::PropertyIndex;
use crate::schema::condition_masks::ConditionMasks;

/// An object that is edited, with its marker. The generated setters write to the object.
pub struct Editor<'a, T> {
    /// The object.
    pub object: &'a mut T,
    /// Records which properties are written to.
    pub marker: Marker<'a>,
}

/// A set of objects that may have changed. A [`Marker`] adds its object to this set.
pub trait EditedObjects {
    /// Records that the object in a slot may have changed.
    fn insert_edited(&mut self, slot: u32);
}

/// Records which properties of one object were written to.
pub struct Marker<'a> {
    /// The conditions of the class, with the handles of its properties.
    pub conditions: &'a ConditionMasks,
    /// The properties that can be marked. All other properties are compared without marks.
    pub accepted: &'a HandleSet,
    /// The marked properties, or `None` if no property can be marked.
    pub marked: Option<&'a mut HandleSet>,
    /// The set to which the object is added after a mark.
    pub edited: &'a mut dyn EditedObjects,
    /// The slot of the object.
    pub slot: u32,
}

impl Marker<'_> {
    /// Marks the property with an index.
    #[inline]
    pub fn mark(&mut self, property: u16) {
        let handles = self.conditions.handles_of(PropertyIndex::new(property.into()));
        if let Some(marked) = &mut self.marked
            && handles.intersects(self.accepted)
        {
            marked.union(handles);
        }
        self.edited.insert_edited(self.slot);
    }

    /// Marks the element `at` of a property that is a fixed array with `len` elements. If the array has one
    /// handle for all its elements, marks the whole array.
    pub fn mark_element(&mut self, property: u16, at: usize, len: usize) {
        let handles = self.conditions.handles_of(PropertyIndex::new(property.into()));
        let count = handles.len() / len.max(1) as u32;
        let (Some(first), 1..) = (handles.iter().next(), count) else { return self.mark(property) };
        if let Some(marked) = &mut self.marked
            && handles.intersects(self.accepted)
        {
            marked.insert_stretch(first + at as u32 * count, count);
        }
        self.edited.insert_edited(self.slot);
    }
}
