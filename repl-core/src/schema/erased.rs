//! Collections without their types: what a shape can do with one.
//!
//! *Invariant:* a pointer that a collection returns points to one of its elements, which has the shape that
//! the collection's own shape names. The pointer is valid for the borrow that it came from.

use std::any::Any;

use crate::bits::WriteError;
use crate::ids::identity::Identity;
use crate::ids::label::Label;
use crate::schema::step::{News, Step};

/// A step with what an element is to whoever does not know its type.
pub(crate) type RawStep = Step<*const u8, *mut u8>;

/// A collection without its types. One type is a server's live collection, a shadow of it, and a client's
/// replica.
pub(crate) trait Collection<I: Identity>: Any {
    fn len(&self) -> usize;

    /// The identities of all elements that have one, ascending. O(elements × log elements).
    fn ids(&self) -> Vec<I>;

    /// The same, or why an element has none.
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

    /// The element will be asked for soon.
    fn preload(&self, _: &I) {}

    /// Whether both have the same elements, and `is_same` values for each. O(elements).
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

    /// Whether this, a shadow, lacks nothing of `live`; no map can tell. O(1).
    fn is_up_to_date(&self, _: &dyn Collection<I>) -> bool {
        false
    }

    /// Makes this, a shadow, have the elements of `live`, and tells `visit` of each that may have changed.
    /// Returns whether `live` is to be settled.
    fn follow(&mut self, live: &dyn Collection<I>, visit: &mut dyn FnMut(Named<'_, I>, RawStep)) -> bool;

    /// Takes an element, which was added when this last followed, out of this shadow until it is visited
    /// again.
    fn hold_back(&mut self, id: &I);

    /// Takes over the elements of `other`; `copy` is given each there and here.
    fn copy_from(&mut self, other: &dyn Collection<I>, copy: &mut dyn FnMut(*const u8, *mut u8));

    /// Gives the elements the ids under which a shadow has followed them.
    fn settle(&mut self) {}

    /// From now on this is a replica: what its user adds is local.
    fn become_replica(&mut self) {}

    /// If a client's user put the collection here, all its elements are local from now on.
    fn own(&mut self) {}

    /// The element of a replica, which came or is sent whole again: an initial one if there was none; `None`
    /// if nothing is called so.
    fn insert(&mut self, id: &I) -> Option<*mut u8>;

    /// What came of an element of a replica. Who has no room for notes calls back at once, if that is said.
    fn receive(&mut self, id: &I, news: News<'_>, calls_back: bool);

    /// All elements are to go that are not received after this: those that are returned by whoever asked, the
    /// others by the collection itself.
    fn sweep(&mut self) -> Vec<I>;

    /// Calls `each` with the elements that are noted to go.
    fn departing(&self, _: &mut dyn FnMut(I)) {}

    /// Calls `each` with the elements that came or changed since the last [`conclude`](Self::conclude), or
    /// with all.
    fn received(&mut self, each: &mut dyn FnMut(*mut u8)) {
        self.each(each);
    }

    /// Whether the update under way has brought anything; `None` if nobody noted.
    fn has_news(&self) -> Option<bool> {
        None
    }

    /// Ends an update of a replica.
    fn conclude(&mut self, _: bool) {}

    fn as_any(&self) -> &dyn Any;
}

/// The identity of an element that a comparison visits.
pub(crate) enum Named<'a, I> {
    Known(I),
    /// It takes time to find out.
    Asked(&'a dyn Fn() -> Result<I, WriteError>),
    /// It has none.
    Refused(WriteError),
}

impl<I> Named<'_, I> {
    /// The identity, if that takes no time.
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
