//! Editors: an editor is a borrowed object with a setter for each property, which marks what it writes.
//!
//! The data flows in one direction. The owner of the objects lends an [`Editor`]: the object, and a
//! [`Marker`] with the marks of this object, which stay the owner's. The derive wraps the editor into a type
//! with setters ([`Replicated::Edit`](crate::Replicated::Edit)), and each setter calls one function of
//! `object/setters`, which compares, writes and tells the marker. The next comparison takes the marks and
//! compares nothing else.
//!
//! *Invariant:* a marker marks only properties that its owner accepts, and reports an object only after its
//! first mark.

use crate::ids::handles::HandleSet;
use crate::ids::property_index::PropertyIndex;
use crate::schema::condition_masks::ConditionMasks;

/// An object that is edited, with its marks. The generated setters write to it.
pub struct Editor<'a, T> {
    /// The object.
    pub object: &'a mut T,
    /// Records what is written.
    pub marker: Marker<'a>,
}

/// The objects that may have changed, as those see them who mark.
pub trait EditedObjects {
    /// Records that the object in a slot may have changed.
    fn insert_edited(&mut self, slot: u32);
}

/// Records which properties of one object were written to.
pub struct Marker<'a> {
    /// The conditions of the class, with the handles of its properties.
    pub conditions: &'a ConditionMasks,
    /// The properties that are marked. All others are only compared as always.
    pub accepted: &'a HandleSet,
    /// The marked properties, or `None` if none is accepted.
    pub marked: Option<&'a mut HandleSet>,
    /// Learns that the object may have changed.
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

    /// Marks one of the `len` elements of a property that is a fixed array. If the array has one handle for
    /// all its elements, marks them all.
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
