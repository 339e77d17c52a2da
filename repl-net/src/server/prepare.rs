//! Functions of the user that prepare objects for their comparison, for example copy values into properties.
//!
//! *Invariant:* a function edits only the object that it was called for, and this object is compared anyway.

use repl_core::__private::{EditedObjects, Editor, Marker};
use repl_core::{ConditionMasks, Edit, HandleSet, Replicated};

/// A function that prepares an object of the class `T`.
pub(crate) trait Prepare<T>: Send + Sync {
    fn prepare(&mut self, object: Editor<'_, T>);
}

impl<T: Replicated, F: FnMut(&mut Edit<'_, T>) + Send + Sync> Prepare<T> for F {
    fn prepare(&mut self, object: Editor<'_, T>) {
        self(&mut T::edit(object));
    }
}

/// Receives the slots of objects that a function has edited, and ignores them.
struct Compared;

impl EditedObjects for Compared {
    fn insert_edited(&mut self, _: u32) {}
}

/// Calls a function for the object in `slot`. `marked` are the `push` properties of the object that are
/// marked as changed, and the function marks those that it changes.
pub(crate) fn prepare<T>(
    function: &mut dyn Prepare<T>,
    object: &mut T,
    conditions: &ConditionMasks,
    marked: Option<&mut HandleSet>,
    slot: u32,
) {
    let (accepted, edited) = (conditions.push(), &mut Compared);
    let marker = Marker { conditions, accepted, marked, edited, slot };
    function.prepare(Editor { object, marker });
}
