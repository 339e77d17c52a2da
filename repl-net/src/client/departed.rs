//! A list of the removed objects that can still be read, because their removal was not reported yet.
//!
//! *Invariant:* an object is listed exactly while an event about its removal waits, or was the last one
//! polled.

use std::collections::HashMap;

use repl_core::Guid;

/// The class of each such object, and how many events report a removal of it.
#[derive(Debug, Default)]
pub(crate) struct Departed {
    objects: HashMap<Guid, (u16, u32)>,
}

impl Departed {
    /// Notes that an object of a class was removed.
    pub(crate) fn insert(&mut self, guid: Guid, class: u16) {
        let (_, ends) = self.objects.entry(guid).or_insert((class, 0));
        *ends = ends.saturating_add(1);
    }

    /// Notes that a removal was reported, or never will be. Returns the class if it was the object's last
    /// one.
    pub(crate) fn remove(&mut self, guid: Guid) -> Option<u16> {
        let (class, ends) = self.objects.get_mut(&guid)?;
        *ends = ends.saturating_sub(1);
        if *ends > 0 {
            return None;
        }
        let class = *class;
        self.objects.remove(&guid);
        Some(class)
    }

    /// The class of an object that can still be read.
    pub(crate) fn class(&self, guid: Guid) -> Option<u16> {
        self.objects.get(&guid).map(|(class, _)| *class)
    }
}
