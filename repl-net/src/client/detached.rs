//! Objects that the client keeps although they are no longer in a slot: the objects that the server has torn
//! off (stopped replicating, while clients keep them, S210), or the objects that are out of sight (S241).
//!
//! *Invariant:* the oldest objects are known, so that the client can remove them first if there are too many.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use repl_core::Guid;

/// The class of each detached object, and a number that grows with each of them. The keys are the guids in
/// the user's references.
#[derive(Debug, Default)]
pub(crate) struct Detached {
    objects: BTreeMap<Guid, (u16, u64)>,
    by_age: BTreeMap<u64, Guid>,
    next: u64,
}

impl Detached {
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

    /// Returns the object that was in a slot. If several objects of the slot are kept, returns the oldest.
    pub(crate) fn in_slot(&self, slot: u32) -> Option<Guid> {
        if self.objects.is_empty() {
            return None;
        }
        let all = Guid::new(slot, NonZeroU32::MIN)..=Guid::new(slot, NonZeroU32::MAX);
        self.objects.range(all).next().map(|(guid, _)| *guid)
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
