//! An entry of the queue of updates.
//!
//! *Invariant:* an entry that has no object reports a path.

use std::ops::Range;

use repl_core::{Layout, ObjectRef};

use super::properties::Properties;
use super::update::UpdateKind;

/// An update of one object, or the same update of several objects. Several objects have the same generation
/// (the count of their slots' uses) and consecutive slots.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) tick: u64,
    /// The first object, and the number of objects in consecutive slots.
    pub(super) objects: (ObjectRef<()>, u32),
    pub(super) what: UpdateKind,
    pub(super) layout: &'static Layout,
    /// The properties that have new values.
    pub(super) properties: Properties,
}

impl Entry {
    pub(super) fn slots(&self) -> Range<u32> {
        let (object, count) = self.objects;
        object.guid().map_or(0..0, |first| first.slot()..first.slot().saturating_add(count))
    }

    pub(super) fn has(&self, object: ObjectRef<()>) -> bool {
        let generation = |object: ObjectRef<()>| object.guid().map(|guid| guid.generation());
        let slot = object.guid().map(|guid| guid.slot());
        generation(object) == generation(self.objects.0)
            && slot.is_some_and(|slot| self.slots().contains(&slot))
    }
}
