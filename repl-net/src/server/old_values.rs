//! The old values of an object, which are passed to the notifies of the host.
//!
//! *Invariant:* collections have no old values, because every change would have to copy all items. On a
//! client they have none either.

use std::any::Any;

use repl_core::{Class, HandleSet, Replicated};

/// The old values of an object. The box contains a whole object, but only its properties with notifies have
/// the old values.
pub(crate) type OldValues = Box<dyn Any + Send + Sync>;

/// Returns the old values of an object whose shadow (the object's values at the last comparison) is `shadow`,
/// if its class has notifies.
pub(crate) fn of<T: Replicated>(class: &Class<T>, shadow: &T) -> Option<OldValues> {
    let mut handles = notified(class, None);
    if handles.is_empty() {
        return None;
    }
    let mut old = T::initial();
    handles.difference(class.keyed());
    class.copy(shadow, &mut old, &handles);
    Some(Box::new(old))
}

/// Calls the notifies of the properties in `changed` of an object, in the order of declaration. Then stores
/// the values of the shadow as the old values. Returns whether any notify was called.
pub(crate) fn notify<T: Replicated>(
    class: &Class<T>,
    live: &mut T,
    shadow: &T,
    changed: &HandleSet,
    old: &mut OldValues,
) -> bool {
    let Some(old) = old.downcast_mut::<T>() else { return false };
    let mut last = None;
    for (property, _, handles) in class.conditions().notifies() {
        let has_changed = (handles.0..handles.1).any(|handle| changed.contains(handle));
        // A fixed array has several ranges of handles, and one notify.
        if has_changed && last.replace(property) != Some(property) {
            live.notify(property.index(), old);
        }
    }
    let mut handles = notified(class, Some(changed));
    handles.difference(class.keyed());
    class.copy(shadow, old, &handles);
    last.is_some()
}

/// Returns the handles of all properties with notifies. If `changed` is `Some`, returns only the properties
/// that have a handle in it.
fn notified<T: Replicated>(class: &Class<T>, changed: Option<&HandleSet>) -> HandleSet {
    let mut notified = HandleSet::new();
    for (_, _, handles) in class.conditions().notifies() {
        (handles.0..handles.1)
            .filter(|&handle| changed.is_none_or(|changed| changed.contains(handle)))
            .for_each(|handle| notified.insert(handle));
    }
    notified
}
