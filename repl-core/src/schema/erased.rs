//! Collections without their types: the operations that a shape offers on a collection.
//!
//! *Invariant:* a pointer that a collection returns points to one of its elements, which has the shape that
//! the collection's own shape names. The pointer is valid as long as the borrow from which it came.

use std::any::Any;

use crate::bits::WriteError;
use crate::ids::identity::Identity;
use crate::ids::label::Label;
use crate::schema::step::{ReceivedChange, Step};

/// A step with pointers to elements of an unknown type.
pub(crate) type RawStep = Step<*const u8, *mut u8>;

/// A collection without its types. One type is a server's live collection, its shadow, and a client's
/// replica.
pub(crate) trait Collection<I: Identity>: Any {
    fn len(&self) -> usize;

    /// Returns the identities of all elements that have one, ascending. O(elements × log elements).
    fn ids(&self) -> Vec<I>;

    /// Returns the identities of all elements, or an error if an element has no identity.
    fn try_ids(&self) -> Result<Vec<I>, WriteError> {
        Ok(self.ids())
    }

    fn element(&self, id: &I) -> Option<*const u8>;

    fn element_mut(&mut self, id: &I) -> Option<*mut u8>;

    /// Calls `each` with every element.
    fn each(&mut self, each: &mut dyn FnMut(*mut u8));

    fn label(&self, _: &I) -> Option<&Label> {
        None
    }

    /// Loads the element into the processor's cache, because it will be needed soon.
    fn preload(&self, _: &I) {}

    /// Whether both have the same elements, and `is_same` is true for each. O(elements).
    fn is_same(
        &self,
        other: &dyn Collection<I>,
        is_same: &mut dyn FnMut(*const u8, *const u8) -> bool,
    ) -> bool {
        self.len() == other.len()
            && self.ids().iter().all(|id| {
                let both = self.element(id).zip(other.element(id));
                both.is_some_and(|(one, other)| is_same(one, other))
            })
    }

    /// Whether both are the same as whole values: the same entries, or the same items in the same order.
    /// `is_same` compares two elements. The ids of items are not compared. The shadow of a whole value is a
    /// clone, and the items of a clone have new ids (S137). O(elements).
    fn is_same_whole(
        &self,
        other: &dyn Collection<I>,
        is_same: &mut dyn FnMut(*const u8, *const u8) -> bool,
    ) -> bool {
        self.is_same(other, is_same)
    }

    /// Whether this shadow is up to date with `live`. The result is always false for maps, because maps do
    /// not record changes. O(1).
    fn is_up_to_date(&self, _: &dyn Collection<I>) -> bool {
        false
    }

    /// Brings the elements of this shadow up to date with `live`. Calls `visit` with each element that may
    /// have changed. Returns whether `live` must be renumbered.
    fn follow(&mut self, live: &dyn Collection<I>, visit: &mut dyn FnMut(Named<'_, I>, RawStep)) -> bool;

    /// Removes an element that was just added to this shadow. The element is added again when it is touched.
    fn remove_unsendable(&mut self, id: &I);

    /// Gives this collection the elements of `other`. Calls `copy` with each element of `other` and the
    /// element of this collection with the same identity.
    fn copy_from(&mut self, other: &dyn Collection<I>, copy: &mut dyn FnMut(*const u8, *mut u8));

    /// Gives the elements the ids that they have in the shadow.
    fn renumber(&mut self) {}

    /// Makes this a replica: elements that its user adds from now on are local.
    fn become_replica(&mut self) {}

    /// Makes all elements local if the user of a client has assigned this collection to the field.
    fn own(&mut self) {}

    /// Returns the element of a replica, which is new or is sent whole again. Inserts an initial element if
    /// there is none. `None` if the identity is not valid.
    fn insert(&mut self, id: &I) -> Option<*mut u8>;

    /// Records the change of an element of a replica. A map cannot record changes, so it runs the callback at
    /// once if `calls_back`.
    fn receive(&mut self, id: &I, change: ReceivedChange<'_>, calls_back: bool);

    /// Marks all elements for removal that are not received after this. The caller must remove those that are
    /// returned; the collection removes the others.
    fn sweep(&mut self) -> Vec<I>;

    /// Calls `each` with the elements that are marked for removal.
    fn marked_for_removal(&self, _: &mut dyn FnMut(I)) {}

    /// Calls `each` with the elements that were added or changed since the last [`conclude`](Self::conclude),
    /// or with all.
    fn received(&mut self, each: &mut dyn FnMut(*mut u8)) {
        self.each(each);
    }

    /// Whether the current update changed anything. `None` if the collection does not record changes.
    fn has_received_changes(&self) -> Option<bool> {
        None
    }

    /// Ends an update of a replica: calls the callbacks if the argument is true, and removes the marked
    /// elements.
    fn conclude(&mut self, _: bool) {}

    fn as_any(&self) -> &dyn Any;
}

/// The identity of an element that a comparison visits.
pub(crate) enum Named<'a, I> {
    Known(I),
    /// The identity must be computed by this function, which takes time.
    Asked(&'a dyn Fn() -> Result<I, WriteError>),
    /// The element has none.
    Refused(WriteError),
}

impl<I> Named<'_, I> {
    /// Returns the identity if it is known already.
    pub(crate) fn known(&self) -> Option<&I> {
        if let Self::Known(id) = self { Some(id) } else { None }
    }

    pub(crate) fn id(self) -> Result<I, WriteError> {
        match self {
            Self::Known(id) => Ok(id),
            Self::Asked(id) => id(),
            Self::Refused(error) => Err(error),
        }
    }
}
