//! The removed objects that the user can still read, because no polled update has reported their removal
//! yet, or because the last polled update did.
//!
//! *Invariant:* an object is in the list as long as an update about its removal waits, or is the last one that was
//! polled.

use std::collections::BTreeMap;

use repl_core::Guid;

/// For each removed object, its class, and the number of waiting updates that report its removal.
#[derive(Debug, Default)]
pub(crate) struct Departed {
    objects: BTreeMap<Guid, (u16, u32)>,
}

impl Departed {
    /// Adds an object that was removed on the client.
    pub(crate) fn insert(&mut self, guid: Guid, class: u16) {
        let (_, ends) = self.objects.entry(guid).or_insert((class, 0));
        *ends = ends.saturating_add(1);
    }

    /// Records that one update about the removal of an object has been polled, or that none will report it.
    /// `remove` returns the class of the object if no more updates about its removal wait.
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

    /// Returns the class of a removed object that can still be read.
    pub(crate) fn class(&self, guid: Guid) -> Option<u16> {
        self.objects.get(&guid).map(|(class, _)| *class)
    }
}
