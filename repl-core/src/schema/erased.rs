//! Collections of unknown type: a trait with the operations on fast arrays and maps, for code that does not
//! know their element types.
//!
//! *Invariant:* a pointer that a collection returns points to one of the elements of the collection, and this
//! element has the element shape of the collection. The pointer is valid as long as the borrow of the
//! collection.

use std::any::Any;

use crate::bits::{BitWriter, ReadError, WriteError};
use crate::ids::epoch::Epoch;
use crate::ids::identity::Identity;
use crate::ids::label::Label;
use crate::ids::reference::ReferenceMap;
use crate::schema::step::{ReceivedChange, Step};

/// A [`Step`] of a comparison, with pointers to elements of an unknown type.
pub(crate) type RawStep = Step<*const u8, *mut u8>;

/// A collection of unknown type. The same collection type is used for a server's live collection, for its
/// shadow, and for a client's replica.
pub(crate) trait Collection<I: Identity>: Any {
    fn len(&self) -> usize;

    /// Returns the ids or keys of all elements that have one, in ascending order. Costs O(elements × log
    /// elements).
    fn ids(&self) -> Vec<I>;

    /// Returns all elements in ascending order of their ids or keys, for a collection that is sent as a part
    /// of a unit (a value that is always sent whole). References in the keys belong to the given epoch.
    /// Leaves out an entry if its key refers to an object of an earlier epoch.
    ///
    /// # Errors
    /// Returns an error if the key of an element has no wire form.
    fn elements_of_unit(&self, _: Epoch) -> Result<Vec<(I, *const u8)>, WriteError> {
        let element = |id: I| self.element(&id).map(|element| (id, element));
        Ok(self.ids().into_iter().filter_map(element).collect())
    }

    fn element(&self, id: &I) -> Option<*const u8>;

    fn element_mut(&mut self, id: &I) -> Option<*mut u8>;

    /// Calls `each` with every element.
    fn each(&mut self, each: &mut dyn FnMut(*mut u8));

    fn label(&self, _: &I) -> Option<&Label> {
        None
    }

    /// Prefetches the element into the processor's cache, because it will be needed soon.
    fn preload(&self, _: &I) {}

    /// Returns whether both collections have the same elements, and `is_same` returns true for each pair of
    /// elements. Costs O(elements).
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

    /// Returns whether both collections are equal as whole values: they have the same entries, or the same
    /// items in the same order. The argument `is_same` decides whether two elements are equal. This
    /// comparison ignores the ids of items. Ids are ignored because the shadow of a whole value is a clone,
    /// and the items of a clone have new ids (S137). Costs O(elements).
    fn is_same_whole(
        &self,
        other: &dyn Collection<I>,
        is_same: &mut dyn FnMut(*const u8, *const u8) -> bool,
    ) -> bool {
        self.is_same(other, is_same)
    }

    /// Returns whether this shadow has all changes of `live`. Returns `None` if this is not known, because
    /// the collection does not record which elements were written to. Costs O(1).
    fn is_up_to_date(&self, live: &dyn Collection<I>) -> Option<bool>;

    /// Adds and removes elements so that this shadow collection has the elements of the live collection
    /// `live`. Calls `visit` with each element that may have changed. `writer` is a scratch buffer for keys,
    /// and its old content does not matter. Returns whether the items of `live` must get the ids of the
    /// shadow.
    fn follow(
        &mut self,
        live: &dyn Collection<I>,
        writer: &mut BitWriter,
        visit: &mut dyn FnMut(Named<'_, I>, RawStep),
    ) -> bool;

    /// Removes an element that was just added to this shadow of `live`, because a value in it has no wire
    /// form. The next comparison tries to add the element again if the live element was written to, or if the
    /// collection does not record which elements were written to.
    fn remove_unsendable(&mut self, id: &I, live: &dyn Collection<I>);

    /// Makes this collection have the same elements as `other`. Calls `copy` with each element of `other` and
    /// with the element of this collection that has the same id or key.
    fn copy_from(&mut self, other: &dyn Collection<I>, copy: &mut dyn FnMut(*const u8, *mut u8));

    /// Gives the items of a live collection the ids that they have in the shadow.
    fn renumber(&mut self) {}

    /// Marks this collection as a client's replica: elements that its user adds from now on are local.
    fn become_replica(&mut self) {}

    /// Returns whether this collection is a client's replica. Types that do not distinguish replicas always
    /// return true.
    fn is_replica(&self) -> bool {
        true
    }

    /// Removes all elements if this collection is not the replica, but a collection that client code assigned
    /// to the field.
    fn own(&mut self) {}

    /// Returns the elements of a client's replica `live` that its user may have written to, added or removed
    /// since this base last [followed its edits](Self::follow_edits). A base is a copy of the elements that
    /// the server sent. Returns `None` if this is not known, so that every element may have been edited.
    fn edits(&self, _live: &dyn Collection<I>) -> Option<Vec<I>> {
        None
    }

    /// Records that this base (the copy of the elements that the server sent) has the same elements as the
    /// client's replica `live`, except local elements.
    fn follow_edits(&mut self, _live: &dyn Collection<I>) {}

    /// Removes all local elements of a client's replica: the elements that its user has added.
    fn remove_local(&mut self) {}

    /// Returns an element of a client's replica, to receive an element that is new or is sent whole again.
    /// Inserts an element with initial values if the collection has no element with this id or key. Returns
    /// `None` if the id or key is not valid.
    fn insert(&mut self, id: &I) -> Option<*mut u8>;

    /// Adds an element to a collection that is read as a part of a unit, and returns it. Adds nothing and
    /// returns `None` if the key refers to an object that does not exist on this side.
    ///
    /// # Errors
    /// Returns an error if the id or key is not valid.
    fn insert_in_unit(&mut self, id: &I, _: &mut ReferenceMap<'_>) -> Result<Option<*mut u8>, ReadError> {
        self.insert(id).map(Some).ok_or(ReadError::OutOfRange)
    }

    /// Records a change of an element of a client's replica. A map cannot record changes, so a map runs the
    /// callback immediately if `calls_back` is set.
    fn receive(&mut self, id: &I, change: ReceivedChange<'_>, calls_back: bool);

    /// Marks for removal all elements that the rest of the update does not contain. Returns the elements that
    /// the collection cannot mark. The caller must remove these elements.
    fn sweep(&mut self) -> Vec<I>;

    /// Calls `each` with the elements that are marked for removal.
    fn marked_for_removal(&self, _: &mut dyn FnMut(I)) {}

    /// Calls `each` with the elements that were added or changed since the last [`conclude`](Self::conclude),
    /// or with all elements if the collection does not record changes.
    fn received(&mut self, each: &mut dyn FnMut(*mut u8)) {
        self.each(each);
    }

    /// Returns whether the current update changed anything in the collection. Returns `None` if the
    /// collection does not record changes.
    fn has_received_changes(&self) -> Option<bool> {
        None
    }

    /// Ends an update of a client's replica: calls the callbacks if the argument is true, and removes the
    /// elements that are marked for removal.
    fn conclude(&mut self, _: bool) {}

    fn as_any(&self) -> &dyn Any;
}

/// The id or key of an element that a comparison visits.
pub(crate) enum Named<'a, I> {
    Known(I),
    /// The id or key is not known yet. This function computes it, which takes time.
    Asked(&'a dyn Fn() -> Result<I, WriteError>),
    /// The element has a key without a wire form.
    Refused(WriteError),
}

impl<I> Named<'_, I> {
    /// Returns the id or key if it is known already.
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
