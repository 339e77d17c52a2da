//! Which objects are gone and can still be read, because their end is still to be told.
//!
//! *Invariant:* an object is kept exactly as long as an event that tells of its end waits, or was the last that was polled.

use std::collections::HashMap;

use repl_core::Guid;

/// The class of each such object, and how many events tell of an end of it.
#[derive(Debug, Default)]
pub(crate) struct Departed {
    objects: HashMap<Guid, (u16, u32)>,
}

impl Departed {
    /// An object of a class ended.
    pub(crate) fn insert(&mut self, guid: Guid, class: u16) {
        let (_, ends) = self.objects.entry(guid).or_insert((class, 0));
        *ends = ends.saturating_add(1);
    }

    /// An end was told, or never will be. Returns the class if it was the last.
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
