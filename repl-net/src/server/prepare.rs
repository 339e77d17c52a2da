//! Functions of the user that prepare objects for their comparison, for example copy values into properties.
//!
//! *Invariant:* a function is called at most once for an object in a tick, and only if the object is compared
//! immediately afterwards.

use repl_core::__private::{EditedObjects, Editor, Marker};
use repl_core::{Edit, Replicated};

use super::shadows::Shadows;
use super::source::Source;

/// A function that prepares an object of the class `T`.
pub(crate) trait Prepare<T>: Send + Sync {
    fn prepare(&mut self, object: Editor<'_, T>);
}

impl<T: Replicated, F: FnMut(&mut Edit<'_, T>) + Send + Sync> Prepare<T> for F {
    fn prepare(&mut self, object: Editor<'_, T>) {
        self(&mut T::edit(object));
    }
}

/// Receives the slots of objects that a function has edited, and ignores them: they are compared anyway.
struct Compared;

impl EditedObjects for Compared {
    fn insert_edited(&mut self, _: u32) {}
}

/// Calls the function of a class for the objects in `places`, each a slot and a row.
// Not inlined, because most classes have no such function.
#[inline(never)]
pub(crate) fn prepare<T: Replicated, S: Source<T>>(
    shadows: &mut Shadows<T>,
    source: &mut S,
    places: impl Iterator<Item = (u32, usize)>,
) {
    let Shadows { class, marks, prepare: Some(prepare), .. } = shadows else { return };
    let conditions = class.conditions();
    for (slot, row) in places {
        let Some(object) = source.live_mut(row) else { return };
        let marked = marks.get_mut(row);
        let (accepted, edited) = (conditions.push(), &mut Compared);
        let marker = Marker { conditions, accepted, marked, edited, slot };
        prepare.prepare(Editor { object, marker });
    }
}
