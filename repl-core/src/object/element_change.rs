//! Changes an element of a client's collection, and finds out which of its properties changed.
//!
//! *Invariant:* a property counts as changed only if its new value differs from its old value.
#![expect(unsafe_code, reason = "reads and writes objects through their layouts")]
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use crate::ids::handles::HandleSet;
use crate::ids::identity::Identity;
use crate::object::collections::{Conclude, VisitCollections};
use crate::object::copy::copy_slots;
use crate::object::equality::{Answer, differs};
use crate::object::level::{ElementTable, ElementsMut, LevelMut, Slot};
use crate::schema::step::ReceivedChange;

impl<I: Identity> ElementsMut<'_, I> {
    /// Changes an element with `change`, which writes to the properties of `handles`. After that, records
    /// which of the properties changed, or reports them to callbacks. Returns the result of `change`, or
    /// `None` if the collection has no element with this id or key.
    pub(crate) fn change<R>(
        &mut self,
        id: &I,
        handles: &HandleSet,
        calls_back: bool,
        change: impl FnOnce(&mut LevelMut<'_>) -> R,
    ) -> Option<R> {
        let elements = ElementTable::of(self.program, self.command);
        let base = self.collection.element_mut(id)?;
        let (mut change, mut result) = (Some(change), None);
        let mut apply = |element: &mut LevelMut<'_>| result = change.take().map(|change| change(element));
        if !self.command.watched || I::IS_KEY && !calls_back {
            // SAFETY: the collection of this command returned `base`, and nothing else accesses the element
            // before the end of the call.
            apply(&mut unsafe { elements.level_mut(base) });
            self.collection.receive(id, ReceivedChange::Changed(handles), false);
            return result;
        }
        let with_initial = self.command.shape.with_initial;
        // SAFETY: the collection of this command returned `base`, and nothing else accesses the element
        // before the end of the call. The value that `with_initial` lends has the type of the elements.
        let changed = unsafe { changed_by(elements, with_initial, base, handles, &mut apply) };
        if !changed.is_empty() {
            self.collection.receive(id, ReceivedChange::Changed(&changed), calls_back);
        }
        result
    }
}

/// Changes the element at `base` with `apply`, which writes to the properties of `handles`. Returns the
/// handles of the values that `apply` has changed. `with_initial` lends an element with initial values.
///
/// # Safety
/// The caller guarantees what [`ElementTable::level_mut`] requires, both for `base` and for the element that
/// `with_initial` lends.
unsafe fn changed_by(
    elements: ElementTable<'_>,
    with_initial: fn(&mut dyn FnMut(*mut u8)),
    base: *mut u8,
    handles: &HandleSet,
    apply: &mut dyn FnMut(&mut LevelMut<'_>),
) -> HandleSet {
    let mut changed = HandleSet::new();
    with_initial(&mut |old| {
        // SAFETY: the caller guarantees this.
        let mut element = unsafe { elements.level_mut(base) };
        // SAFETY: the caller guarantees the type, and the value is borrowed for the time of this call.
        let mut old = unsafe { elements.level_mut(old) };
        // Fast arrays record the changes that they receive, so they need not be copied.
        let notes = |handle| matches!(element.as_level().slot(handle), Some(Slot::Items(_)));
        copy_slots(element.as_level(), &mut old, handles.iter().filter(|&handle| !notes(handle)));
        apply(&mut element);
        let (now, old) = (element.as_level(), old.as_level());
        changed = handles.iter().filter(|&handle| differs(now, old, handle, Answer::Replica)).collect();
        // An unchanged property is not reported, so its collections end the update here, without callbacks.
        let quiet = handles.iter().filter(|&handle| !changed.contains(handle));
        quiet.for_each(|handle| Conclude { with_callbacks: false }.visit_slot(&mut element, handle));
    });
    changed
}
