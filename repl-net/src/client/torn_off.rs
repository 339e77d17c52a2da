//! The objects that the server has torn off (stopped replicating, while clients keep them) on this client
//! (S210). The client keeps them until its user removes them.
//!
//! *Invariant:* there are at most as many torn-off objects as the client has slots, so a server cannot make a
//! client store more.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::BTreeMap;

use repl_core::Guid;

/// The class of each torn-off object, and a number that grows with each torn-off object.
#[derive(Debug, Default)]
pub(crate) struct TornOff {
    objects: BTreeMap<Guid, (u16, u64)>,
    by_age: BTreeMap<u64, Guid>,
    next: u64,
}

impl TornOff {
    pub(crate) fn insert(&mut self, guid: Guid, class: u16) {
        self.objects.insert(guid, (class, self.next));
        self.by_age.insert(self.next, guid);
        self.next = self.next.saturating_add(1);
    }

    pub(crate) fn remove(&mut self, guid: Guid) -> Option<u16> {
        let (class, age) = self.objects.remove(&guid)?;
        self.by_age.remove(&age);
        Some(class)
    }

    pub(crate) fn class(&self, guid: Guid) -> Option<u16> {
        self.objects.get(&guid).map(|(class, _)| *class)
    }

    pub(crate) fn contains(&self, guid: Guid) -> bool {
        !self.objects.is_empty() && self.objects.contains_key(&guid)
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Guid, u16)> {
        self.objects.iter().map(|(guid, (class, _))| (*guid, *class))
    }

    pub(crate) fn oldest(&self) -> Option<Guid> {
        self.by_age.first_key_value().map(|(_, guid)| *guid)
    }
}
